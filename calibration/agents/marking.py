"""What an agent's work on an item is worth to an optimiser, and in words for each of its judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ...agents import Agent
from ...judges.items import ItemJudge
from ..prompts.asking import key_of
from ..prompts.marking import Marks
from ..prompts.student import Task
from .examples import OUTCOME, AgentExample

MOST_SHOWN = 400  # characters of a passage that no search found


def agent_tasks(examples: Sequence[AgentExample]) -> list[Task]:
    """The items as an optimiser takes them: each as one call of the whole agent."""
    tasks = []
    for each in examples:
        inputs = dict(each.inputs)
        tasks.append(Task(inputs, dspy.Example(**inputs).with_inputs(*inputs)))
    return tasks


class AgentMarks(Marks):
    """1 for the right outcome, less the price of each call, stretched to [0, 1].

    With price p and at most C calls: (right - p c + p C) / (1 + p C) for c calls. Items without a
    judgement have no gain and are left out of means: a prompt that has more of them is never
    chosen before one that has fewer.

    Args:
        name: the attribute of the judge whose prompt is looked for; steps have it, or the
            judge's own name.
        examples: all that will be asked about.
        price: of a call, in right outcomes.

    Raises: ValueError for a price at which all calls together are worth a right outcome.
    """

    by_chance = None
    if_perfect = 1.0
    are_failed_left_out = True

    def __init__(
        self, agent: Agent, name: str, examples: Sequence[AgentExample], price: float
    ) -> None:
        most = agent.limits.calls
        if not 0 <= price * most < 1:
            what = f"{most} calls, the limit of {agent.name}, would cost {price * most:g}"
            raise ValueError(f"call_price {price:g}: {what} of a right outcome, wanted less than 1")
        self._agent, self._judge = agent, getattr(agent, name)
        self._names = (name, self._judge.name)
        self._price, self._all = price, price * most
        self._examples = {key_of(each.inputs): each for each in examples}
        self.solved = 1 / (1 + self._all)

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """See Marks: one."""
        return [self._gain(task.inputs, prediction)]

    def start(self, gain: float | None) -> None:
        """See Marks."""

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """See Marks; the search itself sees the lowest gain where there is no judgement."""
        return self._gain(_inputs(example), prediction) or 0.0

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """See Marks: the outcome, and what this judge's steps did for it."""
        if "failure" in prediction:
            return f"There was no outcome ({prediction.failure})."
        right = self._examples[key_of(_inputs(example))]
        is_right = prediction[OUTCOME] == right.outcome
        wrong = "" if is_right else f" and not {prediction[OUTCOME]}"
        lines = [f"In the end {'right' if is_right else 'wrong'}: it is {right.outcome}{wrong}."]
        if isinstance(self._judge, ItemJudge):
            lines += self._of_labels(right, prediction["steps"])
        else:
            lines += self._of_searches(right, prediction["steps"])
        return "\n".join(lines)

    def _of_labels(self, right: AgentExample, steps: Sequence[Mapping[str, Any]]) -> Sequence[str]:
        """Of each passage that people labelled too: which label is right, and by which words."""
        lines = []
        for step in steps:
            name, out = step.get("in", {}).get("passage"), step.get("out", {})
            if (
                step["kind"] != "call"
                or step["name"] not in self._names
                or name not in right.passages
            ):
                continue
            label, here = right.passages[name], out.get("label")
            verdict = f"{label}, as here" if label == here else f"{label}, here it was {here}"
            words = "; ".join(map(str, right.quotes.get(name, ())))
            lines.append(
                f"Passage {name}: people say {verdict}." + (f" By: {words}" if words else "")
            )
        return lines

    def _of_searches(
        self, right: AgentExample, steps: Sequence[Mapping[str, Any]]
    ) -> Sequence[str]:
        """Of each search after the judge was asked: at which rank what people confirmed is."""
        best = self._confirmed(right)
        lines, is_after = [], False
        for step in steps:
            is_after = is_after or (step["kind"] == "call" and step["name"] in self._names)
            if not (is_after and step["kind"] == "tool" and step["name"] == "search"):
                continue
            ranks = {hit[0]: n for n, hit in enumerate(step["out"], 1)}
            query = step["args"]["query"]
            for name in best:
                where = f"at rank {ranks[name]}" if name in ranks else "not among them"
                of = f"search for {query!r}, {len(ranks)} passages"
                lines.append(f"{of}: {name}, which people confirmed, is {where}.")
        if is_after:
            retrieved = {hit[0] for s in steps if s["name"] == "search" for hit in s.get("out", ())}
            lines += [self._shown(name) for name in best if name not in retrieved]
        return lines

    def _confirmed(self, right: AgentExample) -> list[str]:
        """The passages with the best label that people gave any."""
        scale = next((j.scale for j in vars(self._agent).values() if isinstance(j, ItemJudge)), ())
        best = scale[-1] if scale else None
        return [name for name, label in right.passages.items() if label == best]

    def _shown(self, name: str) -> str:
        corpus = self._agent.corpus
        passage = corpus.passage(name) if corpus is not None else None
        text = "it has no text" if passage is None else passage.text[:MOST_SHOWN]
        return f"No search found {name}, which people confirmed: {text}"

    def _gain(self, inputs: Mapping[str, Any], prediction: dspy.Prediction) -> float | None:
        if prediction is None or "failure" in prediction:
            return None
        is_right = bool(prediction[OUTCOME] == self._examples[key_of(inputs)].outcome)
        spent = self._price * int(prediction["n_calls"])
        return (is_right - spent + self._all) / (1 + self._all)


def _inputs(example: dspy.Example) -> dict[str, Any]:
    return dict(example.inputs().items())
