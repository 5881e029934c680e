"""A study: everything that its report needs and that makes its figures again, as plain values.

    study = Study(tables=(StudyTable("table", "pima.csv", sha256),), preparation=Options("outcome"))

A study names its tables by their content and does not hold them. It holds what was decided (roles,
preparation, rules, settings, which rows were held back), what is to be computed (`Analysis`), what
was recorded on the way (openings of the test set, versions tried) and what people said about it
(`StudyNotes`). All of it are frozen dataclasses of texts, numbers and tuples: `plain` and `rebuild`
of `hipad.estimator.serialization` write and read them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self

from hipad.data import Options
from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.data.roles import DecidedBy
from hipad.evaluation.cross_validation import FOLDS, SealedTest
from hipad.evaluation.stability import N_REFITS
from hipad.exceptions import DataError

TableRole = Literal["table", "test", "unlabelled", "labels", "symbols"]
HeldBackKind = Literal["split", "file", "none"]
SawData = Literal["", "before", "after"]
TABLE_ROLES: Final[dict[TableRole, str]] = {
    "table": "rows to learn from",
    "test": "rows to test on",
    "unlabelled": "further rows without a label",
    "labels": "classes of the rows, by their IDs",
    "symbols": "gene symbols of the features",
}


@dataclass(frozen=True)
class StudyTable:
    """One file of a study, known by its content.

    Attributes
    ----------
    role : "table", "test", "unlabelled", "labels" or "symbols"
        What it is for: see `TABLE_ROLES`.
    name : str
        What the file is called.
    sha256 : str
        The hash of its content; of a drawn sample that of its recipe.
    file_format : FileFormat
        What was stated of how it is written; everything else is found from the content.
    turned : "auto", "yes" or "no"
        Whether it has a row for each feature.
    """

    role: TableRole
    name: str
    sha256: str
    file_format: FileFormat = FOUND_OUT
    turned: Literal["auto", "yes", "no"] = "auto"


@dataclass(frozen=True)
class HeldBack:
    """Which rows are the test rows: a share of the table, a file of their own, or none."""

    kind: HeldBackKind = "none"
    share: float = 0.25
    seed: int = 0


@dataclass(frozen=True)
class RuleProvenance:
    """Where a rule comes from: `rule` is its text as `str(rule.text)` gives it.

    Attributes
    ----------
    rule : str
        Premise and outcome of the rule, as the report of the fit shows them.
    who, when, source : str
        The expert, a date or year, and a publication or "experience".
    saw_data : "", "before" or "after"
        Whether it was written before or after its author saw these data; "" is not stated.
    """

    rule: str
    who: str = ""
    when: str = ""
    saw_data: SawData = ""
    source: str = ""


@dataclass(frozen=True)
class StudyNotes:
    """What people say of a study: its question, remarks, answers to guidelines, who said rules."""

    title: str = ""
    question: str = ""
    remarks: str = ""
    answers: dict[str, str] = field(default_factory=dict)  # by the number of a TRIPOD+AI item
    provenance: tuple[RuleProvenance, ...] = ()

    def of_rule(self, text: str) -> RuleProvenance:
        """Return what is stated of a rule, or an empty record."""
        found = (one for one in self.provenance if one.rule == text)
        return next(found, RuleProvenance(text))

    def with_rule(self, stated: RuleProvenance) -> Self:
        """Return the notes with another statement about a rule."""
        others = tuple(one for one in self.provenance if one.rule != stated.rule)
        lines = () if stated == RuleProvenance(stated.rule) else (stated,)
        return replace(self, provenance=(*others, *lines))

    def with_answer(self, item: str, text: str) -> Self:
        """Return the notes with another answer; an empty one takes it away."""
        others = {name: answer for name, answer in self.answers.items() if name != item}
        return replace(self, answers={**others, item: text} if text.strip() else others)


@dataclass(frozen=True)
class VersionTried:
    """A version of rules and settings that was judged on the way.

    `scores` are its out-of-fold decision values of the labelled training rows, above zero for the
    positive class, by folds that repeat the whole fit.
    """

    rules: str
    parameters: dict[str, Any]
    scores: tuple[float, ...] = ()


@dataclass(frozen=True)
class Analysis:
    """What a report computes: folds of the cross-validation, refits to halves, and their seeds."""

    folds: int = FOLDS
    fold_seed: int = 0
    refits: int = N_REFITS  # to random halves of the training rows; 0: none
    refit_seed: int = 0


@dataclass(frozen=True)
class Study:
    """Everything that a report needs, without the data.

    Attributes
    ----------
    tables : tuple of StudyTable
        The files; none for a bundled sample.
    sample, draw : str, dict
        The bundled sample, and what a synthetic one was drawn from, in place of files.
    preparation : Options
        What is done with the table; `positive` names the positive class.
    decided_by : str
        What told the positive class.
    held_back : HeldBack
        The test rows.
    row_word : str
        What a row is called.
    rules : str
        The rules as text.
    blocks : dict
        Definitions of blocks by their names, over all columns of the prepared table.
    parameters : dict
        The parameters of the classifier without rules and blocks, as model files hold them.
    lambda1_share : float or None
        Where given, lambda1 is this share of the largest useful one, in place of the parameter.
    seal : SealedTest or None
        Who opened the test rows when; None where nothing is known of it.
    seals : tuple of SealedTest
        Records of a session, of these test rows or of others: `sealed_by` finds the one that fits.
    edits : int
        Versions of rules and settings that were run.
    versions : tuple of VersionTried
        Those that were cross-validated, the present one last.
    risk_threshold : float or None
        The risk from which on the answer is the positive class; None answers above score 0.
    analysis : Analysis
        What the report computes.
    notes : StudyNotes
        What people said.
    model : str
        The model as the text of a model file; empty where it is not fitted yet.
    """

    tables: tuple[StudyTable, ...] = ()
    sample: str = ""
    draw: dict[str, Any] = field(default_factory=dict)
    preparation: Options = field(default_factory=lambda: Options(""))
    decided_by: DecidedBy = "choice"
    held_back: HeldBack = HeldBack()
    row_word: str = "row"
    rules: str = ""
    blocks: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, Any] = field(default_factory=dict)
    lambda1_share: float | None = None
    seal: SealedTest | None = None
    seals: tuple[SealedTest, ...] = ()
    edits: int = 0
    versions: tuple[VersionTried, ...] = ()
    risk_threshold: float | None = None
    analysis: Analysis = Analysis()
    notes: StudyNotes = StudyNotes()
    model: str = ""

    @property
    def is_open(self) -> bool:
        """Whether figures on test rows may be shown of the present version.

        An opening is for the version of rules and settings that it was made for.
        """
        if self.seal is None:
            return False
        openings = [opening.edits for opening in self.seal.openings]
        return self.seal.demonstration or self.edits in openings

    def sealed_by(self, digest: str) -> Self:
        """Return the study with the record of the test rows of this digest (`data_digest`)."""
        own = next((one for one in self.seals if one.digest == digest), None)
        if own is not None:
            return replace(self, seal=own)
        return self if self.seal is not None else replace(self, seal=SealedTest(digest))

    def table(self, role: TableRole) -> StudyTable | None:
        """Return the file of a role, None where there is none."""
        return next((one for one in self.tables if one.role == role), None)

    def check_table(self, role: TableRole, sha256: str) -> None:
        """Refuse another file than the study names; one without a hash is taken as it is."""
        known = self.table(role)
        if known is not None and known.sha256 and known.sha256 != sha256:
            raise DataError(
                f"expected the file {known.name!r} of the study (SHA-256 {known.sha256[:12]}...), "
                f"got another content ({sha256[:12]}...): give the file that the study was made of"
            )

    def with_notes(self, **changes: Any) -> Self:
        """Return the study with other notes."""
        return replace(self, notes=replace(self.notes, **changes))
