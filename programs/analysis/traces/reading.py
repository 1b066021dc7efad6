"""The traces of a results folder: all, or those that are asked for; and what their steps cost."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ....backends.budget import cost_of, price_of
from ....backends.config import Price
from ....judges.table import judge_names
from ....records.reading.problems import InputError, Problems
from ....records.traces import TRACE, ItemTrace, Step, read_traces
from ...config.sections import Config
from ...engine.manifest import config_of


class Wanted(NamedTuple):
    """Which items; None: any.

    Attributes:
        item: ids as `ItemTrace.name` has them, or the first of them.
        outcome: the name of the end, such as not_found. reason: why there is no outcome.
    """

    item: str | None = None
    outcome: str | None = None
    reason: str | None = None
    stage: str | None = None

    def takes(self, trace: ItemTrace) -> bool:
        """Whether this item is one of them."""
        return (
            (self.item is None or f"{trace.name}/".startswith(f"{self.item.rstrip('/')}/"))
            and self.outcome in (None, trace.outcome)
            and self.reason in (None, trace.reason)
            and self.stage in (None, trace.stage)
        )

    @property
    def any_outcome(self) -> Wanted:
        """The same items, however they ended."""
        return Wanted(self.item, stage=self.stage)

    def check_known(self, where: object) -> None:
        """Raises: InputError if an item or a stage was named; for where none such is."""
        of = f" of stage {self.stage!r}" if self.stage is not None else ""
        if self.item is not None:
            wanted = "wanted its ids joined by /, or the first of them, each whole"
            raise InputError(f"{where}: no item {self.item!r}{of}; {wanted}")
        if self.stage is not None:
            raise InputError(f"{where}: no item{of}")


def traces_of(folder: Path, wanted: Wanted = Wanted()) -> Iterator[ItemTrace]:  # noqa: B008
    """The traces of a results folder, lazily, in its order.

    Raises: InputError where it has none, or, at the end, for what is wrong in the file, and where
        it has no such item or stage at all.
    """
    path, problems = folder / TRACE, Problems()
    if not path.is_file():
        what = (
            "no agent was at work in it, or its run has not ended"
            if folder.is_dir()
            else "no results folder"
        )
        raise InputError(f"{folder}: has no {TRACE}, {what}")
    is_there = False
    for trace in read_traces(path, problems):
        is_there = is_there or wanted.any_outcome.takes(trace)
        if wanted.takes(trace):
            yield trace
    problems.raise_errors()
    if not is_there:
        wanted.check_known(path)


class Prices:
    """What the replies of a run's steps cost, by the prices of its config.

    Each reply counts as if it had come from its model and all of its prompt had been new; a trace
    does not know what came from a cache. Without a config that can be read no price is known.
    """

    def __init__(self, folder: Path) -> None:
        self._config: Config | None = None
        with suppress(InputError):  # results without their manifest, or of a package that is gone
            self._config = config_of(folder)
        self._price = cache(self._looked_up)

    def of(self, step: Step) -> float | None:
        """Dollars; None where the price of a model is not known."""
        if not step.get("tokens"):
            return 0.0
        price = self._price(step["name"])
        prompt, completion = step["tokens"]
        return None if price is None else cost_of(price, prompt, 0, completion)

    def _looked_up(self, judge: str) -> Price | None:
        """The price of what answers for a judge; members of a jury must share it."""
        if self._config is None or judge not in judge_names():
            return None
        prices = {price_of(model) for _, model in self._config.models_of(judge)}
        return prices.pop() if len(prices) == 1 else None
