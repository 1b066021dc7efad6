"""Every start's spending is kept by stage, whatever ended the start."""

from contextlib import suppress

import orjson
import pytest

from nuggetjudge.backends.budget import Usage
from nuggetjudge.backends.config import ModelConfig, Price
from nuggetjudge.programs.engine.folders.spending import Spending, cost_in_all, read_spending

PRICE = Price(input=10, output=100)
MODEL = ModelConfig(model="hosted_vllm/mock", api_base="http://127.0.0.1:1/v1", price=PRICE)
FREE = ModelConfig(model="lexical")
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


def test_a_stage_that_asks_nothing_leaves_no_row(folder):
    for models in ((FREE,), (MODEL,)):
        with asking(folder, Usage(), models):
            pass
    assert not (folder / "spend.jsonl").exists()
    assert not (folder / "journal" / "spending.json").exists()


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
