"""What every command that asks judges needs: a reply cache, known prices, stages with journals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...backends.budget import Budget, price_of
from ...backends.cache import ReplyCache
from ...records.reading.problems import InputError
from ..config.sections import Config, JudgeName
from .journal import Journal
from .panel import Panel
from .progress import ProgressBar
from .stage import Executor, Stage, Work, run_here


def open_cache(config: Config, judges: Iterable[JudgeName] | None = None) -> ReplyCache | None:
    """The reply cache that a config names; None where nothing would be kept in it.

    Args:
        judges: those that will be asked; None: any model of the config may be.
    """
    models = config.models.values() if judges is None else (config.model_of(j)[1] for j in judges)
    if config.run.cache is False or {model.way for model in models} <= {"lexical", "recorded"}:
        return None
    return ReplyCache(config.run.cache if isinstance(config.run.cache, Path) else None)


def check_prices(config: Config, judges: Iterable[JudgeName]) -> None:
    """Raise InputError if there is a limit in dollars and a price that is not known."""
    if config.run.max_cost is None:
        return
    for alias, model in map(config.model_of, judges):
        if price_of(model) is None:
            what = f"set models.{alias}.price, or use max_tokens"
            raise InputError(f"max_cost: the price of model {model.model!r} is not known; {what}")


def budget_of(config: Config) -> Budget:
    """What the config allows to spend, all of it left."""
    return Budget(config.run.max_calls, config.run.max_tokens, config.run.max_cost)


class Session:
    """Runs stages, each with a journal in the results folder, from which it goes on.

    Args:
        retry: ask again for what the journals have as unjudged.
        quiet: draw no progress bar.
    """

    def __init__(
        self, config: Config, panel: Panel, budget: Budget, *, retry: bool, quiet: bool
    ) -> None:
        self.config = config
        self.panel = panel
        self.budget = budget
        self._elsewhere = _executor(config, panel, budget)
        self._retry = retry
        self._quiet = quiet

    async def journaled(
        self, stage: Stage, judges: Sequence[JudgeName], settings: Any = None
    ) -> Journal:
        """The open journal with an outcome for each item of a stage.

        Args:
            judges: those that the stage asks; with `settings` they name the journal.
        """
        run = self.config.run
        name = "offline" if run.offline else self.panel.fingerprint(judges, settings)
        path = run.out / "journal" / f"{stage.name}-{name}.jsonl"
        if run.offline:  # replays the cache alone, not an earlier journal
            path.unlink(missing_ok=True)
        kept = getattr(stage, "kept", ())  # unjudged ones that are not asked for again
        journal = Journal(path, retry=self._retry, kept=kept)
        usage = self.budget.usage
        try:
            with ProgressBar(stage.name, stage.total(), usage, quiet=self._quiet) as bar:
                work = Work(stage, journal, bar)
                if self._elsewhere is None:
                    await run_here(work, self._at_once(stage))
                else:
                    await self._elsewhere.run(work)
        except BaseException:
            journal.close()
            raise
        return journal

    def _at_once(self, stage: Stage) -> int:
        """How many items are held: all that go into batches together, or as many as are asked."""
        run = self.config.run
        if run.executor != "batch":
            return run.concurrency
        return max(1, min(run.batch.at_once, stage.total()))

    async def aclose(self) -> None:
        """Let go of workers and connections."""
        if self._elsewhere is not None:
            await self._elsewhere.aclose()
        await self.panel.aclose()


def _executor(config: Config, panel: Panel, budget: Budget) -> Executor | None:
    if config.run.executor != "ray" or config.run.offline:
        return None
    from .ray.executor import RayExecutor

    return RayExecutor(config, panel, budget)
