"""Which items go on, and what labels are then expected to be."""

import numpy as np
import pytest
from scipy import stats

from nuggetjudge.metrics.jury import (
    bound_error_share,
    count_mixed_labels,
    counts,
    design_effect,
    escalate_least_confident,
    find_safe_threshold,
    find_threshold,
    violations,
)


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
    assert bound_error_share(kept, wrong, 0.9, "item") == pytest.approx(exact.high, abs=1e-6)


def test_no_wrong_label_at_all_is_no_proof_that_there_is_none():
    kept = np.full(15, 2.0)
    assert (
        bound_error_share(kept, kept * 0, 0.9)
        == bound_error_share(kept, kept * 0, 0.9, "item")
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
        bound_error_share(*topics_with(0.06, seed=seed), 0.9, unit) < truth for seed in range(200)
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
    with pytest.raises(ValueError, match="4 topics or more"):
        violations(counts([1, 1], [0, 0], [0, 1], 2), 0.5, 0.9, "item")
