"""What calls of a judge take: tokens from the rendered prompts, money where the price is known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ...backends.budget import CHARS_PER_TOKEN, cost_of, price_of
from ...backends.config import ModelConfig
from ...backends.prompt import Prompt
from ..config.names import JudgeName
from ..config.sections import Config

MARKS = '{}[]":,'


@dataclass(frozen=True)
class Estimate:
    """What one judge will be asked. Tokens are estimates.

    Attributes:
        cost: in dollars; None: the price is not known.
        cached_tokens: of the prompt tokens, those that a prefix cache can hold (see `Asked`).
    """

    judge: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cached_tokens: int = 0


class PromptSizes:
    """The prompts of a judge in the order in which they will be asked, measured one by one.

    What a prompt begins with counts as cached as far as the one before it to the same question
    began so too: the fixed messages, and texts at the head of the data such as a passage that
    several sentences cite. The prompts themselves are not kept.
    """

    def __init__(self) -> None:
        self.calls = self.prompt_tokens = self.cached_tokens = self.reply_tokens = 0
        self._before: dict[Prompt, str] = {}  # the last data of each question

    def add(self, prompt: Prompt, inputs: Mapping[str, object], reply: object) -> tuple[int, int]:
        """One more call, and what answers it; the tokens of both."""
        prompt = prompt.of(inputs)
        user, before = prompt.user(inputs), self._before.get(prompt)
        fixed = sum(len(message["content"]) for message in prompt.fixed)
        tokens = (fixed + len(user)) // CHARS_PER_TOKEN, _size(reply) // CHARS_PER_TOKEN + 1
        self.calls += 1
        self.prompt_tokens += tokens[0]
        self.reply_tokens += tokens[1]
        if before is not None:
            self.cached_tokens += (fixed + _n_shared(user, before)) // CHARS_PER_TOKEN
        self._before[prompt] = user
        return tokens


def estimated(
    config: Config, judge: JudgeName, prompts: PromptSizes, shown: str | None = None
) -> Estimate:
    """What these calls take of the model that answers for a judge, `shown` under another name."""
    alias, model = config.model_of(judge)
    tokens, cached, reply = prompts.prompt_tokens, prompts.cached_tokens, prompts.reply_tokens
    cost = None
    if (price := price_of(model)) is not None:
        cost = cost_of(price, tokens, cached, reply)
    name = alias_of(alias, model)
    return Estimate(shown or judge, name, prompts.calls, tokens, reply, cost, cached)


def alias_of(alias: str, model: ModelConfig) -> str:
    """How a model is shown: its own name, with the alias where it has one."""
    return model.model if alias == "default" else f"{alias} ({model.model})"


def _size(reply: object) -> int:
    """Characters of a reply as JSON; its marks count twice, as most are half a token."""
    text = json.dumps(reply, ensure_ascii=False, default=str)  # half a surrogate pair may be in it
    return len(text) + sum(map(text.count, MARKS))


def _n_shared(one: str, other: str) -> int:
    """Characters that both begin with."""
    same, end = 0, min(len(one), len(other)) + 1  # the first `same` are, the first `end` are not
    while end - same > 1:
        middle = (same + end) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            end = middle
    return same
