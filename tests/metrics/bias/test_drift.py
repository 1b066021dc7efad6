"""A change of score split into judge and systems: by hand, as truescore, and by simulation."""

import numpy as np
import pytest
from scipy import stats
from truescore.compare import mcnemar
from truescore.drift import judge_drift

from nuggetjudge.metrics.bias.clustered import mean_by_topic
from nuggetjudge.metrics.bias.drift import HELD, MOVED, UNKNOWN, Anchors, Side, drift, status
from nuggetjudge.metrics.bootstrap import Interval


def side(gains, topics, n_topics):
    """The mean over topics of the mean gain there, as a score by topic."""
    topics = np.asarray(topics)
    n = np.bincount(topics, minlength=n_topics)
    of_score = np.count_nonzero(n)
    earned = np.bincount(topics, gains, n_topics) / np.maximum(n, 1) / of_score
    return Side(earned, (n > 0) / of_score, n > 0)


def anchors(topics, old, new, human=None):
    n = len(old)
    human = np.full(n, np.nan) if human is None else np.asarray(human, float)
    return Anchors(np.asarray(topics), np.ones(n), np.asarray(old), np.asarray(new), human)


def test_independent_binary_anchors_give_the_values_of_truescore():
    rng = np.random.default_rng(0)
    n = 80
    human = rng.integers(0, 2, n)
    old = np.where(rng.random(n) < 0.8, human, 1 - human)
    new = np.where(rng.random(n) < 0.7, human, 1)
    topics = np.arange(n)
    change = drift(side(old, topics, n), side(new, topics, n), anchors(topics, old, new, human))
    theirs = judge_drift(old, new, human)
    names = [str(t) for t in topics]
    equal = mean_by_topic((new == human) * 1.0 - (old == human), names)
    assert equal.value == pytest.approx(theirs.agreement_change)
    assert np.mean(old != new) == pytest.approx(theirs.flip_rate)
    # The change of what the judge gives is McNemar's difference; his variance has n for n - 1, and
    # his interval is normal.
    paired = mcnemar(new, old)
    wider = stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975) * np.sqrt(n / (n - 1))
    for ours, one in ((change.instrument, paired), (equal, theirs)):
        difference = one.difference if one is paired else one.agreement_change
        assert ours.value == pytest.approx(difference)
        assert ours.high - ours.value == pytest.approx(wider * (one.high - difference))
    assert change.bias_new.value - change.bias_old.value == pytest.approx(change.instrument.value)
    assert change.bias_old.value == pytest.approx(np.mean(old - human))
    assert (change.systems.value, change.systems.low, change.systems.high) == (0, 0, 0)


def test_a_hand_count_with_anchors_in_some_topics():
    # Old: topics 0 and 1 with scores .5 and 0; new: 0 and 2 with 1 and 1. Anchors of topics 0 (one
    # of two moved by 1) and 1 (none): the judge gives (0.5 + 0) / 2 more.
    old, new = side([1, 0, 0, 0], [0, 0, 1, 1], 3), side([1, 1, 1], [0, 0, 2], 3)
    change = drift(old, new, anchors([0, 0, 1], [1, 0, 0], [1, 1, 0]), level=0.5)
    assert (change.score_old, change.score_new) == (0.25, 1.0)
    assert change.raw.value == 0.75
    assert change.instrument.value == 0.25
    assert change.systems.value == 0.5
    # Without topic 0: old 0, new 1, judge 0; without 1: .5, 1, .5; without 2: .25, 1, .25.
    without = np.array([1.0, 0.0, 0.5])
    spread = 2 / 3 * ((without - without.mean()) ** 2).sum()
    half = stats.t.ppf(0.75, 1) * np.sqrt(spread)
    assert change.systems.value - change.systems.low == pytest.approx(half)
    assert change.systems.high == 1.0  # no score changes by more
    raw = np.array([1.0, 0.5, 0.75])  # of all three topics, with anchors or without
    half = stats.t.ppf(0.75, 2) * np.sqrt(2 / 3 * ((raw - raw.mean()) ** 2).sum())
    assert change.raw.high - change.raw.value == pytest.approx(half)
    assert (change.bias_old, change.bias_new) == (None, None)


def test_a_topic_without_an_answer_counts_0_and_is_left_out_as_any_other():
    # The old version answered topics 0 and 1 of three: (1 + 0 + 0) / 3; the new has .6 on all.
    old = Side(np.array([1 / 3, 0, 0]), np.array([1 / 3, 1 / 3, 0]), np.ones(3, dtype=bool))
    new, still = side([0.6] * 3, [0, 1, 2], 3), anchors([0, 1, 2], [0, 0, 0], [0, 0, 0])
    change = drift(old, new, still, level=0.5)
    raw = np.array([0.6 - 0.0, 0.6 - 0.5, 0.6 - 0.5])
    spread = 2 / 3 * ((raw - raw.mean()) ** 2).sum()
    assert change.raw.value == pytest.approx(0.6 - 1 / 3)
    assert change.raw.high - change.raw.value == pytest.approx(
        stats.t.ppf(0.75, 2) * np.sqrt(spread)
    )


def test_anchors_on_topics_that_the_score_lacks_count_as_other_topics_do():
    score = side([0.5, 0.5], [0, 1], 4)
    change = drift(score, score, anchors([2, 3, 3], [0, 0, 0], [0.2, 0.4, 0.4]))
    assert change.instrument.value == pytest.approx(0.3)
    assert change.systems.value == pytest.approx(-0.3)


def test_no_change_at_all_in_a_few_anchors_is_no_certainty():
    labels = np.array([0, 1] * 15)
    topics = np.arange(30) // 5
    still = side(labels, topics, 6)
    change = drift(still, still, anchors(topics, labels, labels))
    upper = stats.binomtest(0, 30).proportion_ci(0.95, "exact").high
    assert (change.instrument.low, change.instrument.high) == pytest.approx((-upper, upper))
    assert status(change.instrument, 0.05) == UNKNOWN
    assert status(change.instrument, 0.2) == HELD


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.01, 0.3, MOVED), (-0.3, -0.01, MOVED), (-0.05, 0.05, HELD), (-0.06, 0.01, UNKNOWN),
     (None, None, UNKNOWN)],
)  # fmt: skip
def test_what_an_interval_says(low, high, expected):
    assert status(Interval(0.0, low, high, 9), 0.05) == expected


def test_what_cannot_be_split_is_refused():
    two = side([0, 1], [0, 1], 2)
    with pytest.raises(ValueError, match="anchors are of one topic"):
        drift(two, two, anchors([0, 0], [0, 1], [1, 1]))
    with pytest.raises(ValueError, match="the same topics"):
        drift(two, side([1], [0], 1), anchors([0, 1], [0, 1], [1, 1]))


def holds(n_draws, seed, instrument=0.1, systems=0.2, n_topics=12):
    """How often both intervals hold the truth: a judge and systems that move by so much."""
    rng, hits = np.random.default_rng(seed), np.zeros(2)
    for _ in range(n_draws):
        level = rng.normal(0.4, 0.15, n_topics)
        shift = rng.normal(instrument, 0.1, n_topics)  # of the judge, another on each topic
        gain = rng.normal(systems, 0.1, n_topics)

        def judged(n, levels, n_topics=n_topics):
            topics = np.repeat(np.arange(n_topics), n)
            return topics, levels[topics] + rng.normal(0, 0.3, len(topics))

        topics, old = judged(20, level)
        _, new = judged(20, level + gain + shift)
        at, f = judged(6, level)
        moved = f + shift[at] + rng.normal(0, 0.2, len(at))
        change = drift(
            side(old, topics, n_topics), side(new, topics, n_topics), anchors(at, f, moved)
        )
        for k, (given, truth) in enumerate(
            ((change.instrument, instrument), (change.systems, systems))
        ):
            hits[k] += given.low <= truth <= given.high
    return hits / n_draws


def test_intervals_hold_what_moved():
    assert (holds(200, 1) > 0.9).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 12, 40])
def test_intervals_hold_what_moved_as_often_as_they_say(n_topics):
    shares = holds(4000, n_topics, n_topics=n_topics)
    assert ((shares > 0.935) & (shares < 0.97)).all()
