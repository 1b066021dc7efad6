"""A session: the judges and the budget of whoever started it, and how a call asks them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from ...backends.loop import Stop
from ...programs.config.sections import Config, DataConfig
from ...programs.engine.estimates import Estimate, alias_of
from ...programs.engine.panel import budget_of, check_prices
from ...programs.run import forecast, models_asked
from ...records.reading.problems import InputError
from .budget import Part, SessionBudget, amount_expected, amount_of
from .folder import Folder
from .replies import Asked, Expected, Spending

T = TypeVar("T")
_HERE = ("lexical", "recorded")  # ways that cost nothing


class Session:
    """What all calls share.

    Args:
        config: who judges and what may be spent, by whoever starts the server.
        root: the folder that clients may see.

    Raises: InputError for no folder, a model that costs without a limit, a price that is not
        known where dollars are limited, and work that is not done by this process.
    """

    def __init__(self, config: Config, root: Path) -> None:
        models = config.models or {"default": config.model("default")}
        self.config = config.model_copy(update={"models": models})
        self.folder = Folder(root)
        self.budget = SessionBudget(budget_of(config))
        self._free = {alias_of(a, m) for a, m in models.items() if m.way in _HERE}
        if config.run.executor != "local":
            raise InputError(f"run.executor: {config.run.executor}: wanted local, for a server")
        paid = [alias for alias, model in models.items() if model.way not in _HERE]
        if paid and not self.budget.whole.is_limited:
            what = "--max-cost, --max-calls or --max-tokens"
            raise InputError(
                f"{models[paid[0]].model}: an agent will ask it, so set a limit: {what}"
            )
        check_prices(self.config, ["support", "assigner", *self.config.judges])

    def alone(self, program: Sequence[str], data: Mapping[str, Any], out: Path) -> Config:
        """The config of one call: these data, by the judges of the session."""
        return self.config.model_copy(
            update={
                "program": tuple(program),
                "data": DataConfig(**data),
                "retrieve": (),
                "pipelines": {},
                "run": self.config.run.model_copy(update={"out": out, "limit": None}),
            }
        )

    def settings(self, out: Path) -> dict[str, Any]:
        """What no config of a client changes, by dotted name."""
        models = {
            alias: model.model_dump(mode="json", by_alias=True, exclude_unset=True)
            for alias, model in self.config.models.items()
        }
        run, cache = self.config.run, self.config.run.cache
        return {
            "models": models,
            "run.out": str(out),
            "run.executor": "local",
            "run.cache": str(cache.absolute()) if isinstance(cache, Path) else cache,
            "run.offline": run.offline,
            "run.force": False,
            **{f"run.{n}": getattr(run, n) for n in ("max_cost", "max_calls", "max_tokens")},
        }

    def model_of(self, config: Config) -> str:
        """Who judges, in words."""
        models = models_asked(config) if config.program else config.models_of("support")
        return ", ".join(dict.fromkeys(alias_of(*each) for each in models))

    async def expected(self, config: Config) -> Sequence[Estimate]:
        """What a run of a config would ask, as if nothing were kept."""
        return (await in_thread(lambda: forecast(config))).judges

    async def forecast(self, model: str, estimates: Sequence[Estimate] | None = None) -> Expected:
        """What is left, and what these would take of it."""
        left = await self.budget.left()
        expected = Expected(model=model, spent=self.budget.spent(), left=left)
        if estimates is None:
            return expected
        amount = amount_expected(estimates, self._free)
        judges = [
            Asked(
                judge=row.judge,
                model=row.model,
                calls=row.calls,
                tokens=row.prompt_tokens + row.completion_tokens,
                cost=row.cost,
            )
            for row in estimates
        ]
        fits = not self.budget.short(amount, left)
        return expected.model_copy(update={"expected": amount, "judges": judges, "fits": fits})

    @asynccontextmanager
    async def spending(self, estimates: Sequence[Estimate]) -> AsyncIterator[Part]:
        """A part of the budget for a call. Raises: OverBudget if it does not fit."""
        expected = amount_expected(estimates, self._free)
        left = await self.budget.left()
        with self.budget.part(expected, left) as part:
            yield part

    async def check_left(self) -> None:
        """Raise OverBudget where a call can ask nothing any more, before any work is done for it.

        Not where a model of the session is free: the call may ask that one alone.
        """
        if not self._free:
            self.budget.check_left(await self.budget.left())

    async def spent(self, part: Part) -> Spending:
        """What a call took, and what is left after it."""
        return Spending(spent=amount_of(part), left=await self.budget.left())


async def in_thread(work: Callable[[], T]) -> T:
    """Do in a thread what asks judges; cancelling it ends the asking, and waits for its end."""
    import anyio
    import anyio.lowlevel
    import anyio.to_thread

    stop = Stop()
    done: Future[T] = Future()

    def run() -> None:
        with stop:
            try:
                done.set_result(work())
            except BaseException as error:
                done.set_exception(error)

    async def watch() -> None:
        try:
            await anyio.sleep_forever()
        finally:
            stop.set()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(run)
        group.cancel_scope.cancel()
    await anyio.lowlevel.checkpoint()  # where this was cancelled it ends here
    return done.result()
