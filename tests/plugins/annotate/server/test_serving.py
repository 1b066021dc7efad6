"""The real server in a process of its own: how it starts and ends, and that no label is lost."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import threading
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest
from processes import JUDGE, run, start

from nuggetjudge.plugins.annotate.server.labelling import open_labelling
from nuggetjudge.plugins.annotate.server.serving import bind_socket, serve
from nuggetjudge.plugins.annotate.store.journal import read_state
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.task import Task, read_task
from nuggetjudge.records.reading.problems import Problems

from .conftest import write_labels

LABELS = ("none", "partial", "full")


class Served:
    """A server that runs, and what asks it as a page does."""

    def __init__(self, judged: Path, folder: Path, *more: object) -> None:
        given = ("annotate", judged, "--kind", "support", "--dir", folder, "--no-open")
        self.process = start(*JUDGE, *given, *more, stdout=PIPE, stderr=PIPE)
        self.links: dict[str, str] = {}
        while "(coordinator)" not in self.links:
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            name, link = line.split()
            self.links[name] = link

    @property
    def port(self) -> int:
        return int(next(iter(self.links.values())).split(":")[2].split("/")[0])

    def page(self, name: str = "ann") -> Page:
        """What this person's link opens."""
        return Page(self.port, name, self.links[name].partition(str(self.port))[2])

    def ended(self, number: int = signal.SIGINT) -> tuple[int, str]:
        """The exit code after a signal, and what was said on stderr."""
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=20)
        return self.process.returncode, err


class Page:
    """A connection with a person's cookie."""

    def __init__(self, port: int, name: str, enter: str) -> None:
        self.origin = f"http://127.0.0.1:{port}"
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        self.connection.request("GET", enter)
        answer = self.connection.getresponse()
        answer.read()
        cookie = answer.headers["set-cookie"].split(";")[0]
        self.headers = {"cookie": cookie, "x-judge": name, "origin": self.origin}

    def get(self, name: str) -> Any:
        self.connection.request("GET", f"/api/{name}", headers=self.headers)
        return json.loads(self.connection.getresponse().read())

    def event(self, n: int, label: str, id: str) -> bytes:
        item = self.get(f"item?n={n}")["item"]
        event = {"id": id, "do": "label", "n": n, "item": item, "label": label, "active_ms": n}
        return json.dumps(event).encode()

    def asks(self, body: bytes) -> None:
        """Send an event; its answer is not waited for."""
        headers = {**self.headers, "content-type": "application/json"}
        self.connection.request("POST", "/api/event", body, headers)

    def post(self, body: bytes) -> Any:
        self.asks(body)
        answer = self.connection.getresponse()
        assert answer.status == 200, answer.read()
        return json.loads(answer.read())


def kept(folder: Path, name: str = "ann") -> list[tuple[str, str]]:
    """The ids and labels of a journal's lines, each of which counts one on."""
    lines = (folder / f"{name}.events.jsonl").read_text("utf-8").splitlines()
    rows = list(map(json.loads, lines))
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    return [(row["id"], row["label"]) for row in rows]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_with_its_code_and_all_is_kept(number, code, judged, tmp_path):
    served = Served(judged, tmp_path / "labels", "--annotator", "ann,bob", "--n", 10)
    page = served.page()
    assert page.post(page.event(0, "full", "id-of-0000"))["seq"] == 1
    ended, err = served.ended(number)
    assert ended == code
    assert "Traceback" not in err
    assert str(tmp_path / "labels") in err
    assert kept(tmp_path / "labels") == [("id-of-0000", "full")]


def test_a_port_that_is_taken_is_said_and_its_own_port_is_found_again(judged, tmp_path):
    given = ("annotate", judged, "--kind", "support", "--dir", tmp_path / "labels", "--no-open")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ran = run(*JUDGE, *given, "--port", port)
        assert ran.returncode == 2
        assert ran.stderr.startswith(f"judge: --port {port}: cannot listen on 127.0.0.1")
        assert ran.stderr.count("\n") == 1
    served = Served(judged, tmp_path / "labels", "--annotator", "ann")
    with socket.socket() as elsewhere, pytest.raises(OSError, match="refused"):
        elsewhere.connect(("127.0.0.2", served.port))  # this machine's, but not where it listens
    ran = run(*JUDGE, *given)
    assert (ran.returncode, "in use by another judge annotate" in ran.stderr) == (2, True)
    port = served.port
    served.ended(signal.SIGKILL)
    again = Served(judged, tmp_path / "labels", "--annotator", "ann")
    assert again.port == port  # a page that was left open finds it
    again.ended()


def test_small_answers_do_not_wait_for_an_acknowledgement(tmp_path):
    with bind_socket(tmp_path) as listener:
        # asyncio sets TCP_NODELAY on sockets of this protocol alone, and accepted ones inherit it
        assert listener.proto == socket.IPPROTO_TCP


def test_paths_on_the_wire_are_no_paths_on_the_disk(judged, tmp_path):
    served = Served(judged, tmp_path / "labels", "--annotator", "ann", "--n", 4)
    page = served.page()
    for path in ("/annotate/web/../server/guards.py", "/../../../../etc/passwd", "//etc/passwd"):
        page.connection.putrequest("GET", path, skip_host=True)
        page.connection.putheader("host", page.origin.removeprefix("http://"))
        for name, value in page.headers.items():
            page.connection.putheader(name, value)
        page.connection.endheaders()
        answer = page.connection.getresponse()
        assert (answer.status, b"import" in answer.read()) == (404, False)
    served.ended()


def test_two_people_at_once_lose_nothing_and_mix_nothing(judged, tmp_path):
    served = Served(judged, tmp_path / "labels", "--annotator", "ann,bob", "--n", 20)
    given: dict[str, list[tuple[str, str]]] = {}

    def work(name: str) -> None:
        page = served.page(name)
        mine = [(f"{name}-{n:08d}", LABELS[(n + len(name)) % 3]) for n in range(20)]
        for n, (id, label) in enumerate(mine):
            page.post(page.event(n, label, id))
        given[name] = mine

    threads = [threading.Thread(target=work, args=(name,)) for name in ("ann", "bob")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    served.ended()
    assert given.keys() == {"ann", "bob"}
    for name, mine in given.items():
        assert kept(tmp_path / "labels", name) == mine


class Lean:
    """The same server in a fork of this process, without the command line: it starts at once."""

    def __init__(self, task: Task, folder: Path, n: int) -> None:
        ours, theirs = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            try:
                work = open_labelling(task, folder, ("ann",), Plan(n=n))
                listener = bind_socket(folder)
                serve(work, listener, lambda links: void(os.write(theirs, links["ann"].encode())))
            finally:
                os._exit(1)
        os.close(theirs)
        link = os.read(ours, 1000).decode()
        os.close(ours)
        port, _, enter = link.removeprefix("http://127.0.0.1:").partition("/")
        self.page = Page(int(port), "ann", f"/{enter}")

    def kill(self) -> None:
        """End it as a power cut does."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.page.connection.close()


def void(_: object) -> None:
    """Nothing."""


def kept_whole(folder: Path) -> list[tuple[str, str]]:
    """As `kept`, without the end of a line that a kill tore."""
    text = (folder / "ann.events.jsonl").read_text("utf-8")
    rows = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
    assert [row["seq"] for row in rows] == list(range(1, len(rows) + 1))
    return [(row["id"], row["label"]) for row in rows]


# A label that is awaited may be lost at one moment of many: 150 of the 200 are.
@pytest.mark.parametrize("n", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_a_kill_after_each_label_loses_and_doubles_nothing(n, tmp_path):
    """Every fourth label is killed after its answer, the others while it is awaited."""
    judged = write_labels(tmp_path / "support.jsonl", n_topics=10, n=21)
    task = read_task([judged], "support", Problems())
    folder = tmp_path / "labels"
    made: list[tuple[str, str]] = []
    last, is_awaited = b"", False
    for i in range(n):
        server = Lean(task, folder, n)
        if is_awaited:
            assert server.page.post(last)["seq"] == len(made)
            assert kept(folder) == made
        label = LABELS[i % 3]
        last = server.page.event(i, label, f"label-{i:06d}")
        made.append((f"label-{i:06d}", label))
        is_awaited = i % 4 > 0
        if is_awaited:
            server.page.asks(last)
        else:
            assert server.page.post(last)["seq"] == len(made)
        server.kill()
        stored = kept_whole(folder)
        assert stored == made or (is_awaited and stored == made[:-1])
    server = Lean(task, folder, n)
    assert server.page.post(last)["seq"] == n
    server.kill()
    assert kept(folder) == made
    assert len(set(read_state(folder / "ann.events.jsonl").labels())) == n
