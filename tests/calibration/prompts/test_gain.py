"""Gains of single labels, against kappa as scikit-learn computes it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from nuggetjudge.calibration.prompts.tasks import make_kappa_gains

ROUNDING = 1e-9  # labels that are worth the same may differ by the last bits
SCALE = ("none", "partial", "full")
labels = st.lists(st.sampled_from(SCALE), min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1)


def mean_gain(gains, given_labels, truths):
    pairs = zip(given_labels, truths, strict=True)
    return sum(gains.of(given, truth) for given, truth in pairs) / len(truths)


@pytest.mark.parametrize(("is_ordered", "weights"), [(True, "linear"), (False, None)])
def test_the_mean_gain_over_chance_is_kappa_times_the_disagreement_expected(is_ordered, weights):
    truths = ["none"] * 10 + ["partial"] * 6 + ["full"] * 4
    answers = (
        ["none"] * 7 + ["partial"] * 2 + ["full"] + ["none"] * 2 + ["partial"] * 5 + ["full"] * 3
    )
    gains = make_kappa_gains(truths, SCALE, is_ordered=is_ordered)
    kappa = cohen_kappa_score(truths, answers, weights=weights, labels=SCALE)

    def expected(first, second):
        """Mean disagreement of two labels drawn apart, one of each."""
        steps = [abs(SCALE.index(a) - SCALE.index(b)) for a in first for b in second]
        return sum(step / 2 if is_ordered else step > 0 for step in steps) / len(steps)

    share = (mean_gain(gains, answers, truths) - gains.chance) / (gains.perfect - gains.chance)
    assert share == pytest.approx(kappa * expected(truths, answers) / expected(truths, truths))


@given(truths=labels, is_ordered=st.booleans())
def test_the_truth_is_the_best_answer_to_every_item_and_gains_stay_in_0_1(truths, is_ordered):
    gains = make_kappa_gains(truths, SCALE, is_ordered=is_ordered)
    for truth in SCALE:
        row = gains.table[truth]
        assert all(-ROUNDING <= value <= 1 + ROUNDING for value in row.values())
        assert row[truth] >= max(row.values()) - ROUNDING
    assert gains.perfect > gains.chance
    assert mean_gain(gains, truths, truths) == pytest.approx(gains.perfect)


def test_labels_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match=r"labels\[1\] is 'most', wanted one of none"):
        make_kappa_gains(["none", "most"], SCALE)
    with pytest.raises(ValueError, match="all 2 labels are the same"):
        make_kappa_gains(["none", "none"], SCALE)
