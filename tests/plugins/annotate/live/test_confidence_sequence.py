"""An interval that holds at every look: exactly on small populations, and in simulations."""

import dataclasses
from itertools import permutations

import numpy as np
import pytest
from benchmarks.pages.looks import KINDS, Kind, make, watch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, linprog
from scipy.special import logsumexp

from nuggetjudge.plugins.annotate.live.confidence_sequence import (
    Order,
    Predictions,
    compute_unbiased_totals,
    confidence_sequence,
    crossing,
    log_processes,
    predictions,
    score_bound,
)

# 5 items of one topic and 2 of another, which are labelled in one of these patterns.
STRATA = np.array([0, 0, 0, 0, 0, 1, 1])
JUDGED = np.array([1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 0.0])
HUMAN = np.array([1.0, 1.0, 0.0, 0.5, 0.0, 0.0, 1.0])
WEIGHTS = np.array([0.1, 0.2, 0.0, 0.3, 0.1, 0.2, 0.1])
PATTERNS = ((0, 1, 0, 0, 1, 0, 0), (0, 0, 0, 0, 0, 1, 1), (1, 1, 0, 0, 0, 0, 0))


def orders(pattern):
    """All equally likely orders of the labels when topics come in this pattern."""
    for first in permutations(range(5)):
        for second in permutations((5, 6)):
            left = [list(first), list(second)]
            yield Order(STRATA, np.array([left[topic].pop(0) for topic in pattern]))


def both_sides(order):
    """Gains, and losses: the arguments of what is computed of labels."""
    human = HUMAN[order.labelled]
    weighs = WEIGHTS[order.labelled] > 0
    line = predictions(order, JUDGED[order.labelled], np.where(weighs, human, np.nan))
    yield HUMAN, (order, JUDGED, human, WEIGHTS, line)
    yield 1 - HUMAN, (order, 1 - JUDGED, 1 - human, WEIGHTS, line.of_loss)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_label_estimates_its_topics_part_without_bias(pattern):
    totals = {False: [], True: []}
    for order in orders(pattern):
        for is_loss, (_, arguments) in enumerate(both_sides(order)):
            totals[bool(is_loss)].append(compute_unbiased_totals(*arguments).unbiased)
    for is_loss, gains in ((False, HUMAN), (True, 1 - HUMAN)):
        parts = np.bincount(STRATA, WEIGHTS * gains)
        assert np.mean(totals[is_loss], axis=0) == pytest.approx(parts[list(pattern)])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_bet_is_a_supermartingale_over_all_orders(pattern):
    means = []
    bets = np.array([0.3, 0.1, 0.02]) / (5 * WEIGHTS.max())  # times a bound below 1
    for order in orders(pattern):
        for gains, arguments in both_sides(order):
            totals = compute_unbiased_totals(*arguments)
            assert (totals.deviation >= -totals.bound - 1e-12).all()
            parts = np.bincount(STRATA, WEIGHTS * gains)[order.of]
            won = np.cumsum(totals.unbiased - parts)[:, None] * bets
            means.append(np.exp(won - log_processes(totals, bets).cumsum(axis=0)))
    mean_of_gains, mean_of_losses = (np.mean(means[side::2], axis=0) for side in (0, 1))
    for mean in (mean_of_gains, mean_of_losses):
        assert (mean <= 1 + 1e-12).all()
        assert (mean[-1] > 0.5).all()  # and not so far below that it would say nothing


def test_the_second_prediction_is_that_of_a_hand_count():
    # The judge gave 1 where people gave 0. With 4 labels of a judge that is right, half of them 1,
    # the means are .6 of f and of f f, .4 of h and of f h; 10 such labels join that of the topic.
    line = predictions(
        Order(np.zeros(2, int), np.arange(2)), np.array([1.0, 1]), np.array([0.0, 1])
    )
    f, h = (1 + 6) / 11, (0 + 4) / 11
    assert line.lam == pytest.approx([1.0, (h - f * h) / (f - f**2)])
    assert line.delta == pytest.approx([0.0, 0.0])


def test_predictions_know_earlier_labels_alone():
    rng = np.random.default_rng(5)
    order = Order(np.repeat([0, 1, 2], 10), rng.permutation(30))
    judged, human = rng.random(30), rng.random(30)
    before = predictions(order, judged, human)
    for k in range(30):
        changed = human.copy()
        changed[k:] = 1 - changed[k:]
        after = predictions(order, judged, changed)
        assert after.lam[: k + 1] == pytest.approx(before.lam[: k + 1])
        assert after.delta[: k + 1] == pytest.approx(before.delta[: k + 1])


@settings(max_examples=12)
@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1), st.floats(0, 1)), min_size=1))
def test_predictions_are_gains(rows):
    strata, judged, human = (np.array(column) for column in zip(*rows, strict=True))
    line = predictions(Order(strata, np.arange(len(rows))), judged, human)
    assert (line.delta >= 0).all()
    assert (line.lam >= 0).all()
    assert (line.lam + line.delta <= 1 + 1e-12).all()


def test_a_bound_of_weighted_parts_bounds_the_score_as_linear_programming_does():
    rng = np.random.default_rng(8)
    for _ in range(25):
        n = int(rng.integers(1, 7))
        counts = rng.integers(0, 5, n).astype(float)
        least = rng.random(n) * 0.3
        most = least + rng.random(n)
        if not counts.any():
            continue
        parts = least + rng.random(n) * (most - least)
        bound = float(counts @ parts) * rng.uniform(0.8, 1.0)
        exact = linprog(np.ones(n), -counts[None], [-bound], bounds=list(zip(least, most)))  # noqa: B905
        assert exact.success
        largest = max(
            least.sum(),
            score_bound(np.array([bound]), *(x[None] for x in (counts, least, most)))[0],
        )
        assert largest == pytest.approx(exact.fun, abs=1e-9)


def test_the_mixture_is_crossed_where_root_finding_says():
    rng = np.random.default_rng(2)
    bets, lowered = np.array([4.0, 2.0, 1.0, 0.5]), np.sort(rng.random((20, 4)) * 5)[:, ::-1]

    def mixture(y, row):
        return logsumexp(bets * y - row) - np.log(4) - np.log(40)

    exact = [brentq(mixture, -50, 50, args=(row,), xtol=1e-12) for row in lowered]
    assert crossing(bets, lowered, np.log(40)) == pytest.approx(exact, abs=1e-8)


def stream_of(seed=1, **more):
    return make(Kind(n_topics=6, n_items=40, n_labels=20, **more), np.random.default_rng(seed))


def sequence(one, **more):
    arguments = {"human": one.human[one.order], "judged": one.judged, "weights": one.weights}
    return confidence_sequence(Order(one.topics, one.order), **{**arguments, **more})


def test_with_all_items_labelled_it_is_the_score_by_people():
    one = make(Kind(n_topics=4, n_items=15, n_labels=None, uneven=True), np.random.default_rng(4))
    bounds = sequence(one)
    assert (bounds.low[-1], bounds.high[-1]) == pytest.approx((one.score, one.score))
    assert (bounds.low[0], bounds.high[0]) == pytest.approx((0, 1))


def test_bounds_never_move_back_and_fewer_looks_are_never_narrower():
    one = stream_of()
    bounds, few = sequence(one), sequence(one, looks=[0, 40, 120])
    assert (np.diff(bounds.low) >= 0).all()
    assert (np.diff(bounds.high) <= 1e-12).all()
    assert (few.low <= bounds.low[[0, 40, 120]] + 1e-12).all()
    assert (few.high >= bounds.high[[0, 40, 120]] - 1e-12).all()


def test_losses_mirror_gains():
    one = stream_of()
    bounds = sequence(one, predicted=Predictions(np.full(120, 0.5), np.full(120, 0.2)))
    other = dataclasses.replace(one, human=1 - one.human, judged=1 - one.judged)
    mirror = sequence(other, predicted=Predictions(np.full(120, 0.5), np.full(120, 0.3)))
    assert mirror.low == pytest.approx(1 - bounds.high)


def test_who_cannot_tell_widens_it_and_is_no_score():
    one = stream_of()
    human = one.human[one.order]
    open_ones = human.copy()
    open_ones[[3, 50, 90]] = np.nan
    bounds = sequence(one, human=open_ones)
    line = predictions(Order(one.topics, one.order), one.judged[one.order], open_ones)
    for value, bound in ((0.0, "low"), (1.0, "high")):
        filled = np.where(np.isnan(open_ones), value, human)
        same = getattr(sequence(one, human=filled, predicted=line), bound)
        assert getattr(bounds, bound) == pytest.approx(same)


def test_a_topic_without_a_label_costs_what_it_weighs():
    one = stream_of()
    order = Order(one.topics, one.order[one.topics[one.order] < 3])
    human = one.human[order.labelled]
    bounds = confidence_sequence(order, one.judged, human, one.weights)
    assert bounds.high[-1] - bounds.low[-1] > 0.5


def test_a_judge_that_knows_makes_it_narrower():
    good, useless = (stream_of(skill=skill, lean=0.0) for skill in (5.0, 0.0))
    widths = [bounds.high[-1] - bounds.low[-1] for bounds in map(sequence, (good, useless))]
    assert widths[0] < 0.6 * widths[1]


def test_other_runs_items_belong_to_the_draw_but_not_to_the_score():
    one = stream_of()
    rng = np.random.default_rng(3)
    is_ours = rng.random(len(one.topics)) < 0.5
    weights = np.where(is_ours, one.weights, 0.0)
    bounds = sequence(one, weights=weights / weights.sum())
    score = weights @ one.human / weights.sum()
    assert bounds.low[-1] <= score <= bounds.high[-1] < bounds.low[-1] + 0.6


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"human": np.full(120, 2.0)}, r"human\[0\] is 2.0, out of range"),
        ({"judged": np.full(240, -0.5)}, r"judged\[0\] is -0.5, out of range"),
        ({"weights": np.ones(3)}, "3 weights for 240 items"),
        ({"looks": [5, 5]}, "wanted ascending numbers from 0 to 120"),
        ({"level": 1.0}, "wanted between 0 and 1"),
    ],
)
def test_what_is_wrong_is_named(change, what):
    with pytest.raises(ValueError, match=what):
        sequence(stream_of(), **change)


def test_an_item_is_labelled_once():
    with pytest.raises(ValueError, match="labelled twice"):
        Order(np.array([0, 0]), np.array([1, 1]))


def test_hardly_a_stream_ever_leaves_it_where_the_fixed_interval_is_left_often():
    rng = np.random.default_rng(11)
    kind = Kind(n_topics=4, n_items=40, n_labels=20)
    watched = [watch(make(kind, rng)) for _ in range(20)]
    assert np.mean([one.left for one in watched]) <= 0.05
    assert np.mean([one.fixed_left for one in watched]) > 0.15
    assert 1.2 < np.mean([one.ratio for one in watched]) < 3.0


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.95, 0.5])
def test_streams_of_all_kinds_stay_in_it(level):
    for name, kind in KINDS.items():
        smaller = dataclasses.replace(
            kind, n_topics=min(kind.n_topics, 12), n_items=60, n_labels=kind.n_labels and 20
        )
        rng = np.random.default_rng(23)
        left = [watch(make(smaller, rng), level=level, fixed=False).left for _ in range(60)]
        assert np.mean(left) <= 1 - level, name


@pytest.mark.slow
def test_whoever_chooses_the_next_topic_by_what_was_seen_cannot_make_a_stream_leave():
    """The next topic is always the one with the best labels so far: it would flatter a mean."""
    rng, left = np.random.default_rng(6), []
    for _ in range(100):
        one = make(Kind(n_topics=4, n_items=40, n_labels=40), rng)
        queues = [list(rng.permutation(np.flatnonzero(one.topics == t))) for t in range(4)]
        order = [queue.pop() for queue in queues]
        seen = [[one.human[item]] for item in order]
        while len(order) < 100:
            best = max((t for t in range(4) if queues[t]), key=lambda t: np.mean(seen[t]))
            order.append(queues[best].pop())
            seen[best].append(one.human[order[-1]])
        flattered = dataclasses.replace(one, order=np.array(order))
        left.append(watch(flattered, level=0.8, fixed=False).left)
    assert np.mean(left) <= 0.2
