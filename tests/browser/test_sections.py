"""Every section of every kind of results draws, and what it shows is in its address."""

import json
import shutil

import pytest
from undigested import forget_digests


def test_every_section_draws_and_nothing_else_happens(opened, report):
    it = opened(report)
    assert it.sections
    for section in it.sections:
        title = it.text(f"#{section}-title")
        assert title.strip()
        assert len(it.text(f"#{section}")) > len(title) + 20, section
        it.goes(section)
        current = it.page.locator("nav a[aria-current]")
        assert current.count() == 1
        assert current.get_attribute("href").startswith(f"#{section}")
    assert "could not be drawn" not in it.text()
    assert it.misdeeds() == []
    assert len(it.requests) == 1


@pytest.mark.parametrize("name", ["demo", "coverage"])
def test_a_link_opens_the_view_that_it_was_copied_from(opened, reports, name):
    it = opened(reports(name))
    for button in it.page.locator("main th button").all()[:4]:
        before = it.view
        button.evaluate("(b) => b.click()")
        it.settled()
        assert it.view != before
    for field in it.page.locator("main select").all()[:6]:
        values = field.locator("option").evaluate_all("(all) => all.map((o) => o.value)")
        field.select_option(values[-1])
        it.settled()
    view, shown = it.view, it.text()
    again = opened(reports(name), view)
    assert again.text() == shown
    assert again.misdeeds() == []


def test_back_shows_what_was_shown_before(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    before, order = it.view, it.text("#leaderboard tbody")
    it.page.locator("#leaderboard th button").first.click()
    it.settled()
    assert it.text("#leaderboard tbody") != order
    it.page.go_back()
    it.settled()
    assert (it.view, it.text("#leaderboard tbody")) == (before, order)


FRAMES = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
TOP = """(e) => [e.getBoundingClientRect().top,
  document.documentElement.scrollHeight - innerHeight - scrollY]"""


@pytest.mark.parametrize("section", ["topics", "matrix", "people"])
def test_a_link_leads_to_the_top_of_its_section_though_those_above_are_drawn_later(
    opened, reports, section
):
    it = opened(reports("demo"), section)
    for _ in range(2):
        it.page.evaluate(FRAMES)
    top, left = it.page.locator(f"#{section}").evaluate(TOP)
    assert 0 <= top < 40 or left < 2


def test_the_link_of_the_section_in_view_scrolls_to_it_again(opened, reports):
    it = opened(reports("demo"), "leaderboard")
    it.page.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    it.page.locator("nav a[href^='#leaderboard']").click()
    top = it.page.locator("#leaderboard").evaluate("(e) => e.getBoundingClientRect().top")
    assert 0 <= top < 120 or it.page.evaluate("() => scrollY") == 0


def test_a_hash_that_names_nothing_is_harmless(opened, reports):
    it = opened(reports("demo"), "%E0%A4%A?measure=%22%3E&leaderboard.sort=-nothing&topic=%00")
    assert it.sections
    assert it.misdeeds() == []


def test_a_section_that_fails_leaves_the_others(opened, reports, tmp_path):
    text = reports("demo").read_text(encoding="utf-8")
    broken = tmp_path / "broken.html"
    start = text.index('id="data-leaderboard">') + len('id="data-leaderboard">')
    end = text.index("</script>", start)
    broken.write_text(text[:start] + "{}" + text[end:], encoding="utf-8")
    it = opened(broken)
    assert "This section could not be drawn" in it.text("#leaderboard")
    assert all(it.text(f"#{one}-title") for one in it.sections)


def test_runs_that_all_score_nothing_are_drawn_against_their_length(
    opened, folders, judged, tmp_path
):
    folder = tmp_path / "nothing"
    forget_digests(shutil.copytree(folders("demo"), folder))
    rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
    for row in rows:
        if row["measure"] == "V_strict":
            row |= {"value": 0.0, "low": 0.0, "high": 0.0}
    (folder / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    judged("report", folder, "--out", tmp_path / "nothing.html")
    it = opened(tmp_path / "nothing.html", "length?measure=V_strict")
    assert it.page.locator("#length circle.point").count() == 4
    assert it.misdeeds() == []


def test_a_penalty_is_marked_and_counts_as_bad_where_it_applies_alone(opened, reports, folders):
    it = opened(reports("rubric"), "answer?topic=sennick-lagoon&run=thorough")
    lines = (folders("rubric") / "verdicts.jsonl").read_text("utf-8").splitlines()
    of_answer = {"topic_id": "sennick-lagoon", "run_id": "thorough"}
    rows = [row for row in map(json.loads, lines) if of_answer.items() <= row.items()]
    n_met = sum(row["label"] == "met" and row["weight"] > 0 for row in rows)
    heads = it.page.locator("#answer h4").all_inner_texts()
    assert heads == [f"Criteria {n_met} of 6", "Penalties 1 of 2 apply"]
    lists = [
        one.locator("li").evaluate_all(
            "(all) => all.map((li) => [li.querySelector('.worth').textContent,"
            " li.querySelector('.glyph').className, li.querySelector('.verdict').innerText])"
        )
        for one in it.page.locator(".facts-of").all()
    ]
    shown = [(weight, tone, text.split(" · ")[0]) for weight, tone, text in lists[1]]
    assert shown == [("−5", "glyph x", "✗ applies"), ("−2", "glyph f", "✓ does not apply")]
    weights = [weight for weight, *_ in lists[0]]
    assert sorted(weights) == ["+1", "+2", "+3", "+3", "+4", "+5"]
    assert it.misdeeds() == []


NAMES = """(all) => all.map((a) => [a.textContent, a.title, a.getBoundingClientRect().height,
  a.getBoundingClientRect().right + 1 > a.querySelector(".end").getBoundingClientRect().right])"""


def test_names_of_runs_are_one_line_with_the_full_name_to_read(opened, reports):
    it = opened(reports("rag24_e2e"), "leaderboard", viewport={"width": 390, "height": 800})
    names = it.page.locator("#leaderboard a.run").evaluate_all(NAMES)
    assert len(names) == 45
    assert all(text == title for text, title, *_ in names)
    assert max(height for _, _, height, _ in names) <= 24
    assert all(has_end for *_, has_end in names), "the end of a name is cut"
