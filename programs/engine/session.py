"""A session asks the judges of a run, and prints its progress on stderr."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from importlib.metadata import entry_points
from typing import Any, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ...backends.budget import Budget, Usage
from ...backends.cache import COMMIT_S
from ...backends.errors import EndpointUnusable
from ...backends.loop import run_sync
from ...backends.prompt import KEY_BYTES
from ...backends.tracing import trace_items, trace_run
from ...judges.verdicts import NO_PROBABILITIES, WRONG_QUOTES, lacks_probabilities
from ...records.judgements import Judged, Outcome, Reason, Unjudged, wrong_quotes
from ...records.kinds import FIRST, VERIFIED
from ...records.reading.problems import InputError, escape, write_note
from ...views.numbers import format_money, format_seconds
from ..config.base import EXECUTORS, JudgeName
from ..config.sections import Config
from .journal import Journal
from .judge_set import JudgeSet, check_judges, check_models, check_prices, make_budget, open_cache
from .results import Results
from .spending import Spending
from .stage import Executor, Item, Stage, Tally, Work, find_unjudged, run_here

REDRAW_S = 0.2
LOG_S = 30.0  # between two lines where stderr is not a terminal
STALL_S = 30.0  # without a finished item, until a line says what is in flight; then twice as long

log = logging.getLogger("nuggetjudge")


class ProgressBar:
    """The progress of one stage, in a line that a terminal rewrites and removes at the end.

    Without a terminal, a line is written every 30 seconds.

    Args:
        name: the name of the stage.
        total: the number of items; None: unknown.
        usage: the usage of the whole run, whose cost the line shows.
        quiet: draw nothing.
        in_flight: returns what the run waits for. A warning shows it if no item ends for 30
            seconds, also if `quiet`; None: no warning.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        usage: Usage,
        *,
        quiet: bool = False,
        in_flight: Callable[[], str] | None = None,
    ) -> None:
        self._name, self._total, self._usage, self._quiet = name, total, usage, quiet
        self._began = self._drawn = self._finished = time.monotonic()
        self._in_flight, self._patience = in_flight, STALL_S
        self._timer: asyncio.TimerHandle | None = None
        self.done = self.unjudged = self._kept = 0
        self._live: Live | None = None
        if not quiet and sys.stderr.isatty():
            console = Console(stderr=True, highlight=False)
            self._live = Live(self._text(), console=console, auto_refresh=False, transient=True)

    def advance(self, outcome: Outcome | None) -> None:
        """See Progress."""
        if outcome is None:
            self._kept += 1
        elif isinstance(outcome, Unjudged):
            self.unjudged += 1
        self.step()

    def step(self) -> None:
        """Count one more item; draw the line again if it is old."""
        self.done += 1
        now = self._finished = time.monotonic()
        self._patience = STALL_S
        if now - self._drawn >= (REDRAW_S if self._live else LOG_S):
            self._drawn = now
            self._draw()

    def line(self) -> str:
        """Return the line: items done, failures, the cost of the run so far, and the time left."""
        total = "" if self._total is None else f" / {self._total:,}"
        parts = [f"{self._name}  {self.done:,}{total}", f"{self.unjudged:,} failed"]
        if self._usage.requests:
            cost = self._usage.known_cost
            parts.append("cost unknown" if cost is None else format_money(cost))
        asked = self.done - self._kept
        if self._total is not None and asked:
            left = (time.monotonic() - self._began) / asked * max(self._total - self.done, 0)
            parts.append(f"{format_seconds(left)} left")
        return ", ".join(parts)

    def _text(self) -> Text:
        return Text(escape(self.line()), no_wrap=True, overflow="ellipsis")

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._text(), refresh=True)
        elif not self._quiet:
            write_note(f"{self.line()}\n")

    def _watch(self, says: Callable[[], str]) -> None:
        """Warn if no item has ended for too long, and check again later."""
        idle = time.monotonic() - self._finished
        if idle >= self._patience:
            what = f"{self._name}: nothing finished for {idle:.0f} s"
            log.warning("%s", escape(f"{what}. {says()}"))
            self._patience = 2 * idle
        loop, wait = asyncio.get_running_loop(), self._patience - idle
        self._timer = loop.call_later(max(wait, 0.01), self._watch, says)

    def __enter__(self) -> ProgressBar:
        if self._live is not None:
            self._live.start()
        if self._in_flight is not None:
            self._watch(self._in_flight)
        return self

    def __exit__(self, *ended: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._live is not None:
            self._live.stop()


T = TypeVar("T")


class Outcomes:
    """Gives the outcome of each item of a stage: call it with the items, in the stage's order.

    Args:
        stage: the stage.
        journal: the journal with the outcomes.
        results: receives the counts, the failed judgements and the traces.
        identity: the fingerprint of the stage's judges and settings.
        reply_limit: the largest number of tokens of a reply; 0: unknown.
        wants_probabilities: count labels without probabilities.
    """

    def __init__(
        self,
        stage: Stage,
        journal: Journal,
        results: Results,
        identity: str,
        reply_limit: int = 0,
        wants_probabilities: bool = False,
    ) -> None:
        self._reply_limit = reply_limit
        self._wants_probabilities = wants_probabilities
        self._stage, self._journal, self._results = stage, journal, results
        self._identity = identity
        self._number = 0

    def __call__(self, item: Item) -> Outcome:
        """Return the outcome of the next item, and count it in the results.

        Args:
            item: the next item of the stage.

        Returns: its judgement, or why it has none.
        Raises: InputError if the outcome does not fit the item, because the journal was edited.
        """
        outcome: Outcome
        if item.payload is None:
            outcome = Unjudged(item.reason, item.missing)
        else:
            outcome = self._journal.outcome(self._number)
            if isinstance(outcome, Judged) and (what := self._stage.misfit(item, outcome.values)):
                raise self._journal.unfit(self._number, what)
        self._number += 1
        lost = find_unjudged(outcome) if isinstance(outcome, Judged) else {}
        self._results.count_outcome(self._stage.name, item.ids, outcome, n=item.n - len(lost))
        for index, why in lost.items():
            self._results.count_outcome(self._stage.name, item.ids_at(index), why)
        if outcome.steps:
            self._results.trace(self._stage.name, self._identity, item.ids, outcome.steps)
            if (limits := self._stage.limits) is not None:
                self._results.count_work(self._stage.name, limits, self._reply_limit, outcome.steps)
        if isinstance(outcome, Judged):
            self._count(outcome.values.get("verdicts", ()))
        return outcome

    def _count(self, verdicts: Sequence[Mapping[str, Any]]) -> None:
        """Count labels, wrong quotes, missing probabilities and verified labels."""
        judge = self._stage.judges[0] if len(self._stage.judges) == 1 else self._stage.name
        for row in verdicts:
            if (label := row.get("label")) is not None:
                self._results.labels[judge][label] += 1
            for member, vote in (row.get("votes") or {}).items():
                if vote is not None:
                    self._results.labels[f"{judge}.{member}"][vote] += 1
        if n_wrong := sum(map(wrong_quotes, verdicts)):
            self._results.count(WRONG_QUOTES, n_wrong)
        if self._wants_probabilities and (n_bare := sum(map(lacks_probabilities, verdicts))):
            self._results.count(NO_PROBABILITIES, n_bare)
        verified = [row for row in verdicts if row.get("method") == VERIFIED]
        if verified:
            self._results.count("labels that were verified", len(verified))
            n_changed = sum(row["label"] != row["votes"].get(FIRST) for row in verified)
            self._results.count("labels that the verifier changed", n_changed)


class Session:
    """Judges stages one after the other; each continues from its journal.

    Args:
        config: the config of the run.
        judge_set: the judges of the run.
        budget: the limits of the run, and its usage so far.
        retry: ask again about items whose judgement failed before.
        quiet: draw no progress bar.
        asks: False: send no request; items that the journals lack are not judged.
    """

    def __init__(
        self,
        config: Config,
        judge_set: JudgeSet,
        budget: Budget,
        *,
        retry: bool,
        quiet: bool,
        asks: bool = True,
    ) -> None:
        self.config = config
        self.judge_set = judge_set
        self.budget = budget
        self._elsewhere = _executor(config, judge_set, budget)
        self._retry = retry
        self._quiet = quiet
        self._asks = asks
        self._spending: Spending | None = None
        self._failed = bytearray()  # keys of questions, one after the other
        self._settled: set[bytes] = set()
        self._is_again = False

    @property
    def spending(self) -> Spending:
        """Return the record of the cost of this start, in the run's folder."""
        if self._spending is None:
            self._spending = Spending(self.config.run.out, self.budget.usage)
        return self._spending

    @asynccontextmanager
    async def judge_stage(self, stage: Stage, results: Results) -> AsyncIterator[Outcomes]:
        """Judge the items of a stage that its journal lacks.

        Use it as `async with session.judge_stage(stage, run.results) as outcome:` and call
        `outcome(item)` with each item, in the order of the stage.

        Args:
            stage: the stage.
            results: receives the counts, the failed judgements and the traces.

        Returns: a context manager that gives a function from an item to its outcome.
        Raises: EndpointUnusable if no request can succeed; InputError for a journal that was
            edited.
        """
        run = self.config.run
        identity = self.judge_set.fingerprint(stage.judges, stage.settings)
        name = "offline" if run.offline else identity
        path = run.out / "journal" / f"{stage.name}-{name}.jsonl"
        is_first = self._asks and not self._is_again
        if run.offline and is_first:  # replays the cache alone, not an earlier journal
            path.unlink(missing_ok=True)
        if stage.limits is not None:
            self.judge_set.keep_replies()
        journal = Journal(
            path,
            retry=self._retry and is_first,
            final=() if is_first else frozenset(Reason),
            values=stage.values,
            is_answered=self.judge_set.has_reply,
        )
        try:
            models = dict(m for judge in stage.judges for m in self.config.get_models(judge))
            aliases = models.keys()
            if journal.has_judged:
                self.judge_set.trust(aliases)
            usage = self.budget.usage
            with (
                self.spending.stage(stage.name, [*models.values()], path, journal.size),
                ProgressBar(
                    stage.name,
                    stage.total,
                    usage,
                    quiet=self._quiet,
                    in_flight=self._describe_in_flight,
                ) as bar,
            ):
                work = Work(stage, journal, bar, self.judge_set.settle_replies)
                if not self._asks:
                    deque(work.left(), maxlen=0)  # looked up alone
                elif self._elsewhere is None:
                    ask = trace_items(stage.ask, stage.name, stage.judges)
                    await run_here(work, self._at_once(stage), ask)
                else:
                    await self._elsewhere.run(work)
            if work.tally.judged:
                self.judge_set.trust(aliases)
            elif not (run.offline or run.executor == "batch" or aliases <= self.judge_set.trusted):
                _check_hope(stage.name, work.tally)
            self._failed += journal.failed
            entries = [self.config.model(alias) for alias in aliases]
            limit = max((entry.max_tokens or 0 for entry in entries), default=0)
            wants = any(entry.gives_probabilities and entry.way != "lexical" for entry in entries)
            yield Outcomes(stage, journal, results, identity, limit, wants)
        finally:
            journal.close()

    async def make_stage(
        self, stage: Stage, results: Results
    ) -> list[tuple[Mapping[str, Any], Any]]:
        """Judge a stage of `makes` or `acts` and collect what was made.

        Args:
            stage: the stage, whose outcomes have `made`.
            results: receives the counts, the failed judgements and the traces.

        Returns: for each item, in order, its ids and the value of `made`; None: it failed.
        Raises: the errors of `judge_stage`.
        """
        async with self.judge_stage(stage, results) as outcome:
            return [(item.ids, _get_made(outcome(item))) for item in stage.items()]

    def _describe_in_flight(self) -> str:
        if self._elsewhere is not None:
            return self._elsewhere.describe_in_flight()
        return self.budget.describe_in_flight()

    def _at_once(self, stage: Stage) -> int:
        """The number of items in memory: those of a batch, or those asked at the same time."""
        run = self.config.run
        if run.executor != "batch":
            return run.concurrency
        most = run.batch.at_once
        return max(1, min(most, most if stage.total is None else stage.total))

    async def starts_again(self, failed: Iterable[bytes] = ()) -> bool:
        """Return whether a question that failed in this run was later answered for another item.

        If so, judge all stages once more: outcomes that depend on such a failure are made again
        from the cached replies, and all others stay. A run and its replay then have equal results.

        Args:
            failed: keys of further questions that failed, outside of stages.
        """
        self._failed += b"".join(failed)
        if self._failed and self._elsewhere is not None:
            await asyncio.sleep(2 * COMMIT_S)  # the replies of workers are on the disk then
        starts = range(0, len(self._failed), KEY_BYTES)
        keys = (bytes(self._failed[at : at + KEY_BYTES]) for at in starts)
        answered = {*filter(self.judge_set.has_reply, keys)} - self._settled
        self._failed.clear()
        self._settled |= answered
        self._is_again = bool(answered)
        return self._is_again

    async def aclose(self) -> None:
        """Close workers and connections."""
        if self._elsewhere is not None:
            await self._elsewhere.aclose()
        await self.judge_set.aclose()


def run_session(
    config: Config,
    judges: Iterable[JudgeName],
    work: Callable[[Session], Awaitable[T]],
    *,
    retry: bool,
    quiet: bool,
    budget: Budget | None = None,
    judge_set: JudgeSet | None = None,
    asks: bool = True,
) -> T:
    """Open a session, do the work of a command in it, and close everything.

    Args:
        config: the config of the command.
        judges: the judges that may be asked.
        work: an async function of the session.
        retry: ask again about items whose judgement failed before.
        quiet: draw no progress bar.
        budget: a budget that other work shares; None: the budget of the config.
        judge_set: judges that are open already; None: open the judges of the config.
        asks: see Session.

    Returns: the result of `work`.
    Raises: InputError for wrong settings of judges, or a limit in dollars for a model without a
        price; EndpointUnusable if a model has no key; the errors of `work`.
    """
    names = list(judges)
    cache = None
    if budget is None:
        budget = make_budget(config)
    if judge_set is None and asks:
        check_prices(config, names)
        check_judges(config, names)
        check_models(config, names)
        cache = open_cache(config, names)
    try:
        is_asking = asks and not config.run.asks_elsewhere
        judge_set = judge_set or JudgeSet(config, cache=cache, budget=budget, asks=is_asking)
        session = Session(config, judge_set, budget, retry=retry, quiet=quiet, asks=asks)

        async def whole() -> T:
            with trace_run(config.program):
                try:
                    return await work(session)
                finally:
                    await session.aclose()

        return run_sync(whole())
    finally:
        if cache is not None:
            cache.close()


def _get_made(outcome: Outcome) -> Any:
    return outcome.values["made"] if isinstance(outcome, Judged) else None


def _check_hope(name: str, tally: Tally) -> None:
    """Raise EndpointUnusable if all judgements of a stage failed by errors of the endpoint."""
    n_lost = tally.unjudged[Reason.ERROR.value]
    if n_lost and n_lost == tally.items:
        what = f"{name}: none of {n_lost} judgements could be made; the last: {tally.last}"
        raise EndpointUnusable(f"{what}\n`judge doctor` tells what is wrong with the model")


def _executor(config: Config, judge_set: JudgeSet, budget: Budget) -> Executor | None:
    if not config.run.asks_elsewhere or config.run.offline:
        return None
    [entry] = entry_points(group=EXECUTORS, name=config.run.executor)
    try:
        kind = entry.load()
    except Exception as error:  # another package's code may raise anything
        what = f"cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())})"
        raise InputError(f"run.executor: {entry.value} {what}") from error
    executor: Executor = kind(config, judge_set, budget)
    return executor
