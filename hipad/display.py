"""Pictures of a fit in the style of scikit-learn's displays; they need `hipad[plots]`.

    PathDisplay.from_estimator(clf)             values of lambda1 and lambda2 that were tried
    RuleReportDisplay.from_estimator(clf)       what each rule says of the rows, and its trust
    ConvergenceDisplay.from_estimator(clf)      objective and number of features, step by step
    LearningCurveDisplay.from_estimator(clf, X, y)    with rules and without, by labelled rows
    StabilityDisplay.from_estimator(clf)        how often refits to halves select each feature

A display holds the numbers that it draws as arrays; `plot` draws them again, on other axes or with
other options. `ax_` and `figure_` are those of the last drawing. The app draws the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hipad.estimator.path import PathPoint
from hipad.evaluation.stability import N_REFITS, Stability, stability
from hipad.exceptions import DataError
from hipad.experiments.methods import ExperimentData
from hipad.experiments.runner import Done, ResultsCache, failed_arms, perform
from hipad.experiments.sensitivity import Curve, Worth, curve_tasks, curves, worth_of_rules
from hipad.rules import RuleRecord
from hipad.rules.names import as_index, resolve_blocks
from hipad.solvers.solution import Progress
from hipad.utils import FloatArray, IntArray, count, number, percent, require

__all__ = [
    "ConvergenceDisplay",
    "LearningCurveDisplay",
    "PathDisplay",
    "RuleReportDisplay",
    "StabilityDisplay",
]

# As in the app, after Okabe and Ito: the negative class, the positive class, the model, groups.
NEGATIVE, POSITIVE, MODEL, *GROUPS = (
    "#0072b2", "#d55e00", "#008a64", "#bd5f95", "#a87900", "#6a51a3", "#3f8f9b",
)  # fmt: skip
GREY: Final = "#5d6b73"
PAINTED: Final = {"HIPAD": MODEL, "no rules": GREY}
CALLED: Final = {"HIPAD": "with rules", "no rules": "without rules"}
CURVES: Final = tuple(CALLED)
LONGEST: Final = 40  # characters of a name beside an axis
ABOVE: Final = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2, "frameon": False}


class Drawn:
    """The axes and the figure of the last drawing."""

    ax_: Any
    figure_: Any

    def _begin(self, ax: Any, *, height: float = 4.0, width: float = 6.4) -> Any:
        """The axes to draw on, new ones where none are given."""
        require(["matplotlib"], "a picture", extra="plots")
        import matplotlib.pyplot as plt  # here, as fitting does without it

        if ax is None:
            _, ax = plt.subplots(figsize=(width, height), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        return ax


def shortened(name: str) -> str:
    """A name as it fits beside an axis, `$` taken as itself.

    >>> shortened("cost in $")
    'cost in \\\\$'
    """
    cut = name if len(name) <= LONGEST else name[: LONGEST - 3] + "..."
    return cut.replace("$", r"\$")


def model_of(clf: Any, label: Any) -> Any:
    """The fitted model of two classes: `clf` itself, or of several classes the one of `label`."""
    check_is_fitted(clf)
    models = vars(clf).get("class_models_")
    if models is None:
        return clf
    if label not in models:
        named = ", ".join(map(repr, models))
        raise DataError(f"expected label to be one of the classes {named}, got {label!r}: name one")
    return models[label]


# --------------------------------------------------------------------------------------------------


class PathDisplay(Drawn):
    """The values of lambda1 and lambda2 that were tried, by their loss on held-out rows.

    There is a line for each lambda2. A bar is one standard error of the distance to the least loss.

    Parameters
    ----------
    points : sequence of PathPoint
        `path_` of a classifier, or that of one of its classes.

    Attributes
    ----------
    lambda1, lambda2, loss, error : ndarray of shape (n_points,)
        Each pair, its mean loss on held-out rows, and the standard error of its distance to the
        least loss.
    support_size : ndarray of shape (n_points,)
        Number of features of the model on all rows.
    chosen : int or None
        The position of the pair that was taken.
    lines_ : list of ErrorbarContainer
        One for each lambda2, from the largest on.
    ax_, figure_ : Axes and Figure
        Those of the last drawing.

    See Also
    --------
    ConvergenceDisplay : One fit, step by step.

    Examples
    --------
    >>> from hipad import HIPADClassifier, load_sample
    >>> from hipad.display import PathDisplay
    >>> sample = load_sample("pima")
    >>> clf = HIPADClassifier(lambda2="auto").fit(sample.X[:60], sample.y[:60])
    >>> display = PathDisplay.from_estimator(clf)
    >>> bool(display.lambda1[display.chosen] == clf.lambda1_)
    True
    """

    def __init__(self, points: Sequence[PathPoint]) -> None:
        if not points:
            raise DataError(
                "expected values of lambda1 that were tried, got none: fit with lambda1='auto'"
            )
        self.lambda1, self.lambda2, self.loss, self.error = (
            np.array([getattr(point, name) for point in points], dtype=float)
            for name in ("lambda1", "lambda2", "loss", "error")
        )
        self.support_size = np.array([point.support_size for point in points])
        marks = {
            name: [i for i, point in enumerate(points) if getattr(point, name)]
            for name in ("chosen", "best", "sparsest")
        }
        self.chosen, self.best, self.sparsest = (
            at[0] if at else None for at in (marks[m] for m in ("chosen", "best", "sparsest"))
        )

    @classmethod
    def from_estimator(
        cls, clf: Any, *, label: Any = None, ax: Any = None, x: str = "lambda1"
    ) -> Self:
        """Draw the path of a fitted classifier.

        Parameters
        ----------
        clf : HIPADClassifier
            Fitted with `lambda1="auto"` or `"sparse"`.
        label : label, default=None
            Of several classes, whose model.
        ax : Axes, default=None
            Where to draw; None makes a figure.
        x : {"lambda1", "features"}, default="lambda1"
            What stands along the axis.

        Returns
        -------
        PathDisplay
            Drawn.
        """
        return cls(model_of(clf, label).path_).plot(ax, x=x)

    def plot(self, ax: Any = None, *, x: str = "lambda1") -> Self:
        """Draw the path.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a figure.
        x : {"lambda1", "features"}, default="lambda1"
            What stands along the axis.

        Returns
        -------
        PathDisplay
            Itself.
        """
        if x not in ("lambda1", "features"):
            raise DataError(f"expected x to be 'lambda1' or 'features', got {x!r}: choose one")
        ax = self._begin(ax)
        along = self.lambda1 if x == "lambda1" else self.support_size
        self.lines_ = []
        for k, value in enumerate(np.unique(self.lambda2)[::-1]):
            own = np.flatnonzero(self.lambda2 == value)
            own = own[np.argsort(self.lambda1[own], kind="stable")]
            self.lines_.append(
                ax.errorbar(
                    along[own], self.loss[own], self.error[own], marker="o", markersize=4,
                    capsize=2, color=[NEGATIVE, MODEL, POSITIVE, *GROUPS][k % 7],
                    label=f"lambda2 = {number(float(value), 3)}",
                )
            )  # fmt: skip
        for name, at, style in (
            ("chosen", self.chosen, {"marker": "*", "s": 160, "color": "black"}),
            (
                "sparsest within one standard error",
                self.sparsest,
                {"marker": "s", "s": 90, "facecolors": "none", "edgecolors": "black"},
            ),
        ):
            if at is not None:
                ax.scatter(along[at], self.loss[at], zorder=5, label=name, **style)
        if x == "lambda1":
            ax.set_xscale("log")
            ax.invert_xaxis()
        elif along.min() > 0:
            ax.set_xscale("log")
        words = (
            "lambda1 (fewer features to the left)" if x == "lambda1" else "features in the model"
        )
        ax.set(xlabel=words, ylabel="loss on held-out rows")
        ax.legend()
        return self


# --------------------------------------------------------------------------------------------------


class RuleReportDisplay(Drawn):
    """What each rule says of the training rows, and how far the labelled rows bear it out.

    A bar counts the rows on which a rule fires, right and wrong. Beside it stand the trust in the
    rule before and after the labelled rows, where it is learnt, and what the rule does to the
    model.

    Parameters
    ----------
    records : sequence of RuleRecord
        `rule_report_` of a classifier.

    Attributes
    ----------
    labels : tuple of str
        Names of the rules.
    right, wrong : ndarray of shape (n_rules,)
        Rows on which a rule fires and is right, and is wrong.
    prior, posterior : ndarray of shape (n_rules,)
        The trust before and after the labelled rows; nan where it is not learnt.
    margin : ndarray of shape (n_rules,)
        The margin of the typical row that meets the rule; nan where none can.
    bars_ : tuple of BarContainer
        Rows that are right, rows that are wrong.
    ax_, figure_ : Axes and Figure
        Those of the last drawing.

    See Also
    --------
    LearningCurveDisplay : What all rules are worth in labelled rows.

    Examples
    --------
    >>> from hipad import HIPADClassifier
    >>> from hipad.display import RuleReportDisplay
    >>> rows, labels = [[1.0], [2.0], [3.0], [4.0]], ["well", "well", "ill", "ill"]
    >>> clf = HIPADClassifier("x0 >= 2 => ill", lambda1=0.01, rule_trust=None).fit(rows, labels)
    >>> display = RuleReportDisplay.from_estimator(clf)
    >>> display.right.tolist(), display.wrong.tolist()
    ([2], [1])
    """

    def __init__(self, records: Sequence[RuleRecord]) -> None:
        if not records:
            raise DataError("expected a report of rules, got none: fit with rules")
        self.labels = tuple(record.label for record in records)
        self.texts = tuple(record.text for record in records)
        self.right, self.wrong = (
            np.array([0 if r.train is None else len(getattr(r.train, name)) for r in records])
            for name in ("right", "wrong")
        )
        self.prior, self.posterior = (
            np.array([np.nan if r.trust is None else getattr(r.trust, name) for r in records])
            for name in ("prior", "posterior")
        )
        self.margin = np.array([
            r.prototype.margin if r.prototype is not None and r.prototype.feasible else np.nan
            for r in records
        ])  # fmt: skip
        self.effects = tuple("" if r.effect is None else r.effect.word for r in records)

    @classmethod
    def from_estimator(cls, clf: Any, *, ax: Any = None) -> Self:
        """Draw the rule report of a fitted classifier.

        Parameters
        ----------
        clf : HIPADClassifier
            Fitted with rules.
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RuleReportDisplay
            Drawn.
        """
        check_is_fitted(clf)
        return cls(clf.rule_report_).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the report.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        RuleReportDisplay
            Itself.
        """
        ax = self._begin(ax, width=8.0, height=1.4 + 0.6 * len(self.labels))
        at = np.arange(len(self.labels))
        right = ax.barh(at, self.right, color=MODEL, label="right")
        wrong = ax.barh(at, self.wrong, left=self.right, color=POSITIVE, hatch="//", label="wrong")
        self.bars_ = right, wrong
        for i in at.tolist():
            ax.annotate(
                self._said(i), (self.right[i] + self.wrong[i], i), xytext=(6, 0),
                textcoords="offset points", va="center",
            )  # fmt: skip
        most = max(int((self.right + self.wrong).max()), 1)
        ax.set(xlim=(0, 1.9 * most), xlabel="training rows on which the rule fires")
        names = [
            text if label == text else f"{label}: {text}"
            for label, text in zip(self.labels, self.texts, strict=True)
        ]
        ax.set_yticks(at, [shortened(name) for name in names])
        ax.invert_yaxis()
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(**ABOVE)
        return self

    def _said(self, i: int) -> str:
        trust = f"trust {percent(self.prior[i], 0)} to {percent(self.posterior[i], 0)}"
        return "\n".join(
            filter(None, ["" if np.isnan(self.posterior[i]) else trust, self.effects[i]])
        )


# --------------------------------------------------------------------------------------------------


class ConvergenceDisplay(Drawn):
    """The objective above its last value and the number of features, step by step.

    The steps of phase 1 and of phase 2 have a colour each. Each phase has an objective of its own
    (phase 1 has the l1 term, phase 2 has not), so each is measured from its own last value.

    Parameters
    ----------
    history : sequence of Progress
        `history_` of a classifier.

    Attributes
    ----------
    phase, step : ndarray of shape (n_steps,)
        The phase, 1 or 2, and the number of the step from 1 on.
    objective : ndarray of shape (n_steps,)
        The objective of the phase.
    support_size : ndarray of shape (n_steps,)
        The number of features with a weight.
    support_ax_ : Axes
        The lower axes, with the number of features; `ax_` are the upper ones.
    ax_, figure_ : Axes and Figure
        Those of the last drawing.

    See Also
    --------
    PathDisplay : The values of lambda1 and lambda2 that were tried.

    Examples
    --------
    >>> from hipad import HIPADClassifier, make_ksvm_s
    >>> from hipad.display import ConvergenceDisplay
    >>> data = make_ksvm_s("10k", seed=0)
    >>> clf = HIPADClassifier(lambda1=0.08, standardize=False, method="hipad")
    >>> display = ConvergenceDisplay.from_estimator(clf.fit(data.X_train, data.y_train))
    >>> display.phase.tolist() == sorted(display.phase), int(display.support_size[-1])
    (True, 82)
    """

    def __init__(self, history: Iterable[Progress]) -> None:
        steps = [record for record in history if record.phase > 0]
        if not steps:
            raise DataError("expected the steps of a fit, got none: fit the classifier")
        self.phase = np.array([step.phase for step in steps])
        self.step = np.arange(1, len(steps) + 1)
        self.objective = np.array([step.objective for step in steps])
        self.support_size = np.array([step.support_size for step in steps])

    @property
    def excess(self) -> FloatArray:
        """How far each objective lies above the least one of its phase, relative to its size."""
        found = np.empty_like(self.objective)
        for phase in np.unique(self.phase):
            own = self.phase == phase
            least = self.objective[own].min()
            found[own] = (self.objective[own] - least) / max(abs(least), 1e-300)
        return found

    @classmethod
    def from_estimator(cls, clf: Any, *, label: Any = None, ax: Any = None) -> Self:
        """Draw the steps of a fit.

        Parameters
        ----------
        clf : HIPADClassifier
            Fitted.
        label : label, default=None
            Of several classes, whose model.
        ax : Axes, default=None
            Where to draw, one of a figure's subplots, which is divided in two. None makes a
            figure.

        Returns
        -------
        ConvergenceDisplay
            Drawn.
        """
        return cls(model_of(clf, label).history_).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the steps.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw, one of a figure's subplots, which is divided in two. None makes a
            figure.

        Returns
        -------
        ConvergenceDisplay
            Itself.
        """
        ax = self._begin(ax, height=5.0)
        ax.set_axis_off()
        places = ax.get_subplotspec().subgridspec(2, 1, height_ratios=(3, 2))
        upper = self.figure_.add_subplot(places[0])
        lower = self.figure_.add_subplot(places[1], sharex=upper)
        self.ax_, self.support_ax_ = upper, lower
        excess, colours = self.excess, {1: NEGATIVE, 2: POSITIVE}
        floor = 10.0 ** np.floor(np.log10(max(float(excess[excess > 0].min(initial=1e-9)), 1e-16)))
        for phase in np.unique(self.phase).tolist():
            own = self.phase == phase
            style = {"color": colours.get(phase, MODEL), "marker": "o", "markersize": 4}
            upper.plot(
                self.step[own], np.maximum(excess[own], floor), label=f"phase {phase}", **style
            )
            lower.plot(self.step[own], self.support_size[own], **style)
        for border in np.flatnonzero(np.diff(self.phase)):
            for one in (upper, lower):
                one.axvline(self.step[border] + 0.5, color=GREY, linestyle=":")
        upper.set(yscale="log", ylabel="objective above\nits least, relative")
        upper.tick_params(labelbottom=False)
        upper.legend()
        lower.set(xlabel="step", ylabel="features", ylim=(0, 1.1 * max(self.support_size.max(), 1)))
        lower.xaxis.get_major_locator().set_params(integer=True)
        return self


# --------------------------------------------------------------------------------------------------


class LearningCurveDisplay(Drawn):
    """Balanced accuracy by the number of labelled rows, with rules and without.

    Parameters
    ----------
    curves : sequence of Curve
        One for each way, as `hipad.experiments.sensitivity.curves` makes them.
    worth : Worth, default=None
        What the rules are worth in labelled rows, for the title.

    Attributes
    ----------
    names : tuple of str
        What is compared.
    labelled : ndarray of shape (n_sizes,)
        Labelled rows of both classes together.
    mean, low, high : ndarray of shape (n_names, n_sizes)
        The mean figure over the draws, and its 95 % interval.
    worth : Worth or None
        What the rules are worth.
    lines_ : list of Line2D
        One for each way.
    ax_, figure_ : Axes and Figure
        Those of the last drawing.

    See Also
    --------
    RuleReportDisplay : What each rule says of the training rows.

    Examples
    --------
    >>> from hipad import HIPADClassifier, load_sample
    >>> from hipad.display import LearningCurveDisplay
    >>> sample = load_sample("pima")
    >>> names = dict(feature_names=sample.feature_names)
    >>> clf = HIPADClassifier("Glucose >= 140 => diabetic", lambda1=0.05, lambda2=1.0)
    >>> display = LearningCurveDisplay.from_estimator(
    ...     clf, sample.X, sample.y, sizes=(4, 8), draws=2, **names
    ... )
    >>> display.names, display.labelled.tolist(), display.mean.shape
    (('with rules', 'without rules'), [8, 16], (2, 2))
    """

    def __init__(self, curves: Sequence[Curve], worth: Worth | None = None) -> None:
        if not curves or len({curve.sizes for curve in curves}) > 1:
            raise DataError("expected curves of the same sizes, got none or others: finish all")
        self.methods = tuple(curve.method for curve in curves)
        self.names = tuple(CALLED.get(method, method) for method in self.methods)
        self.labelled: IntArray = 2 * np.array(curves[0].sizes)
        self.mean = np.array([[point.value for point in curve.means] for curve in curves])
        self.low, self.high = (
            np.array([[getattr(point, end) for point in curve.means] for curve in curves])
            for end in ("low", "high")
        )
        self.worth = worth

    @classmethod
    def from_estimator(
        cls,
        clf: Any,
        X: Any,
        y: Any,
        *,
        feature_names: Sequence[str] | None = None,
        groups: npt.ArrayLike | None = None,
        sizes: Sequence[int] = (4, 8, 16, 32),
        draws: int = 10,
        n_jobs: int = 1,
        ax: Any = None,
    ) -> Self:
        """Fit on draws of few labelled rows, judge on all others, and draw the means.

        Parameters
        ----------
        clf : HIPADClassifier
            With rules; it need not be fitted.
        X : array, DataFrame or sparse matrix
            One row per sample.
        y : array or list
            Labels of two classes.
        feature_names : list of str, default=None
            Names of the columns of a bare array.
        groups : array, default=None
            Rows with the same value stay together.
        sizes : sequence of int, default=(4, 8, 16, 32)
            Labelled rows of each class; those that leave too few rows to judge are passed over.
        draws : int, default=10
            How often rows are drawn for each size.
        n_jobs : int, default=1
            Processes.
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LearningCurveDisplay
            Drawn.

        Raises
        ------
        DataError
            There are no rules, or not two classes, or too few rows.
        """
        data, options = _experiment_data(clf, X, y, feature_names, groups)
        tasks = curve_tasks(data, draws=draws, sizes=sizes, methods=CURVES, options=options)
        done = list(perform(tasks, {data.name: data}, ResultsCache(), workers=n_jobs))
        return cls.from_outcomes(done, ax=ax)

    @classmethod
    def from_outcomes(cls, outcomes: Sequence[Done], *, ax: Any = None) -> Self:
        """Draw an experiment that is finished.

        Parameters
        ----------
        outcomes : sequence of Done
            What `hipad.experiments.runner.perform` gave for the tasks of a learning curve.
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LearningCurveDisplay
            Drawn.
        """
        if failed := failed_arms(outcomes):
            raise DataError(f"expected fits that all ended well, but {failed[0]}")
        found = curves(outcomes)
        both = set(CURVES) <= {curve.method for curve in found}
        return cls(found, worth_of_rules(outcomes) if both else None).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        LearningCurveDisplay
            Itself.
        """
        ax = self._begin(ax)
        self.lines_ = []
        others = iter([NEGATIVE, *GROUPS] * len(self.names))
        for k, name in enumerate(self.names):
            colour = PAINTED.get(self.methods[k]) or next(others)
            self.lines_ += ax.plot(
                self.labelled, self.mean[k], marker="o", color=colour, label=name
            )
            ax.fill_between(
                self.labelled, self.low[k], self.high[k], color=colour, alpha=0.15, linewidth=0
            )
        ax.set_xscale("log", base=2)
        ax.set_xticks(self.labelled, [f"{n:,}" for n in self.labelled.tolist()])
        ax.set(xlabel="labelled rows, both classes", ylabel="balanced accuracy")
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
        if self.worth is not None:
            first, _, rest = str(self.worth).partition(" (95 %")
            ax.set_title(f"{first}\n(95 %{rest}", fontsize="medium")
        ax.legend()
        return self


def _experiment_data(
    clf: Any, X: Any, y: Any, names: Sequence[str] | None, groups: npt.ArrayLike | None
) -> tuple[ExperimentData, dict[str, Any]]:
    """The rows of a learning curve, and the classifier's settings other than its rules."""
    given = clf.get_params(deep=False)
    rules, blocks = given.pop("rules"), given.pop("blocks")
    if not rules:
        raise DataError("expected a classifier with rules for a learning curve, got none: set them")
    if hasattr(X, "columns"):
        names, X = [str(name) for name in X.columns], X.to_numpy(dtype=float)
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=float)
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) != 2:
        raise DataError(f"expected two classes for a learning curve, got {len(classes)}")
    index = as_index(names, X.shape[1])
    data = ExperimentData(
        name="rows",
        X=X,
        y=2.0 * codes.astype(float) - 1.0,
        feature_names=tuple(index.name(j) for j in range(X.shape[1])),
        blocks=resolve_blocks(blocks, index),
        rules=rules if isinstance(rules, str) else "\n".join(map(str, rules)),
        labels=tuple(classes.tolist()),
        groups=None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1],
    )
    usual = type(clf)().get_params(deep=False)
    own = {name: value for name, value in given.items() if value is not usual[name]}
    return data, {
        name: asdict(v) if is_dataclass(v) and not isinstance(v, type) else v
        for name, v in own.items()
    }


# --------------------------------------------------------------------------------------------------


class SelectedFeature(NamedTuple):
    """A feature, the share of refits that select it, and of these the share with a weight > 0."""

    name: str
    frequency: float
    positive_share: float


class StabilityDisplay(Drawn):
    """How often refits to random halves of the rows select each feature, or how far risks move.

    Parameters
    ----------
    found : Stability
        What `hipad.evaluation.stability.stability` found.
    feature_names : sequence of str, default=None
        Names of the columns; None calls them x0, x1, ...
    classes : pair of str, default=("negative", "positive")
        What the two classes are called.
    most : int, default=15
        How many features are shown.

    Attributes
    ----------
    features : list of SelectedFeature
        Those that are selected most often.
    found : Stability
        All that was found.
    bars_ : BarContainer
        One bar a feature; there is none in a picture of risks.
    ax_, figure_ : Axes and Figure
        Those of the last drawing.

    See Also
    --------
    PathDisplay : How many features each lambda1 keeps.

    Examples
    --------
    >>> import numpy as np
    >>> from hipad import HIPADClassifier
    >>> from hipad.display import StabilityDisplay
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 5)), np.repeat([0, 1], 30)
    >>> X[30:, 0] += 2.0
    >>> clf = HIPADClassifier(lambda1=0.1, lambda2=1.0).fit(X, y)
    >>> display = StabilityDisplay.from_estimator(clf, n_refits=20)
    >>> display.features[0].name, display.features[0].frequency
    ('x0', 1.0)
    """

    def __init__(
        self,
        found: Stability,
        feature_names: Sequence[str] | None = None,
        classes: tuple[str, str] = ("negative", "positive"),
        most: int = 15,
    ) -> None:
        self.found, self.classes = found, classes
        index = as_index(feature_names, found.selected.size)
        self.features = [
            SelectedFeature(index.name(row.column), row.frequency, row.positive_share)
            for row in found.table(most)
        ]

    @classmethod
    def from_estimator(
        cls,
        clf: Any,
        *,
        n_refits: int = N_REFITS,
        decoys: bool = True,
        most: int = 15,
        random_state: int = 0,
        kind: str = "features",
        ax: Any = None,
    ) -> Self:
        """Refit a classifier to random halves of its rows, and draw what was found.

        Parameters
        ----------
        clf : HIPADClassifier
            Of two classes, fitted in this session.
        n_refits : int, default=200
            How many refits.
        decoys : bool, default=True
            Whether permuted copies of the features tell how many are selected by chance.
        most : int, default=15
            How many features are shown.
        random_state : int, default=0
            Which halves are drawn.
        kind : {"features", "risks"}, default="features"
            What is drawn.
        ax : Axes, default=None
            Where to draw; None makes a figure.

        Returns
        -------
        StabilityDisplay
            Drawn.
        """
        found = stability(clf, n_refits, decoys=decoys, random_state=random_state)
        names = [clf.feature_index_.name(j) for j in range(clf.n_features_in_)]
        first, second = map(str, clf.classes_.tolist())
        return cls(found, names, (first, second), most).plot(ax, kind=kind)

    def plot(self, ax: Any = None, *, kind: str = "features") -> Self:
        """Draw the features or the risks.

        Parameters
        ----------
        ax : Axes, default=None
            Where to draw; None makes a figure.
        kind : {"features", "risks"}, default="features"
            "features" shows how often each is selected, "risks" the interval of the refits about
            the risk of each row.

        Returns
        -------
        StabilityDisplay
            Itself.
        """
        if kind not in ("features", "risks"):
            raise DataError(f"expected kind to be 'features' or 'risks', got {kind!r}: choose one")
        if kind == "risks":
            return self._plot_risks(ax)
        ax = self._begin(ax, height=1.4 + 0.3 * len(self.features))
        at = np.arange(len(self.features))
        up = np.array([feature.positive_share > 0.5 for feature in self.features])
        self.bars_ = ax.barh(
            at, [feature.frequency for feature in self.features],
            color=np.where(up, POSITIVE, NEGATIVE), hatch=["//" if one else "" for one in up],
        )  # fmt: skip
        ax.set_yticks(at, [shortened(feature.name) for feature in self.features])
        ax.invert_yaxis()
        refits = f"share of {count(self.found.done, 'refit')} that select it"
        ax.set(xlim=(0, 1), xlabel="\n".join(filter(None, [refits, self._about_chance()])))
        for colour, hatch, name in zip((NEGATIVE, POSITIVE), ("", "//"), self.classes, strict=True):
            ax.bar(0, 0, color=colour, hatch=hatch, label=f"speaks for {shortened(name)}")
        ax.legend(**ABOVE)
        return self

    def _about_chance(self) -> str:
        if not self.found.decoy_refits:
            return ""
        chance = self.found.false_discovery_share(0.5)
        return f"(of features in half of the refits about {percent(chance, 0)} are there by chance)"

    def _plot_risks(self, ax: Any) -> Self:
        ax = self._begin(ax, height=5.0, width=5.4)
        risk, low, high = self.found.risk_instability()
        ax.vlines(risk, low, high, color=NEGATIVE, alpha=0.4, label="95 % of the refits")
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":")
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="risk by the model", ylabel="risk by the refits")
        ax.set_aspect("equal")
        moved = percent(self.found.mean_spread)
        words = f"Risks of {shortened(self.classes[1])} move by {moved} on average"
        ax.set_title(words, fontsize="medium")
        ax.legend(loc="upper left")
        return self
