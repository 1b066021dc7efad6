"""What a probe of any kind ends with: its rows, outcomes and costs, and what was skipped."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ....backends.budget import Usage
from ....judges.verdicts import Verdict
from ....records.judgements import Unjudged
from ....records.labels.items import ItemRow
from ...engine.estimates import Estimate

UNJUDGED, LABELS, CASES = "unjudged.jsonl", "labels", "cases.jsonl"

Outcome = Verdict | Unjudged | None  # None: not asked about
Row = dict[str, Any]


@dataclass(frozen=True)
class Skipped:
    """A condition, a guard or a judge that cannot be probed here."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class ProbeResult(ABC):
    """The result of a probe of any kind, and what of it is written.

    Attributes:
        names: of all that is written into a folder, the file of its rows first.
        items: those that were judged. outcomes: of each of them, by condition.
        spent: what was asked of the model this time, by part of the work.
        limit_reached: the limit on spending that ended the asking, or "".
        costs: estimates of its parts in their order, of a probe that estimates them.
    """

    names: ClassVar[tuple[str, ...]]

    items: Sequence[ItemRow] = field(default=(), repr=False)
    outcomes: Mapping[str, Sequence[Outcome]] = field(default_factory=dict, repr=False)
    skipped: Sequence[Skipped] = ()
    spent: Mapping[str, Usage] = field(default_factory=dict)
    limit_reached: str = ""
    costs: Sequence[Estimate] = ()

    @property
    @abstractmethod
    def n_unjudged(self) -> int:
        """Labels that did not arrive."""

    @abstractmethod
    def lines(self) -> Iterable[Row]:
        """Its rows, for the file of them and for machines."""

    @abstractmethod
    def about(self) -> Row:
        """What the manifest has of it, besides what it took."""

    def cases(self) -> Iterable[Row]:
        """What was planted, for `CASES`."""
        return ()

    def missing(self) -> Iterable[Row]:
        """What was not judged, for `UNJUDGED`, besides `outcomes`."""
        return ()


def why_unjudged(outcome: Unjudged) -> Row:
    """The reason, what is wrong, and the raw reply."""
    return {"reason": outcome.reason, "detail": outcome.detail, "raw": outcome.raw}
