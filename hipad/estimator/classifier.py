"""HIPADClassifier: a scikit-learn classifier that takes rules as well as data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from hipad.dask_design import open_columns
from hipad.data.column_store import ColumnSource, is_by_columns
from hipad.data.preprocessing import MissingValues
from hipad.estimator.base import (
    ClassRuns,
    FittedModel,
    TrainingRows,
    by_class,
    class_labels,
    data_of_class,
    rules_of_class,
)
from hipad.estimator.fit import FitRun
from hipad.estimator.parameters import (
    LAYERS,
    FitSettings,
    MemberRecord,
    accepts_renamed,
    check_parameters,
    held_out_parts,
    idle_parameters,
    is_splits,
    layer_of,
    warn_renamed,
)
from hipad.estimator.problem_factory import TrainingData, foreign_units, shares, stacked_rows
from hipad.estimator.screening import (
    ScreenedRows,
    ScreenedRun,
    Screening,
    SourceNames,
    named_columns,
)
from hipad.estimator.settings import RuleSettings, SelectionSettings, SolverSettings
from hipad.exceptions import DataError, HipadError
from hipad.rules import ColumnValues, FeatureIndex, Rule, RuleSet
from hipad.rules.compiler import ExpertKnowledge, compile_knowledge, read_knowledge
from hipad.rules.names import as_index
from hipad.solvers import Hipad, Status
from hipad.solvers.solution import single_thread
from hipad.utils import IntArray


class HIPADClassifier(FittedModel):
    """Sparse linear classifier for few rows, many features and expert rules.

    It solves an elastic-net support vector machine with rules as penalised linear constraints by
    the HIPAD algorithm: ADMM finds the features, an interior point their weights.

    Parameters
    ----------
    rules : str or rules, default=None
        What is known, in the units of the data: a line for each rule, as in
        ``mean(K1) >= 4 => positive``, or statement about features, as in ``K1 raises the risk``;
        a list of such lines, or parsed rules.
    blocks : dict, default=None
        Named groups of features: name -> column indices or feature names.
    lambda1 : float, "auto" or "sparse", default="auto"
        Sparsity. "auto" follows a path with cross-validation; "sparse" takes the fewest features
        within one standard error of the least loss (`path_`).
    lambda2 : float or "auto", default="auto"
        Ridge: correlated features share their weight. "auto" follows a path for each of three
        values, and is 10 beside a given lambda1.
    rule_weight : float, "auto" or "equal", default="auto"
        For how many labelled rows a rule without a written weight counts. "auto" learns it where
        trust is learnt, else it is 15 % of the rows; "equal" sets sigma to rho, as the paper does.
    rho : float or "auto", default="auto"
        How closely the weights must follow a rule; "auto" follows the rule's weight.
    rule_trust : "auto", float, members of a fit or None, default="auto"
        The prior probability that the rules help ("auto" is one third). Models without rules, with
        them at several weights and without each one are averaged by how well they predict held-out
        rows. `members_` of an earlier fit repeat what it learnt; None gives the one optimum.
    class_weight : "balanced", dict or None, default="balanced"
        "balanced" gives each class the same share of the total weight.
    method : "auto", "hipad", "admm" or "exact", default="auto"
        "hipad" runs the paper's two phases, "admm" phase 1 to convergence, "exact" working sets on
        the elastic net. "auto" gives the model of "hipad" in the fastest way (`solver_`).
    standardize : bool, default=True
        Scale columns to mean 0 and deviation 1, implicitly; no unit matters.
    prevalence : float or None, default=None
        The share of the second class where risks will be asked for; None is that of training.
    max_features : int, default=None
        The most features that an automatic lambda1 may keep, of several classes for each.
    cv : int, splitter or iterable of splits, default=None
        Folds of the automatic choices; None is 5.
    random_state : int, default=None
        Which way rows are divided into folds; None is 0. Their order never matters.
    n_jobs : int, default=None
        Threads of the automatic choices in wide tables. The model is the same.
    loss : "hinge" or "squared_hinge", default="hinge"
        What a sample short of its margin costs.
    solver : SolverSettings, dict or None, default=None
        How the problem is solved; ``set_params(solver__tol=1e-6)`` sets one field.
    selection : SelectionSettings, dict or None, default=None
        How lambda1, lambda2, scaling and probabilities are chosen.
    rule_settings : RuleSettings, dict or None, default=None
        What a rule means to a fit, and how the trust in rules is learnt.

    Attributes
    ----------
    coef_, intercept_, classes_, support_ : ndarray
        The model in the user's units, and the features that have a weight.
    certificate_, selection_certificate_ : Certificate
        How far, at most, the result is from the optimum; the same for phase 1, or None.
    history_, n_iter_, solver_ : list of Progress, int, str
        The steps of the fit, how many, and what ran.
    risk_threshold_ : float or None
        The risk from which on the second class is the answer (`set_risk_threshold`).
    rule_report_, knowledge_report_ : RuleReport, list of FeaturePriorRecord
        What became of each rule and of each statement about features.
    lambda1_, lambda2_, path_ : float, float, SelectionPath
        The values used, and all that were tried.
    members_ : tuple of MemberRecord
        The candidates that were averaged, with their shares.
    class_models_ : dict
        Of three classes or more, the model of each against the rest; `coef_` then has a row for
        each, `lambda1_` and `lambda2_` are arrays, `members_` and `path_` dicts by class.

    See Also
    --------
    HIPADClassifierCV : The same with a grid of settings.
    load_model : Read a model that `save` wrote.
    hipad.display.RuleReportDisplay : Draw what became of the rules.

    Notes
    -----
    Of several classes a rule names one: to the other classes' models it says that whom it covers
    is not of theirs. Wrappers that rename classes (``OneVsRestClassifier``, ``VotingClassifier``,
    ...) hand other names to a fit, so with them write rules on the new names. Parameter names of
    earlier versions are accepted for one release, with a FutureWarning.

    Examples
    --------
    >>> from hipad import HIPADClassifier, make_ksvm_s
    >>> data = make_ksvm_s("10k", seed=0)
    >>> clf = HIPADClassifier(data.rules, blocks=data.blocks, lambda1=0.08, standardize=False)
    >>> bool(clf.fit(data.X_train, data.y_train).score(data.X_test, data.y_test) > 0.97)
    True
    """

    @accepts_renamed
    def __init__(
        self,
        rules: str | Iterable[Rule | str] | None = None,
        *,
        blocks: Mapping[str, Any] | None = None,
        lambda1: float | str = "auto",
        lambda2: float | str = "auto",
        rule_weight: float | str = "auto",
        rho: float | str = "auto",
        rule_trust: float | str | tuple[MemberRecord, ...] | None = "auto",
        class_weight: str | dict[Any, float] | None = "balanced",
        method: str = "auto",
        standardize: bool = True,
        prevalence: float | None = None,
        max_features: int | None = None,
        cv: Any = None,
        random_state: int | None = None,
        n_jobs: int | None = None,
        loss: str = "hinge",
        solver: SolverSettings | Mapping[str, Any] | None = None,
        selection: SelectionSettings | Mapping[str, Any] | None = None,
        rule_settings: RuleSettings | Mapping[str, Any] | None = None,
    ) -> None:
        self.rules = rules
        self.blocks = blocks
        self.lambda1 = lambda1
        self.lambda2 = lambda2
        self.rule_weight = rule_weight
        self.rho = rho
        self.rule_trust = rule_trust
        self.class_weight = class_weight
        self.method = method
        self.standardize = standardize
        self.prevalence = prevalence
        self.max_features = max_features
        self.cv = cv
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.loss = loss
        self.solver = solver
        self.selection = selection
        self.rule_settings = rule_settings

    @classmethod
    def paper(cls, rules: str | Iterable[Rule | str] | None = None, **parameters: Any) -> Self:
        """Return a classifier with the paper's literal settings.

        They are equal rho and sigma, the paper's end of phase 1, no calibration and no class
        weights. `parameters` are those of the constructor, and replace the literal ones.
        """
        found = cls(
            rules,
            lambda2=10.0,
            rule_weight="equal",
            rho=100.0,
            rule_trust=None,
            class_weight=None,
            standardize=False,
            solver=SolverSettings(phase1_stop="paper"),
            selection=SelectionSettings(calibrate=False),
            rule_settings=RuleSettings(centered=False),
        )
        whole = dict(parameters)
        for layer in [name for name in LAYERS if isinstance(parameters.get(name), Mapping)]:
            whole |= {f"{layer}__{name}": value for name, value in whole.pop(layer).items()}
        return found.set_params(**whole)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit to data X and labels y of two classes or more, some of which may be missing.

        Parameters
        ----------
        X : array, DataFrame or sparse matrix; path, memmap, column source or Dask array
            One row per sample; finite numbers. Columns that are not in memory (a path to a column
            store, PLINK .bed, .npy, .h5ad or Zarr, and what `hipad.dask_design.open_columns`
            returns) are read in blocks; missing values in them are the means of their columns.
        y : array, Series or list; None for labels that come with the columns
            Labels of any type. A row without a label (NaN, None, or -1 beside two other classes;
            beside one, or three and more, -1 is a class of its own) counts in the scaling and in
            thresholds that rules learn, and where rules cover it, they may give it a label, as far
            as held-out labelled rows bear that out.
        sample_weight : array, default=None
            For how many rows each one counts. Rows of weight 0 are left out; any other row
            without a label counts once.
        groups : array, default=None
            Rows with the same value are of one patient, say: they are learnt from or held out
            together, and count as one in whatever is weighed by held-out rows.

        Returns
        -------
        HIPADClassifier
            Itself, fitted.
        """
        with single_thread():
            run = self.fit_iter(X, y, sample_weight=sample_weight, groups=groups, interactive=False)
            run.to_end().finish()
        early = (
            layer_of(self, "solver").phase1_stop == "paper"
            and self.certificate_.status is Status.INACCURATE
        )
        if self.certificate_.status in (Status.LIMIT, Status.INACCURATE) and not early:
            message = f"the fit did not converge: {self.certificate_}"
            warnings.warn(message, ConvergenceWarning, stacklevel=2)
        return self

    def start(
        self,
        X: Any,
        y: Any,
        *,
        like: HIPADClassifier | Sequence[HIPADClassifier] | None = None,
        quick: bool = False,
        **further: Any,
    ) -> FitRun[Self]:
        """Begin a fit, as `fit_iter` does: its name in earlier versions, for one release."""
        warn_renamed("start", "fit_iter(X, y, warm_start_from=..., interactive=...)", stacklevel=3)
        return self.fit_iter(X, y, warm_start_from=like, interactive=not quick, **further)

    def fit_iter(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        warm_start_from: HIPADClassifier | Sequence[HIPADClassifier] | None = None,
        feature_names: Iterable[str] | FeatureIndex | None = None,
        interactive: bool = True,
        gaps: MissingValues | None = None,
    ) -> FitRun[Self]:
        """Begin a fit that can be watched, paused and stopped.

        Parameters
        ----------
        X, y, sample_weight, groups : array
            As in `fit`.
        warm_start_from : HIPADClassifier or several, default=None
            Earlier fits to reuse, the most similar first. Their Gram matrix and state serve when X
            is the very same object and labels, weights and scaling are unchanged. The model is that
            of `fit`, whatever it starts from.
        feature_names : list of str, default=None
            Names of the columns of a bare array.
        interactive : bool, default=True
            Run the ADMM, which can be watched. False lets working sets choose the features where
            they are faster (with method="auto"); the model is the same.
        gaps : MissingValues, default=None
            Cells of X that were filled: rules learn nothing from them, and neither speak of their
            rows nor are contradicted by these.

        Returns
        -------
        FitRun
            Yields one `Progress` for each step; `finish()` gives the fitted classifier. Of several
            classes one is fitted after the other (see `ClassRuns`).
        """
        check_parameters(self)
        fresh = type(self)(**self.get_params(deep=False))  # self stays as it is until the end
        if is_by_columns(X):
            source = open_columns(X, names=feature_names)
            return self._screened(fresh, X, source, y, sample_weight, groups, interactive)
        rows = fresh._validated(X, y, sample_weight, groups)
        given = warm_start_from
        earlier = (given,) if isinstance(given, HIPADClassifier) else tuple(given or ())
        fresh._name_columns(feature_names)
        marks = fresh._gaps_of(gaps, rows)
        data, take = fresh._training_data(X, rows, earlier, marks), partial(self._take, fresh)
        return fresh._run(data, _seen(rows, marks), earlier, interactive, take)

    def _run(
        self,
        data: TrainingData,
        seen: Any,
        earlier: Sequence[HIPADClassifier],
        interactive: bool,
        take: Callable[[FitRun[Self]], Self],
    ) -> FitRun[Self]:
        """The run of a fit to these data; rules learn from the rows that are `seen`."""
        if self._is_several:
            return self._class_runs(data, seen, earlier, interactive, take)
        plan = FitSettings.of(self, self._compile(seen))
        idle = idle_parameters(self, has_rules=bool(plan.rules))
        for sentence in (*idle, *foreign_units(data.X, plan.rules)):
            warnings.warn(sentence, UserWarning, stacklevel=4)
        return FitRun(data, plan, _states(earlier, data), interactive=interactive, take=take)

    def _screened(
        self,
        fresh: Self,
        original: Any,
        source: ColumnSource,
        y: Any,
        sample_weight: Any,
        groups: Any,
        interactive: bool,
    ) -> FitRun[Self]:
        """The run of a fit to columns that are not in memory."""
        y = source.labels if y is None else y
        n, m = source.shape
        if y is None or len(y) != n:
            got = "none" if y is None else f"{len(y):,}"
            raise DataError(f"expected {n:,} labels, one per row of X, got {got}: pass them all")
        found = fresh._validated(np.arange(n, dtype=float)[:, None], y, sample_weight, groups)
        others = np.zeros((0, 1)) if found.unlabelled is None else found.unlabelled
        labelled, unlabelled = (part[:, 0].astype(np.intp) for part in (found.X, others))
        codes, w = found.codes.astype(float), found.weights
        p = shares(codes, w, by_class(self.class_weight, fresh.classes_))
        signs = codes if fresh._is_several else 2.0 * codes - 1.0
        rows = ScreenedRows(labelled, unlabelled, signs, w, p, found.groups)
        fresh.n_features_in_, fresh.feature_index_ = m, SourceNames(source)
        named, blocks = named_columns(source, self.rules, self.blocks)
        own = {"standardize": self.standardize, "settings": layer_of(self, "selection")}

        def begin(screening: Screening) -> FitRun[Self]:
            small = fresh._on_columns(screening, blocks)
            data = screening.data(original)
            seen = ColumnValues(screening.values, None)
            return small._run(data, seen, (), interactive, small._set_outcome)

        take = partial(self._take, fresh)
        return ScreenedRun(Screening(source, rows, **own), named, begin, take)

    def _on_columns(self, screening: Screening, blocks: Mapping[str, IntArray]) -> Self:
        """A classifier of the same parameters and classes for the columns in memory."""
        columns = screening.columns
        names = screening.source.names_of(columns)
        places = {name: np.searchsorted(columns, own) for name, own in blocks.items()}
        small = type(self)(**{**self.get_params(deep=False), "blocks": places or None})
        small.classes_, small.n_features_in_ = self.classes_, columns.size
        small.feature_names_in_ = np.array(names, dtype=object)
        small.feature_index_ = FeatureIndex(names)
        if "_parts" in vars(self):
            small._parts = self._parts
        return small

    def _class_runs(
        self,
        data: TrainingData,
        seen: Any,
        earlier_fits: Sequence[HIPADClassifier],
        interactive: bool,
        take: Callable[[FitRun[Self]], Self],
    ) -> FitRun[Self]:
        """Return one run a class, over the same rows and design; rules are read once."""
        self._without_prevalence()
        if isinstance(self.rule_trust, tuple):
            raise HipadError(
                f"expected rule_trust to be 'auto', None or a probability for "
                f"{len(self.classes_)} classes, got members of a fit: these are of one class"
            )
        written = read_knowledge(self.rules, self.feature_index_, self.blocks, seen)
        runs: dict[Any, FitRun[Any]] = {}
        has_rules = any(rule.enabled for rule in written)
        sentences = list(idle_parameters(self, has_rules=has_rules))
        for position, label in enumerate(self.classes_.tolist()):
            model = self._model_of_class(label, rules_of_class(written, self.classes_, position))
            earlier = [
                one.class_models_[label] for one in earlier_fits if vars(one).get("_data") is data
            ]
            if earlier:
                own = earlier[0]._data
            else:
                own = data_of_class(data, position)
            # two classes of which one is many do not count one half each
            plan = replace(FitSettings.of(model, model._compile(seen)), balanced=False)
            sentences += foreign_units(data.X, plan.rules)
            runs[label] = FitRun(
                own,
                plan,
                _states(earlier, own),
                interactive=interactive,
                take=model._set_outcome,
            )
        for sentence in dict.fromkeys(sentences):
            warnings.warn(sentence, UserWarning, stacklevel=4)
        return ClassRuns(runs, data, written, take)

    def _model_of_class(self, label: Any, rules: RuleSet) -> Self:
        """A classifier of one class against the rest, on the columns and rows of this one."""
        model = type(self)(**{**self.get_params(deep=False), "rules": rules})
        for name in ("n_features_in_", "feature_names_in_", "feature_index_", "_parts"):
            if name in vars(self):
                setattr(model, name, getattr(self, name))
        model.classes_ = class_labels(label)
        return model

    def _validated(self, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> TrainingRows:
        """Rows of weight above zero, the positions of their classes, their weights; other rows."""
        rows = self._labelled(X, y, sample_weight, groups)
        counted = rows.weights > 0
        kept = rows.known.copy()
        kept[rows.known] = counted
        if not counted.all():
            codes, weights, numbers = rows.codes[counted], rows.weights[counted], rows.groups
            if numbers is not None:
                numbers = np.r_[numbers[: counted.size][counted], numbers[counted.size :]]
            rows = rows._replace(X=rows.X[counted], y=rows.y[counted], codes=codes)
            rows = rows._replace(weights=weights, groups=numbers)
        if is_splits(self.cv):
            self._parts = held_out_parts(self.cv, rows.X, rows.y, kept)
        return rows._replace(known=kept)

    def _gaps_of(
        self, gaps: MissingValues | None, rows: TrainingRows
    ) -> tuple[MissingValues | None, MissingValues | None]:
        """Return the gaps of the rows that are fitted, and of those without a label."""
        if not gaps:
            return None, None
        expected = len(rows.known)
        if gaps.n_rows != expected:
            raise DataError(f"expected gaps of {expected:,} rows, as X has, got {gaps.n_rows:,}")
        others = None if rows.unlabelled is None else gaps.take(rows.others)
        return gaps.take(rows.known), others

    def _training_data(
        self,
        original: Any,
        rows: TrainingRows,
        earlier_fits: Sequence[HIPADClassifier],
        gaps: tuple[MissingValues | None, MissingValues | None] = (None, None),
    ) -> TrainingData:
        X, w, others = rows.X, rows.weights, rows.unlabelled
        y = rows.codes.astype(float)
        p = shares(y, w, by_class(self.class_weight, self.classes_))
        if not self._is_several:
            y = 2.0 * y - 1.0
        earlier = getattr(earlier_fits[0], "_data", None) if earlier_fits else None
        now = (X, y, w, p, self.standardize)
        further = {"unlabelled": others, "groups": rows.groups, "gaps": gaps}
        further["selection"] = layer_of(self, "selection")
        if earlier is not None and earlier.same_as(original, *now, **further):
            return earlier
        return TrainingData.of(*now, source=original, **further)

    def _name_columns(self, names: Iterable[str] | FeatureIndex | None) -> None:
        """Columns are called as given, or as in X."""
        if names is None:
            names = getattr(self, "feature_names_in_", None)
        named = names if names is None or isinstance(names, FeatureIndex) else list(names)
        self.feature_index_ = as_index(named, self.n_features_in_)

    def _compile(self, rows: Any = None) -> ExpertKnowledge:
        """Rules and statements for these data; percentiles are learnt from these rows only."""
        return compile_knowledge(
            self.rules if self.rules is not None else (),
            feature_names=self.feature_index_,
            blocks=self.blocks,
            classes=tuple(self.classes_.tolist()),
            values=rows,
            asks=False,  # the same rule must be read in every fold
        )


def _seen(
    rows: TrainingRows, gaps: tuple[MissingValues | None, MissingValues | None]
) -> ColumnValues:
    """Return what rules learn from: all rows, labelled or not, and their cells without a value."""
    seen, marks = rows.X, gaps[0]
    if rows.unlabelled is not None:
        seen = stacked_rows(rows.X, rows.unlabelled)
        if gaps[0] or gaps[1]:
            sizes = (rows.X.shape[0], rows.unlabelled.shape[0])
            marks = MissingValues.stacked(list(zip(gaps, sizes, strict=True)))
    return ColumnValues(seen, marks)


def _states(earlier: Sequence[HIPADClassifier], data: TrainingData) -> list[Hipad]:
    """Return the states of earlier fits on the same data, from which a fit may begin."""
    return [one._hipad for one in earlier if vars(one).get("_data") is data and one._hipad]
