"""The study of a session: its data, rules, settings and records, as its report takes them."""

from __future__ import annotations

from hipad.data import Options, Table
from hipad.reporting.analysis import Tables
from hipad.reporting.study import (
    HeldBack,
    Study,
    StudyTable,
    TableRole,
    VersionTried,
)
from ui.dataset import Loaded
from ui.models import TrainedModel, stored_parameters
from ui.results import seal, tuning_correction
from ui.state import AppState


def study_of(state: AppState, model: TrainedModel) -> Study:
    """Return the study of a model: what makes it again, and what the session knows beside.

    Parameters
    ----------
    state : AppState
        The session; it has data.
    model : TrainedModel
        A model of these data.
    """
    loaded, preparation, data = state.loaded, state.preparation, state.data
    assert loaded is not None
    assert preparation is not None
    assert data is not None
    settings = model.own_settings
    parameters, share = stored_parameters(settings)
    positive = {"positive": data.classes[1]}
    versions = [
        VersionTried(rules, stored_parameters(own)[0], tuple(scores.tolist()))
        for (rules, _, own), scores in tuning_correction.versions(state).items()
    ]
    return Study(
        tables=() if loaded.sample else _tables(loaded),
        sample=loaded.sample,
        draw=dict(loaded.recipe),
        preparation=Options(**{**preparation.options(), **positive}),
        decided_by=data.decided_by,
        held_back=HeldBack(preparation.test, preparation.test_fraction, preparation.seed),
        row_word=data.row_word(1),
        rules=model.rules if settings.use_rules else "",
        blocks=dict(model.blocks),
        parameters=parameters,
        lambda1_share=share,
        seal=seal.seal_of(state),
        edits=state.edits,
        versions=tuple(versions),
        risk_threshold=model.oriented.threshold,
        notes=state.notes,
    )


def tables_of(state: AppState) -> Tables:
    """Return the tables of the session by their roles."""
    loaded = state.loaded
    assert loaded is not None
    return dict(_own(loaded))


def _own(loaded: Loaded) -> list[tuple[TableRole, Table]]:
    parts: list[tuple[TableRole, Table | None]] = [
        ("table", loaded.table),
        ("test", loaded.test),
        ("unlabelled", loaded.unlabelled),
    ]
    return [(role, table) for role, table in parts if table is not None]


def _tables(loaded: Loaded) -> tuple[StudyTable, ...]:
    names = {"table": loaded.name, "test": loaded.test_name, "unlabelled": loaded.unlabelled_name}
    return tuple(
        StudyTable(role, names[role], table.sha256, table.reading.stated)
        for role, table in _own(loaded)
    )
