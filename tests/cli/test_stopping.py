"""How a command ends: what it says on stderr, and its exit code."""

from pathlib import Path

import pytest
import typer
from processes import run

from nuggetjudge.cli.stopping import INCOMPLETE, exit_unless, is_whole, list_details, report_end

COLLECTION = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"
SPENT = {"requests": 1200, "cache_hits": 3, "tokens": 45, "cost": 0.5, "seconds": 2.06}
MANIFEST = {
    "this_time": SPENT, "limit_reached": None, "share_missing": 0.0, "problems": {},
    "judged": {"a": 480, "b": 5}, "unjudged": {"b": 2}, "counts": {"sentences \x1b[2J": 1234},
}  # fmt: skip


def test_the_end_is_one_sentence_and_the_rest_is_for_verbose(capsys):
    report_end(MANIFEST, partial="of no matter")
    assert capsys.readouterr() == ("", "done: 485 judged, 2 missing, $0.50\n")
    report_end(MANIFEST, details=list_details(MANIFEST), partial="of no matter")
    assert capsys.readouterr().err == (
        "1,234 sentences \\x1b[2J\n"
        "1,200 requests, 3 from the cache, 45 tokens, cost $0.50, 2.1 s\n"
        "done: 485 judged, 2 missing, $0.50\n"
    )


def test_rows_that_were_left_out_and_a_limit_are_told_also_without_verbose(capsys):
    manifest = {**MANIFEST, "limit_reached": "max_cost", "problems": {"unknown_topic": 3}}
    report_end(manifest, partial="it is half", notes=["Results: r"])
    assert capsys.readouterr().err == (
        "done: 485 judged, 2 missing, $0.50\n"
        "Stopped at max_cost: it is half.\n"
        "Left out or doubted in the input: 3 unknown_topic\n"
        "Results: r\n"
    )
    with pytest.raises(typer.Exit) as end:
        exit_unless(False)
    assert end.value.exit_code == INCOMPLETE


@pytest.mark.parametrize(
    ("share", "limit", "whole"),
    [(0.02, None, True), (0.0201, None, False), (0.0, "max_calls", False)],
)
def test_a_share_may_be_missing_and_no_limit_reached(share, limit, whole):
    manifest = {**MANIFEST, "share_missing": share, "limit_reached": limit}
    assert is_whole(manifest, 0.02) is whole


# A module that keeps whatever is raised while it is loaded, as some libraries do, and goes on.
LOADS = """
import os, signal, sys, time
wanted = sys.argv.pop(1)
class Keeping:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            try:
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(0.1)
            except BaseException:
                pass
sys.meta_path.insert(0, Keeping())
from nuggetjudge.cli import main
main()
"""
# SIGTERM while a command works that has nothing to put away.
WORKS = """
import importlib, os, signal, sys
module, name = sys.argv.pop(1).split(":")
def ended(*args, **options):
    os.kill(os.getpid(), signal.SIGTERM)
    raise AssertionError("SIGTERM changed nothing")
setattr(importlib.import_module(module), name, ended)
from nuggetjudge.cli import main
main()
"""
HOME = "nuggetjudge.programs."


@pytest.mark.parametrize("module", ["nuggetjudge.cli.app", "nuggetjudge.programs.run", "dspy"])
def test_sigterm_ends_a_run_with_143_while_modules_are_loaded(module, environment, tmp_path):
    given = ("run", COLLECTION, "--out", "out", "--set", "run.cache=false", "--quiet")
    ran = run("-c", LOADS, module, *given, cwd=tmp_path, env=environment, real=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (143, "", "")


@pytest.mark.parametrize(
    ("what", "command"),
    [(f"{HOME}scoring.score:score_path", ["score", "."]),
     (f"{HOME}analysis.compare:compare", ["compare", "."]),
     (f"{HOME}run:forecast", ["run", COLLECTION, "--dry-run"]),
     (f"{HOME}run:load_data", ["run", COLLECTION]),
     (f"{HOME}engine.session:open_cache", ["run", COLLECTION]),
     (f"{HOME}pipelines.indexing:make_indexes", ["index", "--passages", "p", "--out", "i"])],
)  # fmt: skip
def test_sigterm_ends_every_command_with_143(what, command, environment, tmp_path):
    ran = run("-c", WORKS, what, *command, cwd=tmp_path, env=environment)
    assert ran.returncode == 143, ran.stderr
    assert "Traceback" not in ran.stderr
