"""The thread around vLLM, with a stand-in for vLLM: loading, sharing, and how an engine ends.

Real vLLM answers in tests/vllm.
"""

import asyncio
import gc
import importlib.util
import json
import os
import sys
import threading
from itertools import pairwise
from types import ModuleType, SimpleNamespace

import pytest
from pydantic import ValidationError
from vllm_docs import shown_command, shown_entry

from nuggetjudge.backends import http, open_backend
from nuggetjudge.backends import vllm_engine as vllm_engine
from nuggetjudge.backends.budget import get_price
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.backends.vllm_engine import JUDGING
from nuggetjudge.judges import SupportJudge
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError

REPLY = '{"verdict":"full"}'
ASKED = {"sentence": "Bees make honey.", "passage": "Honey is made by bees."}


class StandIn:
    """A `vllm.LLM` that answers each request with REPLY; `all` holds those that were made."""

    all: list["StandIn"] = []  # noqa: RUF012
    is_cpu = False
    fails_to_load = ""
    fails_at_step = ""
    finish_reason = "stop"

    def __init__(self, **options):
        if self.fails_to_load:
            raise RuntimeError(self.fails_to_load)
        self.options = options
        self.environment = dict(os.environ)
        self.requests = []
        self.waiting = []
        self.is_shut = False
        self.llm_engine = self.engine_core = self
        self.all.append(self)

    def enqueue_chat(self, messages, sampling_params, use_tqdm, chat_template_kwargs):
        number = str(len(self.requests))
        self.requests.append((messages[0], sampling_params[0].said, chat_template_kwargs))
        self.waiting.append(number)
        return [f"{number}-a1b2"]

    def step(self):
        if self.fails_at_step:
            raise RuntimeError(self.fails_at_step)
        said = SimpleNamespace(
            text=REPLY, finish_reason=self.finish_reason, token_ids=[1, 2, 3], logprobs=None
        )
        done = [
            SimpleNamespace(
                request_id=number, finished=True, prompt_token_ids=[0] * 40, num_cached_tokens=32,
                outputs=[said],
            )
            for number in self.waiting
        ]  # fmt: skip
        self.waiting = []
        return done

    def abort_request(self, numbers):
        self.waiting = [number for number in self.waiting if number not in numbers]

    def shutdown(self):
        self.is_shut = True


@pytest.fixture
def vllm(monkeypatch):
    """StandIn where vLLM would be imported from."""
    kind = type("LLM", (StandIn,), {"all": []})
    package, platforms, params = (
        ModuleType(name) for name in ("vllm", "vllm.platforms", "vllm.sampling_params")
    )
    package.LLM = kind
    platforms.current_platform = SimpleNamespace(is_cpu=lambda: kind.is_cpu)
    params.SamplingParams = lambda **said: SimpleNamespace(said=said)
    params.StructuredOutputsParams = lambda **said: said
    for module in (package, platforms, params):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(vllm_engine, "is_installed", lambda: True)
    yield kind
    gc.collect()
    assert not vllm_engine._engines


def model(**settings):
    return ModelConfig(**{"model": "org/tiny", "engine": "vllm", **settings})


def ask_all(config, n=1):
    """n judgements at one time, or what they raised."""

    async def ask():
        backend = open_backend(config)
        judge = SupportJudge(backend=backend)
        asked = (judge.verdict(**{**ASKED, "sentence": f"Bee {i}."}) for i in range(n))
        try:
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await backend.aclose()

    return asyncio.run(ask())


def test_without_vllm_the_extra_is_named_in_one_line(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(vllm_engine, "find_spec", lambda name: None)
    with pytest.raises(InputError) as told:
        open_backend(model())
    assert str(told.value).startswith("model 'org/tiny', engine: vllm: pip install '.[vllm]'")


def test_the_model_is_loaded_when_the_first_question_comes_and_ends_with_its_last_user(vllm):
    first, second = (SupportJudge(model=model(temperature=t)) for t in (0.0, 1.0))
    assert not vllm.all
    assert first(**ASKED).verdict == second(**ASKED).verdict == "full"
    [engine] = vllm.all
    asyncio.run(first.backend.aclose())
    assert not engine.is_shut
    asyncio.run(second.backend.aclose())
    assert engine.is_shut
    assert first(**ASKED).verdict == "full"  # a closed one opens again, as connections do
    assert len(vllm.all) == 2
    asyncio.run(first.backend.aclose())


def test_a_judge_that_is_simply_dropped_ends_its_engine(vllm):
    judge = SupportJudge(model=model())
    judge(**ASKED)
    del judge
    gc.collect()
    assert vllm.all[0].is_shut


def test_what_stops_while_the_model_loads_says_that_it_waits(vllm, monkeypatch, caplog):
    loading, goes_on = threading.Event(), threading.Event()

    def load(self, **options):
        loading.set()
        goes_on.wait(timeout=10)
        StandIn.__init__(self, **options)

    monkeypatch.setattr(vllm, "__init__", load)

    async def stop():
        backend = open_backend(model())
        asked = asyncio.create_task(SupportJudge(backend=backend).verdict(**ASKED))
        await asyncio.to_thread(loading.wait, 10)
        asked.cancel()
        closed = asyncio.create_task(backend.aclose())
        while not caplog.messages and not closed.done():
            await asyncio.sleep(0.01)
        told = list(caplog.messages)
        goes_on.set()
        await closed
        return told

    told = asyncio.run(asyncio.wait_for(stop(), timeout=10))
    assert told == ["vLLM is still loading 'org/tiny'; waiting for it to end, 30 s at most"]
    assert vllm.all[0].is_shut


def test_the_engine_is_set_up_for_judging_and_options_of_the_config_win(vllm):
    ask_all(model(vllm={"max_model_len": 4096, "max_logprobs": 50}))
    options = vllm.all[0].options
    assert options["model"] == "org/tiny"
    assert options["max_model_len"] == 4096
    assert options["max_logprobs"] == 50
    assert options["enable_prefix_caching"] is True
    assert options["generation_config"] == "vllm"
    assert options["structured_outputs_config"] == {
        "backend": "guidance",
        "disable_any_whitespace": True,
    }


def test_variables_are_set_while_it_loads_only_and_the_users_own_stand(vllm, monkeypatch):
    monkeypatch.setenv("VLLM_LOGGING_LEVEL", "DEBUG")
    monkeypatch.delenv("VLLM_NO_USAGE_STATS", raising=False)
    ask_all(model())
    seen = vllm.all[0].environment
    assert seen["VLLM_NO_USAGE_STATS"] == "1"
    assert seen["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"
    assert seen["VLLM_LOGGING_LEVEL"] == os.environ["VLLM_LOGGING_LEVEL"] == "DEBUG"
    assert "VLLM_NO_USAGE_STATS" not in os.environ


def test_a_request_says_what_it_says_to_a_server(vllm):
    extra = {"top_k": 5, "chat_template_kwargs": {"enable_thinking": False}}
    settings = {"max_tokens": 30, "seed": 9, "logprobs": 7, "extra_body": extra}
    [(verdict, call)] = ask_all(model(**settings))
    assert (verdict.label, call.prompt_tokens, call.cached_tokens) == ("full", 40, 32)
    assert (call.completion_tokens, call.model) == (3, "org/tiny")
    [(messages, said, template)] = vllm.all[0].requests
    assert [message["role"] for message in messages] == ["system", "user"]
    assert '"sentence":"Bee 0."' in messages[1]["content"]
    assert template == {"enable_thinking": False}
    schema = said.pop("structured_outputs")["json"]
    assert schema["properties"]["verdict"]["enum"] == ["none", "partial", "full"]
    assert said == {"temperature": 0.0, "max_tokens": 30, "seed": 9, "logprobs": 7, "top_k": 5}


@pytest.mark.parametrize(
    ("schema", "wanted"), [("json_object", {"json_object": True}), ("none", None)]
)
def test_weaker_schemas_are_sent_as_such_and_replies_have_room(vllm, schema, wanted):
    ask_all(model(schema=schema))
    [(_, said, _)] = vllm.all[0].requests
    assert said.get("structured_outputs") == wanted
    assert said["max_tokens"] >= 128  # the judge's own limit, not vLLM's default of 16


def test_a_seed_is_left_out_on_a_cpu(vllm):
    vllm.is_cpu = True
    ask_all(model(seed=9))
    assert "seed" not in vllm.all[0].requests[0][1]


def test_a_model_that_cannot_be_loaded_ends_every_question_with_the_reason(vllm):
    vllm.fails_to_load = "no such file\nand 30 lines more"
    for error in ask_all(model(), 3):
        assert isinstance(error, EndpointUnusable)
        assert str(error).startswith("vLLM cannot load 'org/tiny': RuntimeError: no such file\n")
        assert "30 lines" not in str(error)


def test_an_engine_that_dies_fails_all_it_was_asked_and_what_comes_later(vllm):
    vllm.fails_at_step = "EngineCore encountered an issue"

    async def ask():
        backend = open_backend(model())
        judge = SupportJudge(backend=backend)
        asked = (judge.verdict(**{**ASKED, "sentence": f"Bee {i}."}) for i in range(3))
        found = await asyncio.gather(*asked, return_exceptions=True)
        found += await asyncio.gather(judge.verdict(**ASKED), return_exceptions=True)
        await backend.aclose()
        return found

    found = asyncio.run(ask())
    assert [type(error) for error in found] == [EndpointUnusable] * 4
    assert "engine of 'org/tiny' ended: RuntimeError: EngineCore" in str(found[0])
    assert vllm.all[0].is_shut


def test_a_request_that_vllm_gave_up_is_asked_again_and_then_an_error(vllm):
    vllm.finish_reason = "abort"
    [error] = ask_all(model(retries=1, deadline_s=5.0))
    assert isinstance(error, JudgeError)
    assert "vLLM ended the request: abort (2 attempts)" in error.detail
    assert len(vllm.all[0].requests) == 2


def test_a_reply_over_the_bound_is_truncated(vllm, monkeypatch):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", len(REPLY) - 1)
    [error] = ask_all(model())
    assert error.reason is Reason.TRUNCATED
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", len(REPLY))
    [kept] = ask_all(model())
    assert not isinstance(kept, Exception)


def test_no_thread_is_left_behind(vllm):
    ask_all(model(), 5)
    assert not [t for t in threading.enumerate() if t.name == "nuggetjudge-vllm"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"api_base": "http://127.0.0.1:8000/v1"}, "without an api_base"),
        ({"vllm": {"model": "x"}}, "cannot hold 'model'"),
        ({"vllm": {"hf_token": "x"}}, "cannot hold 'hf_token'"),
        ({"vllm": {"trust_remote_code": True}}, "pin it by a revision"),
        ({"vllm": {"a": float("nan")}}, "vllm cannot be sent as JSON"),
        ({"engine": None, "vllm": {"max_model_len": 1}}, "engine: vllm"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, said):
    with pytest.raises(ValidationError, match=said):
        model(**settings)


def test_cached_replies_belong_to_the_options_that_can_change_them():
    plain = model()
    assert plain.endpoint_id == "vllm"
    assert model(vllm={"gpu_memory_utilization": 0.8, "max_num_seqs": 8}).endpoint_id == "vllm"
    quantised = model(vllm={"quantization": "fp8", "max_num_seqs": 8})
    assert quantised.endpoint_id == 'vllm {"quantization":"fp8"}'
    assert model(vllm={"quantization": "fp8"}, endpoint="mine").endpoint_id == "mine"
    assert json.dumps(plain.identity()) != json.dumps(quantised.identity())
    assert model(model="hosted_vllm/org/tiny").wire_name == "org/tiny"
    assert get_price(plain) is None


def test_the_shown_server_gets_what_the_engine_in_process_gets():
    words = shown_command()
    given = dict(pairwise(words))
    assert words[:2] == ["vllm", "serve"]
    assert all(word.strip() for word in words)
    assert "--enable-prefix-caching" in words
    assert {
        "enable_prefix_caching": True,
        "generation_config": given["--generation-config"],
        "max_logprobs": int(given["--max-logprobs"]),
        "structured_outputs_config": json.loads(given["--structured-outputs-config"]),
    } == JUDGING
    assert "--enable-prompt-tokens-details" in words  # else no reply tells its cached tokens
    assert given["--host"] == "127.0.0.1"
    assert "--reasoning-parser" in given


def test_the_shown_entry_is_a_model_of_that_server():
    given = dict(pairwise(shown_command()))
    config = ModelConfig(**shown_entry())
    assert config.way == "http"
    assert config.wire_name == given["serve"]
    assert config.base_url == f"http://{given['--host']}:{given['--port']}/v1"
    assert config.logprobs
