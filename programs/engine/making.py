"""What every `judge build` shares: stages that make texts, whole topics, a folder of its own."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, TypeVar

import orjson

from ...backends.budget import Budget
from ...backends.loop import run_sync
from ...records.judgements import Judged, Provenance, Unjudged
from ...records.reading.problems import InputError, Problems
from ..config.sections import Config, JudgeName
from .journal import Journal
from .manifest import (
    check_not_input,
    fingerprint_of,
    input_hashes,
    is_finished,
    manifest_of,
    read_manifest,
)
from .panel import Panel
from .results import MANIFEST, Results
from .session import Session, budget_of, check_prices, open_cache
from .stage import Item, Stage

STATISTICS, DATASHEET = "statistics.json", "DATASHEET.md"

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


class LeftOut(NamedTuple):
    """A topic that is not in the collection, and what it lacks."""

    topic_id: str
    stage: str
    reason: str


class FinishedStage(Stage, Protocol[T_co]):
    """A stage that says what came of it."""

    def finish(self, journal: Journal, results: Results) -> T_co:
        """Count all outcomes in the results; what was judged."""
        ...


Maker = Callable[..., Awaitable[tuple[Any, Sequence[Provenance]]]]


@dataclass
class MakingStage:
    """One item per text from which a judge makes something: requests, questions, passages.

    Attributes:
        make: takes the payload of an item; returns what was made, ready for JSON, and its calls.
    """

    name: str
    make: Maker
    all_items: Sequence[Item]

    def items(self) -> Iterator[Item]:
        """Topics in order."""
        return iter(self.all_items)

    def total(self) -> int:
        """Number of items."""
        return len(self.all_items)

    async def judge(self, item: Item) -> Judged:
        """What one item gives, under `made`."""
        made, calls = await self.make(*item.payload)
        return Judged({"made": made}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> dict[tuple[str, ...], Any]:
        """What was made by the ids of its item."""
        made: dict[tuple[str, ...], Any] = {}
        for number, item in enumerate(self.items()):
            outcome = journal.outcome(number)
            ids = dict(zip(("topic_id", "document"), item.ids, strict=False))
            results.judged(self.name, ids, outcome)
            if isinstance(outcome, Judged):
                made[item.ids] = outcome.values["made"]
        return made


class Build(ABC):
    """One build: `make` judges and writes the files, the rest is the same for all.

    A topic that lacks a judgement is left out whole: `left_out` says why.

    Attributes:
        program: what the manifest calls it. judges: those that it may ask.
        files: all that it may write.
        given: what the collection is made from.
    """

    program: ClassVar[str]
    judges: ClassVar[tuple[JudgeName, ...]]
    files: ClassVar[tuple[str, ...]]

    def __init__(
        self, given: Any, session: Session, inputs: Mapping[str, str], problems: Problems
    ) -> None:
        self.given = given
        self.session = session
        self.config = session.config
        self.panel = session.panel
        self.problems = problems
        self.left_out: dict[str, LeftOut] = {}
        self._inputs = inputs
        self._before = replace(session.budget.usage)

    @abstractmethod
    async def make(self, results: Results) -> tuple[dict[str, Any], dict[str, Any]]:
        """Write all files of its own; the statistics, and what the manifest says of the data."""

    @abstractmethod
    def datasheet(self, manifest: Mapping[str, Any]) -> str:
        """The text of DATASHEET.md."""

    async def build(self) -> dict[str, Any]:
        """The whole; the folder is complete when this returns the manifest."""
        began = time.monotonic()
        try:
            with Results(self.config.run.out) as results:
                statistics, data = await self.make(results)
                if input_hashes(self.config) != self._inputs:
                    raise InputError("an input changed while the build went on; start it again")
                results.part(STATISTICS).write_bytes(pretty(statistics))
                results.list_problems(self.problems)
                found = manifest_of(
                    config=self.config,
                    inputs=self._inputs,
                    data=data,
                    problems=self.problems,
                    results=results,
                    judges=self.panel.identities(),
                    budget=self.session.budget,
                    usage=self.session.budget.usage.since(self._before),
                    seconds=time.monotonic() - began,
                )
                left_out = [row._asdict() for row in self.left_out.values()]
                manifest = {"program": self.program, **found, "statistics": statistics}
                manifest |= {"left_out": left_out}
                results.part(DATASHEET).write_text(self.datasheet(manifest), encoding="utf-8")
                self._remove_others(results)
                results.publish(manifest)
                return manifest
        finally:
            await self.session.aclose()

    async def judged(self, judge: JudgeName, stage: FinishedStage[T], results: Results) -> T:
        """What comes of a stage; the topics of which it lacks something are left out."""
        journal = await self.session.journaled(stage, (judge,))
        for number, item in enumerate(stage.items()):
            if isinstance(outcome := journal.outcome(number), Unjudged):
                self.leave_out(item.ids[0], stage.name, str(outcome.reason))
        found = stage.finish(journal, results)
        journal.close()
        return found

    def leave_out(self, topic_id: str, stage: str, reason: str) -> None:
        """Note the first thing that a topic lacks."""
        self.left_out.setdefault(topic_id, LeftOut(topic_id, stage, reason))

    def _remove_others(self, results: Results) -> None:
        """Remove what an earlier build wrote and this one does not."""
        for name in self.files:
            if not results.unpublished(name).exists():
                (results.folder / name).unlink(missing_ok=True)


def run_build(
    kind: type[Build],
    given: Any,
    config: Config,
    inputs: Mapping[str, str],
    problems: Problems,
    *,
    quiet: bool,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Open what a build needs and run it; the manifest that was written.

    A finished build that is started again asks for what is missing; a killed one goes on.

    Args:
        inputs: hashes of the input files, taken before `given` was read from them.
        budget: shared with other programs; None: that of the config.
    """
    check_prices(config, kind.judges)
    retry = is_finished(config.run.out, fingerprint_of(config, inputs), kind.program)
    cache = open_cache(config, kind.judges)
    budget = budget or budget_of(config)
    try:
        asks = config.run.executor != "ray"
        panel = Panel(config, cache=cache, budget=budget, asks=asks)
        session = Session(config, panel, budget, retry=retry, quiet=quiet)
        return run_sync(kind(given, session, inputs, problems).build())
    finally:
        if cache is not None:
            cache.close()


def check_build_folder(config: Config, program: str, files: Sequence[str]) -> None:
    """Raise InputError if a build would replace one of its inputs, or files that none wrote."""
    folder = config.run.out
    check_not_input(config, files)
    if (folder / MANIFEST).is_file():
        read_manifest(folder, program)
    elif not (folder / "journal").is_dir():
        for name in files:
            if (folder / name).exists():
                raise InputError(f"{folder}: has a {name} that no build wrote; name another --out")


def pretty(value: Any) -> bytes:
    """JSON for people to read."""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
