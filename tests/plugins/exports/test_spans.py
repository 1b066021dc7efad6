"""Without OpenTelemetry, or with nobody who wants spans, a run asks as if there were none."""

import sys

import pytest

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.tracing import ENDPOINTS, open_gateway, trace_items
from nuggetjudge.plugins.exports import spans

CONFIG = ModelConfig(model="hosted_vllm/m", api_base="http://127.0.0.1:9/v1")


@pytest.fixture(autouse=True)
def no_provider(monkeypatch):
    for name in ENDPOINTS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "opentelemetry.trace", raising=False)
    spans._to_endpoint.cache_clear()


async def ask(item):
    raise AssertionError


def test_without_a_provider_or_an_endpoint_nothing_stands_between_judge_and_model():
    assert type(open_gateway(CONFIG, None)) is Gateway
    assert trace_items(ask, "support", ("support",)) is ask
    assert "opentelemetry.trace" not in sys.modules


def test_an_endpoint_without_the_extra_is_said_once_and_loses_no_judgement(monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)  # as where it is not installed
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.warns(UserWarning, match=r"pip install '.\[opentelemetry\]'") as warned:
        assert [type(open_gateway(CONFIG, None)) for _ in range(2)] == [Gateway] * 2
    assert len(warned) == 1
    assert trace_items(ask, "support", ("support",)) is ask
