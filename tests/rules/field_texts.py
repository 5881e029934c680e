"""Further texts by clinicians, genomicists, engineers and credit analysts, and who is meant.

Nothing in the language was made for them: what was refused or misread was mended in general.
"""

from __future__ import annotations

from tests.rules.typed_tables import Said, mean, quantile, sd

TEXTS = [
    # clinicians
    Said("nephro", "eGFR < 15 => dialysis", lambda r: r["eGFR [ml/min/1.73m²]"] < 15),
    Said(
        "nephro",
        "egfr below 30 ml/min/1.73m2 and urine albumin > 300 mg/g => dialysis",
        lambda r: r["eGFR [ml/min/1.73m²]"] < 30 and r["urine_albumin_mg_g"] > 300,
    ),
    Said(
        "nephro",
        "urine albumin >= 0.3 g/g => dialysis",
        lambda r: r["urine_albumin_mg_g"] >= 300,
        vague=True,
    ),
    Said(
        "nephro",
        "SBP>160 or DBP>100 => dialysis",
        lambda r: r["SBP (mmHg)"] > 160 or r["DBP (mmHg)"] > 100,
    ),
    Said("nephro", "SBP > 24 kPa => dialysis", lambda r: r["SBP (mmHg)"] > 24 / 0.133322387415),
    Said(
        "nephro",
        "pulse pressure (SBP - DBP) > 80 => dialysis",
        lambda r: r["SBP (mmHg)"] - r["DBP (mmHg)"] > 80,
        vague=True,
    ),
    Said(
        "nephro",
        "SBP - DBP > 80 mmHg => dialysis",
        lambda r: r["SBP (mmHg)"] - r["DBP (mmHg)"] > 80,
    ),
    Said("nephro", "K+ > 6 => dialysis", lambda r: r["potassium_mmol_l"] > 6, vague=True),
    Said("nephro", "potassium > 6.0 mEq/l => dialysis", lambda r: r["potassium_mmol_l"] > 6.0),
    Said(
        "nephro",
        "hba1c >= 53 mmol/mol => dialysis",
        lambda r: r["HbA1c_pct"] >= 53 * 0.09148 + 2.152,
        vague=True,
    ),
    Said("nephro", "HbA1c 6.5 - 8 % => no dialysis", no=lambda r: 6.5 <= r["HbA1c_pct"] <= 8),
    Said("nephro", "LDL > 4.9 mmol/l => dialysis", lambda r: r["LDL_mg_dl"] > 4.9 * 38.665),
    Said("nephro", "urea > 200 mg/dl => dialysis", lambda r: r["urea_mmol_l"] > 200 / 6.006),
    Said("nephro", "calcium < 1.9 mmol/l => dialysis", lambda r: r["calcium_mg_dl"] < 1.9 * 4.008),
    Said("nephro", "ferritin > 1000 µg/l => dialysis", lambda r: r["ferritin_ng_ml"] > 1000),
    Said("nephro", "ferritin > 1 mg/l => dialysis", lambda r: r["ferritin_ng_ml"] > 1000),
    Said(
        "nephro",
        "diabetes = none and egfr > 60 => no dialysis",
        no=lambda r: r["diabetes"] == "none" and r["eGFR [ml/min/1.73m²]"] > 60,
    ),
    Said("nephro", "type 2 diabetes => dialysis", lambda r: r["diabetes"] == "type 2", vague=True),
    Said(
        "nephro",
        "diabetes type 1 or type 2 => dialysis",
        lambda r: r["diabetes"] in ("type 1", "type 2"),
    ),
    Said("nephro", "no diabetes => no dialysis", no=lambda r: r["diabetes"] == "none", vague=True),
    Said("nephro", "CKD stage G4 or G5 => dialysis", lambda r: r["CKD stage"] in ("G4", "G5")),
    Said("nephro", "CKD stage >= G3b => dialysis", lambda r: r["CKD stage"] in ("G3b", "G4", "G5")),
    Said(
        "nephro",
        "CKD stage between G3a and G4 => dialysis",
        lambda r: r["CKD stage"] in ("G3a", "G3b", "G4"),
    ),
    Said(
        "nephro",
        "smoking status = ex-smoker => no dialysis",
        no=lambda r: r["smoking status"] == "ex-smoker",
    ),
    Said(
        "nephro",
        "never smoker => no dialysis",
        no=lambda r: r["smoking status"] == "never",
        vague=True,
    ),
    Said(
        "nephro",
        "smoking status not in (never, unknown) => dialysis",
        lambda r: r["smoking status"] not in ("never", "unknown"),
    ),
    Said(
        "nephro",
        "ACE inhibitor = no and hypertension => dialysis",
        lambda r: r["ACE inhibitor"] == "no" and r["hypertension"] == 1,
    ),
    Said(
        "nephro",
        "not on ACE inhibitor => dialysis",
        lambda r: r["ACE inhibitor"] == "no",
        vague=True,
    ),
    Said("nephro", "insulin = on => dialysis", lambda r: r["insulin"] == "on"),
    Said(
        "nephro",
        "insulin off and age < 50 => no dialysis",
        no=lambda r: r["insulin"] == "off" and r["age"] < 50,
    ),
    Said(
        "nephro",
        "heart_failure + hypertension + 2*(age >= 75) + (diabetes != none) + 2*stroke_tia"
        " + vascular_disease + (age between 65 and 74) + (gender = female) >= 4 => dialysis",
        lambda r: (
            r["heart_failure"]
            + r["hypertension"]
            + 2 * (r["age"] >= 75)
            + (r["diabetes"] != "none")
            + 2 * r["stroke_tia"]
            + r["vascular_disease"]
            + (65 <= r["age"] <= 74)
            + (r["gender"] == "female")
            >= 4
        ),
    ),
    Said(
        "nephro",
        "women over 75 => dialysis",
        lambda r: r["gender"] == "female" and r["age"] > 75,
        vague=True,
    ),
    Said(
        "nephro", "male, age > 70 y => dialysis", lambda r: r["gender"] == "male" and r["age"] > 70
    ),
    Said("nephro", "length of stay > 2 weeks => dialysis", lambda r: r["length_of_stay_days"] > 14),
    Said(
        "nephro",
        "length of stay at least 1 month => dialysis",
        lambda r: r["length_of_stay_days"] >= 30.436875,
        vague=True,
    ),
    Said(
        "nephro",
        "n_drugs ≥10 unless age<40 => dialysis",
        lambda r: r["n_drugs"] >= 10 and not r["age"] < 40,
    ),
    Said("nephro", "more than 10 drugs => dialysis", lambda r: r["n_drugs"] > 10),
    Said(
        "nephro",
        "race/ethnicity = other / mixed => dialysis",
        lambda r: r["race/ethnicity"] == "other / mixed",
    ),
    Said(
        "nephro", "BMI outside 18.5 to 35 => dialysis", lambda r: r["BMI"] < 18.5 or r["BMI"] > 35
    ),
    Said("nephro", "ferritin missing => dialysis", vague=True),
    Said("nephro", "potasium > 5.5 => dialysis", lambda r: r["potassium_mmol_l"] > 5.5, vague=True),
    Said(
        "nephro",
        "HbA1c > 9 % and not (age > 80) => dialysis",
        lambda r: r["HbA1c_pct"] > 9 and not r["age"] > 80,
    ),
    Said("nephro", "age 65 or older => dialysis", lambda r: r["age"] >= 65),
    Said(
        "nephro",
        "eGFR<20 & (potassium>6 | urea>35) => dialysis",
        lambda r: (
            r["eGFR [ml/min/1.73m²]"] < 20 and (r["potassium_mmol_l"] > 6 or r["urea_mmol_l"] > 35)
        ),
    ),
    Said(
        "nephro",
        "three or more of: heart_failure, hypertension, stroke_tia, vascular_disease => dialysis",
        lambda r: (
            r["heart_failure"] + r["hypertension"] + r["stroke_tia"] + r["vascular_disease"] >= 3
        ),
    ),
    Said("nephro", "age in decades > 7 => dialysis", vague=True),
    Said("nephro", "SBP 140/90 => dialysis", vague=True),
    # genomicists
    Said("tumour", "TMB >= 10 mut/Mb => sensitive", lambda r: r["TMB (mut/Mb)"] >= 10),
    Said(
        "tumour",
        "TMB high => sensitive",
        vague=True,
        yes=lambda r: r["TMB (mut/Mb)"] > quantile("tumour", "TMB (mut/Mb)", 0.75),
    ),
    Said(
        "tumour",
        "MSI-H or TMB > 20 => sensitive",
        lambda r: r["MSI status"] == "MSI-H" or r["TMB (mut/Mb)"] > 20,
    ),
    Said("tumour", "MSI status is MSS => resistant", no=lambda r: r["MSI status"] == "MSS"),
    Said("tumour", "PD-L1 TPS ≥ 50 % => sensitive", lambda r: r["PD-L1 TPS"] >= 50),
    Said("tumour", "PD-L1 1-49% => resistant", no=lambda r: 1 <= r["PD-L1 TPS"] <= 49),
    Said(
        "tumour",
        "KRAS wt and EGFR_L858R => sensitive",
        lambda r: r["KRAS"] == "wt" and r["EGFR_L858R"] == 1,
    ),
    Said("tumour", "KRAS = G12C or G12D => resistant", no=lambda r: r["KRAS"] in ("G12C", "G12D")),
    Said("tumour", "KRAS mutated => resistant", no=lambda r: r["KRAS"] != "wt", vague=True),
    Said("tumour", "EGFR > 12 => sensitive", lambda r: r["EGFR"] > 12),
    Said("tumour", "MET_cn >= 6 copies => sensitive", lambda r: r["MET_cn"] >= 6, vague=True),
    Said(
        "tumour",
        "HLA-A < 4 or HLA-B < 4 or B2M < 4 => resistant",
        no=lambda r: r["HLA-A"] < 4 or r["HLA-B"] < 4 or r["B2M"] < 4,
    ),
    Said("tumour", "any HLA < 3 => resistant", no=lambda r: min(r["HLA-A"], r["HLA-B"]) < 3),
    Said("tumour", "HLA-A - HLA-B > 3 => sensitive", lambda r: r["HLA-A"] - r["HLA-B"] > 3),
    Said("tumour", "CD8A/FOXP3 > 2 => sensitive", lambda r: r["CD8A"] / r["FOXP3"] > 2),
    Said("tumour", "CD8A at least twice FOXP3 => sensitive", lambda r: r["CD8A"] >= 2 * r["FOXP3"]),
    Said(
        "tumour",
        "CD8A exceeds FOXP3 by 3 => sensitive",
        lambda r: r["CD8A"] > r["FOXP3"] + 3,
        vague=True,
    ),
    Said(
        "tumour",
        "NKX2-1 > 8 & histology = adeno => sensitive",
        lambda r: r["NKX2-1"] > 8 and r["histology"] == "adeno",
    ),
    Said("tumour", "purity > 30 % => sensitive", lambda r: r["purity"] > 0.3),
    Said(
        "tumour", "purity between 20% and 60% => resistant", no=lambda r: 0.2 <= r["purity"] <= 0.6
    ),
    Said(
        "tumour",
        "ECOG 0-1 and line of therapy = 1 => sensitive",
        lambda r: r["ECOG"] in (0, 1) and r["line of therapy"] == 1,
    ),
    Said("tumour", "ECOG 0 or 1 => sensitive", lambda r: r["ECOG"] in (0, 1)),
    Said("tumour", "ECOG PS 2+ => resistant", no=lambda r: r["ECOG"] >= 2, vague=True),
    Said(
        "tumour",
        "site: brain and site: liver => resistant",
        no=lambda r: r["site: brain"] == 1 and r["site: liver"] == 1,
    ),
    Said(
        "tumour",
        "brain and liver => resistant",
        no=lambda r: r["site: brain"] == 1 and r["site: liver"] == 1,
        vague=True,
    ),
    Said(
        "tumour",
        "at least 2 of `site: brain`, `site: liver`, `site: bone` => resistant",
        no=lambda r: r["site: brain"] + r["site: liver"] + r["site: bone"] >= 2,
    ),
    Said("tumour", "LDH > 2 x 250 U/l => resistant", no=lambda r: r["LDH_U_l"] > 500, vague=True),
    Said("tumour", "albumin < 3.5 g/dl => resistant", no=lambda r: r["albumin_g_l"] < 35),
    Said(
        "tumour",
        "NLR>=5 and LDH>=250 IU/L => resistant",
        no=lambda r: r["NLR"] >= 5 and r["LDH_U_l"] >= 250,
    ),
    Said(
        "tumour",
        "mean(EXHAUST) - mean(PROLIF) > 1 => sensitive",
        lambda r: (
            (r["SIG1"] + r["SIG2"] + r["SIG3"]) / 3 - (r["SIG4"] + r["SIG5"] + r["SIG6"]) / 3 > 1
        ),
    ),
    Said(
        "tumour",
        "EXHAUST > PROLIF => sensitive",
        vague=True,
        yes=lambda r: (r["SIG1"] + r["SIG2"] + r["SIG3"]) > (r["SIG4"] + r["SIG5"] + r["SIG6"]),
    ),
    Said(
        "tumour",
        "at least 2 of EXHAUST > 7 => sensitive",
        lambda r: sum(r[f"SIG{k}"] > 7 for k in (1, 2, 3)) >= 2,
    ),
    Said(
        "tumour",
        "median(EXHAUST) > 5 => sensitive",
        lambda r: sorted((r["SIG1"], r["SIG2"], r["SIG3"]))[1] > 5,
        vague=True,
    ),
    Said(
        "tumour",
        "SIG1..SIG3 all > 5 => sensitive",
        lambda r: min(r["SIG1"], r["SIG2"], r["SIG3"]) > 5,
        vague=True,
    ),
    Said(
        "tumour",
        "pack years < 10 and not KRAS_G12C => sensitive",
        lambda r: r["pack_years"] < 10 and r["KRAS_G12C"] == 0,
    ),
    Said("tumour", "log2(CD8A) > 3 => sensitive", vague=True, yes=lambda r: r["CD8A"] > 8),
    Said("tumour", "histology = NOS => resistant", no=lambda r: r["histology"] == "NOS"),
    Said("tumour", "n_mets >= 3 -> resistant", no=lambda r: r["n_mets"] >= 3),
    # engineers
    Said("battery", "T_max > 60 °C => failed", lambda r: r["T_max_degC"] > 60),
    Said("battery", "T_max > 140F => failed", lambda r: r["T_max_degC"] > 60),
    Said(
        "battery",
        "T_max - T_min > 80 K => failed",
        lambda r: r["T_max_degC"] - r["T_min_degC"] > 80,
    ),
    Said(
        "battery",
        "T_max - T_min > 80 °C => failed",
        lambda r: r["T_max_degC"] - r["T_min_degC"] > 80,
    ),
    Said("battery", "cell voltage < 2700 mV => failed", lambda r: r["cell_voltage_V"] < 2.7),
    Said(
        "battery",
        "cell_voltage outside 3.0..4.2 V => failed",
        lambda r: r["cell_voltage_V"] < 3.0 or r["cell_voltage_V"] > 4.2,
    ),
    Said(
        "battery",
        "internal resistance > 0.05 ohm => failed",
        lambda r: r["internal_resistance_mohm"] > 50,
    ),
    Said(
        "battery",
        "internal resistance > 50 mΩ => failed",
        lambda r: r["internal_resistance_mohm"] > 50,
    ),
    Said("battery", "capacity < 2500 mAh => failed", lambda r: r["capacity_Ah"] < 2.5),
    Said("battery", "charge current > 3 C => failed", vague=True),
    Said(
        "battery",
        "depth of discharge > 80 % and cycle count > 1,000 => failed",
        lambda r: r["depth_of_discharge"] > 0.8 and r["cycle_count"] > 1000,
    ),
    Said("battery", "SoC > 90% => failed", lambda r: r["SoC_pct"] > 90),
    Said("battery", "SoC 20..80 % => ok", no=lambda r: 20 <= r["SoC_pct"] <= 80),
    Said("battery", "mass > 0.25 kg => failed", lambda r: r["mass_g"] > 250),
    Said("battery", "storage time > 2 years => failed", lambda r: r["storage_time_months"] > 24),
    Said("battery", "vibration > 10 g => failed", lambda r: r["vibration_g"] > 10),
    Said(
        "battery",
        "vibration > 100 m/s² => failed",
        lambda r: r["vibration_g"] > 100 / 9.80665,
        vague=True,
    ),
    Said("battery", "chemistry LFP => ok", no=lambda r: r["chemistry"] == "LFP"),
    Said(
        "battery",
        "chemistry != LFP and swollen = Y => failed",
        lambda r: r["chemistry"] != "LFP" and r["swollen"] == "Y",
    ),
    Said(
        "battery",
        "swollen and leak rate > 1 ml/min => failed",
        lambda r: r["swollen"] == "Y" and r["leak_rate_ml_min"] > 1,
    ),
    Said("battery", "not swollen => ok", no=lambda r: r["swollen"] == "N"),
    Said("battery", "supplier = B-2 => failed", lambda r: r["supplier"] == "B-2"),
    Said("battery", "BMS fault = none => ok", no=lambda r: r["BMS fault"] == "none"),
    Said(
        "battery",
        "BMS fault is over-voltage or over-temp => failed",
        lambda r: r["BMS fault"] in ("over-voltage", "over-temp"),
    ),
    Said(
        "battery",
        "BMS fault = under-voltage and T_min < 0 => failed",
        lambda r: r["BMS fault"] == "under-voltage" and r["T_min_degC"] < 0,
    ),
    Said("battery", "leak rate > 0.6 l/h => failed", lambda r: r["leak_rate_ml_min"] > 10),
    Said("battery", "torque > 0.1 kNm => failed", lambda r: r["torque_Nm"] > 100),
    Said(
        "battery", "thickness = 0.2 mm +/- 10 % => ok", no=lambda r: 180 <= r["thickness_um"] <= 220
    ),
    Said("battery", "thickness 100 ± 20 µm => ok", no=lambda r: 80 <= r["thickness_um"] <= 120),
    Said("battery", "line speed > 0.5 m/s => failed", lambda r: r["line speed [m/min]"] > 30),
    Said("battery", "pressure > 3 bar => failed", lambda r: r["pressure_kPa"] > 300),
    Said("battery", "pressure > 3 atm => failed", lambda r: r["pressure_kPa"] > 3 * 101.325),
    Said(
        "battery",
        "max(CELLS) - min(CELLS) > 0.5 V => failed",
        lambda r: max(r[f"V{k}"] for k in range(1, 5)) - min(r[f"V{k}"] for k in range(1, 5)) > 0.5,
        vague=True,
    ),
    Said(
        "battery",
        "any of CELLS below 2.5 V => failed",
        lambda r: min(r[f"V{k}"] for k in range(1, 5)) < 2.5,
    ),
    Said(
        "battery",
        "at least 2 cells < 2.8 V => failed",
        lambda r: sum(r[f"V{k}"] < 2.8 for k in range(1, 5)) >= 2,
        vague=True,
    ),
    Said("battery", "humidity > 80 %RH => failed", lambda r: r["humidity_pct"] > 80, vague=True),
    Said("battery", "1.5 < capacity <= 2 => failed", lambda r: 1.5 < r["capacity_Ah"] <= 2),
    Said("battery", "cycle_count > 2k => failed", lambda r: r["cycle_count"] > 2000),
    Said("battery", "capacity dropped below 80 % => failed", vague=True),
    # credit
    Said("cards", "Annual Income < $30k => default", lambda r: r["Annual Income ($)"] < 30_000),
    Said(
        "cards",
        "annual income under 2,500 per month => default",
        lambda r: r["Annual Income ($)"] < 30_000,
        vague=True,
    ),
    Said("cards", "DTI > 43% => default", lambda r: r["DTI"] > 0.43),
    Said("cards", "DTI > 0.43 => default", lambda r: r["DTI"] > 0.43),
    Said(
        "cards",
        "balance / credit_limit > 0.9 => default",
        lambda r: r["balance"] / r["credit_limit"] > 0.9,
    ),
    Said(
        "cards",
        "balance over 90 % of credit limit => default",
        lambda r: r["balance"] > 0.9 * r["credit_limit"],
    ),
    Said("cards", "utilization > 100% => default", lambda r: r["utilization_%"] > 100),
    Said(
        "cards", "months since last late < 6 => default", lambda r: r["months_since_last_late"] < 6
    ),
    Said(
        "cards",
        "num_late_90d >= 2 or public_records > 0 => default",
        lambda r: r["num_late_90d"] >= 2 or r["public_records"] > 0,
    ),
    Said(
        "cards", "credit score in 720-850 => repaid", no=lambda r: 720 <= r["credit_score"] <= 850
    ),
    Said(
        "cards",
        "home_ownership OWN or MORTGAGE => repaid",
        no=lambda r: r["home_ownership"] in ("OWN", "MORTGAGE"),
    ),
    Said("cards", "owns home => repaid", no=lambda r: r["home_ownership"] == "OWN", vague=True),
    Said(
        "cards", "purpose = small business => default", lambda r: r["purpose"] == "small business"
    ),
    Said("cards", "purpose = not stated => default", lambda r: r["purpose"] == "not stated"),
    Said(
        "cards",
        "small business or debt consolidation, int_rate > 20 => default",
        lambda r: r["purpose"] in ("small business", "debt consolidation") and r["int_rate"] > 20,
        vague=True,
    ),
    Said(
        "cards",
        "term = 60 months and grade >= E => default",
        lambda r: r["term"] == "60 months" and r["grade"] in ("E", "F", "G"),
    ),
    Said("cards", "term 36 months => repaid", no=lambda r: r["term"] == "36 months"),
    Said("cards", "grade E, F or G => default", lambda r: r["grade"] in ("E", "F", "G")),
    Said("cards", "grade A to C => repaid", no=lambda r: r["grade"] in ("A", "B", "C")),
    Said(
        "cards",
        "grade worse than D => default",
        lambda r: r["grade"] in ("E", "F", "G"),
        vague=True,
    ),
    Said("cards", "emp_length = < 1 year => default", lambda r: r["emp_length"] == "< 1 year"),
    Said("cards", "emp_length = n/a => default", lambda r: r["emp_length"] == "n/a"),
    Said("cards", "emp_length = 10+ years => repaid", no=lambda r: r["emp_length"] == "10+ years"),
    Said("cards", "verified = Not Verified => default", lambda r: r["verified"] == "Not Verified"),
    Said("cards", "not verified => default", lambda r: r["verified"] == "Not Verified", vague=True),
    Said(
        "cards",
        "verified is Verified or Source Verified => repaid",
        no=lambda r: r["verified"] in ("Verified", "Source Verified"),
    ),
    Said("cards", "int_rate > 15% => default", lambda r: r["int_rate"] > 15),
    Said(
        "cards",
        "loan amount > 50 % of Annual Income => default",
        lambda r: r["loan_amount"] > 0.5 * r["Annual Income ($)"],
    ),
    Said(
        "cards", "loan_amount > 10.000 => default", lambda r: r["loan_amount"] > 10_000, vague=True
    ),
    Said("cards", "loan amount over 1.5e4 => default", lambda r: r["loan_amount"] > 15_000),
    Said(
        "cards",
        "2*(num_late_90d > 0) + (DTI > 0.4) + (credit_score < 600) >= 2 => default",
        lambda r: 2 * (r["num_late_90d"] > 0) + (r["DTI"] > 0.4) + (r["credit_score"] < 600) >= 2,
    ),
    Said(
        "cards",
        "(3 if num_late_90d > 0) + (1 if DTI > 0.4) >= 3 => default",
        lambda r: 3 * (r["num_late_90d"] > 0) + (r["DTI"] > 0.4) >= 3,
        vague=True,
    ),
    Said(
        "cards",
        "age < 21 unless has_cosigner => default",
        lambda r: r["age"] < 21 and r["has_cosigner"] == 0,
    ),
    Said(
        "cards",
        "region = North => repaid; region = South => default",
        lambda r: r["region"] == "South",
        lambda r: r["region"] == "North",
    ),
    Said(
        "cards",
        "credit_score < 580 and has no cosigner => default",
        lambda r: r["credit_score"] < 580 and r["has_cosigner"] == 0,
        vague=True,
    ),
    Said(
        "cards",
        "no dependents and age<30 => repaid",
        no=lambda r: r["dependents"] == 0 and r["age"] < 30,
    ),
    Said(
        "cards",
        "open accounts between 1 and 3 (inclusive) => default",
        lambda r: 1 <= r["open_accounts"] <= 3,
        vague=True,
    ),
    Said(
        "cards",
        "credit_score lowest 10% => default",
        lambda r: r["credit_score"] <= quantile("cards", "credit_score", 0.1),
        vague=True,
    ),
    Said("cards", "balance > credit_limit => default", lambda r: r["balance"] > r["credit_limit"]),
    Said(
        "cards",
        "balance > 2 standard deviations above mean => default",
        lambda r: r["balance"] > mean("cards", "balance") + 2 * sd("cards", "balance"),
        vague=True,
    ),
    Said("cards", "crdit_score < 600 => default", lambda r: r["credit_score"] < 600, vague=True),
]
