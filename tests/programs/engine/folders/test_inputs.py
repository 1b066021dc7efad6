"""Inputs of results are found from anywhere, moved or not, and never used where they changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.analysis.cell_texts import cell_texts
from nuggetjudge.programs.analysis.traces.replay import replay
from nuggetjudge.programs.engine.folders.inputs import CHANGED, GONE, inputs_of
from nuggetjudge.programs.inputs.collection import expand_runs, load_collection
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.reading.problems import InputError, Problems

DEMO = Path(__file__).resolve().parents[4] / "tests" / "collection"
CELL = ("demo-bees", "complete", "0", "bees-1")


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with data/ and, judged from within it by relative paths, results/."""
    home = tmp_path / "project"
    shutil.copytree(DEMO, home / "data")
    (home / "data" / "runs" / "README.md").write_text("no run", encoding="utf-8")
    monkeypatch.chdir(home)
    result = nj.run(
        "data/judge.yaml", program=["support"], out="results/one", **{"data.runs": ["data/runs"]}
    )
    assert result.is_complete
    monkeypatch.chdir(tmp_path)
    return home


def texts(folder, problems):
    (cell,) = [
        (row["topic_id"], row["run_id"], str(row["sentence"]), row["citation"])
        for row in nj.Result(folder).judgements["support"][:1]
    ]
    return cell_texts(folder, "support", [cell], problems)[cell]


def moved(project, how):
    results = project / "results" / "one"
    if how == "the whole project":
        return (project.rename(project.parent / "elsewhere")) / "results" / "one"
    if how == "the results alone":
        return results.rename(project.parent / "one")
    if how == "a link to the results":
        (project.parent / "deep" / "er").mkdir(parents=True)
        link = project.parent / "deep" / "er" / "link"
        link.symlink_to(results)
        return link
    return results


@pytest.mark.parametrize(
    "how", ["not at all", "the whole project", "the results alone", "a link to the results"]
)
def test_what_was_judged_is_found_from_another_directory(project, how):
    folder = moved(project, how)
    inputs = inputs_of(folder)
    assert (dict(inputs.changed), inputs.config.run.out) == ({}, folder)
    config = inputs.checked("nothing")
    assert [p.name for p in expand_runs(config.data.runs)][::3] == ["complete.jsonl", "thin.jsonl"]
    assert load_collection(config.data, None).n_answers > 3
    problems = Problems()
    assert texts(folder, problems).keys() >= {"sentence", "passage"}
    assert not problems.rows
    checked = replay(folder, judge_collection)
    assert (checked.is_same, [f.differ for f in checked.files]) == (True, [0] * 5)


@pytest.mark.parametrize(
    ("change", "reason"), [(lambda path: path.write_text("x\n"), CHANGED), (os.remove, GONE)]
)
def test_a_file_that_changed_or_is_gone_is_named_with_what_is_lost(project, change, reason):
    folder = project / "results" / "one"
    change(project / "data" / "passages.jsonl")
    assert inputs_of(folder).changed == {"data/passages.jsonl": reason}
    problems = Problems()
    assert "passage" not in texts(folder, problems)
    (problem,) = problems.rows
    assert f"data/passages.jsonl: {reason}; its texts are not shown" in problem.what
    with pytest.raises(InputError, match=f"data/passages.jsonl: {reason}; nothing can be proven"):
        replay(folder, judge_collection)
    runs = expand_runs(inputs_of(folder).config.data.runs)
    assert inputs_of(folder).checked("repairs need the answers", of=runs)


def test_another_file_of_the_same_name_is_not_taken_for_the_one_that_was_read(project, tmp_path):
    shutil.copytree(DEMO, tmp_path / "data")
    (tmp_path / "data" / "topics.tsv").write_text("x\ty\n", encoding="utf-8")
    inputs = inputs_of(project / "results" / "one")
    assert not inputs.changed
    assert inputs.config.data.topics == project / "data" / inputs.config.data.topics.name


def test_runs_that_came_into_the_folder_later_are_not_among_those_that_were_judged(project):
    one = project / "data" / "runs" / "thin.jsonl"
    shutil.copy(one, one.with_name("later.jsonl"))
    names = [p.name for p in expand_runs(inputs_of(project / "results" / "one").config.data.runs)]
    assert "later.jsonl" not in names
    assert "thin.jsonl" in names


def test_results_of_before_are_read_as_before(project, monkeypatch):
    folder = project / "results" / "one"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    fingerprint = manifest["fingerprint"]
    del manifest["made_in"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert set(inputs_of(folder).changed.values()) == {GONE}
    monkeypatch.chdir(project)
    assert not inputs_of(folder).changed
    again = nj.run(
        "data/judge.yaml", program=["support"], out="results/one", **{"data.runs": ["data/runs"]}
    )
    assert again.manifest["fingerprint"] == fingerprint
