"""What an answer in memory cites, sentence by sentence; expected values are counted by hand."""

import pytest

from nuggetjudge.evaluation.samples.citations import Sentence, index_by_id, split_answer


def cut(answer, ids=(), n=3):
    return [(s.text, s.citations) for s in split_answer(answer, index_by_id(ids), n)]


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


def test_items_of_a_list_are_sentences_and_a_heading_stands_with_the_next():
    answer = "## Why\n- wind [1]\n- crowds\n1. Steps match\nthe motion [2].\n\n# End"
    assert [(s.text, s.citations) for s in split_answer(answer, {})] == [
        ("## Why\nwind", (0,)),
        ("crowds", ()),
        ("Steps match the motion.", (1,)),
        ("# End", ()),
    ]


def test_without_contexts_brackets_are_text():
    assert split_answer("As said [1].", None) == [Sentence("As said [1].")]
    assert split_answer("", {}) == []


@pytest.mark.parametrize(
    "answer",
    [
        "Wind moves it【1】. Dampers help【2】.",
        "Wind moves it【1†source】. Dampers help 【2†L3-L4】.",
        "Wind moves it ［1］. Dampers help ［2］.",
        "Wind moves it [[1]](https://a.b). Dampers help [[2]](https://a.c).",
        "Wind moves it [Source 1]. Dampers help [source: 2].",
        "Wind moves it [doc1]. Dampers help [doc2].",
        "Wind moves it (Document 1). Dampers help (Document 2).",
        "Wind moves it. [1]. Dampers help. [2]. ",
        "Wind moves it. 【1】 Dampers help. 【2】",
        "Wind moves it (1). Dampers help (2).",
        "Wind moves it. (1) Dampers help. (2)",
        "Wind moves it¹. Dampers help².",
        "Wind moves it.¹ Dampers help.²",
        "Wind moves it<sup>1</sup>. Dampers help<sup>2</sup>.",
        "Wind moves it<sup>[1]</sup>. Dampers help<sup>[2]</sup>.",
        "Wind moves it [0]. Dampers help [1].",
        "Wind moves it. [0] Dampers help. [1]",
        "Wind moves it [Source 0]. Dampers help [Source 1].",
    ],
)
def test_each_form_of_a_mark_that_systems_write_cites_its_context(answer):
    assert cut(answer) == [("Wind moves it.", (0,)), ("Dampers help.", (1,))]


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It sways [1 and 3].", (0, 2)),
        ("It sways [Sources 1, 2].", (0, 1)),
        ("It sways (1, 3).", (0, 2)),
        ("It sways (1-3).", (0, 1, 2)),
        ("It sways¹³.", (0, 2)),  # of three contexts; no 13th
        ("It sways¹,³.", (0, 2)),
        ("It sways over 3 km² of x²; it does¹.", (0,)),
        ("It sways (Oke, 2020) (2).", (1,)),
        ("Since (2020) it sways (2).", (1,)),
    ],
)
def test_several_contexts_in_one_mark_and_marks_beside_other_numbers(answer, cited):
    assert [each for _, each in cut(answer)] == [cited]


@pytest.mark.parametrize(
    "text",
    [
        "There are (1) wind, (2) rain and (3) sun.",
        "Causes are known. (1) Wind pushes. (2) Rain falls.",
        "(1) Wind pushes it.",
        "It lasted three (3).",
        "It follows from Eq. (1).",
        "As in (2020) and (12).",  # the second is of no context
        "It sways (1) and (12).",
        "It covers 3 km², 10² m² and x³.",
        "The ion Ca²⁺ and ¹⁴C, at 5 s⁻¹.",
        "The range [0, 1] and the item x[0]['a'] are text.",
        "【注意】 is text, as is [citation needed] or [Fig. 1].",
    ],
)
def test_numbers_that_may_be_no_marks_are_text(text):
    assert [cited for _, cited in cut(text)] == [()] * len(cut(text))
    assert " ".join(words for words, _ in cut(text)) in (text, text.removeprefix("(1) "))


def test_a_mark_of_a_context_that_is_not_there_stays_a_citation():
    assert cut("It sways [1]. It stops [7].", n=2) == [("It sways.", (0,)), ("It stops.", (6,))]
    assert cut("It sways [0]. It stops [2].", n=2) == [("It sways.", (-1,)), ("It stops.", (1,))]
    assert cut("It sways [2-9].", n=2) == [("It sways.", (1, 8))]  # 8 for all that are not there
