import gzip
import re
from collections import Counter

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_rows

from nuggetjudge.records import (
    Problems,
    QuestionSet,
    SubQuestion,
    answer_id,
    question_set_row,
    rating_row,
    read_question_sets,
    read_ratings,
    reference_id,
)
from nuggetjudge.records.labels import item_lines, read_items
from nuggetjudge.records.reading.problems import InputError

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
            r"questions\[1\] has column 1, like an earlier one",
        ),
    ],
)
def test_what_is_no_list_of_questions_is_an_error_with_its_place(row, message, write, problems):
    path = write(row)
    read_question_sets(path, problems)
    errors = [problem for problem in problems if problem.action == "error"]
    assert str(errors[0]).startswith(f"{path}:1: ")
    assert any(re.search(message, str(error)) for error in errors)


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


def asked(topic_id, *columns, n_columns=None):
    questions = tuple(SubQuestion(id=str(c), text=f"Question {c}?") for c in columns)
    n_columns = max(columns) + 1 if n_columns is None else n_columns
    return {topic_id: QuestionSet(topic_id=topic_id, questions=questions, n_columns=n_columns)}


@pytest.mark.parametrize(
    "row",
    [
        {"id": "7", "docid": "7:0#1", "rating": [5, 0, -1, -2]},
        {"example_id": 7, "pid": "7:0#1", "rating": [5.0, 0, -1.0, None]},
        {"qid": "7", "docid": "7:0#1", "own_topic": True, "ratings": [5, 0, -1, -2]},
        {"topic_id": "7", "passage_id": "7:0#1", "rating": ["5", "0", "-1", "-2"]},
    ],
)
def test_every_layout_gives_the_same_ratings(row, write, problems):
    assert read_ratings(write(row), problems) == {"7": {"7:0#1": (5, 0, -1, -2)}}
    assert len(problems) == 0


def test_what_is_written_is_read_back(write, problems):
    given = {"7": {"7:0#1": (5, 0, -1), reference_id("7"): (4, -2, 3)}, "8": {"x": (0,)}}
    rows = [
        rating_row(topic, name, r) for topic, texts in given.items() for name, r in texts.items()
    ]
    assert rows[1] == {"id": "7", "docid": "7:report", "rating": [4, -2, 3]}
    assert read_ratings(write(*rows), problems) == given
    assert answer_id("7", "bm25") == "7:report:bm25"


@pytest.mark.parametrize("wrong", [6, -3, 2.5, True, "high", [3], {}, "", 1e300])
def test_any_other_rating_is_an_error_that_names_the_column(wrong, write, problems, kinds):
    path = write(
        {"id": "7", "docid": "a", "rating": [1]}, {"id": "7", "docid": "b", "rating": [0, wrong]}
    )
    assert read_ratings(path, problems) == {"7": {"a": (1,)}}
    assert kinds() == [(2, "bad_field", "error")]
    assert "field 'rating[1]' is " in str(problems.rows[0])
    assert "wanted 0 to 5, -1, -2 or null" in str(problems.rows[0])


def test_nan_is_not_judged(write, problems):
    path = write('{"id": "7", "docid": "a", "rating": [NaN, 2]}')
    assert read_ratings(path, problems) == {"7": {"a": (-2, 2)}}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"docid": "a", "rating": [1]}, "field 'id' or"),
        ({"id": "7", "rating": [1]}, "field 'docid' or"),
        ({"id": "7", "docid": "a"}, "'rating' or 'ratings' or 'relevances' is missing"),
        ({"id": "7", "docid": "a", "rating": 3}, "'rating' is 3, wanted a list"),
        ({"id": "7", "document": "a", "relevances": [3]}, "'relevances' is .3., wanted an object"),
        ({"id": "7", "document": "a", "relevances": {"x": 3}}, "wanted columns from 0"),
        ({"id": "7", "document": "a", "relevances": {"99999999999": 3}}, "wanted columns from 0"),
        ({"id": "7", "document": "a", "relevances": {"2": 7}}, "field 'relevances.2' is 7, wanted"),
    ],
)
def test_a_row_that_is_no_rating_is_an_error_with_its_place(row, message, write, problems):
    path = write(row)
    assert read_ratings(path, problems) == {}
    assert [problem.action for problem in problems] == ["error"]
    assert re.match(rf"{re.escape(str(path))}:1: .*{message}", str(problems.rows[0]))


# --- with the questions


def test_a_list_of_another_length_than_the_questions_is_an_error(write, problems, kinds):
    path = write(
        {"id": "7", "docid": "a", "rating": [1, 2, 3]},
        {"id": "7", "docid": "b", "rating": [1, 2]},
        {"id": "7", "docid": "c", "rating": [1, 2, 3, 4]},
        {"qid": "7", "docid": "d", "ratings": [1, 2]},
    )
    ratings = read_ratings(path, problems, asked("7", 0, 1, 2))
    assert ratings == {"7": {"a": (1, 2, 3)}}
    assert kinds() == [(n, "n_ratings", "error") for n in (2, 3, 4)]
    assert "field 'rating' has 2 ratings, wanted 3, one for each" in str(problems.rows[0])


def test_a_list_of_questions_with_empty_columns_at_its_end_has_ratings_for_them(write, problems):
    path = write({"id": "7", "docid": "a", "rating": [1, 2, 3]})
    ratings = read_ratings(path, problems, asked("7", 0, n_columns=3))
    assert ratings == {"7": {"a": (1, 2, 3)}}
    assert len(problems) == 0


def test_topics_without_questions_are_skipped_with_the_number_of_their_rows(write, problems, kinds):
    rows = [{"id": topic, "docid": f"d{i}", "rating": [i]} for i, topic in enumerate("87988")]
    assert read_ratings(write(*rows), problems, asked("7", 0)) == {"7": {"d1": (1,)}}
    assert kinds() == [(1, "unknown_topic", "skipped"), (3, "unknown_topic", "skipped")]
    assert "topic '8' has no sub-questions; its 3 rows" in str(problems.rows[0])


# --- the same text twice


def test_the_same_ratings_again_are_mentioned_and_others_an_error(write, problems, kinds):
    rows = [{"id": "7", "docid": "a", "rating": r} for r in ([1, 2], [1.0, 2], [1, 3], [1, -2])]
    assert read_ratings(write(*rows), problems) == {"7": {"a": (1, 2)}}
    assert kinds() == [
        (2, "duplicate_ratings", "kept"),
        (3, "duplicate_ratings", "error"),
        (4, "duplicate_ratings", "error"),
    ]
    assert "the ratings of 'a' are already in line 1" in str(problems.rows[0])


# --- CRUX's annotators


def labelled(document, **relevances):
    by_index = {index[1:]: rating for index, rating in relevances.items()}
    rationales = dict.fromkeys(by_index, "")
    return {"id": "7", "document": document, "relevances": by_index, "rationales": rationales}


def test_annotated_lines_of_one_document_add_up_unless_they_contradict(write, problems, kinds):
    path = write(
        labelled("a", _0=4, _1=-1),
        labelled("a", _0=-1, _1=2, _2=0),
        labelled("a", _0=4),
        labelled("a", _1=3),
    )
    assert read_ratings(path, problems) == {"7": {"a": (4, 2, 0)}}
    assert kinds() == [(4, "duplicate_ratings", "error")]


# --- real files


@pytest.mark.parametrize(
    ("name", "n", "n_all"),
    [
        ("llm_ratings.jsonl", 954, {0: 9309, 2: 2047, 4: 1312, 1: 1068, 5: 343, 3: 231}),
        ("llm_ratings_all_docids.jsonl", 5705, {0: 79918, 2: 3213, 1: 1597, 4: 588, 3: 188, 5: 71}),
    ],
)
def test_real_ratings_are_read_whole(name, n, n_all, shared_data, problems, kinds):
    """The counts were made with a Counter over the parsed lines, without these readers."""
    path = shared_data / "crux_duc" / name
    by_topic = read_ratings(path, problems)
    assert (len(by_topic), sum(map(len, by_topic.values()))) == (30, n)
    lists = [ratings for texts in by_topic.values() for ratings in texts.values()]
    assert Counter(rating for ratings in lists for rating in ratings) == n_all
    assert len(problems) == 0
    questions = read_question_sets(shared_data / "crux_duc/queries.jsonl", problems)
    fitted = read_ratings(path, problems, questions)
    assert {len(r) for r in fitted["duc04-testb-18"].values()} == {14}
    assert [(kind, action) for _, kind, action in kinds()] == [("unused_ratings", "skipped")]


# Items of JSONL and CSV files: their ids, their texts, and what is wrong with a row.
ROWS = [
    {"topic_id": "t1", "docid": 7, "claim": "it rains", "source": ["one", "two"], "split": "a"},
    {"topic_id": "t2", "docid": " p8 ", "claim": 3, "source": "three", "split": "b"},
]


def write(path, rows=ROWS):
    write_rows(path, rows)
    return path


def items_of(path, inputs=("claim", "source"), problems=None, partly=False, **options):
    problems = problems if problems is not None else Problems()
    return list(read_items(item_lines(path, problems, **options), inputs, partly=partly))


def test_ids_texts_and_lines_are_read_and_a_list_of_texts_is_joined(tmp_path):
    first, second = items_of(write(tmp_path / "items.jsonl"))
    assert (first.line, first.ids) == (1, {"topic_id": "t1", "passage_id": "7"})
    assert first.inputs == {"claim": "it rains", "source": "one\n\ntwo"}
    assert (second.line, second.cell) == (2, ("t2", "p8"))
    assert second.inputs == {"claim": "3", "source": "three"}


def test_a_field_may_have_another_name(tmp_path):
    path = write(tmp_path / "items.jsonl")
    items = items_of(path, ("sentence",), fields={"sentence": "claim", "run_id": "split"})
    assert [item.inputs for item in items] == [{"sentence": "it rains"}, {"sentence": "3"}]
    assert [item.ids["run_id"] for item in items] == ["a", "b"]


def test_where_goes_by_the_names_in_the_file(tmp_path):
    path = write(tmp_path / "items.jsonl")
    (item,) = items_of(path, where={"split": ["b"]}, fields={"sentence": "claim"})
    assert item.ids["topic_id"] == "t2"
    with pytest.raises(InputError, match="no row with split=c, wanted one of a, b"):
        items_of(path, where={"split": ["b", "c"]})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", ["items.csv", "items.csv.gz"])
def test_csv_as_spreadsheets_write_it(tmp_path, end, mark, name):
    lines = [
        "topic_id,docid,claim,source", 't1,7,"it ""rains"", they say","one', 'two"', "t2,p8,,x",
    ]  # fmt: skip
    text = mark + (end.join(lines) + end).encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    problems = Problems()
    (item,) = items_of(tmp_path / name, problems=problems)
    assert item.inputs == {"claim": 'it "rains", they say', "source": f"one{end}two"}
    assert [str(problem) for problem in problems] == [
        f"{tmp_path / name}:4: field 'claim' is missing; "
        "the object has topic_id, docid, claim, source"
    ]


def test_an_input_may_be_missing_where_it_may_come_from_elsewhere(tmp_path):
    path = write(tmp_path / "items.jsonl", [{"topic_id": "t1", "claim": None, "source": "x"}])
    problems = Problems()
    (item,) = items_of(path, problems=problems, partly=True)
    assert item.inputs == {"source": "x"}
    assert not len(problems)


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ({"claim": "a", "source": "b"}, "field 'topic_id' or 'run_id' or"),
        ({"topic_id": "t1", "claim": "a"}, "field 'source' is missing"),
        ({"topic_id": "t1", "claim": {}, "source": "b"}, "field 'claim' is {}, wanted text"),
        ({"topic_id": "t1", "claim": True, "source": "b"}, "field 'claim' is True, wanted text"),
        ({"topic_id": "t1", "claim": ["a", 1], "source": "b"}, "'claim' is ['a', 1], wanted text"),
        ({"topic_id": [], "claim": "a", "source": "b"}, "field 'topic_id' is [], wanted an id"),
    ],
)
def test_a_row_that_is_no_item_is_an_error_with_its_line(tmp_path, row, what):
    path = write(tmp_path / "items.jsonl", [ROWS[0], row])
    problems = Problems()
    assert len(items_of(path, problems=problems)) == 1
    problem = str(next(iter(problems)))
    assert problem.startswith(f"{path}:2: ")
    assert what in problem
    with pytest.raises(InputError):
        problems.raise_errors()
