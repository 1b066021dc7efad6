"""The coordinator's page while two people label TREC's citations: what commands print of them."""

import json
from collections import Counter

import pytest
from browser.annotate.whole.conftest import judge, rows_of
from labelling import Server

N = 60
IDS = ("topic_id", "run_id", "sentence_id", "passage_id")
KEYS = {"none": "1", "partial": "2", "full": "3", None: "0"}
SOON_S = 12  # 2 s of quiet, the sums, the page's 3 s; a busy machine takes longer


def labelled(people, decide):
    """All go through their queues, an item in turn."""
    busy = list(people)
    while busy:
        busy = [one for one in busy if one.labels(decide)]


def table(page, name):
    """The cells of a table, by the first one of each row."""
    page.locator(f"[aria-label^='{name}'] tbody tr").first.wait_for()
    rows = page.locator(f"[aria-label^='{name}'] tbody tr").all()
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    return {row[0]: row[1:] for row in cells}


def num(value, digits=3):
    """A number between 0 and 1 as the page writes it."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("0")


@pytest.fixture
def axe():
    """axe's run."""
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def check_axe(axe, page):
    violations = axe.run(page, options={"resultTypes": ["violations"]}).response["violations"]
    assert [(one["id"], one["nodes"][0]["target"]) for one in violations] == []


def test_the_page_says_what_the_commands_say(trec, at_work, tmp_path, axe):
    given = (trec.results, "support", tmp_path / "labels", "ann,bob", "--n", N, "--overlap", 0.5)
    server = Server(*given)
    page = at_work(server, "(coordinator)", view="progress", bypass_csp=True).page
    page.get_by_text("Nobody has labelled anything yet.").wait_for()
    people = [at_work(server, name, KEYS) for name in ("ann", "bob")]

    def as_nist(click):
        of = tuple(text for heading, text in click.texts.items() if heading != "question")
        click.label = trec.truth.get(of, "none")

    labelled(people, as_nist)
    judge("annotate", "export", server.folder, "--out", "human.jsonl", cwd=tmp_path)
    by_cell = Counter(tuple(row[name] for name in IDS) for row in rows_of(tmp_path / "human.jsonl"))
    page.get_by_text(f"use {len(by_cell)} labels").wait_for(timeout=1_000 * SOON_S)

    given = ("--labels", "human.jsonl", "--half-width", ".05", "--json")
    printed = judge("score", trec.results, *given, cwd=tmp_path)
    scores = [row for row in map(json.loads, printed.splitlines()) if "n_labels" in row]
    wanted = {
        row["run_id"]: row
        for row in scores
        if (row["row"], row["measure"]) == ("corrected", "support_precision")
    }
    cells = table(page, "Corrected scores")
    assert len(wanted) == len(cells) - 1 == 3
    for run, row in wanted.items():
        judged, corrected, _, at_every_look, fixed, n = cells[run]
        assert judged == num(row["judged"])
        assert corrected == num(row["corrected"]["value"])
        low, high = row["corrected"]["of_these"]
        assert fixed == f"{num(low)} to {num(high)}"
        lowest, highest = (float(one) for one in at_every_look.split(" to "))
        assert lowest <= low < high <= highest
        assert int(n) == row["n_labels"]

    agreed = json.loads(judge("agree", "human.jsonl", trec.results, "--json", cwd=tmp_path))
    kappas = table(page, "Agreement")
    value, *_, n = kappas["the judge against people"]
    assert (value, int(n)) == (num(agreed["cohen_kappa"]["quadratic"], 2), agreed["n"])
    value, *_, n = kappas["people against each other, the ceiling"]
    assert (value, int(n)) == ("1.00", sum(n > 1 for n in by_cell.values()))
    for name, person in zip(("ann", "bob"), people, strict=True):
        done, of, an_hour, *_ = table(page, "People")[name]
        labels = [row for row in server.kept(name) if row["do"] == "label"]
        seconds = sum(row["active_ms"] for row in labels) / 1000
        assert (done, of) == (str(N), str(N)) == (str(len(person.clicks)), str(N))
        assert float(an_hour.replace(",", "")) == pytest.approx(3600 * N / seconds, rel=0.01)
    facts = page.locator(".facts").last.inner_text()
    assert "labels still needed" in facts
    assert "s a label, so far" in facts
    check_axe(axe, page)
    server.ends()


def test_how_far_people_are_led_is_what_they_kept(trec, at_work, tmp_path, axe):
    given = ("--n", N, "--overlap", 0.5, "--condition", "post-edit")
    server = Server(trec.results, "support", tmp_path / "labels", "ann,bob", *given)
    page = at_work(server, "(coordinator)", view="progress", bypass_csp=True).page
    people = [at_work(server, name, {"as shown": "Enter"}) for name in ("ann", "bob")]

    def keep(click):
        click.label = "as shown"

    labelled(people, keep)
    kept = [row for name in ("ann", "bob") for row in server.kept(name) if row["do"] == "label"]
    assert [row["label"] for row in kept] == [row["shown"] for row in kept]
    n = sum(row["is_control"] for row in kept)
    assert n > 2
    sentence = f"People kept {n} of {n} labels that the judge never gave (100%;"
    page.get_by_text(sentence).wait_for(timeout=1_000 * SOON_S)
    check_axe(axe, page)
    server.ends()
