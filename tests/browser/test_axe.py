"""No violation that axe-core finds, light and dark.

axe is a script of its own, which the page's policy refuses; so here, and here alone, the policy is
switched off. Nothing else is tested with it off.
"""

import pytest


def told(found):
    """What is wrong, where, and how to mend it."""
    return [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in found["violations"]
        for node in one["nodes"][:2]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, report, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    it = opened(report, color_scheme=scheme, bypass_csp=True)
    found = axe.run(it.page, options={"resultTypes": ["violations"]}).response
    assert told(found) == []
    it.page.keyboard.press("?")
    found = axe.run(it.page, context="dialog", options={"resultTypes": ["violations"]}).response
    assert told(found) == []
