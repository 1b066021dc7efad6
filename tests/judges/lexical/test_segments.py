"""A document is cut at the best borders there are, evenly, and loses nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.judges.lexical.segments import segments, sentences

PIECES = st.sampled_from(["wind", "Dr.", "A deck", ".", "? ", "\n\n", "\n", " ", "  ", "é”)", "。"])
DOCUMENTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200)


def squeezed(text):
    return "".join(text.split())


@given(DOCUMENTS, st.integers(1, 12), st.sampled_from([len, lambda text: len(text.split())]))
def test_the_parts_are_the_document_up_to_white_space(document, most, count):
    parts = segments(document, most, count)
    assert squeezed("".join(parts)) == squeezed(document)
    assert all(part == part.strip() != "" for part in parts)


@given(DOCUMENTS, st.integers(1, 12), st.sampled_from([len, lambda text: len(text.split())]))
def test_no_part_is_too_long(document, most, count):
    assert all(count(part) <= most for part in segments(document, most, count))


@given(DOCUMENTS.filter(lambda text: not set(text) & set("。！？")), st.integers(1, 12))
def test_words_stay_whole_where_each_fits(document, most):
    assert " ".join(segments(document, most)).split() == document.split()


def test_a_short_document_is_one_part():
    document = "Rain fell.\n\nThe river rose."
    assert segments(f" {document}\n") == [document]


@pytest.mark.parametrize("blank", ["", " \n\n\t"])
def test_a_blank_document_has_no_part(blank):
    assert segments(blank) == []


def test_paragraphs_are_kept_together_before_sentences():
    document = "One two. Three four.\n\nFive six. Seven.\n \nEight."
    assert segments(document, 4) == ["One two. Three four.", "Five six. Seven.\n \nEight."]


def test_a_paragraph_that_is_too_long_is_cut_between_its_sentences():
    document = "Title\n\nOne two three. Four five six! Seven eight nine?"
    assert segments(document, 4) == [
        "Title\n\nOne two three.",
        "Four five six!",
        "Seven eight nine?",
    ]


def test_a_sentence_that_is_too_long_is_cut_between_words():
    assert segments("one two three four five six", 4) == ["one two three", "four five six"]


def test_a_word_is_cut_only_when_it_alone_is_too_long():
    assert segments("ab abcdefgh", 4, len) == ["ab", "abcd", "efgh"]
    assert segments("ab abcd", 4, len) == ["ab", "abcd"]


def test_a_character_that_is_too_long_stays_and_is_not_cut_for_ever():
    assert segments("éé", 1, lambda text: len(text.encode())) == ["é", "é"]


def test_the_last_part_is_not_left_with_a_few_words():
    document = " ".join(f"The {i} trees fell." for i in range(30))  # 120 words
    assert [len(part.split()) for part in segments(document, 100)] == [60, 60]


def test_the_limit_is_1024_words_unless_told_otherwise():
    assert len(segments("word " * 1024)) == 1
    assert [len(part.split()) for part in segments("word " * 1026)] == [513, 513]


def test_an_initial_or_a_title_ends_no_sentence():
    text = "Dr. Oke met J. R. Ward. \"Why?\" she asked. 'It rose.' He left… Done"
    assert sentences(text) == [
        "Dr. Oke met J. R. Ward.",
        '"Why?" she asked.',
        "'It rose.'",
        "He left…",
        "Done",
    ]
