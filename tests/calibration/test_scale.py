"""Curves from scores to probabilities, against scikit-learn and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import fitted_or_refused
from sklearn.calibration import _sigmoid_calibration
from sklearn.isotonic import IsotonicRegression

from nuggetjudge.calibration.fits import fit_scale
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.metrics.label_agreement import agreement


def simulated(n=400, thresholds=(1.0, 2.5), seed=0):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(n), 2)
    return scores, np.digitize(5 * scores + rng.logistic(size=n), thresholds)


def test_ordinal_equals_statsmodels():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    scores, labels = simulated()
    ours = fit_scale(scores, labels, 3, "ordinal")
    positions = [ours.position(score) for score in scores]
    model = OrderedModel(labels, np.array(positions)[:, None], distr="logit")
    fit = model.fit(method="bfgs", disp=0, gtol=1e-9)
    assert ours.curve.slope == pytest.approx(fit.params[0], abs=1e-4)
    expected = model.transform_threshold_params(fit.params)[1:-1]
    assert ours.curve.thresholds == pytest.approx(expected, abs=1e-4)


def test_platt_equals_scikit_learn():
    scores, labels = simulated(60, thresholds=(2.0,))
    ours = fit_scale(scores, labels, 2, "platt")
    positions = np.array([ours.position(score) for score in scores])
    a, b = _sigmoid_calibration(positions, labels)  # P = 1 / (1 + exp(a s + b))
    assert ours.curve.slope == pytest.approx(-a, abs=1e-3)
    assert ours.curve.thresholds[0] == pytest.approx(b, abs=1e-3)


@pytest.mark.parametrize("k", [2, 3])
def test_isotonic_equals_scikit_learn(k):
    scores, labels = simulated(200, thresholds=(1.0, 2.5)[: k - 1])
    curve = fit_scale(scores, labels, k, "isotonic").curve
    tried = np.linspace(0, 1, 333)
    for j in range(1, k):
        expected = IsotonicRegression(out_of_bounds="clip").fit(scores, labels >= j).predict(tried)
        assert [curve.at_least(x)[j - 1] for x in tried] == pytest.approx(expected, abs=1e-9)


def test_probabilities_of_a_model_that_crowd_at_the_ends_are_taken_as_log_odds():
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 4, 1000)
    labels = (rng.logistic(size=1000) < 0.5 * logits + 1).astype(int)  # a model too sure by 2
    scale_fit = fit_scale(1 / (1 + np.exp(-logits)), labels, 2, "platt")
    assert scale_fit.log_odds
    assert scale_fit.curve.slope == pytest.approx(0.5, abs=0.08)
    assert scale_fit.curve.thresholds[0] == pytest.approx(-1, abs=0.25)


def test_the_median_label_is_given_unless_an_objective_chooses_the_cuts():
    scores, labels = simulated(thresholds=(4.0, 5.5))
    scale = ("none", "partial", "full")
    truth = [scale[code] for code in labels]
    median = fit_scale(scores, labels, 3)
    chosen = fit_scale(scores, labels, 3, objective="kappa")
    given_by = {
        name: [each.verdict(Verdict("none", score), scale, None).label for score in scores]
        for name, each in (("median", median), ("chosen", chosen))
    }
    kappas = {
        name: agreement(truth, labelled, scale).cohen_kappa["unweighted"]
        for name, labelled in given_by.items()
    }
    assert kappas["chosen"] >= kappas["median"]
    assert median.cuts is None
    for score, label in zip(scores, given_by["median"], strict=True):
        reached = median.curve.at_least(score)
        assert label == scale[sum(chance >= 0.5 for chance in reached)]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2)), min_size=4, max_size=40),
    st.sampled_from(["ordinal", "isotonic"]),
    st.lists(st.floats(0, 1), min_size=2, max_size=10),
)
def test_probabilities_sum_to_one_and_no_share_falls_with_the_score(items, method, tried):
    scores, labels = zip(*items, strict=True)
    if len(set(labels)) < 2 or np.ptp(scores) < 1e-3:
        return
    scale_fit = fitted_or_refused(lambda: fit_scale(scores, labels, 3, method))
    if scale_fit is None:
        return
    before = None
    for score in sorted(tried):
        verdict = scale_fit.verdict(Verdict("a", score), ("a", "b", "c"), None)
        assert sum(verdict.probabilities.values()) == pytest.approx(1)
        assert min(verdict.probabilities.values()) >= 0
        assert 0 <= verdict.score <= 1
        assert before is None or verdict.score >= before - 1e-12
        before = verdict.score


@pytest.mark.parametrize(
    ("scores", "labels", "method", "message"),
    [
        ([0.1, 0.2], [1, 1], "ordinal", "all 2 labels are 1"),
        ([0.5, 0.5], [0, 1], "ordinal", "all 2 scores are 0.5"),
        ([0.5, 1.5], [0, 1], "isotonic", r"scores\[1\] is 1.5, wanted 0 to 1"),
        ([0.1, 0.2], [0, 2], "platt", "platt is for two labels, got 3"),
    ],
)
def test_labels_that_nothing_can_be_fitted_to_are_refused(scores, labels, method, message):
    with pytest.raises(ValueError, match=message):
        fit_scale(scores, labels, 3, method)


@pytest.mark.parametrize("method", ["platt", "ordinal", "isotonic"])
def test_a_judge_that_is_worse_than_chance_is_refused(method):
    scores, labels = simulated(200, thresholds=(2.5,))
    with pytest.raises(ValueError, match=r"do not rise with labels .* no better than chance"):
        fit_scale(scores, 1 - labels, 2, method)


@given(
    st.floats(0, 1),
    st.sampled_from([1e-15, 1e-11, 1e-7, 1e-3, 1.0]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=2, max_size=12),
)
def test_any_scores_are_fitted_or_refused_in_words(base, width, items):
    scores = np.clip([base + width * share for share, _ in items], 0, 1)
    labels = [label for _, label in items]
    scale_fit = fitted_or_refused(lambda: fit_scale(scores, labels, 5))
    if scale_fit is None:
        return
    for score in scores:
        verdict = scale_fit.verdict(Verdict("a", score), tuple("abcde"), None)
        unseen = [p for j, p in enumerate(verdict.probabilities.values()) if j not in labels]
        assert max(unseen, default=0) == 0
