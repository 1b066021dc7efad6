"""Pages of docs/trust show what their commands print, from an empty folder on."""

import shlex
import subprocess
from pathlib import Path

import pytest
from page_output import is_shown

TRUST = Path(__file__).resolve().parents[3] / "docs" / "trust"


@pytest.mark.whole
@pytest.mark.parametrize(("name", "n_shown"), [("bias", 2), ("corrected", 1), ("drift", 1)])
def test_the_page_shows_what_its_commands_print(judge, tmp_path, name, n_shown):
    parts = (TRUST / f"{name}.md").read_text("utf-8").split("```\n")
    assert parts[2::4] == ["prints\n"] * n_shown
    for commands, shown in zip(parts[1::4], parts[3::4], strict=True):
        for command in commands.splitlines():
            if command.startswith("judge "):
                ran = judge(*shlex.split(command)[1:])
                assert ran.code == 0, ran.err
            else:
                subprocess.run(command, shell=True, cwd=tmp_path, check=True)
        assert is_shown(ran.out, shown), ran.out
