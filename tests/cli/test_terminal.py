"""What a terminal gets cannot steer it; what goes into a pipe are the bytes of the data."""

import ast
import json
import os
import pty
from pathlib import Path

import pytest
from processes import JUDGE, PIPE, start

from nuggetjudge import cli

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
