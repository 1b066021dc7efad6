"""What a run will take, by judge, and where agents work at least, as expected, and at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...config.sections import Config
from ..estimates import Estimate, alias_of

Worked = dict[str, dict[str, Any]]  # by stage, as `agent_work.AgentWork.as_dict` has it


@dataclass(frozen=True)
class Forecast:
    """What a run will take: by judge, and of stages with agents also the least and the most."""

    judges: Sequence[Estimate]
    agents: Worked

    def rows(self) -> list[dict[str, Any]]:
        """Of the agents, ready for JSON: `expected` is what the lexical judges asked."""
        return [
            {
                "agent": stage,
                "items": of["items"],
                "least": of["least"],
                "expected": {name: of[name] for name in ("calls", "tokens")},
                "most": of["most"],
            }
            for stage, of in self.agents.items()
        ]

    def short_of(self, config: Config) -> list[str]:
        """The limits of a run that are below what is expected, in a line each; [] without agents.

        What the lexical judge or a recording answers costs nothing and is not counted.
        """
        if not self.agents:
            return []
        models = config.models.items()
        free = {alias_of(a, m) for a, m in models if m.way in ("lexical", "recorded")}
        paid = [row for row in self.judges if row.model not in free | {"lexical"}]
        if not paid:
            return []
        more = {
            name: sum(of["most"][name] - of[name] for of in self.agents.values())
            for name in ("calls", "tokens")
        }
        costs = [row.cost for row in paid]
        expected: dict[str, Any] = {
            "calls": sum(row.calls for row in paid),
            "tokens": sum(row.prompt_tokens + row.completion_tokens for row in paid),
            "cost": None if None in costs else sum(cost or 0.0 for cost in costs),
        }
        lines = []
        for name, value in expected.items():
            limit = getattr(config.run, f"max_{name}")
            if limit is None or value is None or value <= limit:
                continue
            least = f"${value:.4f}" if name == "cost" else f"{value:,}"
            most = f", at most {value + more[name]:,}" if name in more else ""
            what = f"run.max_{name} is {limit:,}, but {least} are expected{most}"
            lines.append(f"{what}: it would end before all is judged")
        return lines
