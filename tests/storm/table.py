"""What a storm found, as a table."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

COLUMNS = (
    "part", "cases", "judged", "by reason or file", "tracebacks", "hangs", "silent zeros", "other",
    "s", "seed",
)  # fmt: skip


@dataclass
class Row:
    """One part of a storm.

    Attributes:
        cases: faults met, ends, kills or inputs.
        judged: judgements, commands that went on to the end, or files that were read.
        unjudged: judgements by reason, ends by what was written, or files that were refused.
        tracebacks, hangs, silent: what was broken, as texts that say where; other: of any other
            promise.
    """

    part: str
    seed: int
    cases: int = 0
    judged: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    tracebacks: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    silent: list[str] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def broken(self) -> list[str]:
        """All that was broken."""
        kinds = {"traceback": self.tracebacks, "hang": self.hangs}
        kinds |= {"silent zero": self.silent, "other": self.other}
        return [f"{self.part}: {kind}: {what}" for kind, all_of in kinds.items() for what in all_of]

    def cells(self) -> tuple[str, ...]:
        """As COLUMNS."""
        why = ", ".join(f"{name} {n:,}" for name, n in sorted(self.unjudged.items())) or "-"
        counts = (len(of) for of in (self.tracebacks, self.hangs, self.silent, self.other))
        numbers = (f"{self.cases:,}", f"{self.judged:,}", why, *map(str, counts))
        return (self.part, *numbers, f"{self.seconds:.1f}", str(self.seed))

    def add(self, other: Row) -> None:
        """Count what another row of the same part found."""
        self.cases += other.cases
        self.judged += other.judged
        self.unjudged += other.unjudged
        for mine, more in zip(self._lists(), other._lists(), strict=True):
            mine += more
        self.seconds += other.seconds

    def _lists(self) -> tuple[list[str], ...]:
        return self.tracebacks, self.hangs, self.silent, self.other

    @contextmanager
    def timed(self) -> Iterator[Row]:
        """Adds the seconds that are spent in here."""
        began = time.monotonic()
        try:
            yield self
        finally:
            self.seconds += time.monotonic() - began


def text_of(rows: Sequence[Row]) -> str:
    """The rows and their sum as a Markdown table, and below it what was broken."""
    total = Row("all", rows[0].seed if rows else 0)
    for row in rows:
        total.add(row)
    total.unjudged = Counter({"in all": total.unjudged.total()} if total.unjudged else {})
    cells = [COLUMNS, *(row.cells() for row in (*rows, total))]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    head, *body = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in cells]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([head, rule, *body, "", *(f"BROKEN {what}" for what in total_broken(rows))])


def total_broken(rows: Sequence[Row]) -> list[str]:
    """All that was broken in any part."""
    return [what for row in rows for what in row.broken]
