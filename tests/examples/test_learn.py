"""docs/learn/ten-minutes.md: its commands and code print what it shows, from top to bottom."""

import contextlib
import importlib.util
import io
import os
import re
import shlex
from pathlib import Path

import pytest
from processes import JUDGE, run

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
                assert output.getvalue().strip("\n") == below.strip("\n")
                n += 1
    assert n == 6


def test_the_notebook_is_the_page():
    where = importlib.util.spec_from_file_location("notebook", ROOT / "docs/site/notebook.py")
    made = importlib.util.module_from_spec(where)
    where.loader.exec_module(made)
    stored = made.NOTEBOOK.read_text(encoding="utf-8")
    assert stored == made.written(made.notebook(PAGE)), "python docs/site/notebook.py renews it"
    assert stored.count('"cell_type": "code"') == 8
