"""A free search for evidence: which passage backs up a sentence, decided by labels alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...judges.seeking.actions import Action, Turn, labels_in
from ..limits import Limits
from ..tools import Tools
from .agent import FreeAgent
from .turns import Done


class EvidenceByReact(FreeAgent):
    """Looks for a passage that backs up a sentence, by queries of a model's choice.

    Args:
        planner: an `EvidencePlanner`. support: as for FreeAgent.

    The cited passage is judged again first. The outcome follows from the labels, whatever the
    planner says: `cited_ok`; `wrong_citation` or `uncited_supported` with the first full passage as
    `suggestion`; `partly_supported` with the first partial one; `not_found`, which the planner may
    end with only when it has searched and had all that it found judged.

    Inputs: `sentence`, `cited` (the id of the cited passage; None: none), `references` (the ids
    of the answer's own passages), `topic_id`.
    """

    name = "evidence_react"
    inputs = ("sentence", "cited", "references", "topic_id")
    default_limits = Limits(steps=6, hits=8)

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent: `outcome`, `suggestion` (an id, or None), and `labels` by passage."""
        item = {"cited": None, "references": [], **item}
        done = self.begun()
        if (cited := item["cited"]) is not None:
            ask = {"tool": "judge", "passages": [cited]}
            await self.take(tools.part("turn", "cited"), ask, item, done)
            if self.is_settled(done.turns):
                return self.result(tools, item, done)
        return await self.go_on(tools, item, done)

    def statement(self, action: Action, item: Mapping[str, Any]) -> str:
        """See FreeAgent: always the sentence."""
        return str(item["sentence"])

    def is_settled(self, turns: Sequence[Turn]) -> bool:
        """See FreeAgent: once a passage is full."""
        return "full" in labels_in(turns).values()

    def result(self, tools: Tools, item: Mapping[str, Any], done: Done) -> dict[str, Any]:
        """See FreeAgent: the outcome that the labels have."""
        labels, cited = labels_in(done.turns), item["cited"]
        best = next((label for label in ("full", "partial") if label in labels.values()), "none")
        first = next((name for name, label in labels.items() if label == best != "none"), None)
        outcome = {"full": "wrong_citation" if cited else "uncited_supported",
                   "partial": "partly_supported", "none": "not_found"}[best]  # fmt: skip
        if first is not None and first == cited:
            outcome, first = ("cited_ok" if best == "full" else outcome), None
        tools.end(outcome, done.paths)
        return {"outcome": outcome, "suggestion": first, "labels": labels}
