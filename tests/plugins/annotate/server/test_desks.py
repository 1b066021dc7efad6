"""Nuggets that are edited and key points that are verified, as the page asks for them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest
from json_lines import read_rows, write_rows

import nuggetjudge as nj
from nuggetjudge.plugins.annotate.server import guards
from nuggetjudge.plugins.annotate.server.guards import GUARDS, HEADERS, MAX_BYTES
from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.plugins.annotate.work.bank import EditedBank
from nuggetjudge.plugins.annotate.work.documents import PointDocuments
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.plugins.annotate.work.verify import read_points
from nuggetjudge.records.reading.problems import Problems

from .conftest import PORT, page_event

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


@pytest.fixture
def built(tmp_path):
    """Key points with their documents, as a build leaves them."""
    folder = tmp_path / "built"
    folder.mkdir()
    write_rows(folder / "keypoints.jsonl", [{"qid": "t", "query": "why", "key_points": POINTS}])
    write_rows(folder / "documents.jsonl", DOCUMENTS)
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
    assert all("documents.jsonl:1" in what and "the page shows quotes" in what for what in whats)


def test_documents_of_a_run_are_those_that_it_read(tmp_path, built):
    """Key points given to a run, or found by it, name documents or passages of its inputs."""
    rows = read_rows(MARSH)
    named = write_rows(
        tmp_path / "named.jsonl", [one for one in rows if one["topic_id"] == "marsh"]
    )
    topics = [{"id": "t", "text": "why"}, {"id": "marsh", "text": "how did the marsh change"}]
    data = {
        "data.topics": write_rows(tmp_path / "topics.jsonl", topics),
        "data.runs": [
            write_rows(tmp_path / "runs.jsonl", [{"topic_id": "t", "run_id": "r", **SAID}])
        ],
        "data.passages": [
            write_rows(tmp_path / "passages.jsonl", [{"docid": "d9", "text": "It."}])
        ],
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
    return open_site(results=write_rows(tmp_path / "nuggets.jsonl", rows), kind="bank")


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
    assert client.post(label).json() == {"error": "label: does not exist for --kind bank"}
    assert read_state(bank.work.folder.path / "ann.events.jsonl").n == 1


# What other pages, other people and other machines send is refused; each guard is what does it.
class Attack(NamedTuple):
    """A request as ours, but for these headers (None: left out); `guard` alone refuses it."""

    what: str
    guard: Any
    status: int
    headers: Mapping[str, str | None] = MappingProxyType({})
    method: str = "POST"
    path: str = "/api/event"
    body: str = "json"


EVIL = "http://evil.example"
ATTACKS = [
    Attack("another name for this machine", guards.names_us, 421,
           {"host": f"evil.example:{PORT}"}, "GET", "/api/task"),
    Attack("a page of another name that leads here", guards.names_us, 421,
           {"host": f"evil.example:{PORT}", "origin": f"http://evil.example:{PORT}"}),
    Attack("our name without its port", guards.names_us, 421, {"host": "127.0.0.1"}, "GET", "/"),
    Attack("our name with another port", guards.names_us, 421,
           {"host": f"127.0.0.1:{PORT + 1}"}, "GET", "/"),
    Attack("a name that ends as ours", guards.names_us, 421,
           {"host": f"evil.localhost:{PORT}"}, "GET", "/"),
    Attack("another page", guards.is_from_our_page, 403, {"origin": EVIL}),
    Attack("a page without an origin", guards.is_from_our_page, 403, {"origin": "null"}),
    Attack("no page", guards.is_from_our_page, 403, {"origin": None}),
    Attack("another server of this machine", guards.is_from_our_page, 403,
           {"origin": f"http://127.0.0.1:{PORT + 1}"}),
    Attack("the same over https", guards.is_from_our_page, 403,
           {"origin": f"https://127.0.0.1:{PORT}"}),
    Attack("another page that reads", guards.is_from_our_page, 403,
           {"origin": EVIL}, "GET", "/api/task"),
    Attack("a link of another site", guards.is_same_site, 403,
           {"sec-fetch-site": "cross-site"}, "GET", "/"),
    Attack("another port of this machine", guards.is_same_site, 403,
           {"sec-fetch-site": "same-site"}),
    Attack("an address that was typed", guards.is_same_site, 403, {"sec-fetch-site": "none"}),
    Attack("nobody", guards.is_known, 401, {"cookie": None}, "GET", "/annotate/web/app.js"),
    Attack("a cookie that is none of ours", guards.is_known, 401,
           {"cookie": f"judge-{PORT}=" + "A" * 43}, "GET", "/"),
    Attack("two cookies", guards.is_known, 401, {"cookie": "twice"}, "GET", "/report/web/el.js"),
    Attack("a form's text", guards.is_json, 415, {"content-type": "text/plain"}),
    Attack("a form", guards.is_json, 415, {"content-type": "application/x-www-form-urlencoded"}),
    Attack("no type", guards.is_json, 415, {"content-type": None}),
    Attack("without our header", guards.has_our_header, 403, {"x-judge": None}),
    Attack("somebody else's page", guards.is_of_this_person, 409, {"x-judge": "bob"}),
    Attack("somebody else's page that reads", guards.is_of_this_person, 409,
           {"x-judge": "bob"}, "GET", "/api/item?n=0"),
    Attack("a long body", guards.is_short, 413, {}, body="long"),
    Attack("a long body of unknown length", guards.is_short, 413, {}, body="chunked"),
]  # fmt: skip


def sent(site, attack):
    """What the attack is answered, and whether what it said was kept."""
    client = site.client("ann")
    headers = {"content-type": "application/json", **attack.headers}
    if headers.get("cookie") == "twice":
        headers["cookie"] = f"{client.headers['cookie']}; {client.headers['cookie']}"
    if attack.method == "GET":
        return client.request("GET", attack.path, {"origin": None, **headers}), True
    event = page_event(client, 0, label="full")
    body = json.dumps(event if attack.body == "json" else event | {"more": "x" * MAX_BYTES})
    parts = [body[:40_000].encode(), body[40_000:].encode()]
    content = parts if attack.body == "chunked" else b"".join(parts)
    answer = client.request("POST", attack.path, headers, content)
    return answer, site.work.sessions["ann"].find_event(event["id"]) is not None


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.what)
def test_it_is_refused_and_not_kept_and_let_by_without_its_guard(attack, looked_at):
    looked_at.guarded_by(GUARDS)
    answer, is_kept = sent(looked_at, attack)
    assert answer.status_code == attack.status
    assert answer.headers["content-type"].startswith("text/plain")
    assert not is_kept or attack.method == "GET"
    looked_at.guarded_by([guard for guard in GUARDS if guard is not attack.guard])
    answer, is_kept = sent(looked_at, attack)
    looked_at.guarded_by(GUARDS)
    assert (answer.status_code, is_kept) == (200, True)


def test_every_guard_has_an_attack():
    assert {attack.guard for attack in ATTACKS} == set(GUARDS)


def test_the_host_is_looked_at_before_all_else(looked_at):
    answer = looked_at.client(None).get("/enter?token=x", host="evil.example")
    assert (GUARDS[0], answer.status_code) == (guards.names_us, 421)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_our_own_names_are_answered(looked_at, host):
    own = {"host": f"{host}:{PORT}", "origin": f"http://{host}:{PORT}"}
    assert looked_at.client("ann", **own).get("/api/task").status_code == 200


@pytest.mark.parametrize("path", ["/", "/api/task", "/api/item?n=99", "/nothing", "/enter?token=x"])
def test_every_answer_has_the_headers_refusals_too(looked_at, path):
    for client in (looked_at.client("ann"), looked_at.client(None)):
        headers = client.get(path).headers
        assert {name: headers.get(name) for name in HEADERS} == HEADERS


def test_the_policy_lets_nothing_in_but_our_own_files():
    policy = dict(part.split(" ", 1) for part in HEADERS["content-security-policy"].split("; "))
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["require-trusted-types-for"] == "'script'"


def test_a_link_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(looked_at):
    client = looked_at.client(None)
    token = looked_at.person("ann").token
    answer = client.get(f"/enter?token={token}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(rf"judge-{PORT}=[\w-]{{43}}; Path=/; HttpOnly; SameSite=Strict", cookie)
    assert token not in cookie
    assert client.get("/", cookie=cookie.split(";")[0]).status_code == 200


def test_a_token_that_is_none_gives_no_cookie(looked_at):
    for token in (
        "",
        "x",
        looked_at.person("ann").session,
        looked_at.person("ann").token[:-1],
        "\u00e9",
    ):
        answer = looked_at.client(None).get(f"/enter?token={quote(token)}")
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers


def test_tokens_have_256_bits_and_are_each_their_own(looked_at):
    tokens = [text for one in looked_at.people.all for text in (one.token, one.session)]
    assert len(set(tokens)) == 6
    assert all(re.fullmatch(r"[\w-]{43}", token) for token in tokens)  # 43 * 6 bits
    assert not any(token in repr(looked_at.people.all) for token in tokens)


def test_pages_are_of_a_fixed_list_whatever_is_asked_for(looked_at):
    client = looked_at.client("ann")
    assert client.get("/annotate/web/app.js").headers["content-type"].startswith("text/javascript")
    assert client.get("/report/web/el.js").status_code == 200
    for path in (
        "/annotate/web/../server/guards.py",
        "/annotate/web/%2e%2e/server/guards.py",
        "/annotate/web/..%2fserver/guards.py",
        "/annotate/server/guards.py",
        "/report/web/",
        "//etc/passwd",
        "/annotate/web/app.js%00.css",
        "/annotate/web/app.js/",
    ):
        answer = client.get(path)
        assert answer.status_code == 404, path
    kind = {"content-type": "application/json"}
    assert client.request("POST", "/", kind).status_code == 405


def test_no_answer_says_what_serves_it(looked_at):
    assert "server" not in looked_at.client("ann").get("/").headers
