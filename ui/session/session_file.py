"""A session as one JSON file without its data, which are named by their hash; its models refitted.

Models are saved as what they were fitted with, and fitted again when the session is reopened: a
file never brings weights of its own, and the same data give the same model. The hints of `Session`
say what each field may hold; `hipad.estimator.serialization.rebuild` holds a file to them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any, Final

import numpy as np

from hipad.data.file_format import FOUND_OUT, FileFormat
from hipad.estimator.model_io import StoredFormat
from hipad.estimator.parameters import MemberRecord
from hipad.estimator.serialization import DIALECT, Schema, misfit, named, rebuild, schema_of
from hipad.evaluation.cross_validation import SealedTest
from hipad.exceptions import DataError, HipadError
from hipad.reporting.sources import read_notes
from hipad.reporting.study import StudyNotes
from hipad.rules.names import MOST_BLOCKS, block_name
from hipad.solvers import Progress
from ui.data.samples import DRAW
from ui.dataset import Dataset, Loaded, Preparation
from ui.jobs import SCHEDULER, BackgroundJob, Run
from ui.models import Request, TrainedModel, stored_parameters
from ui.settings import MODEL_NAME, NAME, RULES, Number, RunSettings, Text

KIND: Final = "hipad-workbench-session"
VERSION: Final = 1
LARGEST: Final = 20 * 2**20  # bytes
MOST_MODELS: Final = 50
MOST_SEALS: Final = 100
MOST_EDITS: Final = 10**9


@dataclass(frozen=True)
class Blocks:
    """Definitions of blocks by their names."""

    most: int
    definition: Text

    def read(self, value: object) -> dict[str, str]:
        if not isinstance(value, dict):
            raise misfit("blocks by their names", value)
        if len(value) > self.most:
            raise ValueError(f"expected at most {self.most:,} blocks, got {len(value):,}")
        found: dict[str, str] = {}
        for name, text in value.items():
            tidy = block_name(NAME.read(name))
            if tidy in found:
                raise misfit("each name once", tidy)
            found[tidy] = named(tidy, lambda: self.definition.read(text))  # noqa: B023
        return found


@dataclass(frozen=True)
class LearntTrust:
    """Shares, lambdas and cuts that an earlier fit learnt, of some candidates."""

    most: int

    def read(self, value: object) -> tuple[MemberRecord, ...]:
        if isinstance(value, list) and len(value) > self.most:
            raise ValueError(f"expected at most {self.most:,} candidates, got {len(value):,}")
        found: tuple[MemberRecord, ...] = rebuild(tuple[MemberRecord, ...], value)
        for one in found:
            cut = 0.0 if one.cut is None else one.cut
            numbers = [one.prior, one.posterior, one.share, cut, one.lambda1, one.lambda2]
            weights = [weight for weight in one.weights if weight is not None]
            if not np.isfinite([*numbers, *weights]).all() or min([*numbers[:3], *weights]) < 0:
                raise misfit("finite shares and weights of at least 0", value)
            if min(one.lambda1, one.lambda2) < 0 or one.certificate is not None:
                raise misfit("candidates with a lambda1 and lambda2 of at least 0", value)
        if found and not sum(one.share for one in found) > 0:
            raise misfit("a candidate with a share above 0", value)
        return found


@dataclass(frozen=True)
class Cutoff:
    """A risk above 0 and below 1, or none."""

    @property
    def schema(self) -> dict[str, Any]:
        return {"exclusiveMinimum": 0, "exclusiveMaximum": 1}

    def read(self, value: object) -> float | None:
        if value is None:
            return None
        if not isinstance(value, float) or not 0 < value < 1:
            raise misfit("a risk above 0 and below 1, or none", value)
        return float(value)


@dataclass(frozen=True)
class Models:
    """What some models were fitted with."""

    most: int

    def read(self, value: object) -> tuple[ModelRecipe, ...]:
        if isinstance(value, list) and len(value) > self.most:
            raise ValueError(f"expected at most {self.most:,} models, got {len(value):,}")
        recipes: tuple[ModelRecipe, ...] = rebuild(tuple[ModelRecipe, ...], value)
        return recipes


@dataclass(frozen=True)
class Seals:
    """Records of the openings of some sealed test sets."""

    most: int

    def read(self, value: object) -> tuple[SealedTest, ...]:
        if not isinstance(value, list):
            raise misfit("records of test sets", value)
        if len(value) > self.most:
            raise ValueError(f"expected at most {self.most:,} test sets, got {len(value):,}")
        try:
            return tuple(SealedTest.from_dict(one) for one in value)
        except DataError as error:
            raise ValueError(str(error)) from error


@dataclass(frozen=True)
class Notes:
    """What people said of the study."""

    def read(self, value: object) -> StudyNotes:
        return read_notes(value)


Definitions = Annotated[Mapping[str, str], Blocks(MOST_BLOCKS, Text(1_000_000))]


@dataclass(frozen=True)
class ModelRecipe:
    """What a kept model was fitted with."""

    name: Annotated[str, MODEL_NAME]
    rules: Annotated[str, RULES]
    blocks: Definitions
    settings: RunSettings
    trust: Annotated[tuple[MemberRecord, ...], LearntTrust(64)] = ()  # where it was held
    chosen_by: RunSettings | None = None  # those that chose values which are held
    cutoff: Annotated[float | None, Cutoff()] = None  # a risk; None: a score above 0

    def request(self, data: Dataset) -> Request:
        """The fit that makes the model again."""
        return Request(
            data.with_blocks(self.blocks),
            self.rules,
            self.blocks,
            self.settings,
            self.name,
            trust=self.trust or "auto",
            chosen_by=self.chosen_by,
            cutoff=self.cutoff,
        )


@dataclass(frozen=True)
class Session:
    """What a session file holds."""

    data_name: Annotated[str, NAME]
    data_key: Annotated[str, NAME]
    preparation: Preparation
    rules: Annotated[str, RULES]
    blocks: Definitions
    settings: RunSettings
    sample: Annotated[str, NAME] = ""
    draw: Annotated[Mapping[str, Any], DRAW] = field(default_factory=dict)  # a synthetic sample's
    models: Annotated[tuple[ModelRecipe, ...], Models(MOST_MODELS)] = ()
    pinned: Annotated[str, MODEL_NAME] = ""
    unlabelled: Annotated[str, NAME] = ""  # the file of patients without a label
    file_format: Annotated[FileFormat, StoredFormat()] = FOUND_OUT  # what was stated of the file
    edits: Annotated[int, Number(0, MOST_EDITS)] = 0  # versions of rules and settings that were run
    seals: Annotated[tuple[SealedTest, ...], Seals(MOST_SEALS)] = ()  # who looked at test rows when
    notes: Annotated[StudyNotes, Notes()] = field(default_factory=StudyNotes)  # for reports

    def to_json(self) -> str:
        """The text of the file; `fit` tells the library what the settings mean."""
        parameters, share = stored_parameters(self.settings)
        fit = {
            "parameters": parameters,
            "lambda1_share": share,
            "use_rules": self.settings.use_rules,
        }
        content = {"kind": KIND, "version": VERSION, **asdict(self), "fit": fit}
        return json.dumps(content, indent=1, ensure_ascii=False)


def session_schema() -> Schema:
    """Return the JSON Schema (draft 2020-12) of session files and of the settings in them."""
    definitions: dict[str, Schema] = {}
    schema_of(Session, definitions)
    session = definitions.pop(Session.__name__)
    header: Schema = {"kind": {"const": KIND}, "version": {"const": VERSION}}
    return {
        "$schema": DIALECT,
        "title": f"A session of HIPAD Workbench, format version {VERSION}",
        **session,
        "properties": header | session["properties"] | {"fit": {"type": "object"}},
        "required": [*header, *session["required"]],
        "$defs": dict(sorted(definitions.items())),
    }


def session_of(state: Any) -> Session:
    """The present session; there must be data."""
    loaded: Loaded | None = state.loaded
    if loaded is None or state.preparation is None:
        raise DataError("expected data in the session, there are none: load a sample or a file")
    return Session(
        data_name=loaded.name[: NAME.longest],
        data_key=loaded.key[: NAME.longest],
        preparation=state.preparation,
        rules=state.rules.text,
        blocks=dict(state.blocks),
        settings=state.settings,
        sample=loaded.sample,
        draw=dict(loaded.recipe),
        models=(*map(recipe_of, state.models), *state.waiting)[:MOST_MODELS],
        pinned=state.pinned_name,
        unlabelled=loaded.unlabelled_name[: NAME.longest] if loaded.unlabelled is not None else "",
        file_format=loaded.table.reading.stated,
        edits=state.edits,
        seals=tuple(state.seals.values())[-MOST_SEALS:],
        notes=state.notes,
    )


def recipe_of(model: TrainedModel) -> ModelRecipe:
    """What makes this model again; an automatic choice is made again, and is the same."""
    held = model.trust if isinstance(model.trust, tuple) else ()
    trust = tuple(replace(member, certificate=None, loss=0.0) for member in held)
    return ModelRecipe(
        model.name, model.rules, dict(model.blocks), model.settings, trust, model.chosen_by,
        model.oriented.threshold,
    )  # fmt: skip


def read_session(content: bytes) -> Session:
    """Read a session file; DataError says what is wrong with it."""
    raw = of_today(read_json(content, "session file", KIND, VERSION, most=LARGEST))
    try:
        session: Session = rebuild(Session, raw)
    except ValueError as error:
        raise DataError(f"the session file cannot be used: {error}") from error
    return session


def recipe_of_today(raw: Any) -> Any:
    """A recipe with the fields that files of earlier versions do not have."""
    return {"trust": [], "chosen_by": None, "cutoff": None, **raw} if isinstance(raw, dict) else raw


def of_today(raw: dict[str, Any]) -> dict[str, Any]:
    """The fields of a session with those that files of earlier versions do not have."""
    earlier = {"unlabelled": "", "file_format": {}, "edits": 0, "seals": [], "notes": {}}
    raw = {**earlier, **{name: value for name, value in raw.items() if name != "fit"}}
    if isinstance(raw.get("models"), list):
        raw["models"] = [recipe_of_today(recipe) for recipe in raw["models"]]
    if isinstance(raw.get("preparation"), dict):
        later = {"use_unlabelled": True, "roles": {}, "row_word": ""}
        raw["preparation"] = {**later, **raw["preparation"]}
    return raw


def read_json(content: bytes, what: str, kind: str, version: int, *, most: int) -> dict[str, Any]:
    """The fields of a file that this app wrote; DataError where it is another one."""
    if len(content) > most:
        raise DataError(f"expected a {what} of at most {most // 2**20} MB, got more")
    if content[:200].lstrip()[:1] != b"{":
        raise DataError(
            f"expected a {what} of this app, got another kind of file: give the session.json that "
            "Save session wrote; tables are uploaded on the Data page"
        )
    try:
        raw = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(
            f"expected a {what} of this app, got a damaged one or another file: "
            "take the file as it was saved"
        ) from error
    if not isinstance(raw, dict) or raw.pop("kind", None) != kind:
        raise DataError(f"expected a {what} of this app, got another file")
    if (found := raw.pop("version", None)) != version or isinstance(found, bool | float):
        raise DataError(f"expected a {what} of version {version}, got another version")
    return raw


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of the file, whose fields must each stand there once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(name for name, _ in pairs).most_common(1)
        raise DataError(f"the session file cannot be used: {misfit('each field once', twice)}")
    return found


# --------------------------------------------------------------------------------------------------
# Refitting: models are handed over as they are done; the others stay recipes, and are saved so.

MOST_STEPS: Final = 100_000  # of all fits together, before the user is asked whether to go on


class Refit:
    """Some recipes, fitted again in a row by `job`; `pinned` names the model to pin."""

    def __init__(self, data: Dataset, recipes: tuple[ModelRecipe, ...], pinned: str = "") -> None:
        self.data, self.recipes, self.pinned = data, recipes, pinned
        self.done: list[TrainedModel] = []
        self.failed: dict[str, str] = {}
        self.job: BackgroundJob[None] = BackgroundJob(self.steps)
        self._at, self._taken = 0, 0
        self._fit: tuple[Request, Run] | None = None  # under way

    @property
    def left(self) -> tuple[ModelRecipe, ...]:
        """What is not fitted yet."""
        return self.recipes[self._at :]

    @property
    def owed(self) -> tuple[ModelRecipe, ...]:
        """What was not handed over yet: not fitted, or fitted since the last look."""
        gone = {model.name for model in self.done[: self._taken]} | set(self.failed)
        return tuple(recipe for recipe in self.recipes if recipe.name not in gone)

    def go_on(self) -> None:
        """Start, or start again after an end with models left."""
        self.job.launch()

    def arrived(self) -> list[TrainedModel]:
        """Return the models that were done since the last call."""
        models = self.done[self._taken :]
        self._taken += len(models)
        return models

    def steps(self, _: object = None) -> Iterator[Progress]:
        """Take the steps of the fits that are left, so many at most."""
        allowed = MOST_STEPS
        while self.left and allowed > 0:
            try:
                if self._fit is None:
                    request = self.left[0].request(self.data)
                    self._fit = request, request.start(self.done[-1] if self.done else None)
                request, run = self._fit
                SCHEDULER.give_way()
                if (progress := next(run, None)) is not None:
                    allowed -= 1
                    yield progress
                    continue
                self.done.append(request.model(run.finish()))
            except HipadError as error:
                self.failed[self.left[0].name] = str(error)
            self._at, self._fit = self._at + 1, None
