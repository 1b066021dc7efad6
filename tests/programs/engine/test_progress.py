"""A run that waits for long says what for, also where nobody draws a bar."""

import re

import pytest
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.programs.engine import progress

SAMPLES = [
    {"question": f"q{i}", "answer": "Tides turn [1].", "contexts": [f"Tides turn {i}."]}
    for i in range(3)
]


def evaluate(server, **model):
    entry = {"model": "hosted_vllm/mock", "api_base": server.base_url, **model}
    return nj.evaluate(SAMPLES, "support", model=entry, cache=False)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(progress, "STALL_S", 0.2)


def test_a_run_in_python_says_what_is_in_flight_where_nothing_ends(impatient, caplog):
    with MockServer(latency_s=1.0) as server:
        assert evaluate(server).is_complete
        url = server.base_url
    said = [record.getMessage() for record in caplog.records if record.name == "nuggetjudge"]
    assert re.match(
        rf"support: nothing finished for \d+ s\. In flight: 3 requests to {url}", said[0]
    )
    assert len(said) <= 4  # the next wait is twice as long


def test_a_server_that_keeps_failing_is_told_from_one_that_is_slow(impatient, caplog):
    with MockServer(faults=[Status(503)] * 3) as server:
        assert evaluate(server).is_complete  # half a second later, by a retry
    first = next(record.getMessage() for record in caplog.records if record.name == "nuggetjudge")
    assert first.endswith("In flight: no request; 3 of 3 requests failed")


def test_a_run_that_goes_on_says_nothing(monkeypatch, caplog):
    monkeypatch.setattr(progress, "STALL_S", 5.0)
    with MockServer() as server:
        evaluate(server)
    assert [record for record in caplog.records if record.name == "nuggetjudge"] == []
