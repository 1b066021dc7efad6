"""Every kind that can be labelled, by keys alone at a real server: begun, undone, reloaded, by axe.

The demo judged without a model has all kinds but lists of items, which have a file of their own.
"""

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location(
    "work_conftest", Path(__file__).parents[3] / "plugins" / "annotate" / "work" / "conftest.py"
)
made = importlib.util.module_from_spec(spec)
spec.loader.exec_module(made)
folder = made.folder

WIDE = """() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"""
KINDS = ("nuggets", "support", "ratings", "keypoints", "relevance", "items")
TASK = "() => fetch('/api/task').then((answer) => answer.json())"
HERE = "(all) => all.map((one) => one.textContent)"


@pytest.fixture
def site_of(serve, folder, tmp_path):
    """`site_of("support")`: a site of a kind."""

    def open_it(kind):
        if kind != "items":
            return serve(folder, kind)
        rows = [
            {"topic_id": "t", "nugget_id": f"n{i}", "text": f"a text {i}", "label": "ab"[i % 2]}
            for i in range(4)
        ]
        return serve(rows, kind)

    return open_it


@pytest.fixture
def axe():
    """What axe finds on a page that was opened with bypass_csp=True."""
    run = pytest.importorskip("axe_playwright_python.sync_playwright").Axe().run

    def violations_of(it):
        violations = run(it.page, options={"resultTypes": ["violations"]}).response["violations"]
        return [(one["id"], one["nodes"][0]["target"]) for one in violations]

    return violations_of


def begins(it):
    """From the start page to the work, by Tab and Enter."""
    for _ in range(30):
        it.page.keyboard.press("Tab")
        if it.page.evaluate("() => document.activeElement.matches('button.begin')"):
            it.presses("Enter")
            return
    raise AssertionError("Tab does not lead to the button")


@pytest.mark.parametrize("kind", KINDS)
def test_items_of_each_kind_are_labelled_by_keys_alone(site_of, open_site, axe, kind):
    site = site_of(kind)
    session = site.work.sessions["ann"]
    it = open_site(site, "start", bypass_csp=True)
    assert axe(it) == []
    descriptions = it.page.locator("dl.keys dd").all_inner_texts()
    assert {"cannot tell (item)", "undo (item)", "give a reason (item)"} <= {*descriptions}
    begins(it)
    assert it.position == 0
    texts = [
        one.text for one in session.task.show_texts(session.entries[0].cell) if one.of != "title"
    ]
    assert {*it.page.locator(".reading :is(h1, .text)").evaluate_all(HERE)} >= {*texts}
    keys = [
        one["key"]
        for one in it.page.evaluate("() => fetch('/api/task').then((t) => t.json())")["scale"]
    ]
    it.presses(keys[-1], keys[0], "u")
    assert it.position == 1
    it.presses("c")
    it.page.keyboard.type("half a reason")
    it.page.reload()
    it.page.locator("html[data-ready=yes]").wait_for()
    it.settled()
    assert it.position == 1
    assert it.page.locator("textarea:visible").input_value() == "half a reason"
    it.presses(keys[-1])
    scale = session.task.scale
    first, second = (
        next(one for one in site.labels() if one.cell == session.entries[n].cell) for n in (0, 1)
    )
    assert (first.label, second.label) == (scale[-1], scale[-1])
    assert second.rationale == "half a reason"
    assert axe(it) == []
    it.page.set_viewport_size({"width": 390, "height": 800})
    assert it.page.evaluate(WIDE) == 0
    assert it.logged == []


def test_facts_are_edited_by_keys_alone_from_the_start_page(site_of, open_site, axe):
    site = site_of("bank")
    it = open_site(site, "start", bypass_csp=True)
    assert axe(it) == []
    begins(it)
    n = it.page.locator(".fact").count()
    it.presses("d", "d", "u", "a")
    it.page.keyboard.type("half a fact")
    it.page.reload()
    it.page.locator("html[data-ready=yes]").wait_for()
    it.page.locator("textarea").wait_for()
    it.presses("Enter")
    it.settled()
    assert it.page.locator(".fact").count() == n
    assert [one.get("op", one["do"]) for one in site.events()] == [
        "delete", "delete", "undo", "add",
    ]  # fmt: skip
    assert axe(it) == []
    assert it.logged == []


def test_key_points_are_verified_by_keys_alone_from_the_start_page(site_of, open_site, axe):
    site = site_of("verify")
    it = open_site(site, "start", bypass_csp=True)
    assert axe(it) == []
    begins(it)
    it.presses("2", "1", "u")
    it.page.reload()
    it.page.locator("html[data-ready=yes]").wait_for()
    it.settled()
    it.presses("2")
    assert [one.label for one in site.labels()] == ["yes", "yes"]
    assert [one["label"] for one in site.events() if one["do"] == "label"] == ["yes", "no", "yes"]
    assert axe(it) == []
    it.page.set_viewport_size({"width": 390, "height": 800})
    assert it.page.evaluate(WIDE) == 0
    assert it.logged == []
