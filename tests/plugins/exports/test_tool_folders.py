"""Teams with a folder of RAGDoll or nuggetizer can go back to it."""

import csv
from pathlib import Path

import pytest
from ragdoll_folder import ragdoll, read_lines, scores

__all__ = ["ragdoll"]

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def demo(judge, tmp_path):
    """The demo judged by words, in all three ways that RAGDoll knows."""
    config = ROOT / "tests" / "collection" / "judge.yaml"
    programs = "program=[relevance,nuggets,support]"
    ran = judge("run", str(config), "--set", programs, "--out", "ours", "--quiet")
    assert ran.code == 0, ran.err
    return tmp_path / "ours"


def test_a_round_trip_through_their_layout_changes_no_label(judge, demo, tmp_path):
    assert judge("export", "ragdoll", "ours", "theirs").code == 0
    for kind, n in (("nuggets", 380), ("support", 100), ("relevance", 50)):
        ran = judge("compare", "theirs", "ours", "--as", "judges", "--kind", kind, "--json")
        assert ran.code == 0, ran.err
        report = ran.rows[0]
        assert (report["n_flips"], report["agreement"]["n"]) == (0, n)
    before, after = (scores(judge("score", name, "--json")) for name in ("ours", "theirs"))
    shared = {cell for cell in before if "rel" not in cell[1] and "nDCG" not in cell[1]}
    assert len(shared) > 40
    for cell in shared:
        assert after[cell]["value"] == before[cell]["value"], cell


def test_what_was_not_judged_is_minus_one_and_failed_there(judge, ragdoll, tmp_path):
    ran = judge("export", "ragdoll", str(ragdoll), "again")
    assert ran.code == 0, ran.err
    assert "3 judgements did not arrive" in ran.err
    again = tmp_path / "again"
    for name in ("assignments.jsonl", "support_assignments.jsonl"):
        assert read_lines(again / name) == read_lines(ragdoll / name)
    with (again / "metrics" / "cell_metrics.csv").open(encoding="utf-8") as file:
        one, _ = csv.DictReader(file)
    assert (one["strict_vital_score"], one["failed_count"]) == ("1.0", "1")
    assert {r["run_id"]: r["hard_precision"] for r in read_lines(again / "support_metrics.jsonl")} \
        == {"r1": 0.5, "r2": 0.0}  # fmt: skip


def test_nuggetizers_layout_has_its_own_names_and_nothing_of_ours(judge, demo, tmp_path):
    assert judge("export", "nuggetizer", "ours", "theirs").code == 0
    rows = {path.stem: read_lines(path) for path in (tmp_path / "theirs").glob("*.jsonl")}
    assert {name: len(of) for name, of in rows.items()} == {
        "nuggets": 5, "assignments": 19, "metrics": 23,
    }  # fmt: skip
    assert set(rows["nuggets"][0]["nuggets"][0]) == {"text", "importance"}
    assert set(rows["assignments"][0]["nuggets"][0]) == {"text", "importance", "assignment"}
    means = {row["run_id"]: row for row in rows["metrics"] if row["qid"] == "all"}
    ours = scores(judge("score", "ours", "--json"))
    assert means["complete"]["vital_score"] == ours["complete", "V"]["value"]
