"""What the page is told and may say: blind, kept before it is answered, and kept once."""

from __future__ import annotations

import pytest

from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.records.reading.problems import InputError

from .conftest import LABELS, label_rows, page_event

ASKED = (
    "task", "next", "recent", *(f"{name}?n={n}" for name in ("item", "answer") for n in (0, 3)),
)  # fmt: skip


def state_of(site, name="ann"):
    return read_state(site.work.folder.path / f"{name}.events.jsonl")


def test_a_label_is_on_the_disk_when_it_is_answered_with_what_the_queue_knows(site):
    client = site.client("ann")
    spans = [{"of": "passage", "start": 0, "end": 7}]
    texts = {one["of"]: one for one in client.get("/api/item?n=2").json()["texts"]}
    spans[0]["sha256"] = texts["passage"]["sha256"]
    lies = {"cell": ["x"], "kind": "nuggets", "shown": "full", "chosen_by": "me", "seq": 7}
    lies |= {"probability": 1, "condition": "post_edit", "repeat": 3, "is_control": True}
    answer = client.post(
        page_event(client, 2, label="partial", rationale="so", active_ms=900, spans=spans, **lies)
    )
    assert answer.json() == {
        "seq": 1, "n": 3, "progress": {"done": 1, "total": 10, "active_ms": 900},
    }  # fmt: skip
    (label,) = state_of(site).labels()
    entry = site.work.sessions["ann"].entries[2]
    assert (label.cell, label.chosen_by, label.probability) == (
        entry.cell, entry.chosen_by, entry.probability,
    )  # fmt: skip
    assert (label.label, label.rationale, label.active_ms) == ("partial", "so", 900)
    assert (label.condition, label.shown, label.repeat, label.is_control) == (
        "from_scratch", None, entry.repeat, False,
    )  # fmt: skip
    assert label.kind == "support"
    assert label.guidelines_sha256 == site.work.task.guidelines_sha256
    assert [span.model_dump() for span in label.spans] == spans


def test_nothing_that_a_person_must_not_see_is_sent(open_site):
    site = open_site(people=("zora", "yuki"))
    clients = {name: site.client(name) for name in ("zora", "yuki")}
    for client in clients.values():
        for n in range(3):
            client.post(
                page_event(client, n, label="full", rationale=f"of {client.headers['x-judge']}")
            )
    for name, client in clients.items():
        other = {"zora": "yuki", "yuki": "zora"}[name]
        for asked in ASKED:
            text = client.get(f"/api/{asked}").text
            assert "secret-run" not in text, asked
            assert other not in text, asked
        item = client.get("/api/item?n=5").json()
        assert item["shown"] is None
        assert not {"judged", "chosen_by", "probability", "repeat", "is_control"} & item.keys()


def test_the_judges_label_stands_beside_only_when_it_is_post_edited(open_site):
    site = open_site(condition="post_edit", n=20)
    client, session = site.client("ann"), site.work.sessions["ann"]
    shown = [client.get(f"/api/item?n={n}").json()["shown"] for n in range(20)]
    assert shown == [entry.shown for entry in session.entries]
    assert set(shown) <= set(LABELS)
    client.post(page_event(client, 4, label=shown[4]))
    (label,) = state_of(site).labels()
    assert (label.condition, label.shown) == ("post_edit", shown[4])


def test_the_same_event_twice_is_one_label_and_one_answer(site):
    client = site.client("ann")
    event = page_event(client, 0, label="full")
    first = client.post(event).json()
    assert client.post(event).json() == first
    other = client.post(page_event(client, 1, label="none")).json()
    assert client.post(event).json()["seq"] == first["seq"]
    assert other["seq"] == 2
    back = {"id": "undo-undo-undo", "do": "undo"}
    answers = [client.post(back).json() for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0]["n"] == 1
    assert [one.label for one in state_of(site).labels()] == ["full"]
    assert state_of(site).n == 3


@pytest.mark.parametrize("change", [{"label": "none"}, {"rationale": "b"}, {"do": "skip"}, "item"])
def test_an_id_that_was_used_before_for_something_else_is_refused_and_nothing_is_lost(site, change):
    client = site.client("ann")
    event = page_event(client, 0, label="full", rationale="a")
    first = client.post(event).json()
    other = page_event(client, 1)["item"]
    answer = client.post(event | ({"item": other} if change == "item" else change))
    assert answer.status_code == 400
    assert f"the id {event['id']} was used before, for event 1 (label)" in answer.json()["error"]
    assert [one.label for one in state_of(site).labels()] == ["full"]
    assert client.post(event).json() == first


def test_a_time_that_no_label_can_take_is_refused(site):
    client = site.client("ann")
    for ms in (-1, 10**9 + 1, 2**63, 2**64, 1e300):
        answer = client.post(page_event(client, 0, label="full", active_ms=ms))
        assert (answer.status_code, "active_ms" in answer.json()["error"]) == (400, True), ms
    assert client.post(page_event(client, 0, label="full", active_ms=10**9)).status_code == 200


def test_a_time_that_was_stored_by_mistake_blocks_nobody(open_site):
    """The label stays, its time is not known; the person and the coordinator see their pages."""
    site = open_site()
    path = site.work.folder.path / "ann.events.jsonl"
    for n, ms in enumerate((2**63, 10**30)):
        site.client("ann").post(page_event(site.client("ann"), n, label="full", active_ms=77))
        path.write_text(path.read_text("utf-8").replace(":77,", f":{ms},"), "utf-8")
    site.work.close()
    site = open_site()
    progress = {"done": 2, "total": 10, "active_ms": 0}
    client = site.client("ann")
    assert client.get("/api/task").json()["progress"] == progress
    assert client.get("/api/item?n=0").json()["label"]["label"] == "full"
    assert client.post(page_event(client, 2, label="none", active_ms=5)).json()["seq"] == 3
    sessions = site.client("(coordinator)").get("/api/progress").json()["sessions"]
    assert sessions[0] == {"annotator": "ann", "done": 3, "total": 10, "active_ms": 5}


def test_clear_takes_the_label_away_and_is_never_the_lowest(site):
    client = site.client("ann")
    client.post(page_event(client, 0, label="none"))
    assert client.post(page_event(client, 0, do="clear")).json()["progress"]["done"] == 0
    assert client.get("/api/item?n=0").json()["label"] is None
    assert list(state_of(site).labels()) == []


def test_cannot_tell_is_null_and_no_label_is_no_event(site):
    client = site.client("ann")
    assert client.post(page_event(client, 0, label=None)).json()["progress"]["done"] == 1
    assert client.get("/api/item?n=0").json()["label"]["label"] is None
    assert [one.label for one in state_of(site).labels()] == [None]
    answer = client.post(page_event(client, 1))
    assert (answer.status_code, "null" in answer.json()["error"]) == (400, True)


def test_undo_and_redo_go_to_where_it_was_done_and_end_where_nothing_is(site):
    client = site.client("ann")
    assert client.post(page_event(client, None, do="undo")).json()["seq"] is None
    for n in (0, 4):
        client.post(page_event(client, n, label="full"))
    assert client.post(page_event(client, None, do="undo")).json()["n"] == 4
    assert client.get("/api/next").json() == {"n": 1}
    assert client.post(page_event(client, None, do="redo")).json()["n"] == 4
    assert client.post(page_event(client, None, do="redo")).json()["seq"] is None
    assert client.get("/api/recent").json()[0] == {"n": 4, "what": "label", "label": "full"}


def test_undo_leaves_alone_what_was_done_in_another_queue(open_site, tmp_path):
    first = open_site()
    client = first.client("ann")
    client.post(page_event(client, 0, label="full"))
    first.work.close()
    other = open_site(condition="post_edit", n=4)
    client = other.client("ann")
    assert client.post(page_event(client, None, do="undo")).json()["seq"] is None
    assert [one.label for one in state_of(other).labels()] == ["full"]


def test_what_was_skipped_comes_last(site):
    client = site.client("ann")
    assert client.post(page_event(client, 0, do="skip")).json()["n"] == 1
    for n in range(1, 10):
        answer = client.post(page_event(client, n, label="none")).json()
    assert answer["n"] == 0
    assert client.get("/api/item?n=0").json()["is_skipped"]
    assert client.post(page_event(client, 0, label="none")).json()["n"] is None
    assert client.get("/api/next").json() == {"n": None}


def test_flags_come_and_go(site):
    client = site.client("ann")
    client.post(page_event(client, 0, do="flag", why="two sentences"))
    item = client.get("/api/item?n=0").json()
    assert (item["flagged"], item["why"]) == (True, "two sentences")
    client.post(page_event(client, 0, do="flag", on=False))
    assert not client.get("/api/item?n=0").json()["flagged"]


WRONG = [
    ({"label": "perhaps"}, 400, "none, partial, full"),
    ({"label": 1}, 400, "none, partial, full"),
    ({"label": "full", "active_ms": -1}, 400, "active_ms"),
    ({"label": "full", "rationale": "x" * 20_001}, 400, "rationale"),
    ({"label": "full", "id": "short"}, 400, "id"),
    ({"label": "full", "do": "bank"}, 400, "does not exist for --kind support"),
    ({"label": "full", "do": "adjudicate"}, 400, "field 'do'"),
    ({"label": "full", "do": "wipe"}, 400, "field 'do'"),
    ({"label": "full", "item": "0123456789abcdef"}, 410, "no longer in the queue"),
    ({"label": "full", "item": None}, 400, "'item' is missing"),
    ({"label": "full", "item": None, "n": 10}, 400, "wanted 0 to 9"),
    ({"label": "full", "spans": [{"of": "passage", "start": 0, "end": 1, "sha256": "0" * 16}]},
     410, "its text has changed"),
    ({"label": "full", "spans": [{"of": "nothing", "start": 0, "end": 1, "sha256": "0" * 16}]},
     400, "span of 'nothing'"),
    ({"label": "full", "spans": [{"of": "sentence", "start": 3, "end": 999, "sha256": None}]},
     400, "3 to 999 in a text of 31 characters"),
    ({"label": "full", "spans": [{"of": "sentence", "start": 3, "end": 3, "sha256": None}]},
     400, "3 to 3"),
]  # fmt: skip


@pytest.mark.parametrize(("fields", "status", "what"), WRONG)
def test_what_is_no_event_is_refused_in_words_and_not_kept(fields, status, what, site):
    client = site.client("ann")
    texts = {one["of"]: one["sha256"] for one in client.get("/api/item?n=0").json()["texts"]}
    for span in fields.get("spans", ()):
        if span["sha256"] is None:
            span["sha256"] = texts[span["of"]]
    answer = client.post(page_event(client, 0) | fields)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/json")
    assert what in answer.json()["error"]
    assert state_of(site).n == 0


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"id": 3}', b'"\\ud800"'])
def test_a_body_that_is_no_object_is_refused(body, site):
    kind = {"content-type": "application/json"}
    assert site.client("ann").request("POST", "/api/event", kind, body).status_code == 400


def test_spans_are_code_points_of_the_text(site):
    client = site.client("ann")
    text = next(t for t in client.get("/api/item?n=0").json()["texts"] if t["of"] == "sentence")
    start = text["text"].index("\U0001f30d")  # one code point, two units of UTF-16
    span = {"of": "sentence", "start": start, "end": start + 1, "sha256": text["sha256"]}
    assert client.post(page_event(client, 0, label="full", spans=[span])).status_code == 200
    last = {**span, "end": len(text["text"])}
    assert client.post(page_event(client, 0, label="full", spans=[last])).status_code == 200
    beyond = {**span, "end": len(text["text"]) + 1}
    assert client.post(page_event(client, 0, label="full", spans=[beyond])).status_code == 400


@pytest.mark.parametrize(
    ("spans", "needs"), [("required", LABELS), ("partial, full", ("partial", "full"))]
)
def test_a_label_that_needs_marked_words_is_refused_without_and_kept_with_them(
    spans, needs, open_site
):
    client = open_site(spans=spans).client("ann")
    assert set(client.get("/api/task").json()["needs_spans"]) == set(needs)
    for n, label in enumerate(LABELS):
        answer = client.post(page_event(client, n, label=label))
        assert answer.status_code == (400 if label in needs else 200), label
    assert "mark the words" in client.post(page_event(client, 2, label="full")).json()["error"]
    assert client.post(page_event(client, 3, label=None)).status_code == 200  # cannot tell
    of = next(one for one in client.get("/api/item?n=2").json()["texts"] if one["of"] == "passage")
    span = {"of": "passage", "start": 0, "end": 7, "sha256": of["sha256"]}
    assert client.post(page_event(client, 2, label="full", spans=[span])).status_code == 200
    again = client.post(page_event(client, 2, label="full"))
    assert again.status_code == 400  # nor taken away later


@pytest.mark.parametrize(("spans", "what"), [("fully", "'fully'"), ("none,", "''")])
def test_labels_that_need_words_are_of_the_scale(spans, what, open_site):
    with pytest.raises(InputError, match=f"--spans {what}: wanted required or some of none, pa"):
        open_site(spans=spans)


def test_no_question_changes_a_byte(site):
    client, coordinator = site.client("ann"), site.client("(coordinator)")
    client.post(page_event(client, 0, label="full"))
    folder = site.work.folder.path
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for asked in (*ASKED, "progress", "event", "bank?n=0", "verify?n=0", "dispute", "reveal?n=0"):
        for one in (client, coordinator):
            one.get(f"/api/{asked}")
            one.request("HEAD", f"/api/{asked}")
    for method in ("GET", "PUT", "DELETE", "PATCH"):
        assert (
            client.request(method, "/api/event", {"content-type": "application/json"}).status_code
            == 405
        )
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_coordinator_sees_how_far_all_are_and_labels_nothing(site):
    client, coordinator = site.client("bob"), site.client("(coordinator)")
    client.post(page_event(client, 0, label="full", active_ms=1500))
    assert coordinator.get("/api/progress").json()["sessions"] == [
        {"annotator": "ann", "done": 0, "total": 10, "active_ms": 0},
        {"annotator": "bob", "done": 1, "total": 10, "active_ms": 1500},
    ]
    assert coordinator.get("/api/item?n=0").status_code == 403
    event = page_event(client, 1, label="full")
    assert coordinator.post(event).status_code == 403
    assert client.get("/api/progress").status_code == 403
    assert coordinator.get("/api/task").json()["views"] == ["progress"]


def test_the_coordinator_is_told_the_overlap_that_was_set(open_site):
    site = open_site(overlap=0.3)
    assert site.client("(coordinator)").get("/api/progress").json()["overlap"] == 0.3


def test_items_of_one_answer_stand_together(site):
    client = site.client("ann")
    answer = client.get("/api/answer?n=0").json()
    numbers = [item["n"] for item in answer["items"]]
    assert 0 in numbers
    entries = site.work.sessions["ann"].entries
    assert {entries[n].cell[:3] for n in numbers} == {entries[0].cell[:3]}
    assert answer["answer"]["of"] == "sentence"


def test_a_label_made_while_the_server_was_away_lands_on_its_own_item_or_nowhere(
    open_site, judged, tmp_path
):
    site = open_site(n=4)
    client = site.client("ann")
    late = page_event(client, 3, label="full")
    cell = site.work.sessions["ann"].entries[3].cell
    site.work.close()
    grown = open_site(n=12)
    assert grown.client("ann").post(late | {"n": 0}).status_code == 200
    assert [one.cell for one in state_of(grown).labels()] == [cell]
    lost = page_event(client, 2, label="full", item="f" * 16)
    assert grown.client("ann").post(lost).status_code == 410


def test_a_folder_is_open_once_and_names_come_once(open_site, site):
    with pytest.raises(InputError, match="in use by another judge annotate"):
        open_site()
    site.work.close()
    for names in (("ann", "ann"), ("ann", "Ann")):
        with pytest.raises(InputError, match="each name once"):
            open_site(people=names)
    for name in ("../ann", "", "(coordinator)", "a/b", "-x"):
        with pytest.raises(InputError, match="annotator"):
            open_site(people=(name,))
    open_site()  # what failed left nothing locked


def test_a_disk_that_is_full_is_said_and_the_label_is_not_counted(site, monkeypatch):
    client, session = site.client("ann"), site.work.sessions["ann"]
    event = page_event(client, 0, label="full")

    def refuse(event):
        raise InputError("labels/ann.events.jsonl: No space left on device")

    with session.journal() as journal:
        monkeypatch.setattr(journal, "add", refuse)
    answer = client.post(event)
    assert (answer.status_code, "No space left" in answer.json()["error"]) == (507, True)
    assert session.progress.done == 0
    monkeypatch.undo()
    assert client.post(event).json()["seq"] == 1


def test_adjudicators_decide_blind_once_and_are_told_then(open_site):
    first = open_site(n=None, overlap=1.0)
    ann, bob = first.client("ann"), first.client("bob")
    cells = {}
    for client, label in ((ann, "full"), (bob, "none")):
        for n, entry in enumerate(first.work.sessions["ann"].entries[:3]):
            if client is bob:
                n = first.work.sessions["bob"].entries.index(entry)
            cells[entry.cell] = entry
            client.post(page_event(client, n, label=label, rationale="because"))
    first.work.close()
    site = open_site(n=None, overlap=1.0, adjudicators=("judy",))
    judy = site.client("judy")
    task = judy.get("/api/task").json()
    assert (task["views"], task["against_judge"]) == (["adjudicate"], False)
    assert judy.get("/api/item?n=0").status_code == 403
    n = judy.get("/api/next").json()["n"]
    dispute = judy.get(f"/api/dispute?n={n}")
    assert all(name not in dispute.text for name in ("ann", "bob", "@judge", "secret-run"))
    disputed = dispute.json()
    assert (disputed["total"], disputed["verdict"], len(disputed["sources"])) == (3, None, 2)
    assert judy.get(f"/api/reveal?n={n}").status_code == 404
    verdict = page_event(judy, None, do="adjudicate", n=n, item=disputed["item"], label="partial")
    kept = judy.post(verdict).json()
    assert kept["progress"]["done"] == 1
    assert judy.post(verdict).json() == kept
    sources = judy.get(f"/api/reveal?n={n}").json()["sources"]
    assert {one["name"] for one in sources} == {"ann", "bob"}
    assert [one["letter"] for one in sources] == ["A", "B"]
    shown = {one["letter"]: one["label"] for one in disputed["sources"]}
    assert {one["letter"]: one["label"] for one in sources} == shown
    again = page_event(judy, None, do="adjudicate", n=n, item=disputed["item"], label="full")
    assert judy.post(again).status_code == 410
    assert site.client("ann").get(f"/api/dispute?n={n}").status_code == 403
    assert judy.get("/api/next").json()["n"] != n


def test_who_decides_against_the_judge_is_told_so(open_site):
    site = open_site(people=("ann",), adjudicators=("judy",), against_judge=True)
    assert site.client("judy").get("/api/task").json()["against_judge"] is True
    assert site.client("ann").get("/api/task").json()["against_judge"] is False


def test_the_rows_have_all_labels():
    assert {row["label"] for row in label_rows()} == set(LABELS)
