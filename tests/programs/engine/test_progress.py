"""A run that waits for long says what for, also where nobody draws a bar."""

import io
import re
import sys

import pytest
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.backends.budget import Usage
from nuggetjudge.programs.engine import session as progress

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


class Window(io.StringIO):
    encoding = "utf-8"

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds, to be set by a test."""
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


def test_progress_is_one_line_with_total_failed_cost_and_time_left(clock):
    usage = Usage(requests=30, cost=0.024)
    bar = progress.ProgressBar("nuggets", 120, usage, quiet=True)
    clock[0] = 60.0  # 10 were kept; 20 took a minute, so that 90 take four and a half
    for _ in range(10):
        bar.advance(None)
    for _ in range(20):
        bar.step()
    bar.unjudged = 2
    assert bar.line() == "nuggets  30 / 120, 2 failed, $0.02, 4 min 30 s left"


def test_a_terminal_rewrites_the_line_and_nothing_of_it_stays(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", window := Window())
    monkeypatch.setenv("COLUMNS", "60")

    def judge_some():
        with progress.ProgressBar("support", 9, Usage()) as bar:
            for n in range(3):
                clock[0] = float(n + 1)
                bar.step()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        judge_some()
    text = window.getvalue()
    assert "support  3 / 9, 0 failed, 6.0 s left" in text
    assert text.endswith("\x1b[2K")  # the line is erased
    assert text.index("\x1b[?25l") < text.index("\x1b[?25h")  # and the cursor is shown again
    assert text.count("\n") == 1  # below the last state of it, and the cursor goes up again


def test_a_pipe_gets_a_line_now_and_then(capsys, clock):
    with progress.ProgressBar("support", 9, Usage()) as bar:
        for n in range(3):
            clock[0] = 20.0 * n
            bar.step()
    assert capsys.readouterr().err == "support  3 / 9, 0 failed, 1 min 20 s left\n"
