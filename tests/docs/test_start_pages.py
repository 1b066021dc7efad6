"""What the first pages say is so: messages, numbers, versions, and where their code runs."""

import contextlib
import io
import re
from pathlib import Path

import pytest
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
    parts = {part for message in messages for part in message.split("...")}
    parts = {part.strip("(); ") for part in parts} - {"", "holds", "of"}
    lost = [part for part in parts if part not in code]
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


def test_the_picture_of_how_it_works_is_what_its_command_draws(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks.pages.concept import PICTURE, draw, judge

    assert PICTURE.read_text("utf-8") == draw(judge()), "python -m benchmarks.pages.concept"


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


def test_the_glossary_has_at_most_40_terms_each_once():
    terms = re.findall(r"^### (.+)$", read("learn/glossary.md"), re.MULTILINE)
    assert len(terms) == len(set(terms)) <= 40
