"""Two answers side by side, differences first; and where one run loses."""

import json
import re

import pytest

from nuggetjudge.programs.analysis.answers.summaries import summarise_run
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.records import Problems

TOPIC, FIRST, SECOND = "demo-bridges", "complete", "miscited"
VIEW = f"sides?topic={TOPIC}&run={FIRST}&other={SECOND}"


def labels(folder):
    """{run: {text of a nugget: label}} of the topic, from the file of assignments."""
    lines = (folder / "assignments.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["qid"] == TOPIC]
    return {row["run_id"]: {n["text"]: n["assignment"] for n in row["nuggets"]} for row in rows}


def items(it, group):
    cells = it.page.locator(f"#sides tbody >> nth={group}").locator("th a")
    return cells.all_text_contents()


def test_nuggets_on_which_two_answers_differ_come_first(opened, reports, folders):
    it = opened(reports("demo"), VIEW)
    of = labels(folders("demo"))
    differing = {text for text, label in of[FIRST].items() if of[SECOND][text] != label}
    assert differing
    assert {*items(it, 0)} == differing
    assert {*items(it, 1)} == {*of[FIRST]} - differing
    assert f"They differ on {len(differing)} of {len(of[FIRST])} nuggets" in it.text("#sides table")
    assert it.misdeeds() == []


def test_both_texts_stand_there_with_the_words_of_the_chosen_nugget(opened, reports):
    it = opened(reports("demo"), VIEW)
    sides = it.page.locator("#sides .side")
    assert sides.count() == 2
    assert "Deep open trusses" not in sides.nth(0).inner_text()
    assert "Deep open trusses" in sides.nth(1).inner_text()
    chosen = "stiff open trusses resist twisting and let the wind through"
    it.page.locator("#sides th a", has_text=chosen).click()
    it.settled()
    assert "item=" in it.view
    marked = " ".join(sides.nth(1).locator("mark").all_inner_texts())
    assert "trusses resist twisting and let the wind through" in marked
    assert "break step" not in marked, "words of another nugget"


@pytest.mark.parametrize(("width", "is_stacked"), [(390, True), (1024, False)])
def test_texts_stand_beside_each_other_where_there_is_room(opened, reports, width, is_stacked):
    it = opened(reports("demo"), VIEW, viewport={"width": width, "height": 900})
    first, second = (it.page.locator("#sides .side").nth(i).bounding_box() for i in (0, 1))
    assert (second["y"] >= first["y"] + first["height"]) == is_stacked
    assert min(first["width"], second["width"]) > 300
    assert it.page.evaluate("() => document.documentElement.scrollWidth") == width


def test_a_topic_of_two_compared_runs_leads_to_their_answers(opened, reports):
    it = opened(reports("demo"), f"pairs?run={FIRST}&other={SECOND}")
    it.page.locator("#pairs figure.table tbody a", has_text=TOPIC).click()
    it.settled()
    assert it.view.startswith("sides?")
    assert f"{FIRST} and {SECOND}" in it.text("#sides h3")
    it.page.locator("#sides button", has_text="Swap").click()
    it.settled()
    assert f"{SECOND} and {FIRST}" in it.text("#sides h3")


def test_two_runs_are_compared_as_judge_compare_does(opened, reports, folders):
    compared = compare_runs([folders("demo")], Problems(), measures=["V_strict"])
    (pair,) = (
        one
        for one in compared["measures"]["V_strict"]["pairs"]
        if {one["run_id"], one["other_run_id"]} == {"thin", "complete"}
    )
    sign = 1 if pair["run_id"] == "thin" else -1
    it = opened(reports("demo"), "pairs?run=thin&other=complete&measure=V_strict")
    text = it.text("#pairs .lead")
    difference = re.match(r"([+−])(\.\d+) V_strict", text)
    assert difference, text
    shown = float(difference[2]) * (1 if difference[1] == "+" else -1)
    assert shown == pytest.approx(sign * pair["difference"], abs=5e-4)
    assert ("significantly different" in text) == pair["is_significant"]
    won = pair["wins"] if sign > 0 else pair["losses"]
    assert f"Higher on {won} topic" in text
    it.page.locator("#pairs button", has_text="Swap").click()
    it.settled()
    assert f"Higher on {pair['wins'] + pair['losses'] - won} topic" in it.text("#pairs .lead")


def test_an_answer_that_is_not_there_is_said(opened, reports):
    it = opened(reports("demo"), "sides?topic=demo-tides&run=complete&other=thin")
    assert "thin has no answer to topic demo-tides" in it.text("#sides")
    assert it.misdeeds() == []


@pytest.mark.parametrize("run", ["thin", "factdump"])
def test_a_profile_says_what_judge_show_says(opened, reports, folders, run):
    it = opened(reports("demo"), f"profile?run={run}")
    told = summarise_run(folders("demo"), run, Problems())
    rows = it.page.locator("#profile figure.table").nth(0).locator("tbody tr")
    shown = {
        row.locator("th").text_content(): row.locator("td").all_text_contents()
        for row in rows.all()
    }
    assert {*shown} == {row["topic_id"] for row in told["topics"]}
    values = [float(re.match(r"[\d.]+", cells[0])[0]) for cells in shown.values()]
    assert values == sorted(values), "the worst come first"
    for row in told["topics"]:
        value, _, rank, missed, partly, stated, *_ = shown[row["topic_id"]]
        assert float(value.split(" ")[0]) == pytest.approx(row["value"], abs=5e-4)
        assert rank == str(row["rank"])
        vital = row["vital"]
        assert [missed, partly, stated] == [str(vital[n]) for n in ("missed", "partly", "stated")]
    of_others = [row for row in told["missed"] if row["n"]["stated"]]
    missed = it.page.locator("#profile figure.table").nth(1)
    assert len(of_others) == missed.locator("tbody tr").count() or f"of {len(of_others)}" in (
        missed.inner_text()
    )
    texts = missed.locator("tbody th a").all_text_contents()
    vital = [row["importance"] == "vital" for row in of_others][: len(texts)]
    by_text = {row["text"]: row["importance"] == "vital" for row in of_others}
    assert [by_text[text] for text in texts] == vital
    assert it.misdeeds() == []


def test_the_name_of_a_run_leads_to_its_profile(opened, reports):
    it = opened(reports("demo"), "leaderboard?run=miscited")
    it.page.locator("#leaderboard a", has_text="where it fails").click()
    it.settled()
    assert it.text("#profile h3") == "miscited"
