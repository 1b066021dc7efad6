"""The rows of a self-test: how often a judge moved where it must, and where it must not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .....metrics.bootstrap import SIGNED, Interval, jackknife_interval, ratio, resampling
from .cases import FAULTS, Form, Must
from .forms import unplanted

ALL = "all"  # the row of all faults together
Labels = Sequence[str | None]  # None: not judged


@dataclass(frozen=True)
class Cell:
    """An item of a case: what its label had to do, and what it was and became."""

    fault: str
    topic: str
    must: Must
    before: str | None
    after: str | None


def fault_rows(
    form: Form,
    planted: Mapping[str, int],
    cells: Sequence[Cell],
    lexical: Sequence[Cell] | None,
    scale: Sequence[str],
    gains: Mapping[str, float],
    *,
    seed: int,
) -> list[dict[str, Any]]:
    """One row for each fault, in their order, and one of all together.

    Args:
        planted: how many cases there are of each fault.
        cells: of all cases; lexical: the same as the lexical judge has them; None: it has none.
        scale: the labels, worst to best; only what had the best can be seen to fall.
        gains: what each label is worth; a label fell if it is worth less. {}: none can.
        seed: of the intervals.

    `detection`: share of the labels that had to fall and did; `false_alarms`: of those that had
    to stay and did not. What was not judged is in neither. A row of a fault that was not planted
    says in `blind` or `not_planted` why.
    """

    def of(name: str, n: int) -> dict[str, Any]:
        def measured(every: Sequence[Cell]) -> dict[str, Any]:
            chosen = [cell for cell in every if name in (ALL, cell.fault)]
            return rates(chosen, scale, gains, seed)

        others = {} if lexical is None else {"lexical": measured(lexical)}
        return {"planted": n, **measured(cells), **others}

    rows = []
    for name, fault in FAULTS.items():
        row: dict[str, Any] = {"fault": name, "test": fault.test, "what": fault.what}
        row |= of(name, planted.get(name, 0))
        if name in form.blind:
            row["blind"] = form.blind[name]
        elif not row["planted"]:
            row["not_planted"] = unplanted(form).get(name, "nowhere certain in these texts")
        rows.append(row)
    row = {"fault": ALL, "test": None, "what": "all together"}
    return [*rows, row | of(ALL, sum(planted.values()))]


def rates(
    cells: Sequence[Cell], scale: Sequence[str], gains: Mapping[str, float], seed: int
) -> dict[str, Any]:
    """Detection, false alarms and their difference, each with its interval by topic.

    The difference is Youden's J ("informedness"): 1 for a judge that sees every fault and nothing
    else, 0 for one whose labels do not depend on what they are about. The rates have bootstrap
    intervals, J one by leaving out a topic at a time, which is wide enough where topics are few.
    """
    moves = [moved_as_it_must(cell, scale, gains) for cell in cells]
    topics = [cell.topic for cell in cells]
    sample = resampling(topics if all(topics) else None, seed=seed)
    columns: list[NDArray[np.float64]] = []
    figures: dict[str, Any] = {}
    for name, must in (("detection", "down"), ("false_alarms", "same")):
        of_kind = [cell for cell in cells if cell.must == must]
        n_unjudged = sum(None in (cell.before, cell.after) for cell in of_kind)
        is_hit = must == "down"
        counts = np.array(
            [
                cell.must == must and move is not None
                for cell, move in zip(cells, moves, strict=True)
            ],
            float,
        )
        hits = counts * np.array([move is is_hit for move in moves])
        n = int(counts.sum())
        figures[name] = {
            "n": n,
            "n_unjudged": n_unjudged,
            "n_not_best": len(of_kind) - n - n_unjudged,
            **asdict(sample.mean(hits, counts)),
        }
        columns += [hits, counts]
    sums = np.stack(columns, axis=1)
    by_topic = np.zeros((sample.n_topics, 4))
    np.add.at(by_topic, sample.topic_of, sums[: len(sample.topic_of)])
    figures["informedness"] = asdict(_difference(sums.sum(axis=0), by_topic))
    return figures


def moved_as_it_must(cell: Cell, scale: Sequence[str], gains: Mapping[str, float]) -> bool | None:
    """Whether it did what it had to; None: not judged, or no best label to fall from."""
    if cell.before is None or cell.after is None:
        return None
    if cell.must == "same":
        return cell.after == cell.before
    if cell.before != scale[-1] or not gains:
        return None
    return gains[cell.after] < gains[cell.before]


def _difference(total: NDArray[np.float64], by_topic: NDArray[np.float64]) -> Interval:
    """Whether it is 0 is what one wants to know, so by the interval that holds its level."""

    def of(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return ratio(sums[..., 0], sums[..., 1]) - ratio(sums[..., 2], sums[..., 3])

    value = float(of(total)) if total[1] and total[3] else None
    return jackknife_interval(value, of(total - by_topic), SIGNED)
