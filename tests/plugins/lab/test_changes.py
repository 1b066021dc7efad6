"""A change of score split into judge and systems: by hand, as truescore, and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from truescore.bias import judge_error_regression, length_bias
from truescore.compare import mcnemar
from truescore.drift import judge_drift

from nuggetjudge.metrics.inference import Interval, mean_by_topic
from nuggetjudge.plugins.lab.changes import (
    HELD,
    MOVED,
    UNKNOWN,
    Anchors,
    Side,
    drift,
    label_shift,
    least_squares,
    status,
)


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
    with pytest.raises(ValueError, match="anchors have the same topic"):
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
        for k, (interval, truth) in enumerate(
            ((change.instrument, instrument), (change.systems, systems))
        ):
            hits[k] += interval.low <= truth <= interval.high
    return hits / n_draws


def test_intervals_hold_what_moved():
    assert (holds(200, 1) > 0.9).all()


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 12, 40])
def test_intervals_hold_what_moved_as_often_as_they_say(n_topics):
    shares = holds(4000, n_topics, n_topics=n_topics)
    assert ((shares > 0.935) & (shares < 0.97)).all()


ALONE = [str(i) for i in range(200)]  # each row a topic of its own


def errors(seed=0, n=200):
    """Judge and human gains, and two covariates that the judge's errors go with."""
    rng = np.random.default_rng(seed)
    length, place = rng.integers(20, 400, n), rng.integers(0, 12, n)
    human = rng.choice([0, 0.5, 1], n)
    chance = 0.2 + 0.001 * length - 0.01 * place
    judged = np.where(rng.random(n) < chance, 1.0, human)
    return judged, human, length, place


def with_constant(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns])


def test_independent_rows_give_the_values_of_truescore():
    judged, human, length, place = errors()
    fit = least_squares(judged - human, with_constant(length, place), ALONE)
    theirs = judge_error_regression(judged, human, {"length": length, "place": place})
    t, z = stats.t.ppf(0.975, 199), stats.norm.ppf(0.975)  # theirs are normal intervals
    for column, effect in enumerate(theirs.effects, start=1):
        assert fit.values[column] == pytest.approx(effect.effect, abs=1e-12)
        assert fit.error(column) == pytest.approx(effect.std_error, abs=1e-12)
        bounds = fit.interval(column)
        assert bounds.high - bounds.value == pytest.approx(t / z * (effect.high - effect.effect))
    assert fit.values[0] == pytest.approx(theirs.intercept, abs=1e-12)
    alone = least_squares(judged - human, with_constant(length / 100), ALONE)
    per_hundred = length_bias(judged, human, length, per=100)
    assert alone.values[1] == pytest.approx(per_hundred.effect, abs=1e-12)
    assert alone.error(1) == pytest.approx(per_hundred.std_error, abs=1e-12)


@pytest.mark.slow
def test_topics_of_several_rows_are_left_out_one_at_a_time_as_by_refitting():
    import statsmodels.api as sm

    judged, human, length, place = errors(3)
    x, y = with_constant(length, place), judged - human
    topics = [f"t{i % 7}" for i in range(200)]
    fit = least_squares(y, x, topics)
    whole = sm.OLS(y, x).fit()
    assert fit.values == pytest.approx(whole.params, abs=1e-10)
    kept = [np.array([t != topic for t in topics]) for topic in sorted(set(topics))]
    without = np.array([sm.OLS(y[on], x[on]).fit().params for on in kept])
    assert fit.without == pytest.approx(without, abs=1e-10)
    for column in range(3):
        moved = without[:, column] - whole.params[column]
        assert fit.error(column) == pytest.approx(np.sqrt((moved**2).sum()), abs=1e-12)
    # Near the sandwich estimate (CR1), which is known to be too small with few clusters.
    groups = np.unique(topics, return_inverse=True)[1]
    sandwich = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": groups}).bse
    assert (sandwich < [fit.error(i) for i in range(3)]).all()
    assert [fit.error(i) for i in range(3)] == pytest.approx(sandwich, rel=0.35)


def test_the_mean_has_the_interval_of_students_t():
    values = np.random.default_rng(1).normal(size=12)
    mean = mean_by_topic(values, ALONE[:12])
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (mean.low, mean.value, mean.high) == pytest.approx((low, values.mean(), high))
    unknown = mean_by_topic([0.0, 1.0], None)
    assert (unknown.value, unknown.low, unknown.n_topics) == (0.5, None, 1)
    assert mean_by_topic([], []).value is None


@pytest.mark.parametrize(
    "columns",
    [[[1, 3], [1, 3], [1, 3]], [[1, 2, 4], [1, 1, 2], [1, 5, 10]], [[1, 0], [1, 0], [1, 0]], []],
    ids=["constant", "multiple", "zero", "fewer rows than columns"],
)
def test_columns_that_cannot_be_told_apart_have_no_fit(columns):
    n = len(columns)
    assert least_squares(np.zeros(n), np.zeros((0, 2)) if not n else columns, ALONE[:n]) is None


def test_an_effect_that_one_topic_alone_shows_has_no_interval():
    x, y = with_constant([1.0, 0, 0, 0]), [1.0, 0, 0, 0]
    fit = least_squares(y, x, ["a", "b", "c", "c"])
    assert fit.values[1] == pytest.approx(1)
    assert (fit.interval(1).low, fit.interval(1).n_topics) == (None, 3)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="2 values, 3 rows, 3 topics"):
        least_squares([0, 1], [[1], [1], [1]], list("abc"))


@given(st.permutations(range(30)), st.floats(0.1, 100))
def test_order_of_rows_changes_nothing_and_a_unit_only_scales(order, unit):
    judged, human, length, place = (values[:30] for values in errors(5))
    topics = np.array([f"t{i % 6}" for i in range(30)])
    y, x, at = judged - human, with_constant(length, place), list(order)
    one = least_squares(y, x, list(topics))
    two = least_squares(y[at], (x / [1, unit, 1])[at], list(topics[at]))
    assert two.values == pytest.approx(one.values * [1, unit, 1], rel=1e-6, abs=1e-9)
    assert two.error(1) == pytest.approx(one.error(1) * unit, rel=1e-6)


def coverage(n_draws, n_topics, seed):
    """How often a 95% interval of a slope holds the truth, topics of unequal size and level."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(n_draws):
        sizes = rng.integers(5, 40, n_topics)
        of_row = np.repeat(np.arange(n_topics), sizes)
        length = rng.normal(size=len(of_row)) + rng.normal(size=n_topics)[of_row]
        own = rng.normal(0, 0.3, n_topics)[of_row] + rng.normal(0, 0.2, n_topics)[of_row] * length
        y = 0.1 * length + own + rng.normal(size=len(of_row))
        fit = least_squares(y, with_constant(length), [str(i) for i in of_row])
        bounds = fit.interval(1)
        hits += bounds.low <= 0.1 <= bounds.high
    return hits / n_draws


def test_intervals_hold_the_truth_where_errors_are_by_topic():
    assert coverage(150, 8, 0) > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 8, 12, 30])
def test_intervals_hold_the_truth_as_often_as_they_say(n_topics):
    assert 0.935 <= coverage(4000, n_topics, n_topics) <= 0.99


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
        None, None, None, ["unweighted"],
    )  # fmt: skip
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
