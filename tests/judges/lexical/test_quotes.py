"""A quote is found as it stands, or with other white space; never by what it means."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.judges.lexical.grounds import find_quote, is_quoted

TEXT = "The dam broke.\n\nThen the  river\trose (by 3.5 m), and  the\u00a0dam was left."


@pytest.mark.parametrize(
    ("quote", "matched"),
    [
        ("The dam broke.", "The dam broke."),
        (" the  river\trose ", "the  river\trose"),
        ("the river rose (by 3.5 m),", "the  river\trose (by 3.5 m),"),
        ("dam broke. Then", "dam broke.\n\nThen"),
        ("and the dam was", "and  the\u00a0dam was"),
        ("and\n the dam\u2003was", "and  the\u00a0dam was"),
    ],
)
def test_a_quote_is_found_exactly_or_with_other_white_space(quote, matched):
    start, end = find_quote(quote, TEXT)
    assert TEXT[start:end] == matched
    assert is_quoted(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "the dam broke.",  # another case
        "The dam broke!",  # other punctuation
        "by 3x5 m",  # the full stop is no pattern
        "The river broke",  # words of the text, in no such order
        "theriver",  # white space left out
        "ri ver",  # and put in
        "The dam ... left.",
        ".*",
        "The dam broke. Then the river rose (by 3.5 m), and the dam was left. It rained.",
    ],
)
def test_other_words_case_or_punctuation_are_no_quote(quote):
    assert find_quote(quote, TEXT) is None
    assert not is_quoted(quote, TEXT)


@pytest.mark.parametrize("blank", ["", " ", "\n\t\u00a0"])
def test_a_blank_quote_stands_nowhere(blank):
    assert not is_quoted(blank, TEXT)
    assert not is_quoted(blank, "")


def test_the_first_place_counts_and_an_exact_one_before_it_does_not():
    assert find_quote("a dam", "a dam, a dam") == (0, 5)
    assert find_quote("a dam", "a  dam, a dam") == (8, 13)  # exact before normalised


@given(st.text(max_size=60), st.data())
def test_any_part_of_a_text_is_found_whatever_its_white_space(text, data):
    start = data.draw(st.integers(0, len(text)))
    part = text[start : data.draw(st.integers(start, len(text)))]
    if not part.strip():
        return
    respaced = data.draw(st.sampled_from([" ", "\n", " \t\n", "\u3000"])).join(part.split())
    for quote in (part, respaced):
        first, last = find_quote(quote, text)
        assert text[first:last].split() == part.split()


@given(st.text(max_size=20), st.text(max_size=60))
def test_what_is_found_has_the_words_of_the_quote(quote, text):
    span = find_quote(quote, text)
    if span is not None:
        assert text[slice(*span)].split() == quote.split() != []


def test_a_long_hostile_text_takes_no_time():
    text = "a " * 50_000 + " " * 50_000
    assert not is_quoted("a " * 200 + "b", text)
