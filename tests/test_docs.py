"""What pages show below a command is what the command prints."""

import ast
import contextlib
import doctest
import importlib
import os
import pkgutil
import re
import shlex
from functools import partial
from pathlib import Path

import pytest
import typer
import yaml
from page_output import is_shown
from processes import JUDGE, run

import nuggetjudge
from nuggetjudge.records.reading.problems import InputError

pytestmark = pytest.mark.whole
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
    ("page", "n"),
    [
        ("generate.md", 3),
        ("protocols/making-collections.md", 5),
        ("backends.md", 1),
        ("protocols/arena.md", 1),
        ("protocols/nuggets.md", 1),
        ("protocols/support.md", 1),
    ],
)
def test_the_commands_of_a_page_print_what_stands_below_them(page, n, home):
    from benchmarks.pages.__main__ import COMMANDS
    from benchmarks.pages.shown import with_commands

    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    renewed = with_commands(text, partial(printed, home), COMMANDS[Path(page).name])
    assert renewed == (text, n), "`make pages` renews it"


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
    tables = printed(home, "judge run examples/demo/evidence.yaml").split("\n\n")
    shown = re.search(r"evidence.yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    assert sum(is_shown(table, shown) for table in tables) == 1
    command, shown = re.search(r"^[$] (judge trace .*)\n([^`]*)```", page, re.MULTILINE).groups()
    assert is_shown(printed(home, command), shown)


PAGES = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md"), *(ROOT / "examples").rglob("*.md")]
CHANGELOG = ROOT / "CHANGELOG.md"
PAGES.remove(CHANGELOG)  # names what was, too


def blocks(page: Path, *languages: str) -> list[str]:
    """Its fenced blocks in one of these languages; "" is none."""
    text = page.read_text(encoding="utf-8")
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    return [block for language, block in fenced if language in languages]


def commands(page: Path) -> list[list[str]]:
    """The words of each `judge ...` in its blocks, up to a pipe, a redirection or a comment."""
    joined = "\n".join(blocks(page, "", "bash", "yaml")).replace("\\\n", " ")
    lines = re.findall(r"^(?:[$] )?judge (?!less human)([a-z].*)$", joined, re.MULTILINE)
    return [shlex.split(re.split(r" [|>&#] ?|;| 2>", line)[0]) for line in lines]


def test_every_command_of_the_pages_is_one_and_has_the_options_that_it_is_given():
    """Parsed, not run: an option that was renamed, or never was, is found."""
    from nuggetjudge.cli.app import app

    judge = typer.main.get_command(app)
    n, wrong = 0, []
    for page in PAGES:
        for words in commands(page):
            try:
                parsed(judge, list(words))
            except Exception as error:
                wrong.append(f"{page.name}: judge {shlex.join(words)}: {error}")
            n += 1
    assert not wrong, "\n".join(wrong)
    assert n > 150


def parsed(command, words: list[str]) -> None:
    """Raises: click's error for a command or an option that is not there."""
    context = command.context_class(command, info_name="judge")
    if hasattr(command, "get_command"):
        below = command.get_command(context, words[0])
        if below is None and not hasattr(command, "default"):
            raise ValueError(f"no command {words[0]!r}")
        if below is None:
            parsed(command.get_command(context, command.default), words)
        else:
            parsed(below, words[1:])
    else:
        command.make_parser(context).parse_args(words)


def test_each_part_of_the_papers_has_a_command_and_a_test_or_says_what_is_missing():
    from nuggetjudge.cli.app import app

    judge = typer.main.get_command(app)
    page = (ROOT / "docs/benchmarks/papers.md").read_text(encoding="utf-8")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in page.splitlines()
        if line.startswith("| ") and not line.startswith("| paper ")
    ]
    assert len(rows) > 90
    for row in rows:
        paper, command, *_, checked_by = row
        assert len(row) == 6, paper
        is_tested = (ROOT / checked_by.strip("`")).is_file()
        assert is_tested or checked_by.startswith("missing: "), f"{paper}: {checked_by}"
        for words in re.findall("`judge ([^`]+)`", command):
            parsed(judge, shlex.split(words))


def test_every_python_block_of_the_pages_is_python_whose_imports_are_there():
    n = 0
    for page in PAGES:
        for block in blocks(page, "python"):
            code = doctest.script_from_examples(block) if block.startswith(">>>") else block
            for node in ast.walk(ast.parse(code)):
                if isinstance(node, ast.ImportFrom) and node.module.startswith("nuggetjudge"):
                    there = names_in(node.module)
                    missing = [a.name for a in node.names if a.name not in there]
                    assert missing == [], f"{page.name}: from {node.module} import {missing}"
                if isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == "nj":
                    assert hasattr(nuggetjudge, node.attr), f"{page.name}: nj.{node.attr}"
            n += 1
    assert n > 20


def names_in(module: str) -> set[str]:
    """What can be imported from a module of ours; of one whose extra is not here, what it says."""
    with contextlib.suppress(InputError):  # whatever else is wrong with it is told
        home = importlib.import_module(module)
        below = {name for _, name, _ in pkgutil.iter_modules(getattr(home, "__path__", ()))}
        return below | set(dir(home))
    tree = ast.parse((ROOT / "src" / f"{module.replace('.', '/')}.py").read_text("utf-8"))
    return {getattr(node, "name", "") for node in tree.body}


def test_every_link_between_pages_leads_to_a_file():
    pages = [*PAGES, CHANGELOG]
    links = [
        (page, link)
        for page in pages
        for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) > 50
    dead = [(str(page), link) for page, link in links if not (page.parent / link).exists()]
    assert dead == []


def test_the_changelog_says_each_change_once_in_one_line():
    _, *versions = CHANGELOG.read_text(encoding="utf-8").split("\n## ")
    assert versions
    for version in versions:
        lines = [line for line in version.splitlines()[1:] if line]
        changes = [line for line in lines if line.startswith("- ")]
        assert len(lines) <= 120, "keep a version on one page"
        assert [line for line in lines if line.startswith(" ")] == [], "a change of two lines"
        assert [line for line in changes if len(line) > 200] == [], "a change of a long line"
        assert sorted({*changes}) == sorted(changes), "a change that is there twice"
        assert re.findall("^### (.*)", version, re.M)[0] == "Scores"


def test_what_runs_before_a_commit_is_what_make_check_runs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    entries = {hook["entry"] for repo in hooks["repos"] for hook in repo["hooks"]}
    rule = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text("utf-8"), re.M)[1]
    checks = {line.strip().replace("$(BIN)", ".venv/bin") for line in rule.splitlines()}
    assert {entry.removesuffix(" --force-exclude") for entry in entries} == {
        check.removesuffix(" .") for check in checks
    }
    assert {repo["repo"] for repo in hooks["repos"]} == {"local"}
