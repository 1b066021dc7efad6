"""The light path talks to the endpoint of the config alone, and keeps its key to itself."""

import json
import logging
import traceback
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import HtmlBody, MockServer, NotChatShape, Says, Status, Supports

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt, Wire
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge

KEY = "sk-very-secret-0123456789"
AMBIENT = ("OPENAI_API_BASE", "OPENAI_BASE_URL", "OPENAI_API_HOST")


@pytest.fixture
def locked():
    """A server that wants a key."""
    with MockServer(api_key=KEY) as server:
        yield server


@pytest.fixture
def key_env(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    return "MY_KEY"


# --- nothing ambient


def test_ambient_addresses_have_no_effect(model_server, open_gateway, ask, monkeypatch):
    with MockServer() as trap:
        for name in AMBIENT:
            monkeypatch.setenv(name, trap.base_url)
        ask(open_gateway())
        assert trap.requests == []
    assert len(model_server.requests) == 1


def test_a_planted_env_file_has_no_effect(model_server, open_gateway, ask, tmp_path, monkeypatch):
    with MockServer() as trap:
        (tmp_path / ".env").write_text(
            f"OPENAI_API_BASE={trap.base_url}\nOPENAI_API_KEY={KEY}\n", encoding="utf-8"
        )
        monkeypatch.chdir(tmp_path)
        ask(open_gateway())
        assert trap.requests == []
    assert "authorization" not in model_server.requests[0].headers


def test_a_netrc_has_no_effect(model_server, open_gateway, ask, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text(f"machine 127.0.0.1 login me password {KEY}\n", encoding="utf-8")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    ask(open_gateway())
    assert "authorization" not in model_server.requests[0].headers


def test_openais_key_is_not_sent_to_an_endpoint_of_ones_own(
    model_server, open_gateway, ask, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    ask(open_gateway())
    assert KEY not in str(model_server.requests[0].headers)


# --- the key


def test_a_named_key_opens_the_door(locked, open_gateway, ask, key_env):
    assert ask(open_gateway(locked, api_key_env=key_env)).values
    assert locked.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_without_its_key_a_model_does_not_open(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    config = ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    with pytest.raises(EndpointUnusable, match="MY_KEY is not set"):
        open_backend(config)


@pytest.mark.parametrize("key", ["sk-\x07bell", "sk-ключ", "two\r\nlines"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key, monkeypatch):
    monkeypatch.setenv("MY_KEY", key)
    config = ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    with pytest.raises(EndpointUnusable, match="is not allowed in a header") as caught:
        open_backend(config)
    assert key not in str(caught.value)


ECHOES = {
    "401": Status(401, body={"error": {"message": f"Incorrect API key provided: {KEY}."}}),
    "500": Status(500, body=f"debug: Authorization: Bearer {KEY}"),
    "400": Status(400, body={"error": {"message": f"bad request by {KEY}"}}),
    "page": HtmlBody(f"<p>{KEY}</p>"),
    "shape": NotChatShape({"you sent": KEY}),
    "cut by the limit of the message": NotChatShape("x" * 65 + KEY),
    "content": NotChatShape({"choices": [{"message": {"content": KEY}, "finish_reason": "stop"}]}),
    "refusal": NotChatShape({"choices": [{"message": {"refusal": KEY, "content": None}}]}),
}
ESCAPED = KEY.replace("-", "\\u002D").replace("s", "\\u0073")
BY_CODE = "".join(f"\\u{ord(char):04x}" for char in KEY)
INNER = '{"verdict": "BY_CODE"}'.replace("BY_CODE", BY_CODE)


ECHOES |= {
    "escaped error": Status(400, body=f'{{"error": {{"message": "no {BY_CODE}"}}}}'),
    "escaped in part": Status(500, body=f'{{"error": {{"message": "no {ESCAPED}"}}}}'),
    "escaped twice": Status(400, body=json.dumps({"error": json.dumps({"key": BY_CODE})})),
    "escaped shape": HtmlBody(f'{{"you sent": "{BY_CODE}"}}'),
    "escaped label": Says(INNER),
    "escaped prose": Says("You sent " + BY_CODE),
    "label cut in the detail": Says(json.dumps({"verdict": "x" * 60 + KEY})),
}


@pytest.mark.parametrize("echo", ECHOES)
def test_a_server_that_repeats_the_key_does_not_make_us_repeat_it(
    echo, locked, open_gateway, ask, key_env, caplog, cache, recwarn
):
    caplog.set_level(logging.DEBUG)
    locked.faults = lambda index, body: ECHOES[echo]
    gateway = open_gateway(locked, api_key_env=key_env, retries=1, cache=cache)
    with pytest.raises((EndpointUnusable, JudgeError)) as caught:
        ask(gateway)
    error = caught.value
    shown = [str(error), repr(error), getattr(error, "raw", ""), *traceback.format_exception(error)]
    shown += [repr(vars(error)), repr(gateway), repr(gateway._transport), caplog.text]
    shown += [str(warning.message) for warning in recwarn]
    assert KEY not in "".join(shown)
    assert KEY[:12] not in "".join(shown)
    assert BY_CODE[:72] not in "".join(shown).replace("\\\\", "\\")


def test_a_slash_in_a_key_may_come_back_escaped(open_gateway, ask, monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-abc/def/ghi")
    with MockServer(api_key="another") as server:
        body = r'{"error": {"message": "Wrong key: sk-abc\/def\/ghi"}}'
        server.faults = lambda index, _: Status(401, body=body)
        with pytest.raises(EndpointUnusable, match=r"Wrong key: \*\*\*") as caught:
            ask(open_gateway(server, api_key_env="MY_KEY"))
    assert "sk-abc" not in str(caught.value)


@pytest.mark.parametrize("key", ["full", "none", "1", "verdict", "stop"])
def test_a_short_key_spoils_no_reply_and_no_error(key, open_gateway, ask, monkeypatch, cache):
    monkeypatch.setenv("MY_KEY", key)
    with MockServer(brain=lambda body: {"verdict": "full"}) as server:
        gateway = open_gateway(server, api_key_env="MY_KEY", cache=cache)
        assert ask(gateway).values == {"verdict": "full"}
        assert ask(gateway).provenance.cache_hit
        server.faults = lambda index, _: Status(400, body={"error": {"message": f"bad: {key}"}})
        with pytest.raises(JudgeError, match=f"bad: {key}"):
            ask(gateway, "another")


@pytest.mark.parametrize("how", ["plain", "by code"])
def test_a_judgement_that_repeats_the_key_counts_and_is_not_cached(
    how, locked, open_gateway, support, key_env, cache, monkeypatch
):
    key_text = KEY if how == "plain" else BY_CODE
    inputs = {"passage": "p", "sentence": "s"}
    asked = support.of(inputs)
    monkeypatch.setattr(asked, "parse", lambda text, inputs: {"verdict": text})
    locked.faults = [Says(key_text)]
    gateway = open_gateway(locked, api_key_env=key_env, cache=cache)
    assert run_sync(gateway.ask(support, inputs)).values == {"verdict": key_text}
    assert cache.counts() == {}


def test_the_key_is_in_no_file_of_the_cache(locked, open_gateway, ask, key_env, cache: object):
    gateway = open_gateway(locked, api_key_env=key_env, cache=cache)
    ask(gateway)
    folder: Path = cache.folder  # type: ignore[attr-defined]
    cache.flush()  # type: ignore[attr-defined]
    written = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert b"verdict" in written
    assert KEY.encode() not in written


# --- what is read


def test_missing_usage_is_read_as_zero_and_odd_counts_too(model_server, open_gateway, ask):
    model_server.supports = Supports(usage=False)
    assert ask(open_gateway()).provenance.prompt_tokens == 0
    message = {"content": '{"verdict": "full"}'}
    for usage in (
        None,
        {"prompt_tokens": "12", "completion_tokens": -3},
        {"prompt_tokens": None, "prompt_tokens_details": None},
        {"prompt_tokens": 2**53, "completion_tokens": 2**63 - 1},
        {"prompt_tokens": 10**8 + 1, "completion_tokens": 10**30},
        {"prompt_tokens": 1.5, "prompt_tokens_details": {"cached_tokens": True}},
    ):
        body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        model_server.faults = [NotChatShape(body)]
        where = ask(open_gateway()).provenance
        assert (where.prompt_tokens, where.cached_tokens, where.completion_tokens) == (0, 0, 0)


def test_the_model_that_answered_is_told_as_the_endpoint_names_it(model_server, open_gateway, ask):
    message = {"content": '{"verdict": "full"}'}
    body = {"model": "mock-2024-08-06", "choices": [{"message": message}]}
    model_server.faults = [NotChatShape(body)]
    where = ask(open_gateway()).provenance
    assert (where.model, where.finish_reason) == ("mock-2024-08-06", "")


def test_parameters_go_out_as_the_config_says(model_server, open_gateway, ask):
    model_server.brain = lambda body: {"verdict": "full"}
    ask(open_gateway(temperature=None, top_p=0.5, max_tokens=77, seed=3, extra_body={"k": [1]}))
    body = model_server.requests[0].body
    assert "temperature" not in body
    assert {name: body[name] for name in ("top_p", "max_tokens", "seed", "k")} == {
        "top_p": 0.5, "max_tokens": 77, "seed": 3, "k": [1],
    }  # fmt: skip
    assert set(body) == {
        *("model", "messages", "response_format", "top_p", "max_tokens", "seed", "k")
    }


# --- Retry-After (RFC 9110, 10.2.3)


# The key of a reply moves with everything that could change it; the body is what was compiled.
SUPPORT = SupportJudge(model="lexical").prompt("judge")
RELEVANCE = RelevanceJudge(model="lexical").prompt("judge")
ASSIGN = NuggetAssigner(model="lexical").prompt("assign")
INPUTS = {"passage": "p", "sentence": "s"}
BASE = {"model": "openai/m", "api_base": "http://127.0.0.1:8000/v1"}


def user_of(prompt: Prompt, inputs: Any) -> bytes:
    return prompt.of(inputs).escape_last_message(inputs)


def key(prompt: Prompt = SUPPORT, inputs: Any = INPUTS, replicate: int = 0, **more: Any) -> bytes:
    wire = Wire(ModelConfig(**BASE | more), prompt, prompt.shape(inputs))
    return wire.key(user_of(prompt, inputs), replicate)


def test_each_part_of_a_question_moves_its_key_and_nothing_else_does():
    signature = SupportJudge(model="lexical").judge.signature
    demo = {"passage": "p", "sentence": "s", "verdict": "full"}
    different = [
        key(), key(api_base="http://127.0.0.1:8001/v1"), key(api_base="http://localhost:8000/v1"),
        key(endpoint="the big machine"), key(model="openai/m2"), key(engine="litellm"),
        key(temperature=0.5), key(temperature=None), key(top_p=0.9), key(max_tokens=100),
        key(seed=1), key(seed=0), key(logprobs=True), key(logprobs=5), key(schema="json_object"),
        key(schema="none"), key(extra_body={"min_p": 0.1}), key(replicate=1), key(replicate=2),
        key(inputs={"passage": "p ", "sentence": "s"}),
        key(inputs={"passage": "s", "sentence": "p"}), key(Prompt(signature, [demo])),
        key(Prompt(signature.with_instructions("Say it."))),
        key(RELEVANCE, {"passage": "p", "question": "s"}),
    ]  # fmt: skip
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
