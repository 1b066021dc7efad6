"""What the labelling tool of the CRUX paper gets wrong, each as a test that our page does not.

Read in its source (DylanJoo/crux-labeling: views.py, models.py, query.html). That marks which are
asked for are enforced, as they are not there, is held in test_spans.py.
"""

import json
import re
from pathlib import Path

import pytest
from annotating import nugget_rows, rating_rows
from hostile import TEXTS

from nuggetjudge.plugins.annotate.out.exporting import export
from nuggetjudge.records.reading.problems import Problems

REPEATED = "The deck moves. The deck moves. The deck moves no more."

# Each address is asked with the person's own cookie and header; the statuses come back.
ASKED = """(all) => Promise.all(all.map(([method, address]) =>
  fetch(address, { method, headers: { "X-Judge": "ann" } }).then((one) => one.status)))"""


def exported(site, out: Path):
    """The rows that come out."""
    export(site.work.folder.path, out, Problems())
    return [json.loads(line) for line in out.read_text("utf-8").splitlines()]


@pytest.fixture
def site(serve):
    """Six items of one answer, for two people."""
    return serve(nugget_rows(text=REPEATED), names=("ann", "bob"), overlap=1)


def test_clear_is_not_stored_as_the_lowest_grade(serve, open_site, tmp_path):
    site = serve(rating_rows(), "ratings")
    it = open_site(site)
    it.presses("5", "k", "x", "j", "0")  # there 0 is "unanswerable", and what Clear writes
    assert [row["label"] for row in exported(site, tmp_path / "out.jsonl")] == ["0"]
    assert it.page.locator(".far span").first.inner_text() == "1 of 4"


def test_a_get_saves_nothing(site, open_site):
    it = open_site(site)
    fields = "id=12345678&do=label&n=0&label=support"
    item = site.work.sessions["ann"].name(0)
    tried = [f"/api/event?{fields}&item={item}", f"/api/item?{fields}", f"/?{fields}"]
    for view in ("start", "item", "answer"):
        it.at(f"{view}?{fields}")
    statuses = it.page.evaluate(ASKED, [["GET", one] for one in tried])
    assert statuses == [405, 200, 200]
    assert site.events() == []


def test_no_address_deletes_what_was_labelled(site, open_site):
    it = open_site(site)
    it.presses("3", "1")
    addresses = ("/upload/reset", "/reset", "/api/reset", "/api/event", "/annotate/web/app.js")
    methods = ("GET", "DELETE", "PUT")
    statuses = it.page.evaluate(ASKED, [[one, to] for to in addresses for one in methods])
    assert {*statuses} <= {200, 403, 404, 405, 415}
    assert statuses.count(200) == 1  # the file, by GET
    assert sorted(one.label for one in site.labels()) == ["not_support", "support"]


def test_secrets_are_each_servers_own_and_errors_show_no_code(serve, open_site):
    sites = [serve(nugget_rows()), serve(nugget_rows())]
    tokens = {re.search(r"token=(.+)", one.links["ann"])[1] for one in sites}
    assert len(tokens) == 2  # no key that stands in a repository
    it = open_site(sites[0])
    for address in ("/nothing", "/api/item?n=99", "/api/item?n=x", "/api/bank?n=0"):
        page = it.page.evaluate("(to) => fetch(to).then((one) => one.text())", address)
        assert len(page) < 200
        assert not re.search(r"Traceback|\.py|site-packages|/tmp", page)


def test_nobody_else_on_the_network_reaches_it(site, open_site):
    port = int(open_site(site).root.rstrip("/").rpartition(":")[2])
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text("utf-8").splitlines()[1:]]
    listening = [one[1] for one in sockets if one[3] == "0A" and int(one[1][-4:], 16) == port]
    assert listening == [f"0100007F:{port:04X}"]  # 127.0.0.1, not 0.0.0.0


def test_texts_are_no_part_of_a_script_nor_of_the_page(serve, open_site):
    text = TEXTS["end of script"]
    rows = nugget_rows(n=2, text=text)
    rows[0]["nuggets"][0]["text"] = f"a {text}"
    it = open_site(serve(rows))
    source = it.page.evaluate("() => fetch('/').then((one) => one.text())")
    assert "alert(" not in source
    assert "Fact" not in source
    assert source.count("<script") == 1
    assert it.page.locator("script").count() == 1
    assert text in it.page.locator(".reading").text_content()
    assert it.misdeeds() == []


def test_marked_words_that_stand_there_twice_are_told_apart(site, open_site, tmp_path):
    it = open_site(site)
    it.presses("s", "]", "]", "Enter", "3")
    (row,) = exported(site, tmp_path / "out.jsonl")
    assert [(one["of"], one["start"], one["end"]) for one in row["spans"]] == [("answer", 16, 31)]
    assert REPEATED.index("The deck moves.") == 0  # which words alone would lead to


def test_a_second_mark_does_not_replace_the_first(site, open_site, tmp_path):
    it = open_site(site)
    it.presses("s", "]", "Enter", "]", "]", "]", "Enter", "3")
    (row,) = exported(site, tmp_path / "out.jsonl")
    assert [(one["start"], one["end"]) for one in row["spans"]] == [(0, 15), (32, 55)]


def test_it_is_kept_who_labelled(site, open_site, tmp_path):
    ann, bob = open_site(site), open_site(site, name="bob")
    ann.presses("3")
    bob.presses("1")
    rows = exported(site, tmp_path / "out.jsonl")
    label_by_annotator = {row["annotator"]: row["label"] for row in rows}
    assert label_by_annotator == {"ann": "support", "bob": "not_support"}


def test_it_is_kept_when_and_how_long(site, open_site, tmp_path):
    it = open_site(site)
    it.page.mouse.move(100, 100)
    it.page.wait_for_timeout(400)
    it.presses("3")
    (event,) = site.events()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", event["at"])
    (row,) = exported(site, tmp_path / "out.jsonl")
    assert 0.4 <= row["seconds"] < 10


def test_what_was_a_slip_is_taken_back(site, open_site, tmp_path):
    it = open_site(site)
    it.presses("3", "1", "u", "2")
    rows = exported(site, tmp_path / "out.jsonl")
    assert sorted(row["label"] for row in rows) == ["partial_support", "support"]
