"""The tasks here come to the core by entry points alone: no other code knows their names."""

import re
from pathlib import Path

import pytest
from ragdoll_folder import scores, write_lines

import nuggetjudge

ROOT = Path(nuggetjudge.__file__).parent
OWN = ROOT / "plugins" / "trec"


# Names of their judges, ids, files and settings, as code has them.
NAMES = {
    "rubric": r"rubric|criterion_|[\"']criteri|[Cc]riterionJ",
}


def code():
    """Each line of the core and of the other annexes, with where it stands."""
    for folder in sorted(path for path in ROOT.iterdir() if path.is_dir()):
        for path in sorted(folder.resolve().rglob("*")):
            if path.suffix in (".py", ".pyi", ".js", ".css", ".toml", ".html"):
                name = folder.name / path.relative_to(folder.resolve())
                if not (ROOT / name).is_relative_to(OWN) and folder.name != "examples":
                    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
                        yield f"{name}:{number}: {line.strip()}", line


@pytest.mark.parametrize("task", NAMES)
def test_a_task_is_named_nowhere_outside_its_folder(task):
    assert [at for at, line in code() if re.search(NAMES[task], line, re.IGNORECASE)] == []


# Rubrics and battles of RAGDoll are results, too.
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
