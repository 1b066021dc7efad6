"""How a prompt of one of an agent's judges is tried: the agent works on an item with it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ...agents import Agent
from ...backends.gateway import Gateway
from ...backends.loop import run_sync, task_group
from ...judges.base import Judge, set_prompt
from ...records.judgements import Judged, Outcome, Unjudged
from ..prompts.asking import Answer, Noting, Tried
from ..prompts.bridge import Stopped, waited
from ..prompts.student import predictor_of
from .examples import OUTCOME, AgentExample

MOST_AT_ONCE = 8  # items that are worked on at once; each may ask several judges at a time


def judges_of(agent: Agent) -> dict[str, Judge]:
    """The judges of an agent whose prompts can be fitted, by their attributes, in their order."""
    fittable = {}
    for name, judge in vars(agent).items():
        if not isinstance(judge, Judge) or judge.backend is None:
            continue
        is_model = judge.backend.config.way not in ("lexical", "recorded")
        if is_model and judge.own_words != "prompt" and len(judge.questions()) == 1:
            fittable[name] = judge
    return fittable


def with_judge(agent: Agent, name: str, judge: Judge) -> Agent:
    """The same agent with another judge in this place; corpus and limits are shared."""
    twin = copy.copy(agent)
    setattr(twin, name, judge)
    return twin


class Working:
    """Tries prompts of one judge of an agent, which works on whole items as in a run.

    An answer has the agent's `outcome`, `n_calls` and `steps`; its calls are those of that judge.
    """

    def __init__(self, agent: Agent, name: str) -> None:
        self._agent, self._name = agent, name
        self._judge: Judge = getattr(agent, name)

    def __call__(
        self, gateway: Gateway, tried: Tried, inputs: Mapping[str, Any], replicate: int = 0
    ) -> Answer:
        """See Way."""
        judge, noting = self._judge.deepcopy(), Noting(gateway)
        set_prompt(judge.question(predictor_of(judge)), tried.prompt)
        judge.backend, judge.replicate = noting, replicate
        agent = with_judge(self._agent, self._name, judge)
        outcome = waited(agent.outcome(**inputs))
        if gateway.budget.reached:  # what it came to may rest on calls that were not made
            raise Stopped
        calls = tuple(noting.calls)
        if isinstance(outcome, Unjudged):
            failed = dspy.Prediction(failure=f"{outcome.reason}: {outcome.detail}")
            return Answer(failed, (*calls, (noting.asked, failed)) if noting.asked else calls)
        return Answer(dspy.Prediction(**seen(outcome)), calls)


def seen(outcome: Judged) -> dict[str, Any]:
    """What examples are marked by: the outcome, how many calls it took, and the steps."""
    return {
        OUTCOME: str(outcome.values["made"].get(OUTCOME)),
        "n_calls": n_calls(outcome.steps),
        "steps": list(outcome.steps),
    }


def n_calls(steps: Sequence[Mapping[str, Any]]) -> int:
    """Questions that were asked in these steps."""
    return sum(max(1, len(s.get("replies", ()))) for s in steps if s["kind"] == "call")


def asking(agent: Agent, name: str, examples: Sequence[AgentExample]) -> list[AgentExample]:
    """Those on which the agent asks this judge: a search learns nothing from others."""
    recorders = [Noting(getattr(agent, name).backend) for _ in examples]

    def noting(i: int) -> Agent:
        judge = getattr(agent, name).deepcopy()
        judge.backend = recorders[i]
        return with_judge(agent, name, judge)

    run_sync(_worked([noting(i) for i in range(len(examples))], examples))
    both = zip(examples, recorders, strict=True)
    return [example for example, of in both if of.calls or of.asked]


def worked(agent: Agent, examples: Sequence[AgentExample]) -> list[Outcome]:
    """What the agent comes to on each, or why it came to nothing."""
    return run_sync(_worked([agent] * len(examples), examples))


async def _worked(agents: Sequence[Agent], examples: Sequence[AgentExample]) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    waiting = iter(enumerate(examples))

    async def work() -> None:
        for i, example in waiting:
            outcomes[i] = await agents[i].outcome(**example.inputs)

    async with task_group() as group:
        for _ in range(MOST_AT_ONCE):
            group.create_task(work())
    return [outcomes[i] for i in range(len(examples))]
