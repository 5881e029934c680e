"""A study file, `.hipad`, as a session: what was decided, its data if it holds them, its run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from hipad.data.file_format import FOUND_OUT
from hipad.exceptions import DataError
from hipad.reporting.analysis import Tables
from hipad.reporting.study import Study
from hipad.reporting.study_file import is_study_file, read_study, write_study
from ui.dataset import ROW_WORDS, Loaded, Preparation
from ui.models import Request, TrainedModel, stored_parameters
from ui.report.study import study_of, tables_of
from ui.session.saved_session import draw_sample, reopen, restore, run_again
from ui.session.session_file import ModelRecipe, Session
from ui.settings import AUTOMATIC, CHOSEN, EXACT, FEWNESS, RunSettings
from ui.state import AppState

STUDY: Final = "study"  # what its model is called where it waits for the data


def study_file(state: AppState, model: TrainedModel, *, with_data: bool) -> bytes:
    """Return the study of a model as a file, with its tables if that is wanted."""
    study = study_of(state, model)
    return write_study(study, tables_of(state) if with_data and not study.sample else None)


def reopen_file(state: AppState, content: bytes) -> None:
    """Take up a session.json or a study file."""
    if not is_study_file(content):
        reopen(state, content)
        return
    stored = read_study(content)
    session = session_of_study(stored.study)
    recipe = recipe_of_study(stored.study, session)
    if stored.tables:
        restore(state, session, loaded_of(stored.study, stored.tables))
        run_again(state, recipe)
        return
    waiting = replace(session, models=(replace(recipe, name=STUDY),), pinned=STUDY)
    if state.loaded is not None and state.loaded.key == waiting.data_key:
        restore(state, waiting, state.loaded)
    elif session.sample:
        restore(state, session, draw_sample(session))
        run_again(state, recipe)
    else:
        state.awaiting = waiting


def session_of_study(study: Study) -> Session:
    """Return the session that a study says; DataError where the app cannot hold it."""
    table = study.table("table")
    if table is None and not study.sample:
        raise DataError(
            "expected a study that names its table, got one without: take it to `hipad report`"
        )
    if any(one.role in ("labels", "symbols") for one in study.tables):
        raise DataError(
            "expected a study of one table, got one with further files of classes or symbols: take "
            "it to `hipad report`"
        )
    own = {name: getattr(study.preparation, name) for name in vars(study.preparation)}
    held, unlabelled = study.held_back, study.table("unlabelled")
    word = study.row_word
    name = study.sample if table is None else table.name
    return Session(
        data_name=name,
        data_key=name if table is None else table.sha256 or name,
        preparation=Preparation(
            **own, test=held.kind, test_fraction=held.share, seed=held.seed,
            row_word=word if word in ROW_WORDS else "",
        ),
        rules=study.rules,
        blocks=dict(study.blocks),
        settings=settings_of(study),
        sample=study.sample,
        draw=dict(study.draw),
        unlabelled="" if unlabelled is None else unlabelled.name,
        file_format=FOUND_OUT if table is None else table.file_format,
        edits=study.edits,
        seals=(*study.seals, *([] if study.seal is None else [study.seal])),
        notes=study.notes,
    )  # fmt: skip


def settings_of(study: Study) -> RunSettings:
    """Return the settings that give the parameters of a study; DataError where none do."""
    known = study.parameters
    words = {value: word for word, value in CHOSEN.items()}
    shares = {share: word for word, share in FEWNESS.items()}
    lambda1 = known.get("lambda1", "auto")
    fewness = shares.get(study.lambda1_share or 0.0, words.get(lambda1, EXACT))
    solver, usual = _part(known, "solver"), RunSettings()
    values = {
        "fewness": fewness,
        "lambda1": lambda1 if fewness == EXACT else usual.lambda1,
        "lambda2": known.get("lambda2", usual.lambda2),
        "method": known.get("method", usual.method),
        "standardize": known.get("standardize", usual.standardize),
        "patients": known.get("rule_weight", usual.patients),
        "stiffness": known.get("rho", usual.stiffness),
        "balanced": known.get("class_weight") == "balanced",
        "engine": solver.get("phase2_solver", usual.engine),
        "switch": solver.get("phase1_stop", usual.switch),
        "mu": solver.get("mu", usual.mu),
        "tolerance": solver.get("tol", usual.tolerance),
        "max_sweeps": solver.get("max_iter", usual.max_sweeps),
        "calibrate": _part(known, "selection").get("calibrate", usual.calibrate),
        "scope": _part(known, "rule_settings").get("scope", usual.scope),
    }
    settings = RunSettings.from_dict(values)
    said, share = stored_parameters(settings)
    others = [name for name, value in known.items() if name != "lambda1" and said[name] != value]
    if others or share != study.lambda1_share:
        raise DataError(
            f"expected settings that the app can show, got others ({', '.join(others) or AUTOMATIC}"
            "): take the study to `hipad report`"
        )
    return settings


def _part(known: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = known.get(name)
    return found if isinstance(found, Mapping) else {}


def recipe_of_study(study: Study, session: Session) -> ModelRecipe:
    """Return what makes the model of a study again."""
    return ModelRecipe(
        Request.name, session.rules, session.blocks, session.settings, cutoff=study.risk_threshold
    )


def loaded_of(study: Study, tables: Tables) -> Loaded:
    """Return the tables of a study as they are loaded."""
    if "table" not in tables:
        raise DataError("expected the table of the study in the file, it is not there")
    names = {one.role: one.name for one in study.tables}
    return Loaded(
        names.get("table", ""),
        tables["table"],
        tables.get("test"),
        names.get("test", ""),
        tables.get("unlabelled"),
        names.get("unlabelled", ""),
    )
