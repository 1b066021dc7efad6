"""Item and answer by axe, by keys alone, narrow, zoomed, dark, in forced colours, attacked."""

import importlib.util
from pathlib import Path

import pytest
from annotating import nugget_rows, rating_rows

spec = importlib.util.spec_from_file_location(
    "hostile", Path(__file__).parent.parent / "hostile.py"
)
hostile = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hostile)

ELEMENTS = "script, img, iframe, object, embed, base, meta, link, form, textarea, plaintext, math"
WIDE = """() => {
  const { clientWidth, scrollWidth } = document.scrollingElement;
  if (scrollWidth <= clientWidth) return [];
  const right = (e) => e.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll("body *")].filter((e) => right(e) > clientWidth + 1);
  return wide.map((e) => e.outerHTML.slice(0, 120));
}"""
SMALL = """() => [...document.querySelectorAll("main :is(button, .choices label)")].filter((e) => {
  const { width, height } = e.getBoundingClientRect();
  return width && (width < 24 || height < 24);
}).map((e) => e.outerHTML.slice(0, 120))"""
FOCUS = """() => {
  const a = document.activeElement;
  if (!a.closest("main") || a.matches("main, section")) return null;
  const frame = a.matches("[type=radio]") ? a.closest("label") : a;
  const { outlineStyle, outlineWidth } = getComputedStyle(frame);
  const box = frame.getBoundingClientRect();
  const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2];
  const top = document.elementFromPoint(x, y);
  const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
  const isOnTop = top !== null && (frame.contains(top) || top.contains(frame));
  return [isSeen && isOnTop, a.outerHTML.slice(0, 120)];
}"""
VIEWS = ("item", "answer")
SCREENS = {"phone": (390, 800), "320 px": (320, 640), "zoomed to 200%": (640, 450)}


def violations_of(response):
    """What is wrong, where, and how to mend it."""
    return [
        (one["id"], node["target"], node.get("failureSummary", ""))
        for one in response["violations"]
        for node in one["nodes"][:2]
    ]


def busy(it):
    """Everything open that can be: marks, a cursor, a reason, a flag, the last actions."""
    it.presses("1", "0", "s", "]", "Enter", "]", "f", "Escape", "c")
    it.page.keyboard.type("why")


@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(serve, open_site, view):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    site = serve(rating_rows(), "ratings", condition="post_edit")
    it = open_site(site, view, bypass_csp=True)  # the policy refuses axe's script; here alone
    busy(it)
    assert violations_of(axe.run(it.page, options={"resultTypes": ["violations"]}).response) == []
    it.page.emulate_media(color_scheme="dark")
    options = {"resultTypes": ["violations"], "runOnly": ["color-contrast"]}
    assert violations_of(axe.run(it.page, options=options).response) == []


@pytest.mark.parametrize("view", VIEWS)
def test_nothing_is_wider_than_the_window_nor_too_small_to_hit(serve, open_site, view):
    rows = nugget_rows(n=3, text=f"{'w' * 300} All bridges move. " * 3)
    it = open_site(serve(rows), view, forced_colors="active", reduced_motion="reduce")
    busy(it)
    for screen, (width, height) in SCREENS.items():
        it.page.set_viewport_size({"width": width, "height": height})
        it.settled()
        assert it.page.evaluate(WIDE) == [], screen
        assert it.page.evaluate(SMALL) == [], screen
    assert it.misdeeds() == []


@pytest.mark.parametrize("size", [(1280, 900), (320, 640)])
@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_all_and_the_focus_is_seen_and_not_covered(serve, open_site, view, size):
    site = serve(nugget_rows(n=3, text="All bridges move. " * 60))
    it = open_site(site, view, viewport={"width": size[0], "height": size[1]})
    it.presses("1", "s", "]", "Enter")
    it.page.evaluate("() => { document.activeElement.blur(); scrollTo(0, 0); }")
    unseen, n = [], 0
    for _ in range(60):
        it.page.keyboard.press("Tab")
        focus = it.page.evaluate(FOCUS)
        if focus is None and n:
            break
        n += focus is not None
        if focus and not focus[0]:
            unseen.append(focus[1])
    assert n > 8
    assert unseen == []


def test_a_topic_is_labelled_by_tab_arrows_and_space_alone(serve, open_site):
    site = serve(nugget_rows(n=2))
    it = open_site(site)
    it.presses("Shift")  # keys of the page are not used
    for _ in range(20):
        it.page.keyboard.press("Tab")
        if it.page.evaluate("() => document.activeElement.type") == "radio":
            break
    it.presses("ArrowRight", "Space", "ArrowLeft", "Space")
    assert sorted(one.label for one in site.labels()) == ["not_support", "partial_support"]


def test_a_label_says_what_it_is_without_its_colour(serve, open_site):
    it = open_site(serve(nugget_rows(n=2)), forced_colors="active")
    words = it.page.locator(".choices label").all_inner_texts()
    wanted = [["1", "✗", "none of it"], ["2", "◐", "part of it"]]
    wanted += [["3", "✓", "all of it"], ["0", "?", "cannot tell"]]
    assert [word.split("\n") for word in words] == wanted
    assert it.page.get_by_role("radio").first.get_attribute("aria-label") == "none of it"
    assert it.page.get_by_role("group", name="How much of the fact").count() == 1


@pytest.fixture
def attacked(serve):
    """Every hostile text as a question, an answer and a nugget; ids as well."""
    texts = [*hostile.TEXTS.values(), hostile.LONGEST]
    ids = [*hostile.topic_ids(), "longest"]
    rows = []
    for i, (topic, text) in enumerate(zip(ids, texts, strict=True)):
        (row,) = nugget_rows(n=2, text=text)
        short = text[:20_000]
        row |= {"qid": topic, "query": short, "run_id": hostile.NAMES[i % 5]}
        for nugget in row["nuggets"]:
            nugget["text"] = f"{nugget['id']} {short}"
        rows.append(row)
    return serve(rows, overlap=0)


def test_hostile_texts_are_shown_letter_for_letter_and_none_is_run(attacked, open_site):
    it = open_site(attacked)
    session = attacked.work.sessions["ann"]
    seen = set()
    for n, entry in enumerate(session.entries):
        if entry.cell[0] in seen:
            continue
        seen.add(entry.cell[0])
        texts = session.task.texts(entry.cell)
        it.page.evaluate("(n) => { location.hash = `item?n=${n}`; }", n)
        it.settled()
        assert it.position == n
        shown = it.page.locator(".reading .text").evaluate_all(
            "(all) => all.map((e) => e.textContent)"
        )
        assert shown == [hostile.shown(texts[one]) for one in ("answer_text", "nugget")]
        assert it.page.locator("h1").evaluate("(e) => e.textContent") == hostile.shown(
            texts["question"]
        )
        assert it.page.locator(".reading").locator(ELEMENTS).count() == 0
        for key in ("s", "]", "Enter", "s"):
            it.page.keyboard.press(key)
        it.settled()
        assert it.page.locator(".marked q").count() == 1
        assert it.page.locator(".asking").locator(f":is({ELEMENTS}):not(textarea)").count() == 0
    assert len(seen) == len(hostile.TEXTS) + 1
    assert it.misdeeds() == []


def test_hostile_answers_are_shown_whole_in_the_answer_view(attacked, open_site):
    it = open_site(attacked)
    session = attacked.work.sessions["ann"]
    for n in range(0, len(session.entries), 5):
        texts = session.task.texts(session.entries[n].cell)
        it.page.evaluate("(n) => { location.hash = `answer?n=${n}`; }", n)
        it.settled()
        text = it.page.locator(".reading .text").evaluate("(e) => e.textContent")
        assert text == hostile.shown(texts["answer_text"])
        legend = it.page.locator("[aria-current] legend").evaluate("(e) => e.textContent")
        assert legend == hostile.shown(texts["nugget"])
        assert it.page.locator(".beside").locator(f":is({ELEMENTS}):not(textarea)").count() == 0
    assert it.misdeeds() == []


def test_a_hostile_reason_comes_back_as_it_was_typed(serve, open_site):
    site = serve(nugget_rows(n=2))
    it = open_site(site)
    text = " ".join(hostile.TEXTS[name] for name in ("end of script", "bidi", "beyond 16 bits"))
    it.presses("c")
    it.page.locator("textarea:visible").fill(text)
    it.presses("Escape", "1")
    assert site.labels()[0].rationale == text
    it.at("item?n=0")
    assert it.page.locator("textarea:visible").input_value() == text
    assert it.misdeeds() == []


def test_hostile_guidelines_are_text_on_the_start_page(serve, open_site, tmp_path):
    path = tmp_path / "guidelines.txt"
    text = "\n".join(hostile.TEXTS.values())
    path.write_text(text, "utf-8")
    it = open_site(serve(nugget_rows(n=2), guidelines=path), "start")
    texts = "(all) => all.map((e) => e.textContent)"
    shown = it.page.locator(".guidelines").evaluate_all(texts)
    assert shown == [hostile.shown(text)] * 2  # on the page, and in the drawer
    assert it.page.locator(".drawer").locator(ELEMENTS).count() == 0
    assert it.page.locator("main").locator(ELEMENTS).count() == 0
    it.page.set_viewport_size({"width": 320, "height": 640})
    assert it.page.evaluate(WIDE) == []
    it.at(f"start?n={hostile.TEXTS['image']}")
    assert it.misdeeds() == []
