import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.coverage import required_subset
from nuggetjudge.retrieval.rerank.diversity import greedy_coverage
from nuggetjudge.retrieval.scored import Scored, by_rank

rating = st.none() | st.integers(0, 5)
RANKED = by_rank("abcd")


@st.composite
def pools(draw):
    """A ranking of up to 7 passages, ratings of up to 4 questions, and a weight."""
    n, n_questions = draw(st.integers(1, 7)), draw(st.integers(1, 4))
    ranked = [
        Scored(name, score)
        for name, score in zip(
            "abcdefg",
            sorted(draw(st.lists(st.floats(0, 9), min_size=n, max_size=n)))[::-1],
            strict=False,
        )
    ]
    row = st.lists(rating, min_size=n_questions, max_size=n_questions)
    ratings = {one.passage_id: draw(row) for one in ranked if draw(st.booleans())}
    return ranked, ratings, draw(st.sampled_from([0.0, 0.3, 1.0]))


def worth(ranked, ratings, weight, chosen):
    """What the passages at these places are worth, written out from the definition."""
    scores = [one.score for one in ranked]
    spread = max(scores) - min(scores)
    relevance = sum((scores[i] - min(scores)) / spread if spread else 1.0 for i in chosen)
    rows = [ratings[ranked[i].passage_id] for i in chosen if ranked[i].passage_id in ratings]
    answered = sum(max(rating or 0 for rating in column) / 5 for column in zip(*rows, strict=True))
    return (1 - weight) * answered + weight * relevance


# By hand, weight 0: c answers 4 + 4, then a adds 5 - 0 and b 5 - 4, then b adds 1; d has nothing.
def test_each_passage_is_taken_for_what_those_before_leave_open():
    ratings = {"a": [0, 0, 5], "b": [5, 0, 0], "c": [4, 4, 0], "d": [0, 0, 0]}
    taken = greedy_coverage(RANKED, ratings, weight=0.0)
    assert [one.passage_id for one in taken] == ["c", "a", "b", "d"]
    assert [one.score for one in taken] == pytest.approx([1.6, 1.0, 0.2, 0.0])


# By hand, relevance 1, .5, 0: b adds 1 question + .5 against 1 for a, and c nothing any more.
def test_relevance_counts_by_its_weight_as_one_answered_question_at_most():
    ranked = [Scored("a", 9.0), Scored("b", 8.0), Scored("c", 7.0)]
    taken = greedy_coverage(ranked, {"a": [0], "b": [5], "c": [5]}, weight=0.5)
    assert [one.passage_id for one in taken] == ["b", "a", "c"]
    assert [one.score for one in taken] == pytest.approx([0.75, 0.5, 0.0])
    assert greedy_coverage(ranked, {"c": [5]}, weight=1.0)[0].passage_id == "a"


def test_ratings_that_are_not_known_add_nothing_and_equal_gains_keep_the_order():
    ratings = {"b": [None, None], "c": [None, 3], "d": [3, None]}
    taken = greedy_coverage(RANKED, ratings, weight=0.0)
    assert [one.passage_id for one in taken] == ["c", "d", "a", "b"]
    assert greedy_coverage(RANKED, {}, weight=0.0) == [Scored(name, 0.0) for name in "abcd"]


# With ratings of 0 or 5 the worth is the count of questions that `required_subset` maximises.
@given(st.integers(1, 6), st.data())
def test_ratings_of_all_or_nothing_give_the_required_subset_first(n_questions, data):
    row = st.lists(st.sampled_from([0, 5]), min_size=n_questions, max_size=n_questions)
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    ranked = by_rank("abcdef"[: len(rows)])
    ratings = {one.passage_id: row for one, row in zip(ranked, rows, strict=True)}
    required = required_subset(rows, range(len(rows)))
    taken = greedy_coverage(ranked, ratings, weight=0.0)
    assert [one.passage_id for one in taken[: len(required)]] == ["abcdef"[i] for i in required]


# Nemhauser, Wolsey and Fisher (1978): at least 1 - 1/e of the best set of each size.
@given(pools())
def test_each_beginning_is_worth_63_percent_of_the_best_set_of_its_size(pool):
    ranked, ratings, weight = pool
    taken = greedy_coverage(ranked, ratings, weight=weight)
    rank = {one.passage_id: i for i, one in enumerate(ranked)}
    for n in range(1, len(ranked) + 1):
        ours = worth(ranked, ratings, weight, [rank[one.passage_id] for one in taken[:n]])
        sets = itertools.combinations(range(len(ranked)), n)
        best = max(worth(ranked, ratings, weight, chosen) for chosen in sets)
        assert ours >= (1 - 1 / math.e) * best - 1e-9
        assert sum(one.score for one in taken[:n]) == pytest.approx(ours, abs=1e-9)


@given(pools(), st.integers(1, 9))
def test_scores_never_rise_and_hits_only_cuts(pool, hits):
    ranked, ratings, weight = pool
    taken = greedy_coverage(ranked, ratings, weight=weight)
    assert sorted(one.passage_id for one in taken) == sorted(one.passage_id for one in ranked)
    assert (np.diff([one.score for one in taken]) <= 0).all()
    assert greedy_coverage(ranked, ratings, weight=weight, hits=hits) == taken[:hits]


@pytest.mark.parametrize(
    ("ratings", "settings", "message"),
    [
        ({"a": [1], "b": [1, 2]}, {}, "passage 'b': 2 ratings, wanted 1 as of 'a'"),
        ({"a": [6]}, {}, "passage 'a': rating 6 of question 0, wanted 0 to 5"),
        ({"a": [float("nan")]}, {}, "passage 'a': rating nan"),
        ({}, {"weight": 1.1}, "weight is 1.1, wanted 0 to 1"),
        ({}, {"scale": 0}, "scale is 0"),
        ({}, {"hits": 0}, "hits must be 1 or more, got 0"),
    ],
)
def test_a_bad_argument_is_named(ratings, settings, message):
    with pytest.raises(ValueError, match=message):
        greedy_coverage(RANKED, ratings, **settings)


def test_a_passage_twice_or_without_a_finite_score_is_named():
    with pytest.raises(ValueError, match=r"ranked\[1\]: passage 'a' occurs twice"):
        greedy_coverage([Scored("a", 2.0), Scored("a", 1.0)], {})
    with pytest.raises(ValueError, match=r"ranked\[0\]: score inf"):
        greedy_coverage([Scored("a", math.inf)], {})
