"""The planner of a free search for evidence: what to look for next, to back up one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...backends.config import ModelConfig
from ...backends.gateway import Backend
from .actions import MOST_JUDGED, Action, Ask, Tool, Turn, labels_in, passages_found
from .planner import KNOWN, TURNS, Planner, by_rule

TASK = """Find a passage that supports the whole sentence.

- Judge the references first, if there are any. After a search, judge every passage found that is
  not judged yet, at most 20 in one turn.
- Search first with the words of the sentence, then with synonyms, and then for one part of it.
- Finish when a search was made, all passages found are judged, and one of them is full or no
  further query is likely to help."""


class EvidencePlanner(Planner):
    """Chooses what a free search for evidence does next. Its outcome follows from labels alone."""

    name = "evidence_planner"
    version = "3"
    twins = {"plan": lambda inputs: {"action": _next(inputs)}}  # noqa: RUF012  of the class

    answers = {"suggestion": str}  # noqa: RUF012

    def __init__(
        self, model: str | ModelConfig | None = None, *, backend: Backend | None = None
    ) -> None:
        inputs = {
            "sentence": "a sentence of an answer",
            KNOWN: "passages that the answer cites; they can be judged without a search",
        }
        tools: tuple[Tool, ...] = ("search", "judge")
        super().__init__(TASK, inputs, tools, Ask, {}, "ends the search", model, backend=backend)

    @staticmethod
    def fault(action: Action, inputs: Mapping[str, Any]) -> str:
        """See Planner: nothing was looked for in vain before all passages found are judged."""
        if action["tool"] == "finish" and (why := not_looked_for(inputs[TURNS])):
            return why
        return Planner.fault(action, inputs)


def not_looked_for(turns: Sequence[Turn]) -> str:
    """Why "nothing backs it up" cannot be said yet; "": it can."""
    if not any(turn["action"]["tool"] == "search" for turn in turns):
        return "nothing was searched for yet"
    left = passages_found(turns)
    judged = labels_in(turns)
    n = sum(name not in judged for name in left)
    return f"{n} of {len(left)} passages that were found are not judged" if n else ""


def _next(inputs: Mapping[str, Any]) -> Action:
    return by_rule(inputs, inputs["sentence"], MOST_JUDGED, {}) or {"tool": "finish"}
