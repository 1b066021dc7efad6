"""Every figure of agreement is that of scikit-learn, statsmodels or krippendorff, to 1e-9.

Random labels, and labels that leave figures undefined: none, one item, one label, one annotator,
missing ones, labels of the scale that nobody uses.
"""

import math
import warnings
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score, precision_recall_fscore_support

from nuggetjudge.metrics import agreement, pairwise_kappa, reliability
from nuggetjudge.metrics import label_coefficients as of
from nuggetjudge.metrics.inference import Interval, resampling
from nuggetjudge.metrics.label_agreement import (
    _confusions,
    agreement_intervals,
    cohen_kappas,
    pairwise_intervals,
    reliability_intervals,
)
from nuggetjudge.metrics.label_coefficients import (
    count_confusion,
    label_counts,
    sum_items,
    sum_pairs,
)

LEVELS = ("nominal", "ordinal", "interval")
WEIGHTS = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}


def drawn_labels(rng, n_annotators, missing=0.0):
    """Labels that agree in part: a scale of 2-6 of which some labels are used, 0-25 items."""
    scale = list("abcdef")[: rng.integers(2, 7)]
    used = rng.permutation(scale)[: rng.integers(1, len(scale) + 1)]
    n = int(rng.choice([0, 1, 2, 3, 6, 25]))
    truth = rng.choice(used, n)
    ratings = [np.where(rng.random(n) < 0.6, truth, rng.choice(used, n)).tolist()]
    for _ in range(n_annotators - 1):
        other = np.where(rng.random(n) < 0.6, truth, rng.choice(used, n)).tolist()
        ratings.append(other)
    return scale, [[None if rng.random() < missing else x for x in one] for one in ratings]


def sklearn_kappa(one, other, scale, weights):
    """None where scikit-learn has no number: 0/0."""
    if not one or len({*one, *other}) < 2:
        return None
    return float(cohen_kappa_score(one, other, labels=scale, weights=weights))


def krippendorff_alpha(ratings, scale, level):
    """None where the package refuses: fewer than two labels among items with two or more."""
    columns = [[x for x in item if x is not None] for item in zip(*ratings, strict=True)]
    if len({x for labels in columns if len(labels) > 1 for x in labels}) < 2:
        return None
    counts = [[labels.count(label) for label in scale] for labels in columns]
    return float(krippendorff.alpha(value_counts=np.array(counts), level_of_measurement=level))


def statsmodels_kappa(ratings, scale, method):
    """Of the items with the commonest number of labels; None where it divides by 0."""
    from statsmodels.stats.inter_rater import fleiss_kappa

    items = [[x for x in item if x is not None] for item in zip(*ratings, strict=True)]
    numbers = [len(labels) for labels in items if len(labels) > 1]
    if not numbers:
        return None
    commonest = max(numbers, key=lambda n: (numbers.count(n), n))
    even = [labels for labels in items if len(labels) == commonest]
    if method == "fleiss" and len({x for labels in even for x in labels}) < 2:
        return None
    counts = [[labels.count(label) for label in scale] for labels in even]
    return float(fleiss_kappa(np.array(counts), method=method))


def same(value, expected):
    assert (value is None) == (expected is None)
    if expected is not None:
        assert type(value) is float
        assert value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(60))
def test_two_sides_agree_as_the_libraries_say(seed):
    rng = np.random.default_rng(seed)
    scale, (truth, judged) = drawn_labels(rng, 2)
    figures = agreement(truth, judged, scale)
    same(figures.accuracy, accuracy_score(truth, judged) if truth else None)
    for name, weights in WEIGHTS.items():
        expected = sklearn_kappa(truth, judged, scale, weights)
        same(figures.cohen_kappa[name], expected)
        same(cohen_kappas(truth, judged, scale)[name], expected)
    for label in scale:
        one, other = ([x == label for x in side] for side in (truth, judged))
        same(figures.one_vs_rest[label], sklearn_kappa(one, other, [False, True], None))
    if truth:
        shares = precision_recall_fscore_support(
            truth, judged, labels=scale, zero_division=math.nan
        )
        for name, values in zip(("precision", "recall"), shares, strict=False):
            for label, x in zip(scale, values.tolist(), strict=True):
                same(getattr(figures, name)[label], None if math.isnan(x) else x)
        same(figures.macro_f1, float(np.nanmean(shares[2])))
    for level in LEVELS:
        same(figures.alpha[level], krippendorff_alpha([truth, judged], scale, level))
    same(figures.fleiss_kappa, statsmodels_kappa([truth, judged], scale, "fleiss"))
    same(figures.randolph_kappa, statsmodels_kappa([truth, judged], scale, "randolph"))


@pytest.mark.parametrize("missing", [0.0, 0.3, 0.8, 1.0])
@pytest.mark.parametrize("seed", range(15))
def test_annotators_agree_as_the_libraries_say(seed, missing):
    rng = np.random.default_rng(seed)
    scale, ratings = drawn_labels(rng, int(rng.integers(1, 6)), missing)
    figures = reliability(ratings, scale)
    for level in LEVELS:
        same(figures.alpha[level], krippendorff_alpha(ratings, scale, level))
    same(figures.fleiss_kappa, statsmodels_kappa(ratings, scale, "fleiss"))
    same(figures.randolph_kappa, statsmodels_kappa(ratings, scale, "randolph"))
    both = [
        [(x, y) for x, y in zip(*pair, strict=True) if x is not None and y is not None]
        for pair in combinations(ratings, 2)
    ]
    for name, weights in WEIGHTS.items():
        kappas = [
            sklearn_kappa([x for x, _ in pairs], [y for _, y in pairs], scale, weights)
            for pairs in both
        ]
        defined = [kappa for kappa in kappas if kappa is not None]
        n = [len(pairs) for pairs, kappa in zip(both, kappas, strict=True) if kappa is not None]
        mean = np.average(defined, weights=n) if defined else None
        same(getattr(figures.pairwise_kappa, name), mean)
        assert figures.pairwise_kappa.n_pairs == len(defined)
        assert figures.pairwise_kappa.n_undefined == len(kappas) - len(defined)


@pytest.mark.parametrize("seed", range(15))
def test_two_sides_are_two_annotators_and_missing_labels_make_no_pair(seed):
    rng = np.random.default_rng(seed)
    scale, (one, other) = drawn_labels(rng, 2, missing=0.3)
    both = [(x, y) for x, y in zip(one, other, strict=True) if x is not None and y is not None]
    truth, judged = [x for x, _ in both], [y for _, y in both]
    of_pairs = sum_pairs(count_confusion(one, other, scale))
    of_items = sum_items(label_counts([truth, judged], scale)).draw_samples(np.ones(1, np.int64))
    for name, sums in vars(of_items).items():
        assert getattr(of_pairs, name) == pytest.approx(sums), name
    assert cohen_kappas(one, other, scale) == agreement(truth, judged, scale).cohen_kappa
    pairwise = vars(pairwise_kappa([(one, other)], scale))
    assert {name: pairwise[name] for name in WEIGHTS} == cohen_kappas(one, other, scale)


def test_no_warning_is_given_where_a_figure_is_undefined():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement([], [], "ab")
        agreement(["a"], ["a"], "ab")
        reliability([["a", None], [None, "a"]], "ab")
        of.cohen_kappa(np.zeros((0, 2, 2)))


SCALE = ["a", "b", "c"]
LABELS = st.sampled_from([*SCALE, None])
ITEMS = st.lists(
    st.tuples(st.sampled_from(["t1", "t2", "t3"]), LABELS, LABELS, LABELS), min_size=1, max_size=15
)


def intervals_same(drawn, value):
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
    figures = of.compute_pair_figures(_confusions(one, other, SCALE, sample), SCALE)
    for i in range(4):
        _, truth, judged = zip(*repeated(items, sample, i), strict=True)
        result = agreement(truth, judged, SCALE)
        for name, drawn in figures.items():
            value = getattr(result, name)
            for key, each in drawn.items() if isinstance(drawn, dict) else [("", drawn)]:
                intervals_same(each[i], value[key] if key else value)


@given(ITEMS)
def test_figures_of_several_annotators_are_those_of_the_samples_written_out(items):
    topics, *ratings = zip(*items, strict=True)
    sample = resampling(topics, resamples=4)
    sums = sum_items(label_counts(ratings, SCALE), sample.topic_of, sample.n_topics)
    shared = of.compute_item_figures(sums.draw_samples(sample.draws))
    each = [sum(label is not None for label in item[1:]) for item in items]
    commonest = max((n for n in each if n > 1), key=lambda n: (each.count(n), n), default=0)
    for i in range(4):
        drawn = repeated(items, sample, i)
        figures = reliability(list(zip(*(item[1:] for item in drawn), strict=True)), SCALE)
        intervals_same(shared["observed"][i], figures.observed)
        intervals_same(shared["ac1"][i], figures.ac1)
        for level in of.LEVELS:
            intervals_same(shared["alpha"][level][i], figures.alpha[level])
        even = [item[1:] for item in drawn if len(item[1:]) - item[1:].count(None) == commonest]
        figures = reliability(
            list(zip(*even, strict=True)), SCALE
        )  # the number is that of all items
        intervals_same(shared["fleiss_kappa"][i], figures.fleiss_kappa)
        intervals_same(shared["randolph_kappa"][i], figures.randolph_kappa)


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
