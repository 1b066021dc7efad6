"""The site of docs/, built as `make docs` does: strictly, complete, and without the network.

NUGGETJUDGE_SITE: the folder where `make docs` has just built it; it is not built again.
"""

import importlib
import inspect
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

ROOT = Path(__file__).resolve().parents[2]
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
ADDRESS = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)


class Loads(HTMLParser):
    """What a page has its browser fetch, and its headings' ids."""

    def __init__(self, text):
        super().__init__()
        self.found, self.ids = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids.add(given.get("id"))
        if tag == "link" and given.get("rel") in ("canonical", "next", "prev"):
            return
        if address := given.get(LOADED.get(tag)):
            self.found.append(address)


def build(folder, config="mkdocs.yml"):
    """Builds the site; the end of the process, whose stderr has the warnings (not with -q)."""
    command = [sys.executable, "-m", "mkdocs", "build", "-f", ROOT / config, "-d", folder]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    if made := os.environ.get("NUGGETJUDGE_SITE"):
        return ROOT / made
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert (done.returncode, "WARNING" in done.stderr) == (0, False), done.stderr
    return folder


def page(site, name):
    return (site / name).read_text(encoding="utf-8")


def test_every_page_of_the_repository_is_a_page_of_the_site(site):
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), path
    for name in ("index", "about/changelog", "about/contributing", "examples/demo"):
        assert (site / f"{name}.html").is_file()


def test_no_page_asks_the_network_for_anything(site):
    pages = list(site.rglob("*.html"))
    assert len(pages) > 60
    loaded = {(path.name, x) for path in pages for x in Loads(path.read_text("utf-8")).found}
    assert len(loaded) > 200
    assert {each for each in loaded if ADDRESS.match(each[1])} == set()
    for path in site.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), path


def test_a_link_out_of_the_docs_is_a_page_or_plain_text(site):
    text = page(site, "protocols/keypoints.html")
    assert 'href="../examples/keypoints.html"' in text
    assert "payloads.jsonl" in page(site, "trust/injection.html")
    assert not re.search(r'href="[^"]*payloads\.jsonl', page(site, "trust/injection.html"))
    assert 'href="protocols/nuggets.html"' in page(site, "index.html")


def commands(command, name="judge"):
    """Every command below one, by the name of its page."""
    for below in getattr(command, "list_commands", lambda _: [])(None):
        each = command.get_command(None, below)
        yield f"{name}-{below}", each
        yield from commands(each, f"{name}-{below}")


def test_every_command_has_a_page_with_an_anchor_for_each_option(site):
    import typer

    from nuggetjudge.cli.app import app

    overview = page(site, "reference/cli/index.html")
    found = dict(commands(typer.main.get_command(app)))
    assert {"judge-run", "judge-index", "judge-build-crux", "judge-cascade-fit"} <= set(found)
    for name, command in found.items():
        text = page(site, f"reference/cli/{name}.html")
        assert f'href="{name}.html"' in overview.partition("<article")[2]
        assert 'href="../../results.html#exit-codes"' in text
        if not hasattr(command, "list_commands"):
            options = {opt for x in command.params if not x.hidden for opt in x.opts}
            assert {opt for opt in options if opt.startswith("--")} <= Loads(text).ids, name
    text = re.sub("<[^>]+>", "", page(site, "reference/cli/judge-score.html"))
    assert "\njudge score results/demo --by category\n" in text


def test_a_command_that_a_page_names_is_a_link_to_its_reference(site):
    article = page(site, "howto/index.html").partition("<article")[2]
    for goal in ("judge-calibrate.html", "judge-run.html#--fail-under"):
        assert f'href="../reference/cli/{goal}"' in article


@pytest.mark.parametrize(
    "word", ["hallucination", "faithfulness", "groundedness", "cost", "glossary"]
)
def test_a_search_for_a_word_of_the_field_finds_a_heading(site, word):
    index = json.loads(page(site, "search/search_index.json"))
    titles = [row["title"].lower() for row in index["docs"]]
    assert any(word in title for title in titles)


def test_llms_txt_stands_at_the_root_and_leads_to_pages(site):
    links = re.findall(r"\]\(([^)]+)\)", page(site, "llms.txt"))
    assert links
    assert [link for link in links if not (site / link).is_file()] == []


def is_documented(thing):
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__doc__


def test_every_public_name_has_its_docstring_in_the_reference(site):
    for folder in ("judges", "metrics", "records", "agents", "retrieval", "calibration"):
        module = importlib.import_module(f"nuggetjudge.{folder}")
        ids = Loads(page(site, f"reference/python/{folder}.html")).ids
        named = {name: getattr(module, name) for name in module.__all__}
        documented = {name for name, x in named.items() if is_documented(x)}
        assert documented - {str(each).rpartition(".")[2] for each in ids} == set()
    shown = page(site, "reference/python/nuggetjudge.html")
    for name in ("run", "evaluate", "compare", "agree", "calibrate", "Result.report"):
        assert f'id="nuggetjudge.{name}"' in shown
    judges = page(site, "reference/python/judges.html")
    assert "the passage supports every claim of it" in judges  # the meaning of a label
    for parameter in ("one", "other"):  # of compare, in one line of the docstring
        assert re.search(
            rf"<code>{parameter}</code>.{{0,900}}a result, a results folder", shown, re.S
        )


def test_lists_and_tables_that_github_shows_are_lists_and_tables_here(site):
    changes = page(site, "about/changelog.html")
    assert changes.count("<li>") > 50
    assert not re.search(r"<p>[^<]*\n[-|] ", changes)
    for path in site.rglob("*.html"):
        assert not re.search(r"<p>[^<]*\n(?:- |\|[^<]*\|\n)", path.read_text("utf-8")), path


@pytest.mark.parametrize(
    "text", ["[a](nowhere.md)", "[a](../config.md#no-such-part)", "[a](../../nowhere.md)"]
)
def test_a_link_that_leads_nowhere_stops_the_build(tmp_path, text):
    """Of a small site with the same rules."""
    import yaml

    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    rules = yaml.safe_load(re.search(r"^validation:.*?^\n", settings, re.DOTALL | re.MULTILINE)[0])
    (tmp_path / "docs" / "howto").mkdir(parents=True)
    (tmp_path / "docs" / "config.md").write_text("# The config\n", encoding="utf-8")
    (tmp_path / "docs" / "howto" / "index.md").write_text(f"# How\n\n{text}\n", encoding="utf-8")
    hooks = [str(ROOT / "docs" / "site" / "links.py")]
    config = {"site_name": "x", "strict": True, "docs_dir": "docs", "hooks": hooks, **rules}
    (tmp_path / "mkdocs.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode != 0
    assert "howto/index.md" in done.stderr
