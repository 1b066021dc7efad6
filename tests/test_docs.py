"""What pages show below a command is what the command prints."""

import os
import re
import shlex
from functools import partial
from pathlib import Path

import pytest
from benchmarks.pages.__main__ import COMMANDS
from benchmarks.pages.shown import with_commands
from processes import JUDGE, run

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder that has the examples and nothing else."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    return tmp_path


def printed(folder: Path, command: str) -> str:
    env = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}
    return run(*JUDGE, *shlex.split(command)[1:], cwd=folder, env=env, check=True).stdout


@pytest.mark.parametrize(
    ("page", "n"), [("generate.md", 4), ("protocols/making-collections.md", 5), ("backends.md", 1)]
)
def test_the_commands_of_a_page_print_what_stands_below_them(page, n, home):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = with_commands(text, partial(printed, home), COMMANDS[Path(page).name])
    assert found == (text, n), "`make pages` renews it"


def test_ratings_in_windows_cost_what_the_page_says(home):
    page = (ROOT / "docs" / "protocols" / "making-collections.md").read_text(encoding="utf-8")
    command = re.search(r"^[$] (judge (?:.*\\\n)*.*--dry-run.*)", page, re.MULTILINE)[1]
    command = command.replace("\\\n", " ")
    windows = "--set judges.answerability.window=15"
    outputs = [printed(home, f"{command} {more}") for more in (windows, "")]
    costs = [re.search("^answerability .* ([$][0-9.]+)$", text, re.M)[1] for text in outputs]
    assert f"({costs[0]} instead of {costs[1]} above)" in page


def test_the_page_of_agents_shows_a_trace_and_a_table_of_its_example(home):
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    tables = printed(home, "judge run examples/collection/evidence.yaml").split("\n\n")
    assert sum(f"evidence.yaml\n{table}\n```" in page for table in tables) == 1
    command = re.search(r"^[$] (judge trace .*)", page, re.MULTILINE)[1]
    assert f"$ {command}\n{printed(home, command)}```" in page


def test_every_link_between_pages_leads_to_a_file():
    pages = [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 50
    dead = [(str(page), link) for page, link in links if not (page.parent / link).exists()]
    assert dead == []
