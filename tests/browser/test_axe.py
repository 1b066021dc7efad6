"""No violation that axe-core finds; the colours are looked at light and dark.

axe is a script of its own, which the page's policy refuses; so here, and here alone, the policy is
switched off. Nothing else is tested with it off.
"""

import functools

import pytest


def told(found):
    """What is wrong, where, and how to mend it."""
    return [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in found["violations"]
        for node in one["nodes"][:2]
    ]


def test_axe_finds_nothing(opened, large_report, reports):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    it = opened(large_report, bypass_csp=True)
    run = functools.partial(axe.run, it.page)
    all_of_it = {"resultTypes": ["violations"]}
    is_demo = large_report == reports("demo")
    # 45 runs by 45 are one cell 2,025 times
    most = None if is_demo else {"exclude": [["#pairs tbody"]]}
    assert told(run(context=most, options=all_of_it).response) == []
    it.page.keyboard.press("?")
    assert told(run(context="dialog", options=all_of_it).response) == []
    if is_demo:
        it.page.keyboard.press("Escape")
        it.page.emulate_media(color_scheme="dark")
        colours = all_of_it | {"runOnly": ["color-contrast"]}
        assert told(run(options=colours).response) == []
