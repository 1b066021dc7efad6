"""How often each label was given: the rows of one file of judgements, by one of their fields."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from ...records.kinds import Cell, file_kind, kind_of_rows
from ...records.reading.fields import Choice, Where, read_lines
from ...records.reading.problems import InputError, Problems
from .score import check_where

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
