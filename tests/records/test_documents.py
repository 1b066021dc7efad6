import re

import pytest

from nuggetjudge.records import (
    Passage,
    Summary,
    Topic,
    read_candidates,
    read_reports,
    read_summaries,
    read_topic_documents,
)

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
    documents = read_topic_documents(write(*rows), problems)
    assert documents == {"12": {"d1": EBB, "d2": SILT}}
    assert list(documents["12"]) == ["d1", "d2"]
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
        ({"topic_id": "1", "docids": ["d"]}, "no documents, wanted at least one topic"),
    ],
)
def test_what_is_no_document_of_a_topic_is_an_error_with_its_place(row, message, write, problems):
    read_topic_documents(write(row), problems)
    errors = [str(problem) for problem in problems if problem.action == "error"]
    assert re.search(rf":1: {message}", errors[0])


@pytest.mark.parametrize("topic_field", ["id", "example_id", "qid", "topic_id"])
@pytest.mark.parametrize("text_field", ["report", "summary", "reference_summary"])
def test_every_spelling_of_the_fields_of_a_report_is_read(topic_field, text_field, write, problems):
    path = write({topic_field: 7, "request": "Write.", text_field: "Dockers struck."})
    assert read_reports(path, problems) == {"7": "Dockers struck."}
    assert len(problems) == 0


def test_the_same_report_again_is_mentioned_and_another_is_an_error(write, problems, kinds):
    rows = [{"id": "7", "report": text} for text in ("A.", "A.", "B.")]
    assert read_reports(write(*rows), problems) == {"7": "A."}
    assert kinds() == [(2, "duplicate_report", "kept"), (3, "duplicate_report", "error")]


def test_what_is_no_report_is_an_error_with_its_place(write, problems, kinds):
    path = write(
        {"report": "A."}, {"id": "7"}, {"id": "7", "report": 3}, {"id": "7", "report": " "}
    )
    assert read_reports(path, problems) == {}
    assert kinds() == [
        (1, "missing_field", "error"),
        (2, "missing_field", "error"),
        (3, "bad_field", "error"),
        (4, "empty_report", "error"),
        (1, "empty_file", "error"),
    ]


SUMMARY = {"id": "harbour", "documents": ["Dockers struck.", "It rained."], "summary": "A strike."}


def test_a_summarised_document_is_a_text_or_an_object_with_a_title_before_it(write, problems):
    documents = ["One.", {"text": "Two."}, {"contents": "Three.", "title": " News ", "url": "u"}]
    summaries = read_summaries(write({**SUMMARY, "documents": documents}), problems)
    texts = ("One.", "Two.", "News\n\nThree.")
    assert summaries == [Summary(id="harbour", documents=texts, summary="A strike.")]
    assert len(problems) == 0


def test_an_empty_document_of_a_summary_is_skipped_and_listed(write, problems, kinds):
    path = write({**SUMMARY, "documents": ["One.", " ", {"text": ""}, "Two."]})
    assert read_summaries(path, problems)[0].documents == ("One.", "Two.")
    assert kinds() == [(1, "empty_document", "skipped")] * 2
    assert "documents[1].text is empty" in str(problems.rows[0])


@pytest.mark.parametrize("name", ["a b", "a:b", "a#1", "all", "a\tb"])
def test_an_id_that_cannot_begin_the_ids_of_passages_is_an_error(name, write, problems, kinds):
    assert read_summaries(write({**SUMMARY, "id": name}), problems) == []
    assert kinds() == [(1, "bad_id", "error"), (1, "empty_file", "error")]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ({**SUMMARY, "id": None}, "missing_field"),
        ({**SUMMARY, "summary": "  "}, "empty_summary"),
        ({**SUMMARY, "summary": ["A strike."]}, "bad_field"),
        ({**SUMMARY, "documents": []}, "no_documents"),
        ({**SUMMARY, "documents": "Dockers struck."}, "bad_field"),
        ({**SUMMARY, "documents": ["One.", 2]}, "bad_field"),
        ({**SUMMARY, "documents": ["One.", {"title": "Two"}]}, "missing_field"),
        ({"id": "harbour", "summary": "A strike."}, "missing_field"),
    ],
)
def test_what_is_no_summary_of_documents_is_an_error(row, kind, write, problems, kinds):
    read_summaries(write({**SUMMARY, "id": "good"}, row), problems)
    assert kinds() == [(2, kind, "error")]


def test_a_summary_id_twice_is_an_error_even_with_the_same_texts(write, problems, kinds):
    assert len(read_summaries(write(SUMMARY, SUMMARY), problems)) == 1
    assert kinds() == [(2, "duplicate_id", "error")]


def request(pool, topic_id):
    """A topic of the pool as castorini's tools write it."""
    ranking, grades = pool.rankings[topic_id], pool.qrels.get(topic_id, {})
    candidates = [{"docid": name} for name in ranking.passage_ids]
    for position, candidate in enumerate(candidates):
        passage = pool.passages[candidate["docid"]]
        candidate["doc"] = {"title": passage.title, "segment": passage.text}
        if ranking.scores:
            candidate["score"] = ranking.scores[position]
        if passage.id in grades:
            candidate["judgment"] = grades[passage.id]
    query = {"qid": topic_id, "text": pool.topics[topic_id].text}
    return {"query": query, "candidates": candidates}


def test_a_list_of_docids_keeps_its_order_and_skips_repeats(write, problems, kinds):
    path = write({"topic_id": 3, "docids": ["b", "a", "b", None]}, {"topic_id": "3", "docids": []})
    pool = read_candidates(path, problems)
    assert pool.rankings["3"].passage_ids == ("b", "a")
    assert pool.rankings["3"].run_id == "file"
    assert kinds() == [
        (1, "duplicate_candidate", "skipped"),
        (1, "bad_candidate", "skipped"),
        (2, "duplicate_topic", "error"),
    ]


def test_the_published_example_of_a_request_is_read(write, problems):
    path = write(
        {
            "query": {"qid": "12", "text": "tidal power"},
            "candidates": [
                {
                    "docid": "s1",
                    "score": 7.5,
                    "judgment": 2,
                    "doc": {"title": "Tides", "segment": "Turbines turn with the tide."},
                },
                {"docid": "s2", "doc": {"contents": "Spring tides."}},
            ],
        }
    )
    pool = read_candidates(path, problems)
    assert pool.topics == {"12": Topic(id="12", text="tidal power")}
    assert pool.rankings["12"].passage_ids == ("s1", "s2")
    assert pool.passages["s1"] == Passage(
        id="s1", text="Turbines turn with the tide.", title="Tides"
    )
    assert pool.qrels == {"12": {"s1": 2}}
    assert len(problems) == 0


def test_grades_scores_and_documents_that_cannot_be_used_are_listed(write, problems, kinds):
    candidates = [
        {"docid": "a", "score": "high", "judgment": "good", "doc": {"segment": "A"}},
        {"docid": "b", "judgment": 1.5, "doc": {"segment": ""}},
        {"docid": "c", "doc": 3},
        {"docid": "a", "doc": {"segment": "not A"}},
    ]
    row = {"query": {"qid": "1", "text": "q"}, "candidates": candidates}
    pool = read_candidates(write(row), problems)
    assert pool.rankings["1"].passage_ids == ("a", "b", "c")
    assert pool.qrels == {}
    assert sorted(kinds()) == [
        (1, "bad_field", "error"),
        (1, "bad_grade", "skipped"),
        (1, "bad_grade", "skipped"),
        (1, "bad_score", "kept"),
        (1, "duplicate_candidate", "skipped"),
        (1, "duplicate_passage", "error"),
        (1, "empty_passage", "skipped"),
    ]


def test_a_retrieval_run_is_a_pool_of_rankings(write, problems):
    pool = read_candidates(write("1 Q0 a 1 2.0 x", name="x.run"), problems)
    assert pool.rankings["1"].passage_ids == ("a",)
    assert pool.passages == {}
