"""A model entry with `logprobs` asks for them where they are of use, and survives what comes."""

import json
import math
from typing import Any

import orjson
import pytest
from mock_server import MockServer, NotChatShape, Reply, Supports, input_of

from nuggetjudge.backends import http
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import Nuggetizer

TOLD = {"full": 0.5, "partial": 0.3, "none": 0.2}


def partly(body: Any) -> Reply:
    return Reply('{"verdict": "partial"}', probabilities=TOLD)


@pytest.fixture
def weighing(model_server):
    """The mock server, as a model that leans to full and says partial."""
    model_server.brain = partly
    return model_server


def test_the_labels_have_the_probabilities_that_the_model_gave_them(weighing, open_gateway, ask):
    reply = ask(open_gateway(logprobs=True))
    assert reply.values == {"verdict": "partial"}
    assert reply.probabilities == {"verdict": pytest.approx(TOLD, abs=1e-9)}


@pytest.mark.parametrize(("logprobs", "n_top"), [(True, 20), (5, 5), (1, 1)])
def test_the_config_says_how_many_alternatives_are_asked_for(
    logprobs, n_top, weighing, open_gateway, ask
):
    ask(open_gateway(logprobs=logprobs))
    (received,) = weighing.requests
    assert (received.body["logprobs"], received.body["top_logprobs"]) == (True, n_top)


@pytest.mark.parametrize("number", [0, -1, 1001, 2.5, "many"])
def test_another_number_of_alternatives_is_refused_or_means_none(number):
    if number == 0:
        assert ModelConfig(model="openai/m", logprobs=0).top_logprobs is None
        return
    with pytest.raises(ValueError, match="logprobs"):
        ModelConfig(model="openai/m", logprobs=number)


def test_nothing_is_asked_for_without_the_setting_or_without_labels(weighing, open_gateway, ask):
    assert ask(open_gateway()).probabilities == {}
    weighing.brain = lambda body: {"updated": ["a fact"]}
    prompt = Nuggetizer(model="lexical").prompt("update")
    inputs: dict[str, Any] = dict.fromkeys(prompt.input_names, "x")
    assert run_sync(open_gateway(logprobs=True).ask(prompt, inputs)).probabilities == {}
    assert not any("logprobs" in received.body for received in weighing.requests)


# --- the cache


def test_a_cached_reply_gives_the_same_to_the_last_digit(weighing, open_gateway, ask, cache):
    first = ask(open_gateway(logprobs=True, cache=cache))
    cache.flush()
    again = ask(open_gateway(logprobs=True, cache=cache, offline=True))
    assert again.provenance.cache_hit
    assert orjson.dumps(again.probabilities) == orjson.dumps(first.probabilities)


class Kept(dict[bytes, bytes]):
    """A cache in memory that a test can look into."""

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        self[key] = value


def test_of_the_tokens_only_what_is_needed_is_kept(model_server, open_gateway, ask):
    kept = Kept()
    ask(open_gateway(cache=kept))
    model_server.brain = partly
    ask(open_gateway(cache=kept, logprobs=True))
    plain, weighed = kept.values()
    assert orjson.loads(plain)[7] == []
    tokens = orjson.loads(weighed)[7]
    assert "".join(token for token, _ in tokens) == '{"verdict":"partial"}'
    assert [token for token, others in tokens if others] == ["", '"', "partial"]
    assert len(weighed) < 500


@pytest.mark.parametrize(
    "rubbish",
    [
        5,
        "x",
        [5],
        [["full"]],
        [[1, {}]],
        [['{"verdict":"partial"}', 5]],
        [['{"verdict":"', {}], ['partial"}', {"full": "x"}]],
    ],
)
def test_a_cached_line_of_another_make_is_asked_again(rubbish, weighing, open_gateway, ask):
    kept = Kept()
    first = ask(open_gateway(cache=kept, logprobs=True))
    ((key, line),) = kept.items()
    kept[key] = orjson.dumps([*orjson.loads(line)[:7], rubbish])
    again = ask(open_gateway(cache=kept, logprobs=True))
    assert (again.values, again.probabilities) == (first.values, first.probabilities)
    assert len(weighing.requests) == 2


# --- what endpoints do instead


def test_an_endpoint_that_gives_none_gives_labels_only(weighing, open_gateway, ask, monkeypatch):
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    reply = ask(open_gateway(logprobs=True))
    assert (reply.values, reply.probabilities) == ({"verdict": "partial"}, {})


def test_an_endpoint_that_refuses_them_ends_the_run_with_the_setting_to_change(
    weighing, open_gateway, ask
):
    weighing.supports = Supports(logprobs=False)
    with pytest.raises(EndpointUnusable, match=r"Set the model's logprobs to false"):
        ask(open_gateway(logprobs=True))
    weighing.supports = Supports()
    with pytest.raises(EndpointUnusable, match="or a smaller number"):
        ask(open_gateway(logprobs=21))


TOKEN = {"token": "x", "logprob": -0.1, "bytes": [120], "top_logprobs": []}


@pytest.mark.parametrize(
    "logprobs",
    [
        "yes",
        7,
        [],
        {"content": None},
        {"content": {}},
        {"content": "full"},
        {"content": [None]},
        {"content": [{}]},
        {"content": [TOKEN | {"token": 5, "bytes": None}]},
        {"content": [TOKEN | {"logprob": "-0.1"}]},
        {"content": [TOKEN | {"logprob": math.nan}]},
        {"content": [TOKEN | {"logprob": math.inf, "token": "\ud83d", "bytes": None}]},
        {"content": [TOKEN | {"bytes": [1000]}]},
        {"content": [TOKEN | {"bytes": 10**12}]},
        {"content": [TOKEN | {"top_logprobs": 3}]},
        {"content": [TOKEN | {"top_logprobs": [[]]}]},
        {"content": [TOKEN] * 100_000},
        {"content": [{"token": "", "logprob": None, "top_logprobs": [TOKEN] * 50_000}]},
        {"token_logprobs": [-0.1], "tokens": ["x"]},  # of the older completions API
    ],
)
def test_hostile_log_probabilities_cost_no_judgement(
    logprobs, model_server, open_gateway, ask, monkeypatch
):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 2**26)
    message = {"role": "assistant", "content": '{"verdict": "full"}'}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": logprobs}
    model_server.faults = [NotChatShape({"choices": [choice]})]
    reply = ask(open_gateway(logprobs=True))
    assert (reply.values, reply.probabilities) == ({"verdict": "full"}, {})
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("masked", [-9999.0, -math.inf, math.nan, None])
def test_a_masked_token_may_be_written_as_servers_do(masked, model_server, open_gateway, ask):
    top = [{"token": token, "logprob": logprob} for token, logprob in
           (("full", math.log(0.75)), ("none", math.log(0.25)), ("Sure", masked))]  # fmt: skip
    top.append({"token": "\udc1d", "logprob": masked})  # half an emoji, as Python writes it
    rows = [{"token": token, "logprob": 0.0, "top_logprobs": [{"token": token, "logprob": 0.0}]}
            for token in ('{"verdict":"', "full", '"}')]  # fmt: skip
    rows[1]["top_logprobs"] = top
    message = {"role": "assistant", "content": '{"verdict":"full"}'}
    choice = {"message": message, "finish_reason": "stop", "logprobs": {"content": rows}}
    model_server.faults = [NotChatShape({"choices": [choice]})]
    expected = {"full": 0.75, "partial": 0.0, "none": 0.25}
    reply = ask(open_gateway(logprobs=True, reasks=0, retries=0))
    assert reply.probabilities == {"verdict": pytest.approx(expected)}


def test_a_judge_told_in_python_gives_them(tmp_path):
    from nuggetjudge.judges import NuggetAssigner, SupportJudge

    def brain(body: Any) -> Reply:
        if "sentence" in input_of(body):
            return partly(body)
        text = json.dumps({"verdicts": {"1": "support", "2": "not_support"}})
        two = {"support": 0.9, "not_support": 0.1}
        return Reply(text, probabilities={"1": two, "2": {"support": 0.2, "not_support": 0.8}})

    with MockServer(brain) as server:
        config = ModelConfig(model="hosted_vllm/mock", api_base=server.base_url, logprobs=True)
        result = SupportJudge(model=config)(sentence="s", passage="p")
        assigned = NuggetAssigner(model=config, grades=2)(
            question="q", answer="a", nuggets=["x", "y"]
        )
    assert (result.verdict, result.probabilities) == ("partial", pytest.approx(TOLD))
    assert result.score == pytest.approx(0.5 + 0.3 / 2)  # of full 1, partial 1/2, none 0
    assert assigned.probabilities[1] == pytest.approx({"support": 0.2, "not_support": 0.8})
    assert assigned.scores == pytest.approx([0.9, 0.2])
