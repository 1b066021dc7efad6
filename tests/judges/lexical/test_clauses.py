"""Statements cut from text: complete, short, and never ending inside a phrase."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.judges.lexical.clauses import MAX_WORDS, statements


@pytest.mark.parametrize(
    ("passage", "expected"),
    [
        ("A heavy block hangs on springs.", "A heavy block hangs on springs"),
        ("However, the deck moves a little in wind.", "the deck moves a little in wind"),
        ("Gas makes dough rise [3, 4] (a little).", "Gas makes dough rise"),
        (
            "Both kinds can be added to an existing bridge whose sway came as a surprise to all.",
            "Both kinds can be added to an existing bridge",
        ),
        (
            "Every spring the old keepers of the northern lights painted all the towers white,"
            " because salt destroys the bare stone.",
            "salt destroys the bare stone",
        ),
        (
            "Engineers have fitted long rows of heavy dampers under the deck of the new bridge.",
            "Engineers have fitted long rows of heavy dampers",
        ),
    ],
    ids=["whole", "opener dropped", "asides dropped", "before whose", "after because", "before of"],
)
def test_a_statement_is_a_short_sentence_or_a_complete_clause(passage, expected):
    assert expected in statements(passage)


@pytest.mark.parametrize(
    "passage",
    [
        "Why do bridges sway in wind?",
        "Five Easy Ways to Steady a Bridge",
        "If the push arrives in step with the natural frequency of the deck, the motion grows.",
        "Wind and weather",
        "The following were seen on the old bridge:",
    ],
    ids=["question", "title", "condition", "no verb", "announcement"],
)
def test_what_states_nothing_alone_is_left_out(passage):
    assert statements(passage) == []


def test_the_parts_of_a_list_of_nouns_are_not_taken_for_clauses():
    passage = (
        "Wild yeasts and the many bacteria of a good old sourdough starter make acids and gas."
    )
    assert not any(text.startswith("the many") for text in statements(passage))


@pytest.mark.parametrize(
    ("passage", "word"),
    [
        ("The study used several of the new materials (Mento et al, 1999)7.", "materials"),
        ("The study used several of the new materials (Mento) [1]7.", "materials"),
        ('The museum sold the 5"x7" print to a school.', "5"),
    ],
    ids=["note number behind brackets", "behind two", "inches"],
)
def test_what_is_left_out_between_two_words_leaves_a_space(passage, word):
    (statement,) = statements(passage)
    assert word in statement.split()


@pytest.mark.parametrize("text", ["(", "[", " ", "\n", "it and so "], ids=repr)
def test_time_to_find_statements_grows_with_the_passage_and_no_faster(text):
    def seconds(n):
        passage = (text * n)[:n]
        start = time.process_time()
        statements(passage)
        return time.process_time() - start

    short, long = (min(seconds(n) for _ in range(3)) for n in (1500, 24_000))  # 16 times as long
    assert long < 64 * short + 0.05


def test_brackets_are_left_out_beside_some_that_are_never_closed():
    assert statements("Gas [1] makes the (old dough rise.") == ["Gas makes the (old dough rise"]


FUNCTION_WORDS = {"the", "a", "and", "because", "which", "whose", "in", "of", "is", "has", "who"}
_WORDS = st.sampled_from(
    ["the", "a", "deck", "wind,", "moves", "is", "and", "because", "which", "whose", "of.", "who,"]
)


@given(st.lists(_WORDS, max_size=60).map(" ".join))
def test_any_text_gives_statements_of_four_to_twelve_words_that_do_not_end_on_a_function_word(
    passage,
):
    for text in statements(passage):
        words = text.lower().split()
        assert 4 <= len(words) <= MAX_WORDS
        assert words[-1] not in FUNCTION_WORDS


@given(st.text())
def test_any_string_is_read_without_an_error(passage):
    assert len(statements(passage)) == len(set(statements(passage)))
