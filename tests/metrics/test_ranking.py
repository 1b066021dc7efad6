import ast
import math

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incomplete_ratings import completions, holds, pools_and_contexts

from nuggetjudge.metrics import Value, ranking_scores
from nuggetjudge.metrics.answer_scores import UNDEFINED
from nuggetjudge.metrics.coverage import answerable, find_required_subset
from nuggetjudge.metrics.ranking import MAX_OF_POOL, alpha_ndcg, read_measure

QRELS = {"t1": {"p1": 2, "p2": 1, "p3": 0}, "t2": {"p4": 1}}
passages = st.lists(st.sampled_from(["p1", "p2", "p3", "x", "y", "z"]), unique=True)


# By hand; trec_eval's nDCG takes the grade as the gain and log2(rank + 1) as the discount.
def test_common_measures_match_a_hand_count():
    measures = ["nDCG@10", "AP", "R@1", "P(rel=2)@2", "RR"]
    scores = ranking_scores(QRELS, {"t1": ["p3", "p2", "p1"], "t2": ["p4"]}, measures)
    dcg = 1 / math.log2(3) + 2 / math.log2(4)
    ideal = 2 / math.log2(2) + 1 / math.log2(3)
    expected = {
        "nDCG@10": dcg / ideal, "AP": (1 / 2 + 2 / 3) / 2, "R@1": 0.0, "P(rel=2)@2": 0.0,
        "RR": 0.5,
    }  # fmt: skip
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


@pytest.mark.parametrize("name", ["nope", "ndcg_10", "nDCG@", "AP(", "AP(foo=1)", 'nDCG@"x"', ""])
def test_an_unknown_measure_is_named(name):
    with pytest.raises(ValueError, match="unknown measure") as error:
        ranking_scores(QRELS, {}, ["AP", name])
    assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["AP", "nDCG@10", "P(rel=2)@5", "R@100", "RR(rel=2)", "nDCG(dcg='exp-log2')@5", "ERR@20"],
)
def test_names_mean_what_ir_measures_says(name):
    assert read_measure(name) == ir_measures.parse_measure(name)


def test_names_are_read_without_what_python_3_14_took_from_ast(monkeypatch):
    for name in ("Num", "Str", "Bytes", "NameConstant", "Ellipsis"):
        monkeypatch.delattr(ast, name, raising=False)
    scores = ranking_scores({"t": {"a": 2, "b": 0}}, {"t": ["b", "a"]}, ["P(rel=2)@2", "R@1"])
    assert scores.mean == {"P(rel=2)@2": 0.5, "R@1": 0.0}


def test_a_passage_ranked_twice_is_named():
    with pytest.raises(ValueError, match=r"topic t1: .*\['p1'\]"):
        ranking_scores(QRELS, {"t1": ["p1", "p2", "p1"]}, ["AP"])


@pytest.mark.parametrize("qrels", [{}, {"t1": {}}])
def test_empty_qrels_are_refused(qrels):
    with pytest.raises(ValueError, match="have no grade"):
        ranking_scores(qrels, {"t1": ["p1"]}, ["AP"])


NAN = float("nan")
A = B = [5, 0, 0]  # of the documents a and b for one subtopic, c and d for one each
C, D = [0, 5, 0], [0, 0, 5]
X = Y = [0, 0, 0]
POOL = [A, B, C, D]

depths = st.integers(1, 6)
alphas = st.sampled_from([0.0, 0.25, 0.5, 1.0])  # powers that are exact, so that ties are ties


def by_hand(*gains):
    return sum(gain / math.log2(1 + rank) for rank, gain in enumerate(gains, start=1))


def test_alpha_is_what_a_repeated_answer_loses():
    for alpha in (0.0, 0.2, 0.5, 1.0):
        value = alpha_ndcg([A, B, C], POOL, k=3, alpha=alpha).value
        assert value == pytest.approx(by_hand(1, 1 - alpha, 1) / by_hand(1, 1, 1))


# The cut-off of ndeval ends at 20.
def test_the_cutoff_has_no_limit():
    pool = np.eye(30) * 5
    assert alpha_ndcg(pool, pool, k=30).value == pytest.approx(1.0)
    assert alpha_ndcg(pool[:25], pool, k=30).value == pytest.approx(
        by_hand(*[1] * 25) / by_hand(*[1] * 30)
    )


# ir_measures hands its diversity measures to ndeval. Its ideal takes the last name of equals, so
# the pool is named backwards here.
@given(pools_and_contexts(most_texts=8, missing=False), depths, alphas)
def test_values_equal_those_of_ir_measures(case, k, alpha):
    ratings, pool, context = case
    context = [i for i in context if i in pool]
    value = alpha_ndcg(ratings[context], ratings[pool], k=k, alpha=alpha).value
    name = {i: f"p{99 - i}" for i in pool}
    qrels = [
        ir_measures.Qrel("t", name[i], int(ratings[i, j] >= 3), str(j))
        for i in pool
        for j in range(ratings.shape[1])
    ]
    if value is None or not context:
        assert value == (0.0 if answerable(ratings[pool]).any() else None)
        return
    run = [ir_measures.ScoredDoc("t", name[i], -rank) for rank, i in enumerate(context)]
    measure = ir_measures.alpha_nDCG(alpha=alpha) @ k
    assert value == pytest.approx(ir_measures.calc_aggregate([measure], qrels, run)[measure])


# Z* needs three passages, so its ideal stops at rank 3, and a fourth passage adds to what it has.
def test_a_context_can_gain_more_than_the_ideal_of_the_required_passages():
    required = np.array(POOL)[find_required_subset(POOL, range(4))]
    ideal = by_hand(1, 1, 1)
    assert alpha_ndcg([A, C, D], required, k=4).value == pytest.approx(1.0)
    above_one = alpha_ndcg([A, C, D, B], required, k=4)
    assert above_one.value == pytest.approx((ideal + 0.5 / math.log2(5)) / ideal)
    assert above_one.low == above_one.value == above_one.high > 1


def test_an_empty_context_gains_nothing():
    assert alpha_ndcg(np.empty((0, 3)), POOL, k=10) == Value(0.0, 0, 0, 0.0, 0.0)


@pytest.mark.parametrize("pool", [np.empty((0, 3)), [X, Y]])
def test_without_an_answerable_question_nothing_is_defined(pool):
    assert alpha_ndcg([A, C], pool, k=10) == UNDEFINED


def test_at_cutoff_zero_nothing_is_defined():
    assert alpha_ndcg([A], POOL, k=0) == UNDEFINED


def test_ratings_that_are_all_missing_have_no_value():
    unknown = [[NAN, NAN]]
    of_context = alpha_ndcg(unknown, [[5, 0], [0, 5]], k=1)
    assert of_context == Value(None, 0, 2, 0.0, 2.0)
    of_pool = alpha_ndcg([[5, 0]], unknown, k=1)
    assert of_pool == Value(None, 0, 2, None, None)


# For s1 the first passage is passed over, so a answers it at rank 1; for s2 and s3 nothing moves.
def test_a_passage_is_passed_over_for_a_question_that_it_has_no_rating_on():
    score = alpha_ndcg([[NAN, 0, 0], A, C], POOL, k=3)
    assert score.value == pytest.approx((1 + 1 / math.log2(4)) / by_hand(1, 1, 1))
    assert (score.n, score.n_unjudged) == (8, 1)
    assert score.low == pytest.approx(by_hand(0, 1, 1) / by_hand(1, 1, 1))
    assert score.high == pytest.approx(by_hand(1, 0.5, 1) / by_hand(1, 1, 1))


def test_a_missing_rating_of_the_pool_leaves_no_bounds():
    pool = [[5, 5, 5, 0], [0, 0, 0, 5], [0, NAN, 0, 5]]
    score = alpha_ndcg([pool[0]], pool, k=3)
    assert score.value == pytest.approx(3 / by_hand(3, 1, 0.5))
    assert (score.n_unjudged, score.low, score.high) == (1, None, None)


@given(pools_and_contexts(), depths, alphas)
def test_bounds_hold_whatever_the_missing_ratings_say(case, k, alpha):
    ratings, pool, context = case
    bounds = alpha_ndcg(ratings[context], ratings[pool], k=k, alpha=alpha)
    for full in completions(ratings) if bounds.low is not None else ():
        value = alpha_ndcg(full[context], full[pool], k=k, alpha=alpha).value
        assert value is None or holds(bounds, value)


def test_where_nothing_answers_though_all_questions_count_nothing_is_defined():
    for pool in ([[0, 0]], np.empty((0, 2))):
        assert alpha_ndcg([[5, 0]], pool, [1, 1], k=2) == Value(None, 2, 0, None, None)
    open_one = alpha_ndcg([[5, 0]], [[0, NAN]], [1, 1], k=2)
    assert (open_one.value, open_one.n_unjudged) == (None, 1)


@given(pools_and_contexts(missing=False), depths, alphas)
def test_a_context_of_the_pool_gains_no_more_than_a_greedy_ideal_can_miss(case, k, alpha):
    ratings, _, context = case
    value = alpha_ndcg(ratings[context], ratings, k=k, alpha=alpha).value
    assert value is None or value <= MAX_OF_POOL


@pytest.mark.parametrize(
    ("context", "options", "message"),
    [
        ([A], {"k": -1}, "k is -1"),
        ([A], {"k": 1, "alpha": 1.5}, "alpha is 1.5"),
        ([A], {"k": 1, "eta": 6}, "eta is 6"),
        ([[5, 0]], {"k": 1}, "2 questions of the context, 3 of the pool"),
        ([[5, 0, 9]], {"k": 1}, r"ratings\[0, 2\] is 9.0"),
    ],
)
def test_arguments_out_of_range_are_named(context, options, message):
    with pytest.raises(ValueError, match=message):
        alpha_ndcg(context, POOL, **options)
