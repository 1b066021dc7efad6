"""The planner of a free search for evidence: what to look for next, to back up one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...backends.config import ModelConfig
from ...backends.gateway import Backend
from .actions import MOST_JUDGED, Action, Ask, Tool, Turn, labels_in, passages_found
from .planner import KNOWN, TURNS, Planner, by_rule

TASK = """Look for a passage that backs up the whole sentence.

Search by what the sentence claims, then in other words, or for a part of it. Have each passage
that may carry it judged. Stop as soon as one is full, or when no other query is worth a turn."""


class EvidencePlanner(Planner):
    """Chooses what a free search for evidence does next. Its outcome follows from labels alone."""

    name = "evidence_planner"
    version = "2"
    twins = {"plan": lambda inputs: {"action": _next(inputs)}}  # noqa: RUF012  of the class

    answers = {"suggestion": str}  # noqa: RUF012

    def __init__(
        self, model: str | ModelConfig | None = None, *, backend: Backend | None = None
    ) -> None:
        inputs = {
            "sentence": "a sentence of an answer",
            KNOWN: "passages that the answer names, which need no search",
        }
        tools: tuple[Tool, ...] = ("search", "judge")
        super().__init__(TASK, inputs, tools, Ask, {}, "ends it", model, backend=backend)

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
