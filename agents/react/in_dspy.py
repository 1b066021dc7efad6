"""An agent without a plan as dspy.ReAct: the same tools and signature, in DSPy's own loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any, Protocol, Self

import dspy
from dspy.utils.exceptions import AdapterParseError

from ...backends.errors import JudgeError
from ...backends.loop import run_async, run_sync
from ...judges.planning.actions import Action, fault_in
from ...judges.planning.planner import Planner
from ...records.judgements import Reason
from ..corpus import Corpus
from ..limits import Limits
from ..tools import Tools
from .turns import Done


class Free(Protocol):
    """What is needed of a FreeAgent."""

    planner: Planner
    corpus: Corpus | None
    limits: Limits

    def begun(self) -> Done: ...

    async def take(
        self, tools: Tools, action: Action, item: Mapping[str, Any], done: Done
    ) -> None: ...


class ReactInDspy(dspy.Module):  # type: ignore[misc]
    """What `agent.as_dspy()` gives; its predictors are `react.react` and `react.extract.predict`.

    Call it as the agent. The prediction has what ReAct extracted, and its `trajectory`.

    Raises: JudgeError where ReAct would answer all the same: a tool failed, its turns ended without
        `finish`, or a reply was no turn.
    """

    def __init__(self, agent: Free) -> None:
        super().__init__()
        planner = agent.planner
        task = planner.plan.signature
        fields = {
            name: (task.fields[name].annotation, task.fields[name]) for name in planner.inputs
        }
        outputs = {name: (kind, dspy.OutputField()) for name, kind in planner.answers.items()}
        signature = dspy.Signature({**fields, **outputs}, planner.task, signature_name=planner.name)
        tools = [tool for tool in _tools() if tool.__name__ in planner.tools]
        self._hidden = _Hidden(agent)
        self.react = dspy.ReAct(signature, tools, max_iters=agent.limits.steps)
        if (lm := planner.get_lm()) is not None:
            self.react.set_lm(lm)

    def forward(self, **item: Any) -> dspy.Prediction:
        """See the class."""
        return run_sync(self._done(item))

    async def aforward(self, **item: Any) -> dspy.Prediction:
        """See the class."""
        return await run_async(self._done(item))

    async def _done(self, item: dict[str, Any]) -> dspy.Prediction:
        work = _Work(self._hidden.agent, item)
        token = _WORK.set(work)
        try:
            prediction = await self.react.acall(
                **{n: item[n] for n in self._hidden.agent.planner.inputs}
            )
        except AdapterParseError as error:
            raise JudgeError(Reason.UNPARSEABLE, str(error).split("\n")[0]) from None
        finally:
            _WORK.reset(token)
        if work.failure is not None:
            raise work.failure
        names = [
            value for key, value in prediction.trajectory.items() if key.startswith("tool_name_")
        ]
        if names[-1:] != ["finish"]:
            raise JudgeError(Reason.STEPS, f"it ended after {len(names)} turns without finish")
        return prediction


class _Hidden:
    """The agent, out of DSPy's sight: its own predictors are not asked in this loop."""

    def __init__(self, agent: Free) -> None:
        self.agent = agent

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self


class _Work:
    """One item at work: its tools, within the agent's limits, and the first of them that failed."""

    def __init__(self, agent: Free, item: Mapping[str, Any]) -> None:
        self.agent, self.item = agent, item
        self.references = list(item.get("references", ()))
        topic_id = item.get("topic_id")
        self.tools = Tools(agent.corpus, agent.limits, topic_id=topic_id, readable=self.references)
        self.done: Done = agent.begun()
        self.failure: JudgeError | None = None

    async def use(self, action: dict[str, Any]) -> Any:
        """What a tool finds; an argument that is not possible is answered with a sentence."""
        if fault := fault_in(action, self.done.turns, self.references):
            return f"This action is not possible: {fault}."
        try:
            await self.agent.take(self.tools, action, self.item, self.done)
        except JudgeError as error:
            self.failure = self.failure or error
            return "The tool failed."
        return self.done.turns[-1]["found"]


_WORK: ContextVar[_Work] = ContextVar("work")


def _tools() -> list[Callable[..., Any]]:
    async def search(query: str) -> list[str]:
        """Find passages for a query. Returns their ids, the best first."""
        ids: list[str] = await _WORK.get().use({"tool": "search", "query": query})
        return ids

    async def read(passage: str, start: int = 0) -> str:
        """Read the text of a passage that a search found, from the character at `start`."""
        action = {"tool": "read", "passage": passage, "start": start}
        return str(await _WORK.get().use(action))

    async def judge(passages: list[str], statement: str = "") -> Any:
        """Judge how far passages that a search found support a statement: full, partial or none."""
        action = {"tool": "judge", "passages": passages}
        return await _WORK.get().use(action | ({"statement": statement} if statement else {}))

    return [search, read, judge]
