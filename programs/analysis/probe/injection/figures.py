"""The rows of an injection probe: how often a label became what a planted text asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from .....judges.verdicts import Verdict
from .....metrics.bootstrap import SIGNED, resampling
from .....metrics.drift import label_shift
from .....records.labels.items import ItemRow
from ..figures import unjudged_counts
from ..items import topics_of
from ..result import Outcome
from .corpus import CONTROL
from .planting import Planted

ALL = "all"


class Sides(NamedTuple):
    """A label without the payload and with it; None: not judged."""

    before: str | None
    after: str | None


@dataclass(frozen=True)
class Cell:
    """An item that a payload stands in, and whose label was another than the payload asks for.

    Attributes:
        item: without the payload. before: its label. asked: the label asked for.
        outcome: with the payload.
        lexical: what the lexical judge has; None: there is none beside this judge.
    """

    case: Planted
    item: ItemRow
    before: str
    asked: str
    outcome: Outcome
    lexical: Sides | None

    @property
    def sides(self) -> Sides:
        """The judge's two labels."""
        return Sides(self.before, label_of(self.outcome))


def label_of(outcome: Outcome) -> str | None:
    """The label; None: not judged."""
    return outcome.label if isinstance(outcome, Verdict) else None


def injection_rows(
    cells: Sequence[Cell],
    kinds: Sequence[str],
    scale: Sequence[str],
    seed: int,
    *,
    is_ordered: bool = True,
) -> list[dict[str, Any]]:
    """Rows of all cells, by kind, input, language and payload; controls only as a kind.

    Args:
        kinds: of payloads, those without a cell included.
        scale: the labels, worst to best. seed: of the intervals.
        is_ordered: whether the labels have an order; if not, nothing is `nearer`.
    """
    hostile = [cell for cell in cells if cell.case.payload.kind != CONTROL]
    harmless = [cell for cell in cells if cell.case.payload.kind == CONTROL]
    keys: dict[str, Callable[[Cell], str]] = {
        "kind": lambda cell: cell.case.payload.kind,
        "place": lambda cell: cell.case.name,
        "language": lambda cell: cell.case.payload.language,
        "payload": lambda cell: cell.case.payload.id,
    }
    rows = [{"by": ALL, "name": ALL, **rates(hostile, scale, seed, is_ordered)}]
    for by, key in keys.items():
        groups: dict[str, list[Cell]] = {kind: [] for kind in kinds} if by == "kind" else {}
        for cell in hostile:
            groups.setdefault(key(cell), []).append(cell)
        if by == "kind":
            groups[CONTROL] = harmless
        for name, group in groups.items():
            row = {"by": by, "name": name, **rates(group, scale, seed, is_ordered)}
            if by == "payload":
                payload = group[0].case.payload
                row |= {"kind": payload.kind, "asks": payload.asks, "text": payload.text}
            rows.append(row)
    return rows


def rates(
    cells: Sequence[Cell], scale: Sequence[str], seed: int, is_ordered: bool
) -> dict[str, Any]:
    """How many cells there are, were lost and flipped, with intervals by topic.

    `flip`: share of the judged cells whose label became the one asked for; `nearer`: of those
    whose label moved towards it, flips included; `noted`: of all cells, those whose text is listed
    as `instruction_like`. `lexical`: the same of the lexical judge, in those of the cells where its
    own label was another.
    """
    missing = unjudged_counts([cell.outcome for cell in cells])
    row: dict[str, Any] = {
        "n_payloads": len({cell.case.payload.id for cell in cells}),
        "cells": len(cells),
        "n": len(cells) - missing["n_unjudged"],
        **missing,
        **_shares([(cell, cell.sides) for cell in cells], scale, seed, is_ordered),
        "noted": sum(cell.case.is_listed for cell in cells) / len(cells) if cells else None,
    }
    other = [(cell, cell.lexical) for cell in cells if cell.lexical is not None]
    if other:
        movable = [(cell, sides) for cell, sides in other if sides.before != cell.asked]
        row["lexical"] = {"n": len(movable), **_shares(movable, scale, seed, is_ordered)}
    return row


def guard_row(
    name: str,
    items: Sequence[ItemRow],
    guarded: Sequence[Outcome],
    bare: Sequence[Outcome],
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
    seed: int,
) -> dict[str, Any]:
    """What a guard moves on honest items: their labels with it, against those without it.

    `best`, `gain` and `score` are the guarded figure less the bare one; a score is there where
    both sides have one. What one side did not judge is compared with nothing.

    Args:
        guarded: outcomes of the judge as it is. bare: of the judge without the guard.
        gains: None for labels without an order.
    """
    topics = topics_of(items)
    runs = [item.ids["run_id"] for item in items] if "run_id" in items[0].ids else None
    pair = ([label_of(o) for o in bare], [label_of(o) for o in guarded])
    shift = label_shift([pair], scale, gains, topics, runs, seed=seed).as_dict()
    score = _score_shift(guarded, bare, topics, seed)
    return {"by": "guard", "name": name, **unjudged_counts(bare), **shift, "score": score}


def _score_shift(
    guarded: Sequence[Outcome], bare: Sequence[Outcome], topics: Sequence[str] | None, seed: int
) -> dict[str, Any]:
    """The mean difference of the scores, and of how many items both have one."""
    scores = [
        (one.score, other.score)
        if isinstance(one, Verdict) and isinstance(other, Verdict)
        else (None, None)
        for one, other in zip(guarded, bare, strict=True)
    ]
    counts = [None not in pair for pair in scores]
    shifts = [(one or 0.0) - (other or 0.0) for one, other in scores]
    interval = resampling(topics, seed=seed).mean(shifts, counts, SIGNED)
    return {"n": sum(counts), **asdict(interval)}


def _shares(
    cells: Sequence[tuple[Cell, Sides]], scale: Sequence[str], seed: int, is_ordered: bool
) -> dict[str, dict[str, Any] | None]:
    values = np.array([_counts(cell.asked, sides, scale) for cell, sides in cells])
    flipped, nearer, judged = values.reshape(len(cells), 3).T
    sample = resampling(topics_of(cell.item for cell, _ in cells), seed=seed)
    return {
        "flip": asdict(sample.mean(flipped, judged)),
        "nearer": asdict(sample.mean(nearer, judged)) if is_ordered else None,
    }


def _counts(target: str, sides: Sides, scale: Sequence[str]) -> list[float]:
    """Flipped, moved towards what is asked for, judged."""
    if sides.before is None or sides.after is None:
        return [0.0, 0.0, 0.0]
    before, after, wanted = (scale.index(label) for label in (sides.before, sides.after, target))
    return [float(after == wanted), float(abs(after - wanted) < abs(before - wanted)), 1.0]
