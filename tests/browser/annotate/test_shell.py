"""The page around the screens: the link, the policy, and a server that goes away and comes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from annotating import nugget_rows
from labelling import Server

N = 12


def served(home: Path, names: str = "ann", port: int = 0) -> Server:
    """A server over a folder that stays."""
    judged = home / "judged.jsonl"
    if not judged.exists():
        rows = [
            {
                "topic_id": f"t{i % 3}", "run_id": "r", "sentence_id": str(i), "passage_id": "p",
                "label": ("none", "partial", "full")[i % 3], "question": f"question {i % 3}",
                "sentence": f"sentence {i}", "passage": f"passage {i}",
            }
            for i in range(N)
        ]  # fmt: skip
        judged.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return Server(judged, "support", home / "labels", names, "--port", port)


@pytest.fixture
def server(tmp_path):
    """A server, ended at the end."""
    process = served(tmp_path)
    yield process
    process.kill()


@pytest.fixture
def context(chromium):
    """A browser profile."""
    profile = chromium.new_context()
    yield profile
    profile.close()


def entered(context, link, view="start"):
    """A page of this link, with what it says."""
    page = context.new_page()
    page.set_default_timeout(10_000)
    page.logged = []
    page.on("console", lambda m: page.logged.append(m.text))
    page.on("pageerror", lambda error: page.logged.append(str(error)))
    page.goto(f"{link}#{view}")
    page.locator("html[data-ready=yes]").wait_for()
    return page


def send_label(page, n, label):
    """Send a label as a screen does; it is not waited for."""
    page.evaluate(
        """async ([n, label]) => {
          const { connect } = await import('/annotate/web/api.js');
          window.api ??= await connect();
          window.items ??= await Promise.all([0, 1, 2].map((n) => api.get('item', { n })));
          window.acks ??= [];
          if (n === null) return;
          api.send({ do: 'label', n, label, active_ms: 5 }).then((a) => acks.push(a.seq), () => {});
        }""",
        [n, label],
    )


UNSENT = "Object.keys(localStorage).filter((key) => key.startsWith('judge unsent')).length"


def until(page, what):
    """Wait for an expression; the page's policy forbids wait_for_function."""
    for _ in range(100):
        if page.evaluate(what):
            return
        page.wait_for_timeout(100)
    raise AssertionError(what)


def test_the_link_opens_the_start_page_and_leaves_no_token(context, server):
    page = entered(context, server.links["ann"])
    assert page.url == f"{server.origin}/#start"
    assert page.locator("h1").inner_text() == "How far does the passage support the sentence?"
    assert page.evaluate("() => document.cookie") == ""
    assert page.evaluate("() => performance.getEntriesByType('navigation')[0].name").count(
        "token"
    ) in (0, 1)
    (cookie,) = context.cookies()
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    page.get_by_role("button", name="Begin").click()
    page.locator("main.item").wait_for()
    assert page.logged == []


def test_the_page_runs_nothing_that_is_not_ours_and_calls_nobody(context, server):
    page = entered(context, server.links["ann"])
    refused = page.evaluate(
        """() => {
          const tried = [];
          const script = document.createElement('script');
          for (const go of [
            () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
            () => { document.body.innerHTML = '<b>x</b>'; },
            () => { script.text = 'window.ran = 1'; document.body.append(script); },
          ]) { try { go(); tried.push('done'); } catch { tried.push('refused'); } }
          return [...tried, window.ran ?? null];
        }"""
    )
    assert refused == ["refused", "refused", "refused", None]
    other = "http://127.0.0.1:9/"
    gone = page.evaluate("(url) => fetch(url).then(() => 'sent', () => 'refused')", other)
    assert gone == "refused"
    assert any("Content Security Policy" in text for text in page.logged)


def test_another_page_cannot_ask_frame_or_be_told_anything(context, server, tmp_path):
    entered(context, server.links["ann"])
    (tmp_path / "other").mkdir()
    other = served(tmp_path / "other")
    page = entered(context, other.links["ann"])
    outcomes = page.evaluate(
        """async (origin) => {
          const said = [];
          for (const how of [{}, { mode: 'no-cors', credentials: 'include' }])
            said.push(await fetch(`${origin}/api/task`, how).then((r) => r.type, () => 'refused'));
          return said;
        }""",
        server.origin,
    )
    other.kill()
    assert outcomes == ["refused", "refused"]


def test_a_name_that_leads_here_is_not_ours(server, chromium, context):
    response = context.request.get(
        f"{server.origin}/",
        headers={"host": server.origin[7:].replace("127.0.0.1", "evil.example")},
    )
    assert response.status == 421


@pytest.mark.parametrize("is_same_page", [True, False], ids=["page left open", "page closed"])
def test_labels_made_while_the_server_is_gone_are_sent_once_and_in_order(
    is_same_page, context, server, tmp_path
):
    page = entered(context, server.links["ann"])
    send_label(page, 0, "full")
    until(page, "() => window.acks.length === 1")
    server.kill()
    for n, label in ((1, "none"), (2, None), (1, "partial")):
        send_label(page, n, label)
    until(
        page,
        f"() => {UNSENT} === 3",
    )
    assert [row["label"] for row in server.kept()] == ["full"]
    if not is_same_page:
        page.close()
    again = served(tmp_path)
    assert again.origin == server.origin
    new = entered(context, again.links["ann"])
    until(
        new,
        f"() => {UNSENT} === 0",
    )
    new.wait_for_timeout(300)
    kept = again.kept()
    assert [row["label"] for row in kept] == ["full", "none", None, "partial"]
    assert [row["seq"] for row in kept] == [1, 2, 3, 4]
    assert kept[1]["cell"] == kept[3]["cell"]
    if is_same_page:
        until(page, "() => window.acks.length === 4")
        page.locator(".banner").wait_for(state="hidden")
    again.kill()


def test_the_banner_says_that_the_server_is_gone_until_it_is_back(context, server, tmp_path):
    page = entered(context, server.links["ann"], "item?n=0")
    page.locator("main input[type=radio]").first.wait_for()
    banner = page.locator(".banner")
    assert banner.is_hidden()
    server.kill()
    page.keyboard.press("1")
    banner.get_by_text("The server does not answer").wait_for()
    assert "nothing is lost" in banner.inner_text()
    again = served(tmp_path)
    banner.get_by_text("was restarted").wait_for(timeout=8_000)
    entered(context, again.links["ann"])
    banner.wait_for(state="hidden", timeout=8_000)
    assert [row["label"] for row in again.kept()] == ["none"]
    again.kill()


def test_a_page_of_one_person_does_not_label_as_another(context, tmp_path):
    server = served(tmp_path, "ann,bob")
    page = entered(context, server.links["ann"])
    send_label(page, None, None)
    entered(context, server.links["bob"])
    send_label(page, 0, "full")
    until(page, "() => api !== undefined")
    page.wait_for_timeout(800)
    assert server.kept("bob") == server.kept("ann") == []
    assert page.evaluate(f"() => {UNSENT}") == 1
    entered(context, server.links["ann"])
    until(
        page,
        f"() => {UNSENT} === 0",
    )
    assert [row["label"] for row in server.kept("ann")] == ["full"]
    server.kill()


def test_an_answer_from_before_a_label_does_not_take_it_out_of_the_count(serve, open_site):
    it = open_site(serve(nugget_rows(n=4)))
    events, items = [], []
    it.page.route("**/api/event", lambda route: events.append(route))
    it.page.route("**/api/item?n=2*", lambda route: items.append((route, route.fetch())))
    it.page.keyboard.press("1")  # item 1 is drawn at once, and item 2 is asked for
    it.page.locator(".reading[data-n='1']").wait_for()
    while not (events and items):
        it.page.wait_for_timeout(20)
    events[0].continue_()
    far = it.page.locator(".far span").first
    far.get_by_text("1 of 4").wait_for()
    route, answer = items[0]
    assert answer.json()["progress"]["done"] == 0
    route.fulfill(response=answer)
    it.settled()
    assert far.inner_text() == "1 of 4"
