import asyncio
import itertools
import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.coverage import find_required_subset
from nuggetjudge.retrieval.encoders import HashingEncoder
from nuggetjudge.retrieval.fusion import fuse_weighted, min_max, reciprocal_rank
from nuggetjudge.retrieval.rerank.diversity import Mmr, greedy_coverage
from nuggetjudge.retrieval.rerank.windows import setwise_top, slide
from nuggetjudge.retrieval.scored import Scored, best_first, by_rank


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


# With ratings of 0 or 5 the worth is the count of questions that `find_required_subset` maximises.
@given(st.integers(1, 6), st.data())
def test_ratings_of_all_or_nothing_give_the_required_subset_first(n_questions, data):
    row = st.lists(st.sampled_from([0, 5]), min_size=n_questions, max_size=n_questions)
    rows = data.draw(st.lists(row, min_size=1, max_size=6))
    ranked = by_rank("abcdef"[: len(rows)])
    ratings = {one.passage_id: row for one, row in zip(ranked, rows, strict=True)}
    required = find_required_subset(rows, range(len(rows)))
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
        ({"a": [1], "b": [1, 2]}, {}, "passage 'b': 2 ratings, wanted 1 like 'a'"),
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


class Plane:
    """Vectors that stand in the texts."""

    name = "plane"

    def passages(self, texts):
        return np.array([[float(part) for part in text.split()] for text in texts], np.float32)

    queries = passages


# b points to a with cosine 0.8 and to c with 0.6; a and c are at right angles.
TEXTS = {"a": "1 0", "b": "0.8 0.6", "c": "0 1"}
MMR_RANKED = [Scored("a", 3.0), Scored("b", 2.5), Scored("c", 1.0)]  # min-max: 1, 0.75, 0


def rerank(*, ranked=MMR_RANKED, texts=TEXTS, query="1 0", **settings):
    return Mmr(Plane(), **settings).rerank(query, ranked, texts)


def ids(ranked):
    return [one.passage_id for one in ranked]


# By hand: after a, at weight 0.5, b is worth 0.375 - 0.4 and c 0 - 0; at 0.6, 0.45 - 0.32 and 0.
@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (0.5, [("a", 1.0), ("c", 0.0), ("b", -0.025)]),
        (0.6, [("a", 1.0), ("b", 0.13), ("c", -0.24)]),
        (1.0, [("a", 1.0), ("b", 0.75), ("c", 0.0)]),
        (0.0, [("a", 1.0), ("c", 0.0), ("b", -0.8)]),
    ],
)
def test_passages_are_taken_by_marginal_relevance_as_counted_by_hand(weight, expected):
    got = rerank(weight=weight)
    assert ids(got) == [name for name, _ in expected]
    scores = [score for _, score in expected]
    assert [one.score for one in got] == pytest.approx(scores, abs=1e-6)


def test_relevance_may_be_the_cosine_with_the_query():
    # Cosines 0, 0.6 and 1: c first; then a at 0 - 0 against b at 0.3 - 0.3 ties, in a's favour.
    assert ids(rerank(query="0 5", relevance="encoder")) == ["c", "a", "b"]


def test_two_passages_of_one_text_do_not_follow_each_other():
    texts = {"a": "1 0", "again": "1 0", "c": "0 1"}
    ranked = [Scored("a", 3.0), Scored("again", 3.0), Scored("c", 2.0)]
    assert ids(rerank(ranked=ranked, texts=texts, weight=0.4)) == ["a", "c", "again"]


def test_a_passage_without_direction_is_like_no_other():
    assert ids(rerank(texts=TEXTS | {"b": "0 0"})) == ["a", "b", "c"]


coordinates = st.integers(-3, 3)
cases = st.lists(st.tuples(st.integers(0, 4), coordinates, coordinates), min_size=1, max_size=7)


@given(cases, st.floats(0, 1))
def test_every_passage_comes_once_and_scores_never_rise(case, weight):
    ranked = [Scored(f"p{i}", score) for i, (score, _, _) in enumerate(case)]
    texts = {f"p{i}": f"{x} {y}" for i, (_, x, y) in enumerate(case)}
    got = rerank(ranked=ranked, texts=texts, weight=weight)
    assert sorted(ids(got)) == sorted(ids(ranked))
    scores = [one.score for one in got]
    assert all(left >= right for left, right in pairwise(scores))
    assert all(-1 <= score <= 1 for score in scores)


def test_words_alone_spread_the_first_places_over_subjects():
    texts = {
        "spring1": "Spring tides rise when sun and moon pull in line.",
        "spring2": "Spring tides rise high when the sun and the moon stand in line.",
        "bore": "A tidal bore is a wave that runs up a river.",
    }
    ranked = [Scored("spring1", 9.0), Scored("spring2", 8.9), Scored("bore", 7.0)]
    got = Mmr(HashingEncoder(), weight=0.4, hits=2).rerank("tides", ranked, texts)
    assert ids(got) == ["spring1", "bore"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"weight": 1.1}, "weight is 1.1, wanted a number from 0 to 1"),
        ({"weight": float("nan")}, "weight is nan"),
        ({"hits": 0}, "hits must be 1 or more, got 0"),
        ({"relevance": "rank"}, "relevance is 'rank', wanted scores or encoder"),
    ],
)
def test_settings_that_there_are_not_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Mmr(Plane(), **settings)


def test_a_passage_without_text_is_named():
    with pytest.raises(ValueError, match=r"ranked\[1\]: passage 'b' has no text"):
        rerank(texts={"a": "1 0"})


def test_a_passage_twice_is_named():
    with pytest.raises(ValueError, match=r"ranked\[1\]: passage 'a' occurs twice"):
        rerank(ranked=[MMR_RANKED[0], MMR_RANKED[0]])


# Sliding windows and set-wise heap sort: what is shown together, and what comes out.
class Perfect:
    """Orders and picks by known relevance, and keeps what it was shown."""

    def __init__(self, relevance):
        self.relevance = relevance
        self.shown = []

    async def order(self, indices):
        self.shown.append(list(indices))
        return sorted(indices, key=lambda index: -self.relevance[index])

    async def best(self, indices):
        self.shown.append(list(indices))
        return max(indices, key=lambda index: self.relevance[index])


def slid(relevance, **options):
    judge = Perfect(relevance)
    return asyncio.run(slide(len(relevance), judge.order, **options)), judge.shown


def picked(relevance, **options):
    judge = Perfect(relevance)
    return asyncio.run(setwise_top(len(relevance), judge.best, **options)), judge.shown


relevances = st.permutations(range(30)).map(lambda order: order[: 1 + order[0]])


def test_windows_run_from_the_back_and_carry_the_best_along():
    # By hand, windows of 4 that move by 2 over 7 candidates, the last of which is the best.
    order, shown = slid([3, 2, 1, 0, 4, 5, 6], window=4, stride=2)
    assert shown == [[3, 4, 5, 6], [1, 2, 6, 5], [0, 6, 5]]
    assert order == [6, 5, 0, 1, 2, 4, 3]


def test_one_window_orders_all_when_they_fit():
    order, shown = slid([1, 5, 3])
    assert (order, len(shown)) == ([1, 2, 0], 1)


@given(relevances, st.integers(2, 12), st.data())
def test_a_pass_brings_the_best_that_a_window_carries_to_the_top(relevance, window, data):
    stride = data.draw(st.integers(1, window))
    order, shown = slid(relevance, window=window, stride=stride)
    assert sorted(order) == list(range(len(relevance)))
    carried = window - stride if len(relevance) > window else len(relevance)
    best = sorted(range(len(relevance)), key=lambda index: -relevance[index])
    assert order[:carried] == best[:carried]
    assert all(2 <= len(indices) <= window for indices in shown)


def test_a_failed_window_may_return_what_it_got():
    async def order(indices):
        return list(indices) if 6 in indices and 3 in indices else sorted(indices, reverse=True)

    result = asyncio.run(slide(7, order, window=4, stride=2))
    assert result == [4, 3, 0, 2, 1, 5, 6]  # the windows: 3 4 5 6 (failed), 1 2 3 4, 0 4 3


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_is_asked_about_fewer_than_two(n):
    assert slid(list(range(n))) == (list(range(n)), [])
    assert picked(list(range(n))) == (list(range(n)), [])


@pytest.mark.parametrize("wrong", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 2]])
def test_other_places_than_asked_are_refused(wrong):
    async def order(indices):
        return wrong

    with pytest.raises(ValueError, match="wanted the same positions"):
        asyncio.run(slide(3, order))

    async def best(indices):
        return 7

    with pytest.raises(ValueError, match="chose 7, wanted one of"):
        asyncio.run(setwise_top(3, best))


@pytest.mark.parametrize("options", [{"window": 1}, {"stride": 0}, {"stride": 21}], ids=str)
def test_windows_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match="wanted n >= 0, window >= 2"):
        slid([1, 2], **options)


@pytest.mark.parametrize("options", [{"top": 0}, {"size": 1}], ids=str)
def test_sets_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match="wanted n >= 0, top >= 1 and size >= 2"):
        picked([1, 2], **options)


def test_the_heap_is_built_from_its_last_parent_down():
    # By hand, sets of 3: a parent and two children. Building: 4 rises over 1, then over 0, and 1
    # over 0 below it. Taking 4 puts 0 on top: 1 rises over it, then 3.
    order, shown = picked([0, 3, 2, 1, 4], top=2, size=3)
    assert shown == [[1, 3, 4], [0, 4, 2], [0, 3, 1], [0, 1, 2], [0, 3]]
    assert order == [4, 1, 0, 2, 3]


@given(relevances, st.integers(1, 12), st.integers(2, 6))
def test_the_top_is_the_best_in_order_and_the_others_stay_as_they_stood(relevance, top, size):
    order, shown = picked(relevance, top=top, size=size)
    best = sorted(range(len(relevance)), key=lambda index: -relevance[index])[:top]
    rest = [index for index in range(len(relevance)) if index not in best]
    assert order == best + rest
    assert all(2 <= len(indices) <= size for indices in shown)
    assert all(len(set(indices)) == len(indices) for indices in shown)


def test_where_every_set_fails_the_order_stays():
    async def smallest(indices):
        return min(indices)

    assert asyncio.run(setwise_top(50, smallest)) == list(range(50))
