"""Pairs of a column and a written unit: the number in the column's unit, or a question."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hipad.estimator.classifier import HIPADClassifier
from hipad.exceptions import RuleError
from hipad.rules import ColumnValues, FeatureIndex, NameTable, compile_rules, meaning, parse_rules
from hipad.rules.suggestions import remedies
from hipad.rules.units import convert, substance_of, unit_at, unit_in_name, unit_of

ASKED = None
PAIRS = [  # column, its range, condition, the number in the column's unit
    ("tumor_size_mm", (3, 80), "> 5 cm", 50),
    ("cell_voltage_V", (2.4, 4.3), "< 2700 mV", 2.7),
    ("charge_current_A", (0, 40), "> 500 mA", 0.5),
    ("internal_resistance_mohm", (1, 80), "> 0.05 ohm", 50),
    ("internal_resistance_mohm", (1, 80), "> 50 mΩ", 50),
    ("capacity_Ah", (1, 6), "< 2500 mAh", 2.5),
    ("clamping_force_N", (0, 5000), "> 2 kN", 2000),
    ("urine_output_ml_kg_h", (0, 8), "< 0.5 ml/kg/h", 0.5),
    ("d_dimer_ng_ml", (50, 20000), "> 0.5 mg/l", 500),
    ("Depth (ft)", (1, 500), "> 30 m", 98.4251969),
    ("hct_pct", (15, 60), "< 30 %", 30),
    ("income_k_eur", (5, 200), "> 50000 EUR", 50),
    ("steps_k", (0, 30), "> 10000", ASKED),
    ("height_m", (1.4, 2.1), "> 180 cm", 1.8),
    ("height_cm", (140, 210), "> 1.8 m", 180),
    ("height_cm", (140, 210), "> 5'11\"", 180.34),
    ("height_cm", (140, 210), "> 5 ft 11 in", 180.34),
    ("height_cm", (140, 210), "> 70 inches", 177.8),
    ("height_in", (55, 80), "> 6 ft", 72),
    ("height", (1.4, 2.1), "> 180 cm", ASKED),
    ("height", (140, 210), "> 180 cm", 180),
    ("height", (140, 210), "> 5'11\"", ASKED),
    ("distance_km", (1, 60), "> 10 miles", 16.09344),
    ("waist_inches", (25, 60), ">= 102 cm", 40.1574803),
    ("WeightKg", (40, 160), "> 220 lb", 99.7903214),
    ("weight_lbs", (90, 350), "> 100 kg", 220.462262),
    ("Body weight [kg]", (40, 160), "> 12 st 8 lb", 79.8322571),
    ("weight", (40, 160), "> 220 lb", ASKED),
    ("weight", (40, 160), "> 80 kg", 80),
    ("birth_weight_g", (400, 5200), "< 1.5 kg", 1500),
    ("birth_weight_g", (400, 5200), "< 5 lb 8 oz", 2494.758),
    ("temp_c", (34, 42), "> 100.4 °F", 38),
    ("temp_f", (94, 107), "> 38 °C", 100.4),
    ("Temperature (°C)", (34, 42), "> 101.3 F", 38.5),
    ("temperature", (34, 42), "> 100.4 °F", ASKED),
    ("temperature", (34, 42), "> 38.5 °C", 38.5),
    ("oven_temp_k", (300, 900), "> 200 °C", 473.15),
    ("sbp_mmhg", (80, 220), "> 18.6651 kPa", 140),
    ("sbp", (80, 220), "> 20 kPa", ASKED),
    ("pao2_kpa", (4, 20), "< 60 mmHg", 7.99934324),
    ("peep_cmh2o", (0, 20), "> 1 kPa", 10.1971621),
    ("glucose_mg_dl", (60, 400), "> 7 mmol/l", 126.1092),
    ("glucose_mmol_l", (3, 25), ">= 126 mg/dL", 6.99393859),
    ("Glucose (mg/dL)", (60, 400), ">= 11.1 mmol/L", 199.97316),
    ("fasting glucose", (60, 400), "> 7 mmol/l", ASKED),
    ("fasting glucose", (60, 400), "> 126 mg/dl", 126),
    ("glucose_mM", (3, 25), "> 1.26 g/l", 6.99393859),
    ("total_cholesterol_mg_dl", (100, 400), "> 5 mmol/l", 193.325),
    ("ldl_mmol_l", (1, 8), "> 130 mg/dl", 3.36221389),
    ("HDL-C mg/dl", (20, 110), "< 1.0 mmol/l", 38.665),
    ("trig_mg_dl", (30, 900), "> 1.7 mmol/l", 150.518),
    ("creatinine_umol_l", (30, 600), "> 1.5 mg/dl", 132.602546),
    ("crea_mg_dl", (0.3, 9), "> 132.6 µmol/l", 1.4999712),
    ("creatinine", (0.3, 9), "> 150 µmol/l", ASKED),
    ("bilirubin_total_mg_dl", (0.1, 30), "> 34 umol/L", 1.987844),
    ("bun_mg_dl", (4, 120), "> 7 mmol/l", 19.6098),
    ("urea_mmol_l", (1, 40), "> 42.042 mg/dl", 7),
    ("uric_acid_mg_dl", (2, 14), "> 420 µmol/l", 7.06062),
    ("calcium_mmol_l", (1, 4), "> 10.5 mg/dl", 2.61989121),
    ("sodium_mEq/L", (110, 170), "< 130 mmol/l", 130),
    ("ca_mmol_l", (1, 4), "< 4 mEq/l", 2),
    ("hb_g_dl", (5, 20), "< 120 g/l", 12),
    ("hb_g_dl", (5, 20), "< 7.45 mmol/l", 12.0053025),
    ("haemoglobin_g_l", (50, 200), "< 12 g/dl", 120),
    ("hba1c_pct", (4, 14), "> 48 mmol/mol", 6.543),
    ("hba1c_mmol_mol", (20, 120), ">= 6.5 %", 47.53),
    ("wbc_k_ul", (1, 60), "> 12 x 10^9/L", 12),
    ("wbc_10e9_l", (1, 60), "> 12000 /µl", 12),
    ("wbc", (1, 60), "> 12 x 10^9/L", 12),
    ("wbc", (1, 60), "> 12,000 /µl", ASKED),
    ("wbc", (1000, 60000), "> 12 x 10⁹/L", ASKED),
    ("platelets (G/l)", (5, 900), "< 150,000 /mm3", 150),
    ("plt_per_ul", (5000, 900000), "< 150 G/l", 150000),
    ("rbc_10_12_l", (1, 8), "< 4 M/µl", 4),
    ("cd4_cells_mm3", (5, 1500), "< 0.2 x 10^9/l", 200),
    ("alt_u_l", (5, 900), "> 1.5 µkat/l", 90),
    ("tsh_miu_l", (0.01, 90), "> 4 µIU/ml", 4),
    ("age_months", (1, 220), ">= 2 years", 24),
    ("age_years", (18, 95), ">= 780 months", 65),
    ("age", (18, 95), ">= 65 years", 65),
    ("age", (18, 95), ">= 2 years 6 months", ASKED),
    ("icu_days", (0, 60), "> 2 weeks", 14),
    ("duration_min", (1, 600), "> 1 h 30 min", 90),
    ("qt_ms", (250, 700), "> 0.5 s", 500),
    ("time_h", (0, 200), "> 2 days", 48),
    ("hct_pct", (15, 65), "< 0.36 l/l", 36),
    ("hct_fraction", (0.15, 0.65), "< 36 %", 0.36),
    ("spo2", (60, 100), "< 92 %", 92),
    ("dose_mg_kg", (0.1, 30), "> 5000 µg/kg", 5),
    ("income_k", (5, 400), "> $50,000", 50),
    ("income_k", (5, 400), "> 50k", ASKED),
    ("income_usd", (5e3, 4e6), "> $1.2M", 1.2e6),
    ("price_eur", (5, 400), "> 50 USD", ASKED),
    ("volume_ml", (1, 4000), "> 0.5 l", 500),
    ("urine_l", (0.1, 6), "< 400 ml", 0.4),
    ("speed_km_h", (1, 250), "> 60 mph", 96.56064),
    ("wind_m_s", (0, 60), "> 72 km/h", 20),
    ("crp_mg_l", (0, 400), "> 5 mg/dl", 50),
    ("egfr_ml_min", (5, 140), "< 60 ml/min/1.73m2", 60),
    ("heart_rate_bpm", (30, 220), "> 100 beats/min", 100),
    ("bmi_kg_m2", (14, 60), ">= 30 kg/m²", 30),
    ("energy_kcal", (200, 6000), "> 8368 kJ", 2000),
    ("weight_kg", (40, 160), "> 5 cm", ASKED),
    ("acr_mg_g", (1, 3000), "> 3.4 mg/mmol", 30.0565771),
    ("vitd_ng_ml", (3, 120), "< 50 nmol/l", 20.032),
]  # fmt: skip


def compiled(name, ends, condition, **others):
    columns = {name: np.linspace(*ends, 101)} | {n: np.linspace(*e, 101) for n, e in others.items()}
    X = np.column_stack(list(columns.values()))
    text = (
        f"`{name}` {condition} => positive" if "`" not in condition else f"{condition} => positive"
    )
    return X, compile_rules(text, feature_names=list(columns), values=X)


@pytest.mark.parametrize(("name", "ends", "condition", "expected"), PAIRS)
def test_a_written_unit_is_converted_or_asked_about(name, ends, condition, expected):
    if expected is ASKED:
        with pytest.raises(RuleError) as caught:
            compiled(name, ends, condition)
        remedies = [caught.value.suggestion, *caught.value.expected]
        for remedy in remedies:
            _, (rule,) = compiled(name, ends, remedy.replace(f"{name} ", f"`{name}` ", 1))
            assert rule.d.size == 1
        return
    _, (rule,) = compiled(name, ends, condition)
    (settled,) = rule.settled
    assert sum(term.coefficient for term in settled.sides[1]) == pytest.approx(expected, rel=1e-5)
    written = rule.rule
    assert parse_rules(str(written))[0].conditions == written.conditions  # in the user's words
    if str(expected) not in str(written) and f"{expected:.6g}" not in meaning(rule):
        raise AssertionError(meaning(rule))


def test_a_difference_of_temperatures_has_no_zero_point():
    ends = {"base_temp_c": (34, 42)}
    _, (rule,) = compiled("temp_c", (34, 42), "`temp_c` - `base_temp_c` > 1.8 °F", **ends)
    assert rule.d[0] == pytest.approx(-1.0)
    _, (rule,) = compiled("temp_c", (34, 42), "> mean(temp_c) + 1.8 °F")
    assert rule.d[0] == pytest.approx(-39.0)


def test_both_numbers_are_shown():
    _, (rule,) = compiled("tumor_size_mm", (3, 80), "between 2 and 5 cm")
    assert meaning(rule) == "tumor_size_mm from 2 cm = 20 mm to 5 cm = 50 mm, says positive"
    assert rule.resolved_text == "tumor_size_mm between 20 and 50 => positive"
    assert str(rule.rule) == "tumor_size_mm between 2 cm and 5 cm => positive"


def test_a_name_that_its_values_contradict_is_asked_about():
    with pytest.raises(RuleError, match=r"can be 1\.8 or 180"):
        compiled("height_m", (140, 210), "> 180 cm")


def test_limits_of_a_range_are_compared_with_their_units():
    _, (rule,) = compiled("x_mm", (1, 200), "`x_mm` between 50 mm and 10 cm")
    assert rule.d.tolist() == [-50.0, 100.0]
    with pytest.raises(RuleError, match="exchanged"):
        parse_rules("10 cm < x < 50 mm => positive")


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [("x = 100 ± 10 %", 90, 110), ("x = 5 cm ± 3 mm", 4.7, 5.3), ("x = 80 +/- 5", 75, 85)],
)
def test_a_spread_in_percent_is_part_of_the_number(text, low, high):
    (rule,) = parse_rules(f"{text} => positive")
    sides = rule.conditions[0].sides
    assert (sides[0][0].coefficient, sides[2][0].coefficient) == (low, high)


def test_percent_of_percent_is_asked_about():
    with pytest.raises(RuleError, match="two ways"):
        parse_rules("x = 50 % ± 10 % => positive")


@pytest.mark.parametrize(
    ("name", "unit"),
    [("vitamin_c", None), ("Age", None), ("st_depression", None), ("sex=m", None), ("LDL-C", None),
     ("height in cm", "cm"), ("glucose, mg/dl", "mg/dl"), ("AgeMonths", "Months"),
     ("days_since_admission", "days"), ("Hb.g.dL", "g/dL"), ("glucose_mgdl", "mg/dl"),
     ("glucose_mmol", "mmol/l"), ("TempF", "F"), ("wbc_per_ul", "/ul")],
)  # fmt: skip
def test_what_a_name_says_of_its_unit(name, unit):
    found = unit_in_name(name)
    assert (found and found.unit.text) == unit


def test_units_of_different_kinds_do_not_convert():
    kilogram, metre, mole = (unit_of(text) for text in ("kg", "m", "mmol/l"))
    assert convert(1.0, kilogram, metre) is None
    assert convert(1.0, mole, unit_of("mg/dl")) is None
    assert convert(1.0, mole, unit_of("mg/dl"), substance_of("glucose")) is not None
    assert unit_of("apples") is None
    assert unit_at("3 apples", 2) == ""


@pytest.mark.parametrize(
    ("decimal", "text", "value"),
    [(",", "6,500", 6.5), (",", "50.000", 50000.0), (",", "1.234,5", 1234.5), (",", "6.5", 6.5),
     (".", "6,500", 6500.0), (".", "50.000", 50.0), (".", "1,234.5", 1234.5), ("", "6,5", 6.5)],
)  # fmt: skip
def test_marks_follow_the_table(decimal, text, value):
    X = np.linspace(0, 60000, 61)[:, None]
    words = NameTable(FeatureIndex(["x"]), {}, ColumnValues(X), decimal=decimal)
    (rule,) = parse_rules(f"x >= {text} => positive", words)
    assert rule.conditions[0].sides[1][0].coefficient == value


def test_a_point_before_three_digits_is_asked_about_where_the_table_has_commas():
    words = NameTable(FeatureIndex(["x"]), {}, decimal=",")
    with pytest.raises(RuleError, match="write 1234, or 1,234"):
        parse_rules("x >= 1.234 => positive", words)


@pytest.mark.parametrize(
    ("text", "row"),
    [("weight_kg > height_cm - 100", "weight_kg > height_cm - 100"),
     ("weight_kg/height_cm > 0.5", "weight_kg > 0.5*height_cm"),
     ("2*weight_kg + height_cm >= 300", "2*weight_kg + height_cm >= 300")],
)  # fmt: skip
def test_bare_numbers_are_in_the_units_of_the_data(text, row):
    names, X = (
        ["weight_kg", "height_cm"],
        np.column_stack([np.linspace(40, 120, 30), np.linspace(140, 200, 30)]),
    )
    (rule,) = compile_rules(f"{text} => positive", feature_names=names, values=X)
    (same,) = compile_rules(f"{row} => positive", feature_names=names, values=X)
    assert np.array_equal(rule.B.toarray(), same.B.toarray())
    assert np.array_equal(rule.d, same.d)


def test_columns_in_different_units_are_not_compared_with_a_unit():
    names, X = ["weight_kg", "height_cm"], np.column_stack([np.arange(40, 90), np.arange(140, 190)])
    with pytest.raises(RuleError, match="columns in kg and in cm"):
        compile_rules("weight_kg + height_cm > 5 kg => positive", feature_names=names, values=X)


def test_a_question_comes_with_lines_that_compile():
    words = NameTable(FeatureIndex(["weight"]), {}, ColumnValues(np.linspace(40, 150, 50)[:, None]))
    line = "fat: weight > 220 lb => ill"
    with pytest.raises(RuleError) as caught:
        compile_rules(line, feature_names=["weight"], values=words.values, classes=("well", "ill"))
    found = remedies(line, caught.value, words, ("well", "ill"))
    assert "fat: weight > 99.79 kg => ill" in [each.text for each in found]


def test_a_fit_on_some_of_the_rows_reads_the_same_rule():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(20, 90, 60), rng.normal(size=60)])
    frame = pd.DataFrame(X, columns=["age", "x"])
    clf = HIPADClassifier("age > 89.99 years => 1", lambda1=0.1, lambda2=1.0)
    y = (X[:, 0] > 55).astype(int)
    with pytest.warns(UserWarning, match="it is not known in which unit age is"):
        clf.fit(frame, y)


@pytest.mark.parametrize(
    "name", ["vitamin_a", "hepatitis_a", "factor_v", "group_n", "panel_w", "current_visit"]
)
def test_a_letter_is_a_unit_only_where_the_name_tells_what_is_measured(name):
    assert unit_in_name(name) is None
