"""What agents did in a stage, beside the least and the most they may do: before a run and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..config.sections import Config
from .estimates import Estimate, alias_of

if TYPE_CHECKING:
    from ...agents import Limits

Worked = dict[str, dict[str, Any]]  # by stage, as `AgentWork.as_dict` has it


@dataclass
class AgentWork:
    """The questions that an agent asked in the steps of a stage's items.

    Attributes:
        limits: of one item. reply_limit: tokens of a reply at most, where its models have a limit.
        items: worked on. calls: questions asked. tokens: of prompts and replies.
        first_calls, first_tokens: of the first question of each item, which it asks in any case:
            all before it follows from the item and the index.
        longest_prompt, longest_reply: tokens of a question; a mean where a step asks several.
    """

    limits: Limits
    reply_limit: int = 0
    items: int = 0
    calls: int = 0
    tokens: int = 0
    first_calls: int = 0
    first_tokens: int = 0
    longest_prompt: int = 0
    longest_reply: int = 0

    def add(self, steps: Iterable[Mapping[str, Any]]) -> None:
        """Count the steps of one item."""
        self.items += 1
        is_first = True
        for step in steps:
            if step["kind"] != "call":
                continue
            n = max(1, len(step.get("replies", ())))  # a failed one was asked too
            prompt, reply = step.get("tokens", (0, 0))
            self.calls += n
            self.tokens += prompt + reply
            self.longest_prompt = max(self.longest_prompt, -(-prompt // n))
            self.longest_reply = max(self.longest_reply, -(-reply // n))
            if is_first:
                self.first_calls += 1
                self.first_tokens += (prompt + reply) // n
            is_first = False

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON: `least` and `most` of calls and tokens beside those that there were.

        `most`: every item up to its limits. Where it has none on tokens, each question is as long
        as the longest one, and each reply as long as its model may write.
        """
        longest = self.longest_prompt + max(self.longest_reply, self.reply_limit)
        tokens = self.limits.calls * longest
        if self.limits.tokens is not None:  # looked at before questions that are asked together
            tokens = min(tokens, self.limits.tokens + self.limits.hits * longest)
        return {
            "items": self.items,
            "calls": self.calls,
            "tokens": self.tokens,
            "least": {"calls": self.first_calls, "tokens": self.first_tokens},
            "most": {"calls": self.items * self.limits.calls, "tokens": self.items * tokens},
        }


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
        found = []
        for name, value in expected.items():
            limit = getattr(config.run, f"max_{name}")
            if limit is None or value is None or value <= limit:
                continue
            least = f"${value:.4f}" if name == "cost" else f"{value:,}"
            most = f", at most {value + more[name]:,}" if name in more else ""
            what = f"run.max_{name} is {limit:,}, but {least} are expected{most}"
            found.append(f"{what}: it would end before all is judged")
        return found
