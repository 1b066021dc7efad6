"""Published labels are fetched into the layout that a study and `judge run items` read."""

import json
import subprocess
from dataclasses import replace

import pytest
from benchmarks.study import fetch, sets
from json_lines import read_rows

VOTE = {"coverage": "PARTIAL_COVERAGE", "bullet_id": 1, "insight_id": "i1"}
SUMMARY = {
    "topic": "a meeting", "subtopic_id": "t1", "subtopic": "who came",
    "summkey": "summary_subtopic_oracle/x_gpt", "summary": ["- Ada came.", "- Bob did not."],
    "reference_insights": [{"insight_id": "i1", "insight": "Ada came late."}],
    "annotation": [{"insight_id": "i1", "coverage": "partially_covered", "candidate_id": "0"}],
    **{f"predictions_{name}": [VOTE] for name in fetch._SUMMARY_JUDGES.values()},
}  # fmt: skip


@pytest.fixture
def clones(tmp_path):
    """A clone with one commit that holds one summary; its commit."""
    clone = tmp_path / "clones" / "summary-of-a-haystack"
    (clone / "data").mkdir(parents=True)
    (clone / "data" / "eval_benchmark_data.json").write_text(json.dumps([SUMMARY]))
    git = ["git", "-C", str(clone), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "data"]):
        subprocess.run([*git, *words], check=True)
    return clone.parent


def test_summaries_are_laid_out_as_a_study_and_a_run_read_them(clones, tmp_path, monkeypatch):
    source = replace(fetch.SOURCES[0], commit="HEAD")
    monkeypatch.setattr(fetch, "SOURCES", (source,))
    assert fetch.main([str(tmp_path), "--clones", str(clones)]) == 0
    (item,) = sets.SUMMHAY.items(tmp_path)
    assert item.ids == {"topic_id": "t1", "run_id": "oracle.x_gpt", "nugget_id": "i1"}
    assert (item.label, {*item.recorded.values()}) == ("partial_support", {"partial_support"})
    assert len(item.recorded) == 6
    (row,) = read_rows(tmp_path / "summhay" / "items.jsonl")
    assert row == {**item.ids, "question": "who came", "nugget": "Ada came late.",
                   "answer": "- Ada came.\n- Bob did not."}  # fmt: skip


def test_a_repository_that_is_not_there_is_said(tmp_path, capsys):
    assert fetch.main([str(tmp_path), "--clones", str(tmp_path), "--only", "wice"]) == 2
    assert capsys.readouterr().err.startswith("wice: git")
