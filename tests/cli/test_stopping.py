"""How a command ends: what it says on stderr, and its exit code."""

import ast
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from benchmarks.install import LOADED, Cost, Installed, report_of
from processes import JUDGE, PIPE, run, start

from nuggetjudge import cli
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.litellm_models import LiteLLMTransport
from nuggetjudge.cli.stopping import INCOMPLETE, exit_unless, is_whole, list_details, report_end
from nuggetjudge.records.reading.problems import InputError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
COLLECTION = EXAMPLES.parent / "tests" / "collection"
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
    given = (
        "run",
        COLLECTION / "judge.yaml",
        *["--out", "out", "--set", "run.cache=false", "--quiet"],
    )
    ran = run("-c", LOADS, module, *given, cwd=tmp_path, env=environment, real=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (143, "", "")


@pytest.mark.parametrize(
    ("what", "command"),
    [(f"{HOME}scoring.score:score_path", ["score", "."]),
     (f"{HOME}analysis.compare:compare", ["compare", "."]),
     (f"{HOME}run:forecast", ["run", COLLECTION / "judge.yaml", "--dry-run"]),
     (f"{HOME}run:load_data", ["run", COLLECTION / "judge.yaml"]),
     (f"{HOME}engine.session:open_cache", ["run", COLLECTION / "judge.yaml"]),
     (f"{HOME}pipelines.indexing:make_indexes", ["index", "--passages", "p", "--out", "i"])],
)  # fmt: skip
def test_sigterm_ends_every_command_with_143(what, command, environment, tmp_path):
    ran = run("-c", WORKS, what, *command, cwd=tmp_path, env=environment)
    assert ran.returncode == 143, ran.stderr
    assert "Traceback" not in ran.stderr


# A full disk is one line that names the file, whatever is written, and room lets it go on.


# No file of the process grows beyond so many bytes; the others are as large as they are.
LIMITED = """
import resource, sys
_, most = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), most))
from nuggetjudge.cli import main
main()
"""
COMMANDS = {
    "run": ("run", COLLECTION / "judge.yaml", "--out", "new/out", "--set", "run.cache=false"),
    "index": ("index", "--passages", COLLECTION / "passages.jsonl", "--out", "new/index"),
    "retrieve": ("retrieve", "--topics", COLLECTION / "topics.tsv", "--passages",
                 COLLECTION / "passages.jsonl", "--pipeline", "bm25 5", "--out", "new/a.run"),
    "build": ("build", "crux", EXAMPLES / "summaries" / "summaries.jsonl", "--out", "new/crux",
              "--set", "run.cache=false"),
    "init": ("init", "new/try", "--demo"),
    "next": ("next", "done", "--out", "new/sheet.csv"),
    "probe": ("probe", "done", "--judge", "support", "--sample", "4", "--out", "new/probe"),
}  # fmt: skip


@pytest.fixture
def limited(environment, tmp_path):
    def go(size, *arguments):
        return run("-c", LIMITED, size, *arguments, cwd=tmp_path, env=environment)

    return go


@pytest.mark.parametrize(
    ("name", "size"),
    [*(("run", size) for size in (100, 3000, 10_000, 40_000)), ("index", 50),
     pytest.param("build", 2000, marks=pytest.mark.whole), ("index", 1000),
     ("retrieve", 3000), pytest.param("next", 100, marks=pytest.mark.whole),
     pytest.param("init", 500, marks=pytest.mark.whole),
     pytest.param("probe", 500, marks=pytest.mark.whole)],
)  # fmt: skip
def test_a_full_disk_names_the_file(name, size, limited, judge, tmp_path):
    if "done" in COMMANDS[name]:
        done = judge(*COMMANDS["run"][:-4], "--out", "done", "--set", "run.cache=false")
        assert done.code == 0, done.err
    ran = limited(size, *COMMANDS[name])
    assert ran.returncode == 2, (ran.stdout, ran.stderr)
    (message,) = (line for line in ran.stderr.splitlines() if line.startswith("judge: "))
    assert re.match(r"judge: \S*(new|nuggetjudge-)\S+: .*cannot be written \(.+\)$", message), (
        message
    )
    assert "Traceback" not in ran.stderr
    assert not list((tmp_path / "new").rglob("*.part"))
    again = judge(*COMMANDS[name])
    assert again.code in ((0, 2) if name == "init" else (0,)), again.err


@pytest.mark.parametrize("command", [("--json",), ()])
def test_a_full_device_behind_stdout_is_named(command, judge, environment, tmp_path):
    assert judge(*COMMANDS["run"]).code == 0
    with open("/dev/full", "wb") as full:
        process = start(
            *(*JUDGE, "score", "new/out", *command),
            **{"cwd": tmp_path, "env": environment, "stdout": full.fileno(), "stderr": PIPE},
        )
        _, stderr = process.communicate(timeout=30)
    what = "judge: stdout: cannot be written (No space left on device)\n"
    assert (process.returncode, stderr) == (2, what)


# What a terminal gets cannot steer it; what goes into a pipe are the bytes of the data.
STEERS = "one\x1b[2J\x9b2J\u202eeno\u2066\x7f"


@pytest.fixture
def seen(environment, tmp_path):
    """`seen("score", "out")`: what a terminal is sent on stdout."""

    def go(*arguments):
        ours, theirs = pty.openpty()
        process = start(
            *JUDGE, *arguments, cwd=tmp_path, env=environment, stdout=theirs, stderr=PIPE
        )
        os.close(theirs)
        output = b""
        while part := _read(ours):
            output += part
        os.close(ours)
        assert process.wait(timeout=30) == 0, process.stderr.read()
        return output.decode().replace("\r\n", "\n")

    return go


def _read(file):
    try:
        return os.read(file, 65_536)
    except OSError:  # the other end is closed
        return b""


@pytest.fixture
def results(judge, tiny):
    """A results folder of a run with such a name, and a topic."""
    row = json.loads((tiny / "one.jsonl").read_text(encoding="utf-8"))
    (tiny / "one.jsonl").write_text(json.dumps(row | {"run_id": STEERS}) + "\n", encoding="utf-8")
    (tiny / f"p{STEERS}.jsonl").write_bytes((tiny / "passages.jsonl").read_bytes())
    data = ["--topics", tiny / "topics.tsv", "--passages", tiny / f"p{STEERS}.jsonl"]
    ran = judge("run", "support", *data, "--runs", tiny / "one.jsonl", "--out", "out")
    assert ran.code == 0, ran.err
    return "out"


@pytest.mark.parametrize("flags", [["--json"], pytest.param([], marks=pytest.mark.whole)])
def test_a_terminal_gets_no_control_character_of_the_data(flags, results, seen):
    shown = seen("score", results, *flags)
    assert "one\\x1b[2J" in shown or "one\\u001b[2J" in shown
    if not flags:
        shown += seen("export-config", results)
    assert all(c.isprintable() or c == "\n" for c in shown), ascii(shown)


def test_json_on_a_terminal_is_the_same_json_and_in_a_pipe_the_same_bytes(results, seen, judge):
    piped = judge("score", results, "--json")
    assert "\u202e" in piped.out
    assert "\x7f" in piped.out
    shown = seen("score", results, "--json")
    assert [json.loads(line) for line in shown.splitlines()] == piped.rows
    assert piped.rows[0]["run_id"] == STEERS


def test_commands_write_to_stderr_by_write_note_which_escapes_control_characters():
    for path in Path(cli.__file__).parent.rglob("*.py"):
        calls = (n for n in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(n, ast.Call))
        assert "sys.stderr.write" not in {ast.unparse(call.func) for call in calls}, path


# What the plain install brings is enough, and of it a lexical run loads little.
ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo" / "judge.yaml"
IMPORTED = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)
OF_TESTS = {"hypothesis", "krippendorff", "pyndeval", "sklearn", "statsmodels", "truescore"}


def test_the_package_imports_nothing_that_is_installed_for_tests_alone():
    folders = [path.resolve() for path in (ROOT / "src" / "nuggetjudge").iterdir() if path.is_dir()]
    imported = {}
    for path in (path for folder in folders for path in folder.rglob("*.py")):
        imported |= dict.fromkeys(IMPORTED.findall(path.read_text("utf-8")), path)
    assert {"dspy", "numpy", "scipy"} <= imported.keys()
    assert {name: imported[name] for name in OF_TESTS & imported.keys()} == {}


def test_a_lexical_run_needs_neither_litellm_nor_any_client_of_a_provider(tmp_path):
    code = f"""
import json, sys
absent = {LOADED.split()!r}
sys.modules.update(dict.fromkeys(absent))  # an import of them fails
from nuggetjudge.cli import main
sys.argv = ["judge", "run", {str(DEMO)!r}, "--out", {str(tmp_path)!r}, "--json", "--quiet"]
main()
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) > 50
    assert all(json.loads(line)["measure"] for line in ran.stdout.splitlines())


def test_a_model_of_another_provider_without_litellm_is_told_in_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "litellm", None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
    with pytest.raises(InputError) as error:
        LiteLLMTransport(ModelConfig(model="anthropic/claude-sonnet-4-5"))
    expected = "litellm is not installed: pip install litellm, or use an OpenAI-compatible "
    assert str(error.value) == expected + "endpoint: openai/NAME with api_base"


def installed(name, **packages):
    cost = {"judge --help": Cost(0.1, 50)}
    return Installed(name, sum(packages.values()), 1, packages, frozenset({"a"}), cost, "")


def test_the_table_sets_what_was_beside_what_is_and_is_held_to_its_bounds():
    before, after = installed("old", a=400, b=100, c=300), installed("this folder", a=400, b=100)
    report = report_of([before, after])
    table = {row[0]: row[1:] for row in report.table}
    assert table["all, MB"] == ["800", "500"]
    assert table["packages, pip's own too"] == ["3", "2"]
    assert table["only for LiteLLM, MB"] == ["400", "400"]
    assert table["c, MB"] == ["300.0", "-"]
    assert report.is_within
    assert not report_of([after, before]).is_within, "800 MB are too much"
