"""The planner of an agent of one's own: a YAML file with `tools:` says its task and its labels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...backends.config import ModelConfig
from ...backends.gateway import Backend
from ...records.rows import Label
from ..own import OwnJudgeDefinition, read_own_judge
from .actions import Action, AskAbout, labels_in
from .planner import MOST, TURNS, Planner, by_rule

POSITIONS = {"none": 0.0, "partial": 0.5, "full": 1.0}  # of the support judge's labels
JUDGED = 5  # passages that the lexical twin has judged


class OwnPlanner(Planner):
    """Chooses what an agent of one's own does next, and with which label it finishes.

    Args:
        definition: what it is, with `tools`, or the YAML file that says it.
        model, backend: as for `Judge`.

    Raises: ValueError for a definition without tools, which `OwnJudge` takes.
    """

    def __init__(
        self,
        definition: OwnJudgeDefinition | str | Path,
        model: str | ModelConfig | None = None,
        *,
        backend: Backend | None = None,
    ) -> None:
        if not isinstance(definition, OwnJudgeDefinition):
            definition = read_own_judge(Path(definition))
        if not definition.tools:
            raise ValueError(f"{definition.name} has no tools: a judge that is asked once")
        self.name, self.version = definition.name, definition.version
        members = {f"LABEL_{i}": name for i, name in enumerate(definition.scale)}
        new: Any = Label  # made as any enum is
        labels = new("Label", members)
        super().__init__(
            definition.question,
            definition.inputs,
            definition.tools,
            AskAbout,
            {"label": labels, "because": list[int]},
            "gives the label that fits and the numbers of the turns that it is based on",
            model,
            backend=backend,
        )
        self.definition = definition
        self.answers = {"label": labels}
        self.scale, self.gains = definition.scale, definition.gains
        self.is_ordered = definition.ordered
        if definition.lexical is not None:
            self.twins = {"plan": self._twin}

    def _twin(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        rule = self.definition.lexical
        assert rule is not None
        sought = inputs[rule.look_for]
        action: Action = by_rule(inputs, sought, JUDGED, {"statement": sought})
        if not action or len(inputs[TURNS]) + 1 == inputs[MOST]:
            best = max(
                (POSITIONS[label] for label in labels_in(inputs["turns"]).values()), default=0
            )
            label = self.scale[sum(best >= cut for cut in rule.cuts)]
            because = list(range(1, len(inputs["turns"]) + 1))
            action = {"tool": "finish", "label": label, "because": because}
        return {"action": action}
