import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.retrieval.fusion import fuse_weighted, min_max, reciprocal_rank
from nuggetjudge.retrieval.scored import Scored, best_first


def ranked(**scores):
    return [Scored(name, score) for name, score in scores.items()]


def as_scored(rows):
    return [Scored(*row) for row in rows]


scores = st.floats(-1e3, 1e3, allow_nan=False)
rankings = st.lists(
    st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=8).map(best_first), max_size=4
)


# By hand: a has 1/61 + 1/63, b 1/62 + 1/61, c 1/63, d 1/62.
def test_reciprocal_rank_sums_one_over_60_plus_the_rank():
    first, second = ranked(a=9.0, b=5.0, c=1.0), ranked(b=0.9, d=0.8, a=0.1)
    fused = reciprocal_rank([first, second])
    assert [one.passage_id for one in fused] == ["b", "a", "d", "c"]
    wanted = [1 / 61 + 1 / 62, 1 / 61 + 1 / 63, 1 / 62, 1 / 63]
    assert [one.score for one in fused] == pytest.approx(wanted, rel=1e-12)


def test_what_earns_the_same_stands_in_the_order_of_the_first_ranking():
    swapped = [ranked(b=2.0, a=1.0), ranked(a=2.0, b=1.0)]
    for fused in (reciprocal_rank(swapped), fuse_weighted(swapped, [1.0, 1.0])):
        assert [one.passage_id for one in fused] == ["b", "a"]
        assert fused[0].score == fused[1].score


# By hand: min-max gives a 1, b .5, c 0 and b 1, d 0; z of (6, 4, 2) is (1.5 ** .5, 0, -1.5 ** .5),
# of (3, 1) is (1, -1), and a missing passage has the lowest of the ranking.
Z = 1.5**0.5


@pytest.mark.parametrize(
    ("norm", "expected"),
    [
        ("min-max", {"a": 2.0, "b": 1.5, "c": 0.0, "d": 0.0}),
        ("max", {"a": 2.0, "b": 4 / 3 + 0.5, "c": 2 / 3, "d": 1 / 6}),
        ("none", {"a": 12.0, "b": 9.5, "c": 4.0, "d": 0.5}),
        ("z", {"a": 2 * Z - 0.5, "b": 0.5, "c": -2 * Z - 0.5, "d": -2 * Z - 0.5}),
    ],
)
def test_scores_are_normed_within_each_ranking_then_summed_by_weight(norm, expected):
    fused = fuse_weighted(
        [ranked(a=6.0, b=4.0, c=2.0), ranked(b=3.0, d=1.0)], [2.0, 0.5], norm=norm
    )
    assert {one.passage_id: one.score for one in fused} == pytest.approx(expected)
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)


def test_with_scores_below_zero_a_missing_passage_does_not_pass_one_that_was_found():
    fused = fuse_weighted([ranked(a=-1.0, b=-3.0), ranked(c=1.0)], [1.0, 1.0], norm="none")
    assert {one.passage_id: one.score for one in fused} == {"a": -1.0, "c": -2.0, "b": -3.0}


def test_equal_scores_are_all_the_best_so_that_a_lone_passage_counts_as_found():
    assert min_max([2.0, 2.0]) == [1.0, 1.0]
    fused = fuse_weighted([ranked(a=5.0, b=4.0), ranked(c=0.2)], [1.0, 1.0])
    assert {one.passage_id: one.score for one in fused} == {"a": 1.0, "c": 1.0, "b": 0.0}


def test_hits_cuts_the_fused_ranking_and_empty_rankings_are_no_fault():
    both = [ranked(a=2.0, b=1.0), []]
    assert [one.passage_id for one in reciprocal_rank(both, hits=1)] == ["a"]
    assert [one.passage_id for one in fuse_weighted(both, [1.0, 1.0], hits=1)] == ["a"]
    assert reciprocal_rank([]) == fuse_weighted([], []) == []


@given(rankings, st.sampled_from(["rrf", "min-max", "z", "none"]))
def test_fusing_keeps_every_passage_once_and_ignores_the_order_of_rankings(given_rankings, how):
    def fuse(these):
        if how == "rrf":
            return reciprocal_rank(these)
        return fuse_weighted(these, [1.0] * len(these), norm=how)

    fused, backwards = fuse(given_rankings), fuse(given_rankings[::-1])
    assert dict(fused) == dict(backwards)
    assert len(fused) == len(dict(fused))
    assert set(dict(fused)) == {one.passage_id for each in given_rankings for one in each}


# Only one ranking: the order stays, whatever the way.
@given(st.dictionaries(st.sampled_from("abcdefgh"), scores).map(best_first))
def test_one_ranking_alone_keeps_its_order_by_rank(one):
    assert [each.passage_id for each in reciprocal_rank([one])] == [e.passage_id for e in one]


# By hand: two scores lie one standard deviation to either side of their mean.
@pytest.mark.parametrize("unit", [1e-200, 1e-12, 1e200])
def test_z_holds_for_scores_of_any_size(unit):
    fused = fuse_weighted([ranked(a=3 * unit, b=unit)], [1.0], norm="z")
    assert [one.score for one in fused] == pytest.approx([1.0, -1.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: reciprocal_rank([ranked(a=1.0)], k=-1), "k is -1"),
        (lambda: reciprocal_rank([ranked(a=1.0)], hits=0), "hits must be 1 or more, got 0"),
        (
            lambda: reciprocal_rank([[], as_scored([("a", 2), ("a", 1)])]),
            r"rankings\[1\]\[1\].*'a'",
        ),
        (lambda: reciprocal_rank([ranked(a=float("nan"))]), r"rankings\[0\]\[0\]: score nan"),
        (lambda: fuse_weighted([ranked(a=1.0)], []), "0 weights for 1 rankings"),
        (lambda: fuse_weighted([ranked(a=1.0)], [-1.0]), r"weights\[0\] is -1.0"),
        (lambda: fuse_weighted([ranked(a=1.0)], [0.0]), "all weights are 0"),
        (
            lambda: fuse_weighted([ranked(a=1.0)], [1.0], norm="sum"),
            "norm is 'sum', wanted one of min-",
        ),
        (
            lambda: fuse_weighted([ranked(a=-1.0)], [1.0], norm="max"),
            r"rankings\[0\]: the best score is",
        ),
    ],
)
def test_a_bad_argument_is_named_by_its_place(call, message):
    with pytest.raises(ValueError, match=message):
        call()
