"""How hunts for nuggets ended: hunt.jsonl, a row a topic, and a summary of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from ...records.reading.fields import as_int, read_lines
from ...records.reading.problems import Problems
from ..protocols.nuggets.hunting import HUNT

SATURATED = "nothing_new"
_ENDED = {
    "rounds": "the last round still brought something",
    "calls": "the calls were used up",
    "most": "the list was full",
}


def hunt_lines(folder: Path) -> list[str]:
    """What a results folder says of its hunts: who was done, and new nuggets by round.

    [] where nothing was hunted for.
    """
    path, problems = folder / HUNT, Problems()
    if not path.is_file():
        return []
    ended: Counter[str] = Counter()
    new: list[Sequence[int]] = []
    for line in read_lines(path, problems):
        ended[str(line.row.get("stop"))] += 1
        new.append([as_int(n) or 0 for n in line.array("new") or ()])
    problems.raise_errors()
    if not ended:
        return []
    summary = f"{ended[SATURATED]:,} of {ended.total():,} topics saturated"
    others = (f"{n:,}: {_ENDED.get(why, why)}" for why, n in ended.items() if why != SATURATED)
    by_round = " + ".join(f"{sum(of_round):,}" for of_round in zip_longest(*new, fillvalue=0))
    summary = "; ".join([summary, *others])
    return [summary, f"New verified nuggets by round: {by_round or 'none'}"]
