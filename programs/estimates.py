"""What calls of a judge take: tokens from the rendered prompts, money where the price is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..backends.budget import CHARS_PER_TOKEN, price_of
from ..backends.config import ModelConfig
from ..backends.prompt import Prompt
from ..judges import ItemJudge
from ..metrics.tokens import token_counter
from ..records.problems import InputError
from .config import Config, JudgeName

# Assumed where a number is only known once it was judged.
NUGGET_TOKENS, QUESTION_TOKENS, LABEL_TOKENS = 14, 18, 10
KEYED_TOKENS = 6  # of a label under a key


@dataclass(frozen=True)
class Estimate:
    """What one judge will be asked. Tokens are estimates; `cost` None: the price is not known."""

    judge: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost: float | None


def estimated(config: Config, judge: JudgeName, sizes: Iterable[int], reply: int) -> Estimate:
    """One call for each of these prompt sizes, with a reply of `reply` tokens."""
    alias, model = config.model_of(judge)
    calls = tokens = 0
    for size in sizes:
        calls += 1
        tokens += size
    return Estimate(judge, alias_of(alias, model), calls, tokens, calls * reply,
                    _cost(model, tokens, calls * reply))  # fmt: skip


def alias_of(alias: str, model: ModelConfig) -> str:
    """How a model is shown: its own name, with the alias where it has one."""
    return model.model if alias == "default" else f"{alias} ({model.model})"


def _cost(model: ModelConfig, prompt: int, completion: int) -> float | None:
    price = price_of(model)
    if price is None:
        return None
    return (prompt * price.input + completion * price.output) / 1e6


def reply_tokens(judge: ItemJudge) -> int:
    """Tokens of the reply to one call: a label, or one under a key for each of a window."""
    return KEYED_TOKENS * judge.window if judge.listed else LABEL_TOKENS


def placeholder(n_tokens: int) -> str:
    """As long as a text of so many tokens that is yet to be made."""
    return "x" * CHARS_PER_TOKEN * n_tokens


def check_tokenizer(config: Config) -> None:
    """Raise InputError if there is no such tokenizer."""
    try:
        token_counter(config.coverage.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None


def prompt_tokens(prompt: Prompt, inputs: Mapping[str, object]) -> int:
    """Tokens of the messages that these inputs make, about."""
    return sum(len(m["content"]) for m in prompt.messages(inputs)) // CHARS_PER_TOKEN


def estimate_items(
    judge: ItemJudge, name: str, asked: Sequence[Sequence[Mapping[str, str]]]
) -> Estimate:
    """What these calls of a judge of items take: the inputs of the items of each."""
    prompt, tokens = judge.prompt(judge.predictor), 0
    for items in asked:
        tokens += prompt_tokens(prompt, judge.asked(items))
    n_items = sum(len(items) for items in asked)
    reply = KEYED_TOKENS * n_items if judge.listed else LABEL_TOKENS * len(asked)
    cost = None if judge.backend is None else _cost(judge.backend.config, tokens, reply)
    return Estimate(name, judge.model_name, len(asked), tokens, reply, cost)
