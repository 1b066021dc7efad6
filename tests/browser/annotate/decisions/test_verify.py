"""Two questions about each key point, with the words it was made of; an answer is kept at once."""

import pytest
from browser.annotate.decisions.session import Session
from browser.hostile import TEXTS, shown


def point(i, text="Dampers take up motion.", **more):
    return {
        "topic_id": f"t{i}",
        "key_point_id": f"p{i}",
        "domain": "science",
        "category": "how",
        "question": f"why do bridges sway {i}",
        "text": text,
        "spans": "Dampers absorb\nmost of it.\nNever said.",
        "sources": "d1 d2",
        "documents": [
            {"id": "d1", "title": "On 🌉 bridges", "text": "🌉 All move.\nDampers  absorb\nmost."},
            {"id": "d2", "title": "", "text": "The rest is wind, most of it."},
        ],
        **more,
    }


@pytest.fixture
def session():
    return Session("verify", points=[point(i) for i in range(3)])


def labels(session):
    return {label.cell: label.label for label in session.state.labels()}


def pressed(it):
    return it.page.locator("[aria-pressed=true]").all_inner_texts()


def test_both_questions_are_answered_by_keys_and_the_next_point_comes(opened, session):
    it = opened(session)
    it.press("2", "1")
    it.sees("sway 1", "h1")
    assert labels(session) == {("t0", "p0", "grounded"): "yes", ("t0", "p0", "key_point"): "no"}
    assert it.page.evaluate("() => location.hash") == "#verify?n=2"
    it.press("0", "y")
    it.sees("sway 2", "h1")
    assert labels(session)["t1", "p1", "grounded"] is None, "cannot tell is no label"
    it.press("k")
    it.sees("sway 1", "h1")
    it.until(lambda: len(pressed(it)) == 2)
    assert [text.split()[1] for text in pressed(it)] == ["cannot", "yes"]
    it.press("u")
    it.until(lambda: len(pressed(it)) == 1)
    it.press("U")
    it.until(lambda: len(pressed(it)) == 2)
    it.press("ArrowDown", "ArrowDown", "x")
    it.until(lambda: len(labels(session)) == 3)
    assert ("t1", "p1", "key_point") in labels(session) or ("t1", "p1", "grounded") in labels(
        session
    )
    assert it.misdeeds() == []


def test_the_buttons_stay_in_sight_beside_long_documents(opened):
    long = [{"id": "d1", "title": "Bridges", "text": "Dampers absorb most of it.\n" * 300}]
    it = opened(Session("verify", points=[point(0, documents=long)]))
    it.page.locator(".choice").first.wait_for()
    places = "(all) => all.map((e) => e.getBoundingClientRect().bottom)"
    for y in (0, 1500):
        it.page.evaluate("(y) => scrollTo(0, y)", y)
        assert max(it.page.locator(".choice").evaluate_all(places)) <= 900, y


def test_a_reason_a_flag_and_the_time_go_with_it(opened, session):
    it = opened(session)
    it.press("c")
    it.page.keyboard.insert_text("Only half of it: 1 of 2.")
    it.page.wait_for_timeout(120)
    it.page.reload()
    it.page.locator("textarea").wait_for()
    assert it.page.locator("textarea").input_value() == "Only half of it: 1 of 2."
    it.press("f", "1")
    it.until(lambda: len(session.events) == 2)
    flag, label = session.events
    assert (flag["do"], flag["on"], flag["why"]) == ("flag", True, "Only half of it: 1 of 2.")
    assert label["rationale"] == "Only half of it: 1 of 2."
    assert 0 < label["active_ms"] < 60_000
    it.sees("flagged")
    assert it.misdeeds() == []


def test_the_words_stand_in_their_documents_and_what_does_not_is_said(opened, session):
    it = opened(session)
    assert it.page.locator("main mark").all_text_contents() == [
        "Dampers  absorb\nmost",
        "most of it.",
    ] or it.page.locator("main mark").all_text_contents() == ["Dampers  absorb", "most of it."]
    assert it.page.locator("blockquote").all_text_contents() == ["Never said."]
    it.sees("they are not in the documents")
    session.points[1].pop("documents")
    it.press("j")
    it.sees("sway 1", "h1")
    assert it.page.locator("blockquote").count() == 3
    it.sees("From d1 d2. The results do not include the documents")


def test_what_is_refused_is_taken_back_on_the_screen(opened, session):
    it = opened(session)
    session.refuse = "the disk is full"
    it.press("2")
    it.sees("Not saved: the disk is full")
    assert pressed(it) == []
    assert it.page.evaluate("() => location.hash") == "#verify?n=0"


def test_after_the_last_one_it_says_so(opened, session):
    it = opened(session)
    it.press("2", "2")
    it.sees("sway 1", "h1")
    it.press("2", "2")
    it.sees("sway 2", "h1")
    it.press("2", "2")
    it.sees("You have answered all questions")
    assert len(labels(session)) == 6
    assert it.misdeeds() == []


def test_hostile_points_are_shown_and_none_is_run(opened):
    texts = list(TEXTS.values())
    documents = [{"id": text[:99], "title": text[:99], "text": f"x {text} y"} for text in texts]
    more = {"question": "".join(texts[:9]), "domain": texts[0], "category": texts[4]}
    everything = "\n".join(texts[:-1])
    session = Session(
        "verify", points=[point(0, everything, spans=texts, documents=documents, **more)]
    )
    session.points.append(point(1, texts[2], spans=texts, sources=everything, documents=[], **more))
    it = opened(session)
    assert it.text("h1") == shown(more["question"])
    assert it.text(".columns .t").startswith(shown(everything))
    marked = it.page.locator("main .document").all_text_contents()
    assert marked == [f"{shown(text[:99])}x {shown(text)} y" for text in texts]
    quoted = "(all) => all.filter((one) => !one.querySelector('mark')).length"
    assert it.page.eval_on_selector_all("main .document", quoted) == 0
    it.press("j")
    it.until(lambda: it.page.locator("blockquote").count() == len(texts))
    assert it.page.locator("blockquote").all_text_contents() == [shown(text) for text in texts]
    elements = "script, img, iframe, object, embed, base, meta, link, form, plaintext, math"
    assert it.page.locator("main").locator(elements).count() == 0
    assert it.wide() == {}
    assert it.misdeeds() == []


def test_axe_finds_nothing_and_nothing_is_too_wide(opened, session, axe):
    it = opened(session, bypass_csp=True, reduced_motion="reduce")
    it.press("2")
    it.until(lambda: len(session.events) == 1)
    assert axe(it) == []
    assert it.wide() == {}
