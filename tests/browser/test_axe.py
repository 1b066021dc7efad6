"""No violation that axe-core finds; the colours are looked at light and dark.

axe is a script of its own, which the page's policy refuses; so here, and here alone, the policy is
switched off. Nothing else is tested with it off.
"""

import pytest


def violations_of(response):
    """What is wrong, where, and how to mend it."""
    return [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in response["violations"]
        for node in one["nodes"][:2]
    ]


def test_axe_finds_nothing(opened, large_report, reports):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    it = opened(large_report, bypass_csp=True)

    def violations(context=None, **options):
        options = {"resultTypes": ["violations"]} | options
        return violations_of(axe.run(it.page, context=context, options=options).response)

    assert violations(rules={"color-contrast": {"enabled": False}}) == []
    if large_report == reports("demo"):
        for scheme in ("light", "dark"):
            it.page.emulate_media(color_scheme=scheme)
            assert violations(runOnly=["color-contrast"]) == [], scheme
        it.page.keyboard.press("?")
        assert violations("dialog") == []
    else:  # colours that the demo has not: of what is not judged
        missing = {"include": [["#summary"], ["#unjudged"], ["#answer"]]}
        assert violations(missing, runOnly=["color-contrast"]) == []
