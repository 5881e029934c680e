"""Fits to columns that are not in memory: on those that may matter, checked against all others."""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from hipad.dask_design import design_of
from hipad.data.column_store import ColumnSource
from hipad.data.table import column_statistics
from hipad.designs import make_design
from hipad.estimator.fit import Classifier, FitRun
from hipad.estimator.problem_factory import (
    FEW_TO_ASK,
    TrainingData,
    is_damping_better,
    row_sums,
    signs_alone,
    signs_of_classes,
)
from hipad.estimator.settings import SelectionSettings
from hipad.estimator.trust import Member
from hipad.exceptions import DataError
from hipad.rules import FeatureIndex
from hipad.solvers import Progress
from hipad.solvers.exact import least_gradient
from hipad.solvers.solution import StepwiseSolver
from hipad.streamed_design import BlockDesign, Found, Scaling, Stopped, Strongest, filled
from hipad.utils import FloatArray, IntArray, number, some

# --------------------------------------------------------------------------------------------------
# A few columns stand for all of them.
#
#     1. a first look at all columns tells how they are scaled (1 to 5 passes)
#     2. the columns of the largest gradient at zero weights, as many as the memory holds, and those
#        that rules name, come into memory (1 pass)
#     3. the fit, as of any table, on these columns
#     4. one pass asks whether any other column would have had a say: whether its gradient exceeds
#        lambda1 at the duals of the fit, or of a model on a path or in a fold
#     5. where there are such columns they join, and 3 follows; else the fit is that to all columns
#
# A column whose gradient is within lambda1 has no weight at the optimum. So where 4 finds none, the
# optimum over the few is the optimum over all, and so is its certificate.


SHARE_OF_COLUMNS: Final = 1 / 12  # of the memory, for the columns that stand for all
LEAST_COLUMNS: Final = 2000
MOST_TIMES: Final = 2  # with those that join later they may take so many times as much
MOST_ROUNDS: Final = 12
AT_ONCE: Final = 1024  # columns that are brought into memory
ALWAYS: Final = np.array([np.inf])
TINY: Final = 1e-300
CLEAR: Final = 1e-9  # a gradient may exceed lambda1 by this fraction: rounding


class ScreenedRows(NamedTuple):
    """The rows of a fit: where they stand in the source, and what is known of them.

    `y` and `p` are those of the labelled rows, as `TrainingData` has them.
    """

    labelled: IntArray
    unlabelled: IntArray
    y: FloatArray
    weights: FloatArray
    p: FloatArray
    groups: IntArray | None = None

    @property
    def every(self) -> IntArray:
        """Labelled rows, then the others."""
        return np.r_[self.labelled, self.unlabelled]

    @property
    def counts(self) -> FloatArray:
        """For how many rows each of them counts in means and deviations."""
        return np.r_[self.weights, np.ones(self.unlabelled.size)]


class Screening:
    """All columns of a source as one fit needs them, and those of them that are in memory."""

    def __init__(
        self,
        source: ColumnSource,
        rows: ScreenedRows,
        *,
        standardize: bool,
        settings: SelectionSettings,
        on_block: Callable[[float], None] | None = None,
    ) -> None:
        self.source, self.rows, self.settings = source, rows, settings
        every = rows.every
        ordered = np.array_equal(every, np.arange(source.shape[0]))
        own = source if ordered else source.select(every)
        scaling = Scaling(rows.counts) if standardize else None
        self.on_block = on_block  # called with the number of passes so far
        self.design: BlockDesign = design_of(own, scaling, self._passed)
        self.mean_variance, self.least_lambda1 = 1.0, 0.0
        self.columns: IntArray = np.zeros(0, dtype=np.intp)
        self.values: FloatArray = np.zeros((every.size, 0))
        capacity = SHARE_OF_COLUMNS * source.memory / (8 * max(every.size, 1))
        self.most = min(max(int(capacity), LEAST_COLUMNS), source.shape[1])

    def _passed(self, passes: float) -> None:
        if self.on_block is not None:
            self.on_block(passes)

    @property
    def holds_all(self) -> bool:
        """Whether all columns are in memory."""
        return self.columns.size == self.source.shape[1]

    def look(self) -> None:
        """Choose the scaling of the columns."""
        rows, design, n = self.rows, self.design, self.rows.labelled.size
        if design.scaling is None:
            self.mean_variance = design.look(rows.counts, gram=False)[1]
            return
        together = not rows.unlabelled.size and n <= min(FEW_TO_ASK, self.settings.damping_rows)
        variation, self.mean_variance = design.look(rows.counts, gram=together)
        if np.isnan(variation).all():
            return
        damped = design.damped(float(np.nanmedian(variation)), variation)

        def grams(some: np.ndarray) -> list[FloatArray]:
            return [(one if together else one.rows(some)).gram() for one in (design, damped)]

        signs, settings = signs_of_classes(rows.y), self.settings
        if is_damping_better(self.labelled, signs, rows.weights, grams, settings):
            self.design = damped

    @property
    def labelled(self) -> BlockDesign:
        """The labelled rows with all columns."""
        if not self.rows.unlabelled.size:
            return self.design
        return self.design.rows(slice(self.rows.labelled.size))

    def begin(self, named: IntArray) -> None:
        """Bring the columns that rules name into memory, and those of the largest gradients."""
        m = self.source.shape[1]
        if self.most >= m:
            self.add(np.arange(m))
            return
        if named.size > MOST_TIMES * self.most:
            raise DataError(NAMED.format(MOST_TIMES * self.most, named.size))
        signs = signs_of_classes(self.rows.y)
        t = np.zeros((self.rows.every.size, signs.shape[1]))
        t[: signs.shape[0]] = signs * (self.rows.p[:, None] if signs.shape[1] == 1 else 1.0)
        most = max(self.most - named.size, 1)
        bounds, level = np.full(t.shape[1], TINY), np.zeros(t.shape[1], dtype=np.intp)
        found = self.design.ask(Strongest(t, bounds, most, named, level))
        self.add(np.union1d(found.columns, named).astype(np.intp))

    def add(self, columns: IntArray) -> None:
        """Bring further columns into memory, those of each in their order."""
        every = np.union1d(self.columns, columns)
        values = np.empty((self.values.shape[0], every.size), order="F")
        values[:, np.searchsorted(every, self.columns)] = self.values
        self.columns, self.values = every, values
        for start in range(0, columns.size, AT_ONCE):
            part = columns[start : start + AT_ONCE]
            values[:, np.searchsorted(every, part)] = filled(self.design.raw_columns(part))

    def data(self, original: Any) -> TrainingData:
        """The data of a fit on the columns in memory."""
        rows, n = self.rows, self.rows.labelled.size
        X, scaling = self.values[:n], self.design.scaling
        if scaling is None:
            design = make_design(X)
        else:
            stats = column_statistics(self.values, scaling.weights)
            design = make_design(X, mean=stats.mean, scale=scaling.of(stats))
        return TrainingData(
            X=X,
            y=rows.y,
            weights=rows.weights,
            p=rows.p,
            design=design,
            source=original,
            row_sums=row_sums(self.values),
            unlabelled=self.values[n:] if rows.unlabelled.size else None,
            groups=rows.groups,
            selection=self.settings,
            whole=self.labelled,
            mean_variance=self.mean_variance,
            least_lambda1=self.least_lambda1,
        )

    @property
    def capacity(self) -> int:
        """How many columns more memory holds."""
        return max(MOST_TIMES * self.most - self.columns.size, 0)

    def overlooked(self, runs: Sequence[FitRun[Any]]) -> Overlooked:
        """The columns outside that have a say in these runs: one pass."""
        members = [(run, member) for run in runs for _, member in run._used()]
        witnesses = [one for run, member in members for one in self._of_fit(run, member)]
        for run in runs:
            for member in run.members:
                witnesses += self._of_path(member)
        values = np.unique(np.concatenate([[np.inf], *(one.value for one in witnesses)]))[::-1]
        most = self.capacity + 1
        questions = [
            Strongest(
                one.t,
                one.bounds,
                most,
                self.columns,
                np.searchsorted(-values, -one.value),
                one.shares,
                one.group,
            )
            for one in joined_witnesses(witnesses)
        ]
        found = self.design.ask(Several(tuple(questions)))
        every = Found.joined(found)
        order = np.lexsort((every.level, every.columns))
        first = np.unique(every.columns[order], return_index=True)[1]
        once = every.at(order[first]).kept(most)
        return Overlooked(once.columns, values[once.level])

    def _of_fit(self, run: FitRun[Any], member: Member) -> Iterator[Witness]:
        """The duals of a member's fit, and those that tell the largest lambda1."""
        data = member.factory.data
        if member.hipad is not None and member.among is None:
            at = member.hipad.selected or member.hipad.present()
            lambda1 = member.hipad.problem.lambda1
            bound = np.array([lambda1])
            value = bound if isinstance(run.plan.lambda1, str) else ALWAYS
            yield self._witness(data, at.alpha[: data.y.size, None], bound, value)
        if member.choice.results and not data.n_inferred:
            plan = run.plan
            factors = signs_alone(plan.known)
            problem = data.problem((), 0.0, 1.0, plan.scope, factors, plan.loss)
            largest, alpha = least_gradient(problem)
            if largest > 0:
                yield self._witness(data, alpha[: data.y.size, None], np.array([largest]), ALWAYS)

    def _of_path(self, member: Member) -> Iterator[Witness]:
        """The duals of all models of the paths of a member."""
        data, choice = member.factory.data, member.choice
        if not choice.duals:
            return
        alpha = np.hstack([duals for _, duals in choice.duals])
        bounds = np.concatenate([np.full(d.shape[1], value) for value, d in choice.duals])
        if data.design.scale is None:
            yield self._witness(data, alpha, bounds, bounds)
            return
        count = len(choice.training)
        shares = np.zeros((data.y.size, count + 1))
        for k, rows in enumerate([*choice.training, np.arange(data.y.size)]):
            shares[rows, k] = data.weights[rows] / data.weights[rows].sum()
        group = np.tile(np.arange(count), alpha.shape[1] // count)
        yield self._witness(data, alpha, bounds, bounds, shares, group)

    def _witness(
        self,
        data: TrainingData,
        alpha: FloatArray,
        bounds: FloatArray,
        value: FloatArray,
        shares: FloatArray | None = None,
        group: IntArray | None = None,
    ) -> Witness:
        n, n_all = data.n_labelled, self.rows.every.size
        rows = np.arange(n) if data.inferred is None else np.r_[np.arange(n), n + data.inferred]

        def spread(values: FloatArray) -> FloatArray:
            out = np.zeros((n_all, values.shape[1]))
            out[rows] = values
            return out

        shares = None if shares is None else spread(shares)
        t = spread(data.y[:, None] * alpha)
        return Witness(t, bounds * (1 + CLEAR), value, shares, group)


class Overlooked(NamedTuple):
    """Columns that have a say, and the largest lambda1 at which each has."""

    columns: IntArray
    lambda1: FloatArray

    def down_to(self, lambda1: float) -> IntArray:
        """Those that have a say at this lambda1 or above."""
        return self.columns[self.lambda1 >= lambda1]

    def least(self, capacity: int) -> float:
        """The least lambda1 down to which there is room for all of them."""
        if self.columns.size <= capacity:
            return 0.0
        ordered = np.sort(self.lambda1)[::-1]
        return float(np.nextafter(ordered[capacity], np.inf))


class Witness(NamedTuple):
    """Duals of models, signed by the labels of the rows, and what no gradient may exceed there.

    `value` is the lambda1 of each; infinite where it cannot be left out. `shares` are the weights
    of the rows that each group of models sees, one column a group, with those of all rows last;
    `group` says of which each model is. Unscaled data have none.
    """

    t: FloatArray
    bounds: FloatArray
    value: FloatArray
    shares: FloatArray | None = None
    group: IntArray | None = None


def joined_witnesses(all_of_them: Sequence[Witness]) -> Iterator[Witness]:
    """Witnesses without groups as one; others as they are, as rows of each count differently."""
    plain = [one for one in all_of_them if one.shares is None]
    if plain:
        t = np.hstack([one.t for one in plain])
        bounds, value = (np.concatenate([one[k] for one in plain]) for k in (1, 2))
        yield Witness(t, bounds, value)
    yield from (one for one in all_of_them if one.shares is not None)


@dataclass(frozen=True)
class Several:
    """Questions that are answered in one pass."""

    questions: tuple[Strongest, ...]

    def of(self, block: Any) -> list[Any]:
        return [question.of(block) for question in self.questions]

    def merge(self, one: list[Any], other: list[Any]) -> list[Any]:
        pairs = zip(self.questions, one, other, strict=True)
        return [question.merge(first, second) for question, first, second in pairs]


# --------------------------------------------------------------------------------------------------
# The columns that rules and blocks name, found among names that may be millions.


_QUOTED = r"\"([^\"]+)\"|'([^']+)'|`([^`]+)`"
_WORD = re.compile(_QUOTED + r"|([^\s()\[\],;<>=!+*/^\"'`]+)")
_PART = re.compile(_QUOTED + r"|([^\s()\[\],;<>=!+*/^\"'`:]+)|(:)")  # of ranges such as g1:g4


def named_columns(
    source: ColumnSource, rules: Any, blocks: Mapping[str, Any] | None
) -> tuple[IntArray, dict[str, IntArray]]:
    """Return the columns that rules and blocks may mean, and those of each block.

    The rules are looked through for words that are names of columns; which of them a rule means, is
    settled when it is compiled.
    """
    text = rules if isinstance(rules, str) else "\n".join(map(str, rules or ()))
    words = {next(filter(None, found)) for found in _WORD.findall(text)}
    words |= {word.strip(".:") for word in words}
    own = {str(name): _members(source, str(name), each) for name, each in (blocks or {}).items()}
    columns = [source.find_names(words), *_spans(source, text), *own.values()]
    return np.unique(np.concatenate(columns)).astype(np.intp), own


def _spans(source: ColumnSource, text: str) -> list[IntArray]:
    """All columns of what may be ranges in rules: they are neighbours here only if all are there.

    >>> from hipad.data.column_store import as_source
    >>> _spans(as_source(np.zeros((1, 9))), "mean(x2:x4) >= 1 => positive")
    [array([2, 3, 4])]
    """
    parts = [found.group(found.lastindex or 0) for found in _PART.finditer(text)]
    triples = zip(parts, parts[1:], parts[2:], strict=False)
    ends = [(first, last) for first, colon, last in triples if colon == ":"]
    if not ends:
        return []
    found = source.find_names({name for pair in ends for name in pair})
    names = (name.casefold() for name in source.names_of(found))
    place = dict(zip(names, found.tolist(), strict=True))
    pairs = ((place.get(first.casefold()), place.get(last.casefold())) for first, last in ends)
    return [
        np.arange(first, last + 1)
        for first, last in pairs
        if first is not None and last is not None and first <= last
    ]


def _members(source: ColumnSource, block: str, members: Any) -> IntArray:
    items = members if isinstance(members, np.ndarray) else list(members)
    if len(items) and all(isinstance(item, str) for item in items):
        found = source.find_names(items)
        exact = dict(zip(source.names_of(found), found.tolist(), strict=True))
        lost = [item for item in items if item not in exact]
        if lost:
            raise DataError(
                f"expected names of columns in block {block!r}, got {lost[0]!r}: check the name "
                "(patterns are for tables in memory)"
            )
        return np.array(sorted({exact[item] for item in items}), dtype=np.intp)
    columns = np.asarray(items)
    if columns.dtype.kind == "b" and columns.shape == (source.shape[1],):
        return np.flatnonzero(columns)
    whole = columns.dtype.kind in "iu" and columns.ndim == 1
    if not whole or (columns.size and not 0 <= columns.min() <= columns.max() < source.shape[1]):
        raise DataError(
            f"expected names or numbers of columns from 0 to {source.shape[1] - 1:,} in block "
            f"{block!r}: correct it"
        )
    return np.unique(columns).astype(np.intp)


def columns_of_model(clf: Any, source: ColumnSource) -> IntArray:
    """Return the columns of a source that a model's features are: by name, or by place."""
    kept, m = clf.support_, clf.n_features_in_
    names = None if "on_columns_" in vars(clf) else clf.feature_index_.names
    if names is None or not source.has_names:
        if source.shape[1] != m:
            raise DataError(
                f"expected the {m:,} columns that the model was fitted to, got "
                f"{source.shape[1]:,}: give a file of the same columns"
            )
        return np.asarray(kept)
    wanted = [names[j] for j in kept.tolist()]
    found = source.find_names(wanted)
    known = dict(zip(source.names_of(found), found.tolist(), strict=True))
    lost = [name for name in wanted if name not in known]
    if lost:
        raise DataError(
            f"expected columns called {some(lost)}, which the model uses: give a file that has them"
        )
    return np.array([known[name] for name in wanted], dtype=np.intp)


class SourceNames(FeatureIndex):
    """The names of the columns of a source, read when they are asked for."""

    def __init__(self, source: ColumnSource) -> None:
        super().__init__(n_features=source.shape[1])
        self._source = source

    def name(self, position: int) -> str:
        return self._source.names_of([position])[0]

    def position(self, name: str) -> int | None:
        found = self._source.find_names([name])
        names = self._source.names_of(found)
        return next((int(j) for j, own in zip(found, names, strict=True) if own == name), None)


# --------------------------------------------------------------------------------------------------
# The run: rounds of fits on more and more columns, until no other one has a say.


class ScreenedRun(FitRun[Classifier]):
    """What `HIPADClassifier.fit_iter` returns for columns that are not in memory.

    `begin` makes the run of a fit on the columns in memory; `small` is the present one. What else a
    run can be asked is answered by it.
    """

    def __init__(
        self,
        screening: Screening,
        named: IntArray,
        begin: Callable[[Screening], FitRun[Any]],
        take: Callable[[FitRun[Classifier]], Classifier],
    ) -> None:
        self.screening = screening
        self.small: FitRun[Any] | None = None
        self.rounds, self._complete = 0, False
        self._named, self._begin, self._outcome = named, begin, take
        StepwiseSolver.__init__(self)

    def __getattr__(self, name: str) -> Any:
        small = vars(self).get("small")
        if name.startswith("__") or small is None:
            raise AttributeError(name)
        return getattr(small, name)

    @property
    def finished(self) -> bool:
        """Whether the fit went to its end, and no column was overlooked."""
        return self.small is not None and self.small.finished and self._complete

    @property
    def passes(self) -> float:
        """How often the data were read so far."""
        return self.screening.design.passes

    def stop(self) -> None:
        """End the run at the next block or step."""
        super().stop()
        self.screening.design.stop.set()
        if self.small is not None:
            self.small.stop()

    @property
    def _largest_tried(self) -> float:
        """The largest lambda1 that a choice may fall back to; none where it is given."""
        if self.small is None or not isinstance(self.small.plan.lambda1, str):
            return TINY
        return max((point.lambda1 for point in self.small.path), default=TINY)

    def finish(self) -> Classifier:
        """The classifier with the model so far."""
        if self.small is None:
            raise Stopped("stopped before the first model: fit again to go on")
        return super().finish()

    def _generate(self) -> Iterator[Progress]:
        try:
            self.screening.look()
            self.screening.begin(self._named)
            yield from self._rounds()
        except Stopped:
            return
        finally:
            self.screening.design.close()

    def _rounds(self) -> Iterator[Progress]:
        screening = self.screening
        for self.rounds in range(1, MOST_ROUNDS + 1):
            with warnings.catch_warnings():
                if self.rounds > 1:
                    warnings.simplefilter("ignore")  # it was said before
                small = self._begin(screening)
            self.small = small
            yield from small
            if screening.holds_all or not small.finished:
                break
            runs = list(vars(small)["runs"].values()) if "runs" in vars(small) else [small]
            for run in runs:
                for _, member in run._used():
                    member.fresh_scores()  # risks are learnt now: the columns are at hand
            new = screening.overlooked(runs)
            if not new.columns.size:
                break
            least = new.least(screening.capacity)
            if least >= self._largest_tried:
                raise DataError(TOO_MANY.format(screening.columns.size))
            screening.least_lambda1 = max(screening.least_lambda1, least)
            del runs, small  # and what they hold of the columns
            self.small = None
            gc.collect()  # runs and their parts know each other
            screening.add(new.down_to(least))
        if screening.least_lambda1:
            said = NOT_ALL.format(number(screening.least_lambda1))
            warnings.warn(said, UserWarning, stacklevel=2)
        self._complete = True


TOO_MANY: Final = (
    "expected a model that draws on fewer columns than memory holds, got more than {:,}: raise "
    "lambda1, or allow more memory"
)
NAMED: Final = (
    "expected rules and blocks that name at most {:,} columns, which is what memory holds, got "
    "{:,}: name fewer, or allow more memory"
)
NOT_ALL: Final = (
    "lambda1 was chosen among values of {} and more: models at smaller ones draw on more columns "
    "than memory holds; allow more memory to compare them too"
)
