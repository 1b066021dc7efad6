"""The stream of judgements of a task, read from its files topic by topic; nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ...records.judgements import Evidence
from ...records.kinds import ITEM_ID, Cell, key_fields, run_fields
from ...records.reading.fields import Line, LineIndex, read_lines
from ...records.reading.problems import Problems
from ...records.rows import Explained, LabelScores

LABEL_FIELDS = ("label", "assignment", "grade")  # its names in files
TOPIC_FIELDS = ("topic_id", "qid", "id")
NUGGET, KEY_POINT, SUB_QUESTION, QUESTION = "nugget", "key point", "sub-question", "question"
ITEM = "item"
# Units of reference items; see `table.point_units` for those of other packages.
POINTS = (NUGGET, KEY_POINT, SUB_QUESTION, QUESTION)
NO_TOPIC = ""  # the key of lines without a topic

# How to draw a label: a glyph and its tone, as in the report's style sheet.
STATED, PARTLY, MISSED, AGAINST, OPEN = ("✓", "f"), ("◐", "p"), ("✗", "n"), ("≠", "x"), ("–", "p")

# Texts to show a person, in this order, with their names in files.
TEXTS = {
    "question": ("question", "query", "topic"),
    "sub_narratives": ("sub_narratives",),
    "answer_text": ("answer_text",),
    "sentence": ("sentence", "text"),
    "title": ("title",),
    "nugget": ("nugget",),
    "key_point": ("key_point",),
    "response": ("response",),
    "passage": ("passage",),
    "context": ("context",),
}
OPTIONAL = ("answer_text", "title", "sub_narratives")  # may be empty
# Remarks of judges and people on a label.
REMARKS = {
    "rationale": ("rationale", "reasoning"),
    "raw": ("raw", "raw_output", "prediction"),
    "quote": ("evidence",),
}
# Without a key point, `evidence` may be the judged text.
_WITHOUT_QUOTE = {name: fields for name, fields in REMARKS.items() if name != "quote"}

Texts = dict[str, str]
CellTexts = Iterator[tuple[Cell, Texts]]
FileLines = Callable[[str], Iterator[Line]]  # file name -> lines
Answers = Mapping[tuple[str, str], list["Judgement"]]  # by run and topic


class OfAnswer(Protocol):
    """A row about an answer."""

    @property
    def run_id(self) -> str: ...
    @property
    def topic_id(self) -> str: ...


class Words(NamedTuple):
    """The words of people for the labels and items of a task.

    Attributes:
        title: the name of all its items, such as Nuggets.
        item: the name of one. several: of more than one; "": with an s.
        hit: what a run does to get the best label for an item, such as "state it".
        first: which items come first in a list of missed items.
        labels: how each label is drawn (STATED ...), and its name.
        penalties: the words for reference items with a weight below 0.
    """

    title: str
    item: str = ITEM
    hit: str = ""
    first: str = ""
    labels: Mapping[str, tuple[str, str, str]] = {}
    penalties: Words | None = None
    several: str = ""

    @classmethod
    def plain(cls, name: str, labels: Sequence[str]) -> Words:
        """Return default words of a task; labels from worst to best."""
        marks = [MISSED, *[PARTLY] * (len(labels) - 2), STATED][-len(labels) :]
        called = [label.replace("_", " ") for label in labels]
        each = zip(labels, marks, called, strict=True)
        looks = {label: (*mark, word) for label, mark, word in each}
        first = f"those that the fewest runs get {called[-1]} for"
        return cls(name.capitalize(), ITEM, f"get {called[-1]}", first, looks)


class Judgement(NamedTuple):
    """One judgement of an answer, or of a text that is not an answer.

    Attributes:
        run_id, topic_id: "" if there is none.
        cell: its ids, as in label files of its kind; (): people do not label it.
        unit: nugget, key point, sub-question, question (shared by all answers to a topic, see
            POINTS), claim, citation, sentence, rating, item, or the word of another package.
        item: its name within the answer. text: what was looked for, or judged.
        label: None: not judged.
        score: in [0, 1], 1 for the best label.
        sub_narrative: the part of the narrative that a nugget belongs to; "": unknown.
        sentence: the 0-based index of the sentence. docid: the cited passage.
        weight: of a reference item, below 0 for a penalty; None: it has none.
        asked: the ids that name it in unjudged.jsonl, without the topic.
        question: the question, if its file has it.
        probabilities: the judge's probability of each label.
    """

    run_id: str
    topic_id: str
    cell: Cell
    unit: str
    item: str
    text: str
    label: str | None
    score: float | None = None
    importance: str | None = None
    sub_narrative: str = ""
    sentence: int | None = None
    docid: str | None = None
    evidence: tuple[Evidence, ...] = ()
    reasoning: str = ""
    asked: Mapping[str, str] = {}
    weight: float | None = None
    question: str = ""
    probabilities: Mapping[str, float] | None = None

    @property
    def quoted(self) -> tuple[Evidence, ...]:
        """The quotes that were found in the judged text."""
        return tuple(each for each in self.evidence if each.is_quoted)


def explanation(row: Explained) -> dict[str, Any]:
    """Return a judge's explanation of a label, by field of Judgement."""
    sure = (
        {"score": row.score, "probabilities": row.probabilities}
        if isinstance(row, LabelScores)
        else {}
    )
    return {**sure, "evidence": row.evidence, "reasoning": row.rationale or ""}


def by_answer(judgements: Iterable[Judgement]) -> dict[tuple[str, str], list[Judgement]]:
    """Group judgements by run and topic, in the order of their first ones."""
    answers: dict[tuple[str, str], list[Judgement]] = {}
    for judgement in judgements:
        answers.setdefault((judgement.run_id, judgement.topic_id), []).append(judgement)
    return answers


def reference_judgement(
    row: OfAnswer, unit: str, point: str, text: str, label: str | None, **more: Any
) -> Judgement:
    """Make the judgement of a reference item; `more` are other fields of Judgement."""
    cell = (row.topic_id, row.run_id, point)
    return Judgement(row.run_id, row.topic_id, cell, unit, point, text, label, **more)


def read_plain_judgements(lines: Iterable[Line]) -> Iterator[Judgement]:
    """Yield the judgements of rows with ids (`key_fields`) and a label, one a line."""
    fields = key_fields()
    for line in lines:
        ids = {name: line.optional_id(*names) for name, names in fields.items()}
        present = {name: value for name, value in ids.items() if value is not None}
        why, written = line.read_label_scores(), line.first(*LABEL_FIELDS)
        yield Judgement(
            present.get("run_id", ""),
            present.get("topic_id", NO_TOPIC),
            tuple(present.values()),
            ITEM,
            " ".join(v for name, v in present.items() if name not in ("topic_id", "run_id")),
            "",
            None if written is None else str(written[1]),
            score=why.get("score"),
            docid=present.get("passage_id"),
            evidence=why.get("evidence", ()),
            reasoning=why.get("rationale", ""),
            asked={name: value for name, value in present.items() if name != "topic_id"},
        )


def text_fields() -> dict[str, tuple[str, ...]]:
    """Return `TEXTS`, and texts that ids of other packages' kinds name, as `fact` of `fact_id`."""
    ids = (name for name in key_fields() if name not in ("topic_id", "run_id", ITEM_ID))
    others = (name.removesuffix("_id") for name in ids)
    return TEXTS | {name: (name,) for name in others if name not in TEXTS}


def row_texts(lines: Iterable[Line]) -> CellTexts:
    """Yield the texts that rows with ids (`key_fields`) have beside their labels, by item."""
    fields, texts = key_fields(), text_fields()
    for line in lines:
        ids = [line.first(*names) for names in fields.values()]
        remarks = REMARKS if "key_point_id" in line.row else _WITHOUT_QUOTE
        cell = tuple(str(named[1]).strip() for named in ids if named)
        yield cell, {**read_texts(line, texts), **read_texts(line, remarks)}


def read_texts(line: Line, names: Mapping[str, tuple[str, ...]]) -> Texts:
    """Return the text fields of an object, under our names."""
    texts = {}
    for name, fields in names.items():
        if (field := line.first(*fields)) and isinstance(field[1], str) and field[1].strip():
            texts[name] = field[1]
    if "rationale" in names and (evidence := line.read_explanation().get("evidence")):
        texts["quote"] = " | ".join(each.quote for each in evidence)
    return texts


class TopicFiles:
    """The files of a results folder by topic. Memory holds the positions of lines, not the lines.

    Args:
        file: returns the path of a file by its name; None: there is none.
        run, topic: read only lines of these; None: of all.
    """

    def __init__(
        self,
        file: Callable[[str], Path | None],
        problems: Problems,
        *,
        run: str | None = None,
        topic: str | None = None,
    ) -> None:
        self._file, self._problems = file, problems
        self._run, self._topic = run, topic
        self._indexes: dict[str, tuple[LineIndex, list[str]]] = {}

    def of(self, topic_id: str) -> FileLines:
        """Return a function from the name of a file to its lines of one topic."""

        def lines(name: str) -> Iterator[Line]:
            for line in self._index(name)[0].lines(topic_id):
                yield Line(line.path, line.number, line.row, self._problems)

        return lines

    def topics(self, name: str) -> list[str]:
        """Return the topics of a file, in its order; NO_TOPIC for lines without one."""
        return self._index(name)[1]

    def _index(self, name: str) -> tuple[LineIndex, list[str]]:
        if name not in self._indexes:
            index, topics = LineIndex(), dict[str, None]()
            path = self._file(name)
            for line in read_lines(path, self._problems) if path is not None else ():
                key = line.optional_id(*TOPIC_FIELDS) or NO_TOPIC
                if (self._topic is None or key == self._topic) and self._is_wanted(line):
                    index.note(line, key)
                    topics[key] = None
            self._indexes[name] = index, list(topics)
        return self._indexes[name]

    def _is_wanted(self, line: Line) -> bool:
        if self._run is None or line.row.get("run_id") is None:
            return True
        return any(line.row.get(name) == self._run for name in run_fields())
