"""Battles of any file that holds some: ours, or RAGDoll's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ..instruments.battles import Battle, battles_in
from ..reading.choosing import Where
from ..reading.fields import Line, read_lines
from ..reading.problems import Problems
from .ragdoll_battles import ragdoll_battles


def read_battles(path: Path, problems: Problems, where: Where | None = None) -> Iterator[Battle]:
    """The battles of our battles.jsonl or RAGDoll's judgments.jsonl, recognised by the first line.

    Args:
        where: read only rows whose top-level fields have one of these values.

    Errors reported: see `battles_in` and `ragdoll_battles`.
    """
    return (battle for _, battle in battles_with_lines(read_lines(path, problems, where)))


def battles_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Battle]]:
    """The same of these lines, each with its line."""
    rest = iter(lines)
    if (first := next(rest, None)) is None:
        return
    read = ragdoll_battles if "judge_verdict" in first.row else battles_in
    yield from read(chain([first], rest))
