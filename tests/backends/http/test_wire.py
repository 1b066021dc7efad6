"""The key of a reply moves with everything that could change it; the body is what was compiled."""

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.prompt import Prompt, Wire
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge

SUPPORT = SupportJudge(model="lexical").prompt("judge")
RELEVANCE = RelevanceJudge(model="lexical").prompt("judge")
ASSIGN = NuggetAssigner(model="lexical").prompt("assign")
INPUTS = {"passage": "p", "sentence": "s"}
BASE = {"model": "openai/m", "api_base": "http://127.0.0.1:8000/v1"}


def user_of(prompt: Prompt, inputs: Any) -> bytes:
    return prompt.of(inputs).escaped(inputs)


def key(prompt: Prompt = SUPPORT, inputs: Any = INPUTS, replicate: int = 0, **more: Any) -> bytes:
    wire = Wire(ModelConfig(**BASE | more), prompt, prompt.shape(inputs))
    return wire.key(user_of(prompt, inputs), replicate)


def test_each_part_of_a_question_moves_its_key_and_nothing_else_does():
    signature = SupportJudge(model="lexical").judge.signature
    demo = {"passage": "p", "sentence": "s", "verdict": "full"}
    different = [
        key(),
        key(api_base="http://127.0.0.1:8001/v1"),
        key(api_base="http://localhost:8000/v1"),
        key(endpoint="the big machine"),
        key(model="openai/m2"),
        key(engine="litellm"),
        key(temperature=0.5),
        key(temperature=None),
        key(top_p=0.9),
        key(max_tokens=100),
        key(seed=1),
        key(seed=0),
        key(logprobs=True),
        key(logprobs=5),
        key(schema="json_object"),
        key(schema="none"),
        key(extra_body={"min_p": 0.1}),
        key(replicate=1),
        key(replicate=2),
        key(inputs={"passage": "p ", "sentence": "s"}),
        key(inputs={"passage": "s", "sentence": "p"}),
        key(Prompt(signature, [demo])),
        key(Prompt(signature.with_instructions("Say it."))),
        key(RELEVANCE, {"passage": "p", "question": "s"}),
    ]
    for one, other in combinations(range(len(different)), 2):
        assert different[one] != different[other], (one, other)
    assert {len(each) for each in different} == {20}
    assert key(concurrency=1, rpm=5, tpm=9, timeout_s=1, deadline_s=2, retries=0) == key()
    assert key(price={"input": 1, "output": 2}, context_length=99) == key()
    assert key(api_base=BASE["api_base"] + "/") == key()
    assert key(Prompt(signature)) == key()


def test_two_addresses_share_replies_only_under_one_declared_name():
    one = key(api_base="http://127.0.0.1:1/v1", endpoint="cluster")
    assert one == key(api_base="http://127.0.0.1:2/v1", endpoint="cluster")


def test_a_replicate_cannot_be_imitated_by_a_text():
    text = {"passage": "p", "sentence": "s\x00replicate 1"}
    assert key(inputs=text) != key(replicate=1)


def test_a_key_does_not_depend_on_the_order_of_the_inputs_given():
    assert key(inputs={"sentence": "s", "passage": "p"}) == key()


@given(inputs=st.fixed_dictionaries({"passage": st.text(), "sentence": st.text()}))
def test_the_body_holds_the_compiled_messages(inputs):
    config = ModelConfig(**BASE, max_tokens=50, extra_body={"min_p": 0.1, "note": "\ue000"})
    prompt = SUPPORT.of(inputs)
    body = json.loads(Wire(config, prompt, ()).body(user_of(prompt, inputs)))
    assert body == {
        "model": "m",
        "messages": prompt.messages(inputs),
        "temperature": 0.0,
        "max_tokens": 50,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "JudgeSupport", "strict": True, "schema": SUPPORT.schema()},
        },
        "min_p": 0.1,
        "note": "\ue000",
    }


@pytest.mark.parametrize("mark", ["\ue000", "\ue000probe\ue000"])
def test_a_prompt_may_hold_any_character(mark):
    signature = SupportJudge(model="lexical").judge.signature.with_instructions(f"Say {mark}.")
    prompt = Prompt(signature, [{"passage": mark, "sentence": mark, "verdict": "full"}]).of(INPUTS)
    body = json.loads(Wire(ModelConfig(**BASE), prompt, ()).body(user_of(prompt, INPUTS)))
    assert body["messages"] == prompt.messages(INPUTS)


def test_keys_of_a_map_stand_in_the_schema_in_their_order():
    inputs = {"question": "q", "answer": "a", "nuggets": {"b": "1", "a": "2"}}
    wire = Wire(ModelConfig(**BASE), ASSIGN, ASSIGN.shape(inputs))
    sent = json.loads(wire.body(user_of(ASSIGN, inputs)))["response_format"]["json_schema"]
    assert sent["schema"]["properties"]["verdicts"]["required"] == ["b", "a"]
