"""Inputs of results are found from anywhere, moved or not, and never used where they changed."""

import json
import os
import shutil
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.analysis.cell_texts import cell_texts
from nuggetjudge.programs.engine.folders import (
    CHANGED,
    GONE,
    check_writable,
    check_writable_file,
    check_writable_folder,
    find_inputs,
)
from nuggetjudge.programs.inputs import expand_runs, load_collection
from nuggetjudge.records.reading.problems import InputError, Problems

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
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
    inputs = find_inputs(folder)
    assert (dict(inputs.changed), inputs.config.run.out) == ({}, folder)
    config = inputs.check("nothing")
    assert [p.name for p in expand_runs(config.data.runs)][::3] == ["complete.jsonl", "thin.jsonl"]
    assert load_collection(config.data, None).n_answers > 3
    problems = Problems()
    assert texts(folder, problems).keys() >= {"sentence", "passage"}
    assert not problems.rows


@pytest.mark.parametrize(
    ("change", "reason"), [(lambda path: path.write_text("x\n"), CHANGED), (os.remove, GONE)]
)
def test_a_file_that_changed_or_is_gone_is_named_with_what_is_lost(project, change, reason):
    folder = project / "results" / "one"
    change(project / "data" / "passages.jsonl")
    assert find_inputs(folder).changed == {"data/passages.jsonl": reason}
    problems = Problems()
    assert "passage" not in texts(folder, problems)
    (problem,) = problems.rows
    assert f"data/passages.jsonl: {reason}; its texts are not shown" in problem.what
    with pytest.raises(InputError, match=f"data/passages.jsonl: {reason}; nothing can be proven"):
        find_inputs(folder).check("nothing can be proven")
    runs = expand_runs(find_inputs(folder).config.data.runs)
    assert find_inputs(folder).check("repairs need the answers", of=runs)


def test_another_file_of_the_same_name_is_not_taken_for_the_one_that_was_read(project, tmp_path):
    shutil.copytree(DEMO, tmp_path / "data")
    (tmp_path / "data" / "topics.tsv").write_text("x\ty\n", encoding="utf-8")
    inputs = find_inputs(project / "results" / "one")
    assert not inputs.changed
    assert inputs.config.data.topics == project / "data" / inputs.config.data.topics.name


def test_runs_that_came_into_the_folder_later_are_not_among_those_that_were_judged(project):
    one = project / "data" / "runs" / "thin.jsonl"
    shutil.copy(one, one.with_name("later.jsonl"))
    names = [p.name for p in expand_runs(find_inputs(project / "results" / "one").config.data.runs)]
    assert "later.jsonl" not in names
    assert "thin.jsonl" in names


def test_results_of_before_are_read_as_before(project, monkeypatch):
    folder = project / "results" / "one"
    manifest = json.loads((folder / "manifest.json").read_bytes())
    fingerprint = manifest["fingerprint"]
    del manifest["made_in"]
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert set(find_inputs(folder).changed.values()) == {GONE}
    monkeypatch.chdir(project)
    assert not find_inputs(folder).changed
    again = nj.run(
        "data/judge.yaml", program=["support"], out="results/one", **{"data.runs": ["data/runs"]}
    )
    assert again.manifest["fingerprint"] == fingerprint


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Judges support of the demo's data, copied beside `out`."""
    shutil.copytree(DEMO, tmp_path / "data")
    monkeypatch.chdir(tmp_path)

    def judged(**settings):
        given = {"runs": "data/runs", "topics": "data/topics.tsv", "program": "support"}
        given |= {"passages": "data/passages.jsonl", "model": "lexical", "out": "out"}
        given |= {name.replace("__", "."): value for name, value in settings.items()}
        return nj.run(**given)

    return judged


def bytes_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


OTHER = {"model": "openai/gpt-4o", "api_base": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"model": OTHER}, "judges.support.model.model: lexical then, openai/gpt-4o now"),
        ({"support__citations": "all"}, "support.citations: first then, all now"),
        ({"judges__support__titles": False}, "judges.support.titles: True then, False now"),
        ({"explain": True}, "run.explain: False then, True now"),
        ({"limit": 1}, "its topic demo-bees and 3 more of 5 would go"),
        ({"runs": "data/runs/thin.jsonl"}, "its run complete and 2 more of 4 would go"),
        (
            {"program": "relevance", "candidates": DEMO / "candidates.jsonl"},
            "holds results of support, which this run would remove",
        ),
    ],
)
def test_results_of_another_run_stay_unless_it_is_forced(run, tmp_path, change, reason):
    run()
    before = bytes_of(tmp_path / "out")
    with pytest.raises(InputError) as refused:
        run(**change)
    message = str(refused.value)
    assert reason in message
    assert (message.count("\n"), message.startswith("out: "), "--force" in message) == (0, 1, 1)
    assert "name another --out" in message
    assert bytes_of(tmp_path / "out") == before


def test_forced_it_takes_their_place(run):
    run()
    result = run(runs="data/runs/thin.jsonl", limit=1, force=True)
    assert (result.manifest["data"]["run_ids"], result.manifest["data"]["topics"]) == (["thin"], 1)


def test_the_same_run_goes_on_with_what_changed_and_with_more(run, tmp_path):
    first = run(runs="data/runs/thin.jsonl", limit=1)
    run(runs="data/runs/thin.jsonl", limit=2, concurrency=3, max_calls=9, allow_missing=0.1)
    data = {name: tmp_path / "data" / name for name in ("runs", "topics.tsv", "passages.jsonl")}
    run(runs=str(data["runs"]), topics=data["topics.tsv"], passages=data["passages.jsonl"])
    thin = data["runs"] / "thin.jsonl"
    thin.write_text(thin.read_text(encoding="utf-8").replace("bees", "wasps"), encoding="utf-8")
    shutil.copy(data["topics.tsv"], tmp_path / "same.tsv")
    pool = {"candidates": DEMO / "candidates.jsonl", "qrels": DEMO / "qrels.txt"}
    whole = run(topics="same.tsv", program=["support", "nuggets"], **pool)
    assert whole.manifest["data"]["runs"] == 4
    assert whole.n_judged > first.n_judged


def test_inputs_are_the_same_wherever_the_command_is_given(run, tmp_path, monkeypatch):
    bank = {"program": ["nuggets"], "nuggets": "data/nuggets.jsonl"}
    run(**bank)
    monkeypatch.chdir(tmp_path / "data")
    there = {"runs": "runs", "topics": "topics.tsv", "passages": "passages.jsonl", "out": "../out"}
    run(**bank | there | {"nuggets": "nuggets.jsonl"})
    other = tmp_path / "other.jsonl"
    other.write_text((DEMO / "nuggets.jsonl").read_text(encoding="utf-8") + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"data.nuggets: nuggets.jsonl then, /.* now"):
        run(**bank | there | {"nuggets": other})


def test_a_new_or_old_place_in_a_folder_is_fine_and_stays_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "old.json").write_text("mine", encoding="utf-8")
    for path in (tmp_path, tmp_path / "a" / "b", type(tmp_path)("old.json"), tmp_path / "old.json"):
        check_writable(path)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [
        ("old.json", "mine")
    ]


def test_a_place_under_a_file_or_with_too_long_a_name_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    for name in ("notes.txt/j.json", "notes.txt/a/j.json", "x" * 300):
        with pytest.raises(InputError, match="cannot be written"):
            check_writable(tmp_path / name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_others_own_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(InputError, match="is no folder to write in"):
        check_writable(tmp_path / "j.json")


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path):
    (tmp_path / "x.run").mkdir()
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    check_writable_file(tmp_path / "file")
    check_writable_folder(tmp_path / "new" / "folder")
    with pytest.raises(InputError, match=r"x\.run: a folder, wanted a file"):
        check_writable_file(tmp_path / "x.run")
    with pytest.raises(InputError, match="file: a file, wanted a folder"):
        check_writable_folder(tmp_path / "file")
