"""Whatever a file holds, a reader reports it with its place and never falls over."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetjudge.records import (
    InputError,
    Problems,
    file_kind,
    read_answers,
    read_assignments,
    read_candidates,
    read_claims,
    read_documents,
    read_entailments,
    read_key_point_sets,
    read_labels,
    read_nugget_banks,
    read_passages,
    read_qrels,
    read_question_sets,
    read_ratings,
    read_relevance,
    read_reports,
    read_scores,
    read_summaries,
    read_support,
    read_topic_documents,
    read_topics,
    read_trec_run,
)

FIELDS = [
    "id", "docid", "qid", "topic_id", "run_id", "request_id", "narrative_id", "metadata", "title",
    "narrative", "query", "text", "contents", "segment", "references", "answer", "responses",
    "citations", "documents", "response_length", "nuggets", "importance", "assignment", "sources",
    "claim_bank", "nugget_bank", "candidates", "docids", "doc", "judgment", "score", "sentences",
    "sentence", "sentenceID", "citation", "rank", "label", "support", "reference", "grade",
    "result_status", "measure", "value", "n", "annotator", "schema_version", "artifacts", "data",
    "passage_id", "nugget_id", "type", "subquestions", "questions", "idx", "question_id", "rating",
    "ratings", "relevances", "document", "report", "summary", "0", "key_points", "key_point_id",
    "spans", "evidence", "is_quoted", "claims", "domain", "category",
]  # fmt: skip
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 5),
    st.floats(allow_nan=True),
    st.sampled_from(["", " ", "a", "1", "-1", "support", "vital", "2.0", "castorini.cli.v1", "é"]),
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=6)
    ),
    max_leaves=12,
)
ROWS = st.lists(st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=8), max_size=3)
COLUMNS = st.lists(
    st.lists(st.sampled_from(["a", "0", "Q0", "1.5", "nan", "True", "x\ty"]), max_size=7),
    max_size=3,
)
READERS = [
    read_answers, read_assignments, read_candidates, read_documents, read_labels,
    read_nugget_banks, read_passages, read_qrels, read_relevance, read_scores, read_support,
    read_topics, read_trec_run, read_question_sets, read_ratings, read_reports, read_summaries,
    read_key_point_sets, read_entailments, read_claims, read_topic_documents,
]  # fmt: skip


# Drawing rows costs more than reading them, so that each is read by all.
@given(rows=ROWS | COLUMNS)
@settings(max_examples=4 * settings.default.max_examples)
def test_a_reader_reports_and_does_not_raise(rows, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "rows.jsonl"
    lines = [" ".join(row) if isinstance(row, list) else json.dumps(row) for row in rows]
    path.write_text("\n".join(lines), encoding="utf-8")
    for read in READERS:
        problems = Problems()
        try:
            records = read(path, problems)
            list(records) if hasattr(records, "__iter__") else records
        except InputError as error:
            assert str(error).startswith(str(path)), read  # noqa: PT017  most inputs raise nothing
        except Exception as error:
            raise AssertionError(read.__name__) from error
        for problem in problems:
            assert str(problem).startswith(f"{path}:{problem.line}: "), read
            assert "\n" not in str(problem), read


CITED = [{"docid": "s1", "label": 2}, {"docid": "s2", "label": "partial"}]
NUGGETS = [{"id": "n1", "text": "a", "importance": "vital", "assignment": "support"}]
GOOD = {
    read_answers: [
        {"run_id": "r", "topic_id": "1", "references": ["s1", "s2"], "response_length": 1,
         "answer": [{"text": "One.", "citations": [1, 0]}, {"text": "## Two", "citations": []}]},
        {"metadata": {"run_id": "r", "narrative_id": "rag2026-1"}, "references": ["s1"],
         "answer": [{"text": "## Two", "citations": ["s1"]}]},
        {"metadata": {"run_id": "r", "topic_id": "2"}, "documents": {"d": {"text": "D"}},
         "responses": [{"text": "One.", "citations": {"d": 3.5, "e": 1}}]},
    ],
    read_assignments: [{"qid": "1", "run_id": "r", "answer_text": "a", "nuggets": NUGGETS}],
    read_nugget_banks: [
        {"qid": "1", "query": "q", "nuggets": NUGGETS},
        {"query_id": "2", "claim_bank": {"a": {"claim": "a", "references": ["s1"]}}},
        {"schema_version": "castorini.cli.v1",
         "artifacts": [{"data": {"qid": "3", "query": "q", "nuggets": NUGGETS}}]},
    ],
    read_candidates: [
        {"query": {"qid": "1", "text": "q"},
         "candidates": [{"docid": "a", "score": 1, "judgment": 2, "doc": {"segment": "A"}}]},
        {"topic_id": "2", "docids": ["a", "b"]},
    ],
    read_support: [
        {"run_id": "r", "topic_id": "1",
         "sentences": [{"sentenceID": 0, "text": "One.", "citations": CITED}]},
        {"run_id": "r", "topic_id": "2", "sentence": 0, "citation": "s", "rank": 0, "label": 1},
    ],
    read_labels: [
        {"topic_id": "1", "passage_id": "p", "annotator": "a", "label": "yes"},
        {"topic_id": "1", "passage_id": "p", "annotator": "b", "label": 2},
    ],
    read_relevance: [{"qid": "1", "docid": "d", "judgment": 2, "result_status": 1}],
    read_scores: [{"run_id": "r", "topic_id": "1", "measure": "V", "value": 0.5, "n": 2}],
    read_topics: [
        {"request_id": "1", "title": "t", "problem_statement": "p", "background": "b"},
        {"id": "2", "title": "t", "domain": "d", "category": "c"},
    ],
    read_passages: [{"id": "1", "text": "t", "title": "t"}],
    read_question_sets: [
        {"id": "1", "subquestions": ["a", "", "b"]},
        {"qid": "2", "sub_questions": [{"idx": 3, "text": "a"}, {"id": 0, "question": "b"}]},
    ],
    read_ratings: [
        {"id": "1", "docid": "a", "rating": [5, -1, None, 2.0]},
        {"id": "1", "document": "b", "relevances": {"0": 4, "2": -1}, "rationales": {"0": ""}},
    ],
    read_reports: [{"id": "1", "report": "R."}],
    read_summaries: [{"id": "1", "documents": ["A", {"title": "t", "text": "B"}], "summary": "S"}],
    read_key_point_sets: [
        {"qid": "1", "query": "q", "key_points": ["a", {"text": "b", "spans": ["B"]}]},
        {"topic_id": "2", "key_points": [{"id": "k", "text": "b", "sources": ["s1", 2]}]},
    ],
    read_entailments: [
        {"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": "yes", "evidence": "a",
         "is_quoted": True, "score": 0.5},
        {"topic_id": "1", "run_id": "r", "key_point_id": "l", "label": None, "evidence": "",
         "is_quoted": None},
    ],
    read_claims: [
        {"topic_id": "1", "run_id": "r", "claims": ["a", {"text": "b", "label": "no"}]},
        {"topic_id": "2", "run_id": "r", "claims": None},
    ],
    read_topic_documents: [
        {"qid": "1", "docid": "d", "text": "D", "title": "t"},
        {"qid": "2", "docid": "d", "contents": "E"},
    ],
    read_documents: [{"documents": {"d": {"text": "D", "title": "t"}}}],
}  # fmt: skip


@st.composite
def damaged(draw, value):
    """The value with one place in it, at any depth, replaced by something else."""
    if draw(st.integers(0, 3)) and isinstance(value, dict | list) and value:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = draw(st.sampled_from(list(keys)))
        copy = value.copy()
        copy[key] = draw(damaged(value[key]))
        return copy
    return draw(VALUES)


@pytest.mark.parametrize("read", GOOD, ids=lambda read: read.__name__)
@given(data=st.data())
def test_one_damaged_field_is_reported_or_read_around(read, data, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / f"{read.__name__}.damaged.jsonl"
    rows = data.draw(damaged(GOOD[read]))
    path.write_text(
        "\n".join(json.dumps(row) for row in (rows if isinstance(rows, list) else [rows])),
        encoding="utf-8",
    )
    problems = Problems()
    try:
        records = read(path, problems)
        list(records) if hasattr(records, "__iter__") else records
    except InputError as error:
        assert str(error).startswith(str(path))  # noqa: PT017  most inputs raise nothing
    assert all(str(problem).startswith(f"{path}:{problem.line}: ") for problem in problems)


@pytest.mark.parametrize("read", GOOD, ids=lambda read: read.__name__)
def test_the_undamaged_examples_are_read_without_an_error(read, write, problems):
    records = read(write(*GOOD[read]), problems)
    list(records) if hasattr(records, "__iter__") else records
    problems.raise_errors()


@given(content=st.binary(max_size=60))
@settings(deadline=None)
def test_bytes_of_any_kind_are_an_input_error_at_worst(content, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "bytes.jsonl"
    path.write_bytes(content)
    for read in READERS:
        try:
            records = read(path, Problems())
            list(records) if hasattr(records, "__iter__") else records
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_importing_the_records_loads_no_heavy_library():
    import subprocess
    import sys

    code = (
        "import sys, nuggetjudge.records\n"
        "print({m.partition('.')[0] for m in sys.modules} & "
        "{'dspy', 'litellm', 'numpy', 'scipy', 'aiohttp', 'sklearn', 'ir_measures', 'torch'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_a_csv_file_that_ends_inside_a_quote_is_an_input_error(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text('topic_id,label\n1,"never closed\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"labels\.csv:2: not CSV"):
        read_labels(path, Problems())
    assert file_kind(path) == "labels"
