"""Roles of columns: outcome with its classes, feature, ID, group, time of follow-up, left out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from math import lgamma, log
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from scipy.stats import norm, rankdata

from hipad.data.table import Table
from hipad.data.written_numbers import Text, to_number
from hipad.exceptions import DataError
from hipad.utils import BoolArray, FloatArray, IntArray, count, some

# --------------------------------------------------------------------------------------------------
# Two classes from a label column of any kind, and which of them is the positive one.
#
# The positive class is the one that is looked for. `find_classes` decides it for the app, the
# command line and the samples alike: the user's choice, else the usual words for either side
# (healthy and diseased, wild type and mutant, 0 and 1), else the class that the first rule speaks
# for, else the rarer class, else the last in order.


DecidedBy: TypeAlias = Literal["choice", "model", "words", "rule", "rarer", "order"]
REASONS: Final[dict[DecidedBy, str]] = {
    "choice": "as chosen",
    "model": "as in the model",
    "words": "by the usual meaning of the labels",
    "rule": "the first rule speaks for it",
    "rarer": "the rarer class",
    "order": "the last in order, as both are equally frequent",
}
CERTAIN: Final[tuple[DecidedBy, ...]] = (
    "choice",
    "model",
    "words",
    "rule",
)  # rules may say positive then
NEGATIVE_WORDS: Final = frozenset(
    [
        "absence", "absent", "alive", "asymptomatic", "background", "baseline", "benign",
        "censored", "clear", "cn", "control", "controlled", "controls", "ctl", "ctr", "ctrl",
        "cured", "euploid", "euthyroid", "false", "gesund", "hc", "health", "healthy",
        "inactive", "inlier", "intact", "live", "lived", "living", "mock", "neg", "negative",
        "nein", "nil", "none", "norm", "normal", "normals", "normotensive", "placebo",
        "recovered", "ref", "reference", "remission", "sham", "survival", "survive", "survived",
        "surviving", "survivor", "survivors", "unaffected", "unchanged", "unexposed",
        "uninfected", "unmutated", "untreated", "vehicle", "well", "wild", "wildtype", "wt",
        "lebend", "lebt", "überlebt", "vivo", "viva", "vivant", "vivante", "levend", "lever",
        "żyje", "жив", "жива", "生存", "存活", "negativ", "negativo", "negativa", "négatif",
        "陰性", "阴性", "sano", "sana", "sain", "gezond", "frisk", "zdrowy", "здоров", "健康",
        "nee", "nej", "nei", "否", "benigno", "bénin", "gutartig",
    ]
)  # fmt: skip
POSITIVE_WORDS: Final = frozenset(
    [
        "abnormal", "adenocarcinoma", "adverse", "affected", "aneuploid", "anomaly", "cancer",
        "cancerous", "carcinoma", "carrier", "case", "cases", "complication", "complications",
        "dead", "death", "deceased", "defect", "defective", "demented", "dementia", "diabetes",
        "diabetic", "died", "disease", "diseased", "disorder", "event", "exitus", "exposed",
        "fail", "failed", "failure", "fatal", "faulty", "fraud", "glioma", "hypertensive",
        "ill", "illness", "infarction", "infected", "infection", "ja", "krank", "leukaemia",
        "leukemia", "lymphoma", "malignancy", "malignant", "melanoma", "metastases",
        "metastasis", "metastatic", "mut", "mutant", "mutated", "mutation", "neoplasm",
        "neoplastic", "oui", "outlier", "pathologic", "pathological", "patient", "patients",
        "pos", "positive", "presence", "present", "recurred", "recurrence", "recurrent",
        "relapse", "relapsed", "sarcoma", "sepsis", "septic", "sick", "spam", "stroke",
        "symptomatic", "treated", "true", "tumor", "tumors", "tumour", "tumours",
        "uncontrolled", "unhealthy", "unwell", "yes",
        "tot", "verstorben", "gestorben", "décédé", "décédée", "decede", "mort", "morte", "morto",
        "deceduto", "deceduta", "fallecido", "fallecida", "muerto", "muerta", "falecido", "óbito",
        "overleden", "død", "död", "avliden", "zmarł", "zgon", "умер", "умерла", "死亡", "positiv",
        "positivo", "positiva", "positif", "陽性", "阳性", "malade", "enfermo", "malato", "ziek",
        "sjuk", "syg", "chory", "болен", "si", "sí", "sì", "sim", "tak", "да", "是", "maligno",
        "malin", "bösartig", "rezidiv", "récidive", "recidiva", "recidief",
    ]
)  # fmt: skip
NEGATIONS: Final = frozenset(
    [
        "no", "not", "non", "never", "without", "free", "sans", "ohne", "kein", "keine", "keinen",
        "nicht", "pas", "aucun", "aucune", "sin", "nessun", "nessuna", "senza", "geen", "zonder",
        "niet", "brak", "bez", "nie", "без", "нет", "utan", "ingen", "inga", "inte", "uten", "ikke",
        "uden", "sem", "não",
    ]
)  # fmt: skip
ORDERED_WORDS: Final = (  # (negative, positive), where each label has its own of the two
    ("low", "high"), ("mild", "severe"), ("mild", "moderate"), ("good", "poor"), ("good", "bad"),
    ("minor", "major"), ("early", "late"), ("favourable", "unfavourable"),
    ("favorable", "unfavorable"), ("stable", "unstable"), ("stable", "progressive"),
    ("stable", "progression"), ("sensitive", "resistant"), ("primary", "secondary"),
    ("n", "y"), ("f", "t"), ("b", "m"), ("n", "t"), ("n", "p"),
)  # fmt: skip
_CAMEL_BORDER: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD: Final = re.compile(r"[^\W_]+")
_SIGNED: Final = re.compile(r"(?:^|.*[^\s(])\s*\(?([-\u2212\u2013+])(?:ve)?\)?", re.DOTALL)
_NON: Final = re.compile(r"non(?!sense)(\w{4,})")
_NOT: Final = re.compile(r"(?:not|no|non)[\s_-]\s*(.+)", re.IGNORECASE)


class JoinedClass(str):
    """The name of a class that several labels were joined into; rules may still name these.

    >>> rest = JoinedClass("not a", ("b", "c"))
    >>> rest == "not a", rest.labels
    (True, ('b', 'c'))
    """

    __slots__ = ("labels",)
    labels: tuple[str, ...]

    def __new__(cls, name: str, labels: tuple[str, ...]) -> JoinedClass:
        joined = super().__new__(cls, name)
        joined.labels = labels
        return joined

    def __reduce__(self) -> tuple[type[JoinedClass], tuple[str, tuple[str, ...]]]:
        return JoinedClass, (str(self), self.labels)


@dataclass(frozen=True)
class Classes:
    """The two classes; every label in `merged` counts as the negative one.

    `decided_by` is the reason why the positive class is the positive one.
    """

    negative: str
    positive: str
    merged: tuple[str, ...] = ()
    decided_by: DecidedBy = field(default="choice", compare=False)

    def apply(self, labels: Text) -> Text:
        """Return the labels as the two classes."""
        if not self.merged:
            return labels
        return np.where(labels == self.positive, self.positive, self.negative)


def positive_line(classes: tuple[str, str], decided_by: DecidedBy) -> str:
    """Return which of the (negative, positive) classes is positive, and why.

    >>> positive_line(("healthy", "diabetic"), "words")
    'positive class: diabetic (by the usual meaning of the labels); the other is healthy'
    """
    return f"positive class: {classes[1]} ({REASONS[decided_by]}); the other is {classes[0]}"


def labels_of(table: Table, label: str, known: Sequence[str] = ()) -> Text:
    """Return the label column as text, "" where a row has none.

    A word such as NA stands for no label, unless it is one of the `known` classes, or the only
    other value that the column has.
    """
    if label not in table.names:
        raise DataError(f"expected the label to be a column, got {label!r}: {some(table.names)}")
    if known:
        return table.as_text(label, known)
    word = class_word(table, label)
    return table.as_text(label, (word,) if word else ())


def class_word(table: Table, label: str) -> str:
    """Return the word for a gap that is a class, as it is all that a label has beside one; "" if
    none.
    """
    words = table.gap_words(label)
    classes = set(np.unique(table.as_text(label)).tolist()) - {""} if len(words) == 1 else set()
    return next(iter(words)) if len(classes) == 1 else ""


def find_classes(labels: Text, label: str, positive: str | None, outcome: str = "") -> Classes:
    """Return which class is negative and which positive; the others, when there are more, are
    merged.

    `outcome` is what the first rule says, for labels whose words leave the positive class open.
    """
    names, times = np.unique(labels, return_counts=True)
    frequency = dict(zip(names.tolist(), times.tolist(), strict=True))
    found = sorted(frequency, key=_order)
    decided_by: DecidedBy = "choice"
    if len(found) < 2:
        got = f"one ({found[0]!r})" if found else "none"
        raise DataError(
            f"expected two classes in {label!r}, got {got}: choose another label column, or give "
            "a name to the class of rows whose cell is empty or says NA or the like"
        )
    if positive is None and len(found) > 2:
        raise DataError(
            f"expected two classes in {label!r}, got {len(found):,} ({some(found)}): choose the "
            "positive class, and the others are taken together, or choose another label column"
        )
    if positive is None:
        positive, decided_by = likely_positive(frequency, outcome)
    if positive not in found:
        raise DataError(
            f"expected the positive class to be a label in {label!r}, got {positive!r}: "
            f"there are {some(found)}"
        )
    others = tuple(name for name in found if name != positive)
    if len(others) == 1:
        return Classes(others[0], positive, decided_by=decided_by)
    return Classes(JoinedClass(f"not {positive}", others), positive, others, decided_by)


def likely_positive(frequency: dict[str, int], outcome: str = "") -> tuple[str, DecidedBy]:
    """Return the label to take as positive, and by what; with more than two, the one to propose.

    >>> likely_positive({"diabetic": 30, "healthy": 10})
    ('diabetic', 'words')
    >>> likely_positive({"ALL": 30, "AML": 30}, outcome="ALL"), likely_positive({"a": 1, "b": 2})
    (('ALL', 'rule'), ('a', 'rarer'))
    """
    found = sorted(frequency, key=_order)
    if (usual := positive_by_words(found)) is not None:
        return usual, "words"
    spoken = re.sub(r"^(['\"])(.*)\1$", r"\2", outcome.strip())
    for said in (spoken, *(other[1] for other in [_NOT.fullmatch(spoken)] if other)):
        named = [name for name in found if _same(name) == _same(said)]
        if len(named) == 1:
            return named[0], "rule"
    fewest = min(frequency.values())
    rarest = [name for name in found if frequency[name] == fewest]
    return (rarest[0], "rarer") if len(rarest) == 1 else (found[-1], "order")


def positive_by_words(labels: list[str]) -> str | None:
    """Return the one label that the usual words make the positive one; None where they leave it
    open.

    >>> positive_by_words(["NEG", "BCR/ABL"]), positive_by_words(["non-survivor", "survivor"])
    ('BCR/ABL', 'non-survivor')
    """
    sides = [side_of(label) for label in labels]
    if sides.count(1) == 1:
        return labels[sides.index(1)]
    if sides.count(0) == 1 and sides.count(-1) == len(labels) - 1:
        return labels[sides.index(0)]
    if len(labels) != 2 or set(sides) != {0}:
        return None
    one, other = (set(_words(label)) for label in labels)
    for negative, positive in ORDERED_WORDS:
        if positive in one - other and negative in other - one:
            return labels[0]
        if positive in other - one and negative in one - other:
            return labels[1]
    plain = [_same(label) for label in labels]
    for at in (0, 1):
        if plain[1 - at] == f"un{plain[at]}":
            return labels[at]
    below = [label.strip()[:1] for label in labels]
    if set(below) in ({"<", ">"}, {"<", "\u2265"}, {"\u2264", ">"}, {"\u2264", "\u2265"}):
        return labels[int(below[1] in ">\u2265")]
    return None


def side_of(label: str) -> int:
    """-1 where a label's own words tell that it is the negative class, +1 the positive, else 0.

    >>> [side_of(label) for label in ("healthy control", "no relapse", "HIV+", "not normal", "AML")]
    [-1, -1, 1, 1, 0]
    """
    number = to_number(label)
    if number is not None and label.strip() != "Na":
        return -1 if number != number or number in (0.0, -1.0) else 0  # a word for a gap: nothing
    if signed := _SIGNED.fullmatch(label.strip()):
        return 1 if signed[1] == "+" else -1
    words = _words(label)
    negated = sum(word in NEGATIONS for word in words) % 2 == 1
    if any(word in NEGATIVE_WORDS for word in words):
        side = -1
    else:
        side = int(any(word in POSITIVE_WORDS for word in words))
    return (-side or -1) if negated else side


def _words(label: str) -> list[str]:
    """Return the words of a label in small letters; `nonsmoker` and `NonSmoker` are two
    words each.
    """
    words: list[str] = []
    for word in _WORD.findall(_CAMEL_BORDER.sub(" ", label)):
        low = word.lower()
        joined = _NON.fullmatch(low)
        words += ["non", joined[1]] if joined else [low]
    return words


def _same(label: str) -> str:
    """Return what two ways to write one label have in common."""
    number = to_number(label)
    if number is not None and number == number:
        return f"{number:g}"
    return " ".join(label.lower().split())


def _order(label: str) -> tuple[float, str]:
    """Return numbers by size, before text."""
    number = to_number(label)
    return (np.inf, label) if number is None or number != number else (number, label)


def check_known(labels: Text, known: set[str], label: str) -> None:
    """Refuse labels that the training rows do not have."""
    unknown = sorted(set(np.unique(labels).tolist()) - known - {""})
    if unknown:
        raise DataError(
            f"expected the labels of the training rows in {label!r} ({some(sorted(known))}), "
            f"got {count(len(unknown), 'other')} as well: {some(unknown)}"
        )


# --------------------------------------------------------------------------------------------------
# Roles of columns: outcome, feature, ID, group, time of follow-up, or left out.
#
#     roles = column_roles(table, label, decided={"site": Role.GROUP})
#     roles["subject"].role, roles["subject"].reason
#     row_groups(table, "subject")        # rows with the same number belong to one patient
#
# A column that has no entry is a feature. Guesses rest on names (in several languages) and on
# values together: an ID in which values repeat is a group, one in which all differ is an ID, a time
# until an event is no feature. A measurement with few different values (age, stage, a count) is
# never taken for a group by its values alone. What values cannot tell is asked: a column that
# separates the classes all by itself stays a feature, with a question. Whatever the user decided
# stands.


class Role(StrEnum):
    """What a column is to a model."""

    OUTCOME = "outcome"
    FEATURE = "feature"
    ID = "ID"
    GROUP = "group"
    FOLLOW_UP = "follow-up time"
    LEFT_OUT = "left out"


MEANINGS: Final[dict[Role, str]] = {
    Role.OUTCOME: "what is to be predicted",
    Role.FEATURE: "the model may use it",
    Role.ID: "names a row or a patient, is no feature",
    Role.GROUP: "rows with the same value belong together: they are learnt from or judged as one",
    Role.FOLLOW_UP: "known only after the outcome, is no feature",
    Role.LEFT_OUT: "is not used",
}


@dataclass(frozen=True)
class ColumnRole:
    """The role of a column, why it has it, and what should be asked before a run, if anything."""

    role: Role
    reason: str
    question: str = ""
    decided: bool = False  # by the user, not guessed


def words_of(text: str) -> frozenset[str]:
    """Return the different words of a text."""
    return frozenset(text.split())


# Words for whoever a row is about: as a name, or before a word for a number or a name.
ALONE: Final = words_of(  # by themselves
    "patient subject participant proband probandin patientin volunteer paciente paziente sujet "
    "sujeto soggetto deltaker pat subj pacjent pacjenta pacient pacienta пациент пациента больной "
    "患者 病人 受試者 환자 hasta potilas beteg patiënt"
)
PERSONS: Final = ALONE | words_of(  # PT is also a lab value, a donor also a kind of donor
    "pat pt subj patienten person individual donor respondent member client animal mouse rat dog "
    "case child infant twin study"
)
HOLDERS: Final = words_of(  # who keeps a number: with a word for one, it names a patient
    "hospital chart file registration registry nhs insurance medical health clinic department"
)
NAMES: Final = words_of("id ids identifier identifiant identificador kennung uid uuid guid")
NUMBERS: Final = words_of(
    "number no nr num nbr nummer numero numéro code key index row record sample name ref "
    "accession barcode label cod n lp номер 番号 编号 編號 № numer lfd lfdnr laufnummer laufende "
    "sıra"
)
WHOLE_NAMES: Final = words_of(  # one word that names a patient or a record by itself
    "patientid patid patno patnr patientno patientnr subjectid subjid subjectno usubjid ptid rid "
    "eid mrn seqn caseid casenr caseno sampleid studyid studyno recordid participantid personid "
    "donorid memberid encounterid hadmid stayid icustayid fallnummer fallnr patientennummer "
    "患者番号 患者编号 病人编号 症例番号 환자번호 lfdnr laufnr "
    "probandennummer aktenzeichen matricule rownames rowname rownum rownumber unnamed pid"
)
BELONGING: Final = words_of(  # things that several patients share
    "family famid familyid fam household pedigree litter pair pairid stratum strata matchset "
    "matchedset cluster couple sibship familie haushalt famille familia"
)
TIMES: Final = words_of(
    "time times day days week weeks month months year years hour hours duration zeit tage tag "
    "monate monat jahre wochen dauer tiempo dias meses anos duracion temps duree jours mois ans "
    "tempo giorni mesi anni durata tijd dagen maanden jaren delai gg czas dni miesiace lata tid "
    "dager dagar срок дней месяцев время 日数 期間 天数 时间"
)
SURVIVAL: Final = words_of(
    "survival surv survie supervivencia sopravvivenza overleving sobrevida uberleben ueberleben "
    "os pfs dfs rfs efs dss dmfs mfs css lfs ttp ttf tte ttr"
)
FOLLOWED: Final = words_of(
    "followup futime fu fup survtime survivaltime ostime pfstime dfstime rfstime efstime "
    "uberlebenszeit ueberlebenszeit nachbeobachtung nachbeobachtungszeit beobachtungszeit "
    "beobachtungsdauer suivi seguimiento opvolging observationtime eventtime timetoevent"
)
EVENTS: Final = words_of(
    "event status death dead died dies alive deceased decease vital censored censor censoring "
    "relapse relapsed recurrence recurrent recurred recur recurr progression progressed mortality "
    "fatal survived survivor survivors survival fustat failure failed readmission readmitted "
    "zgon zgony død dod avliden исход умер смерть 転帰 死亡 生存 结局 存活 deceduto deceso "
    "metastasis tod tot verstorben gestorben lebend rezidiv deces decede vivant muerte fallecido "
    "vivo morto morte vivo overleden exitus churn attrition dropout lastfollowup last"
)
NOT_TIMES: Final = words_of(
    "status event flag class group indicator ind censor censored rate probability prob score model "
    "risk age birth"
)
UNNAMED: Final = words_of("x v1 column_1 _c0 column1 row index")  # a first column without a name
UNTIL: Final = words_of("to until till bis hasta jusqua")
DATES: Final = words_of(
    "date datum data fecha dato datetime timestamp dob birthdate geburtsdatum dtm visitdt dt дата "
    "日付 日期"
)
_HINTS: Final = (
    PERSONS | NAMES | NUMBERS | WHOLE_NAMES | BELONGING | TIMES | SURVIVAL | FOLLOWED | DATES
)
HINT: Final = re.compile(
    "|".join(
        re.escape(word) if len(word) > 2 or not word.isascii() else rf"(?<![a-z]){word}(?![a-z])"
        for word in sorted(_HINTS, key=len)
    )
    + "|[#№]|(?<=[a-z])(?:id|no|nr)(?![a-z])"
)
FEW: Final = 8  # different values that words need to be names of groups
LEAST_ROWS: Final = 20  # in which consecutive numbers are no chance
MOST_ROWS: Final = 4_000  # looked at for a column that separates the classes
MOST_COLUMNS: Final = 2_000  # in wider tables some column always separates a few patients
LONG_NAME: Final = 4  # a name has more digits
NARROW: Final = 100  # columns up to which each separating one is asked about
MOST_ASKED: Final = 3  # in wider tables more of them are what the data are like
NEAR_PERFECT: Final = 0.98  # area under the ROC curve
LEAST_OF_CLASS: Final = 8
BY_CHANCE: Final = 1e-3  # probability that any column of the table separates so well
MOST_LEVELS: Final = 20  # of a text column that becomes a feature
KNOWN_BEFORE: Final = "is it known before the outcome?"
_CAMEL: Final = re.compile(r"(?<=[a-zß-ÿ])(?=[A-Z])|(?<=[\u3040-\u9fff])(?=[A-Za-z])")
_DIGITS: Final = re.compile(r"\d+")
_DATE: Final = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2})|"
    r"\d{1,2}[- ]?[A-Za-zäûéè]{3,9}\.?[- ]?\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|"
    r"\d{4}年\d{1,2}月\d{1,2}日)([T ,]{1,2}\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AP]M)?"
    r"(Z|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_CLOCK: Final = re.compile(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AP]M)?", re.IGNORECASE)
DAY_NUMBERS: Final = (20_000, 80_000)  # days as a spreadsheet counts them, 1954 to 2119
EPOCH: Final = (1e8, 5e9)  # seconds since 1970


def column_roles(
    table: Table,
    label: str,
    decided: Mapping[str, Role | str] | None = None,
    *,
    positive: str | None = None,
    questions: bool = True,
) -> dict[str, ColumnRole]:
    """Return the role of every column that is no plain feature, and of those to be asked about.

    Parameters
    ----------
    table : Table
        As it was read.
    label : str
        The column to be predicted.
    decided : mapping, default=None
        Roles by the user, which no guess overrules. At most one column is the group.
    positive : str, default=None
        The positive class, where the label has more than two values.
    questions : bool, default=True
        Whether to look for columns that separate the classes by themselves; it takes longer.
    """
    own = checked_decisions(table, label, decided or {})
    found = {label: ColumnRole(Role.OUTCOME, MEANINGS[Role.OUTCOME], decided=True)}
    found |= {
        name: guess
        for name, guess in guess_roles(table, label).items()
        if name not in own and not (guess.role is Role.GROUP and Role.GROUP in own.values())
    }
    for name, role in own.items():
        found[name] = ColumnRole(role, "as chosen", decided=True)
    if questions:
        found |= {
            name: ColumnRole(Role.FEATURE, reason, question)
            for name, (reason, question) in _like_names(table, set(found) | set(own)).items()
        }
        out = {name for name, one in found.items() if one.role is not Role.FEATURE or one.decided}
        for name, reason in separating_columns(table, label, positive, out).items():
            question = f"{name} alone separates the classes: {KNOWN_BEFORE}"
            found[name] = ColumnRole(Role.FEATURE, reason, question)
    return found


def checked_decisions(
    table: Table, label: str, decided: Mapping[str, Role | str]
) -> dict[str, Role]:
    """Return what the user decided, as roles; DataError where that cannot be."""
    if unknown := sorted(set(decided) - set(table.names)):
        raise DataError(
            f"expected columns of the table to have roles, got {some(unknown)}: "
            f"there are {some(table.names)}"
        )
    try:
        own = {name: Role(role) for name, role in decided.items() if name != label}
    except ValueError as error:
        roles = ", ".join(Role)
        raise DataError(f"expected a role of {roles}, got {error}: choose one of them") from error
    if wrong := [name for name, role in own.items() if role is Role.OUTCOME]:
        raise DataError(f"expected one outcome, {label!r}, got {some(wrong)} as well: choose one")
    groups = [name for name, role in own.items() if role is Role.GROUP]
    if len(groups) > 1:
        raise DataError(f"expected one column as the group, got {some(groups)}: choose one")
    return own


def group_column(roles: Mapping[str, ColumnRole]) -> str:
    """Return the column whose rows belong together; "" where there is none."""
    return next((name for name, one in roles.items() if one.role is Role.GROUP), "")


def not_features(roles: Mapping[str, ColumnRole]) -> tuple[str, ...]:
    """Return the columns beside the outcome that the model may not use."""
    return tuple(
        name for name, one in roles.items() if one.role not in (Role.FEATURE, Role.OUTCOME)
    )


def named_without_features(errors: Iterable[object], roles: Mapping[str, ColumnRole]) -> list[str]:
    """Return the columns that messages call no feature, and that are none by their role."""
    messages = [str(error) for error in errors]
    return [
        name
        for name in not_features(roles)
        if any(re.search(rf"called [`'\"]?{re.escape(name)}\b", text) for text in messages)
    ]


def row_groups(table: Table, column: str) -> IntArray:
    """Return a number for each row, equal where rows belong together.

    A row without an entry belongs to no other.
    """
    cells = table.as_text(column)
    _, codes = np.unique(cells, return_inverse=True)
    codes = codes.astype(np.intp)
    blank = np.flatnonzero(cells == "")
    codes[blank] = codes.max(initial=0) + 1 + np.arange(blank.size)
    return codes


def row_names(table: Table, roles: Mapping[str, ColumnRole]) -> tuple[str, ...]:
    """Return what the rows are called: by their ID, or their group and number; () without one."""
    if table.ids:
        return table.ids
    for name, one in roles.items():
        cells = table.as_text(name) if one.role is Role.ID else np.empty(0, dtype=str)
        if cells.size and np.unique(cells[cells != ""]).size == table.n_rows:
            return tuple(cells.tolist())
    if group := group_column(roles):
        cells = table.as_text(group)
        return tuple(f"{cell or '?'}, row {i}" for i, cell in enumerate(cells.tolist(), start=1))
    return table.row_ids


def later_row_ids(
    table: Table, *, label: str, group: str, features: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the patient of each row of a later table, and the columns that name patients.

    They are told as in the table that a model was fitted to: `group` is the column whose rows were
    of one patient there, and no feature is an ID. () where nothing names the rows.
    """
    found = {
        name: one
        for name, one in guess_roles(table, label).items()
        if one.role is Role.ID and name not in features
    }
    names = row_names(table, found) if found or group not in table.names else ()
    if group in table.names and not names:
        names, found[group] = tuple(table.as_text(group).tolist()), ColumnRole(Role.GROUP, "")
    if not names:
        return (), ()
    by_text = [name for name, cells in table.text.items() if tuple(cells.tolist()) == names]
    return names, tuple(dict.fromkeys([*found, *by_text]))


def guess_roles(table: Table, label: str) -> dict[str, ColumnRole]:
    """Return the columns that seem to be no features, each with the reason.

    >>> numbers = np.column_stack([np.repeat([7.0, 8.0, 9.0, 11.0, 12.0], 4), np.arange(20.0)])
    >>> text = {"class": np.tile(["a", "b"], 10)}
    >>> table = Table(numbers, ("patient", "x"), text, "CSV")
    >>> {name: str(one.role) for name, one in guess_roles(table, "class").items()}
    {'patient': 'group'}
    """
    about = set(table.about)
    names = [name for name in table.names if name != label and name not in about]
    found: dict[str, ColumnRole] = {}
    candidates: dict[str, ColumnRole] = {}
    for name in names:
        is_text = name in table.text
        if not is_text and not HINT.search(_plain(name)):
            continue
        guess = _text_role(table, name) if is_text else _number_role(table, name, label)
        if guess is not None:
            (candidates if guess.role is Role.GROUP else found)[name] = guess
    first = next(iter(table.number_names), "")
    others = set(names) - {first, *found, *candidates}
    unnamed = _plain(first) in UNNAMED and first in names and first not in found
    if unnamed and others and _numbers_rows(table.column(first)):
        found[first] = ColumnRole(Role.ID, "numbers the rows")
    if candidates:
        chosen = _coarsest(table, list(candidates))
        for name, guess in candidates.items():
            if name != chosen:
                reason = f"an ID in which values repeat; rows are grouped by {chosen}"
                guess = ColumnRole(Role.ID, reason)
            found[name] = guess
    return {name: found[name] for name in table.names if name in found}


def _number_role(table: Table, name: str, label: str) -> ColumnRole | None:
    """Return a column of numbers by its name, where the values agree with it."""
    words = name_words(name)
    kind = _kind_of_name(words)
    if not kind and not _may_be_time(words) and not set(words) & DATES:
        return None
    values = np.asarray(table.column(name), dtype=np.float64)
    known = values[np.isfinite(values)]
    if known.size < 2:
        return None
    if set(words) & DATES and not set(words) & NOT_TIMES:
        return ColumnRole(Role.LEFT_OUT, "dates, as numbers") if _are_dates(known) else None
    whole = bool((known == np.round(known)).all())
    different = int(np.unique(known).size)
    if kind and whole and known.size >= 0.5 * values.size:
        return _id_role(kind, known.size, different, _is_run(known))
    if kind:
        return None
    return _time_role(table, name, words, label, known, different)


def _are_dates(known: FloatArray) -> bool:
    """Return whether numbers are days of a spreadsheet, seconds since 1970, or such as 20200131."""
    low, high = float(known.min()), float(known.max())
    if low >= DAY_NUMBERS[0] and high <= DAY_NUMBERS[1]:
        return True
    if (known != np.round(known)).any():
        return False
    if low >= 19_000_101 and high <= 21_001_231:
        months, days = known // 100 % 100, known % 100
        return bool(((months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)).all())
    return EPOCH[0] <= low <= high <= EPOCH[1] or 1e3 * EPOCH[0] <= low <= high <= 1e3 * EPOCH[1]


def _id_role(kind: str, n: int, different: int, consecutive: bool) -> ColumnRole | None:
    """Return whole numbers, or text like them, in a column with the name of an ID."""
    if different == n:
        if kind == "number" and not consecutive:
            return None
        return ColumnRole(Role.ID, "different in every row" if n > 2 else "named as an ID")
    small = max(FEW, n // 10)  # in groups of ten rows at most, on average
    least = {"person": 3, "kind": small, "shared": small, "id": max(3, n // 20)}.get(kind, n + 1)
    if different < least:
        return None
    text = f"{count(different, 'different value')} in {count(n, 'row')}: "
    what = "belong to one patient" if kind == "person" else "belong together"
    return ColumnRole(Role.GROUP, text + f"rows with the same value {what}")


def _kind_of_name(words: tuple[str, ...]) -> str:
    """Return what a column's name says: "person", "kind", "shared", "id", "code", "number" or
    nothing.

    >>> [_kind_of_name(name_words(n)) for n in ("Patient_ID", "subject", "visitId", "famid", "nr")]
    ['person', 'person', 'id', 'shared', 'number']
    >>> [_kind_of_name(name_words(n)) for n in ("age", "uric_acid", "patients", "ID1", "case")]
    ['', '', '', '', 'code']
    """
    if not words:
        return ""
    rest = set(words)
    if rest <= {"case", "sample", "record", "code", "key", "row", "name"}:
        return "code" if len(words) == 1 else "person"
    if len(words) == 1 and words[0] in PERSONS - ALONE:
        return "kind" if len(words[0]) > 3 else ""
    if len(words) == 1 and words[0] in NUMBERS:
        return "number"
    if rest & HOLDERS and rest & (NAMES | NUMBERS) and rest <= HOLDERS | PERSONS | NAMES | NUMBERS:
        return "id"
    if rest & WHOLE_NAMES and rest <= PERSONS | NAMES | NUMBERS | WHOLE_NAMES | {"0"}:
        return "person"
    if rest <= PERSONS | NAMES | NUMBERS:
        return "person" if rest & (PERSONS | NAMES) or len(rest) > 1 else "number"
    if rest & BELONGING and rest <= BELONGING | NAMES | NUMBERS:
        return "shared"
    if words[-1] in NAMES or words[0] in NAMES:
        return "id"
    return ""


def _text_role(table: Table, name: str) -> ColumnRole | None:
    """Return a column of text by its values, and by its name where values repeat."""
    cells = table.text[name]
    levels, times = np.unique(cells[cells != ""], return_counts=True)
    n, different = int(times.sum()), int(levels.size)
    if n < 2:
        return None
    if _share(_DATE.fullmatch(str(level)) is not None for level in levels[:200]) >= 0.9:
        return ColumnRole(Role.LEFT_OUT, "dates")
    if _share(_CLOCK.fullmatch(str(level)) is not None for level in levels[:200]) >= 0.9:
        return ColumnRole(Role.LEFT_OUT, "times of day, or hours and minutes")
    kind = _kind_of_name(name_words(name))
    if different == n:
        if n <= 2 or (n <= MOST_LEVELS // 2 and not kind):
            return None
        if np.char.count(levels, " ").mean() > 3:
            return ColumnRole(Role.LEFT_OUT, "free text, different in every row")
        return ColumnRole(Role.ID, "text that is different in every row")
    numbered = _share(bool(_DIGITS.search(str(level))) for level in levels[:200]) >= 0.9
    if kind in ("person", "kind", "shared", "id") and (numbered or different >= FEW):
        return _id_role(kind, n, different, False)
    if kind == "code" and numbered and different >= max(FEW, n // 10):
        return _id_role("person", n, different, False)
    if not kind and _are_codes(levels, times):
        text = f"{count(different, 'code')} such as {str(levels[0])[:20]} in {count(n, 'row')}: "
        return ColumnRole(Role.GROUP, text + "rows with the same code belong to one patient")
    return None


def _are_codes(levels: Text, times: IntArray) -> bool:
    """Return whether texts are one word with running numbers, as P01, P02, ..., none of them
    frequent.

    Stages and grades (T1, T2, T3) are too few, diagnoses (C50.9, E11) have no running number.
    """
    if levels.size < 10 or times.max() > 0.3 * times.sum():
        return False
    parts = [re.fullmatch(r"(\D{0,12}?)(\d{1,9})", str(level)) for level in levels[:2_000]]
    if not all(parts) or len({part[1] for part in parts if part}) != 1:
        return False
    numbers = np.unique([int(part[2]) for part in parts if part])
    padded = len({len(part[2]) for part in parts if part}) == 1 and numbers[0] < 10
    return bool(numbers.size >= 0.8 * (numbers[-1] - numbers[0] + 1) and (padded or numbers[0] < 3))


def _time_role(
    table: Table, name: str, words: tuple[str, ...], label: str, known: FloatArray, different: int
) -> ColumnRole | None:
    """Return a time until the outcome, or until nobody looked any more."""
    if known.min() < 0 or different < min(10, max(3, known.size // 4)):
        return None
    strong = _is_follow_up(words)
    if not strong and np.median(known) >= 1_900 and known.max() < 2_100:
        return None  # calendar years
    text = "its name tells a time of follow-up"
    question = f"{name} seems to be a time of follow-up: {KNOWN_BEFORE}"
    if strong or is_event(table, label):
        return ColumnRole(Role.FOLLOW_UP, text, question)
    asked = f"{name} is a time: {KNOWN_BEFORE}"
    return ColumnRole(Role.FEATURE, "its name tells a time", asked)


def _may_be_time(words: tuple[str, ...]) -> bool:
    rest = set(words)
    return _is_follow_up(words) or (bool(rest) and rest <= TIMES | SURVIVAL)


def _is_follow_up(words: tuple[str, ...]) -> bool:
    """Return whether a name tells a time of follow-up, whatever is to be predicted.

    >>> [_is_follow_up(name_words(n)) for n in ("days_to_death", "OS.months", "followUpTime")]
    [True, True, True]
    >>> [_is_follow_up(name_words(n)) for n in ("days_to_birth", "time", "5-FU", "os_status")]
    [False, False, False, False]
    """
    rest = set(words)
    if rest & NOT_TIMES and not rest & UNTIL:
        return False
    pairs = list(pairwise(words))
    followed = ("follow", "up") in pairs or bool(rest & FOLLOWED - {"fu", "fup"})
    if followed or (rest & {"fu", "fup"} and rest <= TIMES | {"fu", "fup"}):
        return True
    if rest & TIMES and rest & SURVIVAL:
        return True
    if rest & {"survival", "survie", "supervivencia", "uberleben", "sopravvivenza"}:
        return rest <= SURVIVAL | {"overall", "free", "disease", "progression", "relapse", "event"}
    after = {word for first, word in pairs if first in UNTIL}
    return bool(rest & (TIMES | {"t"}) and after & (EVENTS | FOLLOWED | {"first", "end"}))


def is_event(table: Table, label: str) -> bool:
    """Return whether the outcome is an event that follow-up may bring: by its name, or by its
    classes.
    """
    if set(name_words(label)) & EVENTS:
        return True
    levels = np.unique(labels_of(table, label))[:50]
    return any(set(name_words(str(level))) & EVENTS - {"last", "vivo"} for level in levels)


def separating_columns(
    table: Table, label: str, positive: str | None = None, out: set[str] | None = None
) -> dict[str, str]:
    """Return the columns that tell the classes apart all by themselves, each with how well.

    Few patients are told apart by some column of a wide table by chance, and by many where the
    classes differ in many ways: neither is asked about. A column that has a value in one class only
    separates as well.
    """
    y = _two_classes(table, label, positive)
    if y is None or len(table.names) > MOST_COLUMNS:
        return {}
    rows = np.flatnonzero(y >= 0)
    rows = rows[:: -(-rows.size // MOST_ROWS)] if rows.size > MOST_ROWS else rows
    truth = y[rows] > 0
    n_columns = len(table.names)
    skipped = {label, *table.about, *(out or ())}
    found: dict[str, str] = {}
    numbers = _dense_rows(table, rows)
    for j, name in enumerate(table.number_names):
        if name not in skipped:
            separation = _separation(numbers[:, j], truth, n_columns)
            found |= {name: separation} if separation else {}
    for name, cells in table.text.items():
        levels, codes = np.unique(cells[rows], return_inverse=True)
        if name in skipped or not 2 <= levels.size <= MOST_LEVELS or levels.size * 5 > rows.size:
            continue
        shares = np.bincount(codes, truth) / np.bincount(codes)
        separation = _separation(shares[codes], truth, n_columns)
        found |= {name: separation} if separation else {}
    most = len(found) if n_columns <= NARROW else MOST_ASKED
    return found if len(found) <= most else {}


def _separation(values: FloatArray, truth: BoolArray, n_columns: int) -> str:
    """Return how well values tell the classes apart, in words; "" where not nearly perfectly."""
    known = np.isfinite(values)
    for scores, mask, what in (
        (values, known, "area under the ROC curve {:.3f} by itself"),
        (known.astype(float), np.ones(known.size, bool), "it has a value in one class only"),
    ):
        own = truth[mask]
        n_high, n_low = int(own.sum()), int((~own).sum())
        if min(n_high, n_low) < LEAST_OF_CLASS:
            continue
        ranks = rankdata(scores[mask])
        area = (ranks[own].sum() - n_high * (n_high + 1) / 2) / (n_high * n_low)
        area = max(area, 1.0 - area)
        if area >= NEAR_PERFECT and n_columns * _chance(n_high, n_low, area) < BY_CHANCE:
            return what.format(area)
    return ""


def _chance(n_high: int, n_low: int, area: float) -> float:
    """Return how likely an unrelated column separates as well; never below what ranks allow."""
    n = n_high + n_low
    deviation = np.sqrt((n + 1) / (12.0 * n_high * n_low))
    perfect = lgamma(n_high + 1) + lgamma(n_low + 1) - lgamma(n + 1) + log(2.0)
    return max(2.0 * float(norm.sf((area - 0.5) / deviation)), float(np.exp(perfect)))


def _like_names(table: Table, out: set[str]) -> dict[str, tuple[str, str]]:
    """Return columns of whole numbers that may name rows or patients, each with why and a question.

    A name that differs in every row is long, and as long in all rows; one that repeats goes up by
    one, row after row.
    """
    if len(table.names) > NARROW or table.n_rows < LEAST_ROWS or table.is_sparse:
        return {}
    found: dict[str, tuple[str, str]] = {}
    for name in table.number_names:
        values = np.asarray(table.column(name), dtype=np.float64)
        whole = bool((values == np.round(values)).all())  # no gaps
        if name in out or name in table.about or not whole or values.min() < 0:
            continue
        different = int(np.unique(values).size)
        if different == values.size and values.min() >= 10**LONG_NAME:
            if len(f"{values.min():.0f}") == len(f"{values.max():.0f}"):
                found[name] = ("a long number, different in every row",
                               f"{name} may be an ID: is it measured?")  # fmt: skip
        elif FEW <= different <= values.size / 2 and set(np.diff(values)) == {0.0, 1.0}:
            found[name] = (
                "it goes up by one after some rows each",
                f"{name} may name patients with several rows each: is it measured?",
            )
    return found


def _two_classes(table: Table, label: str, positive: str | None) -> IntArray | None:
    """1 for the positive class, 0 for the other, -1 without a label; None without two classes."""
    labels = labels_of(table, label)
    known = labels != ""
    try:
        classes = find_classes(labels[known], label, positive)
    except DataError:
        return None
    y = np.where(classes.apply(labels) == classes.positive, 1, 0)
    return np.where(known, y, -1)


def _dense_rows(table: Table, rows: IntArray) -> Any:
    part = table.numbers[rows]
    return part.toarray() if sp.issparse(part) else part


def _coarsest(table: Table, names: list[str]) -> str:
    """Return of several columns that group rows, the one whose groups hold those of most others."""
    codes = {name: row_groups(table, name) for name in names}

    def held(name: str) -> int:
        return sum(
            np.unique(np.column_stack([codes[other], codes[name]]), axis=0).shape[0]
            == np.unique(codes[other]).size
            for other in names
            if other != name
        )

    return max(names, key=lambda name: (held(name), -names.index(name)))


def _is_run(known: FloatArray) -> bool:
    """Return whether numbers are consecutive, in whatever order."""
    return bool(np.ptp(known) + 1 == np.unique(known).size == known.size)


def _numbers_rows(values: Any) -> bool:
    """Return whether a column counts the rows in their order, from 0 or 1."""
    if values.dtype.kind != "f" or values.size < LEAST_ROWS:
        return False
    return bool(values[0] in (0.0, 1.0) and (np.diff(values) == 1.0).all())


def _share(hits: Any) -> float:
    found = list(hits)
    return sum(found) / max(len(found), 1)


def _plain(name: str) -> str:
    """Return a name in small letters without accents."""
    spread = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in spread if not unicodedata.combining(letter)).lower()


def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a column's name in small letters; patientID and patient_id are two each.

    >>> name_words("Patienten-Nr."), name_words("subject#"), name_words("ID1")
    (('patienten', 'nr'), ('subject',), ('id1',))
    """
    spread = _CAMEL.sub(" ", name.replace("№", " nr ") if name.strip() != "#" else "nr")
    return tuple(word for word in re.split(r"[\W_]+", _plain(spread)) if word)
