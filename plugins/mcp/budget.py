"""What a session may spend: one budget for all of its calls, and a part of it for each of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from ...backends.budget import CAUTION, Answer, Budget, Caution, Kind, Need
from ...backends.config import Price
from ...backends.errors import JudgeError
from ...backends.loop import run_async
from ...programs.engine.estimates import Estimate
from .replies import Amount, Left

_WORDS = {"calls": "calls", "tokens": "tokens", "cost": "dollars"}


class OverBudget(Exception):
    """A call was refused before anything was asked: it would pass what the session may spend."""


class Part(Budget):
    """The part of one call: its usage is its own, what limits it is the budget of the session."""

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

    def counted(self) -> dict[str, float]:
        """See Budget; of the whole."""
        return self._whole.counted()

    @contextmanager
    def _recording_limit(self) -> Iterator[None]:
        try:
            yield
        except JudgeError:
            self.reached = self.reached or self._whole.reached
            raise


class SessionBudget:
    """The limits of a session, what was spent of them, and what calls under way may still take.

    Args:
        limits: set by whoever starts the server; nothing that a client says changes them.
    """

    def __init__(self, limits: Budget) -> None:
        self.whole = limits
        self._under_way: dict[int, tuple[Amount, Part]] = {}

    @contextmanager
    def part(self, expected: Amount, left: Left) -> Iterator[Part]:
        """A part for a call that is expected to take so much.

        Raises: OverBudget if less than that is left.
        """
        if short := self.short(expected, left):
            limits = ", ".join(f"{_figure(n, getattr(left, n))} {_WORDS[n]}" for n in short)
            options = " or ".join(f"--max-{name}" for name in short)
            raise OverBudget(
                f"not asked: it would take about {amount_text(expected)}, and {limits} are left of "
                f"this session's budget; judge less, or ask whoever started the server for a "
                f"higher {options}"
            )
        made = Part(self.whole)
        self._under_way[id(made)] = (expected, made)
        try:
            yield made
        finally:
            del self._under_way[id(made)]

    def short(self, expected: Amount, left: Left) -> list[str]:
        """The limits of which less is left than is expected; [] where nothing is asked."""
        return [
            name
            for name in _WORDS
            if (there := getattr(left, name)) is not None
            and expected.calls
            and (getattr(expected, name) or 0) > there
        ]

    def check_left(self, left: Left) -> None:
        """Raise OverBudget if nothing is left of a limit."""
        if used := [name for name in _WORDS if getattr(left, name) == 0]:
            limits = " and ".join(f"0 {_WORDS[name]}" for name in used)
            options = " or ".join(f"--max-{name}" for name in used)
            raise OverBudget(
                f"not asked: {limits} are left of this session's budget; ask whoever started the "
                f"server for a higher {options}"
            )

    async def left(self) -> Left:
        """What is left of each limit, with what calls under way are expected to take gone."""
        counted = await run_async(self._counted())
        promised = [_less(expected, made) for expected, made in self._under_way.values()]
        limits = {"calls": self.whole.max_calls, "tokens": self.whole.max_tokens}
        limits["cost"] = self.whole.max_cost  # type: ignore[assignment]
        remaining = {
            name: None
            if limit is None
            else max(0, limit - counted[f"max_{name}"] - sum(one[name] for one in promised))
            for name, limit in limits.items()
        }
        return Left.model_validate(remaining)

    def spent(self) -> Amount:
        """What the session spent until now, as far as endpoints reported."""
        return amount_of(self.whole)

    async def _counted(self) -> Mapping[str, float]:
        return self.whole.counted()


def amount_of(budget: Budget) -> Amount:
    """What was spent of a budget, as far as endpoints reported."""
    use = budget.usage
    return Amount(calls=use.requests, tokens=use.tokens, cost=use.known_cost)


def amount_expected(estimates: Iterable[Estimate], free: Iterable[str]) -> Amount:
    """What these come to, without what is answered in this process."""
    paid = [row for row in estimates if row.model not in {"lexical", *free}]
    costs = [row.cost for row in paid]
    return Amount(
        calls=sum(row.calls for row in paid),
        tokens=sum(row.prompt_tokens + row.completion_tokens for row in paid),
        cost=None if None in costs else sum(cost or 0.0 for cost in costs),
    )


def amount_text(amount: Amount) -> str:
    """Calls, tokens and cost, in words."""
    cost = "an unknown cost" if amount.cost is None else f"${amount.cost:.4f}"
    return f"{amount.calls:,} calls, {amount.tokens:,} tokens, {cost}"


def _figure(name: str, value: float) -> str:
    return f"{value:.4f}" if name == "cost" else f"{value:,.0f}"


def _less(expected: Amount, made: Part) -> dict[str, float]:
    """What is still expected of a call that is under way."""
    spent = amount_of(made)
    return {
        name: max(0, (getattr(expected, name) or 0) - (getattr(spent, name) or 0))
        for name in _WORDS
    }
