"""Examples that pages show: what they print is what the page says."""

import contextlib
import importlib.util
import io
import json
import os
import re
import runpy
import shlex
import shutil
from pathlib import Path

import pytest
from benchmarks.pages import calibration as table
from processes import JUDGE, run

import nuggetjudge as nj
from nuggetjudge.calibration.cascades import Wanted, make_fit_report
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems

# docs/learn/ten-minutes.md: its commands and code print what it shows, from top to bottom.
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "learn" / "ten-minutes.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def is_shown(printed: str, shown: str) -> bool:
    """Whether the lines shown are those printed; `...` on a line of its own stands for any."""
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    return re.fullmatch("(?:.*\n)*?".join(parts), printed.rstrip("\n") + "\n") is not None


def test_lines_left_out_are_those_marked():
    assert is_shown("a\nb\nc\n", "a\n...\nc\n")
    assert not is_shown("a\nb\nc\n", "a\nc\n")
    assert not is_shown("a\nb\nc\n", "...\nb\n")


@pytest.mark.slow
def test_the_page_prints_what_it_shows_and_its_gate_names_the_run(tmp_path, monkeypatch):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    env = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    env["COLUMNS"] = "80"
    names, n = {}, 0
    for (language, block), (_, below) in zip(BLOCKS, [*BLOCKS[1:], ("", "")], strict=True):
        if block.startswith("$ judge "):
            command, shown = block.split("\n", 1)
            words = shlex.split(command.removeprefix("$ judge "))
            done = run(*JUDGE, *words, cwd=tmp_path, env=env)
            assert is_shown(done.stdout, shown), done.stdout
            is_gate = "--fail-under" in words
            assert done.returncode == is_gate
            if is_gate:
                assert re.search("^thin: V_strict", done.stderr, re.MULTILINE), done.stderr
            n += 1
        elif language == "python":
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                exec(compile(block, "ten-minutes.md", "exec"), names)
            if output.getvalue():
                assert is_shown(output.getvalue(), below), output.getvalue()
                n += 1
    assert n == 6


def test_the_notebook_is_the_page():
    where = importlib.util.spec_from_file_location("notebook", ROOT / "docs/site/notebook.py")
    made = importlib.util.module_from_spec(where)
    where.loader.exec_module(made)
    stored = made.NOTEBOOK.read_text(encoding="utf-8")
    assert stored == made.written(made.notebook(PAGE)), "python docs/site/notebook.py renews it"
    assert stored.count('"cell_type": "code"') == 8


# The loop of docs/howto/evaluate.md: what the script prints, and the same from files.
def test_the_script_prints_what_the_page_shows_and_leaves_the_bank_alone(capsys):
    pytest.importorskip("pandas")
    bank = ROOT / "examples" / "demo" / "nuggets.jsonl"
    before = bank.read_bytes()
    runpy.run_path(str(ROOT / "examples" / "loop" / "rag.py"), run_name="__main__")
    out = capsys.readouterr().out
    verdict = "top-8 is better than top-2"
    page = (ROOT / "docs" / "howto" / "evaluate.md").read_text("utf-8")
    (shown,) = re.findall(rf"^```\n({verdict}.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert is_shown(out[out.index(verdict) :], shown), out
    assert bank.read_bytes() == before


def test_the_first_example_of_the_page_runs_and_its_files_score_the_same(tmp_path):
    page = (ROOT / "docs" / "howto" / "evaluate.md").read_text("utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    printed: list = []
    names: dict = {"print": lambda *values: printed.append(" ".join(map(str, values)))}
    exec(code, names)
    assert "Boats wait for high water." in printed[-1]  # a context of the answer, as it is shown
    samples = names["result"].folder / "samples"
    files = {name: samples / f"{name}.jsonl" for name in ("topics", "passages", "nuggets")}
    again = nj.run(
        program="nuggets,support", runs=str(samples / "runs.jsonl"), model="lexical",
        out=tmp_path / "files", **files,
    )  # fmt: skip
    assert again.scores == names["result"].scores
    assert {row.measure: row.value for row in again.scores}["V_strict"] == 1.0


# The demo's cascade, as docs/agents.md runs it: fitted, run, and left to people.
DEMO = Path(__file__).resolve().parents[2] / "examples" / "demo"


def test_what_the_lexical_judge_is_not_sure_of_is_left_to_people(tmp_path):
    folder = tmp_path / "demo"
    shutil.copytree(DEMO, folder)
    alone = {"program": "support", "run.out": tmp_path / "support"}
    before = nj.run(load_config(folder / "judge.yaml", alone)).folder
    human = folder / "labels" / "support.jsonl"
    stored = read_stored(human, [before], Problems(), to_people=True)
    assert stored.has_texts
    assert stored.models == {"": "lexical"}
    state, report = make_fit_report(stored, "calibrated", Wanted(share=0.25))
    assert report["auroc"] > 0.75
    assert report["kept_right"] > report["right"] + 0.1
    (folder / "cascade.json").write_text(state.text(), encoding="utf-8")

    result = nj.run(load_config(folder / "cascade.yaml", {"run.out": tmp_path / "cascade"}))
    lines = (result.folder / "unjudged.jsonl").read_text(encoding="utf-8").splitlines()
    assert {json.loads(line)["reason"] for line in lines} == {"abstained"}
    assert 20 <= len(lines) <= 60


# The script behind a table of docs/benchmarks/fits.md prints what the page shows.
CALIBRATION_TABLE_PAGE = (ROOT / "docs" / "benchmarks" / "fits.md").read_text(encoding="utf-8")
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    "name",
    [
        "crux_duc",
        *(
            pytest.param(n, marks=SLOW)
            for n in ("rag24_support", "rag24_nuggets", "attributionbench")
        ),
    ],
)
def test_the_page_shows_what_the_first_fit_of_each_set_gives(shared_data, name):
    labels = next(labels for labels in table.TABLE if labels.folder == name)
    report = table.measure(labels, shared_data, table.SPLIT)
    if report is None:
        pytest.skip(f"{name} not found in {shared_data}")
    cells = [table._shown(report["figures"]["kappa"][side]) for side in ("before", "after")]
    row = next(
        line for line in CALIBRATION_TABLE_PAGE.splitlines() if line.startswith(f"| {name}: ")
    )
    assert f"{report['n_test']:,} of {report['n_labels']:,} | {report['n_test_topics']}" in row
    assert " | ".join(cells) in row


def test_missing_data_is_named_and_left_out(tmp_path, capsys):
    table.main([str(tmp_path)])
    ran = capsys.readouterr()
    assert len(ran.out.splitlines()) == 2  # the head of the table
    assert "crux_duc: not found" in ran.err
