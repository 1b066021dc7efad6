"""How a command ends: what it says on stderr, and its exit code."""

from pathlib import Path

import pytest
import typer
from processes import run

from nuggetjudge.cli.stopping import INCOMPLETE, is_whole, report_end

COLLECTION = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"
SPENT = {"requests": 1200, "cache_hits": 3, "tokens": 45, "cost": 0.5, "seconds": 2.06}
MANIFEST = {"this_time": SPENT, "limit_reached": None, "share_missing": 0.0}


def test_an_end_says_what_is_missing_what_it_took_and_where_things_are(capsys):
    report_end(
        MANIFEST,
        first=["2 topics were left out"],
        counted={"sentences \x1b[2J": 1234},
        partial="of no matter",
        last=["Results: r"],
        is_complete=True,
    )
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "2 topics were left out\n"
        "    1,234 sentences \\x1b[2J\n"
        "1,200 requests, 3 from the cache, 45 tokens, cost $0.5000, 2.1 s\n"
        "Results: r\n"
    )


def test_a_limit_is_told_and_ends_with_3(capsys):
    manifest = {**MANIFEST, "limit_reached": "max_cost"}
    with pytest.raises(typer.Exit) as end:
        report_end(manifest, counted={}, took="no time", partial="it is half", is_complete=False)
    assert end.value.exit_code == INCOMPLETE
    assert capsys.readouterr().err == "no time\nStopped at max_cost: it is half.\n"


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
     (f"{HOME}analysis.next_labels:next_labels", ["next", ".", "--out", "sheet.csv"]),
     (f"{HOME}run:forecast", ["run", COLLECTION, "--dry-run"]),
     (f"{HOME}run:load_data", ["run", COLLECTION]),
     (f"{HOME}engine.session:open_cache", ["run", COLLECTION]),
     (f"{HOME}pipelines.indexing:make_indexes", ["index", "--passages", "p", "--out", "i"]),
     ("nuggetjudge.backends.cache:ReplyCache", ["cache", "--folder", "."])],
)  # fmt: skip
def test_sigterm_ends_every_command_with_143(what, command, environment, tmp_path):
    ran = run("-c", WORKS, what, *command, cwd=tmp_path, env=environment)
    assert ran.returncode == 143, ran.stderr
    assert "Traceback" not in ran.stderr
