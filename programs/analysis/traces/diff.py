"""Where two runs' agents first did something else, item by item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from ....records.traces import ItemTrace, Step
from .reading import Wanted, traces_of

# Other prompts, models and passages alone make other keys, sizes and fingerprints.
_NOT_COMPARED = ("replies", "tokens", "index")


@dataclass(frozen=True)
class Difference:
    """The first step of an item that is another one; None: there is none there.

    Attributes:
        fields: those in which the two differ.
        outcomes: of the item, in both; None: it is in one of them alone.
    """

    stage: str
    item: str
    path: str
    fields: tuple[str, ...]
    steps: tuple[Step | None, Step | None]
    outcomes: tuple[str | None, str | None]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return vars(self)


def differences(one: Path, other: Path, wanted: Wanted) -> Iterator[Difference | None]:
    """For each item of either of two results folders its first difference; None: there is none.

    Items are in the first one's order; those of the other one alone come last.

    Args:
        wanted: which; outcome and reason are looked at in the first alone.

    Raises: InputError for a folder without a trace, or a broken one, and where neither has such an
        item.
    """
    there = wanted.any_outcome
    others = {(x.stage, x.name): x for x in traces_of(other) if there.takes(x)}
    if not others:  # then it is in the first, or nowhere
        yield from (_first(trace, None) for trace in traces_of(one, wanted))
        return
    for trace in filter(wanted.takes, traces_of(one)):
        yield _first(trace, others.pop((trace.stage, trace.name), None))
    for trace in others.values() if wanted == there else ():
        yield _first(None, trace)


def _first(one: ItemTrace | None, other: ItemTrace | None) -> Difference | None:
    there = one or other
    assert there is not None
    outcomes = (one and one.outcome, other and other.outcome)
    steps = ((one.steps if one else ()), (other.steps if other else ()))
    for pair in zip_longest(*steps):
        left, right = ((step or {}) for step in pair)
        fields = tuple(
            name
            for name in dict.fromkeys((*left, *right))
            if name not in _NOT_COMPARED and left.get(name) != right.get(name)
        )
        if fields:
            path = (pair[0] or pair[1])["path"]
            return Difference(there.stage, there.name, path, fields, pair, outcomes)
    return None
