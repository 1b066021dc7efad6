"""The coordinator sees how far all are, two unlike intervals, and what is not known yet."""

import copy

import pytest
from browser.annotate.decisions.session import Session
from browser.hostile import NAMES, TEXTS, shown

NOTHING = {
    "measures": [], "reason": "no randomly drawn item has a label yet",
    "agreement": None, "people": [],
    "sessions": [{"annotator": "ada", "done": 0, "total": 120, "active_ms": 0}], "of_labels": 0,
}  # fmt: skip


def score(run, measure, at, **more):
    return {
        "run": run, "measure": measure, "judged": at, "corrected": at - 0.05,
        "sequence": [at - 0.2, at + 0.1], "fixed": [at - 0.12, at + 0.02], "n_labels": 80,
        "needed": {"of_these": 140, "least_half_width": 0.06}, "reason": None, "warnings": [],
        **more,
    }  # fmt: skip


SHARE = {"n_of": 3, "n": 8, "value": 0.375, "low": 0.085, "high": 0.755}
FULL = {
    "measures": [
        score("all", "weighted_precision", 0.6),
        score("run-a", "weighted_precision", 0.7,
              needed={"of_these": 260, "least_half_width": 0.06}),
        score("run-b", "weighted_precision", 0.5, corrected=None, sequence=None, fixed=None,
              needed=None, reason="fewer than 20 labels of its answers"),
        score("run-a", "hard_precision", 0.4),
    ],
    "reason": None,
    "level": 0.95,
    "half_width": 0.05,
    "agreement": {
        "name": "Cohen's kappa",
        "kappa": {"value": 0.52, "lo": 0.41, "hi": 0.62, "n": 150},
        "ceiling": {"value": 0.61, "lo": 0.44, "hi": 0.75, "n": 22},
    },
    "anchoring": {"kept_controls": SHARE, "kept": {**SHARE, "value": 0.8}, "equal_unseen": None},
    "people": [
        {"annotator": "ada", "labels": 80, "cannot_tell": 4, "flagged": 2, "skipped": 3,
         "per_hour": 212.4,
         "self_agreement": {"equal": {"value": 0.875, "n": 8}},
         "speed": {"first_median": 20.4, "last_median": 9.6}},
        {"annotator": "bob", "labels": 70, "cannot_tell": 0, "flagged": 0, "per_hour": 150},
    ],
    "sessions": [
        {"annotator": "ada", "done": 80, "total": 120, "active_ms": 1_356_000},
        {"annotator": "bob", "done": 70, "total": 120, "active_ms": 1_680_000},
    ],
    "cost": {"seconds_per_label": 20.24, "hours": 0.84},
    "of_labels": 150,
    "computed_at": "2026-11-23T08:00:00Z",
}  # fmt: skip


def session(figures):
    return Session("progress", figures=copy.deepcopy(figures))


def test_what_is_not_known_is_said_with_what_would_give_it(opened):
    it = opened(session(NOTHING))
    it.sees("Nobody has labelled anything yet.")
    it.sees("No score can be corrected yet: no randomly drawn item has a label yet.")
    it.sees("The ceiling is not known yet: it needs items that two people labelled.")
    it.sees("The agreement of the judge with people is not known yet")
    it.sees("nobody has reached a repeated item")
    it.sees("It is not yet known how many labels the target half-width needs")
    assert it.page.locator("svg").count() == 0, "nothing is drawn of nothing"
    assert "NaN" not in it.text()
    assert "undefined" not in it.text()
    assert it.misdeeds() == []


def test_the_overlap_that_was_set_is_the_one_that_is_named(opened):
    it = opened(session({**NOTHING, "overlap": 0.25}))
    it.sees("25% of each queue is shared and comes first (--overlap)")
    it.session.figures["overlap"] = 0
    it.sees("No items are shared (--overlap 0)")


def test_figures_stand_as_they_came_and_both_intervals_are_drawn_apart(opened):
    it = opened(session(FULL))
    rows = it.page.locator("[aria-label^='Corrected scores'] tbody tr")
    it.until(lambda: rows.count() == 3)
    texts = ["|".join(row.locator("th, td").all_inner_texts()) for row in rows.all()]
    assert texts[1] == "run-a|.700|.650||.500 to .800|.580 to .720|80"
    assert texts[0].startswith("all runs, mean|.600")
    assert texts[2] == "run-b|.500|–||–|–|80"
    it.sees("1 score not corrected yet: fewer than 20 labels of its answers.")
    mark = rows.nth(1).locator("svg")
    assert mark.get_attribute("aria-label") == (
        "judge .700, corrected .650, confidence sequence .500 to .800, fixed sample .580 to .720"
    )
    band, line = mark.locator("rect.band"), mark.locator("line.whisker")
    inside = float(line.get_attribute("x1")) - float(band.get_attribute("x"))
    assert inside == pytest.approx(0.08 * 206, abs=0.01), ".58 against .50 on 220 px less the pads"
    people = it.page.locator("[aria-label=People] tbody tr").first
    assert people.locator("th, td").all_inner_texts() == [
        "ada", "80", "120", "212", "4 5%", ".88 of 8", "20.4, 9.6", "2", "3",
    ]  # fmt: skip
    it.sees("Cohen's kappa: 1 is perfect")
    it.sees(".61")
    it.sees("People kept 3 of 8 labels that the judge never gave")
    it.sees("260", ".facts")
    it.sees("88 min", ".facts")  # 260 labels of 20.24 s
    it.sees("no number of labels gives ±.050: even with all items labelled it would be ±.060")
    assert it.misdeeds() == []


def test_another_measure_is_shown_when_it_is_chosen(opened):
    it = opened(session(FULL))
    it.page.get_by_label("Measure").select_option("hard_precision")
    it.sees(".400", "[aria-label^='Corrected scores']")
    it.sees("140", ".facts")


def test_it_renews_itself_and_keeps_the_focus_and_the_choice(opened):
    work = session(FULL)
    it = opened(work, clock=True)
    it.page.get_by_label("Measure").select_option("hard_precision")
    it.page.locator("[aria-label=People]").focus()
    table = it.page.locator("[aria-label=Agreement] table").element_handle()
    spoken = "() => document.querySelector('.live').textContent"
    work.figures["sessions"][1]["done"] = 71
    work.figures["computed_at"] = "2026-11-23T08:00:09Z"
    work.figures["measures"][3]["corrected"] = 0.123
    it.page.clock.fast_forward(3_000)
    it.sees("71", "[aria-label=People]")
    it.sees(".123")
    assert it.page.get_by_label("Measure").input_value() == "hard_precision"
    focus = it.page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    assert focus == "People"
    assert it.page.evaluate(spoken) == "", "quietly"
    assert table.evaluate("(t) => t.isConnected"), "what did not change is not drawn anew"
    it.page.context.set_offline(True)
    it.page.clock.fast_forward(3_000)
    it.sees("These numbers may be out of date: the server does not answer.")
    it.sees("71", "[aria-label=People]")
    it.page.context.set_offline(False)
    it.page.clock.fast_forward(3_000)
    it.until(lambda: "may be out of date" not in it.text())


def test_hostile_names_are_names_like_any_other(opened):
    texts = list(TEXTS.values())
    figures = copy.deepcopy(FULL)
    figures["measures"] = [
        score(text, NAMES[i % 2], 0.5, reason=text) for i, text in enumerate(texts)
    ]
    figures["measures"][0] |= {"corrected": None, "warnings": texts[:3]}
    figures["sessions"] = [
        {"annotator": text, "done": 1, "total": 2, "active_ms": 9} for text in texts
    ]
    it = opened(session(figures))
    names = it.page.locator("[aria-label=People] tbody th").all_text_contents()
    assert names == [shown(text) for text in texts]
    assert it.text(".sofar").count(shown(texts[0])) >= 3
    elements = "script, img, iframe, object, embed, base, meta, link, form, plaintext, math"
    assert it.page.locator("main").locator(elements).count() == 0
    assert it.wide() == {}
    assert it.misdeeds() == []


def test_axe_finds_nothing_and_nothing_is_too_wide(opened, axe):
    work = session(NOTHING)
    it = opened(work, bypass_csp=True, clock=True)
    it.sees("Nobody has labelled anything yet.")
    assert axe(it) == []
    work.figures = copy.deepcopy(FULL)
    it.page.clock.fast_forward(3_000)
    it.sees("run-a")
    assert axe(it) == []
    assert it.wide() == {}
