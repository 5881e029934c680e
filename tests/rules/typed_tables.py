"""Five more tables, with units in names, gaps and odd categories, and texts judged row by row.

The meaning of a text is a predicate on one row: Python code that shares nothing with the rule
language. A comparison with a value that is missing is false, as NaN has it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import pandas as pd

from hipad.exceptions import RuleError
from hipad.rules import ColumnValues, FeatureIndex, compile_rules
from tests.rules.corpus_tables import Draw

N_ROWS = 600
Row = dict[str, Any]
Predicate = Callable[[Row], bool]


def real(low: float, high: float, gaps: float = 0.0) -> Draw:
    """Continuous values between two ends, a share of them missing."""

    def draw(random: np.random.Generator) -> np.ndarray:
        values = random.uniform(low, high, N_ROWS)
        return np.where(random.random(N_ROWS) < gaps, np.nan, values)

    return draw


def whole(low: int, high: int) -> Draw:
    """Whole values from `low` to `high`."""
    return lambda random: random.integers(low, high + 1, N_ROWS).astype(float)


def one_of(*levels: str | float) -> Draw:
    """One of some values."""
    kind = object if isinstance(levels[0], str) else float
    return lambda random: random.choice(np.array(levels, dtype=kind), N_ROWS)


FLAG = one_of(0.0, 1.0)


@dataclass
class Sheet:
    """A table with its classes (negative, positive) and blocks."""

    classes: tuple[str, str]
    draws: dict[str, Draw]
    blocks: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def frame(self) -> pd.DataFrame:
        random = np.random.default_rng(2025)
        return pd.DataFrame({name: draw(random) for name, draw in self.draws.items()})

    @cached_property
    def rows(self) -> list[Row]:
        return [
            {str(name): value for name, value in row.items()}
            for row in self.frame.to_dict("records")
        ]

    @cached_property
    def encoded(self) -> tuple[FeatureIndex, np.ndarray]:
        """Names and values with a 0/1 column for each category, as the reader makes them."""
        columns: dict[str, np.ndarray] = {}
        for name, values in self.frame.items():
            if pd.api.types.is_numeric_dtype(values):
                columns[str(name)] = values.to_numpy()
                continue
            for level in sorted(set(values)):
                columns[f"{name}={level}"] = (values == level).to_numpy(dtype=float)
        return FeatureIndex(list(columns)), np.column_stack(list(columns.values()))

    @cached_property
    def values(self) -> ColumnValues:
        return ColumnValues(self.encoded[1])

    def fired(self, text: str) -> dict[int, np.ndarray]:
        """On which rows the rules of a text fire, for each sign of the outcome."""
        names, X = self.encoded
        found: dict[int, np.ndarray] = {}
        for rule in compile_rules(
            text,
            feature_names=names,
            blocks=self.blocks,
            classes=self.classes,
            values=self.values,
        ):
            sign = int(rule.sign)
            found[sign] = found.get(sign, np.zeros(len(X), dtype=bool)) | rule.fires(X)
        return found


@dataclass(frozen=True)
class Said:
    """A text on a table and who is meant: `yes` by the positive class, `no` by the other.

    A text may be refused where it is `vague`. Without a meaning it must be.
    """

    table: str
    text: str
    yes: Predicate | None = None
    no: Predicate | None = None
    vague: bool = False

    @property
    def has_meaning(self) -> bool:
        return self.yes is not None or self.no is not None

    def difference(self, found: dict[int, np.ndarray]) -> str:
        """How the rows found differ from those meant; empty where they do not."""
        if not self.has_meaning:
            return "must be refused"
        meant = {sign: each for sign, each in ((1, self.yes), (-1, self.no)) if each is not None}
        if set(found) != set(meant):
            return f"says {sorted(found)}, meant {sorted(meant)}"
        for sign, predicate in meant.items():
            rows = np.array([bool(predicate(row)) for row in SHEETS[self.table].rows])
            if (off := int((found[sign] != rows).sum())) > 0:
                return f"fires on {found[sign].sum()}, meant {rows.sum()}, {off} differ"
        return ""

    @cached_property
    def verdict(self) -> tuple[str, str, RuleError | None]:
        """right, wrong or refused; what is wrong; the refusal."""
        try:
            found = SHEETS[self.table].fired(self.text)
        except RuleError as error:
            return "refused", str(error), error
        wrong = self.difference(found)
        return ("wrong" if wrong else "right"), wrong, None


@cache
def measured(table: str, name: str) -> np.ndarray:
    """The measured values of a column."""
    return SHEETS[table].frame[name].dropna().to_numpy()


@cache
def quantile(table: str, name: str, share: float) -> float:
    return float(np.quantile(measured(table, name), share))


@cache
def mean(table: str, name: str) -> float:
    return float(measured(table, name).mean())


@cache
def sd(table: str, name: str, ddof: int = 0) -> float:
    return float(measured(table, name).std(ddof=ddof))


CYCLE = ["CCND1", "CDK4", "CDK6", "E2F1"]
IMMUNE = ["CD3E", "CD8B", "GZMB", "PRF1", "NKG7"]
PHASES = ["I_L1", "I_L2", "I_L3"]
BEARINGS = [f"t_bearing_{k}" for k in range(1, 5)]

SHEETS = {
    "ward": Sheet(
        ("alive at 30 days", "dead at 30 days"),
        {
            "age_years": whole(18, 97),
            "sex": one_of("F", "M", "unknown"),
            "lactate_mmol_l": real(0.4, 14, gaps=0.3),
            "temp_c": real(34, 41.5),
            "crp_mg_l": real(0, 400, gaps=0.1),
            "creatinine_umol_l": real(40, 600),
            "glucose_mg_dl": real(40, 400),
            "hb_g_dl": real(5, 18),
            "platelets_10e9_l": real(5, 600),
            "map_mmhg": real(40, 120),
            "resp_rate": whole(8, 45),
            "spo2_pct": real(70, 100),
            "weight_kg": real(40, 160),
            "height_cm": real(145, 205),
            "gcs": whole(3, 15),
            "vasopressor": FLAG,
            "ventilated": one_of("yes", "no"),
            "copd": FLAG,
            "immunosuppressed": FLAG,
            "n_comorbidities": whole(0, 8),
            "abx_delay_h": real(0, 24),
            "triage": one_of("red", "orange", "yellow", "green"),
            "admission route": one_of("emergency dept", "elective", "transfer"),
        },
    ),
    "onco": Sheet(
        ("no relapse", "relapse within 5y"),
        {
            "age_at_dx": whole(25, 90),
            "tumour_size_mm": real(2, 90),
            "Ki-67 (%)": real(0, 95),
            "ER_pct": real(0, 100, gaps=0.1),
            "nodes_positive": whole(0, 20),
            "grade": whole(1, 3),
            "T stage": one_of("T1", "T2", "T3", "T4"),
            "histology": one_of("ductal", "lobular", "mixed / other", "n/k"),
            "menopausal": one_of("pre", "post"),
            "BRCA1_mut": FLAG,
            "TP53_mut": FLAG,
            "vaf": real(0, 1),
            "ERBB2": real(2, 15),
            "ESR1": real(2, 15),
            "PGR": real(2, 15),
            "CD274": real(2, 15, gaps=0.2),
        }
        | {gene: real(2, 15) for gene in CYCLE + IMMUNE},
        {"CYCLE": CYCLE, "IMMUNE": IMMUNE},
    ),
    "loans": Sheet(
        ("good payer", "bad payer"),
        {
            "annual_income_eur": real(8_000, 180_000),
            "monthly_debt_eur": real(0, 5_000),
            "loan_eur": real(1_000, 400_000),
            "ltv_pct": real(10, 120),
            "interest_rate_pct": real(0.5, 19),
            "fico": whole(300, 850),
            "age": whole(18, 85),
            "employment_years": real(0, 40, gaps=0.25),
            "account_age_months": whole(0, 240),
            "n_delinquencies_2y": whole(0, 9),
            "n_inquiries": whole(0, 12),
            "purpose": one_of("car", "home", "none given", "other"),
            "home_status": one_of("owner w/ mortgage", "tenant", "owner", "living with parents"),
            "guarantor": one_of("yes", "no"),
            "rating": one_of("AAA", "AA", "A", "BBB", "BB", "B"),
            "bankrupt_before": FLAG,
        },
    ),
    "pumps": Sheet(
        ("keeps running", "breaks down"),
        {
            "flow_m3_h": real(1, 120),
            "oil_temp_c": real(15, 130),
            "vib_rms_mm_s": real(0, 14),
            "inlet_pressure_bar": real(0.2, 9),
            "outlet_pressure_bar": real(1, 25),
            "motor_power_kw": real(1, 250, gaps=0.15),
            "shaft_speed_rpm": real(300, 3_600),
            "runtime_h": real(0, 20_000),
            "oil_age_days": whole(0, 720),
            "seal": one_of("new", "worn", "off spec"),
            "operating mode": one_of("standby", "on", "off"),
            "leak": FLAG,
            "alarm_count": whole(0, 15),
            "supplier": one_of("KSB", "Grundfos", "no name"),
        }
        | {name: real(5, 60) for name in PHASES}
        | {name: real(20, 110) for name in BEARINGS},
        {"PHASES": PHASES, "BEARINGS": BEARINGS},
    ),
    "panel": Sheet(
        ("did not respond", "responded"),
        {
            "bmi": real(15, 50),
            "z_score": real(-4, 4),
            "x": real(-10, 10),
            "y1": real(-10, 10),
            "hours_worked": whole(0, 70),
            "income_k": real(5, 200, gaps=0.2),
            "commute_min": real(0, 150),
            "dose_mg": one_of(0.0, 5.0, 10.0, 20.0),
            "children": whole(0, 6),
            "education": one_of("primary", "secondary", "tertiary"),
            "marital": one_of("single", "married", "not applicable"),
            "agreement": one_of("strongly disagree", "disagree", "neutral", "agree"),
            "arm": one_of("A", "B", "placebo"),
            "smokes": one_of("never", "sometimes", "daily"),
            "compliance": real(0, 1),
        },
    ),
}

SHEETS["nephro"] = Sheet(
    ("no dialysis", "dialysis"),
    {
        "age": whole(18, 95),
        "gender": one_of("female", "male"),
        "eGFR [ml/min/1.73m²]": real(5, 120, gaps=0.1),
        "urine_albumin_mg_g": real(0, 3000, gaps=0.2),
        "SBP (mmHg)": real(85, 220),
        "DBP (mmHg)": real(40, 130),
        "potassium_mmol_l": real(2.8, 7.2),
        "HbA1c_pct": real(4.5, 14, gaps=0.25),
        "LDL_mg_dl": real(20, 260),
        "urea_mmol_l": real(2, 60),
        "BMI": real(16, 50),
        "diabetes": one_of("none", "type 1", "type 2"),
        "CKD stage": one_of("G1", "G2", "G3a", "G3b", "G4", "G5"),
        "smoking status": one_of("current", "ex-smoker", "never", "unknown"),
        "ACE inhibitor": one_of("yes", "no"),
        "heart_failure": FLAG,
        "hypertension": FLAG,
        "stroke_tia": FLAG,
        "vascular_disease": FLAG,
        "length_of_stay_days": whole(0, 60),
        "n_drugs": whole(0, 25),
        "calcium_mg_dl": real(5, 14),
        "ferritin_ng_ml": real(5, 2500, gaps=0.4),
        "race/ethnicity": one_of("white", "black", "asian", "other / mixed"),
        "insulin": one_of("on", "off"),
    },
)
SHEETS["tumour"] = Sheet(
    ("resistant", "sensitive"),
    {
        "TMB (mut/Mb)": real(0, 60, gaps=0.15),
        "MSI status": one_of("MSS", "MSI-L", "MSI-H"),
        "PD-L1 TPS": real(0, 100, gaps=0.2),
        "EGFR_L858R": FLAG,
        "KRAS_G12C": FLAG,
        "KRAS": one_of("wt", "G12C", "G12D", "other"),
        "EGFR": real(0, 16),
        "MET_cn": real(0, 20),
        "HLA-A": real(0, 16),
        "HLA-B": real(0, 16),
        "B2M": real(0, 16),
        "CD8A": real(0, 16),
        "FOXP3": real(0, 16),
        "NKX2-1": real(0, 16),
        "purity": real(0.05, 1),
        "n_mets": whole(0, 12),
        "ECOG": whole(0, 4),
        "line of therapy": whole(1, 5),
        "histology": one_of("adeno", "squamous", "large cell", "NOS"),
        "pack_years": real(0, 120, gaps=0.1),
        "site: brain": FLAG,
        "site: liver": FLAG,
        "site: bone": FLAG,
        "LDH_U_l": real(80, 1500),
        "albumin_g_l": real(18, 52),
        "NLR": real(0.5, 20),
    }
    | {f"SIG{k}": real(0, 10) for k in range(1, 7)},
    {
        "HLA": ["HLA-A", "HLA-B"],
        "EXHAUST": ["SIG1", "SIG2", "SIG3"],
        "PROLIF": ["SIG4", "SIG5", "SIG6"],
    },
)
SHEETS["battery"] = Sheet(
    ("ok", "failed"),
    {
        "cycle_count": whole(0, 3000),
        "capacity_Ah": real(1, 6),
        "cell_voltage_V": real(2.4, 4.3),
        "T_max_degC": real(-20, 85),
        "T_min_degC": real(-40, 40),
        "internal_resistance_mohm": real(1, 80),
        "charge_current_A": real(0, 40),
        "depth_of_discharge": real(0, 1),
        "SoC_pct": real(0, 100),
        "mass_g": real(20, 400),
        "storage_time_months": whole(0, 48),
        "vibration_g": real(0, 20),
        "chemistry": one_of("NMC", "LFP", "NCA", "LCO"),
        "supplier": one_of("A-1", "B-2", "C-3"),
        "BMS fault": one_of("none", "over-voltage", "under-voltage", "over-temp"),
        "swollen": one_of("Y", "N"),
        "humidity_pct": real(0, 100, gaps=0.2),
        "leak_rate_ml_min": real(0, 20),
        "torque_Nm": real(0, 200),
        "thickness_um": real(20, 400),
        "line speed [m/min]": real(1, 80),
        "pressure_kPa": real(20, 600),
    }
    | {f"V{k}": real(2.4, 4.3) for k in range(1, 5)},
    {"CELLS": [f"V{k}" for k in range(1, 5)]},
)
SHEETS["cards"] = Sheet(
    ("repaid", "default"),
    {
        "Annual Income ($)": real(5_000, 400_000, gaps=0.1),
        "DTI": real(0, 0.9),
        "credit_limit": real(500, 60_000),
        "balance": real(0, 60_000),
        "utilization_%": real(0, 150),
        "months_since_last_late": whole(0, 120),
        "num_late_90d": whole(0, 8),
        "open_accounts": whole(0, 40),
        "credit_score": whole(300, 850),
        "home_ownership": one_of("RENT", "OWN", "MORTGAGE", "OTHER"),
        "purpose": one_of("debt consolidation", "small business", "credit card", "not stated"),
        "term": one_of("36 months", "60 months"),
        "grade": one_of("A", "B", "C", "D", "E", "F", "G"),
        "emp_length": one_of("< 1 year", "1-3 years", "4-9 years", "10+ years", "n/a"),
        "verified": one_of("Verified", "Not Verified", "Source Verified"),
        "age": whole(18, 90),
        "int_rate": real(4, 32),
        "loan_amount": real(500, 45_000),
        "public_records": whole(0, 4),
        "has_cosigner": FLAG,
        "region": one_of("North", "South", "East", "West"),
        "dependents": whole(0, 6),
    },
)
