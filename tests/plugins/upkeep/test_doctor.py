"""One real call tells whether a model is ready, and what to set where it is not."""

import re

import pytest
import yaml
from mock_server import Cut, MockServer, Prose, Status, Supports

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.plugins.upkeep.doctor import examine, examine_all
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.views.printing import render


def full(body):
    return {"verdict": "full"}


def model_at(server, **settings):
    given = {"model": "hosted_vllm/mock", "api_base": server.base_url, "timeout_s": 2}
    return ModelConfig.model_validate(given | settings)


def test_a_model_that_answers_is_ready_with_its_tokens_and_cost():
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server, price={"input": 2.0, "output": 8.0}))
        assert len(server.requests) == report.requests == 2
    assert (report.is_ready, report.label, report.schema) == (True, "full", "json_schema")
    assert report.answered_by == "mock"
    dollars = (report.prompt_tokens * 2.0 + report.completion_tokens * 8.0) / 1e6
    assert report.cost == pytest.approx(dollars)
    assert report.cost > 0


def test_a_recorded_judge_is_ready_with_its_labels(tmp_path):
    rows = "".join(f'{{"topic_id": "t{i}", "votes": {{"a": "full"}}}}\n' for i in range(3))
    (tmp_path / "r.jsonl").write_text(rows.replace("votes", 'label": "full", "votes'))
    report = examine("m", ModelConfig(model="recorded:a", recording=tmp_path / "r.jsonl"))
    assert (report.is_ready, report.requests) == (True, 0)
    assert "recorded:a at recorded: ready" in render(report.as_view())
    assert "3 recorded labels" in render(report.as_view())


def test_without_a_price_the_cost_is_unknown():
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server))
    assert report.cost is None
    assert re.search("^cost +unknown$", render(report.as_view()), re.M)


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


REFUSALS = [
    ({"temperature": False}, {}, {"temperature": None}, 2),
    ({"max_tokens": False}, {"max_tokens": 99}, {"max_tokens_name": "max_completion_tokens"}, 2),
    (
        {"max_completion_tokens": False},
        {"max_tokens": 99, "max_tokens_name": "max_completion_tokens"},
        {"max_tokens_name": "max_tokens"},
        2,
    ),
    ({"seed": False}, {"seed": 7}, {"seed": None}, 2),
    ({"system": False}, {}, {"system_role": "user"}, 2),
    ({"schema": False}, {}, {"schema": "json_object"}, 2),
    ({"schema": False, "json_object": False}, {}, {"schema": "none"}, 3),
    ({"logprobs": False}, {"logprobs": True}, {"logprobs": False}, 2),
    ({"most_logprobs": 5}, {"logprobs": True}, {"logprobs": 5}, 3),
    ({"most_logprobs": 0}, {"logprobs": True}, {"logprobs": False}, 3),
    (
        {"temperature": False, "max_tokens": False, "seed": False, "schema": False},
        {"max_tokens": 99, "seed": 7},
        {
            "temperature": None,
            "max_tokens_name": "max_completion_tokens",
            "seed": None,
            "schema": "json_object",
        },
        5,
    ),
]


@pytest.mark.parametrize(("refused", "has", "wanted", "n_requests"), REFUSALS)
@pytest.mark.parametrize("is_vague", [False, True])
def test_what_an_endpoint_refuses_is_found_and_with_the_lines_told_it_is_ready(
    refused, has, wanted, n_requests, is_vague
):
    by_trial = is_vague and "logprobs" not in wanted
    with MockServer(brain=full, supports=Supports(**refused, is_vague=by_trial)) as server:
        report = examine("m", model_at(server, **has))
        assert report.answers
        assert not report.is_ready
        assert report.settings == wanted
        assert report.requests == len(server.requests)
        n_requests += "schema" not in wanted  # whether it takes lengths in a schema is asked, too
        assert len(server.requests) <= 11 if by_trial else len(server.requests) == n_requests
        _, lines = render(report.as_view()).split("with these lines in the config:\n")
        settings = yaml.safe_load(lines)["models"]["m"]
        assert settings == wanted
        again = examine("m", model_at(server, **has | settings))
        assert again.is_ready, render(again.as_view())
        assert again.requests == 1 + bool(again.logprobs) + ("schema" not in wanted)


def test_all_that_can_be_refused_at_once_is_found_by_trial_in_ten_requests():
    names = ("temperature", "max_tokens", "seed", "schema", "json_object", "system", "logprobs")
    supports = Supports(**dict.fromkeys(names, False), is_vague=True)
    with MockServer(brain=full, supports=supports) as server:
        has = {"max_tokens": 99, "seed": 7, "top_p": 0.5, "logprobs": True}
        report = examine("m", model_at(server, **has))
        assert len(server.requests) <= 10
        assert report.settings["system_role"] == "user"
        assert examine("m", model_at(server, **has | report.settings)).is_ready


def test_an_endpoint_that_takes_nothing_is_told_in_its_own_words():
    with MockServer(faults=lambda index, body: Status(400)) as server:
        report = examine("m", model_at(server))
        assert len(server.requests) == 6  # three forms, each with a limit of the reply and without
    assert "HTTP 400" in report.trouble[0]
    assert not report.is_ready


def test_without_models_the_lexical_judge_is_examined():
    (report,) = examine_all(Config())
    assert (report.model, report.is_ready, report.cost) == ("lexical", True, 0.0)


def test_an_endpoint_that_takes_the_wish_for_logprobs_and_gives_none_is_found_out(monkeypatch):
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    with MockServer(brain=full) as server:
        report = examine("m", model_at(server, logprobs=True))
    assert report.logprobs is False
    assert report.advice == ["models.m.logprobs: false"]
    assert report.requests == 3
