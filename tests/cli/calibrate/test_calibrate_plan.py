"""`judge calibrate --dry-run`: what it will ask, by the table of docs/trust/optimisers.md."""

from pathlib import Path

import orjson
import pytest

from nuggetjudge.calibration.fitting import count_search_calls

HERE = Path(__file__).resolve().parents[3] / "tests/collection"
ARGS = ["calibrate", str(HERE / "labels/grounded.jsonl"), "--judge", str(HERE / "grounded.yaml")]


@pytest.mark.parametrize(
    ("method", "options", "most"),
    [  # t = 30 calls of train, d = 20 of dev, worked out by hand
        ("few-shot", {}, 40),
        ("bootstrap", {}, 11 * 20 + 9 * 30),
        ("bootstrap", {"num_candidate_programs": 2, "max_rounds": 2}, 5 * 20 + 3 * 30 * 2),
        ("mipro", {}, 11 * 20 + 4 * 30 + 6 + 11),
        ("simba", {}, 8 * (13 * 30 + 7 + 20) + 7 * 30 + 40),
        ("gepa", {"max_metric_calls": 90}, 90 + 30 + 40),
    ],
)
def test_the_most_that_a_search_asks(method, options, most):
    assert count_search_calls(method, options, 30, 20) == most


def test_a_method_that_fits_numbers_asks_every_item_once(judge):
    ran = judge(*ARGS, "--method", "threshold", "--model", "openai/gpt-4o", "--dry-run", "--json")
    (row,) = map(orjson.loads, ran.out.splitlines())
    assert (ran.code, row["calls"], row["model"]) == (0, 102, "openai/gpt-4o")
    assert row["cost"] > 0


def test_a_prompt_method_asks_the_test_items_twice_and_searches(judge, tmp_path):
    out = tmp_path / "judge.json"
    ran = judge(
        *(*ARGS, "--method", "few-shot", "--model", "openai/gpt-4o"),
        *("--dry-run", "--json", "--out", str(out)),
    )
    test, search = map(orjson.loads, ran.out.splitlines())
    assert test["calls"] % 2 == 0
    assert 0 < test["calls"] // 2 + search["calls"] // 2 < 102
    assert not out.exists()
