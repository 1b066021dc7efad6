"""Charts: marks stand where their numbers are, and are named where they stand."""

NUMBER = """(row) => {
  const box = (e) => e.getBoundingClientRect();
  const dot = box(row.querySelector("circle"));
  return [dot.left + dot.width / 2, row.textContent];
}"""


def test_kappas_of_a_table_stand_on_one_axis_those_below_0_left_of_it(opened, reports):
    it = opened(reports("demo"), "people")
    rows = it.page.locator("#people figure[class=table]").nth(2).locator("tbody tr")
    marks = rows.evaluate_all(f"(rows) => rows.map({NUMBER})")
    values = [float(row.locator("td").nth(3).inner_text().replace("−", "-")) for row in rows.all()]
    assert min(values) < 0, "the demo has a label with a kappa below 0"
    (low, at_low), (high, at_high) = sorted(
        (value, place) for value, (place, _) in zip(values, marks, strict=True)
    )[:: len(values) - 1]
    for value, (place, text) in zip(values, marks, strict=True):
        drawn = low + (place - at_low) * (high - low) / (at_high - at_low)
        assert abs(drawn - value) < 0.02, text
    zero = rows.first.locator("svg line").nth(1).bounding_box()["x"]
    assert at_low < zero < at_high


def test_a_label_has_one_word_on_the_whole_page(opened, reports):
    it = opened(reports("demo"), "people")
    words = ("not stated", "stated in part", "stated")
    table = it.page.locator("#people thead .label")
    assert [one.strip("✗◐✓") for one in table.all_text_contents()][:3] == [*words]
    for section in ("people", "disagreements", "answer", "profile"):
        text = it.text(f"#{section}")
        assert "partial_support" not in text
        assert "not support" not in text.replace("no support", ""), section


def test_points_are_named_beside_them(opened, reports):
    it = opened(reports("demo"), "length")
    named = it.page.locator("#length .plot a text").all_text_contents()
    assert {*named} == {"complete", "miscited", "factdump", "thin"}


def test_a_phone_shows_all_of_the_chart_of_score_and_length(opened, reports):
    it = opened(reports("demo"), "length", viewport={"width": 390, "height": 844})
    box, inside = it.page.locator("#length .plot").evaluate(
        "(plot) => [plot.scrollWidth - plot.clientWidth, plot.querySelectorAll('a text').length]"
    )
    assert (box, inside) == (0, 4)
    ends = it.page.locator("#length .plot text").evaluate_all(
        "(all) => all.map((one) => one.getBoundingClientRect()).map((r) => [r.left, r.right])"
    )
    assert min(left for left, _ in ends) > 0
    assert max(right for _, right in ends) <= 390


def test_curves_are_named_at_their_ends(opened, reports):
    it = opened(reports("coverage"), "coverage")
    charts = it.page.locator("#coverage .chart svg").all()
    assert charts
    for chart in charts:
        named = {*chart.locator("text.name").all_text_contents()}
        assert named == {"broad", "echo"}


def test_numbers_are_rounded_as_in_the_terminal(opened, reports, tmp_path):
    page = reports("demo").read_text(encoding="utf-8")
    start = page.index("function num(")
    body = page[start : page.index("/** A count with separated thousands")]
    values = [0.8125, 0.4375, 0.0625, 0.1235, 2 / 3, 0.5, 1.0, 0.0, 0.3125, 187.5]
    it = opened(reports("demo"))
    shown = it.page.evaluate(f"(all) => {{ {body} return all.map((one) => num(one)); }}", values)
    assert shown == [f"{one:.3f}".removeprefix("0") for one in values]
