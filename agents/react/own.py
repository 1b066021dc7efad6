"""An agent of one's own: labels an item after it has searched, read and asked (a YAML file)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...judges.items import ItemJudge
from ...judges.planning.actions import Action
from ...judges.planning.own import OwnPlanner
from ..corpus import Corpus
from ..limits import Limits
from ..tools import Tools
from .agent import FreeAgent
from .turns import Done


class OwnAgent(FreeAgent):
    """Gives an item one of the labels of its definition: `agent(claim=...).label`.

    `because` beside it: the numbers of the turns that the label rests on, as the planner says.

    Args:
        planner: of the definition. support: the judge behind the tool `judge`.
        limits: None: the `steps` of the definition, and else those of all agents.
    """

    planner: OwnPlanner

    def __init__(
        self,
        planner: OwnPlanner,
        support: ItemJudge,
        corpus: Corpus | None = None,
        limits: Limits | None = None,
    ) -> None:
        super().__init__(planner, support, corpus, limits or Limits(steps=planner.definition.steps))
        self.name, self.version = planner.name, planner.version
        self.inputs = (*planner.inputs, "topic_id")

    def statement(self, action: Action, item: Mapping[str, Any]) -> str:
        """See FreeAgent: what the planner wrote."""
        return str(action["statement"])

    def result(self, tools: Tools, item: Mapping[str, Any], done: Done) -> dict[str, Any]:
        """See FreeAgent: the label."""
        assert done.finish is not None
        because = sorted({*done.finish["because"]})
        label = str(done.finish["label"])
        tools.end(label, [done.paths[number - 1] for number in because])
        return {"label": label, "because": because}
