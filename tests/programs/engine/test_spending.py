"""What calls, stages and agents will take, and what they took."""

import json
import string
from contextlib import suppress
from itertools import pairwise, takewhile
from pathlib import Path

import orjson
import pytest
from finding import registered
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, input_of
from typer.testing import CliRunner

from nuggetjudge.agents import Limits
from nuggetjudge.backends.budget import CHARS_PER_TOKEN, Usage
from nuggetjudge.backends.config import ModelConfig, Price
from nuggetjudge.cli.app import app
from nuggetjudge.judges import SupportJudge
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.engine.spending import (
    AgentWork,
    PromptSizes,
    Spending,
    cost_in_all,
    make_estimate,
    read_spending,
)
from nuggetjudge.programs.run import forecast, forecast_if_limited, judge_collection

PRICE = Price(input=10, output=100)
MODEL = ModelConfig(model="hosted_vllm/mock", api_base="http://127.0.0.1:1/v1", price=PRICE)
CALL = ["mock", "stop", 1000, 0, 100, 2, False]  # 1000 in and 100 out, at the second attempt
HIT = ["mock", "stop", 0, 0, 0, 0, True]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "some.jsonl").write_bytes(line(CALL))
    return tmp_path


def line(*calls):
    return orjson.dumps({"d": "0", "v": {}, "p": calls}) + b"\n"


def asking(folder, usage, models=(MODEL,), stage="support"):
    journal = folder / "journal" / "some.jsonl"
    return Spending(folder, usage).stage(stage, models, journal, journal.stat().st_size)


def spend(usage, requests=1, cost=0.02):
    usage.requests += requests
    usage.prompt_tokens += 1000 * requests
    usage.completion_tokens += 100 * requests
    usage.cost += cost * requests


def killed(folder, *lines, models=(MODEL,)):
    """As kill -9 leaves a folder: the stage was begun, its journal has these lines."""
    under_way = folder / "journal" / "spending.json"
    with asking(folder, Usage(), models):
        begun = under_way.read_bytes()
    under_way.write_bytes(begun)
    with (folder / "journal" / "some.jsonl").open("ab") as journal:
        journal.writelines(lines)


def test_a_row_is_what_the_stage_took_in_this_start(folder):
    usage = Usage(requests=7, cost=1.0)  # before the stage
    with asking(folder, usage):
        spend(usage, 2)
    with suppress(KeyboardInterrupt), asking(folder, usage):
        spend(usage)
        raise KeyboardInterrupt
    one, other = read_spending(folder)
    assert (one["start"], one["requests"], one["prompt_tokens"]) == (1, 2, 2000)
    assert (one["cost"], one["model"]) == (pytest.approx(0.04), "hosted_vllm/mock")
    assert (other["start"], other["requests"], other["from_journal"]) == (2, 1, False)
    assert cost_in_all([one, other]) == pytest.approx(0.06)


def test_a_price_that_is_not_known_makes_the_total_unknown(folder):
    usage = Usage()
    with asking(folder, usage):
        spend(usage)
    with asking(folder, usage):
        usage.requests, usage.n_unpriced = 2, 1
    rows = read_spending(folder)
    assert rows[1]["cost"] is None
    assert cost_in_all(rows) is None


def test_after_a_kill_the_journal_says_what_was_finished(folder):
    killed(folder, line(CALL, CALL, HIT), line(CALL), line(CALL)[:20])
    Spending(folder, Usage())
    (row,) = read_spending(folder)
    assert (row["start"], row["stage"], row["from_journal"]) == (1, "support", True)
    assert (row["requests"], row["cache_hits"]) == (6, 1)  # three replies, each asked for twice
    assert (row["prompt_tokens"], row["completion_tokens"]) == (3000, 300)
    assert row["cost"] == pytest.approx(3 * (1000 * 10 + 100 * 100) / 1e6)
    assert not (folder / "journal" / "spending.json").exists()
    usage = Usage()
    with asking(folder, usage):
        spend(usage)
    assert [row["start"] for row in read_spending(folder)] == [1, 2]


def test_a_kill_between_the_row_and_its_end_does_not_count_it_twice(folder):
    usage = Usage()
    with asking(folder, usage):
        spend(usage)
        with (folder / "journal" / "some.jsonl").open("ab") as journal:
            journal.write(line(CALL))
        under_way = (folder / "journal" / "spending.json").read_bytes()
    (folder / "journal" / "spending.json").write_bytes(under_way)
    Spending(folder, Usage())
    assert len(read_spending(folder)) == 1


def test_two_models_of_different_prices_have_no_cost_after_a_kill(folder):
    dear = MODEL.model_copy(update={"price": Price(input=99, output=99), "model": "openai/dear"})
    killed(folder, line(CALL), models=(MODEL, dear))
    Spending(folder, Usage())
    (row,) = read_spending(folder)
    assert (row["cost"], row["model"]) == (None, "hosted_vllm/mock, openai/dear")


def test_a_row_torn_by_a_kill_is_cut_off(folder):
    usage = Usage()
    with asking(folder, usage):
        spend(usage)
    whole = (folder / "spend.jsonl").read_bytes()
    (folder / "spend.jsonl").write_bytes(whole + whole[:30])
    with asking(folder, usage):
        spend(usage)
    assert [row["start"] for row in read_spending(folder)] == [1, 2]


PROMPT = SupportJudge(model="lexical").prompt("judge")
LONG, OTHER = "The tide rises twice a day. " * 40, "Some granite is pink. " * 40


def whole(inputs):
    return "".join(message["content"] for message in PROMPT.messages(inputs))


def n_common(one, other):
    return len(list(takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False))))


def cases(*passages):
    return [{"passage": p, "sentence": f"{n} says so."} for n, p in enumerate(passages)]


def estimates_asking(inputs):
    asked = PromptSizes()
    for each in inputs:
        asked.add(PROMPT, each, {"verdict": "full_support"})
    return asked


def plan(model, asked):
    entry = ModelConfig.model_validate(
        {"model": "hosted_vllm/m", "api_base": "http://h/v1"} | model
    )
    return make_estimate(Config(models={"default": entry}), "support", asked)


@given(st.lists(st.text(string.ascii_letters + "é[<", max_size=50), min_size=1, max_size=6))
def test_cached_is_what_consecutive_prompts_begin_with(passages):
    inputs = cases(*passages)
    asked = estimates_asking(inputs)
    texts = [whole(each) for each in inputs]
    assert asked.calls == len(passages)
    assert asked.prompt_tokens == sum(len(text) // CHARS_PER_TOKEN for text in texts)
    assert asked.cached_tokens == sum(
        n_common(*pair) // CHARS_PER_TOKEN for pair in pairwise(texts)
    )


@pytest.mark.parametrize(
    "reply", [{"verdict": "no support"}, {"verdict": "é" * 30}, {"a": "\ud800"}]
)
def test_a_reply_is_as_long_as_its_json_with_letters_as_they_are_and_marks_twice(reply):
    asked = PromptSizes()
    asked.add(PROMPT, cases(LONG)[0], reply)
    (value,) = reply.values()
    shown = len(value) + len(next(iter(reply))) + len(" ") + 2 * len('{"":""}')
    assert asked.reply_tokens == shown // CHARS_PER_TOKEN + 1


def counted(prompt, cached, calls=100):
    """So many calls, with ten tokens in each reply."""
    asked = PromptSizes()
    asked.calls, asked.prompt_tokens, asked.cached_tokens = calls, prompt, cached
    asked.reply_tokens = 10 * calls
    return asked


def test_cached_tokens_cost_their_own_price_where_there_is_one():
    asked = counted(prompt=1_000_000, cached=400_000)
    price = {"input": 0.5, "output": 1.5}
    replies = 100 * 10 * 1.5 / 1e6
    assert plan({"price": price}, asked).cost == pytest.approx(0.5 + replies)
    price["cached_input"] = 0.1
    assert plan({"price": price}, asked).cost == pytest.approx(0.6 * 0.5 + 0.4 * 0.1 + replies)
    assert plan({}, asked).cost is None


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
                "model": "hosted_vllm/m", "api_base": server.base_url,
                "price": {"input": 1, "output": 1}, "max_tokens": 50,
            },
            **more,
        }  # fmt: skip
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
        "items": 2, "calls": 4, "tokens": 413, "least": {"calls": 1, "tokens": 104},
        "most": {"calls": 10, "tokens": 10 * (151 + 20)},
    }  # fmt: skip
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
    assert (
        forecast_if_limited(config(**{"run.max_calls": 10_000})).list_short_limits(config()) == []
    )
    short = config(**{"run.max_calls": 12, "run.max_cost": 0.001})
    expected = forecast_if_limited(short)
    calls = sum(row.calls for row in expected.judges)
    [row] = expected.rows()
    of_calls, of_cost = expected.list_short_limits(short)
    assert (
        f"max_calls is 12, but {calls:,} are expected, at most {row['most']['calls']:,}" in of_calls
    )
    assert "run.max_cost is 0.001, but $" in of_cost
    assert (
        expected.list_short_limits(config(**{"run.max_calls": calls})) == []
    )  # enough to the call
    assert len(expected.list_short_limits(config(**{"run.max_calls": calls - 1}))) == 1
    free = config(**{"run.max_calls": 12, "models.default": {"model": "lexical"}})
    assert forecast_if_limited(free).list_short_limits(free) == []


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
