"""The page without a mouse: its keys, the order of Tab, and where the focus is."""

import re

import pytest

from nuggetjudge.plugins.report import page


def focused(it):
    return it.page.evaluate(
        "() => { const a = document.activeElement; return a.id || a.textContent.slice(0, 40); }"
    )


def key_table(it):
    it.page.keyboard.press("?")
    rows = it.page.locator("dialog dt").all_inner_texts()
    what = it.page.locator("dialog dd").all_inner_texts()
    it.page.keyboard.press("Escape")
    return list(zip(rows, what, strict=True))


@pytest.mark.parametrize("name", ["demo", "evidence"])
def test_every_key_of_the_table_does_something_and_none_an_error(opened, reports, name):
    it = opened(reports(name))
    keys = key_table(it)
    assert {"?", "Esc", "/", "g l"} <= {key for key, _ in keys}
    for key, what in keys:
        it.page.evaluate("() => document.activeElement.blur()")
        it.goes("")
        for one in key.split(" "):
            it.page.keyboard.press("Escape" if one == "Esc" else one)
        it.settled()
        if what.startswith("go to "):
            assert it.page.evaluate("() => document.activeElement.tagName") == "SECTION"
            assert it.page.locator("nav a[aria-current]").inner_text().startswith(what[6:])
            box = it.page.locator("section:focus").bounding_box()
            assert box["y"] < 900
            assert box["y"] + box["height"] > 0
    assert it.misdeeds() == []


def test_each_key_stands_in_the_table_once(opened, reports):
    keys, what = zip(*key_table(opened(reports("demo"))), strict=True)
    keys_of_sections = [
        (key, *re.findall(r"\((\w+)\)$", text)) for key, text in zip(keys, what, strict=True)
    ]
    assert len(keys_of_sections) == len(set(keys_of_sections))
    firsts = {key.split(" ")[0] for key in keys if " " in key}
    assert not firsts & set(keys), "the first key of two must do nothing by itself"


def test_a_key_that_is_bound_twice_stops_the_page(opened, reports, tmp_path):
    text = reports("demo").read_text(encoding="utf-8")
    script = text[text.rindex("<script>") + 8 : text.rindex("</script>")]
    doubled = script.replace('bind("?",', 'bind("/",', 1)
    assert doubled != script
    head = text[: text.rindex("<script>")].replace(
        page.policy(script, "").split("; ")[1], page.policy(doubled, "").split("; ")[1]
    )
    path = tmp_path / "doubled.html"
    path.write_text(f"{head}<script>{doubled}</script>", encoding="utf-8")
    with pytest.raises(Exception, match="Timeout"):
        opened(path, wait=500)


def test_no_key_while_text_is_typed_nor_with_ctrl_nor_when_switched_off(opened, reports):
    it = opened(reports("demo"))
    before = it.view
    for keys in ("Control+g", "Alt+g", "Meta+g"):
        it.page.keyboard.press(keys)
        it.page.keyboard.press("l")
    assert it.view == before
    it.page.keyboard.press("?")
    it.page.get_by_label("keyboard shortcuts are on").uncheck()
    it.page.keyboard.press("Escape")
    it.page.keyboard.press("g")
    it.page.keyboard.press("l")
    it.settled()
    assert it.view == "?keys=off"
    it.page.keyboard.press("?")
    assert it.page.locator("dialog").count() == 0
    assert it.misdeeds() == []


def test_what_is_done_before_the_page_hears_of_the_last_thing_counts(opened, reports):
    it = opened(reports("demo"))
    it.page.keyboard.press("?")
    it.page.evaluate(
        """() => {
          const dialog = document.querySelector("dialog");
          dialog.querySelector("input").click();
          dialog.close();
          for (const key of "gl") dispatchEvent(new KeyboardEvent("keydown", { key }));
          document.querySelector("#leaderboard th button").click();
        }"""
    )
    it.settled()
    assert it.view == "leaderboard?keys=off&leaderboard.sort=run"
    assert it.misdeeds() == []


def test_help_opens_once_and_gives_the_focus_back(opened, reports):
    it = opened(reports("demo"))
    button = it.page.locator("#leaderboard th button").first
    button.focus()
    it.page.keyboard.press("?")
    it.page.keyboard.press("?")
    assert it.page.locator("dialog").count() == 1
    it.page.keyboard.press("Escape")
    it.page.locator("dialog").wait_for(state="detached")
    assert button.evaluate("(b) => b === document.activeElement")


def test_tab_goes_through_all_in_order_and_the_focus_can_be_seen(opened, reports):
    it = opened(reports("demo"))
    it.page.keyboard.press("Tab")
    assert focused(it) == "Skip to the results"
    it.page.keyboard.press("Enter")
    assert focused(it) == "main"
    indices, unseen = [], []
    for _ in range(400):
        it.page.keyboard.press("Tab")
        focus = it.page.evaluate(
            """() => {
              const a = document.activeElement;
              if (!a.closest("main")) return null;
              const all = [...document.querySelectorAll("*")];
              const { outlineStyle, outlineWidth } = getComputedStyle(a);
              const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 1;
              const box = a.getBoundingClientRect();
              const isInView = box.bottom > 0 && box.top < innerHeight && box.right > 0;
              return [all.indexOf(a), isSeen && isInView, a.outerHTML.slice(0, 120)];
            }"""
        )
        if focus is None:
            break
        indices.append(focus[0])
        if not focus[1]:
            unseen.append(focus[2])
    assert len(indices) > 3
    assert indices == sorted(indices)
    assert unseen == []


def test_enter_sorts_and_arrows_scroll_without_a_mouse(opened, reports):
    it = opened(reports("demo"))
    head = it.page.locator("#leaderboard th button").first
    head.focus()
    it.page.keyboard.press("Enter")
    it.settled()
    assert "leaderboard.sort=" in it.view
    assert it.page.locator("#leaderboard th[aria-sort]").count() == 1
    assert head.evaluate("(b) => b === document.activeElement")
