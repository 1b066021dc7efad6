"""Samples by the names that people have; what is wrong is named by its place."""

import json
from dataclasses import dataclass

import orjson
import pytest
from pydantic import BaseModel

import nuggetjudge as nj
from nuggetjudge.evaluation.samples.citations import Sentence, index_by_id, split_answer
from nuggetjudge.evaluation.samples.files import write_samples
from nuggetjudge.evaluation.samples.reading import Nugget, Sample, make_sample, read_samples
from nuggetjudge.records.reading.problems import InputError

TIDES = {"question": "what are tides", "answer": "Tides turn [1].", "contexts": ["Tides turn."]}


def rows(folder, name):
    return [orjson.loads(line) for line in (folder / f"{name}.jsonl").read_bytes().splitlines()]


def written(folder, samples, run="a"):
    write_samples({run: read_samples(samples)}, folder)
    return rows(folder, "runs")


class Document:  # as retrievers of LangChain return
    def __init__(self, page_content, **metadata):
        self.page_content, self.metadata = page_content, metadata


@dataclass
class Row:
    input: str
    actual_output: str
    retrieval_context: list


class Turn(BaseModel):
    user_input: str
    response: str
    retrieved_contexts: list[str] | None = None


def test_the_names_of_other_tools_mean_the_same(tmp_path):
    given = [
        TIDES,
        {"user_input": "q2", "response": "Tides turn [1].", "retrieved_contexts": ["Tides turn."]},
        {"input": "q3", "answer": "Tides turn [1].", "context": [Document("Tides turn.")]},
        Row("q4", "Tides turn [1].", ["Tides turn."]),
        Turn(user_input="q5", response="Tides turn [1].", retrieved_contexts=["Tides turn."]),
        Sample("q6", "q6", "Tides turn [1].", make_sample(TIDES, 0).contexts),
    ]
    questions = written(tmp_path, iter(given))
    assert len(questions) == 6
    assert {orjson.dumps((r["references"], r["answer"])) for r in questions} == {
        orjson.dumps((questions[0]["references"], [{"text": "Tides turn.", "citations": [0]}]))
    }
    assert len(rows(tmp_path, "passages")) == 1


def test_frames_are_samples_and_a_cell_without_a_value_is_not_there():
    pandas = pytest.importorskip("pandas")
    numpy = pytest.importorskip("numpy")
    frame = pandas.DataFrame(
        [
            {**TIDES, "contexts": numpy.array(TIDES["contexts"]), "id": 7, "reference": "Yes."},
            {**TIDES, "contexts": None, "id": numpy.nan, "reference": numpy.nan},
        ]
    )
    one, other = read_samples(frame)
    assert (one.topic_id, [c.text for c in one.contexts], one.reference) == (
        "7", ["Tides turn."], "Yes.",
    )  # fmt: skip
    assert (other.contexts, other.reference) == ((), "")
    assert other.topic_id.startswith("what-are-tides-")
    frame.loc[1, "answer"] = None
    one, other = read_samples(frame)
    assert (one.failed, other.failed, other.is_empty) == ("", "error", True)
    for name in ("failed", "not_made"):  # not_made: of earlier versions
        assert make_sample({"question": "q", name: "refused"}, 0).failed == "refused"


def test_one_id_with_two_texts_is_two_passages_and_citations_follow(tmp_path):
    given = []
    for i in range(2):
        contexts = [{"id": 1, "text": f"one {i}", "title": "T"}, {"id": 2, "text": f"two {i}"}]
        answer = [{"text": "Said.", "citations": [2]}]
        given.append({"question": f"q{i}", "answer": answer, "contexts": [*contexts, contexts[1]]})
    questions = written(tmp_path, given)
    texts = {row["docid"]: row["text"] for row in rows(tmp_path, "passages")}
    cited = [texts[r["references"][r["answer"][0]["citations"][0]]] for r in questions]
    assert cited == ["two 0", "two 1"]  # by id, since contexts have ids; else by place from 0
    assert len(texts) == 4
    assert questions[0]["references"] == ["1", "2"]
    assert rows(tmp_path, "passages")[0]["title"] == "T"


def test_a_citation_of_a_context_that_is_not_there_is_no_support_and_is_said_once():
    bridges = {"question": "why do bridges sway?", "contexts": ["Wind moves a bridge."]}
    samples = [
        {**bridges, "id": "a", "answer": "Wind moves a bridge [1]. It is so [7]."},
        {**bridges, "id": "b", "answer": "Wind moves a bridge [2-5]."},
        {**bridges, "id": "c", "answer": [{"text": "Wind moves a bridge.", "citations": [3]}]},
    ]
    says = r"3 citations name a missing context, first in samples\[0\]"
    with pytest.warns(UserWarning, match=says) as warned:
        result = nj.evaluate(samples, "support", model="lexical")
    assert len(warned) == 1
    rows = {row.topic_id: row for row in result.rows("support_precision")}
    assert [(rows[topic].value, rows[topic].n) for topic in "abc"] == [(0.5, 2), (0, 1), (0, 1)]
    assert not result.n_unjudged
    problems = (result.folder / "problems.jsonl").read_text("utf-8")
    assert problems.count("citation_not_given") == 3


def test_answers_without_a_citation_that_was_read_are_said_and_score_no_number():
    sample = {"question": "why do bridges sway?", "contexts": ["Wind moves a bridge."]}
    samples = [
        {**sample, "id": "a", "answer": "Wind moves a bridge."},
        {**sample, "id": "b", "answer": "Wind moves a bridge (Oke 1990) (12)."},
    ]
    said = (
        r"2 of 2 answers cite none of their contexts, first samples\[0\].*'\(12\)' in samples\[1\]"
    )
    with pytest.warns(UserWarning, match=said) as warned:
        result = nj.evaluate(samples, "support", model="lexical", name="mine")
    assert len(warned) == 1
    assert "1  mine  " in str(result)
    assert str(result).split("mine")[1].split()[0] == "-"
    pytest.importorskip("pandas")
    assert list(result.frame("support_precision").n) == [0, 0]
    assert list(result.frame("support_recall").n) == [1, 1]  # a rule judges them


@pytest.mark.parametrize(
    "contexts",
    [
        ["Wind, it's said, moves it.", 'Dampers "help".'],
        str(["Wind, it's said, moves it.", 'Dampers "help".']),
        json.dumps(["Wind, it's said, moves it.", 'Dampers "help".']),
        """["Wind, it's said, moves it."\n 'Dampers "help".']""",  # as NumPy prints it
        str([{"text": "Wind, it's said, moves it."}, {"text": 'Dampers "help".'}]),
    ],
)
def test_contexts_survive_a_csv_file(contexts):
    sample = make_sample({"question": "q", "answer": "a", "contexts": contexts}, 0)
    texts = [context.text for context in sample.contexts]
    assert texts == ["Wind, it's said, moves it.", 'Dampers "help".']


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"anwser": "x"}, r"samples\[3\]: no answer .*it has .*; did you mean answer\?"),
        ({"answer": 5}, r"samples\[3\]: answer is 5, wanted text"),
        ({"answer": "x", "question": " "}, r"samples\[3\]: question is empty"),
        ({"answer": "x", "contxts": ["y"]}, r"field 'contxts' .*; did you mean contexts\?"),
        ({"answer": "x", "contexts": [{"body": "y"}]}, r"\[3\]\.contexts\[0\]: .*; it has body"),
        ({"answer": "x", "nuggets": "y"}, r"samples\[3\]: nuggets is 'y', wanted a list"),
        ({"answer": "x", "nuggets": [{"text": "y", "importance": "high"}]}, r"\[0\]: importance"),
        ({"answer": "x", "key_points": [""]}, r"key_points\[0\]: is '', wanted text"),
        ({"answer": "x", "id": "a b"}, r"samples\[3\]: id is 'a b', wanted an id without"),
        ({"answer": [{"text": "y", "citations": [1.5]}]}, r"answer\[0\]\.citations: 1\.5"),
        ({"failed": "tired"}, r"samples\[3\]: failed is 'tired', wanted one of abstained"),
    ],
)  # fmt: skip
def test_a_wrong_field_is_named_with_its_place_and_what_was_there(fields, message):
    with pytest.raises(InputError, match=message):
        make_sample({"question": "q", **fields}, 3)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "samples: none, wanted one or more"),
        ({"a": [TIDES], "b": []}, "samples: none of b, wanted one or more"),
        (TIDES, "is a mapping with 'question'; wanted a list"),
        ("tides", "samples: is 'tides', wanted a list"),
        ({"old one": [TIDES]}, "name: 'old one', wanted a system name without"),
        ([3], r"samples\[0\]: is 3, wanted a mapping"),
        ([{"question": "q", "answer": "a"}], "nothing to judge answers with; wanted contexts"),
        ([TIDES, TIDES], r"samples\[1\]: answers has answered .* in samples\[0\]; give"),
    ],
)  # fmt: skip
def test_samples_that_are_none_are_told_in_one_line(samples, message):
    with pytest.raises(InputError, match=message) as raised:
        nj.evaluate(samples, model="lexical")
    assert "\n" not in str(raised.value)


HALF = "\ud83d"  # of a surrogate pair
BROKEN = {
    "id": ({"id": f"t{HALF}"}, r"samples\[1\]\.topic_id: character 1 "),
    "question": ({"question": f"what are {HALF}tides"}, r"samples\[1\]\.question: character 9 "),
    "answer": ({"answer": f"Tides turn.{HALF}"}, r"samples\[1\]\.answer: character 11 "),
    "context": ({"contexts": ["a", f"b{HALF}"]}, r"samples\[1\]\.contexts\[1\]\.text: "),
    "nugget": ({"nuggets": [f"{HALF}"]}, r"samples\[1\]\.nuggets\[0\]\.text: "),
}


@pytest.mark.parametrize(("fields", "message"), BROKEN.values(), ids=BROKEN.keys())
def test_half_a_surrogate_pair_is_named_with_its_sample(fields, message):
    samples = [TIDES, {**TIDES, "id": "other", **fields}]
    with pytest.raises(InputError, match=message):
        nj.evaluate(samples, "support", model="lexical")


def test_two_systems_may_not_say_different_things_of_one_topic(tmp_path):
    one = {**TIDES, "id": "t", "nuggets": ["a"]}
    for other, message in (
        ({**one, "question": "another"}, r"other words of the question in samples\[0\]"),
        ({**one, "nuggets": ["b"]}, r"topic 't' has other nuggets in"),
    ):
        with pytest.raises(InputError, match=message):
            nj.evaluate({"a": [one], "b": [other]}, model="lexical")
    nj.evaluate({"a": [one], "b": [{**TIDES, "id": "t"}]}, model="lexical")


def test_nuggets_given_as_texts_are_vital_and_their_importance_can_be_said():
    sample = make_sample({**TIDES, "nuggets": ["a", {"text": "b", "importance": "okay"}]}, 0)
    assert sample.nuggets == (Nugget("a", "vital"), Nugget("b", "okay"))


def test_a_file_of_samples_is_judged_as_its_rows(tmp_path):
    given = [
        {"id": f"q{i}", "question": f"what are tides {i}", "answer": answer, "contexts": ["Tides"]}
        for i, answer in enumerate(("Tides turn.", "Boats wait.", None))
    ]
    path = tmp_path / "old2.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in given))
    by_file = nj.evaluate({"one": str(path), "two": path}, "faithfulness", model="lexical")
    in_memory = nj.evaluate({"one": given, "two": given}, "faithfulness", model="lexical")
    values = [(row.run_id, row.topic_id, row.value) for row in by_file.rows()]
    assert values == [(row.run_id, row.topic_id, row.value) for row in in_memory.rows()]
    assert {value for *_, value in values} == {0.0, 1.0, None}
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "why?", "nuggets": ["tides turn"]}\n')
    asked = nj.evaluate(questions, "nuggets", answer=lambda _: "Tides turn.", model="lexical")
    assert asked.score("answers", "V_strict") == 1.0
    unnamed = tmp_path / "items7.jsonl"
    unnamed.write_text('{"q": "why", "passage": "Tides turn."}\n')
    items = nj.evaluate(unnamed, judge="relevance", fields={"question": "q"}, model="lexical")
    assert {row.topic_id for row in items.rows()} == {"s1"}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"question": "q", "answer": "a"}\n{"question": 3, "answer": "a"}\n',
         r"s\.jsonl:2: question is 3, wanted text"),
        ('{"question": "q", "answer": "a"}\n\n{"question": \n', r"s\.jsonl:3: "),
        (None, r"s\.jsonl', wanted a list, .* or the path of a JSONL file; no file has this name"),
    ],
)  # fmt: skip
def test_a_wrong_line_of_a_file_of_samples_is_named(text, match, tmp_path):
    path = tmp_path / "s.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(InputError, match=match):
        nj.evaluate(str(path), "faithfulness", model="lexical")


def test_an_empty_answer_is_judged_and_one_that_was_not_made_is_not():
    rows = [
        {"id": "e", "question": "q", "answer": "", "nuggets": ["tides turn"]},
        {"id": "n", "question": "p", "failed": "refused", "nuggets": ["tides turn"]},
    ]
    result = nj.evaluate(rows, model="lexical")
    empty, lost = sorted(result.rows(["V_strict"]), key=lambda row: row.topic_id)
    assert (empty.value, empty.n_unjudged, empty.is_judged) == (0.0, 0, True)
    assert (lost.value, lost.is_judged, lost.reasons) == (None, False, {"refused": 1})


# What an answer in memory cites, sentence by sentence; expected values are counted by hand.
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
