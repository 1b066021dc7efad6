"""The base class of agents: a DSPy module that judges one item with tools and keeps a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import dspy

from ..backends.config import ModelConfig
from ..backends.errors import JudgeError
from ..backends.loop import run_async, run_sync
from ..judges.base import Judge
from ..records.judgements import Judged, Outcome, Unjudged
from .corpus import Corpus
from .tools import Limits, Tools


class Agent(dspy.Module):  # type: ignore[misc]
    """A judge of several steps. Its judges are attributes, so DSPy finds their predictors.

    Call it like a judge: `agent(...)` or `await agent.acall(...)`. The prediction has the values
    that `act` returns, and `trace`, the steps. Raises JudgeError if the judgement fails.

    Args:
        corpus: the passages that it searches; None if it searches nothing.
        limits: limits for one item; None: the limits of its class.

    A subclass defines `name`, `inputs` and `act`.

    Attributes:
        name: its name in traces and configs.
        version: raise it when the agent's behaviour changes.
        inputs: names of its inputs, in the order of an item's payload. `topic_id` selects the
            topic's correction of fitted judges; `references` lists passages that it may read
            without a search.
        JUDGES: the class of each judge that `take_judges` makes, by its attribute.
    """

    name: str
    version: str = "1"
    inputs: tuple[str, ...]
    default_limits: ClassVar[Limits] = Limits()
    JUDGES: ClassVar[Mapping[str, type[Judge]]] = {}

    def __init__(self, corpus: Corpus | None = None, limits: Limits | None = None) -> None:
        super().__init__()
        self.corpus = corpus
        self.limits = limits or self.default_limits

    def take_judges(
        self, given: Mapping[str, Any] | None, model: str | ModelConfig | None = None
    ) -> None:
        """Make each judge of `JUDGES` an attribute: the given one, or a new one of this model.

        Raises: ValueError for a name that is not in `JUDGES`.
        """
        judges = dict(given or {})
        if unknown := judges.keys() - self.JUDGES.keys():
            names = ", ".join(sorted(unknown))
            raise ValueError(f"judges: {names}; wanted {', '.join(self.JUDGES)}")
        for name, kind in self.JUDGES.items():
            setattr(self, name, judges[name] if name in judges else kind(model))

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """Judge an item and return values ready for JSON. It acts only through `tools`.

        Raises: JudgeError if the judgement fails.
        """
        raise TypeError(f"{type(self).__name__} must define act()")

    async def outcome(self, **item: Any) -> Outcome:
        """Judge one item and return the outcome with its steps; its value `made` is `act`'s result.

        An item that reached the budget of the run is Unjudged(budget), whatever `act` returned.

        Raises: EndpointUnusable if no request can succeed.
        """
        references = item.get("references", ())
        tools = Tools(
            self.corpus, self.limits, topic_id=item.get("topic_id"), readable=list(references)
        )
        made: dict[str, Any] = {}
        failure: JudgeError | None = None
        try:
            made = await self.act(tools, **item)
        except JudgeError as error:
            failure = error
        if (failure := tools.budget_met or failure) is not None:
            tools.trace.end("unjudged", reason=failure.reason)
            steps = self._steps(tools)
            return Unjudged(failure.reason, failure.detail, failure.raw, tools.calls(), steps)
        if not tools.trace.has_ended:
            tools.end("done")
        return Judged({"made": made}, tools.calls(), self._steps(tools))

    def identity(self) -> list[Any]:
        """Everything that decides its result for an item, except its judges."""
        corpus = self.corpus.fingerprint if self.corpus is not None else None
        return [self.name, self.version, list(self.limits), corpus]

    def forward(self, **item: Any) -> dspy.Prediction:
        """See the class; `agent(...)` calls this."""
        return run_sync(self._predict(item))

    async def aforward(self, **item: Any) -> dspy.Prediction:
        """See the class; `await agent.acall(...)` calls this."""
        return await run_async(self._predict(item))

    async def _predict(self, item: dict[str, Any]) -> dspy.Prediction:
        if unknown := item.keys() - set(self.inputs):
            wanted = ", ".join(self.inputs)
            raise ValueError(f"{', '.join(sorted(unknown))}: wanted the inputs {wanted}")
        outcome = await self.outcome(**item)
        if isinstance(outcome, Unjudged):
            raise JudgeError(outcome.reason, outcome.detail, outcome.raw)
        return dspy.Prediction(**outcome.values["made"], trace=list(outcome.steps))

    def _steps(self, tools: Tools) -> tuple[dict[str, Any], ...]:
        first = {"path": "0", "kind": "agent", "name": self.name, "version": self.version}
        return (first, *tools.trace.steps())
