"""Read battles from any file: ours, or RAGDoll's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from ....records.kinds import Cell, Kind, Labelled
from ....records.reading.fields import Line, Where, read_lines
from ....records.reading.problems import Problems
from .battles import (
    BATTLE_GAINS,
    BATTLE_KEY,
    BATTLE_SCALE,
    Battle,
    battle_label,
    battles_in,
    in_order,
)
from .ragdoll import ragdoll_battles


def read_battles(path: Path, problems: Problems, where: Where | None = None) -> Iterator[Battle]:
    """Yield the battles of our battles.jsonl or of RAGDoll's judgments.jsonl.

    The first line shows which of the two it is.

    Args:
        where: read only rows whose top-level fields have one of these values.

    Errors reported: see `battles_in` and `ragdoll_battles`.
    """
    return (battle for _, battle in battles_with_lines(read_lines(path, problems, where)))


def battles_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, Battle]]:
    """Yield the battles in these lines as `read_battles` does, each with its line."""
    rest = iter(lines)
    if (first := next(rest, None)) is None:
        return
    read = ragdoll_battles if "judge_verdict" in first.row else battles_in
    yield from read(chain([first], rest))


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, one in battles_with_lines(lines):
        yield line, (one.topic_id, one.run_id, one.opponent_id), one.label, {}


def _order_sides(cell: Cell, label: str | None) -> tuple[Cell, str | None]:
    """The item with its runs in sorted order, and the label from the view of the first run."""
    run_id, opponent_id, label = in_order(cell[1], cell[2], label)
    return (cell[0], run_id, opponent_id), label


BATTLE_KIND = Kind(
    name="battles",
    key=BATTLE_KEY,
    runs=("run_id", "opponent_id"),
    scale=BATTLE_SCALE,
    gains=BATTLE_GAINS,
    rows="battles",
    read=_read_labelled,
    files={
        "battles": lambda row: "judge_verdict" in row or row.keys() >= {"opponent_id", "is_forfeit"}
    },
    spell=lambda written, scale: (
        battle_label(written, scale) if isinstance(written, str) else written,
        True,
    ),
    turn=_order_sides,
)
