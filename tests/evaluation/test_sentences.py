"""What an answer in memory cites, sentence by sentence; expected values are counted by hand."""

import time

import pytest

from nuggetjudge.evaluation.samples.sentences import Sentence, indices_by_id, sentences_of


def cut(answer, ids=()):
    return [(s.text, s.citations) for s in sentences_of(answer, indices_by_id(ids))]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Tides turn [1]. They rest.", [("Tides turn.", (0,)), ("They rest.", ())]),
        ("Tides turn.[1] They rest.[2]", [("Tides turn.", (0,)), ("They rest.", (1,))]),
        ("Tides turn. [1][2] They rest.", [("Tides turn.", (0, 1)), ("They rest.", ())]),
        ("Tides turn [1, 3], and rest [2-3].", [("Tides turn, and rest.", (0, 2, 1))]),
        ("Tides turn [^2] [1](https://a.b/c).", [("Tides turn.", (1, 0))]),
        ("Tides turn.\n[2]", [("Tides turn.", (1,))]),
    ],
)
def test_a_citation_is_of_the_sentence_it_stands_in_or_behind(answer, expected):
    assert cut(answer) == expected


def test_ids_of_contexts_are_citations_by_name_even_where_they_are_other_numbers():
    text = "Tides turn [bees-01]. They rest [7]. They stop [1]."
    indices = [cited for _, cited in cut(text, ids=["7", "bees-01"])]
    assert indices == [(1,), (0,), (0,)]  # 1 is no id here, so the first context
    assert cut("All of it [d].", ids=["d", "d"]) == [("All of it.", (0, 1))]


@pytest.mark.parametrize(
    "text",
    [
        "In [2024] the range [0, 1] and the note [sic] were kept.",
        "It grew 3.5 % to 1.2 million, e.g. in Lagos, cf. Fig. 2.",
        "Dr. Oke and J. R. Smith et al. (2020) lived in the U.S. Army base, i.e. No. 5.",
    ],
)
def test_numbers_that_cite_nothing_and_stops_that_end_nothing_stay_in_one_sentence(text):
    assert cut(text) == [(text, ())]


def test_a_citation_behind_an_initial_does_not_end_its_sentence():
    assert cut("The U.S. [1] Army came. It left.") == [
        ("The U.S. Army came.", (0,)),
        ("It left.", ()),
    ]


def test_items_of_a_list_are_sentences_and_a_heading_stands_with_the_next():
    answer = "## Why\n- wind [1]\n- crowds\n1. Steps match\nthe motion [2].\n\n# End"
    assert [(s.text, s.citations) for s in sentences_of(answer, {})] == [
        ("## Why\nwind", (0,)),
        ("crowds", ()),
        ("Steps match the motion.", (1,)),
        ("# End", ()),
    ]


def test_without_contexts_brackets_are_text():
    assert sentences_of("As said [1].", None) == [Sentence("As said [1].")]
    assert sentences_of("", {}) == []


@pytest.mark.parametrize("text", ["It is so, e.g. here, cf. there vs. ", "See No. 5 and No. 6 of "])
def test_time_to_cut_an_answer_grows_with_its_length_and_no_faster(text):
    def seconds(n):
        start = time.process_time()
        sentences_of(text * n, {})
        return time.process_time() - start

    short, long = (min(seconds(n) for _ in range(3)) for n in (200, 3200))  # 16 times as long
    assert long < 64 * short + 0.05
