"""Rubrics and battles of RAGDoll are results, too."""

import pytest
from ragdoll_folder import scores, write_lines


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
