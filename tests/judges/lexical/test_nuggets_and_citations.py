"""The lexical baselines on cases small enough to count by hand."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.judges.lexical import overlap as lexical

NUGGET = "dampers absorb energy from swaying decks"  # five content words: from is a function word


@pytest.mark.parametrize(
    ("answer", "three", "two"),
    [
        ("Swaying decks give energy that a damper absorbs.", "support", "support"),  # 5 of 5
        ("A damper absorbs energy of the deck.", "support", "support"),  # 4 of 5
        ("A damper absorbs energy.", "partial_support", "not_support"),  # 3 of 5
        ("A damper absorbs it.", "not_support", "not_support"),  # 2 of 5
        ("", "not_support", "not_support"),
    ],
)
def test_a_nugget_is_graded_by_its_content_words_in_the_answer(answer, three, two):
    asked = {"question": "", "answer": answer, "nuggets": {"7": NUGGET}}
    assert lexical.assign_nuggets(asked) == {"verdicts": {"7": three}}
    assert lexical.match_nuggets(asked) == {"verdicts": {"7": two}}


# "wind moves long decks": 4 words and 3 pairs of neighbours.
@pytest.mark.parametrize(
    ("passage", "share", "verdict"),
    [
        ("Wind moves long decks.", 1.0, "full"),
        ("The wind moves the long decks.", (4 / 4 + 2 / 3) / 2, "full"),
        ("Decks, long ones, moved by the wind.", (4 / 4 + 0 / 3) / 2, "full"),
        ("Long ships and wind, and how it moves them.", (3 / 4 + 0 / 3) / 2, "partial"),
        ("Wind is moving air.", (2 / 4 + 0 / 3) / 2, "none"),
        ("", 0.0, "none"),
    ],
)
def test_a_sentence_is_graded_by_its_words_and_neighbours_in_the_passage(passage, share, verdict):
    assert lexical.measure_support("wind moves long decks", passage) == pytest.approx(share)
    asked = {"sentence": "wind moves long decks", "passage": passage}
    assert lexical.judge_support(asked) == {"verdict": verdict}


def test_a_sentence_of_one_word_is_graded_by_that_word():
    assert lexical.measure_support("Wind", "the wind blows") == 1.0
    assert lexical.measure_support("Wind", "a calm day") == 0.0
    assert lexical.measure_support("", "a calm day") == 0.0


@pytest.mark.parametrize(
    ("passage", "grade"),
    [
        ("Bridge decks sway in strong wind.", 3),  # 5 of 5
        ("Bridge decks sway in wind.", 3),  # 4 of 5
        ("A bridge can sway.", 0),  # 2 of 5
        ("A bridge can sway in the wind.", 1),  # 3 of 5
        ("Bees make honey.", 0),
    ],
)
def test_relevance_is_the_share_of_the_questions_content_words(passage, grade):
    asked = {"question": "why does a bridge deck sway in strong wind", "passage": passage}
    assert lexical.judge_relevance(asked) == {"grade": grade}


def test_the_half_that_shares_most_with_the_question_is_vital():
    nuggets = {
        "1": "bees make honey",
        "2": "bridges sway",
        "3": "the old tower is white",
        "4": "wind makes bridges sway",
        "5": "salt is bad for stone",
    }
    rated = lexical.rate_importance({"question": "why bridges sway in wind", "nuggets": nuggets})
    vital = [key for key, label in rated["importance"].items() if label == "vital"]
    assert list(rated["importance"]) == list(nuggets)
    assert vital == ["1", "2", "4"]  # 4 and 2 share words; of the rest 1 comes first


@given(st.lists(st.text(max_size=20), min_size=2, max_size=30))
def test_a_list_of_two_or_more_is_never_all_vital_or_all_okay(texts):
    nuggets = {str(i): text for i, text in enumerate(texts)}
    rated = lexical.rate_importance({"question": "why bridges sway", "nuggets": nuggets})
    assert set(rated["importance"].values()) == {"vital", "okay"}


def made(passages, nuggets=(), limit=30, question="why do bridges sway in wind"):
    numbered = {str(i): text for i, text in enumerate(passages, 1)}
    asked = {"question": question, "limit": limit, "nuggets": list(nuggets), "passages": numbered}
    return lexical.update_nuggets(asked)["updated"]


def test_statements_about_the_question_come_first():
    passages = ["Old stone towers are often white. Strong wind makes long bridges sway."]
    assert made(passages) == [
        "Strong wind makes long bridges sway",
        "Old stone towers are often white",
    ]


def test_what_a_chosen_nugget_says_is_not_said_twice():
    passages = ["Strong wind makes long bridges sway.", "Long bridges sway in a strong wind."]
    assert len(made(passages)) == 1


def test_a_full_list_makes_room_for_what_matters_more():
    first = made(["Old stone towers are often white."], limit=1)
    assert first == ["Old stone towers are often white"]
    assert made(["Strong wind makes long bridges sway."], first, limit=1) == [
        "Strong wind makes long bridges sway"
    ]


def test_a_statement_that_needs_its_context_comes_after_one_that_does_not():
    passages = ["It makes bridges sway in wind. Dampers keep most bridges steady."]
    assert made(passages)[0] == "Dampers keep most bridges steady"


def test_nothing_to_say_gives_an_empty_list():
    assert made([]) == made([""]) == made(["Why?"]) == []


def test_the_limit_holds_and_the_same_input_gives_the_same_list():
    passages = [f"Bridge number {i} has {i * 7} dampers of type t{i} in store." for i in range(40)]
    assert len(made(passages, limit=7)) == 7
    assert made(passages) == made(passages)


def test_twenty_passages_take_less_than_50_ms():
    words = ["wind", "deck", "tower", "cable", "load", "damper", "mass", "span", "river", "stone"]
    sentence = "The {} {} has moved the {} of a {}, because the {} makes every {} in it sway. "

    def passage(p):
        turns = [words[p % 10 + s % 7 :] + words for s in range(9)]
        return "".join(sentence.format(*turn[:6]) for turn in turns)

    passages = [passage(p) for p in range(20)]
    assert sum(map(len, passages)) > 12_000
    seconds = []
    for _ in range(3):
        lexical.content_words.cache_clear()
        started = time.process_time()
        made(passages[10:], made(passages[:10]))
        seconds.append(time.process_time() - started)
    assert min(seconds) < 0.05
