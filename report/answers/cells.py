"""Labels of all answers as a matrix a topic: of facts by runs, or of the sentences of each run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...programs.protocols.coverage.files import read_coverage
from ...programs.protocols.program import Folder
from ...records.instruments.answered import STANDING_LABELS, read_answered
from ...records.instruments.rubrics import read_rubrics
from ...records.key_points import KEY_POINT_KIND, read_entailments, read_key_point_sets
from ...records.nuggets import NUGGET_KIND, read_assignments
from ...records.questions import HIGHEST_RATING
from ...records.reading.problems import Problems
from ...records.support import SUPPORT_KIND, read_support
from ...records.tools.rubric_verdicts import CRITERION_KIND, read_verdicts
from .packing import bits_for, pack

_ABSENT = 255  # there is no answer


class Matrix:
    """The labels of one kind, topic by topic, as numbers.

    Attributes:
        labels: from worst to best; a label's code is its place, that of what was not judged comes
            after them, then those of `more`, which are no labels.
        hits: the labels that count as stating a fact. is_strip: rows are runs and columns their
            sentences; else rows are facts and columns runs.
        words: by topic, the question.
    """

    def __init__(
        self,
        kind: str,
        labels: tuple[str, ...],
        hits: tuple[str, ...],
        *,
        more: tuple[str, ...] = (),
        is_strip: bool = False,
    ) -> None:
        self.kind, self.labels, self.hits, self.is_strip = kind, labels, hits, is_strip
        self.codes = {label: code for code, label in enumerate((*labels, "unjudged", *more))}
        self.words: dict[str, str] = {}
        self._runs: dict[str, int] = {}
        self._items: dict[str, dict[str, tuple[str, ...]]] = {}
        self._cells: dict[str, dict[str, bytearray]] = {}  # by topic and item, or topic and run

    def item(
        self, topic: str, item: str, text: str, importance: str = "", sub_narrative: str = ""
    ) -> None:
        """A fact of a topic."""
        fields = (text, importance, sub_narrative) if sub_narrative else (text, importance)
        self._items.setdefault(topic, {}).setdefault(item, fields)

    def put(self, topic: str, run: str, item: str, label: str | None) -> None:
        """A label of a run's answer; None: it was not judged."""
        row = self._cells.setdefault(topic, {}).setdefault(item, bytearray())
        _put(row, self._runs.setdefault(run, len(self._runs)), self._code(label))

    def put_sentence(self, topic: str, run: str, sentence: int, label: str | None) -> None:
        """What a sentence of a run's answer is worth."""
        self._runs.setdefault(run, len(self._runs))
        row = self._cells.setdefault(topic, {}).setdefault(run, bytearray())
        _put(row, sentence, self._code(label))

    def _code(self, label: str | None) -> int:
        return self.codes["unjudged" if label is None else label]

    def as_json(self, name_of: Callable[[str], str], questions: Mapping[str, str]) -> Any:
        """What `matrix.js` draws; None where there is nothing.

        Args:
            name_of: how a run is called on the page. questions: by topic, where they are known.
        """
        if not self._cells:
            return None
        topics, cells = [], bytearray()
        for topic, rows in self._cells.items():
            shape = self._strips(rows, cells) if self.is_strip else self._facts(topic, rows, cells)
            topics.append({"id": topic, "question": questions.get(topic, ""), **shape})
        bits = bits_for(len(self.codes))
        return {
            "kind": self.kind,
            "is_strip": self.is_strip,
            "codes": list(self.codes),
            "hits": [self.codes[label] for label in self.hits],
            "runs": [name_of(run) for run in self._runs],
            "topics": topics,
            "bits": bits,
            "cells": pack(cells, bits),
        }

    def _facts(self, topic: str, rows: Mapping[str, bytearray], cells: bytearray) -> dict[str, Any]:
        """Facts one after the other, each with a code for every run."""
        n = len(self._runs)
        present = {r for row in rows.values() for r, code in enumerate(row) if code != _ABSENT}
        described = self._items.get(topic, {})
        items = dict.fromkeys([*described, *rows])
        unjudged = self._code(None)
        for item in items:
            row = rows.get(item, b"")
            cells.extend(unjudged if code == _ABSENT else code for code in row)
            cells.extend([unjudged] * (n - len(row)))
        return {
            "items": [[item, *described.get(item, (item, ""))] for item in items],
            "absent": [r for r in range(n) if r not in present],
        }

    def _strips(self, rows: Mapping[str, bytearray], cells: bytearray) -> dict[str, Any]:
        """The sentences of one run after those of the other; a run that is absent has none."""
        strips = [rows.get(run, b"") for run in self._runs]
        gap = self.codes["gap"]
        for row in strips:
            cells.extend(gap if code == _ABSENT else code for code in row)
        return {"lengths": [len(row) for row in strips]}


def matrices(path: Path, problems: Problems) -> Iterator[Matrix]:
    """The matrices that a results folder has. Raises: InputError for a file that is broken."""
    folder = Folder(path, problems)
    for program, kind in _KINDS.items():
        file = folder.file(kind.file) if program in folder.programs else None
        if file is not None:
            matrix = Matrix(
                program, kind.labels, kind.hits, more=kind.more, is_strip=bool(kind.more)
            )
            kind.fill(matrix, file, folder)
            yield matrix
    if "coverage" in folder.programs:
        yield from _ratings(folder)


def _put(row: bytearray, at: int, code: int) -> None:
    row.extend([_ABSENT] * (at + 1 - len(row)))
    row[at] = code


def _nuggets(matrix: Matrix, path: Path, folder: Folder) -> None:
    for row in read_assignments(path, Problems()):
        matrix.words.setdefault(row.topic_id, row.query)
        for one in row.nuggets:
            importance = one.nugget.importance.value if one.nugget.importance else ""
            about = (one.nugget.text, importance, one.nugget.sub_narrative)
            matrix.item(row.topic_id, one.nugget.id, *about)
            matrix.put(row.topic_id, row.run_id, one.nugget.id, one.label)


def _support(matrix: Matrix, path: Path, folder: Folder) -> None:
    """The first citation of each sentence, by which all measures but the `_all` ones go."""
    for row in read_support(path, Problems()):
        for sentence in row.sentences:
            label = sentence.citations[0].label if sentence.citations else "uncited"
            matrix.put_sentence(row.topic_id, row.run_id, sentence.id, label)


def _key_points(matrix: Matrix, path: Path, folder: Folder) -> None:
    if (sets := folder.file("keypoints.jsonl")) is not None:
        for topic, point_set in read_key_point_sets(sets, Problems()).items():
            matrix.words[topic] = point_set.query
            for point in point_set.key_points:
                matrix.item(topic, point.id, point.text)
    for row in read_entailments(path, Problems()):
        matrix.put(row.topic_id, row.run_id, row.key_point_id, row.label)


def _questions(matrix: Matrix, path: Path, folder: Folder) -> None:
    for row in read_answered(path, Problems()):
        matrix.item(row.topic_id, row.question_id, row.question, row.importance or "")
        matrix.put(row.topic_id, row.run_id, row.question_id, row.label)


def _rubrics(matrix: Matrix, path: Path, folder: Folder) -> None:
    """Criteria with a weight above 0: of the others it is well not to meet them."""
    if (rubrics := folder.file("rubrics.jsonl")) is not None:
        for topic, rubric in read_rubrics(rubrics, Problems()).items():
            matrix.words[topic] = rubric.query
            for one in rubric.criteria:
                if one.weight > 0:
                    matrix.item(topic, one.id, one.text)
    for row in read_verdicts(path, Problems()):
        if row.weight > 0:
            matrix.put(row.topic_id, row.run_id, row.criterion_id, row.label)


class _Kind(NamedTuple):
    """What a program labels: its file, labels from worst to best, hits, and what reads them."""

    file: str
    labels: tuple[str, ...]
    hits: tuple[str, ...]
    fill: Callable[[Matrix, Path, Folder], None]
    more: tuple[str, ...] = ()


_KINDS = {
    "nuggets": _Kind("assignments.jsonl", NUGGET_KIND.labels, ("support",), _nuggets),
    "support": _Kind("support.jsonl", SUPPORT_KIND.labels, ("full",), _support, ("uncited", "gap")),
    "keypoints": _Kind("entailments.jsonl", KEY_POINT_KIND.labels, ("yes",), _key_points),
    "argue": _Kind("answered.jsonl", STANDING_LABELS, ("supported",), _questions),
    "rubric": _Kind("verdicts.jsonl", CRITERION_KIND.labels, ("met",), _rubrics),
}


def _ratings(folder: Folder) -> Iterator[Matrix]:
    """Ratings of runs' reports, and the best among the passages that they retrieved."""
    if folder.file("pools.jsonl") is None:
        return
    data, settings = read_coverage(folder)
    scale = tuple(map(str, range(HIGHEST_RATING + 1)))
    hits = scale[settings.eta :]
    reports, passages = (Matrix(kind, scale, hits) for kind in ("reports", "passages"))
    for topic, questions in data.questions.items():
        ratings = data.ratings.get(topic, {})
        for one in (reports, passages):
            for question in questions.questions:
                one.item(topic, question.id, question.text)
        for run, of_run in data.reports.items():
            if (name := of_run.get(topic)) is not None:
                _rate(reports, topic, run, [ratings.get(name)], questions)
        for run, rankings in data.rankings.items():
            if (names := rankings.get(topic)) is not None:
                _rate(passages, topic, run, [ratings.get(name) for name in names], questions)
    yield from (reports, passages)


def _rate(matrix: Matrix, topic: str, run: str, rated: list[Any], questions: Any) -> None:
    """The best rating of each question; not judged where one is missing and none is the best."""
    for question in questions.questions:
        ratings = [-1 if one is None else one[question.column] for one in rated]
        best = max(ratings, default=0)
        is_open = min(ratings, default=0) < 0 and best < HIGHEST_RATING
        matrix.put(topic, run, question.id, None if is_open else str(best))
