"""What a person did is on the disk when it is acknowledged, once, and can be undone."""

import http.client
import json
import os
import re
import shlex
import signal
from pathlib import Path
from subprocess import PIPE

import pytest
from processes import JUDGE, run, start

from nuggetjudge.plugins.annotate.store.events import BankEdit, Clear, Flag, Label, Redo, Undo
from nuggetjudge.plugins.annotate.store.journal import Journal, read_state
from nuggetjudge.plugins.annotate.store.people import list_people
from nuggetjudge.plugins.annotate.work.queue_files import queues_in
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

CELL = ("12", "sys2", "0", "s1")
OTHER = ("12", "sys2", "1", "s1")


def label(name, value, cell=CELL, **more):
    return Label(id=f"label-{name:>04}", kind="support", cell=cell, label=value, **more)


def undo(name):
    return Undo(id=f"undo-{name:>04}")


def redo(name):
    return Redo(id=f"redo-{name:>04}")


def labels(state):
    return {one.cell: one.label for one in state.labels()}


@pytest.fixture
def journal(tmp_path):
    journal = Journal(tmp_path, "ann")
    yield journal
    journal.close()


def test_a_cleared_label_is_none_and_not_the_lowest(journal):
    journal.add(label(1, "full"))
    journal.add(label(2, None, OTHER))
    journal.add(Clear(id="clear-01", kind="support", cell=CELL))
    assert labels(journal.state) == {OTHER: None}


def test_what_is_sent_again_is_kept_once(journal):
    first = journal.add(label(1, "full"))
    assert journal.add(label(1, "full")) == first
    assert journal.path.read_bytes().count(b"\n") == 1
    assert first.at is not None


def test_undo_and_redo_go_step_by_step_and_end_where_nothing_is_left(journal):
    journal.add(label(1, "full"))
    journal.add(label(2, "none"))
    journal.add(undo(1))
    assert labels(journal.state) == {CELL: "full"}
    journal.add(undo(2))
    assert labels(journal.state) == {}
    assert journal.add(undo(3)) is None
    journal.add(redo(1))
    journal.add(redo(2))
    assert labels(journal.state) == {CELL: "none"}
    assert journal.add(redo(3)) is None


def test_nothing_is_redone_after_something_else_was_done(journal):
    journal.add(label(1, "full"))
    journal.add(undo(1))
    journal.add(label(2, "none", OTHER))
    assert journal.add(redo(1)) is None
    assert labels(journal.state) == {OTHER: "none"}


def test_a_pipe_in_the_place_of_a_journal_or_queue_is_refused_at_once(tmp_path):
    """It was waited for without end."""

    def give_up(*_):
        raise TimeoutError

    signal.signal(signal.SIGALRM, give_up)
    for name in ("ann.events.jsonl", "ann.support.from_scratch.queue.jsonl"):
        os.mkfifo(tmp_path / name)
    for read in (
        lambda: Journal(tmp_path, "ann"),
        lambda: list_people(tmp_path),
        lambda: [*queues_in(tmp_path)],
    ):
        signal.alarm(5)
        try:
            with pytest.raises(InputError, match=r"ann\.\S+: is not a regular file"):
                read()
        finally:
            signal.alarm(0)


def test_edits_of_a_bank_all_count_in_their_order(journal):
    for number, op in enumerate(("add", "edit", "delete")):
        journal.add(BankEdit(id=f"edit-{number:>04}", topic_id="12", op=op, texts=("a fact",)))
    journal.add(undo(1))
    assert [edit.op for edit in journal.state.edits("12")] == ["add", "edit"]


def some_events():
    yield label(1, "full", rationale="word for word", active_ms=7400, probability=0.31)
    yield Flag(id="flag-001", kind="support", cell=OTHER, why="garbled é")
    yield label(2, None, OTHER)
    yield undo(1)
    yield label(3, "partial", OTHER, repeat=1)
    yield Clear(id="clear-01", kind="support", cell=CELL)
    yield undo(2)


def test_cut_at_every_byte_a_journal_holds_what_was_whole(tmp_path):
    whole = Journal(tmp_path / "whole", "ann")
    states = [read_state(whole.path)]
    for event in some_events():
        whole.add(event)
        states.append(read_state(whole.path))
    whole.close()
    content = whole.path.read_bytes()
    path = tmp_path / "cut" / whole.path.name
    path.parent.mkdir()
    for end in range(len(content) + 1):
        path.write_bytes(content[:end])
        n_whole = content[:end].count(b"\n")
        assert read_state(path) == states[n_whole]
        if end % 50:  # each append waits for the disk
            continue
        again = Journal(path.parent, "ann")
        assert again.add(label("last", "none")).seq == n_whole + 1
        again.close()
        assert path.read_bytes().count(b"\n") == n_whole + 1


def test_each_event_is_on_the_disk_before_it_is_acknowledged(journal, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.fstat(file).st_size))
    journal.add(label(1, "full"))
    assert synced == [journal.path.stat().st_size]


def test_what_the_disk_would_not_sync_is_taken_back_and_can_be_sent_again(journal, monkeypatch):
    def full(_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(InputError, match="No space left"):
            journal.add(label(1, "full"))
    assert journal.add(label(1, "full")).seq == 1
    assert read_state(journal.path) == journal.state


def test_a_second_server_does_not_cut_a_line_that_the_first_is_writing(journal, tmp_path):
    journal.add(label(1, "full"))
    with journal.path.open("ab") as file:
        file.write(b'{"do":"lab')
    with pytest.raises(InputError, match="is open"):
        Journal(tmp_path, "ann")
    assert journal.path.read_bytes().endswith(b'{"do":"lab')


def test_two_servers_cannot_write_one_journal(journal, tmp_path):
    with pytest.raises(InputError, match=r"ann\.events\.jsonl: is open"):
        Journal(tmp_path, "ann")


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b"{}", ":2: not an event"),
        (b'{"do":"label","id":"event-77","seq":9,"kind":"support","cell":["1"],"label":"x"}', "9"),
        (b'{"do":"undo","id":"undo-0001","seq":2,"of":7}', "undo of event 7"),
    ],
)
def test_a_broken_line_within_is_named(tmp_path, line, what):
    journal = Journal(tmp_path, "ann")
    journal.add(label(1, "full"))
    journal.close()
    with journal.path.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(InputError, match=what):
        read_state(journal.path)


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "a" * 41, "a\nb", "ä"])
def test_a_name_cannot_lead_out_of_the_folder(tmp_path, name):
    with pytest.raises(InputError, match="wanted letters"):
        Journal(tmp_path, name)


# The loop of docs/howto/annotate.md: run, label 40 items at its server, fit, run, report.
ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "howto" / "annotate.md").read_text("utf-8")
TRUTH = ROOT / "examples" / "demo" / "labels" / "support.jsonl"


def commands(page=PAGE, title="## The loop"):
    """The words of each command of the page's loop."""
    part = page.split(title)[1].split("\n## ")[0]
    block = re.search(r"```\n(.*?)```", part, re.DOTALL)[1].replace("\\\n", "")
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def test_the_readme_shows_the_same_loop():
    readme = (ROOT / "README.md").read_text("utf-8")
    assert commands(readme, "## Check the judge you already have")[1:] == commands()


class Page:
    """Labels as the page does: an item, its label, then the place that the server names."""

    def __init__(self, link):
        self.host, _, enter = link.removeprefix("http://").partition("/")
        self.connection = http.client.HTTPConnection(self.host, timeout=20)
        self.connection.request("GET", f"/{enter}")
        answer = self.connection.getresponse()
        answer.read()
        self.headers = {"cookie": answer.headers["set-cookie"].split(";")[0], "x-judge": "ann"}
        self.headers |= {"origin": f"http://{self.host}", "content-type": "application/json"}

    def ask(self, method, path, row=None):
        self.connection.request(method, path, row and json.dumps(row), self.headers)
        answer = self.connection.getresponse()
        reply = json.loads(answer.read())
        assert answer.status == 200, reply
        return reply

    def label_all(self, label_of):
        """`said(texts)` is the label of an item. Returns how many were labelled."""
        n, done = self.ask("GET", "/api/next")["n"], 0
        while n is not None:
            item = self.ask("GET", f"/api/item?n={n}")
            label = label_of({one["of"]: one["text"] for one in item["texts"]})
            event = {"id": f"label-{done:06d}", "do": "label", "n": n, "item": item["item"]}
            n = self.ask("POST", "/api/event", {**event, "label": label, "active_ms": 9_000})["n"]
            done += 1
        return done


def by_texts(results):
    """The labels of people, by the sentence and the passage that they read."""
    truth = read_labels(TRUTH, Problems()).cells
    task = read_task([results], "support", Problems())
    texts = {cell: task.texts(cell) for cell in task.cells if cell in truth}
    labels = {(of["sentence"], of["passage"]): truth[cell] for cell, of in texts.items()}
    return lambda of: labels.get((of["sentence"], of["passage"]))


@pytest.mark.slow
def test_the_loop_of_the_page_runs_from_the_first_run_to_the_report(tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    verbs = []
    for words in commands():
        verbs.append(words[0] if words[0] != "annotate" else " ".join(words[:2]))
        if words[:2] == ["annotate", "results/demo"]:
            served = start(*JUDGE, *words, "--no-open", cwd=tmp_path, env=env, stdout=PIPE)
            link = served.stdout.readline().split()[1]
            assert Page(link).label_all(by_texts(tmp_path / "results" / "demo")) == 40
            served.send_signal(signal.SIGINT)
            assert served.wait(20) == 130
            continue
        done = run(*JUDGE, *words, cwd=tmp_path, env=env)
        assert done.returncode == 0, done.stderr
        if words[0] == "annotate":
            assert "items labelled by 1 person, from_scratch" in done.stdout
    assert verbs == [
        "run", "annotate results/demo", "annotate export", "calibrate", "run", "report",
    ]  # fmt: skip
    fitted = json.loads((tmp_path / "results" / "fitted" / "manifest.json").read_text("utf-8"))
    assert "fitted/support.json" in json.dumps(fitted["config"])
    report = (tmp_path / "report.html").read_text("utf-8")
    assert "human.csv" in report
