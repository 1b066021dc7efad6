import re

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.records import (
    Problems,
    QuestionSet,
    SubQuestion,
    question_set_row,
    read_question_sets,
)

ASKED = ["Who struck?", "For how long?"]
SET = QuestionSet(
    topic_id="news-3",
    questions=tuple(SubQuestion(id=str(i), text=text) for i, text in enumerate(ASKED)),
    n_columns=2,
)


@pytest.mark.parametrize(
    "row",
    [
        {"id": "news-3", "subquestions": ASKED},
        {"example_id": "news-3", "topic": "A strike.", "questions": ASKED},
        {"qid": "news-3", "sub_questions": [{"idx": i, "text": t} for i, t in enumerate(ASKED)]},
        {"topic_id": "news-3", "questions": [{"question": text} for text in ASKED]},
        {"id": "news-3", "questions": [{"id": 1 - i, "text": ASKED[1 - i]} for i in (0, 1)]},
        {"id": "news-3", "questions": [{"id": f"{i}.0", "text": ASKED[i]} for i in (0, 1)]},
        {"id": "news-3", "subquestions": [{"question_id": 0, "question": ASKED[0]}, ASKED[1]]},
    ],
)  # fmt: skip
def test_every_layout_gives_the_same_questions(row, write, problems):
    assert read_question_sets(write(row), problems) == {"news-3": SET}
    assert len(problems) == 0


def test_a_column_that_no_object_names_has_no_question(write, problems):
    items = [{"idx": 4, "text": "Why?"}, {"idx": 1, "text": "Who?"}]
    question_set = read_question_sets(write({"qid": 7, "sub_questions": items}), problems)["7"]
    assert [(question.column, question.text) for question in question_set.questions] == [
        (1, "Who?"),
        (4, "Why?"),
    ]
    assert question_set.n_columns == 5
    assert question_set_row(question_set) == {
        "id": "7",
        "subquestions": ["", "Who?", "", "", "Why?"],
    }


def test_an_empty_text_is_a_column_without_a_question_and_mentioned(write, problems, kinds):
    row = {"id": "7", "subquestions": ["Who?", " ", "Why?", ""]}
    question_set = read_question_sets(write(row), problems)["7"]
    assert [question.id for question in question_set.questions] == ["0", "2"]
    assert question_set.n_columns == 4
    assert kinds() == [(1, "empty_question", "kept")] * 2
    assert "column 1 has no question" in str(problems.rows[0])


def test_one_text_in_two_columns_is_two_questions_and_mentioned(write, problems, kinds):
    row = {"id": "7", "subquestions": ["Who?", "Why?", "Who? "]}
    assert len(read_question_sets(write(row), problems)["7"].questions) == 3
    assert kinds() == [(1, "duplicate_question", "kept")]
    assert "question 2 has the text of question 0: 'Who?'" in str(problems.rows[0])


def test_a_topic_again_is_mentioned_and_with_other_questions_an_error(write, problems, kinds):
    rows = [{"id": "7", "subquestions": asked} for asked in (["Who?"], ["Who?"], ["Why?"])]
    sets = read_question_sets(write(*rows), problems)
    assert sets["7"].questions[0].text == "Who?"
    assert kinds() == [(2, "duplicate_topic", "kept"), (3, "duplicate_topic", "error")]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"subquestions": ["Who?"]}, "field 'id' or 'example_id'"),
        ({"id": "7", "request": "Write."}, "field 'subquestions' or .* is missing"),
        ({"id": "7", "subquestions": "Who?"}, "'subquestions' is 'Who.', wanted a list"),
        ({"id": "7", "subquestions": []}, "topic '7' has no questions, wanted at least one"),
        ({"id": "7", "subquestions": ["", " "]}, "topic '7' has no questions"),
        ({"id": "7", "subquestions": ["Who?", 3]}, r"'subquestions\[1\]' is 3, wanted text"),
        ({"id": "7", "subquestions": ["Who?", None]}, r"'subquestions\[1\]' is null, wanted text"),
        ({"id": "7", "questions": [{"idx": "q1", "text": "Who?"}]}, r"questions\[0\].idx' is 'q1'"),
        ({"id": "7", "questions": [{"idx": -1, "text": "Who?"}]}, "wanted the column"),
        ({"id": "7", "questions": [{"idx": 10**9, "text": "Who?"}]}, "0 to 999"),
        ({"id": "7", "questions": [{"idx": 0}]}, r"'questions\[0\].text' or .* is missing"),
        (
            {"id": "7", "questions": [{"idx": 1, "text": "Who?"}, {"idx": 1, "text": "Why?"}]},
            r"questions\[1\] is column 1, which one before it is too",
        ),
    ],
)
def test_what_is_no_list_of_questions_is_an_error_with_its_place(row, message, write, problems):
    path = write(row)
    read_question_sets(path, problems)
    errors = [problem for problem in problems if problem.action == "error"]
    assert str(errors[0]).startswith(f"{path}:1: ")
    assert any(re.search(message, str(error)) for error in errors)


def test_a_file_without_topics_is_an_error(write, problems, kinds):
    assert read_question_sets(write(), problems) == {}
    assert kinds() == [(1, "empty_file", "error")]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(
    sets=st.dictionaries(
        st.text("ab7-", min_size=1),
        st.dictionaries(st.integers(0, 12), TEXTS, min_size=1),
        min_size=1,
        max_size=3,
    ),
    n_after=st.integers(0, 2),
)
def test_questions_are_read_as_they_were_written(sets, n_after, tmp_path_factory):
    given_sets = {
        topic: QuestionSet(
            topic_id=topic,
            questions=tuple(SubQuestion(id=str(c), text=texts[c]) for c in sorted(texts)),
            n_columns=max(texts) + 1 + n_after,
        )
        for topic, texts in sets.items()
    }
    path = tmp_path_factory.mktemp("questions") / "questions.jsonl"
    rows = [orjson.dumps(question_set_row(one)) + b"\n" for one in given_sets.values()]
    path.write_bytes(b"".join(rows))
    problems = Problems()
    assert read_question_sets(path, problems) == given_sets
    problems.raise_errors()


def test_real_questions_keep_the_columns_of_their_ratings(shared_data, problems):
    sets = read_question_sets(shared_data / "crux_duc/queries.jsonl", problems)
    assert len(sets) == 30
    assert sum(len(one.questions) for one in sets.values()) == 449  # 30 x 15, one was empty
    assert sets["duc04-testb-18"].n_columns == 14  # the empty one was the last
    assert len(problems) == 0
