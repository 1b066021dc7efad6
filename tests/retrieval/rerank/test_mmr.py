from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.retrieval.encoders import HashingEncoder
from nuggetjudge.retrieval.rerank.diversity import Mmr
from nuggetjudge.retrieval.scored import Scored


class Plane:
    """Vectors that stand in the texts."""

    name = "plane"

    def passages(self, texts):
        return np.array([[float(part) for part in text.split()] for text in texts], np.float32)

    queries = passages


# b points to a with cosine 0.8 and to c with 0.6; a and c are at right angles.
TEXTS = {"a": "1 0", "b": "0.8 0.6", "c": "0 1"}
RANKED = [Scored("a", 3.0), Scored("b", 2.5), Scored("c", 1.0)]  # min-max: 1, 0.75, 0


def rerank(*, ranked=RANKED, texts=TEXTS, query="1 0", **settings):
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
    with pytest.raises(ValueError, match=r"ranked\[1\]: no text of passage 'b'"):
        rerank(texts={"a": "1 0"})


def test_a_passage_twice_is_named():
    with pytest.raises(ValueError, match=r"ranked\[1\]: passage 'a' occurs twice"):
        rerank(ranked=[RANKED[0], RANKED[0]])
