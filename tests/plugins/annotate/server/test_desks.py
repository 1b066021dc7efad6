"""Nuggets that are edited and key points that are verified, as the page asks for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import nuggetjudge as nj
from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.plugins.annotate.work.bank import EditedBank
from nuggetjudge.plugins.annotate.work.documents import PointDocuments
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.verify import read_points
from nuggetjudge.records.reading.problems import Problems

from .conftest import page_event

POINTS = [
    {"text": "The wall was opened", "spans": ["opened its\nwall"], "sources": ["d2", "d1", "d9"]},
    {"text": "Silt settles", "spans": ["Silt", "settles"]},
]
DOCUMENTS = [
    {"topic_id": "t", "docid": "d1", "title": "Walls", "text": "They opened its\nwall \U0001f30a."},
    {"topic_id": "t", "docid": "d2", "text": "Silt settles."},
    {"topic_id": "other", "docid": "d9", "text": "Of another topic."},
]
SAID = {"answer": [{"text": "Silt settles.", "citations": []}]}
MARSH = Path(__file__).resolve().parents[4] / "examples" / "long2rag" / "documents.jsonl"
SHOWN = {
    "d1": {"id": "d1", "title": "Walls", "text": DOCUMENTS[0]["text"]},
    "d2": {"id": "d2", "title": "", "text": "Silt settles."},
}


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def built(tmp_path):
    """Key points with their documents, as a build leaves them."""
    folder = tmp_path / "built"
    folder.mkdir()
    write(folder / "keypoints.jsonl", [{"qid": "t", "query": "why", "key_points": POINTS}])
    write(folder / "documents.jsonl", DOCUMENTS)
    return folder


def by_text(client, n):
    """What is shown of the key points, by their texts, in the queue's order."""
    points = [client.get(f"/api/verify?n={at}").json() for at in range(n)]
    return {one["text"]: one for one in points}


def test_a_key_point_comes_with_the_documents_that_it_was_made_from(open_site, built):
    """Else somebody has to say whether words carry a point without seeing where they stand."""
    client = open_site(results=built, kind="verify").client("ann")
    wall, silt = (by_text(client, 4)[one["text"]] for one in POINTS)
    assert wall["documents"] == [SHOWN["d2"], SHOWN["d1"]]  # as it names them; d9 is of another
    assert wall["sources"] == "d2 d1 d9"
    assert wall["spans"] == ["opened its\nwall"]  # one quote of two lines
    assert silt["documents"] == [SHOWN["d1"], SHOWN["d2"]]  # it names none


def test_the_two_answers_about_a_key_point_are_kept_apart(open_site, built):
    site = open_site(results=built, kind="verify")
    client = site.client("ann")
    point = client.get("/api/verify?n=0").json()
    assert set(point["places"]) == {"grounded", "key_point"}
    about = point["places"]["key_point"]
    event = {"id": "event-yes-1", "do": "label", "label": "yes", "active_ms": 700, **about}
    answer = client.post(event).json()
    assert (answer["seq"], answer["progress"]["done"]) == (1, 1)
    again = client.get("/api/verify?n=0").json()
    assert again["labels"] == {
        "key_point": {"label": "yes", "spans": [], "rationale": "", "active_ms": 700}
    }
    (label,) = read_state(site.work.folder.path / "ann.events.jsonl").labels()
    assert (label.cell, label.kind) == (("t", point["key_point_id"], "key_point"), "verify")
    wrong = {**event, "id": "event-yes-2", "label": "neutral"}
    assert (client.post(wrong).status_code, client.post(wrong).text) == (
        400,
        '{"error":"label \'neutral\': wanted null or one of no, yes"}',
    )
    edit = page_event(client, None, "bank", op="add", texts=["x"], **about)
    assert client.post(edit).status_code == 400
    assert client.post(page_event(client, None, "undo")).json()["n"] == about["n"]
    assert client.get("/api/verify?n=0").json()["labels"] == {}


def test_a_flag_on_either_question_is_seen_at_the_key_point(open_site, built):
    client = open_site(results=built, kind="verify").client("ann")
    about = client.get("/api/verify?n=0").json()["places"]["grounded"]
    client.post({"id": "event-flag", "do": "flag", "on": True, "why": "odd", **about})
    assert client.get("/api/verify?n=0").json()["flagged"]
    assert not client.get("/api/verify?n=2").json()["flagged"]


@pytest.mark.parametrize("change", ["gone", "broken"])
def test_documents_that_are_not_to_be_had_are_said_and_quotes_still_shown(
    open_site, built, change, monkeypatch
):
    path = built / "documents.jsonl"
    path.unlink() if change == "gone" else path.write_text('{"docid": 1\n', "utf-8")
    client = open_site(results=built, kind="verify").client("ann")
    wall = by_text(client, 4)[POINTS[0]["text"]]
    assert (wall["documents"], wall["spans"]) == ([], ["opened its\nwall"])
    problems = Problems()
    read_task([built], "verify", problems).expect([])
    whats = [row.what for row in problems]
    assert len(whats) == (change == "broken")
    assert all("documents.jsonl:1" in what and "quotes are shown" in what for what in whats)


def test_documents_of_a_run_are_those_that_it_read(tmp_path, built):
    """Key points given to a run, or found by it, name documents or passages of its inputs."""
    rows = [json.loads(line) for line in MARSH.read_text("utf-8").splitlines()]
    named = write(tmp_path / "named.jsonl", [one for one in rows if one["topic_id"] == "marsh"])
    topics = [{"id": "t", "text": "why"}, {"id": "marsh", "text": "how did the marsh change"}]
    data = {
        "data.topics": write(tmp_path / "topics.jsonl", topics),
        "data.runs": [write(tmp_path / "runs.jsonl", [{"topic_id": "t", "run_id": "r", **SAID}])],
        "data.passages": [write(tmp_path / "passages.jsonl", [{"docid": "d9", "text": "It."}])],
        "model": "lexical",
    }

    def get_documents(name, path):
        nj.run(program="keypoints", out=tmp_path / name, **data, **{name: path})
        points = list(read_points(tmp_path / name, Problems()).items())
        problems = Problems()
        documents = PointDocuments(tmp_path / name, [one.point for _, one in points], problems)
        documents.read()
        ids = [[p.id for p in documents.of(topic, one.point)] for (topic, _), one in points]
        return ids, [row.what for row in problems]

    given = get_documents("data.keypoints", built / "keypoints.jsonl")
    assert given == ([["d2", "d1", "d9"], ["d1", "d2"]], [])
    made, whats = get_documents("data.documents", named)
    assert whats == []
    assert {name for each in made for name in each} == {"marsh-plan", "marsh-years"}
    assert all(made)
    named.write_text(named.read_text("utf-8") + "\n", "utf-8")
    problems = Problems()
    PointDocuments(tmp_path / "data.documents", [], problems).read()
    assert "has changed since the run read it" in problems.rows[0].what


NUGGETS = [
    {"text": "A", "importance": "vital"},
    {"text": "B", "importance": "okay"},
    {"text": "C", "importance": "vital"},
]


@pytest.fixture
def bank(open_site, tmp_path):
    """A site of one topic with three nuggets."""
    rows = [{"qid": "t", "query": "why", "nuggets": NUGGETS}]
    return open_site(results=write(tmp_path / "nuggets.jsonl", rows), kind="bank")


def texts(client):
    return [one["text"] for one in client.get("/api/bank?n=0").json()["nuggets"]]


def test_nuggets_come_without_what_a_model_said_of_their_worth(bank):
    shown = bank.client("ann").get("/api/bank?n=0").json()
    assert [one["text"] for one in shown["nuggets"]] == ["A", "B", "C"]
    assert [one["importance"] for one in shown["nuggets"]] == [None] * 3
    assert (shown["question"], shown["passages"]) == ("why", [])


def test_edits_through_the_page_are_on_the_disk_with_where_each_nugget_came_from(bank):
    client = bank.client("ann")
    shown = client.get("/api/bank?n=0").json()
    start = {one["text"]: one["id"] for one in shown["nuggets"]}
    about = {"n": 0, "item": shown["item"]}
    for number, (op, sources, made) in enumerate(
        [("merge", ["A", "B"], ["A and B"]), ("add", [], ["D"]), ("delete", ["C"], [])]
    ):
        event = {"id": f"event-edit-{number}", "do": "bank", "op": op, "texts": made, **about}
        answer = client.post({**event, "sources": [start[name] for name in sources]})
        assert answer.json()["seq"] == number + 1
    again = client.get("/api/bank?n=0").json()["nuggets"]
    lineage = [(one["text"], [of["text"] for of in one["from"]]) for one in again]
    assert lineage == [("A and B", ["A", "B"]), ("D", [])]
    state = read_state(bank.work.folder.path / "ann.events.jsonl")
    edited = EditedBank.of(bank.work.task.bank.banks["t"], state.edits("t"))
    assert [one.nugget.text for one in edited.nuggets.values()] == ["A and B", "D"]
    assert texts(bank.client("bob")) == ["A", "B", "C"]  # each edits their own
    client.post({"id": "event-undo-x", "do": "undo"})
    assert texts(client) == ["A and B", "C", "D"]


def test_an_edit_of_a_nugget_that_is_gone_is_refused_in_words_and_not_kept(bank):
    client = bank.client("ann")
    shown = client.get("/api/bank?n=0").json()
    gone = shown["nuggets"][0]["id"]
    event = {"do": "bank", "n": 0, "item": shown["item"], "sources": [gone]}
    assert client.post({**event, "id": "event-del-1", "op": "delete"}).status_code == 200
    for op, made in (("edit", ["A2"]), ("split", ["x", "y"]), ("delete", [])):
        answer = client.post({**event, "id": f"event-{op}-2", "op": op, "texts": made})
        assert (answer.status_code, gone in answer.json()["error"]) == (400, True)
    label = {"id": "event-label", "do": "label", "label": "vital", "n": 0, "item": shown["item"]}
    assert client.post(label).json() == {"error": "label: not of --kind bank"}
    assert read_state(bank.work.folder.path / "ann.events.jsonl").n == 1
