"""What pages show below a command is what the command prints."""

import os
import re
import shlex
from pathlib import Path

import pytest
from processes import JUDGE, run

ROOT = Path(__file__).resolve().parent.parent


def commands_of(page: str) -> list[tuple[str, str]]:
    """The commands in the page's fenced blocks, and what stands below each."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^```\w*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    parts = [part for block in blocks for part in re.split("^[$] ", block, flags=re.MULTILINE)]
    pairs = [part.partition("\n") for part in parts]
    return [(command, shown) for command, _, shown in pairs if command.startswith("judge ")]


def printed(command: str, cwd: Path) -> str:
    home = {**os.environ, "HOME": str(cwd), "XDG_CACHE_HOME": str(cwd / "cache")}
    return run(*JUDGE, *shlex.split(command)[1:], cwd=cwd, env=home, check=True).stdout


@pytest.mark.parametrize(
    ("page", "n", "only"),
    [("generate.md", 4, ""), ("making-collections.md", 5, ""), ("backends.md", 1, "--dry-run")],
)
def test_the_commands_of_a_page_print_what_stands_below_them(page, n, only, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = [(command, shown) for command, shown in commands_of(page) if only in command]
    assert len(commands) == n
    for command, shown in commands:
        assert printed(command, tmp_path) == shown, command


def test_ratings_in_windows_cost_what_the_page_says(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    page = "making-collections.md"
    command, shown = next(pair for pair in commands_of(page) if "--dry-run" in pair[0])
    less = printed(f"{command} --set judges.answerability.window=15", tmp_path)
    costs = [re.search("^answerability .* ([$][0-9.]+)$", text, re.M)[1] for text in (less, shown)]
    assert f"({costs[0]} instead of {costs[1]} above)" in (ROOT / "docs" / page).read_text("utf-8")
