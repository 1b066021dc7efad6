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
from sklearn.metrics import accuracy_score, cohen_kappa_score, precision_recall_fscore_support

from nuggetjudge.metrics import agreement, pairwise_kappa, reliability
from nuggetjudge.metrics.agreement import coefficients as of
from nuggetjudge.metrics.agreement.counts import (
    commonest_number,
    confusion_of,
    label_counts,
    sums_of_items,
    sums_of_pairs,
)
from nuggetjudge.metrics.agreement.pairs import cohen_kappas

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
    of_pairs = sums_of_pairs(confusion_of(one, other, scale))
    of_items = sums_of_items(label_counts([truth, judged], scale)).drawn(np.ones(1, np.int64))
    for name, sums in vars(of_items).items():
        assert getattr(of_pairs, name) == pytest.approx(sums), name
    assert cohen_kappas(one, other, scale) == agreement(truth, judged, scale).cohen_kappa
    pairwise = vars(pairwise_kappa([(one, other)], scale))
    assert {name: pairwise[name] for name in WEIGHTS} == cohen_kappas(one, other, scale)


def test_sums_of_topics_add_up_to_those_of_all_items():
    rng = np.random.default_rng(0)
    counts = label_counts([rng.choice(["a", "b", None], 40).tolist() for _ in range(3)], "ab")
    topics = rng.integers(0, 4, 40)
    by_topic, whole = sums_of_items(counts, topics, 4), sums_of_items(counts)
    for name, sums in vars(by_topic).items():
        assert sums.shape[0] == 4
        assert sums.sum(axis=0) == pytest.approx(getattr(whole, name)[0]), name


def test_no_warning_is_given_where_a_figure_is_undefined():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agreement([], [], "ab")
        agreement(["a"], ["a"], "ab")
        reliability([["a", None], [None, "a"]], "ab")
        of.cohen_kappa(np.zeros((0, 2, 2)))


# "Judging the Judges" (LLMJudge, TREC DL 2023): all 33 judges over the topics of the data here.
def test_all_dl23_judges_equal_an_independent_computation(rows):
    data = rows("dl23_llmjudge/pairs.jsonl")
    truth = [row["relevance"] for row in data]
    scale = list("012345")  # one judge gave a 5
    kappas = {}
    for judge in data[0]["llm"]:
        labels = [row["llm"][judge] for row in data]
        texts = list(map(str, truth)), list(map(str, labels))
        figures = agreement(*texts, scale)
        kappa = cohen_kappa_score(truth, labels)
        alpha = krippendorff.alpha(np.array([truth, labels], float), level_of_measurement="ordinal")
        assert figures.cohen_kappa["unweighted"] == pytest.approx(kappa, abs=1e-9)
        assert figures.alpha["ordinal"] == pytest.approx(alpha, abs=1e-9)
        kappas[judge] = round(kappa, 3)
    assert len(kappas) == 33
    assert (kappas["willia-umbrela1"], kappas["h2oloo-fewself"]) == (0.312, 0.302)


def test_of_two_numbers_of_labels_as_common_the_larger_counts():
    assert commonest_number(np.array([2, 2, 3, 3, 1, 1, 1])) == 3
