"""What votes become: a wrong rule for ties would move labels without anybody seeing it."""

import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from nuggetjudge.metrics.jury import (
    TIES,
    combine_votes,
    compute_error_bound,
    count_mixed_labels,
    counts,
    dawid_skene,
    design_effect,
    effective_votes,
    escalate_least_confident,
    find_safe_threshold,
    find_threshold,
    violations,
)
from nuggetjudge.metrics.probability import calibration_error, probability_scores, reliability_curve


# Counted by hand on a scale of 4.
@pytest.mark.parametrize(
    ("votes", "how", "between", "worst", "unjudged"),
    [
        ([0, 1, 1, 3], "vote", 1, 1, 1),
        ([0, 0, 2, 2, 3], "vote", 2, 0, None),  # the mean is 1.4
        ([0, 0, 3, 3], "vote", 0, 0, None),  # 1.5 is as near to both
        ([0, 2, 3], "median", 2, 2, 2),
        ([0, 0, 3, 3], "median", 1, 0, None),  # all from 0 to 3 lie in the middle, the mean 1.5
        ([1, 2], "median", 1, 1, None),
        ([0, 0, 3], "mean", 1, 1, 1),
        ([1, 2], "mean", 1, 1, None),
    ],
)
def test_a_tie_becomes_what_was_asked_for(votes, how, between, worst, unjudged):
    wanted = {"between": between, "worst": worst, "unjudged": unjudged}
    assert {ties: combine_votes(votes, 4, how, ties) for ties in TIES} == wanted


def test_without_votes_there_is_no_label():
    with pytest.raises(ValueError, match="wanted at least one vote"):
        combine_votes([], 4, "vote")


DAWID_SKENE_VOTES = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, -1]])


# By hand. The shares of the votes are (1/3, 2/3), (2/3, 1/3), (1/3, 2/3), (1, 0): their means 7/12
# and 5/12. Judge 1 says 0 where 0 is true with (2/3 + 1) / (7/3) = 5/7, where 1 is true with
# (1/3) / (5/3) = 1/5; judge 2 with 6/7 and 3/5; judge 3 with (1/3) / (4/3) = 1/4 and 2/5.
def test_one_step_is_what_a_hand_computes():
    fit = dawid_skene(DAWID_SKENE_VOTES, 2, most_steps=1)
    assert fit.shares == pytest.approx([7 / 12, 5 / 12])
    assert fit.confusions[:, :, 0] == pytest.approx(
        np.array([[5 / 7, 1 / 5], [6 / 7, 3 / 5], [1 / 4, 2 / 5]])
    )
    low = 7 / 12 * (2 / 7) * (1 / 7) * (1 / 4)
    high = 5 / 12 * (4 / 5) * (2 / 5) * (2 / 5)
    assert fit.probabilities[0] == pytest.approx([low / (low + high), high / (low + high)])
    assert not fit.converged


# crowd-kit 1.4.2, DawidSkene(n_iter=3, tol=0).fit_predict_proba, on these votes of four judges.
TABLE = (
    "0001 0010 0000 0102 00-0 0000 1000 0020 0010 0-00 0100 0000 2001 0000 0010 "
    "1110 1121 0111 1110 1-11 1211 1110 1101 1111 1012 2221 2202 1222 222- 2122"
)
AFTER_3_STEPS = {
    0: (0.985224992, 0.014295172, 0.000479836), 3: (0.836339051, 0.143833106, 0.019827843),
    15: (0.021128226, 0.978871691, 0.000000083), 23: (0.001644654, 0.998071280, 0.000284066),
    26: (0.000000271, 0.000156036, 0.999843693), 28: (0.000000110, 0.000227110, 0.999772780),
}  # fmt: skip


def test_the_probabilities_are_those_of_another_implementation():
    votes = np.array([[-1 if c == "-" else int(c) for c in row] for row in TABLE.split()])
    probabilities = dawid_skene(votes, 3, most_steps=3).probabilities
    for item, wanted in AFTER_3_STEPS.items():
        assert probabilities[item] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("votes", "what"),
    [([[0, 2], [1, 1]], r"votes\[0, 1\] is 2"), ([[0, 1], [-1, -1]], r"votes\[1\] is empty")],
)
def test_what_is_no_vote_is_named(votes, what):
    with pytest.raises(ValueError, match=what):
        dawid_skene(np.array(votes), 2)


def test_judges_whose_errors_do_not_correlate_are_worth_their_number():
    errors = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    effective = effective_votes(errors)
    assert (effective.value, effective.correlation) == (pytest.approx(2), pytest.approx(0))


# By hand: each errs on one of four items, the first two on the same one (phi 1), the third on
# another (phi (0 - 1/16) / (3/16) = -1/3 with either).
def test_the_correlation_is_the_mean_over_pairs():
    errors = np.array([[1.0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    effective = effective_votes(errors)
    assert effective.correlation == pytest.approx((1 - 1 / 3 - 1 / 3) / 3)
    assert effective.value == pytest.approx(3 / (1 + 2 * effective.correlation))


def test_a_vote_that_is_not_there_is_no_error():
    errors = np.array([[1.0, 1.0], [0.0, 0.0], [np.nan, 1.0], [0.0, np.nan]])
    assert effective_votes(errors).correlation == pytest.approx(1)


# Which items go on, and what labels are then expected to be.
def test_the_least_sure_go_first_and_equals_share_what_is_left():
    goes = escalate_least_confident([0.9, 0.1, 0.5, 0.5, float("nan")], 0.5)
    assert goes.tolist() == [0.0, 1.0, 0.25, 0.25, 1.0]
    assert escalate_least_confident([0.2, 0.1], 0).tolist() == [0.0, 0.0]
    assert escalate_least_confident([0.2, 0.1], 1).tolist() == [1.0, 1.0]


def test_expected_counts_are_the_mean_of_draws():
    rng = np.random.default_rng(0)
    truth, cheap, expensive = rng.integers(0, 3, (3, 40))
    goes, topic_of = np.full(40, 0.3), np.arange(40) % 2
    expected = count_mixed_labels(truth, cheap, expensive, goes, topic_of, 2, 3)
    drawn = [
        count_mixed_labels(truth, cheap, expensive, rng.random(40) < 0.3, topic_of, 2, 3)
        for _ in range(2000)
    ]
    assert np.mean(drawn, 0) == pytest.approx(expected, abs=0.2)
    assert expected.sum() == pytest.approx(40)
    assert expected[:, :, 3].sum() == 0


def test_a_share_becomes_the_nearest_threshold():
    assert find_threshold([0.2, 0.2, 0.6, 0.8], 0.4) == (0.6, 0.5)
    assert find_threshold([0.2, 0.2, 0.6, 0.8], 0.1) == (0.2, 0.0)
    threshold, goes = find_threshold([0.2, float("nan")], 1)
    assert (threshold > 0.2, goes) == (True, 1.0)
    with pytest.raises(ValueError, match="no item has a confidence"):
        find_threshold([float("nan")], 0.5)


def topics_with(spread, *, n_topics=15, n=100, share=0.15, seed=0):
    """Counts of kept and wrong items whose share of wrong ones differs by topic."""
    rng = np.random.default_rng(seed)
    shares = np.clip(rng.normal(share, spread, n_topics), 0, 1)
    return np.full(n_topics, float(n)), rng.binomial(n, shares).astype(float)


def test_by_item_it_is_the_exact_binomial_bound():
    kept, wrong = np.array([30.0, 20.0]), np.array([3.0, 4.0])
    exact = stats.binomtest(7, 50).proportion_ci(confidence_level=0.8, method="exact")
    assert compute_error_bound(kept, wrong, 0.9, "item") == pytest.approx(exact.high, abs=1e-6)


def test_no_wrong_label_at_all_is_no_proof_that_there_is_none():
    kept = np.full(15, 2.0)
    assert (
        compute_error_bound(kept, kept * 0, 0.9)
        == compute_error_bound(kept, kept * 0, 0.9, "item")
        > 0.07
    )


def test_topics_that_go_alike_have_a_design_effect_near_1_and_others_more():
    alike = [design_effect(*topics_with(0, seed=seed)) for seed in range(50)]
    apart = [design_effect(*topics_with(0.1, seed=seed)) for seed in range(50)]
    assert np.mean(alike) == pytest.approx(1, abs=0.2)
    assert np.mean(apart) > 5
    assert np.isnan(design_effect(np.full(3, 10.0), np.zeros(3)))


@pytest.mark.parametrize(("unit", "least", "most"), [("topic", 0.0, 0.13), ("item", 0.2, 0.6)])
def test_on_topics_that_differ_only_the_bound_by_topic_keeps_its_level(unit, least, most):
    """Of 200 samples of 15 topics, how many bounds lie below the true share of wrong labels."""
    truth = 0.15
    low = [
        compute_error_bound(*topics_with(0.06, seed=seed), 0.9, unit) < truth for seed in range(200)
    ]
    assert least <= np.mean(low) <= most


def test_thresholds_are_tested_from_the_highest_until_one_fails():
    sure = np.repeat([0.9, 0.8, 0.7, 0.6], 300)
    wrong = np.concatenate([np.arange(300) % 20 < rate for rate in (1, 1, 10, 0)])
    table = counts(sure, wrong, np.tile(np.arange(15), 80), 15)
    index = find_safe_threshold(table, 0.9, 0.9, "topic")
    assert table.thresholds[index] == 0.8  # what comes after a failed one is not looked at
    assert find_safe_threshold(table, 0.99, 0.9, "topic") is None


def test_a_threshold_that_keeps_items_of_few_topics_is_not_where_the_tests_start():
    sure = np.concatenate([np.full(100, 0.9), np.full(1400, 0.5)])
    topics = np.concatenate([np.zeros(100, int), np.repeat(np.arange(1, 15), 100)])
    wrong = np.concatenate([np.ones(100, bool), np.zeros(1400, bool)])
    table = counts(sure, wrong, topics, 15)
    assert find_safe_threshold(table, 0.7, 0.9, "item") is None  # its first test fails
    assert table.thresholds[find_safe_threshold(table, 0.7, 0.9, "topic")] == 0.5


def test_an_item_without_confidence_is_never_kept():
    table = counts([0.5, float("nan")], [False, True], [0, 0], 1)
    assert table.kept.tolist() == [[1.0]]
    assert table.items.tolist() == [2.0]


def test_a_promise_is_tried_on_topics_that_it_was_not_chosen_on():
    """In half of the topics all labels are right, in the others none: no half tells the other."""
    topics = np.repeat(np.arange(12), 20)
    table = counts(np.ones(240), topics % 2 == 0, topics, 12)
    tried = violations(table, 0.4, 0.6, "item", splits=100)
    assert tried.n_topics == 6
    assert tried.share > 0.2
    assert violations(table, 0.4, 0.6, "item", splits=100) == tried
    with pytest.raises(ValueError, match="at least 4 topics"):
        violations(counts([1, 1], [0, 0], [0, 1], 2), 0.5, 0.9, "item")


# Brier score, log loss, calibration error and reliability curve, by hand and by scikit-learn.
def drawn(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), size=n), rng.integers(0, k, n)


def test_brier_and_log_loss_equal_scikit_learn():
    p, y = drawn(100, 2)
    scores = probability_scores(p, y)
    assert scores.brier == pytest.approx(2 * brier_score_loss(y, p[:, 1]), abs=1e-12)
    assert scores.log_loss == pytest.approx(sklearn_log_loss(y, p), abs=1e-12)
    p, y = drawn(100, 4)
    assert probability_scores(p, y).log_loss == pytest.approx(
        sklearn_log_loss(y, p, labels=range(4)), abs=1e-12
    )


# Sorted .1 .2 | .6 .8: means .15 and .7, shares .5 and .5, so (2 * .35 + 2 * .2) / 4.
def test_calibration_error_by_hand():
    assert calibration_error([0.8, 0.1, 0.6, 0.2], [1, 0, 0, 1], bins=2) == pytest.approx(0.275)


# P(label >= 1): .7 and .9 of labels 0 and 1; P(label >= 2): .3 and .5, neither came.
def test_ece_of_three_labels_is_the_mean_over_the_steps():
    p = [[0.3, 0.4, 0.3], [0.1, 0.4, 0.5]]
    by_hand = (abs(0.8 - 0.5) + abs(0.4 - 0)) / 2
    assert probability_scores(p, [0, 1], bins=1).ece == pytest.approx(by_hand)


def test_bins_hold_equally_many_and_never_part_equal_probabilities():
    rows = reliability_curve([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 0, 1, 0, 1, 1], bins=3)
    assert [(row.low, row.high, row.n, row.share) for row in rows] == [
        (0.1, 0.2, 2, 0.0),
        (0.3, 0.4, 2, 0.5),
        (0.5, 0.6, 2, 1.0),
    ]
    assert [row.n for row in reliability_curve([0.2, 0.2, 0.2, 0.9], [0, 1, 0, 1], bins=2)] == [
        3,
        1,
    ]


def test_a_sure_and_wrong_forecast_costs_much_but_not_everything():
    scores = probability_scores([[1.0, 0.0]], [1])
    assert scores.brier == 2
    assert scores.log_loss == pytest.approx(15 * np.log(10))
    assert scores.ece == 1


def test_nothing_measured_is_none_and_not_zero():
    scores = probability_scores([], [])
    assert scores.as_dict() == {"n": 0, "brier": None, "log_loss": None, "ece": None}
    assert calibration_error([], []) is None
    assert reliability_curve([], []) == []


@pytest.mark.parametrize(
    ("p", "labels", "message"),
    [
        ([[0.5, 0.6]], [0], r"probabilities\[0\] sum to"),
        ([[0.5, 0.5], [1.5, -0.5]], [0, 0], r"probabilities\[1\] are"),
        ([[0.5, 0.5]], [2], r"labels\[0\] is .*2.*, wanted 0 to 1"),
        ([[0.5, 0.5]], [0, 1], "of n labels"),
        ([[float("nan"), 0.5]], [0], r"probabilities\[0\] are"),
    ],
)
def test_what_is_no_probability_is_named(p, labels, message):
    with pytest.raises(ValueError, match=message):
        probability_scores(p, labels)


def test_outcomes_are_zero_or_one():
    with pytest.raises(ValueError, match=r"happened\[1\] is 2"):
        calibration_error([0.1, 0.2], [0, 2])
