"""One run under two names: with and without its team's prefix."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .cells import Cell, LabelFile


def run_aliases(truth: Collection[str], judged: Collection[str]) -> dict[str, str]:
    """Judged run -> true run, where one is the other behind a team prefix and no other fits."""
    aliases: dict[str, str] = {}
    missing = sorted(set(truth) - set(judged))
    for name in sorted(set(judged) - set(truth)):
        fits = [t for t in missing if name.endswith(f".{t}") or t.endswith(f".{name}")]
        if len(fits) == 1:
            aliases[name] = fits[0]
    taken = list(aliases.values())
    return {name: run for name, run in aliases.items() if taken.count(run) == 1}


def cell_run_aliases(
    truth: Iterable[Cell], judged: Iterable[Cell], key_names: Sequence[str]
) -> dict[str, str]:
    """As `run_aliases`, of the runs of cells with these ids; none where cells name no run."""
    positions = _run_positions(key_names)
    runs = [{cell[at] for cell in cells for at in positions} for cells in (truth, judged)]
    return run_aliases(*runs)


def renamed(cell: Cell, key_names: Sequence[str], names: Mapping[str, str]) -> Cell:
    """A cell with these ids, its runs under another name where `names` has one."""
    if not names:
        return cell
    positions = _run_positions(key_names)
    return tuple(names.get(id, id) if at in positions else id for at, id in enumerate(cell))


def with_run_names(file: LabelFile, names: Mapping[str, str]) -> LabelFile:
    """The file with its runs under other names, see `renamed`."""
    by_cell = ("cells", "annotations", "scores", "probabilities", "lines", "rationales", "votes")
    moved: dict[str, Any] = {
        name: {renamed(cell, file.key_names, names): of for cell, of in getattr(file, name).items()}
        for name in by_cell
    }
    return replace(file, **moved) if names else file


def _run_positions(key_names: Sequence[str]) -> list[int]:
    """Where the names of runs stand among the ids of a cell."""
    return [at for at, name in enumerate(key_names) if name in ("run_id", "opponent_id")]
