"""The page on paper, in the dark, in forced colours, on a phone and at twice the size."""

WIDE = """() => {
  const { clientWidth, scrollWidth } = document.scrollingElement;
  if (scrollWidth <= clientWidth) return [];
  const right = (e) => e.getBoundingClientRect().right;
  const wide = [...document.querySelectorAll("main *")].filter((e) => right(e) > clientWidth + 1);
  return wide.filter((e) => !e.closest(".scroll, .list")).map((e) => e.outerHTML.slice(0, 120));
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


def test_all_that_is_shown_is_printed(opened, reports):
    it = opened(reports("demo"))
    shown = {section: it.text(f"#{section}") for section in it.sections}
    it.page.emulate_media(media="print")
    for section, text in shown.items():
        assert it.page.locator(f"#{section}").is_visible()
        assert it.text(f"#{section}") == text
    cut = (
        "(all) => all.map((e) => getComputedStyle(e).overflowY).filter((how) => how !== 'visible')"
    )
    assert it.page.eval_on_selector_all("main .scroll", cut) == []
    assert not it.page.locator("nav").is_visible()
    assert len(it.page.pdf()) > 10_000
    assert it.misdeeds() == []
