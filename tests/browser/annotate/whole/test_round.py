"""Two people label at the real page; what is exported is what they clicked, and commands read it.

The people are scripts with a mouse and keys: they know nothing of items but what the page shows.
"""

import csv
import json
import time
from collections import Counter
from datetime import datetime
from itertools import pairwise

import pytest
from browser.annotate.whole.conftest import COLLECTION, judge, rows_of
from hostile import shown
from labelling import Server

N = 48  # places of each person; a quarter of the items are both people's
DIFFERS = 5  # the other person says something else of one item in so many
PAUSE_S = 0.3


def pairs_of(text):
    """Two words that follow each other and stand nowhere else, near the start of a text."""
    words = text.split()[2:40]
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    return [pair for pair in pairs if text.count(pair) == 1 and shown(pair) == pair]


class Script:
    """A person at each place: a label by what is read, and marks, reasons and pauses at some."""

    def __init__(self, person, truth, marks, differs):
        self.person, self.truth, self.marks, self.differs = person, truth, marks, differs
        self.scale = [label for label in person.keys if label is not None]
        self.seen = set()

    def __call__(self, click):
        of = tuple(text for heading, text in click.texts.items() if heading != "question")
        click.label = self.truth.get(of)
        if of in self.seen or (self.differs and click.n % DIFFERS == 0):  # a repeat: said anew
            click.label = next(label for label in self.scale if label != click.label)
        if click.n % 7 == 3:
            click.label = None
        self.seen.add(of)
        if click.n % 4 == 1:
            self.marked(click)
        if click.n % 6 == 2:
            self.says(click, f"Item {click.n}: 1, 2 and \U0001f30d.")
        if click.n % 9 == 4:
            time.sleep(PAUSE_S)

    def marked(self, click):
        press = self.person.page.keyboard.press
        text = click.texts[self.marks]
        press("s")
        first = self.person.drags(self.marks, pairs_of(text))
        behind = text.index(first) + len(first)
        second = self.person.drags(
            self.marks, [w for w in pairs_of(text) if text.index(w) > behind]
        )
        press("s")
        click.spans = [(text.index(words), text.index(words) + len(words))
                       for words in (first, second)]  # fmt: skip

    def says(self, click, words):
        click.rationale = words
        keyboard = self.person.page.keyboard
        keyboard.press("c")
        keyboard.insert_text(words)
        keyboard.press("Escape")


def in_turn(*scripts):
    """Both label, each an item in turn, until both are through."""
    busy = list(scripts)
    while busy:
        busy = [script for script in busy if script.person.labels(script)]


class Round:
    """Both people's clicks at a server, by what their queues say stood at each place.

    Attributes:
        first: clicks by (cell, person). again: those of items that came a second time.
    """

    def __init__(self, server, people):
        self.first, self.again, self.events = {}, {}, []
        for name, person in people.items():
            queue = server.queue(name)
            assert [click.n for click in person.clicks] == list(range(len(queue)))
            for click, entry in zip(person.clicks, queue, strict=True):
                into = self.again if entry.get("repeat") else self.first
                into[tuple(entry["cell"]), name] = click
            labels = [row for row in server.kept(name) if row["do"] == "label"]
            self.events += zip(labels, person.clicks, strict=True)
        self.labels = {}
        for (cell, _), click in self.first.items():
            self.labels.setdefault(cell, []).append(click.label)

    @property
    def decided(self):
        """The label of each cell that nobody gave another one."""
        labels = {cell: {one for one in by if one is not None} for cell, by in self.labels.items()}
        return {cell: one.pop() for cell, one in labels.items() if len(one) == 1}


def check_rows(rows, clicks, ids, of, texts):
    """Each row is one click: label, words, reason, texts and time; and there are no others."""
    at = {name: heading for heading, name in texts.items()}
    assert {(tuple(row[i] for i in ids), row["annotator"]) for row in rows} == clicks.keys()
    assert len(rows) == len(clicks)
    for row in rows:
        click = clicks[tuple(row[i] for i in ids), row["annotator"]]
        assert (row["label"], row["rationale"]) == (click.label, click.rationale or None)
        spans = row["spans"] or []
        assert [(one["start"], one["end"]) for one in spans] == click.spans
        assert {one["of"] for one in spans} <= {of}
        assert {name: shown(row[name]) for name in at} == {
            name: click.texts[heading] for name, heading in at.items()
        }
        assert row["seconds"] <= click.released - click.came + 0.01
        assert click.n == 0 or click.took - 0.1 < row["seconds"]  # before it, the page is loaded


def check_csv(path, rows):
    """The same as a sheet: what is empty is null, and spans are JSON."""
    with path.open(encoding="utf-8", newline="") as stream:
        sheet_rows = list(csv.DictReader(stream))
    for one, row in zip(sheet_rows, rows, strict=True):
        assert (one["label"], one["rationale"]) == (row["label"] or "", row["rationale"] or "")
        assert json.loads(one["spans"] or "null") == row["spans"]
        assert float(one["seconds"]) == row["seconds"]


def check_commands(home, results, kind, fits, labelled, judged):
    """The four commands count what was clicked. `judged`: the judge's labels, by cell."""
    decided = labelled.decided
    agreed = json.loads(judge("agree", "human.csv", results, "--kind", kind, "--json", cwd=home))
    assert agreed["n"] == len(decided)
    right = sum(judged[cell] == label for cell, label in decided.items())
    assert agreed["accuracy"] == pytest.approx(right / len(decided))
    fit = ("--judge", fits, "--method", "threshold", "--out", "fit.json")
    assert f"{len(decided)} labels" in judge("calibrate", "human.csv", *fit, cwd=home)
    assert (home / "fit.json").exists()
    given = ("--labels", "human.csv", "--where", "condition=from_scratch", "--half-width", ".05")
    scores = judge("score", results, *given, "--json", cwd=home)
    corrected = [row for row in map(json.loads, scores.splitlines()) if "n_labels" in row]
    runs = Counter(cell[1] for cell in decided)
    n_labels = {row["run_id"]: row["n_labels"] for row in corrected if row["row"] == "corrected"}
    assert n_labels == runs
    sheet = ("--labels", "human.csv", "--kind", kind, "--n", 5, "--out", "more.csv")
    assert f"{len(labelled.labels)} already have a label" in judge(
        "next", results, *sheet, cwd=home
    )


def go(work, at_work, home, kind, keys, marks):
    """Two people label, and the server ends; both exports are there then."""
    given = ("--n", N, "--overlap", 0.25)
    server = Server(work.results, kind, home / "labels", "ann,bob", *given)
    people = {name: at_work(server, name, keys) for name in ("ann", "bob")}
    in_turn(*(Script(one, work.truth, marks, name == "bob") for name, one in people.items()))
    server.ends()
    for out in ("human.csv", "human.jsonl"):
        judge("annotate", "export", server.folder, "--out", out, cwd=home)
    return Round(server, people)


def check_times(labelled):
    """What is kept says when: between the click's key and the next item's."""
    for event, click in labelled.events:
        at = event["at"]
        assert event["label"] == click.label
        assert click.pressed - 0.01 <= datetime.fromisoformat(at).timestamp() <= click.left + 5
    paused = [event["active_ms"] for event, click in labelled.events if click.n % 9 == 4]
    assert min(paused) >= 1000 * PAUSE_S


def test_citations_of_trec_go_round(trec, at_work, tmp_path):
    keys = {"none": "1", "partial": "2", "full": "3", None: "0"}
    labelled = go(trec, at_work, tmp_path, "support", keys, "The passage it cites")
    ids = ("topic_id", "run_id", "sentence_id", "passage_id")
    texts = {"Sentence of an answer": "sentence", "The passage it cites": "passage"}
    texts["question"] = "question"
    rows = rows_of(tmp_path / "human.jsonl")
    check_rows(rows, labelled.first, ids, "passage", texts)
    check_csv(tmp_path / "human.csv", rows)
    check_times(labelled)
    judged = {
        (row["topic_id"], row["run_id"], str(row["sentence"]), row["citation"]): row["label"]
        for row in rows_of(trec.results / "support.jsonl")
        if row["citation"]
    }
    check_commands(tmp_path, trec.results, "support", "support", labelled, judged)


def test_nuggets_of_the_demo_go_round(demo, at_work, tmp_path):
    keys = {"not_support": "1", "partial_support": "2", "support": "3", None: "0"}
    labelled = go(demo, at_work, tmp_path, "nuggets", keys, "Answer")
    rows = rows_of(tmp_path / "human.jsonl")
    texts = {"Answer": "answer", "Fact": "nugget", "question": "question"}
    check_rows(rows, labelled.first, ("topic_id", "run_id", "nugget_id"), "answer", texts)
    check_csv(tmp_path / "human.csv", rows)
    check_times(labelled)
    judged = {
        (row["qid"], row["run_id"], nugget["id"]): nugget["assignment"]
        for row in rows_of(demo.results / "assignments.jsonl")
        for nugget in row["nuggets"]
    }
    check_commands(tmp_path, demo.results, "nuggets", "assigner", labelled, judged)


class Editor:
    """A person at the screen of a topic's facts, by keys alone."""

    def __init__(self, page):
        self.page = page

    @property
    def facts(self):
        """What the list says."""
        return self.page.locator(".fact > .t").all_text_contents()

    def goes(self, text):
        """To a fact of the list."""
        for _ in range(2 * len(self.facts)):
            here = self.page.locator(".fact[aria-current] > .t").text_content()
            if here.removeprefix("selected") == text:
                return
            steps = self.facts.index(text) - self.facts.index(here)
            self.page.keyboard.press("j" if steps > 0 else "k")
        raise AssertionError(text)

    def does(self, *keys, types=()):
        """Keys, and a line or more for the field that they open; until it is kept."""
        keyboard = self.page.keyboard
        for key in keys:
            keyboard.press(key)
        if types:
            self.page.locator("textarea").wait_for()
            keyboard.press("Control+a")
            for n, line in enumerate(types):
                if n:
                    keyboard.press("Enter")
                keyboard.insert_text(line)
            for key in ("Tab", "Enter") if len(types) > 1 else ("Enter",):
                keyboard.press(key)
        self.page.locator("textarea").wait_for(state="detached")
        self.until(lambda: not self.page.get_by_text("not saved yet").count())

    def until(self, holds):
        """Wait until something holds, 5 s at most."""
        for _ in range(250):
            if holds():
                return
            self.page.wait_for_timeout(20)
        raise AssertionError(self.facts)


def test_facts_that_were_edited_at_the_page_are_judged_against(demo, at_work, tmp_path):
    server = Server(demo.results, "bank", tmp_path / "labels", "ann")
    page = at_work(server, "ann", view="bank").page
    page.locator(".fact").first.wait_for()
    (topic,) = server.queue("ann")[0]["cell"]
    (bank,) = (row for row in rows_of(demo.results / "nuggets.jsonl") if row["qid"] == topic)
    ids = {one["text"]: one["id"] for one in bank["nuggets"]}
    person = Editor(page)
    assert person.facts == list(ids)
    gone, kept, reworded, parts, *others = person.facts
    person.goes(gone)
    person.does("d")
    person.goes(reworded)
    person.does("e", types=["reworded by hand"])
    person.goes(parts)
    person.does("s", types=["one half of it", "the other half of it"])
    person.goes(others[0])
    person.does("x")
    person.goes(others[1])
    person.does("x", "m", types=["both in one"])
    person.does("a", types=["a fact of my own"])
    person.goes(kept)
    person.does("d")
    person.does("u")
    person.until(lambda: kept in person.facts)
    person.does("i")
    wanted = {kept: [ids[kept]], "reworded by hand": [ids[reworded]],
              "one half of it": [ids[parts]], "the other half of it": [ids[parts]],
              "both in one": [ids[others[0]], ids[others[1]]], "a fact of my own": [],
              **{text: [ids[text]] for text in others[2:]}}  # fmt: skip
    for _ in wanted:
        person.does("v")
    person.goes("both in one")
    person.does("o")
    server.ends()
    exported = judge("annotate", "export", server.folder, "--out", "edited.jsonl", cwd=tmp_path)
    assert "nuggets of 1 topic, edited by 1 person" in exported
    (row,) = rows_of(tmp_path / "edited.jsonl")
    assert {one["text"]: one["from"] for one in row["nuggets"]} == wanted
    importance = {one["text"]: one["importance"] for one in row["nuggets"]}
    assert importance == dict.fromkeys(wanted, "vital") | {"both in one": "okay"}
    lines = (COLLECTION / "topics.tsv").read_text("utf-8").splitlines()
    (tmp_path / "topics.tsv").write_text(next(x for x in lines if x.startswith(topic)), "utf-8")
    given = ("--topics", "topics.tsv", "--nuggets", "edited.jsonl", "--runs", COLLECTION / "runs")
    judge("run", "nuggets", *given, "--model", "lexical", "--out", "again", cwd=tmp_path)
    for answer in rows_of(tmp_path / "again" / "assignments.jsonl"):
        assert {one["text"]: one["importance"] for one in answer["nuggets"]} == importance
