"""How every kind of probe asks: in a session that notes what each part takes, or in a rehearsal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Generic, Protocol, TypeVar

from ....backends.budget import Budget, Usage
from ....judges import ItemJudge
from ....records.reading.problems import InputError
from ...config.names import JudgeName
from ...config.sections import Config
from ...engine.estimates import Estimate
from ...engine.panel import Panel
from ...engine.rehearsal import rehearse
from ...engine.session import Session, run_session
from .conditions import Skipped

Report = Callable[[str], None]


class Found(Protocol):
    """What a probe finds, whatever its kind."""

    @property
    def skipped(self) -> Sequence[Skipped]: ...


F = TypeVar("F", bound=Found)


@dataclass
class Asking:
    """A session, and what was asked in each part of the work."""

    session: Session
    report: Report
    spent: dict[str, Usage] = field(default_factory=dict)

    @property
    def concurrency(self) -> int:
        """Calls at a time."""
        return self.session.config.run.concurrency

    @property
    def limit_reached(self) -> str:
        """The limit on spending that ended the asking, or ""."""
        return self.session.budget.reached

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
        found = self.session.panel.item_judge(judge)
        if not found.predictor:
            raise InputError(f"{found.name}: asks several judges, wanted one; probe each by itself")
        return found


@dataclass(frozen=True)
class Probing(Generic[F]):
    """A probe that is ready to ask.

    Attributes:
        judges: that are asked, by their sections of the config. work: all of it.
    """

    config: Config
    judges: Sequence[JudgeName]
    work: Callable[[Asking], Awaitable[F]]

    def ask(self, report: Report = lambda line: None) -> F:
        """Do it.

        Args:
            report: gets a line on each part before it is asked.

        Raises: InputError for a source without items, or a limit in dollars without a price.
        """
        return self._done(self.config, report)

    def plan(self) -> tuple[list[Estimate], list[Skipped]]:
        """What it would ask, part by part, and what it would leave out; see `rehearse`."""
        skipped: list[Skipped] = []

        def rehearsed(alone: Config, panel: Panel) -> None:
            skipped.extend(self._done(alone, lambda line: None, panel).skipped)

        return rehearse(self.config.here(), rehearsed), skipped

    def _done(self, config: Config, report: Report, panel: Panel | None = None) -> F:
        async def work(session: Session) -> F:
            return await self.work(Asking(session, report))

        budget = None if panel is None else Budget()
        given = (config.here(), self.judges, work)
        return run_session(*given, retry=False, quiet=True, budget=budget, panel=panel)
