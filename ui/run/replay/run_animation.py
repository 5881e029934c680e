"""The story of a run: its recorded steps as frames that a browser can play.

Before the first step no feature is in, and everyone gets the same answer. The last frame is the
fitted model itself: its features, their signs and its right answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np

from hipad.solvers import Progress
from hipad.utils import count, one_line
from ui.dataset import Dataset
from ui.jobs import BackgroundJob, thinned
from ui.models import Harm, TrainedModel
from ui.recording import RecordedStep
from ui.run.replay.feature_grid import MOST_CHANGES, FeatureGrid, Frame, Moves
from ui.run.replay.story import AMBER, GREY, RIGHT_COLOUR, TEAL, VIOLET, Line, LineChart, Story

MOST_FRAMES: Final = 400
MOST_RULES: Final = 6  # lines of the rules' chart
MOST_TRUSTED: Final = 3  # rules whose trust is told one by one
RULE_COLOURS: Final = (
    GREY,
    AMBER,
    TEAL,
    VIOLET,
)  # none of a class: a rule's line says how far it is
PHASES: Final = {
    0: "choosing how few",
    1: "phase 1: find the features",
    2: "phase 2: fine-tune the chosen features",
}
RIGHT: Final = "Right answers"
FEATURES: Final = "Features in the model"
VIOLATION: Final = "How much each rule is still violated (0 = satisfied)"


def judged_words(data: Dataset) -> str:
    """Return whose answers are counted, such as 400 test patients."""
    judged = data.judged
    return f"{len(judged.y):,} {judged.part} {data.line_word()}"


def run_story(
    history: Sequence[Progress],
    model: TrainedModel | None,
    grid: FeatureGrid,
    data: Dataset,
    *,
    title: str = "",
    rule_names: Sequence[str] = (),
    live: bool = False,
    state: str = "",
    expert: bool = False,
) -> Story:
    """Return what a fit has done so far, and its model where there is one."""
    signs = None if model is None else np.sign(model.weights)
    steps, places, moves = shown_steps(history, grid, signs)
    n_steps = sum(record.phase > 0 for record in history)
    of = "" if live else f" of {n_steps:,}"
    words = [f"Step {n:,}{of}, {PHASES[step.phase]}" for n, step in zip(places, steps, strict=True)]
    right = [step.right if isinstance(step, RecordedStep) else 0 for step in steps]
    if model is not None:
        places, words = [*places, n_steps + 1], [*words, "The model"]
        right = [*right, model.judgement.accuracy.k]
    if steps:
        negative = data.classes[0]
        right = [int(np.sum(np.asarray(data.judged.y) == negative)), *right]
        words = [f"Before the first step: everyone is predicted {one_line(negative, 20)}", *words]
        places = [0, *places]
    sizes = [float(size) for size in moves.inside]
    later = [n for n, step in zip(places[1:], steps, strict=False) if step.phase == 2]
    averaged = "" if model is None else averaged_words(model)
    left_out = f"{len(steps):,} of {n_steps:,} steps are shown." if n_steps > len(steps) else ""
    return Story(
        title=title,
        axis="step",
        places=places,
        words=words,
        charts=(
            LineChart(
                f"{RIGHT} ({judged_words(data)})",
                (Line("", right, RIGHT_COLOUR),),
                whole=True,
                most=len(data.judged.y),
            ),
            LineChart(FEATURES, (Line("", sizes, GREY),), from_zero=True, whole=True),
            *algorithm_charts(steps, len(places), rule_names, expert=expert),
        ),
        grid=grid,
        moves=moves,
        right=right,
        judged=judged_words(data),
        headline="" if model is None else data.said(headline(model)),
        aside="" if model is None else aside(model),
        alarm=""
        if model is None or model.harm is None
        else harm_words(model.harm, data.row_word()),
        alarm_block="" if model is None else blamed_block(model, data),
        state=state,
        live=live,
        marks=[(later[0] - 0.5, "phase 2")] if later and later[0] > 1 else [],
        note=" ".join(filter(None, [left_out, fitted_words(data), averaged])),
    )


def counted_rules(job: BackgroundJob[Any], model: TrainedModel | None) -> Sequence[str]:
    """Return the rules whose slack a run tells: of an average, those of its leading candidate."""
    shown = next((len(one.rule_slacks) for one in reversed(job.history) if one.phase > 0), 0)
    if shown == len(job.rule_names):
        return job.rule_names
    if model is None or not model.is_explained:
        return ()
    return [one.label for one in model.classifier.rule_report_ if one.slack is not None]


def averaged_words(model: TrainedModel) -> str:
    """Return that the steps are those of one candidate among several."""
    used = [member for member in model.classifier.members_ if member.share > 0]
    if len(used) < 2:
        return ""
    n = count(len(model.support), "feature")
    return (
        f"The steps are those of the most probable of {len(used)} candidates; the last picture is "
        f"their average, with {n}."
    )


def fitted_words(data: Dataset) -> str:
    """Return that right answers of the rows one learns from are too good, where these are shown."""
    if data.judged.part == "test":
        return ""
    return data.said("The model learns from these patients.")


def state_of(job: BackgroundJob[Any] | None) -> str:
    """Return what the run is doing, in a line."""
    if job is None:
        return "Not run yet"
    tried = sum(record.phase == 0 for record in job.history)
    if job.is_active and tried == len(job.history):
        return f"Choosing how few features: {tried} tried" if tried else f"{job.status}"
    return f"{job.status}"


def headline(model: TrainedModel) -> str:
    """Return the result in a line."""
    right = model.judgement.accuracy
    if right.patients is not None:
        return f"{right.k:,} of {right.whom} ({model.judgement.part}) right"
    return f"{right.k:,} of {right.n:,} {model.judgement.part} patients right"


def aside(model: TrainedModel) -> str:
    """Return what the rules are worth, where that is known."""
    alone = model.without_rules
    text = "" if alone is None else f"; without the rules {alone.accuracy.k:,}"
    return text + (short_trust(model) if model.is_explained else "")


def short_trust(model: TrainedModel) -> str:
    """Return how far the rules are trusted, in a few words; many are told by their range."""
    known = [
        (record.label, round(100 * record.trust.posterior))
        for record in model.classifier.rule_report_
        if record.trust is not None
    ]
    shares = sorted({share for _, share in known})
    if not known:
        return ""
    if len(shares) == 1:
        return f"; trust in {'the rule' if len(known) == 1 else 'each rule'}: {shares[0]} %"
    if len(known) > MOST_TRUSTED:
        return f"; trust in the rules: {shares[0]} to {shares[-1]} %"
    return "; trust: " + ", ".join(f"{one_line(name, 20)} {share} %" for name, share in known)


def harm_words(harm: Harm, rows: str = "patients") -> str:
    """Return that rules do harm, and which of them is the likely cause."""
    right, n = f"{harm.right.k:,}", f"{harm.right.n:,}"
    if harm.restored is not None and harm.right.k >= harm.without.k:
        words = f"One rule does harm: {right} of {n} test {rows} right."
    else:
        words = (
            f"The rules do harm: {right} of {n} test {rows} right, without the rules "
            f"{harm.without.k:,}."
        )
    if harm.restored is not None:
        words += (
            f" This rule may be the cause: {harm.cause}; without it {harm.restored.k:,} are right."
        )
    else:
        words += " No single rule explains it: several may be wrong."
    if harm.learnt is not None and harm.learnt.k > harm.right.k:
        words += (
            " The weight that is set may be too large: let it be learnt; then "
            f"{harm.learnt.k:,} are right."
        )
    return words


def blamed_block(model: TrainedModel, data: Dataset) -> str:
    """Return the block that the harmful rule speaks of; empty where there is none."""
    if model.harm is None or model.harm.rule is None:
        return ""
    text = str(data.parse(model.rules)[model.harm.rule])
    return next((name for name in data.blocks if name in text), "")


def algorithm_charts(
    steps: Sequence[Progress], n_frames: int, rule_names: Sequence[str], *, expert: bool
) -> list[LineChart]:
    """Return how the optimisation went, for those who ask; frames that are no steps are gaps.

    The two phases solve different problems: each has its own scale, and only its own terms.
    """

    def line(name: str, values: Sequence[float], colour: int, *, dashed: bool = False) -> Line:
        nothing = float("nan")
        after = [nothing] * (n_frames - len(values) - 1)
        return Line(name, [nothing, *values, *after] if values else [], colour, dashed)

    def objective(phase: int, part: str) -> list[float]:
        return [_part(step, part) if step.phase == phase else float("nan") for step in steps]

    charts = []
    if not expert:
        charts.append(
            LineChart(
                "Objective of phase 1 (lower is better)",
                (line("", objective(1, ""), VIOLET),),
                algorithm=True,
            )
        )
    else:
        for phase, parts in (
            (1, ("loss", "ridge", "rules", "l1")),
            (2, ("loss", "ridge", "rules")),
        ):
            lines = [line("whole", objective(phase, ""), VIOLET)]
            lines += [
                line(part, objective(phase, part), colour, dashed=True)
                for part, colour in zip(parts, (GREY, AMBER, TEAL, RIGHT_COLOUR), strict=False)
            ]
            charts.append(LineChart(f"Objective of phase {phase}", tuple(lines), algorithm=True))
    rules = tuple(
        line(
            name,
            [_slack(step, which) for step in steps],
            RULE_COLOURS[which % len(RULE_COLOURS)],
            dashed=which % 2 == 1,
        )
        for which, name in enumerate(rule_names[:MOST_RULES])
    )
    if rules:
        charts.append(LineChart(VIOLATION, rules, from_zero=True, algorithm=True))
    if expert:
        residuals = (
            line("primal", [step.primal_residual for step in steps], VIOLET),
            line("dual", [step.dual_residual for step in steps], GREY, dashed=True),
        )
        charts.append(LineChart("Residuals", residuals, logarithmic=True, algorithm=True))
    return charts


def _part(step: Progress, part: str) -> float:
    """Return a term of the objective; the whole without a name."""
    if not part:
        return step.objective
    parts = step.parts if isinstance(step, RecordedStep) else None
    return float("nan") if parts is None else float(getattr(parts, part))


def _slack(step: Progress, which: int) -> float:
    slacks = step.rule_slacks
    return max(float(slacks[which]), 0.0) if which < len(slacks) else float("nan")


def shown_steps(
    history: Sequence[Progress], grid: FeatureGrid, signs: np.ndarray | None
) -> tuple[list[Progress], list[int], Moves]:
    """Return the steps to show, their numbers from one, and what changes at each frame.

    The first frame stands for the beginning, where no feature is in. There are fewer steps where
    features are restless. With `signs`, those of the fitted model, a frame of its own follows that
    ends on exactly its features.
    """
    records = [record for record in history if record.phase > 0]
    number_of = {id(record): n for n, record in enumerate(records, start=1)}
    most = MOST_FRAMES
    while True:
        steps = thinned(records, most)
        places = [number_of[id(step)] for step in steps]
        frames = frames_of(records, places, grid.cell_of.size)
        if frames:
            frames.insert(0, (frames[0][1][:0], frames[0][1][:0]))
        if signs is not None:
            frames.append(_last_frame(frames, signs))
        if sum(len(came) + len(went) for came, went in frames) <= MOST_CHANGES or most <= 2:
            return steps, places, grid.moves(frames, signs)
        most //= 2


def _last_frame(frames: Sequence[Frame], signs: np.ndarray) -> Frame:
    """Return what changes from the last step to the model."""
    inside = np.zeros(signs.size, dtype=bool)
    for came, went in frames:
        inside[came], inside[went] = True, False
    return np.flatnonzero((signs != 0) & ~inside), np.flatnonzero((signs == 0) & inside)


def frames_of(records: Sequence[Progress], steps: Sequence[int], n_features: int) -> list[Frame]:
    """Return who came and who went from each of these steps to the next."""
    inside = np.zeros(n_features, dtype=bool)
    frames = []
    for begin, end in pairwise([0, *steps]):
        part = records[begin:end]
        moved = np.unique(np.concatenate([r.entered for r in part] + [r.left for r in part]))
        moved = moved.astype(np.int64)
        before = inside[moved]
        for record in part:
            inside[record.entered], inside[record.left] = True, False
        after = inside[moved]
        frames.append((moved[after & ~before], moved[before & ~after]))
    return frames
