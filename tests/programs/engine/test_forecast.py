"""What agents will take is said before a run: at least, as expected, and at most."""

import json
from pathlib import Path

import pytest
from finding import registered
from mock_server import MockServer, input_of
from typer.testing import CliRunner

from nuggetjudge.agents import Limits
from nuggetjudge.cli.app import app
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.forecasting.agent_work import AgentWork
from nuggetjudge.programs.run import forecast, forecast_if_limited, judge_collection

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"


@pytest.fixture
def server(monkeypatch):
    registered(monkeypatch)

    def brain(body):
        asked = input_of(body)
        if "passage" in asked:
            return {"verdict": "none"}
        return {"kind": "complex", "subquestions": [asked["question"]]}

    with MockServer(brain=brain, model_names=("m",)) as up:
        yield up


@pytest.fixture
def config(server, tmp_path):
    def made(**more):
        given = {
            "program": "finding",
            "run.out": tmp_path / "out",
            "run.cache": tmp_path / "cache",
            "models.default": {
                "model": "hosted_vllm/m",
                "api_base": server.base_url,
                "price": {"input": 1, "output": 1},
                "max_tokens": 50,
            },
            **more,
        }
        return load_config(DEMO / "judge.yaml", given)

    return made


# By hand: two items; the first asks 1 + 2 (a jury) + 1 that failed, the second nothing.
def test_calls_tokens_and_bounds_are_counted_from_the_steps():
    work = AgentWork(Limits(calls=5, tokens=None, hits=3), reply_limit=20)
    work.add(
        [
            {"kind": "agent"},
            {"kind": "call", "replies": ["a"], "tokens": [100, 4]},
            {"kind": "tool", "replies": ["s"], "tokens": [7, 7]},
            {"kind": "call", "replies": ["b", "c"], "tokens": [301, 8]},
            {"kind": "call", "out": {"unjudged": "error"}},
        ]
    )
    work.add([{"kind": "agent"}, {"kind": "end"}])
    assert work.as_dict() == {
        "items": 2,
        "calls": 4,
        "tokens": 413,
        "least": {"calls": 1, "tokens": 104},
        "most": {"calls": 10, "tokens": 10 * (151 + 20)},
    }
    work.limits = Limits(calls=5, tokens=100, hits=1)
    assert work.as_dict()["most"]["tokens"] == 2 * (100 + 171)


@pytest.mark.slow
def test_a_dry_run_foretells_what_a_run_takes_between_least_and_most(config, server):
    [row] = forecast(config()).rows()
    assert server.requests == []
    result = judge_collection(config())
    took = result.manifest["agents"]["finding"]
    assert row["items"] == took["items"] == took["least"]["calls"] > 10
    assert took["calls"] == len(server.requests) + _shared(result)
    for name in ("calls", "tokens"):
        assert 0 < row["least"][name] < row["expected"][name] < row["most"][name]
        assert row["least"][name] <= took[name] <= row["most"][name]
    assert row["most"]["calls"] == 9 * row["items"]
    expected = {each.judge: each.calls for each in forecast(config()).judges}
    assert sum(expected.values()) == row["expected"]["calls"]


def _shared(result):
    """Questions that another item had asked before."""
    steps = [json.loads(line) for line in (result.folder / "trace.jsonl").open(encoding="utf-8")]
    keys = [key for step in steps for key in step.get("replies", ())]
    return len(keys) - len(set(keys))


def test_limits_of_a_run_are_held_against_what_is_expected_and_the_most_is_named(config):
    assert forecast_if_limited(config()) is None  # nothing to hold it against
    assert forecast_if_limited(config(**{"run.max_calls": 10_000})).short_of(config()) == []
    short = config(**{"run.max_calls": 12, "run.max_cost": 0.001})
    expected = forecast_if_limited(short)
    calls = sum(row.calls for row in expected.judges)
    [row] = expected.rows()
    of_calls, of_cost = expected.short_of(short)
    assert (
        f"max_calls is 12, but {calls:,} are expected, at most {row['most']['calls']:,}" in of_calls
    )
    assert "run.max_cost is 0.001, but $" in of_cost
    assert expected.short_of(config(**{"run.max_calls": calls})) == []  # enough to the call
    assert len(expected.short_of(config(**{"run.max_calls": calls - 1}))) == 1
    free = config(**{"run.max_calls": 12, "models.default": {"model": "lexical"}})
    assert forecast_if_limited(free).short_of(free) == []


def test_the_command_prints_the_forecast_and_afterwards_what_was_taken(config, server, tmp_path):
    path = DEMO / "judge.yaml"
    command = ["run", str(path), "--set", "program=finding", "--out", str(tmp_path / "cli")]
    command += ["--set", f"run.cache={tmp_path / 'cache'}", "--model", "hosted_vllm/m"]
    command += ["--set", f"models.default.api_base={server.base_url}", "--set", "run.max_calls=20"]
    planned = CliRunner().invoke(app, [*command, "--dry-run"])
    assert planned.exit_code == 0, planned.output
    for head in ("agent", "least", "expected", "most"):
        assert head in planned.stdout
    assert "run.max_calls is 20" in planned.stderr
    as_json = CliRunner().invoke(app, [*command, "--dry-run", "--json"])
    rows = [json.loads(line) for line in as_json.stdout.splitlines()]
    assert rows[-1]["agent"] == "finding"
    assert rows[-1]["most"]["calls"] == 9 * rows[-1]["items"]
    done = CliRunner().invoke(app, [*command, "-v"])
    assert done.exit_code == 3
    assert "run.max_calls is 20" in done.stderr
    assert "calls (expected " in done.stderr
    assert "at most " in done.stderr
