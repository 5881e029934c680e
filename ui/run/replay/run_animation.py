"""The story of a run: its steps as frames that a browser can play."""

from __future__ import annotations
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
import numpy as np
from hipad.solvers import Progress
from ui.jobs import thinned
from itertools import pairwise
from hipad.utils import count
from ui.jobs import Job
from ui.models import Harm, TrainedModel
from ui.run.replay.mosaic import MOST_CHANGES, Frame, Mosaic, Moves
from ui.run.replay.story import Line, LineChart, Story
from ui.run.tracks import PHASES, Track, shared
from ui.words import one_line

# --------------------------------------------------------------------------------------------------
# The steps of a run as charts count them.


PHASES: Final = {
    0: "choosing how few",
    1: "phase 1: find the features",
    2: "phase 2: fit them accurately",
}


@dataclass(frozen=True)
class Track:
    """The records of phases 1 and 2, numbered from one, and where the second begins."""

    records: list[Progress]
    steps: list[int]
    switch: float | None

    @classmethod
    def of(cls, history: Sequence[Progress], most: int = 500) -> Track:
        """The part of a history that charts show, thinned."""
        all_records = [record for record in history if record.phase > 0]
        number_of = {id(record): n for n, record in enumerate(all_records, start=1)}
        records = thinned(all_records, most)
        later = [n for n, record in enumerate(all_records, start=1) if record.phase == 2]
        switch = later[0] - 0.5 if later and later[0] > 1 else None
        return cls(records, [number_of[id(record)] for record in records], switch)

    def values(self, name: str) -> list[float]:
        return [float(getattr(record, name)) for record in self.records]


def shared(record: Progress) -> float:
    """Loss, rules and size of the weights: what both phases make small."""
    return record.objective if np.isnan(record.shared) else record.shared


# --------------------------------------------------------------------------------------------------
# The story of a run: its steps as frames that a browser can play.


MOST_FRAMES: Final = 400
MOST_RULES: Final = 6  # lines of the rules' chart
MOST_TRUSTED: Final = 3  # rules whose trust is told one by one
PURPLE, GREY = 3, -1
RULE_COLOURS: Final = (GREY, 4, 2, PURPLE, 5)  # none of a class: a rule's line says how far it is


def story_of(
    job: Job[TrainedModel] | None, mosaic: Mosaic, *, title: str, expert: bool = False
) -> Story:
    """What a job has done so far; without a job, all features before the first step."""
    history = job.history[:] if job is not None else []
    model = job.outcome if job is not None and not job.is_active else None
    signs = None if model is None else np.sign(model.weights)
    track, moves = told_steps(history, mosaic, signs)
    n_steps = sum(record.phase > 0 for record in history)
    live = job is not None and job.is_active
    of = "" if live else f" of {n_steps:,}"
    names = counted_rules(job, model)
    left_out = n_steps - len(track.records)
    return Story(
        title=title,
        axis="step",
        places=track.steps,
        words=[words_of(n, of, r) for n, r in zip(track.steps, track.records, strict=True)],
        charts=charts_of(track, names, expert),
        mosaic=mosaic,
        moves=moves,
        headline="" if model is None else headline(model),
        aside="" if model is None else aside(model),
        alarm="" if model is None or model.harm is None else harm_words(model.harm),
        state=state_of(job, history),
        live=live,
        marks=[] if track.switch is None else [(track.switch, "phase 2")],
        note=" ".join(
            [
                *([f"{len(track.records):,} of {n_steps:,} steps are shown."] if left_out else []),
                *([] if model is None else [averaged_words(model)]),
            ]
        ).strip(),
    )


def counted_rules(job: Job[TrainedModel] | None, model: TrainedModel | None) -> Sequence[str]:
    """The rules whose slack the run tells: of an average, those of its most probable candidate."""
    if job is None:
        return ()
    if model is not None:
        return [one.label for one in model.classifier.rule_report_ if one.slack is not None]
    told = next((len(one.rule_slacks) for one in reversed(job.history) if one.phase > 0), 0)
    return job.rule_names if told == len(job.rule_names) else ()


def averaged_words(model: TrainedModel) -> str:
    """That the steps are those of one candidate among several."""
    used = [member for member in model.classifier.members_ if member.share > 0]
    if len(used) < 2:
        return ""
    n = count(len(model.support), "feature")
    return f"Shown: the most probable of {len(used)} candidates; their average has {n}."


def words_of(n: int, of: str, record: Progress) -> str:
    """What a frame of a run is called."""
    return f"Step {n:,}{of}, {PHASES[record.phase]}"


def state_of(job: Job[TrainedModel] | None, history: Sequence[Progress]) -> str:
    """What the run is doing, in a line."""
    if job is None:
        return "Not run yet"
    tried = sum(record.phase == 0 for record in history)
    if job.is_active and tried == len(history):
        return f"Choosing how few features: {tried} tried" if tried else f"{job.status}"
    return f"{job.status}"


def headline(model: TrainedModel) -> str:
    """The result in a line."""
    right = model.judgement.accuracy
    if right.patients is not None:
        return f"{right.k:,} of {right.whom} ({model.judgement.part}) right"
    return f"{right.k:,} of {right.n:,} {model.judgement.part} patients right"


def aside(model: TrainedModel) -> str:
    """What the rules are worth, where that is known."""
    alone = model.without_rules
    told = "" if alone is None else f"; without the rules {alone.accuracy.k:,}"
    return told + short_trust(model)


def short_trust(model: TrainedModel) -> str:
    """How far the rules are trusted, in a few words; many are told by their range."""
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


def harm_words(harm: Harm) -> str:
    """That the rules do harm, and which of them is the likely cause."""
    words = (
        f"The rules do harm: {harm.right.k:,} of {harm.right.n:,} test patients right, "
        f"without the rules {harm.without.k:,}."
    )
    if harm.learnt is not None and harm.learnt.k > harm.right.k:
        words += (
            f" The weight that is set may be too large: let it be learnt; then {harm.learnt.k:,} "
            "are right."
        )
    elif harm.learnt is not None:
        words += " The weight that is set may be too large, but a learnt one does no better."
    if harm.restored is None:
        return f"{words} No single rule explains it: several may be wrong."
    return (
        f"{words} This rule may be the cause: {harm.cause}; without it {harm.restored.k:,} are "
        "right."
    )


def charts_of(track: Track, rule_names: Sequence[str], expert: bool) -> tuple[LineChart, ...]:
    """Objective, number of features, and how far the rules are from holding."""
    records = track.records
    charts = [
        LineChart("Objective (lower is better)", (Line("", [*map(shared, records)], PURPLE),)),
        LineChart(
            "Features in the model",
            (Line("", track.values("support_size"), 2),),
            from_zero=True,
            whole=True,
        ),
    ]
    rules = [
        Line(
            name,
            [slack_of(record, which) for record in records],
            RULE_COLOURS[which % len(RULE_COLOURS)],
            dashed=which % 2 == 1,
        )
        for which, name in enumerate(rule_names[:MOST_RULES])
    ]
    if rules:
        charts.append(
            LineChart(
                "How far each rule is from holding (0: it holds)", tuple(rules), from_zero=True
            )
        )
    if expert:
        residuals = (
            Line("primal", track.values("primal_residual"), PURPLE),
            Line("dual", track.values("dual_residual"), GREY, dashed=True),
        )
        charts.append(LineChart("Residuals", residuals, logarithmic=True))
    return tuple(charts)


def slack_of(record: Progress, which: int) -> float:
    slacks = record.rule_slacks
    return max(float(slacks[which]), 0.0) if which < len(slacks) else float("nan")


def told_steps(
    history: Sequence[Progress], mosaic: Mosaic, signs: np.ndarray | None
) -> tuple[Track, Moves]:
    """The steps to show, and what changes at each: fewer of them where features are restless."""
    most = MOST_FRAMES
    while True:
        track = Track.of(history, most)
        frames = frames_of(history, track.steps, mosaic.cell_of.size)
        if sum(len(came) + len(went) for came, went in frames) <= MOST_CHANGES or most <= 2:
            return track, mosaic.moves(frames, signs)
        most //= 2


def frames_of(history: Sequence[Progress], steps: Sequence[int], n_features: int) -> list[Frame]:
    """Who came and who went from each of these steps to the next."""
    records = [record for record in history if record.phase > 0]
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
