"""What calls of a judge take: tokens from the rendered prompts, money where the price is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ...backends.budget import CHARS_PER_TOKEN, cost_of, price_of
from ...backends.config import ModelConfig, Speed
from ...backends.prompt import Prompt
from ...judges import ItemJudge
from ...metrics.tokens import token_counter
from ...records.reading.problems import InputError
from ..config.sections import Config, JudgeName

# Assumed where a number is only known once it was judged.
NUGGET_TOKENS, QUESTION_TOKENS, LABEL_TOKENS = 14, 18, 10
KEYED_TOKENS = 6  # of a label under a key

_NUMBERS = count(1)


@dataclass(frozen=True)
class Estimate:
    """What one judge will be asked. Tokens are estimates.

    Attributes:
        cost: in dollars; None: the price is not known.
        cached_tokens: of the prompt tokens, those that a prefix cache can hold (see `Asked`).
        gpu_hours: hours that one GPU takes; None: nobody measured how fast it is.
    """

    judge: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None
    cached_tokens: int = 0
    gpu_hours: float | None = None


class Asked:
    """The prompts of a judge in the order in which they will be asked, measured one by one.

    What a prompt begins with counts as cached as far as the one before it to the same question
    began so too: the fixed messages, and texts at the head of the data such as a passage that
    several sentences cite. The prompts themselves are not kept.
    """

    def __init__(self) -> None:
        self.calls = self.prompt_tokens = self.cached_tokens = 0
        self._before: dict[Prompt, str] = {}  # the last data of each question

    @classmethod
    def of(cls, prompt: Prompt, inputs: Iterable[Mapping[str, object]]) -> Asked:
        """One call for each of these inputs."""
        asked = cls()
        for each in inputs:
            asked.add(prompt, each)
        return asked

    def add(self, prompt: Prompt, inputs: Mapping[str, object], more: int = 0) -> None:
        """One more call; `more` tokens of it are yet to be made."""
        user, before = prompt.user(inputs), self._before.get(prompt)
        fixed = sum(len(message["content"]) for message in prompt.fixed)
        self.calls += 1
        self.prompt_tokens += (fixed + len(user)) // CHARS_PER_TOKEN + more
        if before is not None:
            self.cached_tokens += (fixed + _n_shared(user, before)) // CHARS_PER_TOKEN
        self._before[prompt] = user


def estimated(config: Config, judge: JudgeName, asked: Asked, reply: int) -> Estimate:
    """These calls, with a reply of `reply` tokens to each."""
    alias, model = config.model_of(judge)
    return _estimate(judge, alias_of(alias, model), model, asked, asked.calls * reply)


def estimate_items(
    judge: ItemJudge, name: str, asked: Sequence[Sequence[Mapping[str, str]]]
) -> Estimate:
    """What these calls of a judge of items take: the inputs of the items of each."""
    made = Asked.of(judge.prompt(judge.predictor), map(judge.asked, asked))
    n_items = sum(len(items) for items in asked)
    reply = KEYED_TOKENS * n_items if judge.listed else LABEL_TOKENS * len(asked)
    model = None if judge.backend is None else judge.backend.config
    return _estimate(name, judge.model_name, model, made, reply)


def with_speed(config: Config, speed: Speed) -> Config:
    """The config with this speed for each model that has none of its own."""
    models = {
        alias: model if model.tokens_per_s else model.model_copy(update={"tokens_per_s": speed})
        for alias, model in config.models.items()
    }
    return config.model_copy(update={"models": models})


def alias_of(alias: str, model: ModelConfig) -> str:
    """How a model is shown: its own name, with the alias where it has one."""
    return model.model if alias == "default" else f"{alias} ({model.model})"


def reply_tokens(judge: ItemJudge) -> int:
    """Tokens of the reply to one call: a label, or one under a key for each of a window."""
    return KEYED_TOKENS * judge.window if judge.listed else LABEL_TOKENS


def placeholder(n_tokens: int) -> str:
    """As long as a text of so many tokens that is yet to be made; no two are the same."""
    return f"{next(_NUMBERS):x}"[::-1].ljust(CHARS_PER_TOKEN * n_tokens, "-")


def check_tokenizer(config: Config) -> None:
    """Raise InputError if there is no such tokenizer."""
    try:
        token_counter(config.coverage.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None


def _estimate(
    judge: str, shown: str, model: ModelConfig | None, asked: Asked, reply: int
) -> Estimate:
    tokens, cached = asked.prompt_tokens, asked.cached_tokens
    cost = hours = None
    if model is not None and (price := price_of(model)) is not None:
        cost = cost_of(price, tokens, cached, reply)
    if model is not None and model.way in ("lexical", "recorded"):
        hours = 0.0
    elif model is not None and (speed := model.tokens_per_s) is not None:
        hours = ((tokens - cached) / speed.prompt + reply / speed.reply) / 3600
    return Estimate(judge, shown, asked.calls, tokens, reply, cost, cached, hours)


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
