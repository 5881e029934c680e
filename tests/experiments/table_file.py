"""The small table as files, for commands."""

from __future__ import annotations

from pathlib import Path

from tests.experiments.small import table


def write_table(folder: Path) -> tuple[str, str]:
    """Paths of a CSV file and a rules file."""
    own = table()
    assert own.feature_names is not None
    lines = [",".join([*own.feature_names, "y"])]
    for row, label in zip(own.X, own.y, strict=True):
        lines.append(",".join([*(f"{v:.6f}" for v in row), "ill" if label > 0 else "well"]))
    data, rules = folder / "data.csv", folder / "my.rules"
    data.write_text("\n".join(lines) + "\n")
    rules.write_text("f0 >= 1 => ill\nf1 <= -1 => well\n")
    return str(data), str(rules)
