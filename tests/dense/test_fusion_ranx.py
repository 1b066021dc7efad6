"""Fusion held to ranx, on random rankings of 30 topics."""

import random

import pytest

from nuggetjudge.retrieval.fusion import fuse_weighted, reciprocal_rank
from nuggetjudge.retrieval.scored import best_first

ranx = pytest.importorskip("ranx", reason="ranx is not installed; it stands beside the extra dense")

WEIGHTS = [0.7, 0.3, 1.1]
TOPICS = [f"t{i}" for i in range(30)]


def three_systems(n_found, *, low=-4.0):
    """topic -> three rankings of `n_found` of 30 passages each, no score twice."""
    rng = random.Random(6)
    passages = [f"p{i}" for i in range(30)]
    return {
        topic: [
            best_first({name: rng.uniform(low, 9) for name in rng.sample(passages, n_found)})
            for _ in range(3)
        ]
        for topic in TOPICS
    }


def by_ranx(topics, **settings):
    runs = [
        ranx.Run({topic: dict(ranked[system]) for topic, ranked in topics.items()})
        for system in range(3)
    ]
    return {topic: dict(found) for topic, found in ranx.fuse(runs, **settings).to_dict().items()}


def assert_same(ours, theirs):
    for topic in TOPICS:
        assert dict(ours[topic]) == pytest.approx(theirs[topic])


@pytest.mark.parametrize("k", [60, 1])
def test_reciprocal_rank_fusion_equals_that_of_ranx(k):
    topics = three_systems(12)
    ours = {topic: reciprocal_rank(ranked, k=k) for topic, ranked in topics.items()}
    assert_same(ours, by_ranx(topics, method="rrf", params={"k": k}))


@pytest.mark.parametrize(
    ("norm", "n_found", "low", "theirs"),
    [
        ("min-max", 12, -4.0, "min-max"),
        ("max", 12, 0.1, "max"),
        ("none", 12, 0.1, None),
        ("z", 30, -4.0, "zmuv"),  # all found: what a missing passage earns differs
    ],
)
def test_weighted_sums_of_normed_scores_equal_those_of_ranx(norm, n_found, low, theirs):
    topics = three_systems(n_found, low=low)
    ours = {topic: fuse_weighted(ranked, WEIGHTS, norm=norm) for topic, ranked in topics.items()}
    settings = {"method": "wsum", "params": {"weights": WEIGHTS}}
    assert_same(ours, by_ranx(topics, norm=theirs, **settings))


# The difference that `weighted` names: ranx gives a missing passage the mean score, which is 0.
def test_with_z_a_passage_that_is_missing_earns_more_in_ranx_than_one_that_is_found_last():
    found = best_first({"a": 3.0, "b": 2.0, "c": 1.0})
    other = best_first({"d": 2.0, "c": 1.0})
    ours = dict(fuse_weighted([found, other], [1.0, 1.0], norm="z"))
    runs = [ranx.Run({"t": dict(ranked)}) for ranked in (found, other)]
    params = {"weights": [1.0, 1.0]}
    theirs = ranx.fuse(runs, norm="zmuv", method="wsum", params=params).to_dict()["t"]
    assert theirs["b"] > theirs["c"]
    assert ours["b"] == pytest.approx(-1.0)
    assert theirs["b"] == pytest.approx(0.0)


def test_a_passage_that_a_ranking_holds_alone_earns_nothing_in_ranx():
    runs = [ranx.Run({"t": {"a": 5.0, "b": 4.0}}), ranx.Run({"t": {"c": 0.2}})]
    params = {"weights": [1.0, 1.0]}
    theirs = ranx.fuse(runs, norm="min-max", method="wsum", params=params).to_dict()["t"]
    ours = fuse_weighted([best_first({"a": 5.0, "b": 4.0}), best_first({"c": 0.2})], [1.0, 1.0])
    assert theirs["c"] == 0.0
    assert dict(ours)["c"] == 1.0
