import pytest

from nuggetjudge.retrieval.scored import Scored, best_first, by_rank, check_queries


def test_a_ranking_without_scores_earns_one_over_its_places():
    assert by_rank(["b", "a", "c"]) == [Scored("b", 1), Scored("a", 1 / 2), Scored("c", 1 / 3)]


def test_best_first_keeps_equal_scores_in_the_order_given_and_cuts():
    scores = {"c": 1.0, "a": 2.0, "b": 1.0, "d": -1.0}
    assert [name for name, _ in best_first(scores)] == ["a", "c", "b", "d"]
    assert best_first(scores, 2) == [Scored("a", 2.0), Scored("c", 1.0)]
    assert best_first({}) == []


def test_a_blank_query_is_named_by_its_place():
    with pytest.raises(ValueError, match="query 1 is blank"):
        check_queries(["tide", " \n"], 10)


def test_no_hits_cannot_be_asked_for():
    with pytest.raises(ValueError, match="hits must be 1 or more, got 0"):
        check_queries(["tide"], 0)
