"""The packaged collection through every command: the leaderboard, and what else is printed."""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "collection"
DEMO = FOLDER / "judge.yaml"
BANK = ["--nuggets", FOLDER / "nuggets.jsonl"]


def means(rows, measure):
    return {
        row["run_id"]: row["value"]
        for row in rows
        if row["topic_id"] == "all" and row["measure"] == measure
    }


@pytest.fixture
def demo(judge, tmp_path):
    """The finished demo, judged on the hand-made nuggets."""
    ran = judge("run", DEMO, *BANK, "--json", "--quiet")
    assert ran.code == 0, ran.err
    return ran


def test_the_four_systems_come_out_as_they_were_built_to(demo):
    v_strict = means(demo.rows, "V_strict")
    assert max(v_strict, key=v_strict.get) == "complete"
    assert min(v_strict, key=v_strict.get) == "thin"
    precision, recall = (means(demo.rows, f"support_{name}") for name in ("precision", "recall"))
    assert min(precision, key=precision.get) == "miscited"
    assert sorted(recall, key=recall.get, reverse=True) == [
        "complete",
        "thin",
        "miscited",
        "factdump",
    ]


def test_nuggets_made_from_the_passages_rank_the_same_systems_first_and_last(judge):
    ran = judge("run", DEMO, "--json", "--quiet")
    assert ran.code == 0, ran.err
    v_strict = means(ran.rows, "V_strict")
    assert max(v_strict, key=v_strict.get) == "complete"
    assert min(v_strict, key=v_strict.get) == "thin"


def test_a_topic_that_a_run_did_not_answer_counts_zero(demo):
    cells = {r["topic_id"]: r["value"] for r in demo.rows
             if r["run_id"] == "thin" and r["measure"] == "A"}  # fmt: skip
    mean = cells.pop("all")
    assert "demo-tides" not in cells
    assert len(cells) == 4
    assert mean == pytest.approx(sum(cells.values()) / 5)
    lengths = {r["topic_id"]: r["value"] for r in demo.rows
               if r["run_id"] == "thin" and r["measure"] == "length"}  # fmt: skip
    assert lengths.pop("all") == pytest.approx(sum(lengths.values()) / 4)


# The table of the collection's README, counted there from the hand labels.
HAND = {
    "complete": (0.942, 0.865, 0.978, 0.957),
    "miscited": (0.855, 0.846, 0.160, 0.160),
    "factdump": (0.626, 0.684, 0.800, 0.085),
    "thin": (0.095, 0.118, 0.800, 0.800),
}


def test_scores_of_the_hand_labels_are_those_of_the_readme(judge):
    topics = ["--topics", FOLDER / "topics.tsv", "--json"]
    nuggets = judge("score", FOLDER / "labels" / "nuggets.jsonl", *topics).rows
    support = judge("score", FOLDER / "labels" / "support.jsonl", *topics).rows
    columns = [means(nuggets, "V_strict"), means(nuggets, "A")]
    columns += [means(support, "support_precision"), means(support, "support_recall")]
    for run_id, expected in HAND.items():
        assert [column[run_id] for column in columns] == pytest.approx(expected, abs=5e-4)


def test_topics_of_a_score_are_those_that_runs_must_answer(judge, tmp_path):
    labels = (
        (FOLDER / "labels" / "nuggets.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    )
    thin = [line for line in labels if json.loads(line)["run_id"] == "thin"]
    (tmp_path / "thin.jsonl").write_text("".join(thin), encoding="utf-8")
    alone = means(judge("score", "thin.jsonl", "--json").rows, "A")["thin"]
    ran = judge("score", "thin.jsonl", "--topics", FOLDER / "topics.tsv", "--json")
    assert means(ran.rows, "A")["thin"] == pytest.approx(0.118, abs=5e-4)
    assert alone == pytest.approx(0.118 * 5 / 4, abs=1e-3)  # it answered four of the five


def test_the_ir_measures_file_holds_the_same_values(demo, tmp_path):
    lines = (tmp_path / "results/demo/scores.eval.txt").read_text(encoding="utf-8").splitlines()
    values = {tuple(line.split("\t")[:3]): float(line.split("\t")[3]) for line in lines}
    rows = {
        (r["run_id"], r["topic_id"], r["measure"]): r["value"]
        for r in demo.rows
        if r["value"] is not None
    }
    assert values == pytest.approx(rows)


def test_without_a_model_the_lexical_judge_answers_and_the_command_says_so(judge):
    data = ["--topics", FOLDER / "topics.tsv", "--runs", FOLDER / "runs", *BANK]
    ran = judge("run", "nuggets", *data, "--out", "out", "--json")
    assert ran.code == 0, ran.err
    assert "lexical" in ran.err
    assert {r["run_id"] for r in ran.rows} == {"complete", "factdump", "miscited", "thin"}


def test_relevance_grades_the_candidates_and_scores_their_ranking(judge, tmp_path, rows_of):
    ran = judge("run", DEMO, "--set", "program=relevance", "--out", "out", "--json", "--quiet")
    assert ran.code == 0, ran.err
    grades = rows_of(tmp_path / "out" / "relevance.jsonl")
    assert len(grades) == 50
    assert {r["measure"] for r in ran.rows} == {"nDCG@10", "P(rel=2)@10", "AP(rel=2)"}
    assert all(0 <= r["value"] <= 1 for r in ran.rows)
    agreed = judge("agree", FOLDER / "qrels.txt", "out", "--json")
    assert agreed.code == 0, agreed.err
    assert agreed.rows[0]["n"] == 50
