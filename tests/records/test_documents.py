import re

import pytest

from nuggetjudge.records import InputError, Passage, read_topic_documents

EBB, SILT = Passage(id="d1", text="Ebb.", title="Tides"), Passage(id="d2", text="Silt.")


@pytest.mark.parametrize(
    "rows",
    [
        [
            {"qid": "12", "docid": "d1", "text": "Ebb.", "title": "Tides"},
            {"qid": 12, "docid": "d2", "text": "Silt."},
        ],
        [
            {"topic_id": "12", "id": "d1", "contents": "Ebb.", "title": "Tides"},
            {"example_id": "12", "docno": "d2", "segment": "Silt."},
        ],
        [
            {"query": {"qid": "12", "text": "tidal power"},
             "candidates": [{"docid": "d1", "doc": {"title": "Tides", "segment": "Ebb."}},
                            {"docid": "d2", "doc": {"segment": "Silt."}}]},
        ],
    ],
)  # fmt: skip
def test_every_layout_gives_the_documents_in_order(rows, write, problems):
    found = read_topic_documents(write(*rows), problems)
    assert found == {"12": {"d1": EBB, "d2": SILT}}
    assert list(found["12"]) == ["d1", "d2"]
    assert len(problems) == 0


def test_one_document_of_two_topics_is_in_both(write, problems):
    rows = [{"qid": topic, "docid": "d2", "text": "Silt."} for topic in ("1", "2")]
    assert read_topic_documents(write(*rows), problems) == {"1": {"d2": SILT}, "2": {"d2": SILT}}
    assert len(problems) == 0


def test_a_document_without_text_is_skipped(write, problems, kinds):
    rows = [{"qid": "1", "docid": "d1", "text": " "}, {"qid": "1", "docid": "d2", "text": "Silt."}]
    assert read_topic_documents(write(*rows), problems) == {"1": {"d2": SILT}}
    assert kinds() == [(1, "empty_passage", "skipped")]


def test_candidates_without_text_are_skipped_with_their_number(write, problems, kinds):
    candidates = [{"docid": "d1"}, {"docid": "d2", "doc": {"segment": "Silt."}}, {"docid": "d3"}]
    row = {"query": {"qid": "1", "text": "q"}, "candidates": candidates}
    assert read_topic_documents(write(row), problems) == {"1": {"d2": SILT}}
    assert kinds() == [(1, "candidate_without_text", "skipped")]
    assert "2 candidates of topic '1' have no text" in str(problems.rows[0])


def test_one_id_with_two_texts_is_an_error_and_with_the_same_mentioned(write, problems, kinds):
    rows = [{"qid": "1", "docid": "d", "text": text} for text in ("a", "a", "b")]
    read_topic_documents(write(*rows), problems)
    assert kinds() == [(2, "duplicate_passage", "kept"), (3, "duplicate_passage", "error")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"docid": "d", "text": "Silt."}, "field 'topic_id' or 'qid'"),
        ({"qid": "1", "text": "Silt."}, "field 'docid' or 'id'"),
        ({"qid": "1", "docid": "d", "title": "t"}, "field 'text' or 'contents'"),
        ({"topic_id": "1", "docids": ["d"]}, "no documents, wanted those of at least one topic"),
    ],
)
def test_what_is_no_document_of_a_topic_is_an_error_with_its_place(row, message, write, problems):
    read_topic_documents(write(row), problems)
    errors = [str(problem) for problem in problems if problem.action == "error"]
    assert re.search(rf":1: {message}", errors[0])


def test_an_empty_file_is_an_input_error(write, problems):
    with pytest.raises(InputError, match="the file is empty"):
        read_topic_documents(write(), problems)


# 30 topics, as its README says; the id of a passage begins with its topic.
def test_real_documents_are_read_with_their_topics(shared_data, problems):
    found = read_topic_documents(shared_data / "crux_duc/passages.jsonl", problems)
    assert len(found) == 30
    assert all(name.startswith(f"{topic}:") for topic in found for name in found[topic])
    assert len(problems) == 0
