"""Question lists in their three layouts, and what is told of broken ones."""

import hashlib

import pytest

from nuggetjudge.plugins.trec.argue.lists import (
    AcceptedAnswer,
    question_list_row,
    read_question_lists,
)
from nuggetjudge.records import Importance, Problems

ASKED = "Where do the eels go?"
NAME = hashlib.md5(ASKED.encode()).hexdigest()
ANSWERS = {"to the sea": ["d1", "d2"], "down the river": []}


def v3(*, topic="t1", importance="vital", **more):
    answers = {
        text: {"answer": text, "references": [{"doc_id": name} for name in names]}
        for text, names in ANSWERS.items()
    }
    question = {"question": ASKED, "aggregator_type": "AND", "answers": answers}
    bank = {ASKED: {**question, "importance": importance, **more}}
    return {"query_id": topic, "title_query": "eels", "format_version": "v3", "nugget_bank": bank}


def of_2026(**more):
    answers = [{"answer": text, "references": names} for text, names in ANSWERS.items()]
    question = {"question": ASKED, "aggregator_type": "AND", "answers": answers, **more}
    return {"metadata": {"topic_id": "t1", "team_id": "x"}, "nugget_bank": [question]}


def only(path, problems):
    lists = read_question_lists([path], problems)
    problems.raise_errors()
    [(topic, question_list)] = lists.items()
    assert topic == question_list.topic_id == "t1"
    [question] = question_list.questions
    return question


@pytest.mark.parametrize(
    ("row", "name"),
    [
        (v3(), "lists.jsonl"),
        (of_2026(importance="VITAL"), "lists.jsonl"),
        ({ASKED: ["AND", ANSWERS]}, "nuggets_t1.json"),
    ],
    ids=["v3", "RAGTIME 2026", "collaborators"],
)
def test_every_layout_gives_the_same_questions(row, name, write, problems):
    question = only(write(row, name=name), problems)
    assert (question.id, question.text, question.aggregator) == (NAME, ASKED, "AND")
    assert [(a.text, a.sources) for a in question.answers] == [
        ("to the sea", ("d1", "d2")),
        ("down the river", ()),
    ]
    assert question.importance == (None if "nuggets" in name else Importance.VITAL)
    assert len(problems) == 0


def test_what_is_written_reads_back_as_it_was(write, problems):
    given = read_question_lists([write(v3(question_id="q1", importance=None))], problems)["t1"]
    again = read_question_lists([write(question_list_row(given), name="b.jsonl")], problems)
    assert again == {"t1": given}
    assert len(problems) == 0


@pytest.mark.parametrize(
    "row",
    [
        {ASKED: ["OR", {"OPEN_ENDED_ANSWER": ["d1"]}]},
        {"query_id": "t1", "nugget_bank": [{"question": ASKED, "references": ["d1"]}]},
    ],
    ids=["collaborators", "no answers"],
)
def test_an_open_question_takes_any_answer(row, write, problems):
    question = only(write(row, name="nuggets_t1.json"), problems)
    [answer] = question.answers
    assert answer == AcceptedAnswer(id=answer.id, text="", sources=("d1",))
    written = write(
        question_list_row(
            read_question_lists([write(row, name="nuggets_t1.json")], Problems())["t1"]
        ),
        name="b.jsonl",
    )
    assert only(written, problems) == question  # and still does when it is written and read


@pytest.mark.parametrize(
    ("row", "kind", "action"),
    [
        ({"query_id": "t1", "text": "eels"}, "missing_field", "error"),
        ({"nugget_bank": []}, "missing_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"answers": ["a"]}]}, "missing_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?", "answers": 3}]}, "bad_field",
         "error"),
        ({"query_id": "t1", "nugget_bank": {"q?": 3}}, "bad_field", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?"}] * 2}, "duplicate_id", "error"),
        ({"query_id": "t1", "nugget_bank": [{"question": "q?", "question_id": i} for i in (1, 2)]},
         "duplicate_question", "error"),
        (v3(aggregator_type="NOT"), "aggregator", "skipped"),
        (v3(aggregator_type=None), "aggregator", "kept"),
        (v3(importance="high"), "importance", "kept"),
        (v3(sub_nuggets=[{"question": "r?"}]), "sub_nuggets", "skipped"),
        ({"query_id": "t1", "claim_bank": {"a": {}}, "nugget_bank": {"q?": {}}}, "claim_nuggets",
         "skipped"),
        ({"query_id": "t1", "nugget_bank": {}}, "empty_bank", "kept"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_with_its_line(row, kind, action, write, problems, kinds):
    good = v3(topic="t0")
    read_question_lists([write(good, row)], problems)
    assert (2, kind, action) in kinds(), list(problems)


def test_a_topic_in_two_files_is_an_error(write, problems, kinds):
    read_question_lists([write(v3()), write(of_2026(), name="b.jsonl")], problems)
    assert kinds() == [(1, "duplicate_bank", "error")]


def test_a_collaborators_file_with_another_name_names_no_topic(write, problems):
    read_question_lists([write({ASKED: ["AND", ANSWERS]}, name="t1.json")], problems)
    [problem] = problems
    assert "nugget_bank" in problem.what
    assert problem.action == "error"
