"""Means over lists with intervals by topic, against numbers worked out by hand and by scipy."""

import numpy as np
import pytest
from scipy import stats

from nuggetjudge.calibration.lists import compare_lists
from nuggetjudge.metrics.key_points import list_scores


def scores(n_right, n_made, n_wanted):
    return list_scores([i < n_right for i in range(n_made)], [i < n_right for i in range(n_wanted)])


def test_the_difference_of_one_list_a_topic_is_that_of_the_paired_t_test():
    before = [scores(n, 4, 4) for n in (1, 2, 2, 3)]
    after = [scores(n, 4, 4) for n in (2, 2, 4, 4)]
    figure = compare_lists(before, after, ["a", "b", "c", "d"], {"resamples": 200})["f1"]
    old, new = (np.array([s.f1.value for s in side]) for side in (before, after))
    paired = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert figure["before"]["value"] == old.mean()
    assert figure["after"]["value"] == new.mean()
    gap = figure["difference"]
    assert (gap["low"], gap["high"]) == pytest.approx((paired.low, paired.high))
    assert (gap["n_topics"], figure["n"]) == (4, 4)
    assert figure["before"]["low"] <= figure["before"]["value"] <= figure["before"]["high"]


def test_a_list_that_made_nothing_counts_for_recall_and_not_for_precision():
    before = [list_scores([], [False, False]), scores(1, 2, 2)]
    after = [scores(2, 2, 2), scores(1, 2, 2)]
    figures = compare_lists(before, after, ["a", "b"], {"resamples": 50})
    assert (figures["precision"]["n"], figures["recall"]["n"], figures["f1"]["n"]) == (1, 2, 2)
    assert figures["precision"]["before"]["value"] == 0.5
    assert figures["f1"]["before"]["value"] == 0.25
