"""Rebuild the bundled samples from their Debian packages.

    apt-get install r-base-core r-bioc-all r-cran-mlbench
    python sample_data/build.py

Nothing in the library needs this script or R; it is here so that anyone can check the tables.
"""

from __future__ import annotations

import csv
import subprocess
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent

EXPORT = """
suppressMessages({library(ALL); library(mlbench)})
data(ALL); data(PimaIndiansDiabetes2)
kept <- grepl("^B", ALL$BT) & ALL$mol.biol %in% c("BCR/ABL", "NEG")
table <- data.frame(t(exprs(ALL)[, kept]), diagnosis = ALL$mol.biol[kept], check.names = FALSE)
write.csv(table, "all-bcrabl.csv", row.names = FALSE)
write.csv(PimaIndiansDiabetes2, "pima.csv", row.names = FALSE, na = "")
"""

PIMA_COLUMNS = {
    "pregnant": "Pregnancies",
    "glucose": "Glucose",
    "pressure": "BloodPressure",
    "triceps": "SkinThickness",
    "insulin": "Insulin",
    "mass": "BMI",
    "pedigree": "DiabetesPedigree",
    "age": "Age",
}
PIMA_LABELS = {"pos": "diabetic", "neg": "healthy"}


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, rows


def build_all_bcrabl(exported: Path) -> None:
    header, rows = read(exported)
    np.savez_compressed(
        HERE / "all-bcrabl" / "data.npz",
        X=np.array([row[:-1] for row in rows], dtype=np.float32),
        y=np.array([row[-1] for row in rows]),
        features=np.array(header[:-1]),
    )


def build_pima(exported: Path) -> None:
    header, rows = read(exported)
    with (HERE / "pima" / "data.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([PIMA_COLUMNS[name] for name in header[:-1]] + ["Diagnosis"])
        writer.writerows(row[:-1] + [PIMA_LABELS[row[-1]]] for row in rows)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["Rscript", "-e", EXPORT], cwd=folder, check=True)
        build_all_bcrabl(Path(folder, "all-bcrabl.csv"))
        build_pima(Path(folder, "pima.csv"))


if __name__ == "__main__":
    main()
