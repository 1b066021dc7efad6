"""How every kind of probe asks, in a session or in a rehearsal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from ....backends.budget import Budget, Usage
from ....judges import ItemJudge
from ....records.reading.problems import InputError, Problems
from ...config.names import JudgeName
from ...config.sections import Config
from ...engine.estimates import Estimate
from ...engine.panel import Panel, check_prices
from ...engine.rehearsal import rehearse
from ...engine.session import Session, run_session
from .result import ProbeResult, Skipped

REPEATS = 3

Report = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What is probed: with how much, drawn and put in order by which seed.

    Attributes:
        limit: items, or cases of each fault, at most; None: as many as the kind of probe takes.
        repeats: seeded orders of items and of labels, and replicates; or calls that each payload
            is planted in.
        fields: names of the items' fields, where they are called otherwise.
        kinds: of conditions; None: all.
    """

    limit: int | None = None
    repeats: int = REPEATS
    seed: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None


Result = TypeVar("Result", bound=ProbeResult)


@dataclass
class Asking:
    """A session, and what was asked in each part of the work."""

    session: Session
    report: Report
    problems: Problems
    spent: dict[str, Usage] = field(default_factory=dict)

    @property
    def concurrency(self) -> int:
        """Calls at a time."""
        return self.session.config.run.concurrency

    def taken(self) -> dict[str, Any]:
        """What it took until now, for `ProbeResult`."""
        return {"spent": self.spent, "limit_reached": self.session.budget.reached}

    @contextmanager
    def part(self, name: str, what: str = "") -> Iterator[None]:
        """A part of the work, which is reported before it begins."""
        self.report(f"{name}: {what}" if what else name)
        self.session.panel.part = name
        before = replace(self.session.budget.usage)
        yield
        self.spent[name] = self.session.budget.usage.since(before)

    def item_judge(self, judge: str) -> ItemJudge:
        """A judge of items. Raises: InputError for one that asks others."""
        own = self.session.panel.item_judge(judge)
        if not own.predictor:
            raise InputError(f"{own.name}: asks several judges, wanted one; probe each by itself")
        return own


@dataclass(frozen=True)
class Probing(Generic[Result]):
    """A probe that is ready to ask.

    Attributes:
        judges: that are asked, by their sections of the config. work: all of it.
        problems: get what is wrong with the items.
        has_costs: whether its result has what its parts would cost.
    """

    config: Config
    judges: Sequence[JudgeName]
    work: Callable[[Asking], Awaitable[Result]]
    problems: Problems
    has_costs: bool = False

    def ask(self, report: Report = lambda line: None) -> Result:
        """Do it.

        Args:
            report: gets a line on each part before it is asked.

        Raises: InputError for a source without items, or a limit in dollars without a price;
            EndpointUnusable when the judge as it is cannot be asked.
        """
        if not self.has_costs:
            return self._done(self.config, report)
        check_prices(self.config, self.judges)
        costs, _ = replace(self, problems=Problems()).plan()
        return replace(self._done(self.config, report), costs=costs)

    def plan(self) -> tuple[list[Estimate], list[Skipped]]:
        """What it would ask, part by part, and what it would leave out; see `rehearse`."""
        skipped: list[Skipped] = []

        def rehearsed(alone: Config, panel: Panel) -> None:
            skipped.extend(self._done(alone, lambda line: None, panel).skipped)

        return rehearse(self.config.here(), rehearsed), skipped

    def _done(self, config: Config, report: Report, panel: Panel | None = None) -> Result:
        async def work(session: Session) -> Result:
            return await self.work(Asking(session, report, self.problems))

        budget = None if panel is None else Budget()
        job = (config.here(), self.judges, work)
        return run_session(*job, retry=False, quiet=True, budget=budget, panel=panel)
