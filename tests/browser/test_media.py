"""The page on paper, in the dark, in forced colours, on a phone and at twice the size."""

WIDE = """() => {
  const { clientWidth, scrollWidth } = document.scrollingElement;
  if (scrollWidth <= clientWidth) return [];
  const right = (e) => e.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll("main *")].filter((e) => right(e) > clientWidth + 1);
  return wide.filter((e) => !e.closest(".scroll, .list")).map((e) => e.outerHTML.slice(0, 120));
}"""
HEIGHTS = """async () => {
  const sections = [...document.querySelectorAll("main > section")];
  for (const one of sections) one.style.setProperty("content-visibility", "visible");
  await new Promise((done) => setTimeout(done, 100));
  return Object.fromEntries(sections.map((one) => [one.id, one.getBoundingClientRect().height]));
}"""
NOTES = """() => [...document.querySelectorAll(".read .row .notes, .facts-of > li > :last-child")]
  .filter((one) => one.textContent).map((one) => one.getBoundingClientRect().width)"""
ENDS = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const light = [];
  for (let at = 0; at < data.length; at += 4)
    if (data[at + 3] === 255) light.push((data[at] + data[at + 1] + data[at + 2]) / 765);
  light.sort((a, b) => a - b);
  return [light[0], light.at(-1), light.length];
}"""
SCREENS = {"phone": (390, 800), "320 px": (320, 640), "zoomed to 200%": (640, 450)}


def test_only_tables_scroll_sideways_never_the_page(opened, large_report):
    it = opened(large_report, forced_colors="active", reduced_motion="reduce")
    assert it.sections
    assert it.page.evaluate(WIDE) == []
    for screen, (width, height) in SCREENS.items():
        it.page.set_viewport_size({"width": width, "height": height})
        it.settled()
        assert it.page.evaluate(WIDE) == [], screen
    assert it.misdeeds() == []


def test_the_dark_page_is_dark_and_text_stands_out(opened, reports):
    def lightness(it, what, of):
        colour = it.page.locator(of).first.evaluate(f"(e) => getComputedStyle(e).{what}")
        return sum(int(n) for n in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 765

    it = opened(reports("demo"), color_scheme="dark")
    assert lightness(it, "backgroundColor", "body") < 0.2 < 0.8 < lightness(it, "color", "body")
    it.page.emulate_media(color_scheme="light")
    assert lightness(it, "backgroundColor", "body") > 0.9


def test_what_is_about_all_results_is_printed(opened, reports):
    it = opened(reports("demo"))
    shown = {section: it.text(f"#{section}") for section in it.sections}
    it.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    it.page.emulate_media(media="print")
    of_items = {"profile", "answer", "sides", "disagreements", "unjudged"}
    for section, text in shown.items():
        assert it.page.locator(f"#{section}").is_visible() == (section not in of_items)
        assert it.text(f"#{section}") == text
    cut = (
        "(all) => all.map((e) => getComputedStyle(e).overflowY).filter((how) => how !== 'visible')"
    )
    assert it.page.eval_on_selector_all("main .scroll", cut) == []
    assert not it.page.locator("nav").is_visible()
    assert len(it.page.pdf()) > 10_000
    assert it.misdeeds() == []


def test_the_section_in_view_and_those_that_are_chosen_are_printed(opened, reports):
    it = opened(reports("demo"), "sides?run=complete&other=thin")

    def printed():
        it.page.emulate_media(media="print")
        it.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        seen = {one for one in it.sections if it.page.locator(f"#{one}").is_visible()}
        it.page.emulate_media(media="screen")
        return seen

    assert {"sides", "leaderboard"} <= printed()
    it.page.evaluate("() => { window.print = () => {}; }")
    it.page.get_by_role("button", name="Print …").click()
    boxes = it.page.locator("dialog input")
    for box in boxes.all():
        box.set_checked(False)
    it.page.locator("dialog label", has_text="Topics").locator("input").check()
    it.page.locator("dialog").get_by_role("button", name="Print", exact=True).click()
    it.settled()
    assert printed() == {"topics"}
    assert "print=topics" in it.view
    assert it.misdeeds() == []


ON_PAPER = """() => [...document.querySelectorAll("[data-printed=yes] .scroll > table")]
  .map((table) => table.getBoundingClientRect().width)"""


def test_wide_tables_fit_the_paper(opened, large_report):
    it = opened(large_report)
    it.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    it.page.set_viewport_size({"width": 703, "height": 900})
    it.page.emulate_media(media="print")
    assert max(it.page.evaluate(ON_PAPER)) <= 720


BOXES = """() => [...document.querySelectorAll("main *")].filter((one) =>
  /auto|scroll/.test(getComputedStyle(one).overflowY) && one.scrollHeight > one.clientHeight + 1)
  .map((one) => `${one.closest("section").id} ${one.className}`)"""


def test_the_page_scrolls_and_no_box_in_it(opened, large_report):
    it = opened(large_report)
    for width in (390, 1024, 1440):
        it.page.set_viewport_size({"width": width, "height": 900})
        it.page.evaluate(HEIGHTS)
        assert it.page.evaluate(BOXES) == [], width


def test_heads_stay_in_sight_while_a_long_table_scrolls_by(opened, reports):
    it = opened(reports("rag24_e2e"), "leaderboard")
    table = it.page.locator("#matrix table").first
    table.scroll_into_view_if_needed()
    it.page.evaluate("(e) => scrollBy(0, e)", 300 + table.bounding_box()["y"])
    it.settled()
    assert table.locator("thead th").first.bounding_box()["y"] >= 0


def test_notes_beside_an_answer_are_readable_at_every_width(opened, large_report):
    """Between a phone and a wide window they were a letter wide, and the page 40,000 px tall."""
    it = opened(large_report)
    it.page.set_viewport_size({"width": 1440, "height": 900})
    wide = it.page.evaluate(HEIGHTS)
    for width in (761, 768, 900, 960, 1024, 1050, 1180):
        it.page.set_viewport_size({"width": width, "height": 900})
        heights = it.page.evaluate(HEIGHTS)
        assert min(it.page.evaluate(NOTES)) >= 260, width
        tall = {name: height for name, height in heights.items() if height > 2 * wide[name]}
        assert tall == {}, (width, wide)


def test_print_is_light_and_has_the_heat_map_though_nobody_scrolled_to_it(opened, reports):
    it = opened(reports("demo"), color_scheme="dark")
    it.page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert it.page.locator(".box details p").first.is_visible(), "a note is folded on paper"
    canvas = it.page.locator("#topics .map canvas")
    darkest, lightest, n = canvas.evaluate(ENDS)
    assert (darkest < 0.2, lightest > 0.97, n > 10_000) == (True, True, True)
    it.page.emulate_media(media="print", color_scheme="dark")
    colours = (
        "(e) => { const { color, backgroundColor: b } = getComputedStyle(e); return [color, b]; }"
    )
    assert it.page.locator("body").evaluate(colours) == ["rgb(28, 31, 35)", "rgb(255, 255, 255)"]
    it.page.emulate_media(media="screen", color_scheme="dark")
    it.page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert not it.page.locator(".box details p").first.is_visible()
    assert canvas.evaluate(ENDS)[1] < 0.95, "the screen is dark again"
