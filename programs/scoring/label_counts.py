"""How often each label was given: the rows of one file of judgements, by one of their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ...records.labels.kinds import file_kind
from ...records.nuggets import NUGGET_KIND, assignments_with_lines
from ...records.reading.fields import Choice, Line, Where, read_lines
from ...records.reading.problems import InputError, Problems
from ...records.support import SUPPORT_KIND, support_with_lines
from .score import check_where

FIRST, EVERY, NUGGETS = "first citations", "citations", "nuggets"
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


class _Judged(NamedTuple):
    line: Line
    of: str
    topic_id: str
    run_id: str
    label: str | None


def label_counts(
    path: Path, by: str, problems: Problems, where: Where | None = None
) -> list[LabelCounts]:
    """Count the labels of nugget or support assignments.

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
    if (kind := file_kind(path)) not in _READERS:
        raise InputError(f"{path}: holds {kind}, wanted nugget assignments or support labels")
    read, scale = _READERS[kind]
    counts: dict[str, dict[str | None, LabelCounts]] = {}
    fields = Choice({by: ()})
    for judged in read(read_lines(path, problems, where)):
        fields.takes(judged.line.row)
        of_kind = counts.setdefault(judged.of, {})
        for value in (str(judged.line.row.get(by, NO_VALUE)), None):
            empty = LabelCounts(judged.of, value, dict.fromkeys(reversed(scale), 0))
            one = of_kind.setdefault(value, empty)
            if judged.label is None:
                one.n_unjudged += 1
            else:
                one.labels[judged.label] += 1
                one.topics.add(judged.topic_id)
                one.runs.add(judged.run_id)
    problems.raise_errors()
    fields.check(path, problems)
    return [
        one
        for of_kind in counts.values()
        for one in sorted(of_kind.values(), key=lambda one: one.value is None)
    ]


def _support(lines: Iterable[Line]) -> Iterator[_Judged]:
    for line, answer in support_with_lines(lines):
        for sentence in answer.sentences:
            for index, citation in enumerate(sentence.citations):
                at = (answer.topic_id, answer.run_id, citation.label)
                if index == 0:
                    yield _Judged(line, FIRST, *at)
                yield _Judged(line, EVERY, *at)


def _nuggets(lines: Iterable[Line]) -> Iterator[_Judged]:
    for line, answer in assignments_with_lines(lines):
        for nugget in answer.nuggets:
            yield _Judged(line, NUGGETS, answer.topic_id, answer.run_id, nugget.label)


_Reader = Callable[[Iterable[Line]], Iterator[_Judged]]
_READERS: dict[str, tuple[_Reader, tuple[str, ...]]] = {
    "assignments": (_nuggets, NUGGET_KIND.labels),
    "support": (_support, SUPPORT_KIND.labels),
}
