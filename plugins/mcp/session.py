"""The judges and the budget of a session; each call reserves a part of the budget."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ...backends.budget import CAUTION, Answer, Budget, Caution, Kind, Need
from ...backends.config import Price
from ...backends.errors import JudgeError
from ...backends.loop import Stop, run_async
from ...programs.config.sections import Config, DataConfig
from ...programs.engine.judge_set import check_prices, make_budget
from ...programs.engine.spending import Estimate, show_alias
from ...programs.run import forecast, models_asked
from ...records.reading.problems import InputError
from .folder import Folder
from .replies import Amount, Asked, Expected, Left, Spending

_NOUNS = {"calls": "call", "tokens": "token", "cost": ""}  # in the singular


class OverBudget(Exception):
    """A call was refused before it started, since it would exceed the session's budget."""


class Part(Budget):
    """The part of one call: it has its own usage, and the limits of the session."""

    def __init__(self, whole: Budget) -> None:
        super().__init__(whole.max_calls, whole.max_tokens, whole.max_cost)
        self._whole = whole

    def kind(
        self,
        name: str,
        price: Price | None,
        max_reply: int | None = None,
        caution: Caution = CAUTION,
    ) -> Kind:
        """See Budget."""
        return self._whole.kind(name, price, max_reply, caution)

    def check(self, need: Need) -> None:
        """See Budget."""
        with self._recording_limit():
            self._whole.check(need)

    async def room(self, need: Need) -> None:
        """See Budget."""
        await self._whole.room(need)

    def reserve(self, need: Need) -> None:
        """See Budget."""
        with self._recording_limit():
            self._whole.reserve(need)
        self.usage.requests += 1

    def settle(self, need: Need, reply: Answer | None, billed: int | None = None) -> None:
        """See Budget."""
        before = replace(self._whole.usage)
        self._whole.settle(need, reply, billed)
        for name, value in vars(self._whole.usage.since(before)).items():
            setattr(self.usage, name, getattr(self.usage, name) + value)

    def count_by_limit(self) -> dict[str, float]:
        """See Budget; counts the whole session."""
        return self._whole.count_by_limit()

    @contextmanager
    def _recording_limit(self) -> Iterator[None]:
        try:
            yield
        except JudgeError:
            self.reached = self.reached or self._whole.reached
            raise


class SessionBudget:
    """The limits of a session, its spending, and the expected spending of calls under way.

    Args:
        limits: set at the start of the server; clients cannot change them.
    """

    def __init__(self, limits: Budget) -> None:
        self.whole = limits
        self._under_way: dict[int, tuple[Amount, Part]] = {}

    @contextmanager
    def part(self, expected: Amount, left: Left) -> Iterator[Part]:
        """Reserve a part for a call with this expected amount.

        Raises: OverBudget if less is left.
        """
        if short := self.short(expected, left):
            limits = ", ".join(_figure(name, getattr(left, name)) for name in short)
            options = " or ".join(f"run.max_{name}" for name in short)
            raise OverBudget(
                f"not started: it would need about {amount_text(expected)}, and this session has "
                f"{limits} left; judge less, or ask the person who started the server for a higher "
                f"{options}"
            )
        made = Part(self.whole)
        self._under_way[id(made)] = (expected, made)
        try:
            yield made
        finally:
            del self._under_way[id(made)]

    def short(self, expected: Amount, left: Left) -> list[str]:
        """The limits with less left than expected; [] if no model is called."""
        return [
            name
            for name in _NOUNS
            if (there := getattr(left, name)) is not None
            and expected.calls
            and (getattr(expected, name) or 0) > there
        ]

    def check_left(self, left: Left) -> None:
        """Raise OverBudget if nothing is left of a limit."""
        if used := [name for name in _NOUNS if getattr(left, name) == 0]:
            limits = " and ".join(_figure(name, 0) for name in used)
            options = " or ".join(f"run.max_{name}" for name in used)
            raise OverBudget(
                f"not started: this session has {limits} left; ask the person who started the "
                f"server for a higher {options}"
            )

    async def get_remaining(self) -> Left:
        """The rest of each limit, minus the expected amounts of calls under way."""
        counted = await run_async(self._count())
        promised = [_less(estimate, made) for estimate, made in self._under_way.values()]
        limits = {"calls": self.whole.max_calls, "tokens": self.whole.max_tokens}
        limits["cost"] = self.whole.max_cost  # type: ignore[assignment]
        remaining = {
            name: None
            if limit is None
            else max(0, limit - counted[f"max_{name}"] - sum(one[name] for one in promised))
            for name, limit in limits.items()
        }
        return Left.model_validate(remaining)

    def get_spent(self) -> Amount:
        """The spending of the session so far, as reported by endpoints."""
        return get_amount(self.whole)

    async def _count(self) -> Mapping[str, float]:
        return self.whole.count_by_limit()


def get_amount(budget: Budget) -> Amount:
    """The spending of a budget, as reported by endpoints."""
    use = budget.usage
    return Amount(calls=use.requests, tokens=use.tokens, cost=use.known_cost)


def amount_expected(estimates: Iterable[Estimate], free: Iterable[str]) -> Amount:
    """The sum of estimates, without judges that run in this process."""
    paid = [row for row in estimates if row.model not in {"lexical", *free}]
    costs = [row.cost for row in paid]
    return Amount(
        calls=sum(row.calls for row in paid),
        tokens=sum(row.prompt_tokens + row.completion_tokens for row in paid),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def amount_text(amount: Amount) -> str:
    """Format calls, tokens and cost as text."""
    cost = "an unknown cost" if amount.cost is None else _figure("cost", amount.cost)
    return f"{_figure('calls', amount.calls)}, {_figure('tokens', amount.tokens)}, {cost}"


def _figure(name: str, value: float) -> str:
    """An amount in words; dollars with the digits that small budgets need."""
    if name == "cost":
        return f"${value:.4f}"
    return f"{value:,.0f} {_NOUNS[name]}{'' if round(value) == 1 else 's'}"


def _less(expected: Amount, made: Part) -> dict[str, float]:
    """The rest of the expected amount of a call under way."""
    spent = get_amount(made)
    return {
        name: max(0, (getattr(expected, name) or 0) - (getattr(spent, name) or 0))
        for name in _NOUNS
    }


T = TypeVar("T")


class Session:
    """The judges, the budget and the folder that all calls share.

    Args:
        config: the judge and the limits, set at the start of the server.
        root: the folder that clients may read.

    Raises: InputError for a missing folder, a paid model without a limit, an unknown price with a
        limit in dollars, and an executor that is not local.
    """

    def __init__(self, config: Config, root: Path) -> None:
        models = config.models or {"default": config.model("default")}
        self.config = config.model_copy(update={"models": models})
        self.folder = Folder(root)
        self.budget = SessionBudget(make_budget(config))
        self._free = {show_alias(a, m) for a, m in models.items() if m.sends_nothing}
        if config.run.executor != "local":
            raise InputError(f"run.executor: {config.run.executor}: wanted local, for a server")
        paid = [alias for alias, model in models.items() if not model.sends_nothing]
        if paid and not self.budget.whole.is_limited:
            what = "--max-cost, or --set run.max_calls=N or run.max_tokens=N"
            raise InputError(
                f"{models[paid[0]].model}: an agent will call this model, so set a limit: {what}"
            )
        check_prices(self.config, ["support", "assigner", *self.config.judges])

    def alone(self, program: Sequence[str], data: Mapping[str, Any], out: Path) -> Config:
        """The config of one call: its data with the judges of the session."""
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
        """The settings that a client's config cannot change, by dotted name."""
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

    def name_model(self, config: Config) -> str:
        """The names of the models that judge."""
        models = models_asked(config) if config.program else config.get_models("support")
        return ", ".join(dict.fromkeys(show_alias(*each) for each in models))

    async def estimate_run(self, config: Config) -> Sequence[Estimate]:
        """Estimate the calls of a run with an empty cache."""
        return (await in_thread(lambda: forecast(config))).judges

    async def forecast(self, model: str, estimates: Sequence[Estimate] | None = None) -> Expected:
        """The remaining budget, and whether these estimates fit in it."""
        left = await self.budget.get_remaining()
        expected = Expected(model=model, spent=self.budget.get_spent(), left=left)
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
        """Reserve budget for a call. Raises: OverBudget if it does not fit."""
        expected = amount_expected(estimates, self._free)
        left = await self.budget.get_remaining()
        with self.budget.part(expected, left) as part:
            yield part

    async def check_left(self) -> None:
        """Raise OverBudget, before any work is done, if a limit is used up.

        If the session has a free model, nothing is raised: the call may need only that one.
        """
        if not self._free:
            self.budget.check_left(await self.budget.get_remaining())

    async def get_spending(self, part: Part) -> Spending:
        """The spending of a call, and the rest after it."""
        return Spending(spent=get_amount(part), left=await self.budget.get_remaining())


async def in_thread(work: Callable[[], T]) -> T:
    """Run work that calls judges in a thread; cancelling stops the calls and waits for the end."""
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
    await anyio.lowlevel.checkpoint()  # ends here if it was cancelled
    return done.result()
