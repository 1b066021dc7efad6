"""Two labellings of the same items: what changed, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.agreement.shift import label_shift

SCALE = ["none", "partial", "full"]
GAINS = {"none": 0.0, "partial": 0.5, "full": 1.0}
labels = st.sampled_from([*SCALE, None])


def test_every_figure_is_the_hand_count():
    # Run a: t1 full, none -> full, full; t2 partial -> none. Run b: t1 none -> partial; t2 lost.
    base = ["full", "none", "partial", "none", "full"]
    other = ["full", "full", "none", "partial", None]
    topics, runs = ["t1", "t1", "t2", "t1", "t2"], ["a", "a", "a", "b", "b"]
    shift = label_shift([(base, other)], SCALE, GAINS, topics, runs)
    assert shift.n == 4
    assert shift.changed.value == 3 / 4
    assert shift.best.value == pytest.approx((2 - 1) / 4)
    assert shift.gain.value == pytest.approx((2.5 - 1.5) / 4)
    # a: (0.5 + 0.5) / 2 = 0.5 -> (1 + 0) / 2 = 0.5; b: 0 -> 0.5: two runs, tied under the second.
    assert (shift.runs.n, shift.runs.mean, shift.runs.largest) == (2, 0.25, 0.5)
    assert shift.runs.tau_b is None
    # Agreement 1/4; by chance, (1*2 + 2*1 + 1*1) / 16 = 5/16: (4/16 - 5/16) / (11/16).
    assert shift.kappa["unweighted"].value == pytest.approx(-1 / 11)
    # Distances 0, 2, 1, 1: 1 on average. By chance (margins 2 1 1 and 1 1 2): (10 + 3 + 3) / 16.
    assert shift.kappa["linear"].value == pytest.approx(1 - 1 / (16 / 16))


def test_topics_that_are_alike_give_an_interval_without_width_and_one_topic_none():
    pair = (["none", "full"] * 3, ["full", "full"] * 3)
    topics = ["t1", "t1", "t2", "t2", "t3", "t3"]
    shift = label_shift([pair], SCALE, GAINS, topics)
    assert (shift.changed.low, shift.changed.high, shift.changed.n_topics) == (0.5, 0.5, 3)
    assert (shift.best.low, shift.best.high) == (0.5, 0.5)
    assert shift.runs is None
    alone = label_shift([pair], SCALE, GAINS, ["t1"] * 6)
    assert (alone.changed.value, alone.changed.low) == (0.5, None)
    assert label_shift([pair], SCALE, GAINS, None).changed.low is None


def test_several_pairs_are_averaged_and_the_order_of_runs_is_seen():
    one, two, three = ["full", "none"], ["none", "full"], ["full", "none"]
    pairs = [(one, two), (one, three), (two, three)]
    shift = label_shift(pairs, SCALE, GAINS, ["t1", "t1"], ["a", "b"])
    assert (shift.n, shift.changed.value) == (6, 4 / 6)
    assert shift.runs.tau_b == pytest.approx((-1 + 1 - 1) / 3)
    assert (shift.runs.n, shift.runs.mean, shift.runs.largest) == (2, pytest.approx(4 / 6), 1.0)
    assert shift.kappa["unweighted"].value == pytest.approx((-1 + 1 - 1) / 3)


def test_labels_without_order_have_no_level_and_nothing_judged_has_no_figures():
    shift = label_shift([(["full"], ["none"])], SCALE, None, ["t1"], ["a"])
    assert (shift.best, shift.gain, shift.runs, list(shift.kappa)) == (
        None,
        None,
        None,
        ["unweighted"],
    )
    lost = label_shift([(["full"], [None])], SCALE, GAINS, ["t1"], ["a"])
    assert (lost.n, lost.changed.value, lost.best.value) == (0, None, None)
    assert (lost.runs.n, lost.runs.mean, lost.runs.largest) == (0, None, None)


@pytest.mark.parametrize(
    "pair", [(["full"], ["full", "none"]), (["full"], ["perhaps"])], ids=["lengths", "label"]
)
def test_labellings_that_do_not_fit_are_refused(pair):
    with pytest.raises(ValueError, match=r"perhaps|argument 2|for 1|2 "):
        label_shift([pair], SCALE, GAINS, ["t1"] * len(pair[0]))


def test_nothing_to_compare_and_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="no pair of labellings"):
        label_shift([], SCALE, GAINS, [])
    pair, longer = (["full"], ["none"]), (["full"] * 2, ["none"] * 2)
    with pytest.raises(ValueError, match=r"pairs\[1\]\[0\] has 2 items"):
        label_shift([pair, longer], SCALE, GAINS, ["t1"])
    with pytest.raises(ValueError, match="topics has 2 items"):
        label_shift([pair], SCALE, GAINS, ["t1", "t2"])
    with pytest.raises(ValueError, match="runs has 0 items"):
        label_shift([pair], SCALE, GAINS, ["t1"], [])


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=12))
def test_turned_round_shifts_change_their_sign_and_nothing_else(pairs):
    one, other = (list(side) for side in zip(*pairs, strict=True))
    topics = [f"t{i % 3}" for i in range(len(one))]
    there = label_shift([(one, other)], SCALE, GAINS, topics, topics, resamples=20)
    back = label_shift([(other, one)], SCALE, GAINS, topics, topics, resamples=20)
    assert (there.n, there.changed) == (back.n, back.changed)
    assert there.runs == back.runs
    if there.n:
        assert there.gain.value == pytest.approx(-back.gain.value)
        assert abs(there.best.value) <= there.changed.value <= 1
        same = label_shift([(one, one)], SCALE, GAINS, topics, topics, resamples=0)
        assert (same.changed.value, same.gain.value, same.runs.largest) == (0, 0, 0)
