"""A run that was killed or stopped can be read as partial results, and what it spent is kept."""

import os
import signal
from subprocess import DEVNULL

import pytest
from mock_server import Hang, MockServer
from processes import JUDGE, start

from nuggetjudge.views.numbers import format_money

AT_ONCE = ("--set", "run.concurrency=1", "--set", "run.cache=false")
PRICED = ("--set", "models.default.price={input: 10, output: 10}")
ASKED = 4  # of the six calls of `support`; the fifth never gets its reply


@pytest.fixture
def stopped(tide_brain, tiny, environment, tmp_path):
    """`stopped(signal)`: a run over `tiny`, into `out`, that got it at its fifth call.

    Gives the server, which answers everything from now on.
    """
    servers = []

    def stop(number, *arguments):
        server = MockServer(brain=tide_brain)
        servers.append(server.__enter__())
        process = None

        def fault(index, body):
            if index == ASKED and process is not None:
                os.kill(process.pid, number)
                return Hang(0.3)
            return None

        server.faults = fault
        data = ["--topics", "tiny/topics.tsv", "--passages", "tiny/passages.jsonl"]
        data += ["--runs", "tiny/one.jsonl", "--runs", "tiny/two.jsonl"]
        model = [
            "--model",
            "hosted_vllm/mock",
            "--set",
            f"models.default.api_base={server.base_url}",
        ]
        command = ["run", "support", *data, *model, *AT_ONCE, *PRICED, "--out", "out", "--quiet"]
        process = start(
            *JUDGE, *command, *arguments, env=environment, cwd=tmp_path, stdout=DEVNULL,
            stderr=DEVNULL,
        )  # fmt: skip
        process.wait(timeout=60)
        server.faults = None
        return server, command

    yield stop
    for server in servers:
        server.__exit__(None, None, None)


def bytes_of(folder):
    return {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def precision(ran):
    wanted = ("all", "support_precision")
    return {r["run_id"]: r for r in ran.rows if (r["topic_id"], r["measure"]) == wanted}


def spend_of(folder, rows_of):
    return [
        (row["start"], row["stage"], row["requests"], row["from_journal"])
        for row in rows_of(folder / "spend.jsonl")
    ]


@pytest.mark.parametrize(("number", "known"), [(signal.SIGKILL, ASKED), (signal.SIGINT, ASKED + 1)])
def test_a_stopped_run_is_read_as_partial_results_and_goes_on(
    number, known, stopped, judge, tmp_path, rows_of
):
    server, command = stopped(number)
    out = tmp_path / "out"
    assert not (out / "manifest.json").exists()
    before = bytes_of(out)
    ran = judge("score", "out", "--json")
    assert ran.code == 0, ran.err
    assert "out: stopped run, 4 of 6 judged: partial; `judge run`" in ran.err
    means = precision(ran)
    one, two = means["one"], means["two"]
    assert (one["n"], one["n_unjudged"], one["low"]) == (3, 0, one["value"])
    assert (two["n_unjudged"] > 0, two["low"] < two["high"]) == (True, True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert judge("score", out, "--json", cwd=elsewhere).rows == ran.rows
    compared = judge("compare", "out")
    assert (compared.code, "4 of 6 judged: partial" in compared.err) == (0, True)
    assert bytes_of(out) == before
    assert len(server.requests) == ASKED + 1

    whole = judge(*command)
    assert whole.code == 0, whole.err
    assert len(server.requests) == ASKED + 1 + 2
    final = precision(judge("score", "out", "--json"))["two"]
    assert two["low"] <= final["value"] == final["low"] <= two["high"]
    rows = rows_of(out / "spend.jsonl")
    assert spend_of(out, rows_of) == [
        (1, "support", known, number == signal.SIGKILL),
        (2, "support", 2, False),
    ]
    assert (rows[0]["prompt_tokens"] > 0, rows[0]["model"]) == (True, "hosted_vllm/mock")
    total = sum(row["cost"] for row in rows)
    costs = [format_money(dollars) for dollars in (rows[1]["cost"], total)]
    assert f"0 missing, {costs[0]} ({costs[1]} in all starts)\n" in whole.err
    again = judge(*command)
    assert f"0 missing, $0 ({costs[1]} in all starts)\n" in again.err
    assert len(rows_of(out / "spend.jsonl")) == 2


def test_a_stopped_run_whose_input_changed_is_not_read(stopped, judge, tmp_path):
    stopped(signal.SIGKILL)
    with (tmp_path / "tiny" / "one.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    ran = judge("score", "out")
    assert (ran.code, ran.out) == (2, "")
    assert "tiny/one.jsonl: has changed since the run read it; what was judged in out" in ran.err
