"""What labels earn is the same here as in the scores themselves."""

import itertools

import pytest

from nuggetjudge.metrics import NUGGET_MEASURES, SUPPORT_MEASURES, nugget_scores, support_scores
from nuggetjudge.metrics.gains import (
    NUGGET_GAINS,
    NUGGET_WEIGHTS,
    SUPPORT_GAINS,
    expected_gain,
    scale_gains,
)


def test_every_measure_has_gains():
    assert set(NUGGET_GAINS) == set(NUGGET_MEASURES)
    assert set(SUPPORT_GAINS) == set(SUPPORT_MEASURES)


@pytest.mark.parametrize("measure", NUGGET_MEASURES)
def test_a_nugget_score_is_the_weighted_mean_of_gains(measure):
    gains, weight = NUGGET_GAINS[measure], NUGGET_WEIGHTS[measure.removesuffix("_strict")]
    importances = ("vital", "okay", None)
    for labels in itertools.product(gains, repeat=3):
        by_hand = sum(weight[i] * gains[lb] for i, lb in zip(importances, labels, strict=True))
        score = nugget_scores(labels, importances)[measure].value
        assert score == pytest.approx(by_hand / sum(weight[i] for i in importances))


@pytest.mark.parametrize("measure", SUPPORT_MEASURES)
def test_a_support_score_of_one_citation_is_its_gain(measure):
    for label, gain in SUPPORT_GAINS[measure].items():
        assert support_scores([[label]])[measure].value == gain


def test_a_scale_has_its_mean_gain_and_a_share_for_each_cut():
    gains = scale_gains(["0", "1", "2", "3"])
    assert list(gains) == ["mean_gain", "at_least_1", "at_least_2", "at_least_3"]
    assert list(gains["mean_gain"].values()) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert list(gains["at_least_2"].values()) == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="no two labels"):
        scale_gains(["yes"])


def test_probabilities_count_as_shares_of_their_sum():
    gains = {"no": 0.0, "yes": 1.0}
    assert expected_gain({"no": 0.2, "yes": 0.6}, gains) == pytest.approx(0.75)
    assert expected_gain({"no": 1.0, "perhaps": 0.0}, gains) == 0
    assert expected_gain({"perhaps": 0.5, "yes": 0.5}, gains) is None
    assert expected_gain({"no": 0.0, "yes": 0.0}, gains) is None
    assert expected_gain({}, gains) is None
