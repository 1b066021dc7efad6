"""What verifying labels did: how many changed, and by labels of people for better or worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from ...metrics.inference import LEVEL, Draws, mean_by_topic
from ...records.kinds import FIRST, VERIFIER, Cell

Votes = Mapping[str, str | None]


def verified_figures(
    votes: Mapping[Cell, Votes],
    labels: Mapping[Cell, str],
    truth: Mapping[Cell, str],
    cells: Sequence[Cell],
    topics: Sequence[str] | None,
    draws: Draws,
) -> dict[str, Any] | None:
    """What became of labels that a verifier looked at again; None where it looked at none.

    Args:
        votes: of the judge, by cell; those of verified ones hold `first` and `verifier`.
        labels: that stand. truth: those of people. cells: which have both.
        topics: of each of these; None: not known, there is no interval.

    Returns: `n_verified` and `n_changed` of all that the judge labelled; of `cells`, the changes
        `wrong_to_right`, `right_to_wrong` and `wrong_to_wrong`; and `difference`, the share of
        `cells` that are right less the share that were, with an interval that leaves out topic by
        topic. `helped`: whether that is above 0, or below it (False); None: it may be 0.
    """
    first = {cell: of[FIRST] for cell, of in votes.items() if VERIFIER in of and FIRST in of}
    if not first:
        return None
    before = [first.get(cell, labels[cell]) == truth[cell] for cell in cells]
    after = [labels[cell] == truth[cell] for cell in cells]
    changed = [cell in first and first[cell] != labels[cell] for cell in cells]
    moves = [(old, new) for old, new, is_new in zip(before, after, changed, strict=True) if is_new]
    gain = np.array(after, np.float64) - np.array(before, np.float64)
    difference = mean_by_topic(gain, topics, level=draws.get("level", LEVEL))
    if topics is None:
        difference = replace(difference, n_topics=0)
    low, high = difference.low, difference.high
    has_sign = low is not None and high is not None and not low <= 0 <= high
    return {
        "n_verified": len(first),
        "n_changed": sum(label != labels.get(cell) for cell, label in first.items()),
        "wrong_to_right": moves.count((False, True)),
        "right_to_wrong": moves.count((True, False)),
        "wrong_to_wrong": moves.count((False, False)),
        "n": len(cells),
        "difference": asdict(difference),
        "helped": difference.value > 0 if has_sign and difference.value is not None else None,
    }
