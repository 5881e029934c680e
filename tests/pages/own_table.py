"""A table of one's own, whose test rows are sealed, and the way to its results."""

from __future__ import annotations

from typing import Any

import numpy as np


def table(n: int = 96, seed: int = 0) -> bytes:
    """Patients with IDs; two of three features carry the class."""
    rng = np.random.default_rng(seed)
    ill = np.arange(n) % 2 == 0
    X = rng.normal(size=(n, 4)).round(3)
    X[ill, :2] += 1.0
    lines = ["ID,marker,dose,noise,age,state"]
    for i, (row, sick) in enumerate(zip(X, ill, strict=True)):
        lines.append(",".join([f"P{i:03d}", *map(str, row), "ill" if sick else "well"]))
    return "\n".join(lines).encode()


def loaded(app: Any) -> Any:
    """The table uploaded and in use."""
    app.go("data").upload("own.csv", table())
    if app.state.pending is not None:
        app.click("pending_use")
    assert app.state.data is not None
    return app


def fitted(app: Any, rules: str = "marker >= 1.5 => ill") -> Any:
    """The table loaded, with rules of one's own, and a finished run."""
    loaded(app)
    app.state.rules.change(rules, "mine")
    app.state.launch()
    app.state.job.wait(60)
    return app


def results(app: Any, page: str = "results") -> Any:
    """A page that needs the assessment, when that is there."""
    app.go(page)
    job = app.state.memo["results_job"][1]
    job.watch(60)
    assert job.error is None, job.exception
    return app.run()
