"""Facts are edited by keyboard alone, every change an event, and nothing shown that leads."""

import pytest
from browser.annotate.decisions.session import Session
from browser.hostile import LONGEST, NAMES, TEXTS, shown

FACTS = ["Bridges sway in the wind.", "Decks are light.", "Dampers and cables absorb motion."]
PASSAGES = [
    {"id": "d1", "title": "On bridges", "text": "Every bridge moves. Dampers absorb some of it."},
    {"id": "d2", "title": "", "text": "The wind excites a light deck."},
]


@pytest.fixture
def session():
    return Session(
        "bank", topics=[("why do bridges sway", FACTS, PASSAGES), ("second", ["One."], [])]
    )


def facts(it):
    return it.page.locator(".fact > .t").all_text_contents()


def test_every_change_is_made_by_keyboard_and_is_one_event(opened, session):
    it = opened(session)
    assert it.focused.startswith(FACTS[0]), "the first fact has the focus"
    it.press("e")
    it.page.keyboard.insert_text(" Always.")
    it.press("Enter")
    it.until(lambda: session.texts()[0] == "Bridges sway in the wind. Always.")
    it.sees("reworded, was Bridges sway in the wind.")
    it.press("j", "j", "s")
    it.press("Control+a")
    it.page.keyboard.insert_text("Dampers absorb motion.")
    it.press("Enter")
    it.page.keyboard.insert_text("Cables absorb motion.")
    it.press("Tab", "Enter")
    it.until(lambda: len(session.texts()) == 4)
    it.sees("split from Dampers and cables absorb motion.")
    it.press("a")
    it.page.keyboard.insert_text("Wind tunnels test them.")
    it.press("Enter")
    it.until(lambda: len(session.texts()) == 5)
    it.until(lambda: len(facts(it)) == 5, "the page has it too, before the next key")
    it.press("k", "k", "k", "k", "x", "j", "x", "m")
    it.press("Control+a")
    it.page.keyboard.insert_text("Light decks sway in the wind.")
    it.press("Enter")
    it.until(lambda: len(session.texts()) == 4)
    it.sees("merged from 2")
    it.until(lambda: it.focused.startswith("Light decks"), "the focus is on what it became")
    it.press("j", "d")
    it.until(lambda: len(session.texts()) == 3)
    it.press("u")
    it.until(lambda: len(session.texts()) == 4)
    it.press("U")
    it.until(lambda: len(session.texts()) == 3)
    wanted = ["Light decks sway in the wind.", "Cables absorb motion.", "Wind tunnels test them."]
    assert session.texts() == wanted
    it.until(lambda: facts(it) == wanted)
    does = [event.get("op", event["do"]) for event in session.events]
    assert does == ["edit", "split", "add", "merge", "delete", "undo", "redo"]
    assert len({event["id"] for event in session.events}) == len(session.events)
    assert it.misdeeds() == []


def test_importance_is_a_second_step_and_no_earlier_one_is_shown(opened, session):
    it = opened(session)
    for key in "vo0":
        it.press(key)
    assert "vital" not in it.text(".list-of-facts"), "the judge's importance is not shown"
    it.press("i")
    it.sees("0 of 3 rated")
    it.press("v", "o", "v")
    it.sees("3 of 3 rated")
    it.until(lambda: len(session.events) == 3)
    importances = [one.nugget.importance for one in session.edited(0).nuggets.values()]
    assert importances == ["vital", "okay", "vital"]
    it.press("0")
    it.sees("2 of 3 rated")
    it.press("u")
    it.sees("3 of 3 rated")
    assert it.misdeeds() == []


def test_what_is_refused_or_waits_is_said_and_not_lost(opened, session):
    it = opened(session)
    session.refuse = "delete: there is no nugget 'n0'"
    it.press("d")
    it.sees("Not saved: delete: there is no nugget 'n0'")
    it.until(lambda: facts(it) == FACTS)
    it.logged.clear()  # the browser itself logs the 400
    it.page.context.set_offline(True)
    it.press("d", "a")
    it.page.keyboard.insert_text("New.")
    it.press("Enter")
    it.sees("not saved yet")
    assert facts(it) == [*FACTS[1:], "New."], "shown at once"
    assert session.texts() == FACTS
    it.page.context.set_offline(False)
    it.until(lambda: session.texts() == [*FACTS[1:], "New."])
    it.until(lambda: "not saved yet" not in it.text())


def test_a_reload_gives_back_what_was_typed(opened, session):
    it = opened(session)
    it.press("j", "e")
    it.page.keyboard.insert_text(" Very.")
    it.page.reload()
    field = it.page.locator("textarea")
    field.wait_for()
    assert field.input_value() == "Decks are light. Very."
    it.press("Escape")
    it.page.reload()
    it.page.locator(".fact").first.wait_for()
    assert it.page.locator("textarea").count() == 0
    assert session.events == []


def test_keys_are_letters_while_a_fact_is_written(opened, session):
    it = opened(session)
    it.press("a", *"dumb", " ", "v", "Enter")
    it.until(lambda: session.texts() == [*FACTS, "dumb v"])
    assert len(session.events) == 1


def test_passages_are_found_by_words_and_say_what_the_underlining_is(opened, session):
    it = opened(session)
    it.press("j", "j")
    it.until(lambda: it.page.locator("mark.words").all_text_contents() == ["Dampers", "absorb"])
    it.press("/")
    it.page.keyboard.insert_text("excites wind")
    it.sees("1 of 2")
    assert it.page.locator("details.passage:visible").count() == 1
    assert "also in the current fact" in it.text()


def test_questions_follow_each_other(opened, session):
    it = opened(session)
    it.press(">")
    it.sees("second", "h1")
    assert it.page.evaluate("() => location.hash") == "#bank?n=1"
    it.press("d")
    it.until(lambda: session.texts(1) == [])
    it.sees("There are no facts")
    it.press("u")
    it.until(lambda: facts(it) == ["One."])
    it.press("<")
    it.sees("why do bridges sway", "h1")
    assert it.misdeeds() == []


def test_hostile_facts_passages_and_questions_are_shown_and_none_is_run(opened):
    texts = list(TEXTS.values())
    passages = [
        {"id": f"{NAMES[i % 5]} {i}", "title": text[:60] if i % 2 else "", "text": text}
        for i, text in enumerate([*texts, LONGEST])
    ]
    session = Session("bank", topics=[(text, texts, passages) for text in texts])
    it = opened(session, "bank?n=3")
    assert it.text("h1") == shown(texts[3])
    assert facts(it) == [shown(text) for text in texts]
    for summary in it.page.locator("summary").all()[1:]:
        summary.evaluate("(s) => s.click()")
    bodies = it.page.locator("details .t")
    it.until(lambda: bodies.count() == len(passages))
    wanted = [shown(text) for text in texts] + [LONGEST[:20_000]]
    assert bodies.all_text_contents() == wanted
    for at, text in enumerate(texts[:3]):
        it.page.locator(".fact").nth(at).click(position={"x": 5, "y": 5})
        it.press("e", "End")
        it.page.keyboard.insert_text("!")
        it.press("Enter")
        it.until(lambda at=at, text=text: session.texts(3)[at] == f"{text}!")
    it.until(lambda: it.text(".origin").count("reworded, was") == 3)
    elements = "script, img, iframe, object, embed, base, meta, link, form, plaintext, math"
    assert it.page.locator("main").locator(elements).count() == 0
    assert it.wide() == {}
    assert it.misdeeds() == []


def test_axe_finds_nothing_in_either_step_nor_while_one_writes(opened, session, axe):
    it = opened(session, bypass_csp=True, reduced_motion="reduce")
    it.press("x")
    assert axe(it) == []
    it.press("e")
    assert axe(it) == []
    it.press("Escape", "i")
    it.sees("0 of 3 rated")
    assert axe(it) == []


def test_nothing_is_wider_than_the_page_and_forced_colours_leave_the_marks(opened, session):
    it = opened(session, forced_colors="active")
    assert it.wide() == {}
    edge = it.page.locator(".fact[aria-current]").evaluate(
        "(e) => getComputedStyle(e).borderLeftWidth"
    )
    assert edge == "3px"


def test_an_importance_that_is_typed_before_an_undo_is_answered_is_of_the_fact_that_comes_back(
    opened, session
):
    it = opened(session)
    it.press("d", "i")
    it.until(lambda: len(session.texts()) == 2)
    delayed = []
    it.page.route(
        "**/api/event", lambda route: route.continue_() if delayed else delayed.append(route)
    )
    it.press("u", "v", "o")
    it.until(lambda: delayed)
    it.sees("0 of 2 rated")
    delayed[0].continue_()
    it.sees("2 of 3 rated")
    it.until(lambda: len(session.events) == 4)
    importances = {
        one.nugget.text: one.nugget.importance for one in session.edited(0).nuggets.values()
    }
    assert importances == {FACTS[0]: "vital", FACTS[1]: "okay", FACTS[2]: None}
    assert it.misdeeds() == []
