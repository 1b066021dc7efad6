"""Cut points: exact where they can be, planted ones found, ties by the documented rule."""

from itertools import combinations_with_replacement

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, f1_score

from nuggetjudge.calibration.threshold import fit_cuts

SKLEARN = {
    "kappa": cohen_kappa_score,
    "linear": lambda a, b, **o: cohen_kappa_score(a, b, weights="linear", **o),
    "quadratic": lambda a, b, **o: cohen_kappa_score(a, b, weights="quadratic", **o),
    "accuracy": lambda a, b, **o: accuracy_score(a, b, sample_weight=o.get("sample_weight")),
    "macro_f1": lambda a, b, **o: f1_score(a, b, average="macro"),
}


def cut(scores, cuts):
    return [sum(score >= each for each in cuts) for score in scores]


def noisy(n, k, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, k, n)
    return np.round(labels / k + rng.normal(0, 0.4, n), 1), labels


@pytest.mark.slow
@pytest.mark.parametrize("objective", SKLEARN)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_no_other_cuts_do_better_by_scikit_learn(objective, k):
    scores, labels = noisy(30 if k < 4 else 14, k, seed=k)
    cuts, value = fit_cuts(scores, labels, k, objective=objective)
    score = SKLEARN[objective]
    assert score(labels, cut(scores, cuts)) == pytest.approx(value, abs=1e-12)
    candidates = [*np.unique(scores), scores.max() + 1]
    tried = combinations_with_replacement(candidates, k - 1)
    assert value == pytest.approx(max(score(labels, cut(scores, c)) for c in tried), abs=1e-12)


def test_one_vs_rest_cuts_one_label_and_leaves_the_others_to_linear_kappa():
    scores, labels = noisy(40, 3, seed=1)
    cuts, value = fit_cuts(scores, labels, 3, objective="one_vs_rest:2")
    top = [label == 2 for label in labels]
    best = max(cohen_kappa_score(top, scores >= c) for c in np.unique(scores))
    assert value == pytest.approx(best, abs=1e-12)
    assert cohen_kappa_score(top, scores >= cuts[1]) == pytest.approx(best, abs=1e-12)
    linear = [
        cohen_kappa_score(labels, cut(scores, (c, cuts[1])), weights="linear")
        for c in [*np.unique(scores[scores < cuts[1]]), cuts[1]]
    ]
    kappa = cohen_kappa_score(labels, cut(scores, cuts), weights="linear")
    assert kappa == pytest.approx(max(linear), abs=1e-12)


def test_planted_cuts_are_found():
    rng = np.random.default_rng(0)
    scores = rng.random(20_000)
    labels = np.digitize(scores, [0.35, 0.8])
    wrong = rng.random(20_000) < 0.2
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    cuts, _ = fit_cuts(scores, labels, 3, objective="kappa")
    assert cuts == pytest.approx((0.35, 0.8), abs=0.01)


def test_of_equally_good_places_the_middle_of_the_widest_stretch_is_taken():
    weights = [1, 0, 1, 1, 0]
    (cut,), _ = fit_cuts([0.0, 0.2, 0.3, 0.7, 0.9], [0, 1, 1, 0, 1], 2, objective="accuracy")
    assert cut == pytest.approx(0.1)  # 0 | 1 1 0 1: one wrong, and nowhere fewer
    (cut,), _ = fit_cuts(
        [0.0, 0.2, 0.3, 0.7, 0.9], [0, 1, 1, 1, 0], 2, objective="accuracy", weights=weights
    )
    assert cut == pytest.approx((0.1 + 0.25) / 2)  # 0.2 weighs nothing: 0.1 and 0.25 are as good


def test_weights_count_an_item_several_times():
    scores, labels = noisy(50, 3, seed=3)
    times = np.random.default_rng(0).integers(0, 4, 50)
    repeated = fit_cuts(np.repeat(scores, times), np.repeat(labels, times), 3)
    weighted = fit_cuts(scores, labels, 3, weights=times)
    assert weighted[1] == pytest.approx(repeated[1], abs=1e-12)


@pytest.mark.parametrize(
    ("scores", "labels", "options", "message"),
    [
        ([0.1], [0, 1], {}, "one label for each score"),
        ([], [], {}, "one label for each score"),
        ([0.1, float("nan")], [0, 1], {}, r"scores\[1\] is nan"),
        ([0.1, 0.2], [0, 2], {}, r"labels\[1\] is .*2.*, wanted a code from 0 to 1"),
        ([0.1, 0.2], [0, 1], {"objective": "f1"}, "unknown objective 'f1'"),
        ([0.1, 0.2], [0, 1], {"objective": "one_vs_rest:2"}, "one_vs_rest:1"),
        ([0.1, 0.2], [0, 1], {"weights": [1, -1]}, "2 weights of 0 or more"),
    ],
)
def test_a_bad_argument_is_named(scores, labels, options, message):
    with pytest.raises(ValueError, match=message):
        fit_cuts(scores, labels, 2, **options)
