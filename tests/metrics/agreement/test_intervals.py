"""The array formulas behind the intervals are the coefficients of the drawn samples."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nuggetjudge.metrics import agreement, pairwise_kappa, reliability
from nuggetjudge.metrics.agreement import coefficients as of
from nuggetjudge.metrics.agreement.counts import label_counts, sums_of_items
from nuggetjudge.metrics.agreement.intervals import (
    _confusions,
    agreement_intervals,
    pairwise_intervals,
    reliability_intervals,
)
from nuggetjudge.metrics.bootstrap import Interval, resampling

SCALE = ["a", "b", "c"]
LABELS = st.sampled_from([*SCALE, None])
ITEMS = st.lists(
    st.tuples(st.sampled_from(["t1", "t2", "t3"]), LABELS, LABELS, LABELS), min_size=1, max_size=15
)


def same(drawn, value):
    assert math.isnan(drawn) == (value is None)
    if value is not None:
        assert drawn == pytest.approx(value, abs=1e-9)


def repeated(items, sample, i):
    """The items of the i-th sample, written out."""
    times = sample.draws[i][sample.topic_of]
    return [item for item, n in zip(items, times, strict=True) for _ in range(n)]


@given(ITEMS)
def test_figures_of_two_raters_are_those_of_the_samples_written_out(items):
    items = [(topic, one, other) for topic, one, other, _ in items if one and other]
    if not items:
        return
    topics, one, other = zip(*items, strict=True)
    sample = resampling(topics, resamples=4)
    figures = of.of_pairs(_confusions(one, other, SCALE, sample), SCALE)
    for i in range(4):
        _, truth, judged = zip(*repeated(items, sample, i), strict=True)
        result = agreement(truth, judged, SCALE)
        for name, drawn in figures.items():
            value = getattr(result, name)
            for key, each in drawn.items() if isinstance(drawn, dict) else [("", drawn)]:
                same(each[i], value[key] if key else value)


@given(ITEMS)
def test_figures_of_several_annotators_are_those_of_the_samples_written_out(items):
    topics, *ratings = zip(*items, strict=True)
    sample = resampling(topics, resamples=4)
    sums = sums_of_items(label_counts(ratings, SCALE), sample.topic_of, sample.n_topics)
    shared = of.of_items(sums.drawn(sample.draws))
    each = [sum(label is not None for label in item[1:]) for item in items]
    commonest = max((n for n in each if n > 1), key=lambda n: (each.count(n), n), default=0)
    for i in range(4):
        drawn = repeated(items, sample, i)
        figures = reliability(list(zip(*(item[1:] for item in drawn), strict=True)), SCALE)
        same(shared["observed"][i], figures.observed)
        same(shared["ac1"][i], figures.ac1)
        for level in of.LEVELS:
            same(shared["alpha"][level][i], figures.alpha[level])
        even = [item[1:] for item in drawn if len(item[1:]) - item[1:].count(None) == commonest]
        figures = reliability(
            list(zip(*even, strict=True)), SCALE
        )  # the number is that of all items
        same(shared["fleiss_kappa"][i], figures.fleiss_kappa)
        same(shared["randolph_kappa"][i], figures.randolph_kappa)


def many(n_topics=12, n=20, seed=1):
    """Labels of a fair judge whose quality differs by topic."""
    rng = np.random.default_rng(seed)
    topics, truth, judged = [], [], []
    for topic in range(n_topics):
        right = rng.uniform(0.3, 0.95)
        for label in rng.choice(SCALE, n):
            topics.append(f"t{topic}")
            truth.append(str(label))
            judged.append(str(label if rng.random() < right else rng.choice(SCALE)))
    return topics, truth, judged


def test_the_interval_of_accuracy_is_that_of_a_mean_over_topics():
    topics, truth, judged = many()
    interval = agreement_intervals(agreement(truth, judged, SCALE), truth, judged, topics)[
        "accuracy"
    ]
    equal = [t == j for t, j in zip(truth, judged, strict=True)]
    by_topic = np.array(equal, float).reshape(12, 20).mean(axis=1)
    half = stats.t.ppf(0.975, 11) * by_topic.std(ddof=1) / np.sqrt(12)
    assert interval.n_topics == 12
    value = interval.value
    odds, slope = np.log(value / (1 - value)), value * (1 - value)
    ends = [1 / (1 + np.exp(-(odds + side * half / slope))) for side in (-1, 1)]  # a share's: logit
    assert (interval.low, interval.high) == pytest.approx(ends, abs=0.015)


def test_intervals_are_wider_by_topic_than_if_each_item_were_a_topic():
    topics, truth, judged = many()
    figures = agreement(truth, judged, SCALE)
    widths = [
        interval.high - interval.low
        for names in (topics, [str(i) for i in range(len(truth))])
        for interval in [
            agreement_intervals(figures, truth, judged, names)["cohen_kappa"]["linear"]
        ]
    ]
    assert widths[0] > 1.2 * widths[1]


def test_every_headline_figure_has_an_interval_around_it():
    topics, truth, judged = many()
    by_figure = agreement_intervals(agreement(truth, judged, SCALE), truth, judged, topics)
    single = ["accuracy", "macro_f1", "fleiss_kappa", "randolph_kappa", "ac1"]
    grouped = dict.fromkeys(("cohen_kappa", "alpha", "one_vs_rest", "precision", "recall", "f1"), 3)
    assert sorted(by_figure) == sorted([*single, *grouped])
    intervals = [by_figure[name] for name in single]
    for name, n in grouped.items():
        assert len(by_figure[name]) == n
        intervals += by_figure[name].values()
    assert all(one.low < one.value < one.high for one in intervals)


def test_seed_and_level_and_order_of_items():
    topics, truth, judged = many()
    figures = agreement(truth, judged, SCALE)

    def kappa(order=slice(None), **how):
        lists = truth[order], judged[order], topics[order]
        return agreement_intervals(figures, *lists, **how)["cohen_kappa"]["unweighted"]

    assert kappa() == kappa()
    assert kappa(slice(None, None, -1)).low == pytest.approx(kappa().low)
    assert kappa(seed=1).low != kappa().low
    assert kappa().low < kappa(level=0.5).low < kappa(level=0.5).high < kappa().high


@pytest.mark.parametrize(
    ("topics", "how"), [(None, {}), (["t"] * 3, {}), (["s", "t", "s"], {"resamples": 0})]
)
def test_without_topics_one_topic_or_samples_there_are_no_bounds(topics, how):
    truth, judged = ["a", "b", "c"], ["a", "b", "b"]
    ratings = [truth, judged]
    intervals = agreement_intervals(agreement(truth, judged, SCALE), *ratings, topics, **how)
    n_topics = len(set(topics or []))
    assert intervals["accuracy"] == Interval(2 / 3, None, None, n_topics)
    assert intervals["alpha"]["ordinal"].low is None
    among = reliability(ratings, SCALE)
    intervals = reliability_intervals(among, ratings, SCALE, topics, **how)
    assert intervals["ac1"] == Interval(among.ac1, None, None, n_topics)
    assert intervals["pairwise_kappa"]["linear"].low is None


def test_the_mean_over_pairs_has_the_interval_of_the_one_pair_there_is():
    topics, truth, judged = many()
    pair = [(truth, judged)]
    intervals = pairwise_intervals(pairwise_kappa(pair, SCALE), pair, SCALE, topics)
    alone = agreement_intervals(agreement(truth, judged, SCALE), truth, judged, topics)
    assert intervals == alone["cohen_kappa"]
    among = reliability([truth, judged], SCALE)
    of_two = reliability_intervals(among, [truth, judged], SCALE, topics)
    assert of_two["pairwise_kappa"] == alone["cohen_kappa"]
    assert of_two["alpha"] == alone["alpha"]
    assert of_two["observed"] == alone["accuracy"]


# Missing labels: in a sample the mean is over the pairs that have a kappa there.
def test_the_mean_over_pairs_is_that_of_the_samples_written_out():
    topics = ["s", "s", "s", "t", "t", "t"]
    ratings = [list("abcabc"), list("abbacc"), [*"aba", None, None, None]]
    pairs = [(ratings[0], other) for other in ratings[1:]]
    intervals = pairwise_intervals(
        pairwise_kappa(pairs, SCALE), pairs, SCALE, topics, resamples=400, level=0.9
    )
    at = {"ss": slice(0, 3), "tt": slice(3, 6), "st": slice(0, 6)}
    values = {}
    for name, rows in at.items():
        drawn = [([*one[rows]], [*other[rows]]) for one, other in pairs]
        values[name] = pairwise_kappa(drawn, SCALE).unweighted
    assert intervals["unweighted"].low == pytest.approx(min(values.values()))
    assert intervals["unweighted"].high == pytest.approx(max(values.values()))
