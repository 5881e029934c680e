from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hipad.data import prepare, read_table
from hipad.data.preprocessing import UNLABELLED
from hipad.data.roles import (
    Classes,
    Role,
    check_known,
    column_roles,
    find_classes,
    group_column,
    guess_roles,
    labels_of,
    likely_positive,
    row_groups,
    row_names,
)
from hipad.data.table import Table, to_csv
from hipad.exceptions import DataError

# --------------------------------------------------------------------------------------------------
# Roles of columns on tables as people have them, all through the real reader.


RNG = np.random.default_rng(5)
N = 120


def table_of(**columns):
    text = to_csv({name.replace("__", " "): list(values) for name, values in columns.items()})
    return read_table(text.encode(), "table.csv")


def outcome(n=N, words=("no", "yes")):
    return np.array(words)[np.arange(n) % 2]


def guessed(**columns):
    found = guess_roles(table_of(**columns, diagnosis=outcome()), "diagnosis")
    return {name: str(one.role) for name, one in found.items()}


def noise(n=N):
    return np.round(RNG.normal(size=n), 3)


def repeated(values, n=N):
    return np.resize(np.repeat(values, 5), n)


GROUPS = {
    "subject": repeated([f"S{i:02d}" for i in range(24)]),
    "subject#": repeated(range(1, 25)),
    "Patient ID": repeated(range(1000, 1024)),
    "patientID": repeated([f"pat-{i}" for i in range(24)]),
    "PatNr": repeated(range(24)),
    "Patienten-Nr.": repeated(range(24)),
    "patient_nbr": repeated(range(8_222_157, 8_222_181)),
    "USUBJID": repeated([f"CDISC01.{i:06d}" for i in range(24)]),
    "participant": repeated([f"{i:03d}x" for i in range(24)]),
    "id": repeated(range(24)),
    "Sample code number": np.r_[np.arange(N - 10), np.arange(10)] + 1_000_000,
    "RID": repeated(range(24)),
    "who": repeated([f"P{i:02d}" for i in range(1, 25)]),
    "subject name": repeated([chr(65 + i % 26) * 3 + chr(97 + i) for i in range(24)]),
    "donor": repeated(range(24)),
    "stratum": np.resize(np.repeat(range(40), 3), N),
    "family_id": np.resize(np.repeat(range(40), 3), N),
}
IDS = {
    "id": RNG.permutation(10**6)[:N] + 842_302,
    "ID": [f"TCGA-{i:04d}" for i in range(N)],
    "Unnamed: 0": np.arange(N),
    "case": np.arange(1, N + 1),
    "no": np.arange(1, N + 1),
    "X": np.arange(1, N + 1),
    "encounter_id": RNG.permutation(10**6)[:N],
    "MRN": RNG.permutation(10**6)[:N],
    "name": [f"phon_R01_S{i:03d}" for i in range(N)],
    "barcode": [f"{i:x}ff{i}" for i in range(N)],
    "SEQN": np.arange(83_732, 83_732 + N),
}
MEASUREMENTS = {
    "age": RNG.integers(20, 90, N),
    "Age (years)": RNG.integers(20, 90, N),
    "stage": RNG.integers(1, 5, N),
    "T stage": [f"T{i}" for i in RNG.integers(1, 5, N)],
    "grade": [f"G{i}" for i in RNG.integers(1, 4, N)],
    "number": RNG.integers(2, 10, N),
    "Number of nodes": RNG.integers(0, 30, N),
    "pregnancies": RNG.integers(0, 15, N),
    "patients": RNG.integers(0, 99, N),
    "uric_acid": noise(),
    "lipid": RNG.integers(100, 300, N),
    "thyroid": RNG.integers(0, 2, N),
    "PID": RNG.integers(0, 2, N),
    "case": RNG.integers(0, 2, N),
    "patient": RNG.integers(0, 2, N),
    "ID1": RNG.integers(0, 60, N),
    "SET": RNG.integers(0, 60, N),
    "body_mass_index": RNG.integers(18, 45, N),
    "heart_rate": RNG.integers(50, 120, N),
    "sample type": [("blood", "tissue", "serum")[i % 3] for i in range(N)],
    "subject": [("maths", "physics", "history")[i % 3] for i in range(N)],
    "admission_type_id": RNG.integers(1, 4, N),
    "5-FU": RNG.integers(0, 400, N),
    "year": RNG.integers(1990, 2020, N),
    "days_to_birth": RNG.integers(8_000, 30_000, N),
    "risk_score": RNG.integers(0, 10, N),
    "code": RNG.integers(0, 6, N),
    "icd": [f"{'CEIJ'[i % 4]}{i % 7:02d}" for i in range(N)],
    "timepoint": [("t0", "t1", "t2")[i % 3] for i in range(N)],
    "centre": RNG.integers(1, 6, N),
    "cluster": RNG.integers(0, 5, N),
    "PT": RNG.integers(9, 20, N),
    "donor": RNG.integers(0, 4, N),
    "ward": [f"W{i % 6}" for i in range(N)],
}


@pytest.mark.parametrize("name", GROUPS)
def test_ids_that_repeat_are_groups(name):
    assert guessed(**{name: GROUPS[name]}, x=noise()) == {name: "group"}


@pytest.mark.parametrize("name", IDS)
def test_ids_that_never_repeat_are_ids(name):
    assert guessed(**{name: IDS[name]}, x=noise()) == {name: "ID"}


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_measurements_are_neither(name):
    assert guessed(x=noise(), **{name: MEASUREMENTS[name]}) == {}


@pytest.mark.parametrize(
    "name",
    ["days_to_death", "OS.months", "Follow up (months)", "survival_time", "time to recurrence",
     "Überlebenszeit", "fu_days", "DFS_TIME", "delai_suivi"],
)  # fmt: skip
def test_times_of_follow_up_are_no_features_whatever_is_predicted(name):
    found = guess_roles(table_of(x=noise(), diagnosis=outcome(), **{name: RNG.permutation(N)}), "diagnosis")  # fmt: skip  # noqa: E501
    assert found[name].role is Role.FOLLOW_UP
    assert "known before the outcome?" in found[name].question


@pytest.mark.parametrize("words", [("alive", "dead"), ("censored", "relapse")])
@pytest.mark.parametrize("name", ["time", "days", "Monate", "OS", "duration"])
def test_a_time_beside_an_event_is_follow_up(name, words):
    table = table_of(**{name: RNG.permutation(N)}, x=noise(), outcome=outcome(words=words))
    assert guess_roles(table, "outcome")[name].role is Role.FOLLOW_UP


def test_a_time_beside_another_outcome_is_asked_about_and_stays_a_feature():
    table = table_of(duration=RNG.permutation(N), x=noise(), subscribed=outcome())
    found = guess_roles(table, "subscribed")["duration"]
    assert found.role is Role.FEATURE
    assert "is it known before" in found.question


def test_dates_and_free_text_are_left_out():
    days = [f"2019-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]
    notes = [f"the patient number {i} was seen again and felt well" for i in range(N)]
    assert guessed(admitted=days, born=["3.4.1960", "12.11.1971"] * 60, notes=notes, x=noise()) == {
        "admitted": "left out",
        "born": "left out",
        "notes": "left out",
    }


def test_of_two_groupings_the_one_that_holds_the_other_is_taken():
    found = guessed(
        patient_id=np.resize(np.repeat(range(60), 2), N),
        family_id=np.resize(np.repeat(range(30), 4), N),
        x=noise(),
    )
    assert found == {"patient_id": "ID", "family_id": "group"}


def test_a_column_that_separates_the_classes_is_asked_about_not_dropped():
    y = outcome()
    given_late = np.where(y == "yes", np.round(RNG.uniform(1, 9, N), 2), np.nan)
    table = table_of(
        leak=(y == "yes") * 3.0 + np.round(RNG.normal(size=N) / 5, 3),
        late=["" if np.isnan(v) else v for v in given_late],
        copy=np.where(y == "yes", "B", "A"),
        good=(y == "yes") * 2.0 + noise(),
        x=noise(),
        diagnosis=y,
    )
    found = column_roles(table, "diagnosis")
    assert set(found) == {"leak", "late", "copy", "diagnosis"}
    for name in ("leak", "late", "copy"):
        assert found[name].role is Role.FEATURE
        assert found[name].question.startswith(f"{name} alone separates the classes")
    kept = column_roles(table, "diagnosis", {"leak": Role.FEATURE, "late": "left out"})
    assert (kept["leak"].question, kept["late"].question) == ("", "")
    assert kept["late"].role is Role.LEFT_OUT


def test_few_patients_and_wide_tables_separate_by_chance_and_are_not_asked_about():
    n = 14
    few = {f"g{j}": np.round(RNG.normal(size=n), 3) for j in range(1500)}
    table = table_of(**few, diagnosis=outcome(n))
    assert set(column_roles(table, "diagnosis")) == {"diagnosis"}


def test_what_the_user_decides_stands():
    table = table_of(subject=GROUPS["subject"], site=np.arange(N) % 9, x=noise(), y=outcome())
    found = column_roles(table, "y", {"site": "group"})
    assert group_column(found) == "site"
    assert "subject" not in found or found["subject"].role is not Role.GROUP
    assert column_roles(table, "y", {"subject": Role.FEATURE})["subject"].role is Role.FEATURE
    for wrong in ({"nothing": "ID"}, {"x": "hero"}, {"site": "group", "x": "group"}):
        with pytest.raises(DataError, match="expected"):
            column_roles(table, "y", wrong)


def test_rows_without_an_id_belong_to_nobody_else():
    table = table_of(subject=["a1", "", "a1", "", "b2"], x=range(5), y=list("ababa"))
    groups = row_groups(table, "subject")
    assert groups[0] == groups[2]
    assert len(set(groups.tolist())) == 4


def test_rows_are_called_by_their_id_or_by_their_group():
    table = table_of(id=IDS["id"], x=noise(), y=outcome())
    assert row_names(table, column_roles(table, "y"))[0] == str(IDS["id"][0])
    table = table_of(subject=GROUPS["subject"], x=noise(), y=outcome())
    assert row_names(table, column_roles(table, "y"))[6] == "S01, row 7"


# --------------------------------------------------------------------------------------------------
# Two classes from labels of any kind, and sentences where there are not two.


def found(*labels, positive=None):
    return find_classes(np.array(labels), "outcome", positive)


@pytest.mark.parametrize(
    ("labels", "negative", "positive"),
    [
        (("0", "1"), "0", "1"),
        (("1", "-1"), "-1", "1"),
        (("10", "9"), "9", "10"),  # by size, not as words
        (("yes", "no"), "no", "yes"),
        (("Positive", "zero"), "zero", "Positive"),
        (("case", "control"), "control", "case"),
        (("ill", "well"), "well", "ill"),
        (("here", "there"), "here", "there"),  # nothing usual, equally frequent: the last
        (("2", "b"), "2", "b"),  # numbers before text
    ],
)
def test_the_positive_class_is_the_usual_one(labels, negative, positive):
    assert found(*labels) == found(*reversed(labels)) == Classes(negative, positive)


def test_the_user_chooses_and_other_classes_are_taken_together():
    assert found("0", "1", positive="0") == Classes("1", "0")
    classes = found("c", "a", "b", "a", positive="b")
    assert classes == Classes("not b", "b", ("a", "c"))
    assert classes.apply(np.array(["a", "b", "c"])).tolist() == ["not b", "b", "not b"]


@given(st.lists(st.sampled_from("abcd"), min_size=2).filter(lambda labels: len(set(labels)) > 1))
def test_applied_labels_are_the_two_classes_and_nothing_else(labels):
    classes = found(*labels, positive=labels[0])
    applied = classes.apply(np.array(labels))
    assert set(applied.tolist()) == {classes.negative, classes.positive}
    assert [label == classes.positive for label in applied] == [c == labels[0] for c in labels]


def test_two_classes_are_left_as_they_are():
    labels = np.array(["a", "b"])
    assert Classes("a", "b").apply(labels) is labels


@pytest.mark.parametrize(
    ("labels", "positive", "message"),
    [
        (["benign"], None, "two classes in 'outcome', got one .'benign'.: choose another"),
        (["a", "b", "c"], None, "got 3 .*choose the positive class"),
        (["a", "b"], "z", "positive class to be a label in 'outcome', got 'z'"),
    ],
)
def test_other_numbers_of_classes_are_told(labels, positive, message):
    with pytest.raises(DataError, match=message):
        found(*labels, positive=positive)


def test_no_label_at_all_is_told():
    with pytest.raises(DataError, match="two classes in 'outcome', got none"):
        find_classes(np.array([], dtype=str), "outcome", None)


def test_labels_are_read_as_text_from_either_kind_of_column():
    table = Table(np.array([[1.0], [np.nan], [0.5]]), ("n",), {"t": np.array(["x", "", "y"])}, "")
    assert labels_of(table, "n").tolist() == ["1", "", "0.5"]
    assert labels_of(table, "t").tolist() == ["x", "", "y"]
    with pytest.raises(DataError, match="expected the label to be a column, got 'z'"):
        labels_of(table, "z")


def test_labels_that_training_did_not_have_are_refused_but_gaps_are_not():
    check_known(np.array(["a", "", "b"]), {"a", "b"}, "outcome")
    with pytest.raises(DataError, match="got 2 others as well: 'c' and 'd'"):
        check_known(np.array(["d", "a", "c"]), {"a", "b"}, "outcome")


PAIRS = [
    ("healthy", "diabetic"), ("control", "case"), ("normal", "tumour"), ("benign", "malignant"),
    ("NEG", "BCR/ABL"), ("no relapse", "relapse"), ("absent", "present"), ("alive", "dead"),
    ("wild type", "mutant"), ("WT", "KRAS"), ("0", "1"), ("-1", "1"), ("0.0", "2"), ("no", "yes"),
    ("negative", "positive"), ("survived", "died"), ("survivor", "non-survivor"),
    ("non-diabetic", "diabetic"), ("Nondemented", "Demented"), ("NonSmoker", "Smoker"),
    ("unaffected", "affected"), ("unmarried", "married"), ("healthy control", "patient"),
    ("benign tumour", "malignant tumour"), ("ER-", "ER+"), ("HIV (-)", "HIV (+)"),
    ("normal", "abnormal"), ("healthy", "unhealthy"), ("good", "poor"), ("low risk", "high risk"),
    ("<=50K", ">50K"), ("disease-free", "recurrence"), ("normal", "low"), ("none", "severe"),
    ("missing", "here"), ("FALSE", "TRUE"), ("N", "Y"), ("not normal", "normal")[::-1],
]  # fmt: skip


@pytest.mark.parametrize(("negative", "positive"), PAIRS)
def test_find_classes_usual_words(negative, positive):
    for labels in ([negative] * 2 + [positive] * 9, [positive] * 2 + [negative] * 9):
        classes = find_classes(np.array(labels), "outcome", None, outcome=negative)
        assert (classes.negative, classes.positive) == (negative, positive)
        assert classes.decided_by == "words"


@pytest.mark.parametrize(
    ("outcome", "positive", "decided_by"),
    [
        ("ALL", "ALL", "rule"),
        ("aml", "AML", "rule"),
        ('"not ALL"', "ALL", "rule"),
        ("positive", "AML", "rarer"),
        ("", "AML", "rarer"),
    ],
)
def test_find_classes_by_the_first_rule_or_the_rarer(outcome, positive, decided_by):
    classes = find_classes(np.array(["AML", "ALL", "ALL"]), "outcome", None, outcome)
    assert (classes.positive, classes.decided_by) == (positive, decided_by)
    assert find_classes(np.array(["2", "1"]), "outcome", None).decided_by == "order"


@pytest.mark.parametrize("word", ["none", "Na", "-", "NA", "n/a", "null", "?", "missing", "NaN"])
@pytest.mark.parametrize("other", ["some", "1"])
def test_labels_of_word_for_a_gap_beside_one_class(word, other):
    rows = "".join(f"{i},{other if i % 2 else word}\n" for i in range(10))
    table = read_table(f"a,y\n{rows}".encode())
    ready = prepare(table, label="y")
    assert set(ready.y) == {word, other}
    assert repr(word) in " ".join([*table.remarks, *map(str, ready.steps)])


def test_labels_of_word_for_a_gap_beside_two_classes():
    rows = "".join(f"{i},{('ill', 'well', 'NA')[i % 3]}\n" for i in range(12))
    ready = prepare(read_table(f"a,y\n{rows}".encode()), label="y")
    assert set(ready.y) == {"ill", "well"}
    assert [str(step) for step in ready.steps] == [f"{UNLABELLED}: 4 ('NA')"]


def test_labels_of_empty_cells_are_no_class():
    table = read_table(b"a,y\n1,x\n2,\n3,x\n4,\n")
    with pytest.raises(DataError, match="give a name to the class of rows whose cell is empty"):
        prepare(table, label="y")


# --------------------------------------------------------------------------------------------------
# Other languages and other ways to write what is no feature.


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        ("deceduto", "vivo"), ("oui", "non"), ("tak", "nie"), ("死亡", "生存"), ("умер", "жив"),
        ("fallecido", "vivo"), ("sí", "no"), ("sim", "não"), ("verstorben", "lebend"),
        ("décédé", "vivant"), ("陽性", "陰性"), ("ja", "nee"), ("да", "нет"),
        ("Rezidiv", "kein Rezidiv"), ("récidive", "pas de récidive"), ("recidiva", "sin recidiva"),
        ("wznowa", "brak wznowy"), ("recidief", "geen recidief"),
    ],
)  # fmt: skip
def test_the_positive_class_in_other_languages(positive, negative):
    for labels in ((positive, negative), (negative, positive)):
        assert likely_positive(dict(zip(labels, (12, 10), strict=True))) == (positive, "words")


def numbered(name, values, label="y"):
    """A table of one column of numbers beside a label of two classes in turn."""
    n = len(values)
    numbers = np.column_stack([np.asarray(values, dtype=float), np.sin(np.arange(n))])
    return Table(numbers, (name, "x"), {label: np.tile(["a", "b"], n)[:n]}, "CSV")


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("hospital number", Role.ID), ("lfdnr", Role.ID), ("n°", Role.ID), ("№", Role.ID),
        ("nr_pacjenta", Role.ID), ("患者ID", Role.ID), ("номер", Role.ID), ("#", Role.ID),
    ],
)  # fmt: skip
def test_numbers_of_patients_in_other_words(name, role):
    assert guess_roles(numbered(name, np.arange(1, 31)), "y")[name].role is role


def test_an_abbreviated_patient_with_several_rows_is_a_group():
    assert guess_roles(numbered("pat", np.repeat(np.arange(8), 3)), "y")["pat"].role is Role.GROUP


@pytest.mark.parametrize(
    ("name", "first", "step"),
    [
        ("admission_date", 43831, 17), ("Datum", 20200101, 1), ("timestamp", 1577836800, 86_000),
        ("visitDate", 1577836800000, 86_000),
    ],
)  # fmt: skip
def test_dates_as_numbers_are_no_features(name, first, step):
    table = numbered(name, first + step * np.arange(28))
    assert guess_roles(table, "y")[name].role is Role.LEFT_OUT
    assert name not in guess_roles(numbered(name, np.linspace(0, 9, 28)), "y")


@pytest.mark.parametrize(
    "cell", ["{:02d}JAN2020", "Jan {}, 2020", "2020年1月{}日", "07:{:02d}", "1:{:02d}:30 PM"]
)
def test_dates_and_clock_times_of_other_programs_are_no_features(cell):
    text = {"seen": np.array([cell.format(1 + k % 14) for k in range(28)])}
    table = numbered("age", np.arange(28))
    table = Table(table.numbers, table.number_names, {**table.text, **text}, "CSV")
    assert guess_roles(table, "y")["seen"].role is Role.LEFT_OUT


def test_long_numbers_that_differ_in_every_row_are_asked_about():
    table = numbered("Fallzahl_x", 7_400_000 + 137 * np.arange(30))
    found = column_roles(table, "y")["Fallzahl_x"]
    assert found.role is Role.FEATURE
    assert "may be an ID" in found.question
    assert "age" not in column_roles(numbered("age", 20 + np.arange(30)), "y")


def test_numbers_that_go_up_by_one_after_some_rows_are_asked_about():
    found = column_roles(numbered("z", np.repeat(np.arange(10), 3)), "y")["z"]
    assert "may name patients" in found.question
    assert "z" not in column_roles(numbered("z", np.tile(np.arange(10), 3)), "y")
