"""What may be said about a model, and what it means."""

import json
import subprocess
import sys
from datetime import date

import pytest
from pydantic import ValidationError

from nuggetjudge.backends.config import OPENAI_BASE, ModelConfig
from nuggetjudge.backends.errors import find_refused_part, read_error

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
        "stop_token_ids": [1], "max_completion_tokens": 9,
        "thinking": {"type": "enabled", "budget_tokens": 5},
        "provider": {"order": ["a"], "model": "b", "n": 1}, "skip_special_tokens": False,
    }  # fmt: skip
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


# What an endpoint's error says it does not take, in the words of several servers.
BASE = {"model": "openai/m", "api_base": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("temperature is not supported with this model", "temperature"),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        ("max_completion_tokens: Extra inputs are not permitted", "max_completion_tokens"),
        ('{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]} not allowed', "seed"),
        ("Invalid value for 'top_logprobs': must be at most 5.", "top_logprobs"),
        ("logprobs is not supported", "logprobs"),
        ("'response_format' of type 'json_schema' is not supported here.", "response_format"),
        ("System role not supported", "system"),
        ("The model doesn't support system messages", "system"),
        ("Invalid request.", ""),
        ("The prompt is too long, and temperature is not supported", ""),
        ("The passage says that the temperature rose.", ""),
        ("Overloaded", ""),
    ],
)
def test_an_errors_words_name_the_part_that_is_refused(message, part):
    assert find_refused_part(message) == part


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b'{"error":{"message":"m","code":"c","param":"p"}}', ("c", "m", "p")),
        (b'{"error":{"message":"m","type":"t","code":null}}', ("t", "m", "")),
        (b'{"error":{"message":"m","param":3}}', ("", "m", "")),
        (b'{"error":"m"}', ("", '{"error":"m"}', "")),
        (b"<html>", ("", "<html>", "")),
    ],
)
def test_errors_of_any_shape_are_read(raw, error):
    assert read_error(raw) == error


def test_what_a_request_calls_things_is_part_of_a_judges_identity_only_where_it_is_said():
    """So journals of before are found by what they were."""
    plain = ModelConfig(**BASE).identity()
    assert not {"max_tokens_name", "system_role"} & plain.keys()
    assert (
        ModelConfig(**BASE, system_role="system", max_tokens_name="max_tokens").identity() == plain
    )
    assert ModelConfig(**BASE, system_role="user").identity() == {**plain, "system_role": "user"}


# Importing does nothing: no file, no socket, no environment, no logging, no DSPy setting.
WATCH = """
import logging, os, sys
touched = []
def hook(event, args):
    if event.startswith(("socket.", "sqlite3.", "subprocess.", "os.mkdir", "os.putenv")):
        touched.append(f"{event} {args!r}"[:200])
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        touched.append(f"open {args[0]!r}")
    if event == "open" and str(args[0]).endswith(".env"):
        touched.append(f"open {args[0]!r}")
import dspy, pydantic, aiohttp, diskcache  # what they do themselves is not ours
before = dict(os.environ)
handlers = {n: list(getattr(g, "handlers", [])) for n, g in logging.root.manager.loggerDict.items()}
level, root = logging.root.level, list(logging.root.handlers)
settings = dspy.settings.copy()
sys.addaudithook(hook)
import threading
"""
CHECK = """
import json
changed = {
    "touched": touched,
    "env": sorted(set(os.environ.items()) ^ set(before.items())),
    "root": logging.root.level != level or logging.root.handlers != root,
    "handlers": [
        n for n, g in logging.root.manager.loggerDict.items()
        if getattr(g, "handlers", []) != handlers.get(n, [])
    ],
    "dspy": {k: str(v) for k, v in dspy.settings.copy().items() if settings.get(k) is not v},
    "threads": [t.name for t in threading.enumerate()],
    "heavy": sorted({"litellm", "torch", "vllm", "pyserini", "openai"} & set(sys.modules)),
}
print(json.dumps(changed))
"""
NOTHING = {
    "touched": [], "env": [], "root": False, "handlers": [], "dspy": {},
    "threads": ["MainThread"], "heavy": [],
}  # fmt: skip


def watched(code: str, folder: object) -> object:
    done = subprocess.run(
        [sys.executable, "-c", f"{WATCH}\n{code}\n{CHECK}"], cwd=str(folder), capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "code",
    [
        "import nuggetjudge",
        "import nuggetjudge.backends",
        "import nuggetjudge.judges",
        "import nuggetjudge.backends.cache, nuggetjudge.backends.http, nuggetjudge.backends.loop",
        "import nuggetjudge.backends.litellm_models",
    ],
)
def test_importing_touches_nothing(code, tmp_path):
    (tmp_path / ".env").write_text(
        "OPENAI_API_KEY=planted\nOPENAI_API_BASE=http://127.0.0.1:9\n", encoding="utf-8"
    )
    assert watched(code, tmp_path) == NOTHING
    assert [path.name for path in tmp_path.iterdir()] == [".env"]


def test_opening_a_model_connects_to_nothing_and_starts_no_thread(tmp_path):
    code = """
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
open_backend(ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1"))
open_backend(ModelConfig(model="lexical"))
"""
    assert watched(code, tmp_path) == NOTHING


def test_the_watch_sees_what_it_watches_for(tmp_path):
    code = """
import socket
os.environ["PLANTED"] = "1"
socket.socket().close()
open("made", "w").close()
logging.basicConfig()
dspy.configure(lm=dspy.utils.DummyLM([]))
"""
    seen = watched(code, tmp_path)
    assert isinstance(seen, dict)
    assert [name for name in NOTHING if seen[name] != NOTHING[name]] == [
        "touched", "env", "root", "dspy",
    ]  # fmt: skip
