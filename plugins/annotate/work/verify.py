"""Key points that people check: two questions about each, and the resulting sheet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ....records.key_points import read_key_point_sets
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems
from ....records.rows import KeyPoint, Topic
from ....records.topics import read_topics
from ...collections.verification import KEY_POINTS, SCALE, TASKS, UNVERIFIED
from ..store.events import Label

TOPICS = "topics.jsonl"
KEY_NAMES = ("topic_id", "key_point_id", "task")  # of the cells
INPUTS = ("question", "text", "spans")  # the texts that a person reads


@dataclass(frozen=True)
class Point:
    """A key point with its topic; columns as in `verification.csv`."""

    topic: Topic
    point: KeyPoint

    @property
    def cell(self) -> Cell:
        """The topic and the id."""
        return self.topic.id, self.point.id

    def row(self) -> dict[str, Any]:
        """The columns known before people answer."""
        return {
            "topic_id": self.topic.id,
            "key_point_id": self.point.id,
            "domain": self.topic.domain,
            "category": self.topic.category,
            "question": self.topic.question,
            "text": self.point.text,
            "spans": "\n".join(self.point.spans),
            "sources": " ".join(self.point.sources),
        }

    def texts(self) -> dict[str, str]:
        """The texts that a person reads, by name; without empty spans."""
        row = self.row()
        return {name: row[name] for name in INPUTS if row[name]}


def read_points(results: Path, problems: Problems) -> dict[Cell, Point]:
    """The key points of a build or run, before people checked them, by topic and id.

    Args:
        results: the folder of `judge build long2rag`, a results folder with key points, or a file.

    Raises: InputError if there are none.
    """
    path = points_file(results)
    if not path.is_file():
        raise InputError(f"{results}: has no {KEY_POINTS}, so there are no key points to verify")
    sets = read_key_point_sets(path, problems)
    topics: Mapping[str, Topic] = {}
    if (path.parent / TOPICS).is_file():
        topics = read_topics(path.parent / TOPICS, problems)
    problems.raise_errors()
    points: dict[Cell, Point] = {}
    for name, of in sets.items():
        topic = topics.get(name) or Topic(id=name, text=of.query)
        points.update({(name, one.id): Point(topic, one) for one in of.key_points})
    if not points:
        raise InputError(f"{path}: has no key points")
    return points


def points_file(results: Path) -> Path:
    """The file of the key points of a folder, before people checked them; or the file itself."""
    if not results.is_dir():
        return results
    paths = (results / name for name in (UNVERIFIED, KEY_POINTS))
    return next((each for each in paths if each.is_file()), results / KEY_POINTS)


def verify_cells(points: Iterable[Cell]) -> list[Cell]:
    """A cell for each question about each point; the two of a point are neighbours."""
    return [(*cell, task) for cell in points for task in TASKS]


def verification_rows(
    points: Mapping[Cell, Point], labels: Mapping[str, Iterable[Label]]
) -> Iterator[dict[str, Any]]:
    """Rows of `verification.csv`, one for each person and key point with an answer.

    Args:
        labels: the current labels of each person. Repeats and "cannot tell" are not answers.
    """
    for name, own_labels in labels.items():
        by_point: dict[Cell, dict[str, Label]] = {}
        for one in own_labels:
            if one.kind == "verify" and not one.repeat and one.label in SCALE:
                by_point.setdefault(one.cell[:2], {})[one.cell[2]] = one
        for cell, answers in by_point.items():
            if cell in points:
                remarks = [answers[task].rationale for task in TASKS if task in answers]
                yield {
                    **points[cell].row(),
                    **{task: answers[task].label if task in answers else None for task in TASKS},
                    "annotator": name,
                    "rationale": "\n".join(filter(None, remarks)) or None,
                }
