import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import ranking_scores

QRELS = {"t1": {"p1": 2, "p2": 1, "p3": 0}, "t2": {"p4": 1}}
passages = st.lists(st.sampled_from(["p1", "p2", "p3", "x", "y", "z"]), unique=True)


# By hand; trec_eval's nDCG takes the grade as the gain and log2(rank + 1) as the discount.
def test_common_measures_match_a_hand_count():
    measures = ["nDCG@10", "AP", "R@1", "P(rel=2)@2", "RR"]
    scores = ranking_scores(QRELS, {"t1": ["p3", "p2", "p1"], "t2": ["p4"]}, measures)
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    expected = {
        "nDCG@10": dcg / ideal,
        "AP": (1 / 2 + 2 / 3) / 2,
        "R@1": 0.0,
        "P(rel=2)@2": 0.0,
        "RR": 0.5,
    }
    assert {m: scores.by_topic[m]["t1"] for m in measures} == pytest.approx(expected)
    assert scores.by_topic["AP"]["t2"] == 1.0
    assert scores.mean["AP"] == pytest.approx((7 / 12 + 1) / 2)
    assert list(scores.mean) == list(scores.by_topic) == measures


# trec_eval breaks ties of equal scores by name; with scores from ranks there are none to break.
@given(st.permutations([f"p{i}" for i in range(6)]))
def test_the_order_given_is_the_order_scored(order):
    relevant = order[3]
    assert ranking_scores({"t": {relevant: 1}}, {"t": order}, ["RR"]).mean["RR"] == 1 / 4


def test_a_topic_that_the_run_did_not_rank_counts_zero():
    for run in ({"t2": ["p4"]}, {"t1": [], "t2": ["p4"]}):
        scores = ranking_scores(QRELS, run, ["AP", "Judged@10"])
        assert scores.by_topic["AP"] == {"t1": 0.0, "t2": 1.0}
        assert scores.mean == {"AP": 0.5, "Judged@10": 0.5}


def test_topics_that_nobody_judged_do_not_count_and_are_named():
    run = {"t2": ["p4"], "t1": ["p1"], "t9": ["p4"], "t8": ["p1"]}
    scores = ranking_scores(QRELS | {"t8": {}}, run, ["RR"])
    assert scores.topics_without_qrels == ("t8", "t9")
    assert scores.by_topic == {"RR": {"t1": 1.0, "t2": 1.0}}
    assert scores.mean == {"RR": 1.0}


@given(passages)
def test_scores_are_bounded_and_no_order_beats_the_ideal_one(order):
    measures = ["nDCG@10", "AP", "R@100"]
    qrels = {"t1": QRELS["t1"]}
    means = ranking_scores(qrels, {"t1": order}, measures).mean
    ideal = ranking_scores(qrels, {"t1": ["p1", "p2", "p3"]}, measures).mean
    for measure in measures:
        assert 0 <= means[measure] <= ideal[measure]
        assert ideal[measure] == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["nope", "ndcg_10", "nDCG@", "AP(", "AP(foo=1)", 'nDCG@"x"', ""])
def test_an_unknown_measure_is_named(name):
    with pytest.raises(ValueError, match="unknown measure") as error:
        ranking_scores(QRELS, {}, ["AP", name])
    assert repr(name) in str(error.value)


def test_a_passage_ranked_twice_is_named():
    with pytest.raises(ValueError, match=r"topic t1: .*\['p1'\]"):
        ranking_scores(QRELS, {"t1": ["p1", "p2", "p1"]}, ["AP"])


@pytest.mark.parametrize("qrels", [{}, {"t1": {}}])
def test_empty_qrels_are_refused(qrels):
    with pytest.raises(ValueError, match="judge no passage"):
        ranking_scores(qrels, {"t1": ["p1"]}, ["AP"])
