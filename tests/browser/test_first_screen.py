"""The first screen: a statement, three verdicts and all runs; on a phone in this order."""

import pytest

BOTTOM = "(e) => e.getBoundingClientRect().bottom + scrollY"
TOPS = "(all) => all.map((e) => e.getBoundingClientRect().top + scrollY)"
ROWS = "#leaderboard tbody tr:not(.cut)"


def names_of(it):
    return it.page.locator(f"{ROWS} a.run").evaluate_all("(all) => all.map((a) => a.title)")


def test_the_answer_three_verdicts_and_45_runs_are_on_the_first_screen(opened, reports):
    it = opened(reports("rag24_e2e"), viewport={"width": 1440, "height": 1180})
    assert it.text("h1") == "ldisnu.ldilab_gpt_4o scores highest: it states 68% of the vital facts."
    group = "34 other runs are not significantly worse (HSD, p ≥ .05); 10 runs are."
    assert it.text("#summary .leaders").startswith(group)
    verdicts = it.page.locator(".box .verdict").all_inner_texts()
    assert verdicts == [
        "Only in part", "Moderately: linear κ\N{NO-BREAK SPACE}.51", "1,580 of 10,775 judgements",
    ]  # fmt: skip
    rows = it.page.locator(ROWS)
    assert rows.count() == 45
    assert rows.last.evaluate(BOTTOM) <= 1180
    heights = rows.evaluate_all("(all) => all.map((e) => e.getBoundingClientRect().height)")
    assert 17 <= min(heights) <= sorted(heights)[-2] <= 22
    assert it.misdeeds() == []


def test_the_line_is_below_the_last_run_that_is_no_worse_and_the_others_are_dimmed(opened, reports):
    it = opened(reports("rag24_e2e"), "leaderboard")
    kinds = it.page.locator("#leaderboard tbody tr").evaluate_all(
        "(all) => all.map((e) => e.className)"
    )
    assert kinds == [""] * 35 + ["cut"] + ["worse"] * 10
    text = "below this line: significantly worse than ldisnu.ldilab_gpt_4o (HSD, p < .05)"
    assert it.text("#leaderboard .cut") == text
    it.goes("leaderboard?leaderboard.sort=run")  # in another order a line would say nothing
    assert it.page.locator("#leaderboard .cut").count() == 0
    assert it.page.locator("#leaderboard tr.worse").count() == 10


@pytest.mark.parametrize("width", [390, 768])
def test_a_narrow_screen_has_the_statement_and_the_verdicts_before_anything_else(
    opened, reports, width
):
    it = opened(reports("rag24_e2e"), viewport={"width": width, "height": 844})
    tops = it.page.locator("h1, .leaders, .box, #leaderboard h2, #leaderboard table").evaluate_all(
        TOPS
    )
    assert len(tops) == 7
    assert tops == sorted(tops)
    if width == 390:
        assert it.page.locator(".box").last.evaluate(BOTTOM) <= 844
        overhang = "(table) => table.scrollWidth - table.closest('.scroll').clientWidth"
        assert it.page.locator("#leaderboard table").evaluate(overhang) <= 0  # the axis to its end


def test_a_measure_that_is_chosen_resets_the_order(opened, reports):
    it = opened(reports("rag24_e2e"), "leaderboard?leaderboard.sort=run&topics.sort=topic")
    assert names_of(it)[0].startswith("buw")
    it.page.locator("#leaderboard select[name=measure]").select_option("support_recall")
    it.settled()
    assert it.view == "leaderboard?measure=support_recall"
    means = it.page.locator(f"{ROWS} b").all_inner_texts()
    assert [float(one) for one in means] == sorted(map(float, means), reverse=True)


def test_runs_are_filtered_by_name_and_chosen(opened, reports):
    it = opened(reports("rag24_e2e"), "leaderboard")
    it.page.locator("#leaderboard input[type=search]").fill("webis 4")  # 4 is in no name of theirs
    it.settled()
    assert names_of(it) == []
    it.page.locator("#leaderboard input[type=search]").fill("webis")
    it.settled()
    assert len(names_of(it)) == 3
    it.goes("leaderboard")
    it.page.locator("#leaderboard .picker summary").click()
    it.page.get_by_role("checkbox", name="buw.buw", exact=True).uncheck()
    it.settled()
    assert len(names_of(it)) == 44
    assert "buw.buw" not in names_of(it)
    assert it.page.locator("#leaderboard .picker[open]").count() == 1, "it closed at the first"
    assert it.page.evaluate("() => document.activeElement.type") == "checkbox"
    view = it.view
    assert names_of(opened(reports("rag24_e2e"), view)) == names_of(it)
    it.page.locator("#leaderboard .picker").get_by_role("button", name="Show all").click()
    it.settled()
    assert len(names_of(it)) == 45
    assert it.misdeeds() == []


def test_the_chart_can_be_a_table_of_all_figures(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    order = names_of(it)
    assert it.page.locator("#leaderboard svg.interval").count() == len(order) + 1  # and the axis
    it.page.locator("#leaderboard").get_by_role("button", name="table", exact=True).click()
    it.settled()
    assert it.view == "leaderboard?leaderboard.view=table"
    assert names_of(it) == order
    heads = it.page.locator("#leaderboard thead th").all_inner_texts()
    assert {"95% interval", "corrected", "answered"} <= {one.split("\n")[0] for one in heads}
    it.page.locator("#leaderboard").get_by_role("button", name="chart", exact=True).click()
    it.settled()
    assert it.page.locator("#leaderboard svg.interval").count() == len(order) + 1


def test_without_labels_the_box_has_the_command_and_notes_open(opened, reports):
    it = opened(reports("rubric"))
    box = it.page.locator(".box").nth(1)
    assert box.locator(".verdict").inner_text() == "Not known"
    assert box.locator("code").inner_text().startswith("judge next ")
    notes = it.page.locator(".box details").first
    assert not notes.locator("p").first.is_visible()
    notes.locator("summary").click()
    assert notes.locator("p").first.is_visible()
