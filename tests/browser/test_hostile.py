"""Texts that want to be run are shown, letter for letter, and nothing of them runs."""

import importlib.util
import re
from pathlib import Path
from urllib.parse import quote

import pytest

spec = importlib.util.spec_from_file_location("hostile", Path(__file__).with_name("hostile.py"))
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

ELEMENTS = "script, img, iframe, object, embed, base, meta, link, form, textarea, plaintext, math"
LINKS = "(all) => all.map((a) => a.getAttribute('href')).filter((to) => !/^(#|https?:)/.test(to))"


@pytest.fixture(scope="module")
def page_of_hostile(tmp_path_factory, judged):
    home = tmp_path_factory.mktemp("hostile")
    given = hostile.inputs(home)
    out = home / "out <img src=x onerror=alert(1)>"
    options = [word for name, path in given.items() for word in (f"--{name}", path)]
    judged("run", "nuggets,support", *options, "--model", "lexical", "--out", out)
    hostile.made_hostile(out)
    judged("report", out, "--out", home / "report.html")
    return home / "report.html"


def walk(it):
    """Every topic, each with another run, in every section."""
    topics = hostile.topic_ids()
    for i, (topic, text) in enumerate(zip(topics, hostile.TEXTS.values(), strict=True)):
        run = hostile.NAMES[i % len(hostile.NAMES)]
        it.goes(f"answer?topic={quote(topic)}&run={quote(run)}")
        yield topic, run, text


def test_every_hostile_text_is_shown_and_none_is_run(opened, page_of_hostile):
    it = opened(page_of_hostile)
    elements = it.page.locator("main").locator(ELEMENTS)
    for topic, run, text in walk(it):
        wanted = hostile.shown(text)
        if "answer" in it.sections:
            answer = it.page.locator("#answer").evaluate("(e) => e.textContent")
            assert wanted in answer, (topic, text[:80])
            assert run in answer
            assert len(text) > 1000 or f"Why: {wanted}" in answer, topic
        if "matrix" in it.sections:
            assert wanted in it.text("#matrix"), (topic, text[:80])
        assert elements.count() == 0, text[:80]
        assert it.page.eval_on_selector_all("main a[href]", LINKS) == []
    assert it.misdeeds() == []
    assert len(it.requests) == 1


def test_hostile_names_are_runs_like_any_other(opened, page_of_hostile):
    it = opened(page_of_hostile, "leaderboard?leaderboard.sort=run")
    names = it.page.locator("#leaderboard tbody th").all_inner_texts()
    assert sorted(name.split("\n")[0] for name in names) == sorted(hostile.NAMES)
    for button in it.page.locator("main th button").all()[:5]:
        button.evaluate("(b) => b.click()")
        it.settled()
    assert it.misdeeds() == []


def test_a_hostile_address_runs_nothing(opened, page_of_hostile):
    it = opened(page_of_hostile)
    keys = ("topic", "run", "other", "measure", "item", "sentence", "leaderboard.sort")
    for text in list(hostile.TEXTS.values())[:-1:2]:
        query = "&".join(f"{key}={quote(text, safe='')}" for key in keys)
        it.goes(f"{quote(text, safe='')}?{query}")
    assert it.page.locator("main").locator(ELEMENTS).count() == 0
    assert it.misdeeds() == []


def test_the_file_holds_no_markup_but_its_own(page_of_hostile):
    text = page_of_hostile.read_text(encoding="utf-8")
    assert len(re.findall(r"<script\b", text)) == len(re.findall(r"</script>", text))
    islands = re.findall(r'<script type="[\w/]+"[^>]*>([^<]*)</script>', text)
    assert len(islands) == text.count("<script ")
    assert not {"\u2028", "\u2029"} & set("".join(islands))
    assert text.count("<script>") == 1
