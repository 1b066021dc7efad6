"""What `judge compare` prints of two runs, of a leaderboard and of two judges."""

import json
import shutil
from pathlib import Path

import pytest

COLLECTION = Path(__file__).resolve().parents[2] / "collection"


@pytest.fixture
def judged(judge, tmp_path):
    """Five topics of the demo with its own nuggets, judged without a model."""
    shutil.copytree(COLLECTION, tmp_path / "demo")
    data = ["--nuggets", "demo/nuggets.jsonl", "--out", "judged", "--quiet"]
    ran = judge("run", "demo/judge.yaml", *data)
    assert ran.code == 0, ran.err
    return tmp_path / "judged"


def test_two_runs_are_tested_in_the_order_they_are_named(judge, judged):
    ran = judge("compare", "judged", "--runs", "complete,thin", "--measure", "V_strict", "--json")
    (report,) = ran.rows
    (pair,) = report["measures"]["V_strict"]["pairs"]
    assert (pair["run_id"], pair["other_run_id"], pair["n_topics"]) == ("complete", "thin", 5)
    assert pair["p"] == 2 / 2**5  # better on all five topics
    means = [run["mean"] for run in report["measures"]["V_strict"]["runs"]]
    assert pair["difference"] == pytest.approx(means[0] - means[1])
    scores = [
        json.loads(line)
        for line in (judged / "scores.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    by_run = {
        row["run_id"]: row["value"]
        for row in scores
        if (row["topic_id"], row["measure"]) == ("all", "V_strict")
    }
    assert means == pytest.approx([by_run["complete"], by_run["thin"]])
    text = judge("compare", "judged", "--runs", "complete,thin").out
    assert text.startswith("complete is not shown to be better than thin: V_strict +")
    assert "complete minus thin, by topic" in text
    assert "5/0/0" in text


def test_two_judges_show_their_flips_and_write_all_of_them(judge, judged, rows_of):
    human = "demo/labels/nuggets.jsonl"
    ran = judge("compare", human, "judged", "--flips", "flips.jsonl")
    assert ran.code == 0, ran.err
    flips = rows_of(judged.parent / "flips.jsonl")
    (agreed,) = judge("agree", human, "judged", "--json").rows
    n_equal = sum(row[i] for i, row in enumerate(agreed["confusion"]))
    assert len(flips) == agreed["n"] - n_equal > 3
    assert f"{len(flips)} of {agreed['n']} items another label" in ran.out
    assert f"{len(flips) - 5} more; all are in flips.jsonl" in ran.out
    assert all(row["label"] != row["other_label"] and row["nugget"] for row in flips)
    again = judge("compare", human, "judged", "--flips", "flips.jsonl")
    assert (again.code, "is there already" in again.err) == (2, True)


def test_the_page_shows_what_is_printed(judge, example):
    judge("run", "demo/judge.yaml", "--out", "judged", "--quiet")
    page = (Path(__file__).parents[3] / "docs" / "trust" / "compare.md").read_text(encoding="utf-8")
    for runs in ([], ["complete", "thin"]):
        command = " ".join(["$ judge compare results/lexical", *runs, "--measure V_strict"])
        shown = page.split(f"{command}\n")[1].split("```")[0]
        assert judge("compare", "judged", *runs, "--measure", "V_strict").out == shown
