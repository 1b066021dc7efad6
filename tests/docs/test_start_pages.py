"""What the first pages say is so: messages, numbers, versions, and where their code runs."""

import contextlib
import io
import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
CODE = ("backends", "cli", "programs", "records", "views")

pytestmark = pytest.mark.whole


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_every_message_of_the_troubleshooting_page_is_in_the_code():
    messages = re.findall(r"^### `(.+)`$", read("howto/troubleshooting.md"), re.MULTILINE)
    assert 15 <= len(messages) <= 20
    files = [path for folder in CODE for path in (ROOT / folder).rglob("*.py")]
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    code = re.sub(r"\"\s*\n\s*f?\"", "", code)  # one text over two lines
    lost = []
    for message in messages:  # its parts are a few lines from each other, not anywhere in the code
        found = [part.strip("(); ") for part in message.split("...") if part.strip("(); ")]
        places = (match.start() for match in re.finditer(re.escape(found[0]), code))
        around = (code[max(0, at - 200) : at + 200] for at in places)
        lost += [] if any(all(part in text for part in found) for text in around) else [message]
    assert lost == [], "no code says this any more: update docs/howto/troubleshooting.md"


def test_a_block_of_python_on_a_first_page_prints_what_stands_below_it(monkeypatch):
    monkeypatch.chdir(ROOT)
    shown = re.compile(r"```python\n(.*?)```\n```\n(.*?)```", re.DOTALL)
    blocks = shown.findall(read("learn/concepts.md"))
    assert blocks
    for code, output in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, {})
        assert printed.getvalue() == output


def test_the_pictures_of_pages_are_what_their_command_draws(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.pages.pictures import LAYERS, PICTURE, draw, draw_layers, judge

    assert PICTURE.read_text("utf-8") == draw(judge()), "python -m benchmarks.pages.pictures"
    assert LAYERS.read_text("utf-8") == draw_layers(), "python -m benchmarks.pages.pictures"


def test_the_cost_on_the_page_of_questions_is_that_of_a_dry_run(monkeypatch, tmp_path):
    from nuggetjudge.cli.app import app

    command, said = re.search(
        r"```\njudge (.+)\n```\n```\n(.+)\n```", read("learn/faq.md")
    ).groups()
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("HOME", str(tmp_path))
    done = CliRunner().invoke(app, [*command.split(), "--out", str(tmp_path / "out")])
    assert (done.exit_code, done.stdout.partition("\n")[0]) == (0, said)


def test_the_tools_compared_with_have_the_versions_that_we_test_with():
    page = read("learn/comparison.md")
    pinned = (ROOT / "constraints-integrations.txt").read_text("utf-8")
    pinned += (ROOT / "Makefile").read_text("utf-8")
    for name, package in {"ragas": "ragas", "DeepEval": "deepeval", "Inspect": "inspect-ai",
                          "nuggetizer": "nuggetizer"}.items():  # fmt: skip
        [version] = re.findall(rf"(?<![\w-]){package}==([\d.]+)", pinned)
        assert f"{name} {version}" in page


def test_every_file_that_the_page_for_contributors_names_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    names = re.findall(r"`([\w.]+/[\w./]*)`", text)
    named = {
        name for name in names if not name.startswith(("build/", "howto/", "protocols/", "trust/"))
    }
    assert len(named) > 40
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_the_glossary_has_at_most_40_terms_each_once():
    terms = re.findall(r"^### (.+)$", read("learn/glossary.md"), re.MULTILINE)
    assert len(terms) == len(set(terms)) <= 40


AGENTS = {"the skill": ROOT / "skills/nuggetjudge/SKILL.md", "llms.txt": ROOT / "llms.txt"}


@pytest.mark.parametrize("name", AGENTS)
def test_a_coding_agent_can_run_each_command_that_it_is_given(name, monkeypatch, tmp_path):
    from nuggetjudge.cli.app import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = AGENTS[name].read_text("utf-8")
    [block] = re.findall(r"^```\n(.+?)^```", text, re.M | re.S)
    commands = [shlex.split(line) for line in block.splitlines()]
    assert len(commands) == 5
    for judge, *words in commands:
        done = CliRunner().invoke(app, words)
        assert (judge, done.exit_code) == ("judge", 0), f"{words}: {done.output}"
        if "--json" in words:
            row = json.loads(done.stdout.splitlines()[0])
            explained = re.search(rf"`judge {words[0]}` has (.+?)\. ", text)
            assert not explained or set(re.findall(r"`(\w+)`", explained[1])) == set(row)


def test_the_skill_says_when_to_use_it():
    front = yaml.safe_load(AGENTS["the skill"].read_text("utf-8").split("---")[1])
    assert front["name"] == AGENTS["the skill"].parent.name
    assert 20 < len(front["description"]) <= 1024


def test_every_page_of_llms_txt_is_a_page_and_its_python_runs(capsys):
    text = AGENTS["llms.txt"].read_text("utf-8")
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).is_file()] == []
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], {})
    assert capsys.readouterr().out == "faithfulness 1.000 (n 1)\n"
