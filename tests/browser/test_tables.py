"""Tables: sorted by their heads, filtered, paged, and saved with the values that they show."""

import csv
import io
import os
from pathlib import Path

import pytest

from nuggetjudge.plugins.report import page as pages
from nuggetjudge.plugins.report.sections import Section


def rows_of(it, section):
    return it.page.locator(f"#{section} table").first.evaluate(
        """(t) => [...t.querySelectorAll("tbody tr:not(.cut)")].map((r) =>
          [...r.cells].filter((c) => !c.matches(".rank")).map((c) => c.textContent))"""
    )


def saved(it, button):
    with it.page.expect_download(timeout=15_000) as caught:
        button.click()
    text = caught.value.path().read_bytes().decode("utf-8")
    return caught.value.suggested_filename, list(csv.reader(io.StringIO(text, newline="")))


def test_each_head_sorts_both_ways_and_says_so(opened, reports):
    it = opened(reports("demo"))
    for section in it.sections:
        heads = it.page.locator(f"#{section} table th button:visible")
        for index in range(min(heads.count(), 2)):
            asked = []
            for _ in range(2):
                heads.nth(index).click()
                it.settled()
                asked.append(heads.nth(index).locator("xpath=..").get_attribute("aria-sort"))
                assert "sorted by" in it.text(".live")
                is_kept = heads.nth(index).evaluate("(b) => b === document.activeElement")
                assert is_kept, f"{section}: sorting loses the focus"
            assert sorted(asked) == ["ascending", "descending"], section
    assert it.misdeeds() == []


def test_the_leaderboard_sorts_numbers_as_numbers_and_runs_by_name(opened, reports):
    it = opened(reports("demo"), "leaderboard?leaderboard.sort=run")
    names = [row[0] for row in rows_of(it, "leaderboard")]
    assert names == sorted(names)
    it.goes("leaderboard?leaderboard.sort=-mean")
    means = [float(row[1]) for row in rows_of(it, "leaderboard")]
    assert means == sorted(means, reverse=True)


def test_saved_numbers_are_whole_and_those_of_the_table(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    _, (_, *rows) = saved(it, it.page.locator("#leaderboard").get_by_role("button", name="CSV"))
    shown = rows_of(it, "leaderboard")
    assert [f"{float(row[1]):.3f}".lstrip("0") for row in rows] == [row[1] for row in shown]


def test_sorting_moves_the_rows_that_are_there(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    body = it.page.locator("#leaderboard tbody")
    body.evaluate("(b) => { for (const row of b.rows) row.isOld = true; }")
    before = rows_of(it, "leaderboard")
    it.page.locator("#leaderboard thead button").first.click()
    it.settled()
    assert rows_of(it, "leaderboard") != before
    assert body.evaluate("(b) => [...b.rows].every((row) => row.isOld)")


def test_a_link_that_was_drawn_earlier_keeps_what_has_been_chosen_since(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    it.page.locator("#topics thead button").first.click()
    it.settled()
    it.page.locator("#leaderboard tbody a.run").nth(1).click()
    it.settled()
    assert "topics.sort=" in it.view
    assert "run=" in it.view


LIST = """
import { table } from "TABLE";
export const keys = [];
export function draw({ id, data: { rows } }) {
  return table({ id, of: id, caption: "rows", rows, find: "filter", columns: [
    { key: "name", label: "name", isText: true, value: (row) => row.name },
    { key: "value", label: "value", value: (row) => row.value },
  ] });
}
"""


@pytest.fixture
def listed(tmp_path, monkeypatch):
    """A page with one table of such rows, made of the page's own parts."""

    def make(rows):
        script = tmp_path / "list.js"
        parts = os.path.relpath(Path(pages.__file__).parent.resolve() / "web/table.js", tmp_path)
        script.write_text(LIST.replace("TABLE", f"./{parts}"), encoding="utf-8")
        section = Section(script, "List", lambda source: None)
        monkeypatch.setattr(pages, "sections", lambda: [section])
        head = {"title": "List", "measures": ["m"], "runs": [], "topics": []}
        out = tmp_path / "list.html"
        out.write_text("".join(pages.page(head, {"list": {"rows": rows}})), encoding="utf-8")
        return out

    return make


@pytest.fixture
def long_list(listed):
    """1,234 rows, each tenth without a value."""
    return listed([{"name": f"row {i}", "value": i % 97 if i % 10 else None} for i in range(1234)])


def test_long_tables_come_page_by_page_and_are_saved_whole(opened, long_list):
    it = opened(long_list, "list?list.sort=-value")
    assert len(rows_of(it, "list")) == 200
    assert "rows 1 to 200 of 1,234" in it.text("#list")
    it.page.get_by_role("button", name="next").click()
    it.settled()
    assert "rows 201 to 400 of 1,234" in it.text("#list")
    it.goes("list?list.page=7&list.sort=-value")
    last = rows_of(it, "list")
    assert len(last) == 34
    assert last[-1][1] == ""  # without a value: last, whichever way
    _, rows = saved(it, it.page.get_by_role("button", name="CSV"))
    assert len(rows) == 1235


def test_words_filter_while_they_are_typed_and_stay_in_the_address(opened, long_list):
    it = opened(long_list)
    it.page.keyboard.press("/")
    it.page.keyboard.type("ROW 12 3?", delay=20)
    it.settled()
    assert it.page.evaluate("() => document.activeElement.value") == "ROW 12 3?"
    assert it.text("#list output") == "0 of 1,234 rows"
    it.page.keyboard.press("Backspace")
    it.settled()
    texts = [f"row {i}\n{i % 97 if i % 10 else ''}" for i in range(1234)]
    wanted = [text for text in texts if "12" in text and "3" in text]
    assert it.text("#list output") == f"{len(wanted)} of 1,234 rows"
    assert opened(long_list, it.view).text("#list tbody") == it.text("#list tbody")
    assert it.misdeeds() == []


def test_no_cell_of_a_saved_file_is_a_formula(opened, listed):
    evil = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", '=HYPERLINK("http://x")']
    it = opened(listed([{"name": text, "value": -1.5} for text in evil]))
    _, (_, *rows) = saved(it, it.page.get_by_role("button", name="CSV"))
    assert rows == [[f"'{text}", "-1.5"] for text in evil]
