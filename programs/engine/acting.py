"""A stage whose items an agent works on, in place of a judge that is asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from ...records.judgements import Outcome
from ..config.names import JudgeName
from .outcomes import made_of
from .stage import Item, Misfit, Stage

if TYPE_CHECKING:
    from ...agents import Agent


def acts(
    name: str,
    judges: tuple[JudgeName, ...],
    agent: Agent,
    items: Callable[[], Iterator[Item]],
    *,
    made: Any = Any,
    misfit: Misfit = lambda item, made: "",
    settings: Any = None,
    total: int | None = None,
) -> Stage:
    """A stage that has an agent work on each item. A payload has the agent's `inputs`, in order.

    The outcome has what the agent made under `made`, and its steps, which go to trace.jsonl.

    Args:
        judges: those of the agent, which must be of the run's panel.
        made: the type of what is made, as pydantic checks types; Any: not checked.
        misfit: what of it cannot be made of an item; "" if nothing is wrong with it.
        settings: what decides, besides judges, corpus and limits, what is made.
    """

    async def ask(item: Item) -> Outcome:
        inputs = dict(zip(agent.inputs, item.payload or (), strict=True))
        return await agent.outcome(**inputs)

    return Stage(
        name,
        judges,
        items,
        ask,
        settings={"agent": agent.identity(), "settings": settings},
        total=total,
        values=made_of(made),
        misfit=lambda item, values: misfit(item, values["made"]),
        limits=agent.limits,
    )
