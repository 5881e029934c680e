"""Settings of a fit beside its everyday parameters: solution, selection, rules.

Each number that steers the statistics of a fit is a field here, with where it was measured.
`python -m benchmarks ablate` leaves out or changes them one at a time; its table is in
benchmarks/README.md. Solver tolerances that change no answer stay beside the code they are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

# What a grid search tries where nothing else is asked for, in the library, the shell and the app;
# `lambda1` is the number of its values.
USUAL_GRID: Final[Mapping[str, Any]] = {
    "lambda1": 10,
    "lambda2": (0.1, 1.0, 10.0),
    "rule_weight": ("auto",),
    "rho": ("auto",),
}


@dataclass(frozen=True)
class SolverSettings:
    """How the optimisation problem is solved. The answer is the same, unless phase 1 is left early.

    Parameters
    ----------
    phase2_solver : "ipm", "osqp" or "piqp", default="ipm"
        What solves phase 2: the interior point of this library, OSQP, or PIQP, which takes less
        than half of the time where a few hundred rows meet a few hundred features.
    phase1_stop : "support" or "paper", default="support"
        When phase 1 ends: with the features of its optimum, or at the paper's test, which leaves
        it earlier.
    mu : float or "auto", default="auto"
        Penalties that the ADMM starts with; "auto" scales them to the data.
    tol : float, default=1e-7
        Residuals at which the ADMM has converged.
    max_iter : int, default=5000
        Limit of steps in phase 1.

    See Also
    --------
    HIPADClassifier : Takes them as `solver`.

    Examples
    --------
    >>> from hipad import HIPADClassifier, SolverSettings
    >>> HIPADClassifier(solver=SolverSettings(tol=1e-6)).get_params()["solver__tol"]
    1e-06
    """

    phase2_solver: str = "ipm"
    phase1_stop: str = "support"
    mu: float | str = "auto"
    tol: float = 1e-7
    max_iter: int = 5000


@dataclass(frozen=True)
class SelectionSettings:
    """How lambda1, lambda2, scaling and probabilities are chosen by rows that were held out.

    Parameters
    ----------
    calibrate : bool, default=True
        Put the average training rows of the two classes two units apart, and zero where held-out
        rows of both classes, by their weight, are as likely. At a given lambda1 no row is held
        out: the average rows are at +1 and -1 (unless classes are not balanced: the same scale,
        and the intercept where the weighted hinge loss is least). False returns the optimum of
        the paper's problem as it is.
    choice : "median", "one_se" or "least_loss", default="median"
        The pair (lambda1, lambda2) that is taken. "least_loss" takes the pair of least loss on
        held-out rows, "one_se" the largest lambda1 within one standard error of it at the same
        lambda2. "median" is the median of all pairs, weighted by
        exp(-sharpness * excess loss / standard error), and then the largest lambda1 that is as
        good as the best. Compared by `benchmarks ablate`.
    n_lambda1 : int, default=9
        Values of lambda1 on a path.
    largest, smallest : float, default=0.7 and 0.01
        Ends of the path, as fractions of lambda1_max.
    widening : float, default=1.25
        Exponent of the steps between values: above 1 they grow, as among sparse models large
        steps would miss the best.
    ridges : tuple of float, default=(10.0, 1.0, 0.1)
        Values of lambda2, in units of the mean variance of a column.
    patience : int, default=2
        A path is left after so many values whose loss is clearly above the least one, or that are
        no better with more features than rows.
    negligible : float, default=0.01
        Share of a loss below which a difference is of no use.
    sharpness : float, default=2.0
        See `choice`.
    few_rows, caution : float, default=60 and 0.6
        With few rows a larger lambda2 weighs more: by its ratio to the largest one, to the power
        of min(few_rows / rows, caution).
    sparing : float, default=0.25
        Standard errors by which the loss of a sparser model may exceed the least one.
    least_error : float, default=0.003
        Standard errors of a difference in loss are not taken to be smaller.
    n_folds : int, default=5
        Folds, where `cv` is None.
    judged_rows : int, default=120
        Held-out scores of the rarer class on which a choice should rest: folds are repeated until
        there are as many.
    max_repeats : int, default=4
        The most times that folds are repeated.
    max_rows : int, default=1000
        Training rows of a fold in tables of more rows and more features than that.
    outlier : float, default=3.0
        Held-out scores count up to so many times their median size.
    stable_share : float, default=0.5
        Share of the folds that keep a stable feature.
    isotonic_rows : int, default=500
        Rows of the rarer class from which probabilities are isotonic instead of sigmoid.
    usual_slope, no_signal : float, default=0.25 and 0.5
        Prior of the slope of probabilities for scores of deviation 1: its median where scores tell
        anything, and the probability that they do not. Measured by `benchmarks risks`.
    damping_errors : float, default=3.0
        Standard errors by which columns scaled to less than deviation 1 must lower the
        leave-one-out error. On text, images and gene expression the difference was 3 to 20
        standard errors, on clinical tables and spectra -8 to 1.
    damping_rows : int, default=400
        Rows at most on which that is decided.

    See Also
    --------
    HIPADClassifier : Takes them as `selection`.

    Examples
    --------
    >>> from hipad import HIPADClassifier, SelectionSettings
    >>> clf = HIPADClassifier(selection=SelectionSettings(n_lambda1=18))
    >>> clf.get_params()["selection__n_lambda1"]
    18
    """

    calibrate: bool = True
    choice: Literal["median", "one_se", "least_loss"] = "median"
    n_lambda1: int = 9
    largest: float = 0.7
    smallest: float = 0.01
    widening: float = 1.25
    ridges: tuple[float, ...] = (10.0, 1.0, 0.1)
    patience: int = 2
    negligible: float = 0.01
    sharpness: float = 2.0
    few_rows: float = 60.0
    caution: float = 0.6
    sparing: float = 0.25
    least_error: float = 0.003
    n_folds: int = 5
    judged_rows: float = 120.0
    max_repeats: int = 4
    max_rows: int = 1000
    outlier: float = 3.0
    stable_share: float = 0.5
    isotonic_rows: float = 500.0
    usual_slope: float = 0.25
    no_signal: float = 0.5
    damping_errors: float = 3.0
    damping_rows: int = 400


@dataclass(frozen=True)
class RuleSettings:
    """What a rule means to a fit, and how the trust in rules is learnt.

    The numbers of the candidates are not tuned: on fifteen tables and families, right, irrelevant
    and flipped rules, 4, 8 and 16 labelled rows a class, every variant that was tried (two of the
    three shares, none left out, wider and narrower bounds) ended within half a point of this one,
    and so did the best of them chosen with the table left out on which it was judged. The prior
    exchanges what right rules bring for what wrong ones cost (benchmarks/README.md).

    Parameters
    ----------
    scope : "population" or "typical", default="population"
        Whether a rule speaks of every row in its range or of an otherwise typical one.
    centered : bool, default=True
        Whether a rule speaks of the typical row that meets it, counted from the middle between
        the classes. False is the paper's form, where a rule speaks of its threshold and the
        intercept alone can meet it.
    shares : tuple of float, default=(0.15, 0.5, 1.5)
        Candidate weights of a rule, as shares of all labelled rows.
    left_out_share : float, default=0.5
        Weight of the others in a candidate without one rule.
    max_single : int, default=4
        Up to so many rules there is such a candidate for each of them.
    unlabelled_share : float, default=4.0
        Weight of a rule that is spread over the unlabelled rows that it covers.
    log_odds : float, default=2.0
        Log odds of a decision value of one, as scores of deviation one in each class have them.
    max_score : float, default=1.5
        Decision values count up to this in the posterior: 95 % certain.
    least_probability : float, default=0.02
        Posterior probability below which a candidate has no part in the model.
    vote : float, default=0.5
        Weight in the choice of lambda1 and lambda2 of a rule's typical row, as a multiple of the
        rule's own weight: halved, as no rule is held out.
    default_share : float, default=0.15
        Weight of a rule, as a share of the rows, where none is written or learnt.
    rho_factor : float, default=3.0
        The automatic rho in multiples of the one from which on the weight alone limits the
        gradient.
    rho_limit : float, default=100.0
        A given rho counts up to so many times the automatic one: beyond, a rule is a ridge on the
        features that it does not name, and nothing else.
    known_share : float, default=0.25
        Share of lambda1 that a feature of known sign pays. Measured by `benchmarks knowledge`.
    near : float, default=0.1
        Share of the way to the typical row of a rule at which a row counts one half as evidence.
    least_evidence : float, default=0.02
        Mean evidence of all rows below which nothing is learnt on the rules.

    See Also
    --------
    HIPADClassifier : Takes them as `rule_settings`.

    Examples
    --------
    >>> from hipad import HIPADClassifier, RuleSettings
    >>> clf = HIPADClassifier(rule_settings=RuleSettings(centered=False))
    >>> clf.get_params()["rule_settings__centered"]
    False
    """

    scope: str = "population"
    centered: bool = True
    shares: tuple[float, ...] = (0.15, 0.5, 1.5)
    left_out_share: float = 0.5
    max_single: int = 4
    unlabelled_share: float = 4.0
    log_odds: float = 2.0
    max_score: float = 1.5
    least_probability: float = 0.02
    vote: float = 0.5
    default_share: float = 0.15
    rho_factor: float = 3.0
    rho_limit: float = 100.0
    known_share: float = 0.25
    near: float = 0.1
    least_evidence: float = 0.02


# What a fit uses where nothing is given; tests shorten these.
SOLVER = SolverSettings()
SELECTION = SelectionSettings()
RULE_SETTINGS = RuleSettings()
