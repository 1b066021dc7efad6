"""What the README shows, and the pages that it leads to, is what the commands print."""

import contextlib
import io
import json
import os
import re
import shlex
from pathlib import Path

import pytest
from benchmarks.pages.shown import shorten_output
from processes import JUDGE, run

pytestmark = pytest.mark.whole
ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def block_after(words: str, page: str = "README.md") -> str:
    """The first fenced block of a page behind these words."""
    text = (ROOT / page).read_text(encoding="utf-8")
    rest = text[text.index(words) + len(words) :]
    return re.search(r"```\w*\n(.*?)\n```", rest, re.DOTALL).group(1)


def printed(*command: str, cwd: Path) -> str:
    (cwd / "examples").symlink_to(ROOT / "examples")
    home = {**os.environ, "HOME": str(cwd), "XDG_CACHE_HOME": str(cwd / "cache")}
    return run(*command, cwd=cwd, env=home, check=True).stdout.strip("\n")


def test_the_python_example_prints_what_is_shown_below_it(tmp_path):
    program = block_after("## Judge your own function")
    shown = block_after(program[-30:] + "\n```\n")
    assert printed("-c", program, cwd=tmp_path) == shown


def test_make_demo_prints_the_leaderboard_that_is_shown(tmp_path):
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [command] = re.findall(r"^demo:.*\n\t\$\(BIN\)/judge (.*)$", makefile, re.MULTILINE)
    out = printed("-m", "nuggetjudge", *command.split(), cwd=tmp_path)
    assert out.startswith(block_after("The first:") + "\n")


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


@pytest.mark.slow
def test_the_kappa_of_the_lexical_assigner_is_that_of_the_commands(shared_data, tmp_path):
    e2e = shared_data / "rag24_e2e"
    import nuggetjudge as nj
    from nuggetjudge.plugins.lab.bias import judge_errors
    from nuggetjudge.programs.analysis.agree import agree
    from nuggetjudge.programs.analysis.tables.words import write_estimate
    from nuggetjudge.records.reading.problems import Problems

    with contextlib.redirect_stderr(io.StringIO()):
        nj.run(
            program="nuggets", topics=e2e / "topics.tsv", nuggets=e2e / "nuggets_nist.jsonl",
            runs=[str(e2e / "runs")], out=tmp_path / "nist",
        )  # fmt: skip
    labels = shared_data / "rag24_nuggets" / "nugget_assignments.jsonl"
    figures = agree(labels, tmp_path / "nist", Problems())
    assert figures["n"] == 7149
    assert figures["one_vs_rest"]["support"] == pytest.approx(0.536, abs=5e-4)
    assert "kappa .536, n 7,149" in (ROOT / "docs" / "lexical.md").read_text("utf-8")
    figures = judge_errors(labels, tmp_path / "nist", ["length"], Problems())
    page = (ROOT / "docs" / "trust" / "bias.md").read_text(encoding="utf-8")
    for row in (figures["by"][0]["alone"], figures["error"]):
        assert write_estimate(row, signed=True) in page


def test_a_custom_judge_is_fitted_as_shown(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "docs/protocols/own-judges.md"
    commands = block_after("Fit the judge to some topics and test it on the others:", page)
    shown = block_after("--out fitted/grounded.json\n```\n", page) + "\n"
    assert shorten_output(judge(commands, tmp_path), shown) == shown
    assert shown.startswith("The fit helped: ")


def test_a_collection_is_built_and_two_runs_are_scored_on_it_as_shown(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "docs/protocols/coverage.md"
    commands = block_after("how much of it reached the answer:", page)
    shown = block_after("two retrieval runs and their answers:", page) + "\n"
    assert shorten_output(judge(commands, tmp_path), shown) == shown


def test_pipelines_are_run_and_compared_as_shown(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "docs/retrieval.md"
    judge(block_after("Search the demo's passages and write a TREC run:", page), tmp_path)
    assert (tmp_path / "results/diverse.run").is_file()
    shown = block_after("judge run examples/demo/pipelines.yaml\n```\n", page) + "\n"
    commands = block_after("compares three pipelines without a model:", page)
    assert shorten_output(judge(commands, tmp_path), shown) == shown


def test_key_points_are_found_as_shown(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "docs/protocols/keypoints.md"
    shown = block_after("--model lexical --out results/keypoints\n```\n", page) + "\n"
    commands = block_after("a case counted by hand](../../examples/keypoints/README.md):", page)
    assert shorten_output(judge(commands, tmp_path), shown) == shown


@pytest.mark.slow
def test_the_lexical_judge_notices_as_many_planted_faults_as_it_says(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "docs/trust/index.md"
    text = (ROOT / page).read_text(encoding="utf-8")
    counted = re.search(r"notices (\d+) of (\d+) dropped nuggets and (\d+) of (\d+) negated", text)
    commands = block_after("negated ones in", page) + " --judge assigner --json"
    rows = judge(commands, tmp_path).split("\n")
    fault_rows = {row["fault"]: row["detection"] for row in map(json.loads, rows)}
    counts = [
        (fault_rows[f]["value"] * fault_rows[f]["n"], fault_rows[f]["n"])
        for f in ("omission", "negation")
    ]
    assert [*map(float, counted.groups())] == [*counts[0], *counts[1]]


def judge(commands: str, cwd: Path) -> str:
    """What the last of these commands prints."""
    for command in commands.replace("\\\n", " ").split("\n"):
        assert command.startswith("judge ")
        home = {**os.environ, "HOME": str(cwd), "XDG_CACHE_HOME": str(cwd / "cache")}
        done = run(*JUDGE, *shlex.split(command)[1:], cwd=cwd, env=home, check=True)
    return done.stdout.strip("\n")
