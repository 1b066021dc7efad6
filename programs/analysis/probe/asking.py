"""How every kind of probe asks, in a session or a rehearsal, and what each of them ends with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Generic, TypeVar

from ....backends.budget import Budget, Usage
from ....judges import ItemJudge
from ....judges.verdicts import Verdict
from ....records.judgements import Unjudged
from ....records.labels.items import ItemRow
from ....records.reading.problems import InputError, Problems
from ...config.names import JudgeName
from ...config.sections import Config
from ...engine.estimates import Estimate
from ...engine.panel import Panel, check_prices
from ...engine.rehearsal import rehearse
from ...engine.session import Session, run_session

REPEATS = 3
UNJUDGED, LABELS, CASES = "unjudged.jsonl", "labels", "cases.jsonl"

Report = Callable[[str], None]
Outcome = Verdict | Unjudged | None  # None: not asked about
Row = dict[str, Any]


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


@dataclass(frozen=True)
class Skipped:
    """A condition, a guard or a judge that cannot be probed here."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Found(ABC):
    """What a probe of any kind ends with, and what of it is written.

    Attributes:
        names: of all that is written into a folder, the file of its rows first.
        items: those that were judged. outcomes: of each of them, by condition.
        spent: what was asked of the model this time, by part of the work.
        limit_reached: the limit on spending that ended the asking, or "".
        costs: estimates of its parts in their order, of a probe that tells them.
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
        """What the manifest says of it, besides what it took."""

    def cases(self) -> Iterable[Row]:
        """What was planted, for `CASES`."""
        return ()

    def missing(self) -> Iterable[Row]:
        """What was not judged, for `UNJUDGED`, besides `outcomes`."""
        return ()


def why_unjudged(outcome: Unjudged) -> Row:
    """The reason, what is wrong, and the raw reply."""
    return {"reason": outcome.reason, "detail": outcome.detail, "raw": outcome.raw}


F = TypeVar("F", bound=Found)


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
        """What it took until now, for `Found`."""
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
        found = self.session.panel.item_judge(judge)
        if not found.predictor:
            raise InputError(f"{found.name}: asks several judges, wanted one; probe each by itself")
        return found


@dataclass(frozen=True)
class Probing(Generic[F]):
    """A probe that is ready to ask.

    Attributes:
        judges: that are asked, by their sections of the config. work: all of it.
        problems: get what is wrong with the items.
        tells_costs: whether what it finds says what its parts would cost.
    """

    config: Config
    judges: Sequence[JudgeName]
    work: Callable[[Asking], Awaitable[F]]
    problems: Problems
    tells_costs: bool = False

    def ask(self, report: Report = lambda line: None) -> F:
        """Do it.

        Args:
            report: gets a line on each part before it is asked.

        Raises: InputError for a source without items, or a limit in dollars without a price;
            EndpointUnusable when the judge as it is cannot be asked.
        """
        if not self.tells_costs:
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

    def _done(self, config: Config, report: Report, panel: Panel | None = None) -> F:
        async def work(session: Session) -> F:
            return await self.work(Asking(session, report, self.problems))

        budget = None if panel is None else Budget()
        given = (config.here(), self.judges, work)
        return run_session(*given, retry=False, quiet=True, budget=budget, panel=panel)
