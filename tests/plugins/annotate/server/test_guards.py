"""What other pages, other people and other machines send is refused; each guard is what does it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote

import pytest

from nuggetjudge.plugins.annotate.server import guards
from nuggetjudge.plugins.annotate.server.guards import GUARDS, HEADERS, MAX_BYTES

from .conftest import PORT, page_event


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
