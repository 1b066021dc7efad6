"""Compute scores and counts of labels from stored judgements, without a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ...records.kinds import Cell, file_kind, kind_of_rows
from ...records.reading.fields import Choice, Where, read_lines
from ...records.reading.problems import InputError, Problems
from ...records.rows import ScoreRow
from ...records.topics import read_topics
from ..protocols.program import Folder, Program
from ..protocols.scoreboard import Scoreboard
from ..protocols.table import choose, programs


def score_path(
    path: Path, problems: Problems, *, topics: Path | None = None, where: Where | None = None
) -> list[ScoreRow]:
    """Compute the score rows of a file of judgements or a results folder.

    Args:
        path: nugget assignments (nuggetizer's layout), support labels (RAGDoll's layout or ours),
            or a folder that `judge run` wrote. If a judge gave probabilities of its labels, each
            measure also appears as `MEASURE_expected`, computed from probabilities.
        topics: file of the topics that every run must answer; default: for a folder the topics of
            its run, for a file the topics that any run answers.
        where: for a file: read only rows whose top-level fields have one of these values; the
            topics are then those that any run answers in these rows.

    Raises: InputError if the file is broken or has no judgements, for `where` with a folder, and
        for a field or value that no row has.
    """
    check_where(path, where)
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    folder = Folder(path, problems, topics=wanted, where=where)
    board = Scoreboard(folder.topics)
    board.ensure_runs(folder.data.get("run_ids", ()))
    board.mark_failed(folder.failed)
    for program in find_tasks(folder):
        program.score(folder, board)
    problems.raise_errors()
    rows = list(board.rows())
    if where and not rows:
        raise InputError(f"{path}: no row matches all of --where")
    return rows


def check_where(path: Path, where: Where | None) -> None:
    """Raise InputError for `where` with a results folder, whose topics are fixed."""
    if where and path.is_dir():
        what = "--where selects rows of a file, not of a results folder"
        files = ", ".join(one.judged for one in programs() if one.is_scored_alone)
        raise InputError(f"{path}: {what}; name the file in it ({files})")


def find_tasks(folder: Folder) -> list[Program]:
    """Return the tasks with judgements in a folder. Raises: InputError if there are none."""
    if not folder.path.is_dir():
        kind = file_kind(folder.path)
        present = [one for one in programs() if one.is_scored_alone and one.file_kind == kind]
        if not present:
            what = f"contains {kind}, wanted nugget assignments or support labels"
            raise InputError(f"{folder.path}: {what}")
        return present
    present = [one for one in choose(folder.programs) if folder.file(one.judged) is not None]
    if not present:
        raise InputError(f"{folder.path}: has no file of a run")
    return present


NO_VALUE = "-"  # value of rows without the field


@dataclass
class LabelCounts:
    """Counts of labels of rows with one value in a field; `value` None: all rows.

    Attributes:
        of: the labelled items: nuggets, citations, or the first citation of each sentence.
        labels: label -> count, best label first; `n` is their sum.
        n_unjudged: number of items without a label.
        topics, runs: ids of the answers with a label.
    """

    of: str
    value: str | None
    labels: dict[str, int]
    n_unjudged: int = 0
    topics: set[str] = field(default_factory=set, repr=False)
    runs: set[str] = field(default_factory=set, repr=False)

    @property
    def n(self) -> int:
        """Labels."""
        return sum(self.labels.values())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for JSON, with counts of topics and runs."""
        fields = asdict(self)
        counted = {f"n_{name}": len(fields.pop(name)) for name in ("topics", "runs")}
        return {**fields, "n": self.n, **counted}


def label_counts(
    path: Path, by: str, problems: Problems, where: Where | None = None
) -> list[LabelCounts]:
    """Count the labels of a file of judgements.

    Two citations of a sentence to one passage count twice, as in the file. The counts of first
    citations by condition are those of Table 2 of arXiv:2504.15205.

    Args:
        by: the field whose values group the labels.
        where: read only rows whose top-level fields have one of these values.

    Returns: for each kind of item, the values in file order, all rows last.
    Raises: InputError if the file is broken or of another kind, or no row has this field.
    """
    check_where(path, where)
    if path.is_dir():
        files = "assignments.jsonl or support.jsonl"
        raise InputError(f"{path}: --counts reads a file, not a folder; give {files} in it")
    kind = kind_of_rows(name := file_kind(path))
    if kind is None or kind.read is None:
        raise InputError(f"{path}: contains {name}, wanted judgements, as in a results folder")
    counts: dict[str, dict[str | None, LabelCounts]] = {}
    fields = Choice({by: ()})
    seen: set[Cell] = set()  # sentences
    for line, cell, label, _ in kind.read(read_lines(path, problems, where)):
        fields.takes(line.row)
        of = [kind.many or kind.name]
        if "sentence_id" in kind.key and cell[:-1] not in seen:
            seen.add(cell[:-1])
            of.insert(0, f"first {of[0]}")
        ids = dict(zip(kind.key, cell, strict=True))
        for what, value in product(of, (str(line.row.get(by, NO_VALUE)), None)):
            empty = LabelCounts(what, value, dict.fromkeys(reversed(kind.labels), 0))
            one = counts.setdefault(what, {}).setdefault(value, empty)
            if label is None:
                one.n_unjudged += 1
            else:
                one.labels[label] = one.labels.get(label, 0) + 1
                one.topics.add(ids["topic_id"])
                one.runs |= {run} if (run := ids.get("run_id")) is not None else set()
    problems.raise_errors()
    fields.check(path, problems)
    return [
        one
        for of_kind in counts.values()
        for one in sorted(of_kind.values(), key=lambda one: one.value is None)
    ]
