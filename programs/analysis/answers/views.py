"""Answers with all their judgements, read topic by topic from a results folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ....metrics import count_words
from ....records.judgements import Evidence
from ....records.kinds import Cell, check_labelled, find_kind
from ....records.labels import (
    ItemRow,
    find_item_fields,
    item_lines,
    map_fields,
    read_items,
    read_labels,
    run_aliases,
)
from ....records.reading.fields import Line, LineIndex
from ....records.reading.problems import InputError, Problems, nearest
from ....records.rows import Passage, ScoreRow
from ....records.scores import score_row, score_rows
from ...config.sections import Config, DataConfig
from ...engine.folders import find_inputs
from ...inputs import Collection, expand_runs, load_collection
from ...protocols import table
from ...protocols.judged_files import find_file_scale, find_task, kinds_in, scale_in
from ...protocols.judgements import PARTLY, STATED, FileLines, Judgement, TopicFiles, Words
from ...protocols.program import Folder, Program
from ...protocols.table import choose, point_units

SCORES, UNJUDGED = "scores.jsonl", "unjudged.jsonl"
_NO_ID = ("stage", "topic_id", "n", "reason", "detail", "raw")  # fields of a row of unjudged.jsonl


@dataclass(frozen=True)
class Sentence:
    """A sentence of an answer, with the ids of its cited passages in order."""

    text: str
    citations: tuple[str, ...] = ()


Standing = Literal["stated", "partly", "missed", "unjudged"]


@dataclass(frozen=True)
class Judged:
    """A judgement of an answer.

    Attributes:
        program: its task. unit: the kind of item, as in a Judgement. item: its id in the answer.
        text: the reference item or the judged text.
        label: None: not judged; then `unjudged` has the reason, `detail` and `raw` the reply.
        score: in [0, 1], 1 for the best label; None: unknown.
        sub_narrative: the part of the narrative of a nugget; "": unknown.
        weight: the weight of a reference item, negative for a penalty; None: no weight.
        sentence: 0-based index of its sentence. docid, passage, title: of the cited passage;
            passage None: its text is missing.
        people: (annotator, label, rationale) of people who labelled the same item.
    """

    program: str
    unit: str
    item: str
    text: str
    label: str | None
    score: float | None = None
    importance: str | None = None
    sub_narrative: str = ""
    weight: float | None = None
    sentence: int | None = None
    docid: str | None = None
    passage: str | None = None
    title: str = ""
    evidence: tuple[Evidence, ...] = ()
    reasoning: str = ""
    unjudged: str = ""
    detail: str = ""
    raw: str = ""
    people: tuple[Label, ...] = ()

    @property
    def is_point(self) -> bool:
        """Whether it is a reference item, shared by all answers to the topic."""
        return self.unit in point_units()


@cache
def label_standings(name: str) -> dict[str, Standing]:
    """Return label -> standing for a task, from its words."""
    one = table.program(name)
    kind = find_kind(one.kind)
    words = one.words or Words.plain(one.name, kind.labels if kind is not None else ())
    by_mark: dict[str, Standing] = {STATED[0]: "stated", PARTLY[0]: "partly"}
    return {label: by_mark.get(mark, "missed") for label, (mark, *_) in words.labels.items()}


@cache
def order_labels(name: str) -> tuple[str, ...]:
    """Return labels of a task, worst to best, from its kind or else its words; (): none."""
    one = table.program(name)
    if (kind := find_kind(one.kind)) is not None:
        return kind.labels
    return tuple(reversed(list(one.words.labels))) if one.words is not None else ()


_OF_JUDGEMENT = [each.name for each in fields(Judged) if each.name in Judgement._fields]


@dataclass(frozen=True)
class AnswerView:
    """The answer of one run to one topic, with its judgements.

    Attributes:
        sentences: () if the text is unknown. is_split: whether `sentences` are sentences;
            otherwise the text, known only from results, is one entry without citations.
        length: number of words. score_rows: its values with the judgements behind them.
        failed: why nuggetjudge itself failed to make the answer; "": it did not fail.
    """

    run_id: str
    topic_id: str
    question: str
    sentences: tuple[Sentence, ...]
    judged: tuple[Judged, ...]
    length: int | None
    score_rows: tuple[ScoreRow, ...] = field(default=(), repr=False)
    failed: str = ""
    is_split: bool = True

    def as_row(self) -> dict[str, Any]:
        """Return a dict for JSON."""
        names = ("run_id", "topic_id", "question", "length", "failed", "is_split")
        return {
            **{name: getattr(self, name) for name in names},
            "scores": [score_row(row) for row in self.score_rows],
            "sentences": [vars(sentence) for sentence in self.sentences],
            "judged": [
                vars(each) | {"evidence": [one.as_row() for one in each.evidence]}
                for each in self.judged
            ],
        }

    @property
    def scores(self) -> dict[str, float | None]:
        """Values by measure; None: not judged, or 0/0."""
        return {row.measure: row.value for row in self.score_rows}


def read_answer_views(
    folder: Path,
    problems: Problems,
    *,
    run: str | None = None,
    topic: str | None = None,
    labels: Path | Sequence[Path] | None = None,
    with_texts: bool = True,
) -> Iterator[AnswerView]:
    """Yield the answers of a results folder, topic by topic; only one topic is in memory.

    Sentences and passages come from the judged files, if these exist unchanged; `problems` lists
    missing files once.

    Args:
        run, topic: read only these.
        labels: human labels as `judge agree` reads them; a file for each kind.
        with_texts: also read sentences and passages.

    Raises: InputError if `folder` is not a results folder, for an unknown run or topic (with
        similar names), and for labels of other items.
    """
    about = Folder(folder, problems)
    runs, topics = list(about.data.get("run_ids", ())), list(about.topics or ())
    check_name(folder, "run", run, runs)
    check_name(folder, "topic", topic, topics)
    files_of_labels = [labels] if isinstance(labels, Path) else labels or ()
    people = [People(folder, path, runs, problems) for path in files_of_labels]
    files = TopicFiles(about.file, problems, run=run, topic=topic)
    texts = AnswerTexts(folder, problems, is_whole=with_texts)
    programs = choose(about.programs)
    for topic_id in topics if topic is None else [topic]:
        yield from _of_topic(topic_id, about, programs, files.of(topic_id), texts, people, run)
        problems.raise_errors()


def check_name(folder: Path, what: str, name: str | None, names: Iterable[str]) -> None:
    """Raise InputError with the nearest names if a results folder does not have a name."""
    if name is None or name in names:
        return
    low = name.casefold()
    inside = [one for one in names if low in one.casefold()]
    near = inside or nearest(name, names, 3) or list(names)
    more = f" and {len(near) - 3} more" if len(near) > 3 else ""
    wanted = f"nearest: {', '.join(near[:3])}{more}" if near else f"it has no {what}"
    raise InputError(f"{folder}: has no {what} {name!r}; {wanted}")


def _of_topic(
    topic_id: str,
    about: Folder,
    programs: Sequence[Program],
    lines: FileLines,
    texts: AnswerTexts,
    people: Sequence[People],
    only: str | None,
) -> Iterator[AnswerView]:
    written = {run: one for run, one in texts.of(topic_id).items() if only in (None, run)}
    missing = _Missing(lines(UNJUDGED), programs)
    judged: dict[str, list[Judged]] = {run: [] for run in written}
    of_items = texts.items(topic_id)
    for program in programs:
        for each in program.judgements(lines):
            if each.run_id and only in (None, each.run_id):
                each = each._replace(text=each.text or of_items.get(each.cell, ""))
                labels_of_people = tuple(
                    label for one in people for label in one.of(program.name, each.cell)
                )
                judgement = _make_judged(
                    program.name, each, written.get(each.run_id), missing, labels_of_people
                )
                judged.setdefault(each.run_id, []).append(judgement)
    rows: dict[str, list[ScoreRow]] = {}
    for _, row in score_rows(lines(SCORES)):
        rows.setdefault(row.run_id, []).append(row)
    failed = {run: why for run, at, why in about.data.get("failed", ()) if at == topic_id}
    in_results = _InResults(programs, lines)
    for run in about.data.get("run_ids", ()):
        if only not in (None, run) or not (run in judged or run in failed):
            continue
        answer = written.get(run) or (in_results.answer(run) if texts.is_whole else NOTHING)
        yield AnswerView(
            run,
            topic_id,
            texts.question(topic_id) or in_results.question,
            tuple(Sentence(*each) for each in answer.sentences),
            (*judged.get(run, ()), *missing.others()),
            count_words(answer.text) if answer.text else _length(rows.get(run, ())),
            tuple(rows.get(run, ())),
            failed.get(run, ""),
            run in written,
        )


def _make_judged(
    program: str,
    each: Judgement,
    answer: Written | None,
    missing: _Missing,
    people: tuple[Label, ...],
) -> Judged:
    judgement = Judged(
        program, **{name: getattr(each, name) for name in _OF_JUDGEMENT}, people=people
    )
    if each.label is None:
        judgement = replace(judgement, **missing.why(program, each.asked))
    if answer is None:
        return judgement
    if not each.text and each.sentence is not None and each.sentence < len(answer.sentences):
        judgement = replace(judgement, text=answer.sentences[each.sentence][0])
    if each.docid is not None and (passage := answer.passages.get(each.docid)) is not None:
        judgement = replace(judgement, passage=passage.text, title=passage.title)
    return judgement


class _Missing:
    """The reasons of missing judgements: rows of unjudged.jsonl of one topic, by ids."""

    def __init__(self, lines: Iterable[Line], programs: Sequence[Program]) -> None:
        programs_of: dict[str, list[str]] = {}
        for one in programs:
            for stage in one.stages or (one.name,):
                programs_of.setdefault(stage, []).append(one.name)
        self._why: dict[tuple[str, frozenset[tuple[str, str]]], dict[str, Any]] = {}
        for line in lines:
            row = line.row
            if not (asking := programs_of.get(str(row.get("stage")), ())):
                continue
            names = {"unjudged": "reason", "detail": "detail", "raw": "raw"}
            why = {name: str(row.get(key) or "") for name, key in names.items()}
            for ids in _items(row):
                for program in asking:
                    self._why.setdefault((program, ids), why)

    def why(self, program: str, ids: Mapping[str, str]) -> dict[str, Any]:
        """Return `unjudged`, `detail` and `raw` of an item."""
        why = self._why.get((program, frozenset(ids.items())))
        return why or {"unjudged": "not_said", "detail": "unjudged.jsonl does not say why"}

    def others(self) -> Iterator[Judged]:
        """Return what is missing for all answers to the topic, such as its nuggets."""
        for (program, ids), why in self._why.items():
            if not ids:
                yield Judged(program, "", "", "", None, **why)


def _items(row: Mapping[str, Any]) -> Iterator[frozenset[tuple[str, str]]]:
    """Yield the ids of each item of a row: a list has an id per item; claims count on."""
    ids = {name: value for name, value in row.items() if name not in _NO_ID and value is not None}
    n = row.get("n") if isinstance(row.get("n"), int) else 1
    lists = [value for value in ids.values() if isinstance(value, list)]
    for i in range(len(lists[0]) if lists else n or 1):
        named = {
            name: value[i] if isinstance(value, list) and i < len(value) else value
            for name, value in ids.items()
        }
        if not lists and isinstance(named.get("claim"), int):
            named["claim"] += i
        yield frozenset((name, str(value)) for name, value in named.items())


class _InResults:
    """The texts in results files: the question of a topic and texts of answers."""

    def __init__(self, programs: Sequence[Program], lines: FileLines) -> None:
        self._programs, self._lines = programs, lines

    @cached_property
    def question(self) -> str:
        """Return the question; "" if no file has it."""
        queries = (row["query"] for row in self._rows() if isinstance(row.get("query"), str))
        return next(filter(None, queries), "")

    def answer(self, run: str) -> Written:
        """Return the text as one sentence, if it is known."""
        text = self._texts.get(run, "")
        return Written(text, ((text, ()),) if text else (), {})

    @cached_property
    def _texts(self) -> dict[str, str]:
        rows = (row for row in self._rows() if isinstance(row.get("answer_text"), str))
        return {str(row.get("run_id")): row["answer_text"] for row in rows}

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for name in (name for one in self._programs for name in one.files):
            yield from (line.row for line in self._lines(name))


def _length(rows: Sequence[ScoreRow]) -> int | None:
    length = next((row.value for row in rows if row.measure == "length"), None)
    return None if length is None else round(length)


_NAMED = ("topics", "nuggets", "keypoints", "candidates")  # inputs with topics and texts


class Written(NamedTuple):
    """An answer: its text, (text, ids of cited passages) per sentence, and the passages."""

    text: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    passages: Mapping[str, Passage]


NOTHING = Written("", (), {})


class AnswerTexts:
    """The texts of a results folder's inputs, read topic by topic.

    Missing or changed files are left out and listed.

    Args:
        is_whole: read answers and passages; else only questions.
    """

    def __init__(self, folder: Path, problems: Problems, *, is_whole: bool = True) -> None:
        self._folder, self._problems, self.is_whole = folder, problems, is_whole

    def of(self, topic_id: str) -> dict[str, Written]:
        """Return the answers of runs to a topic, in file order."""
        if self._collection is None or topic_id not in self._collection.topics:
            return {}
        return {
            answer.run_id: Written(
                answer.text,
                tuple((s.text, tuple(c.passage_id for c in s.citations)) for s in answer.sentences),
                passages,
            )
            for answer, passages in self._collection.read_cited_answers(topic_id)
        }

    def question(self, topic_id: str) -> str:
        """Return the question; "" if unknown."""
        collection = self._collection
        topic = collection.topics.get(topic_id) if collection is not None else None
        return topic.question if topic is not None else ""

    def items(self, topic_id: str) -> dict[tuple[str, ...], str]:
        """Return the texts of a topic's judged items, by ids."""
        if self._items is None or self._config is None:
            return {}
        index, inputs = self._items
        lines = (map_fields(line, self._item_fields) for line in index.lines(topic_id))
        return {row.cell: _show(row) for row in read_items(lines, inputs, partly=True)}

    @cached_property
    def _data(self) -> tuple[Config, DataConfig] | None:
        """Return the config of the run, with only unchanged files."""
        try:
            inputs = find_inputs(self._folder)
            data, changed = inputs.config.data, inputs.changed
            gone = [pattern for pattern in data.runs if pattern in changed]
            there = tuple(pattern for pattern in data.runs if pattern not in changed)
            runs = (*gone, *map(str, expand_runs(there))) if self.is_whole else ()
        except InputError as error:
            self._skip(self._folder, f"texts are left out: {str(error).splitlines()[0]}")
            return None
        named = {name: getattr(data, name) for name in (*_NAMED, "items")}
        passages = data.passages if self.is_whole else ()
        for path in filter(None, (*runs, *passages, *named.values())):
            if what := changed.get(str(path)):
                self._skip(path, f"{what}; its texts are left out")
        unchanged = {n: path for n, path in named.items() if path and str(path) not in changed}
        left = DataConfig(
            runs=tuple(path for path in runs if path not in changed),
            passages=tuple(path for path in passages if str(path) not in changed),
            **unchanged,
        )
        return inputs.config, left

    @property
    def _config(self) -> Config | None:
        return None if self._data is None else self._data[0]

    @cached_property
    def _collection(self) -> Collection | None:
        if self._data is None or self._data[1].items is not None:
            return None
        config, data = self._data
        if not (data.runs or any(getattr(data, name) for name in _NAMED)):
            return None
        try:
            return load_collection(data, config.run.limit)
        except InputError as error:
            self._skip(self._folder, f"texts are left out: {str(error).splitlines()[0]}")
            return None

    @cached_property
    def _item_fields(self) -> dict[str, str]:
        """Return the fields of judged items: name -> field."""
        scale = scale_in(self._folder, kind="items")
        if self._data is None or scale is None or (path := self._data[1].items) is None:
            return {}
        return find_item_fields(path, self._data[0].items.fields, scale.inputs, Problems())

    @cached_property
    def _items(self) -> tuple[LineIndex, tuple[str, ...]] | None:
        """Return positions of judged items in their file, by topic, and the names of texts."""
        scale = scale_in(self._folder, kind="items")
        if self._data is None or self._data[1].items is None or scale is None:
            return None
        index = LineIndex()
        for line in item_lines(self._data[1].items, Problems()):
            row = map_fields(line, self._item_fields)
            index.note(line, row.optional_id("topic_id", "qid", "query_id") or "")
        return index, scale.inputs

    def _skip(self, path: Path | str, what: str) -> None:
        self._problems.skip(path, 0, "no_texts", what)


def _show(row: ItemRow) -> str:
    """Return the texts that a judge of items read, with names if there are several."""
    if len(row.inputs) == 1:
        return next(iter(row.inputs.values()))
    return "\n".join(f"{name}: {text}" for name, text in row.inputs.items())


Label = tuple[str, str, str]  # annotator, label, rationale; "" if missing


class People:
    """Human labels by item key, for one task of a results folder."""

    def __init__(self, folder: Path, labels: Path, runs: Sequence[str], problems: Problems) -> None:
        file = read_labels(labels, problems, scale=find_file_scale(folder), is_human=True)
        problems.raise_errors()
        check_labelled(file, labels)
        program = find_task(folder, file.kind)
        if program is None:
            has = ", ".join(kinds_in(folder)) or "nothing"
            raise InputError(f"{labels}: labels of {file.kind}, but {folder} judged {has}")
        self.program = program.name
        self._file = file
        at = file.key_names.index("run_id") if "run_id" in file.key_names else None
        theirs = (
            {cell[at] for cell in (*file.cells, *file.annotations)} if at is not None else set()
        )
        self._at, self._names = at, {ours: name for name, ours in run_aliases(runs, theirs).items()}

    def of(self, program: str, cell: Cell) -> tuple[Label, ...]:
        """Return labels of an item by annotator; () if nobody labelled it."""
        if program != self.program or not cell:
            return ()
        if (at := self._at) is not None and at < len(cell) and cell[at] in self._names:
            cell = (*cell[:at], self._names[cell[at]], *cell[at + 1 :])
        rationale = self._file.rationales.get(cell, "")
        if by_annotator := self._file.annotations.get(cell):
            remarks = rationale.split("\n")
            if len(remarks) != len(by_annotator):  # not one entry per annotator
                remarks = [rationale] + [""] * (len(by_annotator) - 1)
            pairs = zip(by_annotator.items(), remarks, strict=True)
            return tuple((name, label, remark) for (name, label), remark in pairs)
        label = self._file.cells.get(cell)
        return () if label is None else (("", label, rationale),)
