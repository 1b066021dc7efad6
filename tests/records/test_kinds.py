import json

import pytest

from nuggetjudge.records import InputError, file_kind

REAL = {
    "rag24_e2e/topics.tsv": "topics",
    "rag24_e2e/candidates.jsonl": "candidates",
    "rag24_e2e/passages.jsonl": "passages",
    "rag24_e2e/qrels_nist.txt": "qrels",
    "rag24_e2e/nuggets_nist.jsonl": "nuggets",
    "rag24_e2e/runs/neu.neurag.jsonl": "answers",
    "rag24_nuggets/nugget_assignments.jsonl": "assignments",
    "rag24_support/answers.jsonl": "support",
    "rag24_support/pairs.jsonl": "labels",
    "rag24_relevance/pairs.jsonl": "relevance",
    "crux_duc/runs/bm25.run": "run",
    "crux_duc/queries.jsonl": "questions",
    "crux_duc/llm_ratings.jsonl": "ratings",
    "crux_duc/llm_ratings_all_docids.jsonl": "ratings",
    "kiddie_smoke/topics/kiddie-topics.jsonl": "topics",
    "kiddie_smoke/runs/run1.jsonl": "answers",
    "kiddie_smoke/eval/kiddie_fake.eval.ir_measures.txt": "scores",
}


@pytest.mark.parametrize(("name", "kind"), REAL.items())
def test_real_files_are_told_apart(name, kind, shared_data):
    assert file_kind(shared_data / name) == kind


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ({"run_id": "r", "topic_id": "1", "sentence": 0, "citation": None}, "support"),
        ({"qid": "1", "query": "q", "run_id": "r", "nuggets": []}, "assignments"),
        ({"query_id": "1", "claim_bank": {}}, "nuggets"),
        ({"run_id": "r", "topic_id": "1", "measure": "V", "value": 1}, "scores"),
        ({"topic_id": "1", "passage_id": "p", "grade": 2}, "relevance"),
        ({"query": "q", "passage": "p", "judgment": 2, "result_status": 1}, "relevance"),
        ({"topic_id": "1", "nugget_id": "n", "run_id": "r", "label": "support"}, "labels"),
        ({"query": {"qid": "1", "text": "q"}, "candidates": []}, "candidates"),
        ({"qid": "1", "text": "q"}, "topics"),
        ({"topic_id": "1", "run_id": "r", "answer": "Ebb.", "label": 1}, "labels"),
        ({"qid": "1", "report_id": "r", "question_idx": 0, "report": "R.", "label": 1}, "labels"),
        ({"id": "1", "subquestions": ["Who?"]}, "questions"),
        ({"example_id": "1", "topic": "t", "questions": ["Who?"]}, "questions"),
        ({"id": "1", "docid": "d", "rating": [5]}, "ratings"),
        ({"example_id": "1", "pid": "d", "rating": [5]}, "ratings"),
        ({"id": "1", "document": "d", "relevances": {"0": 4}, "rationales": {}}, "ratings"),
        ({"id": "1", "report": "R."}, "reports"),
        ({"qid": "1", "reference_summary": "R."}, "reports"),
        ({"id": "1", "documents": ["D."], "summary": "S."}, "summaries"),
        ({"id": "1", "request": "Write."}, "topics"),
        ({"id": "1", "request": "Write.", "domain": "d", "category": "c"}, "topics"),
        ({"qid": "1", "query": "q", "key_points": ["Ebb."]}, "key_points"),
        ({"topic_id": "1", "run_id": "r", "claims": None}, "claims"),
        ({"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": None, "evidence": "",
          "is_quoted": None}, "entailments"),
        ({"topic_id": "1", "run_id": "r", "key_point_id": "k", "label": "yes"}, "labels"),
        ({"run_id": "r", "topic_id": "1", "documents": {}, "responses": []}, "answers"),
        ("topic_id,passage_id,label", "labels"),
        ("topic_id,run_id,key_point_id,label", "labels"),
        ("topic_id;passage_id;label", "labels"),
        ("topic_id\tlabel\tpassage_id", "labels"),
        ("1 0 d True", "qrels"),
        ("sys2 1 V_strict 1", "scores"),
        ("P_5 all 0.5", "scores"),
    ],
)  # fmt: skip
def test_the_first_record_tells_the_kind(first, kind, write):
    assert file_kind(write(first)) == kind


def test_an_envelope_is_of_the_kind_it_wraps(write):
    data = {"qid": "1", "query": "q", "nuggets": []}
    envelope = {"schema_version": "castorini.cli.v1", "artifacts": [{"kind": "data", "data": data}]}
    assert file_kind(write(json.dumps(envelope, indent=2))) == "nuggets"


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ((), "the file is empty"),
        (({"colour": "red"},), "an object with colour, wanted a record of answers"),
        (("just some words in a file",), "is of no known kind"),
        (("{torn",), "not JSON"),
    ],
)
def test_a_file_of_no_known_kind_is_an_input_error(first, message, write):
    with pytest.raises(InputError, match=message):
        file_kind(write(*first))
