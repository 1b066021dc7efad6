"""What agents did in a stage, beside the least and the most they may do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....agents import Limits


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
