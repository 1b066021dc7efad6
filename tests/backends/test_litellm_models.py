"""LiteLLM reaches the endpoint of the config, with its key or none, and reads nothing ambient.

LiteLLM is slow to import, reads the environment at import and prints: what needs a clean process
shares one; the rest is done in this one.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import processes
import pytest
from mock_server import MockServer, NotChatShape, Reply, Status, Supports
from raw_servers import Proxy, RawServer, listening

from nuggetjudge.backends import http, open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointError, EndpointLost, EndpointUnusable, JudgeError
from nuggetjudge.backends.litellm_models import LiteLLMTransport
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.secrecy import _KEYS, check_keys
from nuggetjudge.records.judgements import Reason

KEY = "sk-very-secret-0123456789"
ASK = """
import json, logging, os, sys
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import SupportJudge
prompt = SupportJudge(model="lexical").prompt("judge")
logging.basicConfig()
for settings, level in json.loads(sys.argv[1]):
    logging.getLogger().setLevel(level)
    before = dict(os.environ)
    try:
        backend = open_backend(ModelConfig(**settings))
        reply = run_sync(backend.ask(prompt, {"passage": "p", "sentence": "s"}))
        told = {"values": reply.values}
    except Exception as error:
        told = {"error": type(error).__name__, "text": str(error)}
    told["env"] = sorted(set(os.environ.items()) ^ set(before.items()))
    print(json.dumps(told) + chr(12), flush=True)
    print(end=chr(12), file=sys.stderr, flush=True)
"""


@dataclass(frozen=True)
class Alone:
    """What a process of its own did in surroundings that would lead it astray."""

    outcomes: list[dict[str, Any]]  # a request that is answered; one refused; one refused, in DEBUG
    others: list[str]  # what else each of them printed
    answering: MockServer
    refusing: MockServer
    trap: MockServer


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    """LiteLLM in a process of its own, with planted variables and a planted `.env`."""
    folder = tmp_path_factory.mktemp("planted")
    with MockServer() as trap, MockServer() as answering, MockServer(api_key="another") as refusing:
        planted = f"OPENAI_API_BASE={trap.base_url}\nOPENAI_BASE_URL={trap.base_url}\n"
        planted += f"OPENAI_API_KEY={KEY}\nUSE_LITELLM_PROXY=True\n"
        (folder / ".env").write_text(planted, encoding="utf-8")
        own = {"model": "openai/mock", "engine": "litellm", "retries": 0}
        keyed = own | {"api_base": refusing.base_url, "api_key_env": "MY_KEY"}
        scenarios = [(own | {"api_base": answering.base_url}, "WARNING")]
        scenarios += [(keyed, "WARNING"), (keyed, "DEBUG")]
        ambient = dict.fromkeys(("OPENAI_API_BASE", "OPENAI_BASE_URL"), trap.base_url)
        proxies = ("HTTP_PROXY", "http_proxy", "ALL_PROXY")
        ambient |= dict.fromkeys(proxies, f"http://127.0.0.1:{trap.port}")
        ambient |= {"OPENAI_API_KEY": "sk-ambient", "MY_KEY": KEY}
        done = processes.run(
            *("-c", ASK, json.dumps(scenarios)), cwd=folder, env=os.environ | ambient, real=True,
            timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        texts = [text.rpartition("\n") for text in done.stdout.split("\f")[:-1]]
        outcomes = [json.loads(line) for _, _, line in texts]
        outputs = zip(texts, done.stderr.split("\f")[:-1], strict=True)
        others = [(out + err).strip() for (out, _, _), err in outputs]
        yield Alone(outcomes, others, answering, refusing, trap)


@pytest.fixture
def open_litellm(open_gateway):
    def make(server: MockServer | None = None, **settings: Any) -> Any:
        return open_gateway(server, engine="litellm", timeout_s=20.0, **settings)

    return make


def failure(gateway: Any, ask: Any) -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        ask(gateway)
    return caught.value


def test_log_probabilities_weigh_the_label(model_server, open_litellm, ask):
    shares = {"full": 0.5, "partial": 0.3, "none": 0.2}
    model_server.brain = lambda body: Reply('{"verdict": "partial"}', probabilities=shares)
    assert ask(open_litellm(logprobs=True)).probabilities == {"verdict": pytest.approx(shares)}
    asked = [(r.body["logprobs"], r.body["top_logprobs"]) for r in model_server.requests]
    assert asked == [(True, 20)]


def test_the_schema_and_the_very_same_messages_go_out(model_server, open_litellm, ask, support):
    model_server.supports = Supports(openai_rules=True)
    reply = ask(open_litellm())
    assert reply.provenance.model == "mock"
    assert reply.provenance.prompt_tokens > 0 < reply.provenance.cached_tokens
    (received,) = model_server.requests
    inputs = {"passage": "Rain fell all day.", "sentence": "It rained."}
    assert received.body["messages"] == support.messages(inputs)
    form = received.body["response_format"]["json_schema"]
    assert form == {"name": "JudgeSupport", "strict": True, "schema": support.schema()}
    assert received.body["temperature"] == 0


def test_a_429_waits_as_asked_and_litellm_adds_no_retries_of_its_own(
    model_server, open_litellm, ask
):
    model_server.faults = [Status(429, retry_after="0.3")]
    assert ask(open_litellm(retries=1)).provenance.attempts == 2
    first, second = model_server.requests
    assert 0.3 <= second.started_s - first.started_s < 3
    model_server.clear()
    model_server.faults = lambda index, body: Status(500)
    assert isinstance(failure(open_litellm(retries=2), ask), EndpointLost)
    assert len(model_server.requests) == 3


@pytest.mark.parametrize(
    "fault",
    [
        Status(401),
        Status(403),
        Status(404),
        Status(429, body={"error": {"message": "quota", "code": "insufficient_quota"}}),
    ],
    ids=repr,
)
def test_what_no_request_can_pass_ends_everything(fault, model_server, open_litellm, ask):
    model_server.faults = lambda index, body: fault
    with pytest.raises(EndpointUnusable):
        ask(open_litellm())
    assert len(model_server.requests) == 1


def test_a_prompt_too_long_says_so(open_litellm, ask):
    with MockServer(context_length=20) as server:
        error = failure(open_litellm(server), ask)
    assert "longer than the model's context" in error.detail
    assert len(server.requests) == 1


def test_a_reply_of_another_shape_is_lost_and_not_made_up(model_server, open_litellm, ask):
    model_server.faults = lambda index, body: NotChatShape()
    assert failure(open_litellm(retries=0), ask).reason in (Reason.ERROR, Reason.UNPARSEABLE)


def test_a_reply_over_the_bound_is_truncated_and_asked_once(
    model_server, open_litellm, ask, monkeypatch
):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1000)
    model_server.brain = lambda body: Reply('{"verdict": "full"}' + " " * 2000)
    error = failure(open_litellm(max_tokens=9000), ask)
    assert error.reason is Reason.TRUNCATED
    assert "more than 1,000 bytes" in error.detail
    assert len(model_server.requests) == 1


def test_a_key_goes_out_and_comes_back_in_no_error(model_server, open_litellm, ask, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-another-0123456789")
    body = {"error": {"message": "x" * 180 + KEY + " sk-another-0123456789"}}
    model_server.faults = lambda index, _: Status(400, body=body)
    error = failure(open_litellm(api_key_env="MY_KEY"), ask)
    assert model_server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY[:12] not in repr(error) + str(vars(error))
    assert "sk-another" not in repr(error) + str(vars(error))


@pytest.mark.parametrize("name", ["OPENAI_API_BASE", "OPENAI_BASE_URL", "USE_LITELLM_PROXY"])
def test_a_variable_that_would_redirect_the_call_is_named(name, monkeypatch):
    monkeypatch.setenv(name, "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with pytest.raises(EndpointUnusable, match=name):
        open_backend(ModelConfig(model="openai/gpt-4o", engine="litellm"))


def test_without_its_key_a_model_does_not_open(monkeypatch):
    monkeypatch.delenv("MY_KEY", raising=False)
    with pytest.raises(EndpointUnusable, match="MY_KEY is not set"):
        open_backend(ModelConfig(model="anthropic/claude", api_key_env="MY_KEY"))


@pytest.fixture
def without_keys(monkeypatch):
    for name in [name for name in os.environ if name.endswith(("_KEY", "_TOKEN"))]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("provider", sorted(_KEYS))
def test_the_key_of_a_provider_is_missed_before_anything_is_asked(
    provider, without_keys, monkeypatch
):
    """LiteLLM's own check of the environment agrees, of a variable that is not empty."""
    import litellm

    model = ModelConfig(model=f"{provider.lower()}/any", engine="litellm")
    for value in ("", " "):
        monkeypatch.setenv(_KEYS[provider][0], value)
        with pytest.raises(EndpointUnusable, match=f"{_KEYS[provider][0]} is not set"):
            open_backend(model)
    monkeypatch.delenv(_KEYS[provider][0])
    told = litellm.validate_environment(model.model)["missing_keys"]
    assert set(told) <= set(_KEYS[provider])
    for name in _KEYS[provider]:
        monkeypatch.setenv(name, KEY)
        check_keys([model])
        monkeypatch.delenv(name)


def test_azure_wants_the_url_and_the_variable_of_a_resource(without_keys, monkeypatch):
    monkeypatch.setenv("AZURE_API_KEY", KEY)
    at = {"api_base": "https://mine.openai.azure.test"}
    for settings, message in (
        ({}, "set the model's api_base, the URL"),
        (at, "set the model's api_key_env, the variable"),
        (at | {"api_key_env": "MY_KEY"}, "environment variable MY_KEY is not set"),
    ):
        with pytest.raises(EndpointUnusable, match=re.escape(message)):
            open_backend(ModelConfig(model="azure/gpt-4o", **settings))
    check_keys([ModelConfig(model="azure/gpt-4o", api_key_env="AZURE_API_KEY", **at)])


def test_a_planted_env_file_and_ambient_settings_have_no_effect(alone):
    assert alone.trap.requests == []
    assert alone.others[0] == ""
    assert alone.outcomes[0]["values"]["verdict"] in ("none", "partial", "full")
    # Importing LiteLLM left the environment as it was; no proxy gets what is for this machine.
    changed = [["NO_PROXY", "127.0.0.1"], ["no_proxy", "127.0.0.1"]]
    assert alone.outcomes[0]["env"] == changed
    (received,) = alone.answering.requests
    assert "ambient" not in str(received.headers)
    assert KEY not in str(received.headers)


@pytest.mark.parametrize(("which", "level"), [(1, "WARNING"), (2, "DEBUG")])
def test_errors_print_nothing_and_no_log_shows_the_key(which, level, alone):
    assert alone.outcomes[which]["error"] == "EndpointUnusable"
    assert KEY not in alone.others[which] + alone.outcomes[which]["text"]
    assert bool(alone.others[which]) == (level == "DEBUG")
    assert len(alone.refusing.requests) == 2  # one each


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_calls_go_through_a_proxy_of_the_environment_which_sees_no_key(scheme, monkeypatch):
    async def go():
        server = RawServer()
        async with listening(server) as port:
            proxy = Proxy(port, b"" if scheme == "http" else b"403 Forbidden")
            async with listening(proxy) as proxy_port:
                monkeypatch.setenv(f"{scheme.upper()}_PROXY", f"http://127.0.0.1:{proxy_port}")
                monkeypatch.setenv("MY_KEY", "sk-0123456789")
                known = {"model": "openai/m", "engine": "litellm", "api_key_env": "MY_KEY"}
                config = ModelConfig(**known, api_base=f"{scheme}://{scheme}.endpoint.test/v1")
                body = b'{"model": "openai/m", "messages": [{"role": "user", "content": "x"}]}'
                if scheme == "http":
                    assert (await LiteLLMTransport(config).send(body)).text == "yes"
                    assert proxy.heads[0].startswith(b"POST http://http.endpoint.test/v1/chat/")
                else:
                    with pytest.raises(EndpointError):
                        await LiteLLMTransport(config).send(body)
                    assert proxy.heads[0].startswith(b"CONNECT https.endpoint.test:443 ")
                    assert b"sk-0123456789" not in proxy.heads[0]

    run_sync(go())  # the loop of all calls, where LiteLLM has its tasks
