import json

import pytest
from json_lines import read_rows

from nuggetjudge.records import (
    InputError,
    Problems,
    read_answers,
    read_documents,
)
from nuggetjudge.records.answers import answers_with_lines
from nuggetjudge.records.reading.fields import read_lines


def one(path, problems):
    (answer,) = read_answers(path, problems)
    return answer


def cited(answer):
    return [[citation.passage_id for citation in s.citations] for s in answer.sentences]


RAG_2024 = {
    "run_id": "sys1", "topic_id": "2031-77", "topic": "why do bridges sway",
    "references": ["s1", "s4"], "response_length": 4,
    "answer": [{"text": "Wind makes them sway.", "citations": [1]}],
}  # fmt: skip
RAG_2025 = {
    "metadata": {"team_id": "t", "run_id": "sys2", "type": "automatic", "narrative_id": 12},
    "references": ["s1", "s2"],
    "answer": [{"text": "Tides drive turbines.", "citations": ["s2", "s1"]}],
}
REPORT = {
    "metadata": {"team_id": "t", "run_id": "sys3", "topic_id": "leaf"},
    "responses": [{"text": "Leaves fall.", "citations": {"d2": 40.5, "d9": 88.0}}],
    "references": ["d9", "d2"],
}


def rag_2026(*units, references=("a", "b", "c", "d")):
    metadata = {"team_id": "t", "run_id": "sys4", "narrative_id": "rag2026-7"}
    return {"metadata": metadata, "references": list(references), "answer": list(units)}


def test_the_2024_layout_counts_citations_in_the_references(write, problems):
    answer = one(write(RAG_2024), problems)
    assert (answer.run_id, answer.topic_id) == ("sys1", "2031-77")
    assert cited(answer) == [["s4"]]
    assert answer.references == ("s1", "s4")
    assert len(problems) == 0


def test_the_2025_layout_takes_ids_and_places_alike(write, problems):
    with_indices = {**RAG_2025, "answer": [{"text": "Tides drive turbines.", "citations": [1, 0]}]}
    with_indices["metadata"] = {**RAG_2025["metadata"], "run_id": "sys2b"}
    by_id, by_index = read_answers(write(RAG_2025, with_indices), problems)
    assert by_id.topic_id == "12"
    assert cited(by_id) == cited(by_index) == [["s2", "s1"]]
    assert len(problems) == 0


def test_equal_confidences_keep_their_order_and_a_bad_one_comes_last(write, problems, kinds):
    weights = {"d4": "high", "d2": 1, "d9": 2, "d1": 1}
    report = {
        **REPORT, "responses": [{"text": "x", "citations": weights}], "references": list(weights),
    }  # fmt: skip
    assert cited(one(write(report), problems)) == [["d9", "d2", "d1", "d4"]]
    assert kinds() == [(1, "bad_confidence", "kept")]


def test_2026_headings_are_told_apart_counted_and_keep_their_position(write, problems):
    units = [
        {"text": "## Tidal power", "citations": []},
        {"text": "Tides drive turbines.", "citations": ["b", 0]},
        {"text": "**Costs:**"},
        {"text": "| Site | Cost |", "citations": [2]},
        {"text": "|---|:---:|", "citations": []},
        {"text": "Summary", "type": "heading", "citations": []},
        {"text": "It is dear.", "citations": []},
    ]
    answer = one(write(rag_2026(*units)), problems)
    assert [s.id for s in answer.sentences] == list(range(7))
    assert [s.is_heading for s in answer.sentences] == [True, False, True, False, True, True, False]
    assert problems.counts() == {"heading": 4}
    assert "answer[0] counts as a heading (Markdown heading)" in str(problems.rows[0])


@pytest.mark.parametrize(
    ("rows", "are_headings"),
    [
        (["| Site | Cost |", "|---|---|", "| bay | 3 |"], [True, True, False]),  # a body claims
        (["| Site | Cost |", "| bay | 3 |"], [False, False]),  # no rule, so no head
        (["Tides cost.", "|---|---|"], [False, True]),
    ],
)
def test_the_head_of_a_table_names_columns_and_claims_nothing(rows, are_headings, write, problems):
    units = [{"text": text, "citations": []} for text in rows]
    answer = one(write(rag_2026(*units)), problems)
    assert [s.is_heading for s in answer.sentences] == are_headings


@pytest.mark.parametrize(
    "unit",
    [
        {"text": "# Tides cost 4 billion a year", "citations": [0]},
        {"text": "# Tides are the largest unused source of power that the whole coast has today"},
        {"text": "# Tides never fail."},
        {"text": "# Tides\nThey never fail"},
        {"text": "#1 reason: cost"},
        {"text": "**Tides** never **fail**"},
    ],
)
def test_a_claim_does_not_escape_judgement_by_looking_like_a_heading(unit, write, problems):
    assert not one(write(rag_2026(unit)), problems).sentences[0].is_heading


def test_earlier_tracks_have_no_headings_because_assessors_judged_them(write, problems):
    row = {
        **RAG_2024,
        "response_length": 3,
        "answer": [{"text": "## Tidal power", "citations": []}],
    }
    assert not one(write(row), problems).sentences[0].is_heading
    assert len(problems) == 0


def test_sentences_without_text_stay_where_they_are(write, problems, kinds):
    line = json.dumps({**RAG_2024, "response_length": 2}).replace(
        '[{"text": "Wind makes them sway.", "citations": [1]}]',
        '[{"text": "One.", "citations": []}, {"text": NaN, "citations": [0]}, '
        '{"text": " ", "citations": []}, {"citations": []}, {"text": "Two.", "citations": []}]',
    )
    answer = one(write(line), problems)
    assert [(s.id, s.text) for s in answer.sentences] == [
        (0, "One."), (1, ""), (2, ""), (3, ""), (4, "Two."),
    ]  # fmt: skip
    assert cited(answer)[1] == ["s1"]
    assert answer.text == "One. Two."
    assert kinds() == [(1, "empty_sentence", "kept")] * 3


def test_each_odd_citation_is_listed_and_only_what_names_nothing_new_is_left_out(
    write, problems, kinds
):
    odd = [1, 1, 7, -1, "zz", 2.0, True, None, {"id": "s1"}, "0"]
    row = {
        **RAG_2024,
        "references": ["s1", "s4", "s1", None],
        "answer": [{"text": "Wind makes them sway.", "citations": [*odd, 3]}],
    }
    answer = one(write(row), problems)
    assert cited(answer) == [["s4", "zz", "s1"]]
    assert answer.references == ("s1", "s4", "zz")
    assert sorted(kind for _, kind, _ in kinds()) == [
        "bad_citation", "bad_citation", "bad_citation", "bad_reference", "citation_as_text",
        "citation_of_bad_reference", "citation_out_of_range", "citation_out_of_range",
        "duplicate_citation", "duplicate_citation", "duplicate_reference", "unknown_citation",
    ]  # fmt: skip
    message = next(str(row) for row in problems if row.kind == "citation_out_of_range")
    assert message.endswith("file.jsonl:1: answer[0].citations has 7, wanted 0 to 3")


def test_an_id_made_of_digits_is_an_id_where_the_references_list_it(write, problems):
    row = {**RAG_2025, "references": ["5", "0"], "answer": [{"text": "x", "citations": ["0", 0]}]}
    assert cited(one(write(row), problems)) == [["0", "5"]]
    assert len(problems) == 0


def test_a_report_without_references_names_passages_by_id(write, problems):
    report = {**REPORT, "responses": [{"text": "x", "citations": ["7", "d1"]}]}
    del report["references"]
    answer = one(write(report), problems)
    assert cited(answer) == [["7", "d1"]]
    assert answer.references == ("7", "d1")
    assert len(problems) == 0


def test_a_checked_file_gives_the_same_answers_and_its_words_are_not_counted_again(write, problems):
    path = write({**RAG_2024, "response_length": 99})
    first = list(read_answers(path, problems))
    assert [problem.kind for problem in problems] == ["response_length"]
    again = Problems()
    checked = answers_with_lines(read_lines(path, again), is_checked=True)
    assert [answer for _, answer in checked] == first
    assert len(again) == 0


def test_a_second_answer_of_a_run_to_a_topic_is_an_error_also_in_another_file(write, problems):
    seen = {}
    first, second = write(RAG_2024, RAG_2024, name="a.jsonl"), write(RAG_2024, name="b.jsonl")
    assert len(list(read_answers(first, problems, seen=seen))) == 1
    assert len(list(read_answers(second, problems, seen=seen))) == 0
    assert [(row.file[-7:], row.line, row.kind) for row in problems] == [
        ("a.jsonl", 2, "duplicate_answer"),
        ("b.jsonl", 1, "duplicate_answer"),
    ]
    assert "already answered topic" in str(problems.rows[1])
    assert "a.jsonl:1, wanted once" in str(problems.rows[1])


def test_a_run_without_a_name_is_named_by_its_file_and_that_is_said_once(write, problems, kinds):
    rows = [{**RAG_2024, "topic_id": str(n)} for n in range(3)]
    for row in rows:
        del row["run_id"]
    answers = list(read_answers(write(*rows, name="team.x.jsonl"), problems))
    assert {answer.run_id for answer in answers} == {"team.x"}
    assert kinds() == [(1, "run_id_from_file", "kept")]


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"topic_id": None}, "missing_field"),
        ({"topic_id": 1.5}, "bad_field"),
        ({"answer": None}, "missing_field"),
        ({"answer": "text"}, "bad_field"),
        ({"answer": [3]}, "bad_field"),
        ({"answer": [{"text": 3}]}, "bad_field"),
    ],
)
def test_a_record_of_another_shape_is_an_error_and_no_answer(change, kind, write, problems, kinds):
    assert list(read_answers(write({**RAG_2024, **change}), problems)) == []
    assert kinds() == [(1, kind, "error")]


def test_limits_of_the_track_are_reported_and_nothing_is_cut(write, problems):
    row = {
        **RAG_2024,
        "references": [f"s{n}" for n in range(21)],
        "answer": [{"text": "word " * 401, "citations": []}],
    }
    unit = {"text": "One.", "citations": [0, 1, 2, 3]}
    answers = list(read_answers(write(row, rag_2026(unit)), problems))
    assert len(answers[0].references) == 21
    assert len(answers[1].sentences[0].citations) == 4
    assert problems.counts() == {
        "too_many_references": 1, "too_many_words": 1, "response_length": 1,
        "too_many_citations": 1,
    }  # fmt: skip


def test_an_answer_that_says_nothing_is_an_answer(write, problems, kinds):
    answer = one(write({**RAG_2024, "answer": [], "response_length": 0}), problems)
    assert answer.sentences == ()
    assert kinds() == [(1, "empty_answer", "kept")]


def test_reading_is_lazy(write):
    answers = read_answers(write(RAG_2024, "{torn"), problems := Problems())
    next(answers)
    assert len(problems) == 0


def test_inline_documents_are_passages(write, problems, kinds):
    documents = {"d9": {"id": "d9", "text": "Trees.", "title": "T"}, "d2": "Water."}
    path = write({**REPORT, "documents": documents}, {**REPORT, "documents": {"d9": {"text": "x"}}})
    passages = read_documents(path, problems)
    assert {name: passage.text for name, passage in passages.items()} == {
        "d9": "Trees.",
        "d2": "Water.",
    }
    assert kinds() == [(2, "duplicate_passage", "error")]


def test_the_45_real_runs_have_the_published_sentences_and_citations(shared_data, problems):
    counts = {}
    for path in sorted((shared_data / "rag24_e2e/runs").glob("*.jsonl")):
        for answer in read_answers(path, problems):
            n_citations = sum(len(sentence.citations) for sentence in answer.sentences)
            counts[answer.topic_id, answer.run_id] = (len(answer.sentences), n_citations)
    published = read_rows(shared_data / "rag24_e2e/cells_text_coverage.jsonl")
    assert len({run_id for _, run_id in counts}) == 45
    assert counts == {
        (row["topic_id"], row["run_id"]): (row["sentences"], row["citations"]) for row in published
    }
    assert set(problems.counts()) == {"empty_sentence"}


@pytest.mark.parametrize("layout", [RAG_2024, RAG_2025, REPORT], ids=["2024", "2025", "report"])
def test_an_answer_that_was_not_made_is_none_and_says_why(layout, write, problems):
    lost = one(write({**layout, "failed": "refused"}), problems)
    assert one(write({**layout, "not_made": "refused"}), problems) == lost  # of earlier versions
    assert one(write({**layout, "failed": True}), problems).failed == "error"
    kept = one(write({**layout, "failed": False}), problems)
    assert (lost.failed, lost.sentences) == ("refused", ())
    assert (lost.run_id, lost.topic_id, lost.references) == (
        kept.run_id, kept.topic_id, kept.references
    )  # fmt: skip
    assert kept.failed is None


def test_a_reason_that_is_none_is_an_error(write, problems, kinds):
    list(read_answers(write({**RAG_2024, "failed": "rain"}), problems))
    assert kinds() == [(1, "bad_field", "error")]


def test_passages_in_the_place_of_answers_are_said_once(tmp_path):
    path = tmp_path / "passages.jsonl"
    path.write_text('{"docid":"a","title":"","text":"x"}\n' * 3, encoding="utf-8")
    problems = Problems()
    assert list(read_answers(path, problems)) == []
    with pytest.raises(InputError) as error:
        problems.raise_errors()
    wanted = "holds passages (data.passages), wanted a run's answers"
    assert str(error.value) == f"{path}:1: {wanted}"


def test_samples_for_python_are_named_as_such(tmp_path):
    path, problems = tmp_path / "samples.jsonl", Problems()
    row = {"question": "why tides", "answer": "The moon.", "contexts": ["The moon pulls."]}
    path.write_text(2 * (json.dumps(row) + "\n"), encoding="utf-8")
    assert list(read_answers(path, problems)) == []
    (problem,) = problems
    assert "for nj.evaluate in Python" in problem.what
