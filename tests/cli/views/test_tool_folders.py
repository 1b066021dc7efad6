"""Teams with a folder of RAGDoll or nuggetizer use every command on it, and can go back."""

import csv
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

# Of two answers; RAGDoll's own functions (castorini/RAGDoll 1f06719) give the metrics below for it.
ASSIGNMENTS = [
    ("r1", [("support", "vital"), ("failed", "vital"), ("partial_support", "okay")]),
    ("r2", [("not_support", "vital"), ("not_support", "vital"), ("support", "okay")]),
]
CELL_METRICS = """qid,run_id,strict_vital_score,strict_all_score,vital_score,all_score
t1,r1,0.5,0.333333,0.5,0.5
t1,r2,0.0,0.333333,0.0,0.333333
"""
SUPPORT = {"r1": [["2", "-1"], ["1"], []], "r2": [["-1"], ["0"]]}
SUPPORT_METRICS = {  # -1 leaves both denominators there, an uncited sentence stays in recall's
    "r1": {"weighted_precision_first_citation": 0.75, "weighted_recall_first_citation": 0.5},
    "r2": {"weighted_precision_first_citation": 0.0, "weighted_recall_first_citation": 0.0},
}


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def read_lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def ragdoll(tmp_path):
    """A folder as RAGDoll leaves it, with failed calls and the file that says why."""
    folder = tmp_path / "theirs"
    assigned = [
        {
            "task_id": f"{run}:t1", "status": "completed", "qid": "t1", "run_id": run,
            "query": "how tides work", "answer_text": f"Answer of {run}.", "response_length": 3,
            "context": f"Answer of {run}.",
            "nuggets": [{"text": f"fact {i}", "importance": worth, "assignment": label}
                        for i, (label, worth) in enumerate(labels)],
        }
        for run, labels in ASSIGNMENTS
    ]  # fmt: skip
    write_lines(folder / "assignments.jsonl", assigned)
    supported = [
        {
            "topic_id": "t1", "narrative_id": "t1", "run_id": run,
            "sentences": [
                {"sentenceID": i, "text": f"Sentence {i} of {run}.",
                 "citations": [{"citationID": k, "reference": f"d{i}{k}", "support": value}
                               for k, value in enumerate(values)]}
                for i, values in enumerate(sentences)
            ],
        }
        for run, sentences in SUPPORT.items()
    ]  # fmt: skip
    write_lines(folder / "support_assignments.jsonl", supported)
    call = {"statement": "Sentence 0 of r2.", "citation": "The text of d00."}
    where = {"topic_id": "t1", "run_id": "r2", "sentence_index": 0, "citation_index": 0}
    failed = {"support_label": None, "raw_output": "I cannot tell", "status": "failed",
              "error": "could not parse support label"}  # fmt: skip
    row = {"task_id": "r2:t1:s0:c0", **call, **failed, "metadata": {**where, "docid": "d00"}}
    write_lines(folder / "judgments.parsed.jsonl", [row])
    (folder / "metrics").mkdir()
    (folder / "metrics" / "cell_metrics.csv").write_text(CELL_METRICS, encoding="utf-8")
    return folder


def scores(ran):
    return {(r["run_id"], r["measure"]): r for r in ran.rows if r["topic_id"] == "all"}


def test_a_failed_call_of_theirs_is_no_score_but_widens_the_bounds(judge, ragdoll):
    ran = judge("score", str(ragdoll), "--json")
    assert ran.code == 0, ran.err
    of = scores(ran)
    strict = of["r1", "V_strict"]
    # By hand: one of two vital nuggets is judged, and stated.
    assert (strict["value"], strict["low"], strict["high"]) == (1.0, 0.5, 1.0)
    assert (strict["n"], strict["n_unjudged"]) == (1, 1)
    assert of["r2", "support_precision"]["value"] == 0.0
    assert of["r2", "support_precision"]["n_unjudged"] == 1
    for run, metrics in SUPPORT_METRICS.items():
        for theirs, ours in (("precision", "support_precision"), ("recall", "support_recall")):
            assert of[run, ours]["value"] == metrics[f"weighted_{theirs}_first_citation"]
    # Their table, which takes the failed nugget for one that is missing, is held against it.
    assert "other_metrics" in ran.err
    assert "4 of 8 values" in ran.err


def test_their_reasons_and_texts_are_shown_beside_an_answer(judge, ragdoll):
    ran = judge("show", str(ragdoll), "r2", "t1", "--passages")
    assert ran.code == 0, ran.err
    assert "how tides work" in ran.out
    assert "Sentence 1 of r2." in ran.out
    assert "not judged (unparseable)" in ran.out
    assert "could not parse support label" in ran.out
    assert "The text of d00." in ran.out


def test_a_file_of_two_judges_is_not_taken_for_one(judge, ragdoll):
    (ragdoll / "gold.jsonl").write_bytes((ragdoll / "assignments.jsonl").read_bytes())
    ran = judge("score", str(ragdoll))
    assert ran.code == 2
    assert "run 'r1', topic 't1' is in" in ran.err
    assert "gold.jsonl" in ran.err


def test_a_broken_line_names_their_file_and_not_a_temporary_one(judge, ragdoll):
    with (ragdoll / "assignments.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"qid": "t1", "run_id": "r3", "nuggets": "none"}\n')
    ran = judge("score", str(ragdoll))
    assert ran.code == 2
    assert "theirs/assignments.jsonl:3" in ran.err
    assert "a list" in ran.err


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


def test_their_metrics_alone_are_scores(judge, ragdoll):
    ran = judge("compare", str(ragdoll / "metrics" / "cell_metrics.csv"), "r1", "r2", "--json")
    assert ran.code == 0, ran.err
    pair = ran.rows[0]["measures"]["A"]["pairs"][0]
    assert pair["difference"] == pytest.approx(0.5 - 0.333333)


def test_their_rubrics_and_battles_are_results_too(judge, tmp_path):
    grades = {"r1": ("satisfied", "failed"), "r2": ("not_satisfied", "partially_satisfied")}
    criteria = [("names the moon", 5), ("says when", 2)]
    graded = [
        {"qid": "t1", "run_id": run, "query": "q", "status": "completed",
         "criteria": [{"text": text, "weight": weight, "verdict": verdict}
                      for (text, weight), verdict in zip(criteria, verdicts, strict=True)]}
        for run, verdicts in grades.items()
    ]  # fmt: skip
    write_lines(tmp_path / "rubrics" / "graded.jsonl", graded)
    of = scores(judge("score", "rubrics", "--json"))
    # By hand: 5 of 5 judged, and of 7 with the failed one at its worst; (0 + 2 / 2) of 7.
    assert of["r1", "rubric"]["value"] == 1.0
    assert of["r1", "rubric"]["low"] == pytest.approx(5 / 7)
    assert of["r2", "rubric"]["value"] == pytest.approx(1 / 7)
    battles = [
        {"qid": topic, "assistant_a_run_id": "x", "assistant_b_run_id": "y",
         "judge_verdict": verdict, "status": "completed" if verdict else "failed"}
        for topic, verdict in (("t1", "A"), ("t2", "Tie"), ("t3", None))
    ]  # fmt: skip
    write_lines(tmp_path / "battles" / "judgments.jsonl", battles)
    won = scores(judge("score", "battles", "--json"))["x", "win_rate"]
    assert (won["value"], won["n_unjudged"]) == (0.75, 1)
