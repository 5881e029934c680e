from dataclasses import replace

import numpy as np
import pytest

from hipad import HIPADClassifier, load_model
from hipad.datasets import make_ksvm_s
from hipad.estimator.parameters import PRIOR_TRUST, MemberRecord
from hipad.estimator.settings import RULE_SETTINGS
from hipad.estimator.trust import shares_of
from hipad.solvers import Status

FEATURES = 12
RIGHT = "x0 >= 1 => 1\nx0 <= -1 => 0"
FLIPPED = "x0 >= 1 => 0\nx0 <= -1 => 1"


def rows(seed, count):
    rng = np.random.default_rng(seed)
    y = np.arange(count) % 2
    X = rng.normal(size=(count, FEATURES))
    X[:, 0] += 1.6 * (y - 0.5)
    X[:, 1] += 1.6 * (y - 0.5)
    return X, y


def fitted(rules, X, y, **settings):
    return HIPADClassifier(rules, rule_trust="auto", **settings).fit(X, y)


def test_fit_is_the_average_of_certified_models():
    X, y = rows(0, 24)
    clf = fitted(RIGHT, X, y)
    used = [member for member in clf.members_ if member.share > 0]
    assert sum(member.share for member in used) == pytest.approx(1.0)
    assert all(member.certificate.status is Status.SOLVED for member in used)
    coef, intercept = np.zeros(FEATURES), 0.0
    for member in used:
        alone = HIPADClassifier(
            None if not any(member.weights) else worths(RIGHT, member.weights),
            lambda1="auto",
            rule_trust=None,
        ).fit(X, y)
        assert (alone.lambda1_, alone.lambda2_) == (member.lambda1, member.lambda2)
        coef += member.share * alone.coef_[0]
        intercept += member.share * alone.intercept_[0]
    assert clf.coef_[0] == pytest.approx(coef, abs=1e-9)
    assert clf.intercept_[0] == pytest.approx(intercept, abs=1e-9)


def worths(text, weights):
    """The rules with written weights; those of none are left out."""
    pairs = zip(text.splitlines(), weights, strict=True)
    return "\n".join(f"{line} worth {weight!r} patients" for line, weight in pairs if weight)


def test_fit_trusts_right_rules_more_than_flipped_ones():
    X, y = rows(1, 40)
    right, wrong = (fitted(text, X, y).rule_report_ for text in (RIGHT, FLIPPED))
    for good, bad in zip(right, wrong, strict=True):
        assert good.trust.posterior > 2 * bad.trust.posterior
        assert good.trust.prior == bad.trust.prior == pytest.approx(0.8 * PRIOR_TRUST)
    assert "lower the trust in it from 27 to" in str(wrong[0])


def test_fit_with_flipped_rules_ends_near_the_model_without_rules():
    X, y = rows(2, 60)
    X_test, y_test = rows(3, 2000)
    none = HIPADClassifier().fit(X, y).score(X_test, y_test)
    assert fitted(FLIPPED, X, y).score(X_test, y_test) > none - 0.02


def test_fit_takes_rules_as_given_where_no_row_can_see_them():
    data = make_ksvm_s(n_train=60, n_test=400, n_features=600, block_size=20, seed=0)
    clf = HIPADClassifier(
        data.rules, blocks=data.blocks, lambda1=0.1, standardize=False, rule_trust="auto"
    ).fit(data.X_train, data.y_train)
    for record in clf.rule_report_:
        assert record.trust is None
        assert "the rule counts as given" in record.remarks[-1]
    assert clf.members_ == ()
    assert clf.score(data.X_test, data.y_test) > 0.9


def test_fit_with_written_weights_learns_no_trust():
    X, y = rows(4, 30)
    text = worths(RIGHT, (5, 5))
    clf, literal = fitted(text, X, y), HIPADClassifier(text).fit(X, y)
    assert clf.members_ == ()
    assert np.array_equal(clf.coef_, literal.coef_)
    assert all(record.trust is None for record in clf.rule_report_)


def test_fit_does_not_depend_on_the_order_of_rows():
    X, y = rows(5, 30)
    order = np.random.default_rng(0).permutation(30)
    one, other = fitted(RIGHT, X, y), fitted(RIGHT, X[order], y[order])
    assert one.coef_ == pytest.approx(other.coef_, rel=1e-2, abs=1e-3)


def test_fit_keeps_to_the_most_features_asked_for():
    X, y = rows(6, 30)
    assert fitted(RIGHT, X, y, max_features=2).support_.size <= 2


def test_run_that_is_stopped_early_gives_a_model_so_far():
    X, y = rows(7, 30)
    run = HIPADClassifier(RIGHT, rule_trust="auto").fit_iter(X, y)
    next(run)
    run.stop()
    clf = run.finish()
    assert clf.certificate_.status is Status.STOPPED
    assert clf.predict(X).shape == (30,)


def test_model_file_keeps_members_and_trust(tmp_path):
    X, y = rows(8, 24)
    clf = fitted(RIGHT, X, y)
    clf.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    assert again.members_ == clf.members_
    assert [r.trust for r in again.rule_report_] == [r.trust for r in clf.rule_report_]
    assert np.array_equal(again.predict_proba(X), clf.predict_proba(X))


def test_shares_of_drops_what_is_improbable():
    least = RULE_SETTINGS.least_probability
    assert shares_of(np.array([0.5, 0.495, 0.005]), least).tolist() == pytest.approx(
        [0.5025, 0.4975, 0.0], abs=1e-3
    )
    assert shares_of(np.array([0.2, 0.5, 0.3]), least, single=True).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("trust", [0.0, 1.0, "certain", True, np.nan])
def test_fit_refuses_a_trust_that_is_no_probability(trust):
    X, y = rows(9, 20)
    with pytest.raises(ValueError, match="expected rule_trust to be 'auto', None or a number"):
        HIPADClassifier(RIGHT, rule_trust=trust).fit(X, y)


def test_fit_at_the_shares_of_an_earlier_fit_is_that_fit():
    X, y = rows(10, 24)
    clf = fitted(RIGHT, X, y)
    again = HIPADClassifier(RIGHT, lambda1=clf.lambda1_, rule_trust=clf.members_).fit(X, y)
    assert np.array_equal(again.coef_, clf.coef_)
    assert np.array_equal(again.intercept_, clf.intercept_)
    assert again.members_ == clf.members_
    told = [(r.trust, r.effect.word) for r in clf.rule_report_]
    assert [(r.trust, r.effect.word) for r in again.rule_report_] == told


def test_fit_with_written_weights_keeps_the_cut_of_an_earlier_fit():
    X, y = rows(11, 24)
    text = worths(RIGHT, (5, 5))
    clf = fitted(text, X, y)
    scores = clf.decision_function(X)
    cut = -0.5 * (scores[y == 0].mean() + scores[y == 1].mean())
    record = MemberRecord(
        (None, None), 1.0, 1.0, 1.0, np.nan, clf.lambda1_, clf.lambda2_, 0, None, cut=cut
    )
    again = HIPADClassifier(text, lambda1=clf.lambda1_, rule_trust=(record,)).fit(X, y)
    assert again.coef_ == pytest.approx(clf.coef_, abs=1e-12)
    assert again.intercept_ == pytest.approx(clf.intercept_, abs=1e-12)
    assert again.members_ == ()


def test_report_of_rules_with_different_numbers_of_conditions():
    """A fit without one rule starts from one whose rules have other conditions."""
    X, y = rows(12, 24)
    text = "x0 >= 1 and x1 >= 0 => 1 worth 5 patients\nx0 <= -1 => 0"
    clf = fitted(text, X, y, lambda1=0.05)
    assert [record.effect is not None for record in clf.rule_report_] == [True, True]


def test_fit_begins_from_one_whose_rules_labelled_rows():
    """The earlier fit's most probable candidate may have rows that the next one has not."""
    X, y = rows(13, 40)
    y = y.astype(object)
    y[:16] = None
    text = "x0 >= 0.5 => 1"
    first = fitted(text, X, y, lambda1=0.05)
    for member in first.members_:
        held = (replace(member, share=1.0),)
        clf = HIPADClassifier(text, lambda1=0.05, rule_trust=held).fit(X, y)
        again = (
            HIPADClassifier(text, lambda1=0.05)
            .fit_iter(X, y, warm_start_from=clf)
            .to_end()
            .finish()
        )
        assert again.coef_ == pytest.approx(first.coef_, abs=1e-6)
