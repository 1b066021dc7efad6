"""Scores and counts of labels from stored judgements, without a model."""

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
    """Score rows of a file of judgements or of a results folder.

    Args:
        path: nugget assignments (nuggetizer's layout), support labels (RAGDoll's layout or ours),
            or a folder that `judge run` wrote. Where a judge gave probabilities of its labels,
            each measure is there a second time as `MEASURE_expected`, taken from those.
        topics: file of the topics that every run must answer; else, for a folder the topics of
            its run, for a file those that any run in it answers.
        where: of a file, only rows whose top-level fields have one of these values; the topics are
            then those that any run answers in such a row.

    Raises: InputError if the file is broken or holds no judgements, for `where` with a folder, and
        for a field or value of it that no row has.
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
        raise InputError(f"{path}: no row has all that --where asks for")
    return rows


def check_where(path: Path, where: Where | None) -> None:
    """Raise InputError where rows of a results folder are to be chosen: its topics are fixed."""
    if where and path.is_dir():
        what = "--where chooses rows of a file, and not of a results folder"
        files = ", ".join(one.judged for one in programs() if one.is_scored_alone)
        raise InputError(f"{path}: {what}; name the file in it ({files})")


def find_tasks(folder: Folder) -> list[Program]:
    """The programs whose judgements are there. Raises: InputError if there are none."""
    if not folder.path.is_dir():
        kind = file_kind(folder.path)
        present = [one for one in programs() if one.is_scored_alone and one.file_kind == kind]
        if not present:
            what = f"holds {kind}, wanted nugget assignments or support labels"
            raise InputError(f"{folder.path}: {what}")
        return present
    present = [one for one in choose(folder.programs) if folder.file(one.judged) is not None]
    if not present:
        raise InputError(f"{folder.path}: has none of the files that a run leaves")
    return present


NO_VALUE = "-"  # of a row that lacks the field


@dataclass
class LabelCounts:
    """Labels of the rows that have one value in a field; `value` None: of all rows.

    Attributes:
        of: what is labelled: nuggets, citations, or the first citation of each sentence.
        labels: label, the best first -> how often it was given; `n` is their sum.
        n_unjudged: how many have none.
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
        """The fields, ready for JSON, with topics and runs counted."""
        fields = asdict(self)
        counted = {f"n_{name}": len(fields.pop(name)) for name in ("topics", "runs")}
        return {**fields, "n": self.n, **counted}


def label_counts(
    path: Path, by: str, problems: Problems, where: Where | None = None
) -> list[LabelCounts]:
    """Count the labels of a file of judgements.

    Two citations of a sentence to one passage are two here, as in the file. The counts of first
    citations by condition are those of Table 2 of arXiv:2504.15205.

    Args:
        by: the field of the rows by whose values labels are counted.
        where: only rows whose top-level fields have one of these values.

    Returns: what is labelled after each other, and of each the values in the order of the file, all
        rows last.
    Raises: InputError if the file is broken or of another kind, or no row has this field.
    """
    check_where(path, where)
    if path.is_dir():
        files = "assignments.jsonl or support.jsonl"
        raise InputError(f"{path}: a results folder, wanted a file of judgements, as its {files}")
    kind = kind_of_rows(name := file_kind(path))
    if kind is None or kind.read is None:
        raise InputError(f"{path}: holds {name}, wanted judgements, as a results folder has them")
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
