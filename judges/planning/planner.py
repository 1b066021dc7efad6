"""What does an agent do next? Asked anew each turn, of the item and the turns before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import dspy

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.prompt import Prompt, Scorer, Twin
from ...records.judgements import Reason
from ..base import Judge
from .actions import Action, Ask, Tool, Turn, actions_of, fault_in, labels_in, passages_found

TURNS, MOST = "turns", "max_turns"  # the second stays the same, so that turns share a prefix
KNOWN = "references"  # an input that lists passages which need no search
_TOOLS = {
    "search": "search: finds passages for a query and returns their ids",
    "read": "read: returns the text of a passage from a given character on",
    "judge": "judge: returns how far each passage supports {what}: full, partial or none",
}


class PlannedPrompt(Prompt):
    """A prompt whose replies must also be possible in the turn at hand, as `fault` of them says."""

    fault: Callable[[Action, Mapping[str, Any]], str]

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """See ReplyFormat. Raises also for a fault, which the next request tells."""
        values = super().parse(text, inputs)
        if inputs is not None and (fault := self.fault(values["action"], inputs)):
            raise JudgeOutputError(Reason.UNPARSEABLE, fault, text, complaint=fault)
        return values


class Planner(Judge):
    """Chooses an action: search, read, judge, or finish with a result.

    One signature for all turns; its inputs are the item's texts, `turns` before this one (each with
    its action, and what that found) and `max_turns`. A reply that is none of the offered objects,
    or not possible now, is asked for again, and else no judgement.

    Args:
        task: instructions. inputs: field of an item -> what it holds.
        tools: what is offered besides `finish`. asks: how `judge` is asked.
        result: the fields of `finish`, with their types. finish: its description.

    `answers`: what there is to say at the end, by name, with its type.
    """

    predictor, output = "plan", "action"
    answers: Mapping[str, Any]

    def __init__(
        self,
        task: str,
        inputs: Mapping[str, str],
        tools: Sequence[Tool],
        asks: Any,
        result: Mapping[str, Any],
        finish: str,
        *args: Any,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.inputs = tuple(inputs)
        self.tools = tuple(tools)
        self.task = task.strip()
        what = "the sentence" if asks is Ask else "a statement that you write"
        actions = [*(_TOOLS[tool].format(what=what) for tool in tools), f"finish: {finish}"]
        action = actions_of(tools, asks, result)
        fields = {
            **{
                name: (list[str] if name == KNOWN else str, dspy.InputField(desc=desc))
                for name, desc in inputs.items()
            },
            TURNS: (
                list[dict[str, Any]],
                dspy.InputField(desc="your turns so far, each with its action and what it found"),
            ),
            MOST: (
                Annotated[int, SETTING],
                dspy.InputField(desc="how many turns you have in all"),
            ),
            "action": (action, dspy.OutputField(desc="the action of this turn")),
        }
        how = "\n".join(["Take one of these actions in each turn:", *(f"- {a}" for a in actions)])
        self.plan = dspy.Predict(
            dspy.Signature(fields, f"{self.task}\n\n{how}", signature_name=self.name)
        )

    def worded(
        self, name: str, signature: type[dspy.Signature], twin: Twin | None, scorer: Scorer | None
    ) -> Prompt | None:
        """See OwnWords."""
        if (own := super().worded(name, signature, twin, scorer)) is not None:
            return own
        prompt = PlannedPrompt(signature, self.question(name).demos, twin, scorer)
        prompt.fault = type(self).fault
        return prompt

    @staticmethod
    def fault(action: Action, inputs: Mapping[str, Any]) -> str:
        """What is wrong with an action, of all that was shown; see `fault_in`."""
        return fault_in(action, inputs[TURNS], inputs.get(KNOWN, ()))

    async def decide(
        self, *, turns: Sequence[Turn] = (), turns_left: int = 1, **inputs: Any
    ) -> dspy.Prediction:
        """One call, for one turn."""
        texts = {name: inputs[name] for name in self.inputs}
        return dspy.Prediction(action=await self.next_action(texts, turns, turns_left))

    async def next_action(
        self, texts: Mapping[str, Any], turns: Sequence[Turn], left: int
    ) -> Action:
        """What to do in this turn, possible in it.

        Args:
            texts: of the item. turns: those before. left: turns, this one included.

        Raises: JudgeError where a model says nothing of the kind.
        """
        inputs = {**texts, TURNS: list(turns), MOST: len(turns) + left}
        reply = await self.ask("plan", **inputs)
        action: Action = reply.values["action"]
        if fault := self.fault(action, inputs):  # of a prompt file, which does not look
            raise JudgeOutputError(Reason.UNPARSEABLE, fault)
        return action


def by_rule(inputs: Mapping[str, Any], query: str, most: int, ask: Mapping[str, Any]) -> Action:
    """What the lexical twin of a planner does first: search once, have the best passages judged.

    Args:
        query: what it searches for. asked: passages that it has judged at most.
        ask: the `judge` action without its passages.

    Returns: {} when there is nothing left but to finish.
    """
    turns = inputs[TURNS]
    if not any(turn["action"]["tool"] == "search" for turn in turns):
        return {"tool": "search", "query": query}
    judged = labels_in(turns)
    names = [name for name in passages_found(turns)[:most] if name not in judged]
    return {"tool": "judge", **ask, "passages": names} if names else {}
