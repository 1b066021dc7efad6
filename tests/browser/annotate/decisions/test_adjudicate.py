"""Whoever decides sees sources without names; these are told when the verdict is on the disk."""

import pytest
from browser.annotate.decisions.session import Session
from browser.hostile import TEXTS, shown

SENTENCE = "A deck that can give a little absorbs loads better."
VOICES = [
    {"letter": "A", "label": "none", "rationale": "It says nothing of loads."},
    {"letter": "B", "label": "full", "rationale": ""},
    {"letter": "C", "label": None, "rationale": "Unclear."},
]


def dispute(i, text=SENTENCE, sources=VOICES):
    texts = [
        {"of": "sentence", "name": "Sentence of an answer", "text": f"{text} {i}", "sha256": ""},
        {"of": "passage", "name": "The passage it cites", "text": text, "sha256": ""},
    ]
    return {"question": "How much is carried?", "texts": texts, "sources": sources}


@pytest.fixture
def session():
    return Session("adjudicate", disputes=[dispute(i) for i in range(2)])


def test_a_verdict_is_given_by_keys_and_only_then_names_are_told(opened, session):
    it = opened(session)
    answers = []
    it.page.on("response", lambda one: answers.append(one.url))
    assert [one.split("\n")[0] for one in it.page.locator(".sources li").all_inner_texts()] == [
        "A", "B", "C",
    ]  # fmt: skip
    for hidden in ("ada", "bob", "judge was", "the judge"):
        assert hidden not in it.text(".sources"), hidden
    it.press("Enter")
    assert session.events == [], "nothing is given before a label is chosen"
    it.press("2", "c")
    it.page.keyboard.insert_text("Half of it: see line 1.")
    it.press("Escape", "Enter")
    it.sees("the judge", ".sources")
    assert it.page.locator(".sources .who").all_inner_texts() == ["ada", "the judge", "<b>bob</b>"]
    [event] = session.events
    assert (event["do"], event["label"], event["item"]) == ("adjudicate", "partial", "dispute 0")
    assert event["rationale"] == "Half of it: see line 1."
    assert event["active_ms"] > 0
    assert [one for one in answers if "reveal" in one] == [f"{it.address}/api/reveal?n=0"]
    it.press("1", "Enter")
    it.sees(f"{SENTENCE} 1")
    assert len(session.events) == 1, "it stands"
    assert it.page.locator(".sources .who").count() == 0
    it.press("0", "Enter")
    it.until(lambda: len(session.events) == 2)
    assert session.events[1]["label"] is None
    it.sees("ada", ".sources")
    it.press("j")
    it.sees("This was the last dispute")
    it.press("k")
    it.sees("ada", ".sources")
    assert it.misdeeds() == []


def test_a_refused_verdict_tells_no_names(opened, session):
    it = opened(session)
    session.refuse = "field 'label': wanted another"
    it.press("3", "Enter")
    it.sees("The verdict was not saved: field 'label': wanted another")
    assert it.page.locator(".sources .who").count() == 0
    it.press("Enter")
    it.sees("ada", ".sources")


def test_a_server_that_is_gone_tells_no_names_before_it_is_back(opened, session):
    it = opened(session)
    it.page.context.set_offline(True)
    it.press("3", "Enter")
    it.sees("The verdict is being saved")
    it.press("1")
    assert it.page.locator(".sources .who").count() == 0
    it.page.context.set_offline(False)
    it.sees("ada", ".sources")
    assert [one["label"] for one in session.events] == ["full"]


def test_a_reload_gives_back_what_was_chosen_and_typed(opened, session):
    it = opened(session)
    it.press("0", "c")
    it.page.keyboard.insert_text("Both.")
    it.page.reload()
    it.page.locator("textarea").wait_for()
    assert it.page.locator("textarea").input_value() == "Both."
    assert "cannot tell" in it.text("[aria-pressed=true]")
    assert session.events == []


def test_nothing_to_decide_is_said(opened):
    it = opened(Session("adjudicate"))
    it.sees("Nothing to decide", "h1")
    it.sees("two or more people have labelled it")
    assert it.misdeeds() == []


def test_hostile_disputes_are_shown_and_none_is_run(opened):
    hostile = dispute(0)
    hostile["question"] = shown(TEXTS["script"])
    hostile["texts"] = [
        {"of": name, "name": text[:80], "text": text, "sha256": ""} for name, text in TEXTS.items()
    ]
    hostile["sources"] = [
        {"letter": f"A{i}", "label": text[:80], "rationale": text}
        for i, text in enumerate(TEXTS.values())
    ]
    it = opened(Session("adjudicate", disputes=[hostile]))
    wanted = [shown(text) for text in TEXTS.values()]
    texts = it.page.locator(".columns > div:first-child > .t")
    assert texts.all_text_contents() == wanted
    assert it.page.locator(".sources .t").all_text_contents() == wanted
    it.press("1", "c")
    it.page.keyboard.insert_text(TEXTS["bidi"])
    it.press("Escape", "Enter")
    it.sees("<b>bob</b>", ".sources")
    assert last_rationale(it) == TEXTS["bidi"]
    elements = "script, img, iframe, object, embed, base, meta, link, form, plaintext, math"
    assert it.page.locator("main").locator(elements).count() == 0
    assert it.wide() == {}
    assert it.misdeeds() == []


def last_rationale(it):
    return it.session.events[-1]["rationale"]


def test_axe_finds_nothing_before_and_after_the_verdict(opened, session, axe):
    it = opened(session, bypass_csp=True, reduced_motion="reduce")
    it.press("1")
    assert axe(it) == []
    it.press("Enter")
    it.sees("ada", ".sources")
    assert axe(it) == []
    assert it.wide() == {}


def test_who_decides_about_the_judge_is_told_that_this_favours_it(opened, session):
    it = opened(session)
    assert "are not checked again" not in it.text("main")
    session.is_against_judge = True
    it.press("j")
    it.page.reload()
    it.sees("agreement with it looks higher than it is")
    assert "null" not in it.text("main")
