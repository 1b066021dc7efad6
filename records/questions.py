"""Sub-questions of a topic, and grades from 0 to 5 for how well each text answers them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

from .kinds import Kind, Labelled
from .reading.fields import Line, as_int, read_lines, show
from .reading.problems import Problems
from .rows import Label, QuestionSet, SubQuestion

TOPIC_FIELDS = ("id", "example_id", "qid", "topic_id")
LIST_FIELDS = ("subquestions", "sub_questions", "questions")
COLUMN_FIELDS = ("idx", "question_id", "id")
MAX_COLUMNS = 1000  # of a topic; a higher column is a mistake in the file


def read_question_sets(path: Path, problems: Problems) -> dict[str, QuestionSet]:
    """Read sub-questions by topic, in file order: CRUX's layouts, new and old.

    A topic has a list under `subquestions`, `sub_questions` or `questions`: of texts, whose
    columns are their indexes, or of objects with `text` (or `question`) and `idx` (or
    `question_id`, `id`), the 0-based column of their ratings; other columns have no question. An
    empty text is a column without a question, listed as `empty_question`.

    Errors reported: no topic id, no question in a topic, a column twice, a topic with two lists, a
    file without topics. A repeated text is kept and mentioned.

    Args:
        path: the file with the sub-questions.
        problems: collects the faults of the file, by line.

    Returns:
        The sub-questions of each topic.

    Raises: InputError if the file cannot be read.
    """
    sets = question_sets(read_lines(path, problems))
    if not sets:
        problems.error(path, 1, "empty_file", "no sub-questions, wanted at least one topic")
    return sets


def question_sets(lines: Iterable[Line]) -> dict[str, QuestionSet]:
    """Read the sub-questions in these objects, as in `read_question_sets`."""
    sets: dict[str, QuestionSet] = {}
    for line in lines:
        topic_id, texts = line.id(*TOPIC_FIELDS), _by_column(line)
        if topic_id is None or texts is None:
            continue
        listed = [SubQuestion(id=str(c), text=text) for c, text in texts.items() if text.strip()]
        if not listed:
            line.error("no_questions", f"topic {topic_id!r} has no questions, wanted at least one")
            continue
        listed.sort(key=lambda question: question.column)
        _mention(line, texts)
        question_set = QuestionSet(
            topic_id=topic_id, questions=tuple(listed), n_columns=max(texts) + 1
        )
        earlier = sets.setdefault(topic_id, question_set)
        if earlier is question_set:
            continue
        if earlier == question_set:
            line.keep("duplicate_topic", f"topic {topic_id!r} occurs twice with the same questions")
        else:
            what = f"topic {topic_id!r} has two different lists of questions, wanted one"
            line.error("duplicate_topic", what)
    return sets


def question_set_row(questions: QuestionSet) -> dict[str, Any]:
    """Write a line of CRUX's layout: a text for each column, empty without a question.

    Args:
        questions: the sub-questions of one topic.

    Returns:
        An object ready for JSON.
    """
    texts = [""] * questions.n_columns
    for question in questions.questions:
        texts[question.column] = question.text
    return {"id": questions.topic_id, "subquestions": texts}


def _by_column(line: Line) -> dict[int, str] | None:
    """The text of each column in the list; a faulty entry becomes a problem."""
    if (items := line.objects(*LIST_FIELDS, text_as="text")) is None:
        return None
    texts: dict[int, str] = {}
    for index, item in enumerate(items):
        column, text = _column(item, index), item.text("text", "question")
        if column is None or text is None:
            continue
        if column in texts:
            what = f"{item.prefix.removesuffix('.')} has column {column}, like an earlier one"
            item.error("duplicate_column", f"{what}, wanted a column for each question")
        texts[column] = text
    return texts


def _column(item: Line, index: int) -> int | None:
    """The column of an object, or its index; None, and a problem, for an invalid column."""
    field, written = item.first(*COLUMN_FIELDS) or ("", index)
    column = as_int(written)
    if column is None or not 0 <= column < MAX_COLUMNS:
        item.bad(field, written, f"the column of its ratings, 0 to {MAX_COLUMNS - 1}")
        return None
    return column


def _mention(line: Line, texts: dict[int, str]) -> None:
    """Mention columns without a text, and texts in two columns."""
    first: dict[str, int] = {}
    for column, text in texts.items():
        plain = " ".join(text.split())
        if not plain:
            line.keep("empty_question", f"column {column} has no question: its text is empty")
        elif first.setdefault(plain, column) != column:
            what = f"question {column} has the text of question {first[plain]}: {show(plain)}"
            line.keep("duplicate_question", what)


HIGHEST_RATING = 5
UNPARSED = -1  # the judge's reply was unreadable
NOT_JUDGED = -2  # no reply, or not asked

Ratings = dict[str, dict[str, tuple[int, ...]]]  # topic -> passage -> a rating per column
_Rows = dict[str, tuple[Line, int]]  # by topic, the first of some rows and their number

TEXT_ID_FIELDS = ("docid", "pid", "document", "passage_id", "report_id")
ALIGNED, BY_INDEX = "rating", "relevances"  # a list; a map from column to rating
LISTS = (ALIGNED, "ratings", BY_INDEX)
WANTED = f"0 to {HIGHEST_RATING}, -1, -2 or null"


class AnswerGrade(Label):
    """How well a text answers a question (arXiv:2506.20051); its values are the grades."""

    NONE = "0", "the text does not answer the question at all"
    HARDLY = "1", "the text answers almost nothing of the question"
    LITTLE = "2", "the text answers a small part; most of the answer is missing or unclear"
    PART = (
        "3",
        "the text answers a substantial part, but there are noticeable gaps or unclear statements",
    )
    MOST = "4", "the text answers most of the question; only minor details are missing or imprecise"
    ALL = "5", "the text answers the question completely and precisely"

    @classmethod
    def _missing_(cls, value: object) -> Label | None:
        """Reads 4 as `"4"`, and keeps a minus sign, unlike the hyphens of other labels."""
        text = str(value).strip() if type(value) in (int, str) else None
        return next((grade for grade in cls if grade.value == text), None)


class WithLine(NamedTuple):
    """The ratings of one text, and the first line with any of them."""

    line: int
    ratings: tuple[int, ...]


def reference_id(topic_id: str) -> str:
    """Return the id of a topic's reference report in ratings.

    Args:
        topic_id: the topic.
    """
    return f"{topic_id}:report"


def answer_id(topic_id: str, run_id: str) -> str:
    """Return the id of a run's answer in ratings.

    Args:
        topic_id: the topic.
        run_id: the run that answered.
    """
    return f"{topic_id}:report:{run_id}"


def is_own(passage_id: str, topic_id: str) -> bool:
    """Return whether an id in CRUX's form, `<topic>:<document>#<passage>`, belongs to a topic."""
    return passage_id.startswith(f"{topic_id}:")


def list_passages(topic_id: str, text_ids: Iterable[str]) -> list[str]:
    """List the rated texts that are not reports."""
    report = reference_id(topic_id)
    return [name for name in text_ids if name != report and not name.startswith(f"{report}:")]


def read_ratings(
    path: Path, problems: Problems, questions: Mapping[str, QuestionSet] | None = None
) -> Ratings:
    """Read ratings by topic and text, a rating per column, in file order.

    Accepts CRUX's layouts: `id`, `docid` and `rating`; the older `example_id`, `pid`, `rating`;
    `qid`, `docid`, `ratings`; and the labels of its annotators: `id`, `document` and
    `relevances`, column -> rating, where -1 means not labelled. A rating is a whole number from
    0 to 5, -1 (unreadable), or -2 or null (not judged).

    Errors reported: no topic or text id, any other rating, too few or too many, one text with two
    different lists. A repeated list is mentioned. Lines of `relevances` for one text complete each
    other, and must not contradict each other.

    Args:
        path: the file with the ratings.
        problems: collects the faults of the file, by line.
        questions: the sub-questions of the topics to read; None: all topics. Each list then has a
            rating per column: `rating` must have exactly as many; `ratings` and `relevances` may
            have further columns without a question, which are left out and mentioned once per
            topic. Rows of other topics are skipped and counted.

    Returns:
        The ratings of each text of each topic: whole numbers from -2 to 5.

    Raises: InputError if the file cannot be read.
    """
    rated = ratings_with_lines(read_lines(path, problems), questions)
    return {
        topic_id: {name: rated.ratings for name, rated in texts.items()}
        for topic_id, texts in rated.items()
    }


def ratings_with_lines(
    lines: Iterable[Line], questions: Mapping[str, QuestionSet] | None = None
) -> dict[str, dict[str, WithLine]]:
    """Read the ratings in these objects, as in `read_ratings`, each with its line."""
    rated: dict[str, dict[str, WithLine]] = {}
    unknown: _Rows = {}
    longer: _Rows = {}
    for line in lines:
        topic_id, name, written = (
            line.id(*TOPIC_FIELDS),
            line.id(*TEXT_ID_FIELDS),
            line.first(*LISTS),
        )
        if written is None:
            line.missing(*LISTS)
        if topic_id is None or name is None or written is None:
            continue
        if questions is not None and topic_id not in questions:
            _count(unknown, topic_id, line)
            continue
        field = written[0]
        ratings = _by_index(line) if field == BY_INDEX else _in_order(line, field)
        if ratings is not None and questions is not None:
            n_columns = questions[topic_id].n_columns
            if not _fits(line, field, len(ratings), n_columns):
                continue
            if len(ratings) > n_columns:
                _count(longer, topic_id, line)
            ratings = (ratings + (NOT_JUDGED,) * (n_columns - len(ratings)))[:n_columns]
        if ratings is not None:
            _add(rated.setdefault(topic_id, {}), name, ratings, line, is_part=field == BY_INDEX)
    for topic_id, (line, n) in unknown.items():
        what = f"topic {topic_id!r} has no sub-questions; its {n} rows of ratings are left out"
        line.skip("unknown_topic", what)
    for topic_id, (line, n) in longer.items():
        what = f"topic {topic_id!r}: {n} rows have ratings after the last column with a question"
        line.skip("unused_ratings", f"{what}; these ratings are left out")
    return rated


def rating_row(topic_id: str, passage_id: str, ratings: Sequence[int]) -> dict[str, Any]:
    """Write a line of `ratings.jsonl`, in CRUX's layout.

    Args:
        topic_id: the topic.
        passage_id: the rated text, such as a passage or an `answer_id`.
        ratings: a rating for each column, from -2 to 5.

    Returns:
        An object ready for JSON.
    """
    return {"id": topic_id, "docid": passage_id, "rating": list(ratings)}


def _count(rows: _Rows, topic_id: str, line: Line) -> None:
    first, n = rows.get(topic_id, (line, 0))
    rows[topic_id] = first, n + 1


def _in_order(line: Line, field: str) -> tuple[int, ...] | None:
    """The ratings of a list; None, and a problem, for each invalid one."""
    if (items := line.array(field)) is None:
        return None
    ratings = []
    for column, written in enumerate(items):
        if (rating := _rating(written)) is None:
            line.bad(f"{field}[{column}]", written, WANTED)
        else:
            ratings.append(rating)
    return tuple(ratings) if len(ratings) == len(items) else None


def _rating(written: object) -> int | None:
    """A rating as a number, null as not judged; None for anything else."""
    rating = NOT_JUDGED if written is None else as_int(written)
    return rating if rating is not None and NOT_JUDGED <= rating <= HIGHEST_RATING else None


def _by_index(line: Line) -> tuple[int, ...] | None:
    """Ratings from `{"0": 4, "3": -1}`: -1 means not labelled, as does a missing column."""
    if (by_index := line.child(BY_INDEX)) is None:
        return None
    by_column: dict[int, int] = {}
    for index, written in by_index.row.items():
        column, rating = as_int(index), _rating(written)
        if column is None or not 0 <= column < MAX_COLUMNS:
            line.bad(BY_INDEX, index, f"columns from 0 to {MAX_COLUMNS - 1}")
            return None
        if rating is None:
            by_index.bad(index, written, WANTED)
            return None
        by_column[column] = NOT_JUDGED if rating == UNPARSED else rating
    n_columns = max(by_column, default=-1) + 1
    return tuple(by_column.get(column, NOT_JUDGED) for column in range(n_columns))


def _fits(line: Line, field: str, n_ratings: int, n_columns: int) -> bool:
    """Whether there is a rating for each column, and no more if the list must be exact."""
    least, most = (0 if field == BY_INDEX else n_columns), (n_columns if field == ALIGNED else None)
    if least <= n_ratings and (most is None or n_ratings <= most):
        return True
    wanted = f"wanted {n_columns}{'' if most else ' or more'}, one for each sub-question"
    line.error("n_ratings", f"field {line.name(field)!r} has {n_ratings} ratings, {wanted}")
    return False


def _add(
    texts: dict[str, WithLine], name: str, ratings: tuple[int, ...], line: Line, *, is_part: bool
) -> None:
    """Add to `texts`; other ratings of the same text are an error, or a further part."""
    earlier = texts.setdefault(name, WithLine(line.number, ratings))
    if earlier.ratings is ratings:
        return
    what = f"the ratings of {name!r} are already in line {earlier.line}"
    pairs = list(zip_longest(earlier.ratings, ratings, fillvalue=NOT_JUDGED))
    if earlier.ratings == ratings:
        line.keep("duplicate_ratings", f"{what} and equal; counted once")
    elif is_part and all(a == b or NOT_JUDGED in (a, b) for a, b in pairs):
        texts[name] = WithLine(earlier.line, tuple(map(max, pairs)))
    else:
        line.error("duplicate_ratings", f"{what} and differ; wanted one for each question")


def find_topics(passage_id: str, topics: Container[str]) -> Iterator[str]:
    """Find the topics to which a passage belongs, by its id: usually one, or none."""
    colon = passage_id.find(":")
    while colon >= 0:
        if passage_id[:colon] in topics:
            yield passage_id[:colon]
        colon = passage_id.find(":", colon + 1)


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    rest = iter(lines)
    if (first := next(rest, None)) is None:
        return
    for topic_id, texts in ratings_with_lines(chain([first], rest)).items():
        for name, rated in texts.items():
            line = replace(first, number=rated.line)
            for column, rating in enumerate(rated.ratings):
                yield line, (topic_id, name, str(column)), str(rating) if rating >= 0 else None, {}


RATING_KIND = Kind(
    name="ratings",
    key=("topic_id", "passage_id", "question_id"),
    also={"question_id": ("question_idx",)},
    scale=AnswerGrade,
    coarse=("0", "1"),
    gains={grade.value: int(grade) / HIGHEST_RATING for grade in AnswerGrade},
    length_of=("context", "text"),
    judge="answerability",
    rows="ratings",
    read=_read_labelled,
)
