"""What a run may spend, what it says beforehand that it will, and what it makes of less."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, Reply, Status, input_of

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"
PRICED = ["--set", "models.default.price={input: 1000, output: 0}"]  # $0.001 a prompt token
BY_ONE = ["--set", "run.concurrency=1", "--quiet"]


def spent(folder: Path):
    manifest = json.loads((folder / "manifest.json").read_bytes())
    return manifest["this_time"], manifest["limit_reached"]


def test_max_calls_is_exact_and_more_of_them_go_on_from_there(
    tide_server, run_tiny, tmp_path, rows_of
):
    ran = run_tiny(tide_server, "support", "--set", "run.max_calls=4", "--json")
    assert ran.code == 3
    assert len(tide_server.requests) == 4
    lost = rows_of(tmp_path / "out" / "unjudged.jsonl")
    assert [row["reason"] for row in lost] == ["budget", "budget"]
    assert "max_calls 4" in ran.err
    judged = [row for row in rows_of(tmp_path / "out" / "support.jsonl") if row["label"]]
    assert len(judged) == 4
    for row in ran.rows:
        assert row["n"] + row["n_unjudged"] == 3
        assert row["low"] <= row["high"]
    more = run_tiny(tide_server, "support", "--set", "run.max_calls=6", "--quiet")
    assert more.code == 0, more.err
    assert len(tide_server.requests) == 6


def test_a_retry_counts_as_a_call(tide_server, run_tiny):
    tide_server.faults = lambda index, body: Status(500) if index == 0 else None
    assert run_tiny(tide_server, "support", "--set", "run.max_calls=6", "--quiet").code == 3
    assert len(tide_server.requests) == 6


def test_max_cost_without_a_price_asks_for_one_and_sends_nothing(tide_server, run_tiny, tmp_path):
    ran = run_tiny(tide_server, "support", "--max-cost", 1)
    assert ran.code == 2
    assert "models.default.price" in ran.err
    assert tide_server.requests == []
    assert not (tmp_path / "out" / "scores.jsonl").exists()


def test_max_cost_is_never_passed(tide_server, run_tiny, tmp_path):
    assert run_tiny(tide_server, "support", *PRICED, "--quiet", out="whole").code == 0
    whole, reached = spent(tmp_path / "whole")
    assert whole["cost"] == pytest.approx(whole["tokens"] * 0.001, rel=0.2)
    assert reached is None
    half = ["--max-cost", whole["cost"] / 2, "--set", "run.cache=false"]
    ran = run_tiny(tide_server, "support", *PRICED, *half, "--quiet")
    assert ran.code == 3
    part, reached = spent(tmp_path / "out")
    assert 0 < part["cost"] <= whole["cost"] / 2
    assert 1 <= part["requests"] < 6
    assert "max_cost" in reached


@pytest.mark.parametrize("limit", [("max_cost", 0.016), ("max_tokens", 16_000)])
def test_replies_of_3000_tokens_at_once_keep_to_a_limit_and_a_larger_one_goes_on(
    limit, tide_server, run_tiny, tmp_path, rows_of, monkeypatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "key")  # a provider is sent no limit of ours
    tide_server.brain = lambda body: Reply('{"verdict": "full"}', n_tokens=3000, n_prompt=300)
    priced = ["--set", "models.default.price={input: 0, output: 1}", "--quiet"]
    priced += ["--model", "openai/mock"]
    ran = run_tiny(
        tide_server, "support", *priced, "--set", f"run.{limit[0]}={limit[1]}", "--set",
        "run.concurrency=64",
    )  # fmt: skip
    assert ran.code == 3
    part, reached = spent(tmp_path / "out")
    name, most = limit[0].removeprefix("max_"), limit[1]
    assert part[name] <= most
    assert f"Stopped at {reached}: " in ran.err
    lost = rows_of(tmp_path / "out" / "unjudged.jsonl")
    assert len(lost) == 6 - part["requests"] > 0
    for row in lost:
        assert row["reason"] == "budget"
        assert "spent, the next may take" in row["detail"]
    more = run_tiny(tide_server, "support", *priced, "--set", f"run.{limit[0]}={most * 2}")
    assert more.code == 0, more.err
    assert len(tide_server.requests) == 6


def test_max_tokens_is_never_passed(tide_server, run_tiny, tmp_path):
    ran = run_tiny(tide_server, "support", "--set", "run.max_tokens=700", "--quiet")
    assert ran.code == 3
    part, reached = spent(tmp_path / "out")
    assert 0 < part["tokens"] <= 700
    assert 1 <= part["requests"] < 6
    assert "max_tokens" in reached


def test_a_dry_run_tells_the_calls_that_the_run_then_makes(
    tide_server, run_tiny, tmp_path, environment
):
    dry = run_tiny(tide_server, "nuggets,support", "--dry-run", "--json")
    assert dry.code == 0, dry.err
    calls = {row["judge"]: row["calls"] for row in dry.rows}
    assert calls == {"assigner": 2, "support": 6}
    assert [row["cost"] for row in dry.rows] == [None, None]  # no price named: unknown, not 0
    assert tide_server.requests == []
    assert not (tmp_path / "out").exists()
    assert not Path(environment["XDG_CACHE_HOME"]).exists()
    assert run_tiny(tide_server, "nuggets,support", "--quiet").code == 0
    assert len(tide_server.requests) == 8
    tokens = spent(tmp_path / "out")[0]["tokens"]
    assert sum(r["prompt_tokens"] for r in dry.rows) == pytest.approx(tokens, rel=0.1)


def test_a_dry_run_of_banks_to_be_made_is_right_when_they_are_as_long_as_allowed(judge):
    def thirty(body):
        asked = input_of(body)
        if "limit" in asked:
            return {"updated": [f"nugget number {i} of them" for i in range(30)]}
        if "answer" in asked:
            return {"verdicts": dict.fromkeys(asked["nuggets"], "support")}
        return {"importance": dict.fromkeys(asked["nuggets"], "vital")}

    with MockServer(brain=thirty) as server:
        model = [
            "--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}",
        ]  # fmt: skip
        demo = ["run", DEMO, *model, "--set", "program=nuggets"]
        dry = judge(*demo, "--dry-run", "--json")
        assert dry.code == 0, dry.err
        ran = judge(*demo, "--quiet")
        assert ran.code == 0, ran.err
        assert len(server.requests) == sum(row["calls"] for row in dry.rows)


def test_allow_missing_is_the_share_that_may_be_unjudged(tide_server, run_tiny):
    # One call of six fails: 16.7 %.
    tide_server.faults = lambda index, body: Status(400) if "Kelp" in str(body) else None
    assert run_tiny(tide_server, "support", "--set", "run.allow_missing=16%", "--quiet").code == 3
    assert run_tiny(tide_server, "support", "--set", "run.allow_missing=17%", "--quiet").code == 0
    assert run_tiny(tide_server, "support", "--set", "run.allow_missing=0.17", "--quiet").code == 0
    wrong = run_tiny(tide_server, "support", "--set", "run.allow_missing=some", "--quiet")
    assert (wrong.code, wrong.err.count("\n")) == (2, 1)


def test_fail_under_is_a_gate_on_every_run(tide_server, run_tiny):
    # Both runs have full, partial and none: (1 + 0.5 + 0) / 3.
    gate = ["support", "--quiet", "--fail-under"]
    assert run_tiny(tide_server, *gate, "support_precision=0.5").code == 0
    failed = run_tiny(tide_server, *gate, "support_precision=0.51")
    assert failed.code == 1
    assert "one" in failed.err
    assert "two" in failed.err
    assert run_tiny(tide_server, *gate, "V_strict=0.1").code == 2  # no program gives it
    assert run_tiny(tide_server, *gate, "support_precision").code == 2


def test_a_gate_is_not_passed_on_an_incomplete_run(tide_server, run_tiny):
    tide_server.faults = lambda index, body: Status(400) if "Kelp" in str(body) else None
    gate = ["support", "--quiet", "--fail-under", "support_precision=0.1"]
    assert run_tiny(tide_server, *gate).code == 3
