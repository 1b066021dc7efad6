"""What may be said about a model, and what it means."""

from datetime import date

import pytest
from pydantic import ValidationError

from nuggetjudge.backends.config import OPENAI_BASE, ModelConfig

LOCAL = "http://127.0.0.1:8000/v1"
KEY = "sk-very-secret-0123456789"


@pytest.mark.parametrize(
    ("settings", "way", "wire_name"),
    [
        ({"model": "lexical"}, "lexical", "lexical"),
        ({"model": "openai/gpt-4o"}, "http", "gpt-4o"),
        ({"model": "hosted_vllm/Qwen/Qwen3-8B", "api_base": LOCAL}, "http", "Qwen/Qwen3-8B"),
        ({"model": "anthropic/claude"}, "litellm", "anthropic/claude"),
        ({"model": "openai/x", "engine": "litellm"}, "litellm", "openai/x"),
        ({"model": "x", "engine": "http", "api_base": LOCAL}, "http", "x"),
    ],
)
def test_the_prefix_names_the_way_unless_the_engine_is_named(settings, way, wire_name):
    config = ModelConfig(**settings)
    assert (config.way, config.wire_name) == (way, wire_name)


def test_the_endpoint_is_known_by_its_address_or_its_declared_name():
    assert ModelConfig(model="openai/gpt-4o").endpoint_id == OPENAI_BASE
    assert ModelConfig(model="openai/x", api_base=LOCAL + "/").endpoint_id == LOCAL
    assert ModelConfig(model="openai/x", api_base=LOCAL, endpoint="big").endpoint_id == "big"
    assert ModelConfig(model="anthropic/claude").endpoint_id == "litellm:anthropic"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "hosted_vllm/x"}, "needs api_base"),
        ({"model": "x", "engine": "recorded"}, "needs recording"),
        ({"model": "openai/x", "api_base": "127.0.0.1:8000/v1"}, "must be a URL"),
        ({"model": "openai/x", "api_base": "http://"}, "must be a URL"),
        ({"model": "openai/x", "api_base": "http:///v1"}, "must be a URL"),
        ({"model": "openai/x", "api_base": "http://host:port/v1"}, "must be a URL"),
        ({"model": "openai/x", "api_base": "http://host:99999/v1"}, "must be a URL"),
        ({"model": "openai/x", "api_base": "file:///etc/passwd"}, "must be a URL"),
        ({"model": "openai/x", "api_base": ""}, "must be a URL"),
        ({"model": "openai/x", "api_base": "http://me@host/v1"}, "must not hold a user"),
        ({"model": "openai/x", "api_base": "http://h/v1?a=b"}, "must not hold a query"),
        ({"model": "openai/x", "extra_body": {"stream": True}}, "'stream'"),
        ({"model": "openai/x", "extra_body": {"messages": []}}, "'messages'"),
        ({"model": "openai/x", "extra_body": {"api_base": LOCAL}}, "'api_base'"),
        ({"model": "openai/x", "extra_body": {"extra_headers": {"X-A": "b"}}}, "'extra_headers'"),
        ({"model": "openai/x", "extra_body": {"a": [{"b": {"apiKey": "k"}}]}}, "'apiKey'"),
        ({"model": "openai/x", "extra_body": {"a": {"Authorization": "k"}}}, "'Authorization'"),
        ({"model": "openai/x", "extra_body": {"a": {"X-Api-Key": "k"}}}, "'X-Api-Key'"),
        ({"model": "openai/x", "extra_body": {"aws_secret_access_key": "k"}}, "'aws_secret_acc"),
        ({"model": "openai/x", "extra_body": {"a": {"base_url": LOCAL}}}, "'base_url'"),
        ({"model": "openai/x", "extra_body": {"options": {"token": "k"}}}, "'token'"),
        ({"model": ""}, "at least 1 character"),
        ({"model": "lexical", "temprature": 0}, "temprature"),
        ({"model": "lexical", "concurrency": 0}, "concurrency"),
        ({"model": "lexical", "rpm": 0}, "rpm"),
        ({"model": "lexical", "temperature": -1}, "temperature"),
        ({"model": "lexical", "temperature": float("inf")}, "finite"),
        ({"model": "lexical", "temperature": float("nan")}, "finite"),
        ({"model": "lexical", "timeout_s": float("inf")}, "finite"),
        ({"model": "lexical", "price": {"input": float("nan"), "output": 1}}, "finite"),
        ({"model": "lexical", "seed": 2**63}, "seed"),
        ({"model": "lexical", "seed": -(2**63) - 1}, "seed"),
        ({"model": "lexical", "max_tokens": 10**30}, "max_tokens"),
        ({"model": "openai/x", "extra_body": {"day": date(2026, 1, 2)}}, "cannot be sent as JSON"),
        ({"model": "openai/x", "extra_body": {"a": {1: 2}}}, "cannot be sent as JSON"),
        ({"model": "openai/x", "extra_body": {"a": [float("nan")]}}, "cannot be sent as JSON"),
        ({"model": "openai/x", "extra_body": {"a": 10**30}}, "cannot be sent as JSON"),
        ({"model": "openai/x", "extra_body": {"a": "\ud800"}}, "cannot be sent as JSON"),
    ],
)
def test_what_cannot_work_is_refused_when_it_is_read(settings, message):
    with pytest.raises(ValidationError) as caught:
        ModelConfig(**settings)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"api_key_env": KEY},
        {"api_base": f"http://me:{KEY}@host/v1"},
        {"api_base": f"http://host/v1?key={KEY}"},
        {"extra_body": {"api_key": KEY}},
        {"extra_body": {"a": [{"headers": {"Authorization": KEY}}]}},
    ],
)
def test_a_key_in_the_wrong_place_is_refused_and_not_repeated(settings):
    with pytest.raises(ValidationError) as caught:
        ModelConfig(model="openai/x", **settings)
    assert KEY not in str(caught.value)


def test_what_servers_take_besides_goes_out_as_it_is():
    further = {
        "chat_template_kwargs": {"enable_thinking": False, "eos_token": "</s>"},
        "stop_token_ids": [1],
        "max_completion_tokens": 9,
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "provider": {"order": ["a"], "model": "b", "n": 1},
        "skip_special_tokens": False,
    }
    assert ModelConfig(model="openai/x", extra_body=further).extra_body == further


def test_a_key_goes_to_the_endpoint_that_it_was_named_for(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("MY_KEY", "mine")
    own = ModelConfig(model="openai/gpt-4o").api_key()
    assert own is not None
    assert own.get_secret_value() == KEY
    assert ModelConfig(model="openai/x", api_base=LOCAL).api_key() is None
    assert ModelConfig(model="hosted_vllm/x", api_base=LOCAL).api_key() is None
    assert ModelConfig(model="anthropic/claude").api_key() is None  # LiteLLM knows its variable
    named = ModelConfig(model="openai/x", api_base=LOCAL, api_key_env="MY_KEY").api_key()
    assert named is not None
    assert named.get_secret_value() == "mine"


@pytest.mark.parametrize("value", [None, "", " \n"])
def test_a_key_that_was_named_and_is_not_there_is_missed(value, monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    with pytest.raises(KeyError, match="MY_KEY"):
        ModelConfig(model="openai/x", api_base=LOCAL, api_key_env="MY_KEY").api_key()


def test_a_key_shows_in_no_form_of_a_config(monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    config = ModelConfig(model="openai/x", api_base=LOCAL, api_key_env="MY_KEY")
    shown = [repr(config), str(config), config.model_dump_json(), repr(config.api_key())]
    assert KEY not in "".join([*shown, str(config.identity())])


def test_the_identity_holds_what_can_change_a_reply_and_nothing_about_the_driving():
    one = ModelConfig(model="openai/x", api_base=LOCAL)
    driven = ModelConfig(model="openai/x", api_base=LOCAL, concurrency=1, rpm=5, retries=0)
    assert one.identity() == driven.identity()
    changes = [{"temperature": 1}, {"schema": "none"}, {"seed": 3}, {"endpoint": "e"}]
    for change in (*changes, {"logprobs": True}, {"logprobs": 5}):
        changed = ModelConfig(**{"model": "openai/x", "api_base": LOCAL} | change)
        assert changed.identity() != one.identity()
