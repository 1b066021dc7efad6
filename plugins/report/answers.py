"""Sections about answers: facts and runs, one answer, two answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ...programs.analysis.answers.answer_text import find_lexical_judges
from ...programs.protocols.coverage.files import read_coverage
from ...programs.protocols.judgements import ITEM, TopicFiles
from ...programs.protocols.program import Folder, Program
from ...programs.protocols.table import choose, point_units
from ...records.questions import HIGHEST_RATING
from ...records.reading.fields import stem
from ...records.reading.problems import Problems
from .packing import bits_for, pack
from .source import Source

_ABSENT = 255  # there is no answer


class Matrix:
    """The labels of one kind, topic by topic, as numbers.

    Attributes:
        labels: from worst to best. The code of a label is its index; the next code is for failed
            judgements, then come the codes of `more`, which are not labels.
        hits: the labels that count as stating a fact. is_strip: rows are runs and columns their
            sentences; otherwise rows are facts and columns runs.
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
        """Add a fact of a topic."""
        fields = (text, importance, sub_narrative) if sub_narrative else (text, importance)
        self._items.setdefault(topic, {}).setdefault(item, fields)

    def put(self, topic: str, run: str, item: str, label: str | None) -> None:
        """Add the label of a run's answer; None: the judgement failed."""
        row = self._cells.setdefault(topic, {}).setdefault(item, bytearray())
        _put(row, self._runs.setdefault(run, len(self._runs)), self._code(label))

    def put_sentence(self, topic: str, run: str, sentence: int, label: str | None) -> None:
        """Add the label of a sentence of a run's answer."""
        self._runs.setdefault(run, len(self._runs))
        row = self._cells.setdefault(topic, {}).setdefault(run, bytearray())
        _put(row, sentence, self._code(label))

    def _code(self, label: str | None) -> int:
        return self.codes["unjudged" if label is None else label]

    def as_json(self, name_of: Callable[[str], str], questions: Mapping[str, str]) -> Any:
        """The matrix as `matrix.js` draws it; None if it is empty.

        Args:
            name_of: gives the name of a run on the page. questions: by topic, if known.
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
        """Append the facts, each with a code for every run."""
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
        """Append the sentences of each run in turn; an absent run has none."""
        strips = [rows.get(run, b"") for run in self._runs]
        gap = self.codes["gap"]
        for row in strips:
            cells.extend(gap if code == _ABSENT else code for code in row)
        return {"lengths": [len(row) for row in strips]}


def matrices(path: Path, problems: Problems) -> Iterator[Matrix]:
    """The matrices of a results folder. Raises: InputError for a broken file."""
    folder = Folder(path, problems)
    files = TopicFiles(folder.file, Problems())
    for program in choose(folder.programs):
        if program.matrix and folder.file(program.judged) is not None:
            yield _matrix(program, program.labels(path), files)
    if "coverage" in folder.programs:
        yield from _ratings(folder)


def _matrix(program: Program, labels: tuple[str, ...], files: TopicFiles) -> Matrix:
    """The labels of reference items by answer, or of sentences (cited: of their first citation)."""
    is_strip = program.matrix == "sentences"
    more = ("uncited", "gap") if is_strip else ()
    matrix = Matrix(program.name, labels, labels[-1:], more=more, is_strip=is_strip)
    for topic in files.topics(program.judged):
        last, n_claims = None, Counter[str]()
        for one in program.judgements(files.of(topic)):
            if is_strip:
                place = one.sentence
                if place is None:  # a claim: in the order of the answer
                    place = n_claims[one.run_id]
                    n_claims[one.run_id] += 1
                if last != (last := (one.run_id, place)):
                    is_uncited = program.judges_citations and one.docid is None
                    label = "uncited" if is_uncited else one.label
                    matrix.put_sentence(topic, one.run_id, place, label)
            elif one.unit in (*point_units(), ITEM):
                matrix.words.setdefault(topic, one.question)
                about = (one.text, one.importance or "", one.sub_narrative)
                matrix.item(topic, one.item, *about)
                matrix.put(topic, one.run_id, one.item, one.label)
    return matrix


def _put(row: bytearray, at: int, code: int) -> None:
    row.extend([_ABSENT] * (at + 1 - len(row)))
    row[at] = code


def _ratings(folder: Folder) -> Iterator[Matrix]:
    """Ratings of the reports of runs, and the best ratings of the passages they retrieved."""
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
    """The best rating of each question; failed if a rating is missing and no other is highest."""
    for question in questions.questions:
        ratings = [-1 if one is None else one[question.column] for one in rated]
        best = max(ratings, default=0)
        is_open = min(ratings, default=0) < 0 and best < HIGHEST_RATING
        matrix.put(topic, run, question.id, None if is_open else str(best))


def make_matrix(source: Source) -> Mapping[str, Any] | None:
    """The matrices of all folders, and the order of runs by each measure."""
    drawable = []
    for path in source.paths:
        of_folder = list(matrices(path, source.problems))
        questions = {topic: text for one in of_folder for topic, text in one.words.items() if text}
        where = f"@{stem(path)}" if len(source.paths) > 1 else ""
        for one in of_folder:
            if (drawn := one.as_json(partial(source.name_run, path), questions)) is not None:
                drawable.append({"name": f"{one.kind}{where}", **drawn})
    if not drawable:
        return None
    return {"matrices": drawable, "order": _order(source)}


def _order(source: Source) -> dict[str, list[int]]:
    """By measure, the indices of `source.runs` by their mean; an unanswered topic scores 0."""
    index = {run: at for at, run in enumerate(source.runs)}
    orders = {}
    for measure, by_run in source.scores.values.items():
        topics = source.scores.topics[measure]
        means = {}
        for run, values in by_run.items():
            counted = [value for t in topics if (value := values.get(t, 0.0)) is not None]
            means[run] = math.fsum(counted) / len(counted) if counted else -math.inf
        orders[measure] = [index[run] for run in sorted(means, key=lambda run: (-means[run], run))]
    return orders


def make_answers(source: Source) -> Mapping[str, Any] | None:
    """How to read the labels; the texts are packed by topic (texts.py).

    `by_words`: tasks whose judges compare words only. `eta`: the lowest rating that answers a
    sub-question.
    """
    manifests = [result.manifest for result in source.results]
    if not any(manifest["data"].get("run_ids") for manifest in manifests):
        return None
    etas = [manifest["config"].get("coverage", {}).get("eta", 3) for manifest in manifests]
    lexical = {program for manifest in manifests for program in find_lexical_judges(manifest)}
    return {"by_words": sorted(lexical), "eta": min(etas)}


def make_sides(source: Source) -> Mapping[str, Any] | None:
    """The data of `make_answers`; None if there is only one run."""
    return make_answers(source) if len(source.runs) > 1 else None
