"""The weighted lexical score: by hand on small texts, and its bounds on any."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.judges.lexical.overlap import weighted_overlap, word_weights


def test_a_word_in_fewer_texts_weighs_more():
    weights = word_weights(["the old bridge", "the new bridge", "the river", "the old town"])
    assert weights == {
        "bridg": pytest.approx(math.log(5 / 2.5), abs=1e-4),
        "old": pytest.approx(math.log(5 / 2.5), abs=1e-4),
        "the": pytest.approx(math.log(5 / 4.5), abs=1e-4),
    }  # new, river and town stand in one text alone


def test_a_text_that_is_there_twice_counts_once():
    texts = ["a bridge", "a river"]
    assert word_weights([*texts, *texts]) == word_weights(texts)


# needed: red 3, fish 1; held: fish. Letters: "red f" "ed fi" "d fis" " fish" against "fish".
def test_the_score_is_the_mean_of_weighted_words_and_runs_of_letters():
    assert weighted_overlap("red fish", "fish", {"red": 3.0, "fish": 1.0}) == (0.25 + 0) / 2
    score = weighted_overlap("red fish", "a fish", {"red": 3.0, "fish": 1.0})
    assert score == (0.25 + 0.25) / 2  # " fish" is there


def test_an_unknown_word_weighs_as_much_as_the_heaviest():
    known = weighted_overlap("red fish", "one fish", {"red": 3.0, "fish": 1.0, "one": 3.0})
    assert weighted_overlap("red fish", "one fish", {"fish": 1.0, "one": 3.0}) == known


def test_words_have_to_stand_in_neighbouring_sentences():
    near = "The red one swims. Fish do. It rains."
    far = "The red one swims. It rains. Fish do."
    assert weighted_overlap("red fish", near, {}) > weighted_overlap("red fish", far, {})


def test_a_verbatim_copy_scores_one_and_nothing_in_common_zero():
    text = "The bridge opened in 1998, after 3 years."
    assert weighted_overlap(text, f"It rains. {text} It shone.", {"bridg": 2.0}) == 1
    assert weighted_overlap("bridge", "xyz", {}) == 0
    assert weighted_overlap("", "a bridge", {}) == weighted_overlap("...", "...", {}) == 0


@given(st.text(max_size=60), st.text(max_size=120))
def test_the_score_is_a_share(needed, text):
    assert 0 <= weighted_overlap(needed, text, word_weights([needed, text])) <= 1
