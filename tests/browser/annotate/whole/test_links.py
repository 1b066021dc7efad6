"""The four links that `judge annotate` prints, each with a click of its first button."""

from browser.annotate.whole.conftest import judge
from labelling import Server

SHOWN = {
    "ann": ".reading", "bob": ".reading", "judy": ".sources li",
    "(coordinator)": "[aria-label=People] tbody tr",
}  # fmt: skip


def watched(page):
    """What is answered with an error, and errors of scripts, as they come."""
    wrong = []
    page.on("response", lambda one: one.status >= 400 and wrong.append((one.status, one.url)))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    return wrong


def test_the_first_button_of_each_link_leads_to_its_work_and_a_flag_is_counted(
    demo, at_work, tmp_path
):
    more = ("--adjudicator", "judy", "--n", 8, "--overlap", 1)
    server = Server(demo.results, "nuggets", tmp_path / "labels", "ann,bob", *more)
    keys = {"ann": ("f", "1", "1", "2"), "bob": ("3", "3", "2"), "judy": (), "(coordinator)": ()}
    assert {*server.links} == {*SHOWN}
    for name, shown in SHOWN.items():
        page = at_work(server, name, view="").page
        wrong = watched(page)
        page.locator("main h1").wait_for()
        in_main = page.locator("main button:visible")
        (in_main if in_main.count() else page.locator("button:visible")).first.click()
        page.locator(shown).first.wait_for()
        for key in keys[name]:
            before = page.locator(".reading").get_attribute("data-n")
            page.keyboard.press(key)
            if key != "f":
                page.locator(f".reading:not([data-n='{before}']), .done").first.wait_for()
        assert page.locator(".banner:visible").count() == 0, name
        assert wrong == [], name
    row = page.locator(SHOWN["(coordinator)"], has_text="ann")
    heads = page.locator("[aria-label=People] thead th").all_inner_texts()
    flagged = row.locator("th, td").nth(heads.index("flagged"))
    flagged.get_by_text("1", exact=True).or_(flagged.filter(has_text="1")).first.wait_for()
    assert flagged.inner_text() == "1"
    server.ends()
    assert judge("annotate", "export", server.folder, "--out", "human.jsonl", cwd=tmp_path)
