"""A plan counts calls and tokens from the prompts themselves, and makes up no speed or price."""

import string
from itertools import pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.backends.budget import CHARS_PER_TOKEN
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import SupportJudge
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.engine.estimates import (
    PromptSizes,
    estimated,
)

PROMPT = SupportJudge(model="lexical").prompt("judge")
LONG, OTHER = "The tide rises twice a day. " * 40, "Some granite is pink. " * 40


def whole(inputs):
    return "".join(message["content"] for message in PROMPT.messages(inputs))


def n_common(one, other):
    return len(list(takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))))


def cases(*passages):
    return [{"passage": p, "sentence": f"{n} says so."} for n, p in enumerate(passages)]


def asking(inputs):
    asked = PromptSizes()
    for each in inputs:
        asked.add(PROMPT, each, {"verdict": "full_support"})
    return asked


def plan(model, asked):
    entry = ModelConfig.model_validate(
        {"model": "hosted_vllm/m", "api_base": "http://h/v1"} | model
    )
    return estimated(Config(models={"default": entry}), "support", asked)


@given(st.lists(st.text(string.ascii_letters + "é[<", max_size=50), min_size=1, max_size=6))
def test_cached_is_what_consecutive_prompts_begin_with(passages):
    inputs = cases(*passages)
    asked = asking(inputs)
    texts = [whole(each) for each in inputs]
    assert asked.calls == len(passages)
    assert asked.prompt_tokens == sum(len(text) // CHARS_PER_TOKEN for text in texts)
    assert asked.cached_tokens == sum(
        n_common(*pair) // CHARS_PER_TOKEN for pair in pairwise(texts)
    )


def test_one_passage_after_the_other_shares_more_than_passages_by_turns():
    in_order = asking(cases(LONG, LONG, OTHER, OTHER))
    by_turns = asking(cases(LONG, OTHER, LONG, OTHER))
    assert in_order.prompt_tokens == by_turns.prompt_tokens
    n_passages = (len(LONG) + len(OTHER)) / CHARS_PER_TOKEN
    gained = in_order.cached_tokens - by_turns.cached_tokens
    assert gained == pytest.approx(n_passages, abs=10)


def test_questions_that_take_turns_share_with_their_own_kind():
    other = SupportJudge(model="lexical").prompt("judge")
    asked = PromptSizes()
    for prompt in (PROMPT, other, PROMPT, other):
        asked.add(prompt, cases(LONG)[0], {})
    assert asked.cached_tokens == 2 * (len(whole(cases(LONG)[0])) // CHARS_PER_TOKEN)


@pytest.mark.parametrize(
    "reply", [{"verdict": "no support"}, {"verdict": "é" * 30}, {"a": "\ud800"}]
)
def test_a_reply_is_as_long_as_its_json_with_letters_as_they_are_and_marks_twice(reply):
    asked = PromptSizes()
    asked.add(PROMPT, cases(LONG)[0], reply)
    (value,) = reply.values()
    shown = len(value) + len(next(iter(reply))) + len(" ") + 2 * len('{"":""}')
    assert asked.reply_tokens == shown // CHARS_PER_TOKEN + 1


def counted(prompt, cached, calls=100):
    """So many calls, with ten tokens in each reply."""
    asked = PromptSizes()
    asked.calls, asked.prompt_tokens, asked.cached_tokens = calls, prompt, cached
    asked.reply_tokens = 10 * calls
    return asked


def test_cached_tokens_cost_their_own_price_where_there_is_one():
    asked = counted(prompt=1_000_000, cached=400_000)
    price = {"input": 0.5, "output": 1.5}
    replies = 100 * 10 * 1.5 / 1e6
    assert plan({"price": price}, asked).cost == pytest.approx(0.5 + replies)
    price["cached_input"] = 0.1
    assert plan({"price": price}, asked).cost == pytest.approx(0.6 * 0.5 + 0.4 * 0.1 + replies)
    assert plan({}, asked).cost is None
