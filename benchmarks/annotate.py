"""`judge annotate`: the time until a label is on the disk, and until the first item is shown.

The time of the first item starts with the command, before anything is imported, drawn or read. It
is measured by the clock and in seconds of CPU, to which other work on the machine adds nothing. A
real server in its own process serves made-up judgements of support. Each person is a connection
that labels in a loop: ask for an item, send its label, wait until it is stored.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from .tables import Bound, Report

TOPICS, ITEMS, ITEMS_SMOKE = 21, 900, 60  # 18,900 cells, as of a shared task's labels
N, N_SMOKE = 300, 60  # labels of each person
PEOPLE = (1, 4)
MAX_MS, MAX_START_S = 50, 2  # a label durable at one person, p95; the first item, of CPU
LOADED = 3  # what times may take when the machine has other work too


def bench(is_smoke: bool) -> Report:
    """Each number of people at a server of its own."""
    heads = ("first item s", "of CPU", "label p50 ms", "p95 ms", "labels a second")
    rows = [("people", "cells", *heads)]
    bounds = []
    slack = LOADED if is_smoke else 1
    for n_people in PEOPLE:
        with tempfile.TemporaryDirectory() as name:
            home = Path(name)
            n_cells = _write(home / "judged.jsonl", ITEMS_SMOKE if is_smoke else ITEMS)
            first, times, took = _labelled(home, n_people, N_SMOKE if is_smoke else N)
        ms = sorted(1000 * each for each in times)
        p50, p95 = ms[len(ms) // 2], ms[int(0.95 * len(ms))]
        start = f"{first.s:.2f}", f"{first.cpu_s:.2f}"
        figures = f"{p50:.1f}", f"{p95:.1f}", f"{len(ms) / took:.0f}"
        rows.append((str(n_people), f"{n_cells:,}", *start, *figures))
        if n_people == 1:
            bounds = [
                Bound("a label on the disk, p95", p95, MAX_MS * slack, "ms"),
                Bound("first item from a cold start, CPU", first.cpu_s, MAX_START_S * slack, "s"),
            ]
    with tempfile.TemporaryDirectory() as name:
        bare = sorted(_synced(Path(name) / "lines", N_SMOKE if is_smoke else N))
    p50, p95 = (1000 * bare[int(share * len(bare))] for share in (0.5, 0.95))
    notes = [f"A line appended and synced, nothing else: p50 {p50:.1f} ms, p95 {p95:.1f} ms."]
    return Report(
        f"labels at a real server, {N_SMOKE if is_smoke else N} a person", rows, bounds, notes
    )


def _synced(path: Path, n: int) -> list[float]:
    """The seconds that each line takes to be on the disk, which no label can do without."""
    times = []
    with path.open("wb", buffering=0) as stream:
        for _ in range(n):
            began = time.perf_counter()
            stream.write(b"x" * 400 + b"\n")
            os.fsync(stream)
            times.append(time.perf_counter() - began)
    return times


def _write(path: Path, n_items: int) -> int:
    with path.open("w", encoding="utf-8") as stream:
        for topic, item in product(range(TOPICS), range(n_items)):
            row = {
                "topic_id": f"t{topic}",
                "run_id": f"run{item % 45}",
                "sentence_id": str(item),
                "passage_id": f"p{item}",
                "label": ("none", "partial", "full")[item % 3],
                "question": f"question {topic}",
                "sentence": f"A sentence {item} of an answer that says a thing or two.",
                "passage": f"Passage {item}. " + "It goes on for a while. " * 30,
            }
            stream.write(json.dumps(row) + "\n")
    return TOPICS * n_items


class First(NamedTuple):
    """What it took from the start of the command until the first item was there."""

    s: float
    cpu_s: float


def _labelled(home: Path, n_people: int, n: int) -> tuple[First, list[float], float]:
    """Until the first item was there, the seconds of each label, and of all."""
    names = [f"person{i}" for i in range(n_people)]
    command = [sys.executable, "-m", "nuggetjudge", "annotate", str(home / "judged.jsonl")]
    command += ["--kind", "support", "--dir", str(home / "labels"), "--no-open"]
    began = time.monotonic()
    process = subprocess.Popen(
        [*command, "--annotator", ",".join(names)], stdout=subprocess.PIPE, text=True
    )
    try:
        links = _links(process)
        pages = [_Page(name, links[name]) for name in names]
        pages[0].get("item?n=0")
        first = First(time.monotonic() - began, _cpu_s(process.pid))
        times: list[float] = []
        threads = [threading.Thread(target=page.label, args=(n, times)) for page in pages]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.monotonic() - began
    finally:
        process.terminate()
        process.wait()
    if len(times) != n * n_people:
        raise AssertionError(f"{len(times)} labels, wanted {n * n_people}")
    return first, times, took


def _cpu_s(pid: int) -> float:
    """Seconds of CPU of a process of Linux until now, its threads included."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _links(process: Any) -> dict[str, str]:
    links: dict[str, str] = {}
    for line in process.stdout:
        name, link = line.split()
        links[name] = link
        if name == "(coordinator)":
            return links
    raise AssertionError("the server did not start")


class _Page:
    """A person's connection."""

    def __init__(self, name: str, link: str) -> None:
        host, path = re.fullmatch(r"http://([^/]+)(/.*)", link).groups()  # type: ignore[union-attr]
        self.connection = http.client.HTTPConnection(host, timeout=60)
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        answer.read()
        cookie = answer.headers["set-cookie"].split(";")[0]
        self.headers = {"cookie": cookie, "origin": f"http://{host}", "x-judge": name}
        self.name = name

    def get(self, name: str) -> Any:
        self.connection.request("GET", f"/api/{name}", headers=self.headers)
        return json.loads(self.connection.getresponse().read())

    def label(self, n: int, times: list[float]) -> None:
        """Label so many items; the time of each goes from sending it to knowing that it is kept."""
        headers = {**self.headers, "content-type": "application/json"}
        number = 0
        for i in range(n):
            item = self.get(f"item?n={number}")
            event = {"id": f"{self.name}-{i:08d}", "do": "label", "n": number, "label": "full"}
            body = json.dumps(event | {"item": item["item"]})
            began = time.perf_counter()
            self.connection.request("POST", "/api/event", body, headers)
            answer = json.loads(self.connection.getresponse().read())
            times.append(time.perf_counter() - began)
            number = answer["n"]
