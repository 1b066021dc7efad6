"""What a user is told of the models before money is spent."""

import pytest

from nuggetjudge.backends.budget import notes_on, price_of
from nuggetjudge.backends.config import ModelConfig

OWN = {"api_base": "http://127.0.0.1:8000/v1"}


@pytest.fixture(autouse=True)
def _without_ambient_endpoints(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def notes(model, **settings):
    return notes_on([("default", ModelConfig(model=model, **settings))] * 2)


def test_an_endpoint_of_the_environment_that_is_not_used_is_said_once(monkeypatch):
    assert notes("openai/gpt-4o") == []
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    [line] = notes("openai/gpt-4o")
    assert line.startswith("OPENAI_BASE_URL is set and not used: openai/gpt-4o is asked at ")
    assert "--api-base" in line
    assert notes("openai/gpt-4o", **OWN) == []
    assert notes("lexical") == []


def test_a_paid_model_of_unknown_price_is_said_before_it_is_asked():
    [line] = notes("openai/no-such-model")
    assert "price of openai/no-such-model is not known" in line
    assert "models.default.price" in line
    assert notes("openai/no-such-model", price={"input": 1, "output": 2}) == []
    assert notes("hosted_vllm/mine", **OWN) == []


def test_a_model_that_litellm_lists_without_its_provider_has_its_price():
    price = price_of(ModelConfig(model="anthropic/claude-sonnet-4-5"))
    assert (price.input, price.output) == pytest.approx((3, 15)), "dollars, as Anthropic says"
    assert notes("anthropic/claude-sonnet-4-5") == []
    assert price_of(ModelConfig(model="mistral/claude-sonnet-4-5")) is None, "not its model"
