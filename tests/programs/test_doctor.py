"""One real call tells whether a model is ready, and what to set where it is not."""

import pytest
from mock_server import Cut, MockServer, Prose, Supports

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.doctor import examine, examine_all


def full(body):
    return {"verdict": "full"}


def model_at(server, **settings):
    given = {"model": "hosted_vllm/mock", "api_base": server.base_url, "timeout_s": 2}
    return ModelConfig.model_validate(given | settings)


def test_a_model_that_answers_is_ready_with_its_tokens_and_cost():
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server, price={"input": 2.0, "output": 8.0}))
        assert len(server.requests) == report.requests == 1
    assert (report.is_ready, report.label, report.schema) == (True, "full", "json_schema")
    assert report.answered_by == "mock"
    dollars = (report.prompt_tokens * 2.0 + report.completion_tokens * 8.0) / 1e6
    assert report.cost == pytest.approx(dollars)
    assert report.cost > 0


def test_without_a_price_the_cost_is_unknown():
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server))
    assert report.cost is None
    assert "cost unknown" in report.as_text()


def test_an_endpoint_without_json_schema_is_told_to_use_json_object():
    with MockServer(brain=full, supports=Supports(schema=False)) as server:
        report = examine("m", model_at(server))
    assert report.answers
    assert not report.is_ready
    assert report.advice == ["models.m.schema: json_object"]


def test_an_endpoint_without_any_response_format_is_told_to_use_none():
    with MockServer(brain=full, supports=Supports(schema=False, json_object=False)) as server:
        report = examine("m", model_at(server))
    assert report.advice == ["models.m.schema: none"]


def test_an_endpoint_without_logprobs_is_told_so_only_when_they_are_wanted():
    with MockServer(brain=full, supports=Supports(logprobs=False)) as server:
        assert examine("m", model_at(server)).is_ready
        report = examine("m", model_at(server, logprobs=True))
    assert report.advice == ["models.m.logprobs: false"]


def test_an_endpoint_with_logprobs_is_ready_when_they_are_wanted():
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server, logprobs=True))
    assert (report.is_ready, report.logprobs) == (True, True)


def test_a_model_that_gets_a_plain_case_wrong_is_not_ready():
    with MockServer(brain=lambda body: {"verdict": "none"}) as server:
        report = examine("m", model_at(server))
    assert report.answers
    assert not report.is_ready


@pytest.mark.parametrize("fault", [Prose(), Cut()])
def test_a_model_that_gives_no_judgement_is_not_ready_and_says_why(fault):
    with MockServer(brain=full, faults=lambda index, body: fault) as server:
        report = examine("m", model_at(server))
        assert len(server.requests) == 1
    assert not report.is_ready
    assert report.trouble


def test_a_wrong_key_is_told_as_such(monkeypatch):
    monkeypatch.setenv("TIDE_KEY", "sk-wrong")
    with (
        MockServer(brain=full, api_key="sk-right") as server,
        pytest.raises(EndpointUnusable, match="401"),
    ):
        examine("m", model_at(server, api_key_env="TIDE_KEY"))


def test_without_models_the_lexical_judge_is_examined():
    (report,) = examine_all(Config())
    assert (report.model, report.is_ready, report.cost) == ("lexical", True, 0.0)


def test_an_endpoint_that_takes_the_wish_for_logprobs_and_gives_none_is_found_out(monkeypatch):
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server, logprobs=True))
    assert report.logprobs is False
    assert report.advice == ["models.m.logprobs: false"]
    assert report.requests == 2
