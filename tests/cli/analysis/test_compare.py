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


def test_a_leaderboard_marks_neighbours_that_are_not_told_apart(judge, judged):
    text = judge("compare", "judged").out
    assert text.startswith("complete scores highest on V_strict; ")
    assert "2 of 6 pairs differ significantly (Tukey HSD, p < .05)" in text
    line = next(line for line in text.splitlines() if line.startswith("1  complete"))
    assert line.endswith("  no")


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


def test_means_whose_difference_is_another_say_what_it_is_over(judge, tmp_path):
    rows = [["one", "1", 1.0], ["one", "2", 0.0], ["two", "1", 0.5], ["two", "2", None]]
    rows += [["three", "1", 0.2], ["three", "2", 0.2]]
    sentence = "Differences are over the topics that both runs have"
    for value, is_shown in ((None, True), (0.5, False)):
        lines = [
            {"run_id": run, "topic_id": topic, "measure": "V_strict", "value": v}
            for run, topic, v in ([*row[:2], value if row[2] is None else row[2]] for row in rows)
        ]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / "scores.jsonl").write_text(text, encoding="utf-8")
        for runs in ("one,two", "one,two,three"):
            ran = judge("compare", "scores.jsonl", "--runs", runs)
            assert ran.code == 0, ran.err
            assert (sentence in ran.out) is is_shown, (value, runs)


def test_a_run_of_which_nothing_was_judged_has_no_mean(judge, tmp_path):
    missing = {"n": 0, "n_unjudged": 4, "low": 0.0, "high": 1.0}
    none = {"n": 0, "n_unjudged": 0, "low": 0.0, "high": 0.0}
    given = [("whole", "1", 0.5, {"n": 4, "n_unjudged": 0, "low": 0.5, "high": 0.5})]
    given += [("whole", "2", 0.0, none), ("lost", "1", None, missing), ("lost", "2", 0.0, none)]
    lines = [
        {"run_id": run, "topic_id": topic, "measure": "support_precision", "value": value} | counts
        for run, topic, value, counts in given
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "scores.jsonl").write_text(text, encoding="utf-8")
    (report,) = judge("compare", "scores.jsonl", "--json").rows
    means = {r["run_id"]: r["mean"] for r in report["measures"]["support_precision"]["runs"]}
    assert means == {"whole": 0.25, "lost": None}


def test_names_cannot_steer_the_terminal(judge, tmp_path):
    rows = [
        {"run_id": run, "topic_id": "t", "measure": "A", "value": 0.5} for run in ("a\x1b[2J", "b")
    ]
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    ran = judge("compare", "scores.jsonl")
    assert ran.out.startswith("a\\x1b[2J and b have the same mean A")


def test_where_hsd_cannot_be_computed_pairs_are_tested_on_the_topics_both_have(judge, tmp_path):
    cells = [(run, topic, n / 4) for n, run in enumerate("abc") for topic in ("t1", "t2")]
    rows = [{"run_id": r, "topic_id": t, "measure": "A", "value": v} for r, t, v in cells]
    rows[0] |= {"value": None, "n_unjudged": 1}
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    text = judge("compare", "scores.jsonl").out
    assert "(pairs tested on the topics both have, Holm" in text
    assert "at least 7 are needed" in text.replace("\n", " ")  # 3 pairs x 2 / 2^7 < .05


def test_what_cannot_be_compared_ends_with_2_and_the_reason(judge, judged):
    for more, reason in (
        (["--runs", "complete,thinn"], "no run 'thinn'; there is complete, factdump"),
        (["--runs", "complete,thinn"], "; did you mean thin?"),
        (["--flips", "f.jsonl"], "runs are compared, wanted two judges"),
        (["--level", "2"], "wanted 0 < level < 1"),
        (["complete"], "no such file or folder; to compare two runs name both"),
        (["complete", "thin", "terse"], "or two runs, once"),
    ):
        ran = judge("compare", "judged", *more)
        assert (ran.code, reason in ran.err) == (2, True), ran.err


def test_the_page_shows_what_is_printed(judge, example):
    judge("run", "demo/judge.yaml", "--out", "judged", "--quiet")
    page = (Path(__file__).parents[3] / "docs" / "trust" / "compare.md").read_text(encoding="utf-8")
    for runs in ([], ["complete", "thin"]):
        command = " ".join(["$ judge compare results/lexical", *runs, "--measure V_strict"])
        shown = page.split(f"{command}\n")[1].split("```")[0]
        assert judge("compare", "judged", *runs, "--measure", "V_strict").out == shown
