"""DSPy's free-text calls, sent through the judges' gateway."""

import contextlib

import dspy
import pytest
from mock_faults import Status, Truncated
from mock_server import MockServer
from stamp_brain import RULE, stamp_brain

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.prompts.asking import Proposals, Stopped


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


def gateway(server, *, cache=None, budget=None, **settings):
    entry = ModelConfig(model="openai/mock", api_base=server.base_url, **settings)
    return open_backend(entry, cache=cache, budget=budget)


def proposed(lm, question="how?"):
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(), disable_history=True):
        return dspy.Predict("question -> rule")(question=question).rule


def test_a_signature_of_dspy_is_answered_at_temperature_1_without_a_schema(server):
    lm = Proposals(gateway(server, max_tokens=5, logprobs=True)).lm()
    assert proposed(lm) == RULE
    (request,) = server.requests
    assert request.body.keys() == {"model", "messages", "temperature"}
    assert request.body["temperature"] == 1.0


def test_the_same_text_is_asked_once_and_each_rollout_once_more(server, tmp_path):
    with contextlib.closing(ReplyCache(tmp_path)) as cache:
        lm = Proposals(gateway(server, cache=cache)).lm()
        for number in (None, None, 5, 5, 6):
            proposed(lm if number is None else lm.copy(rollout_id=number, temperature=1.0))
    assert len(server.requests) == 3


def test_the_budget_ends_proposals_past_any_except_exception(server):
    lm = Proposals(gateway(server, budget=Budget(max_calls=1))).lm()
    proposed(lm)
    with pytest.raises(Stopped) as stopped, contextlib.suppress(Exception):
        proposed(lm, "and now?")
    assert stopped.value.__cause__ is None
    assert len(server.requests) == 1


def test_a_lost_endpoint_ends_them_with_its_error(server):
    server.faults = [Status(503)] * 9
    with pytest.raises(Stopped) as stopped:
        proposed(Proposals(gateway(server, retries=0)).lm())
    assert "503" in str(stopped.value.__cause__)


def test_a_truncated_proposal_is_an_error_and_is_not_kept(server, tmp_path):
    server.faults = [Truncated()] * 9
    with contextlib.closing(ReplyCache(tmp_path)) as cache:
        lm = Proposals(gateway(server, cache=cache)).lm()
        with pytest.raises(Exception, match="truncated"):
            proposed(lm)
        assert sum(cache.counts().values()) == 0
        server.faults = None
        assert proposed(lm) == RULE
