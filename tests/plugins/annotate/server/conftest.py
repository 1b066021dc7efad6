"""A labelling of a small label file, and clients that ask its app as a browser would."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from json_lines import write_rows

from nuggetjudge.plugins.annotate.server.app import make_app
from nuggetjudge.plugins.annotate.server.guards import GUARDS
from nuggetjudge.plugins.annotate.server.labelling import Labelling, open_labelling
from nuggetjudge.plugins.annotate.server.people import People
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.task import read_task, with_spans
from nuggetjudge.records.reading.problems import Problems

PORT = 23456
OURS = f"http://127.0.0.1:{PORT}"
LABELS = ("none", "partial", "full")
_ids = itertools.count()


def label_rows(n_topics: int = 4, n: int = 6) -> Iterator[dict[str, str]]:
    """Judged support, with texts; runs and labels have names that stand nowhere else."""
    for topic, item in itertools.product(range(n_topics), range(n)):
        yield {
            "topic_id": f"t{topic}", "run_id": f"secret-run-{item % 3}", "sentence_id": str(item),
            "passage_id": f"p{topic}-{item}", "label": LABELS[(topic + item) % 3],
            "question": f"why is the sky of topic {topic} blue",
            "sentence": f"Sentence {item} says \U0001f30d e\u0301 something.",
            "passage": f"Passage {topic} {item} says it too.",
        }  # fmt: skip


def write_labels(path: Path, **sizes: int) -> Path:
    """The file of them."""
    write_rows(path, label_rows(**sizes))
    return path


@pytest.fixture(scope="session")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of judged support."""
    return write_labels(tmp_path_factory.mktemp("judged") / "support.jsonl")


class Client:
    """Asks an app in this process; each request runs by itself."""

    def __init__(self, app: Any, headers: dict[str, str]) -> None:
        self.app, self.headers = app, headers

    def request(self, method: str, path: str, headers: Any = None, content: Any = None) -> Any:
        """The answer. Headers of None are left out of those that the client has."""
        given = {k: v for k, v in {**self.headers, **(headers or {})}.items() if v is not None}

        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url=OURS) as client:
                body = _parts(content) if isinstance(content, list) else content
                return await client.request(method, path, headers=given, content=body)

        return asyncio.run(ask())

    def get(self, path: str, **headers: Any) -> Any:
        """See `request`."""
        return self.request("GET", path, headers)

    def post(self, event: Any, **headers: Any) -> Any:
        """Tell of an event, as JSON."""
        headers = {"content-type": "application/json"} | headers
        return self.request("POST", "/api/event", headers, json.dumps(event).encode())


async def _parts(parts: list[bytes]) -> Any:
    for part in parts:
        yield part


class Site:
    """A labelling with its people and app."""

    def __init__(self, work: Labelling) -> None:
        self.work = work
        self.people = People(work.names, PORT)
        self.guarded_by(GUARDS)

    def guarded_by(self, guards: Any) -> None:
        """Have these guards alone from now on."""
        self.app = make_app(self.work, self.people, PORT, guards)

    def person(self, name: str) -> Any:
        return next(one for one in self.people.all if one.id == name)

    def client(self, name: str | None = "ann", **headers: str) -> Client:
        """What asks as this person's page does; None: as nobody."""
        if name is None:
            return Client(self.app, headers)
        cookie = f"{self.people.cookie}={self.person(name).session}"
        own = {"origin": OURS, "x-judge": name, "sec-fetch-site": "same-origin", "cookie": cookie}
        return Client(self.app, {**own, **headers})


def page_event(client: Client, at: int | None, do: str = "label", **fields: Any) -> dict[str, Any]:
    """An event as the page says it, at a place or None."""
    body = {"id": f"event-{next(_ids):06d}", "do": do}
    if at is not None:
        body |= {"n": at, "item": client.get(f"/api/item?n={at}").json()["item"]}
    return body | fields


@pytest.fixture
def open_site(judged: Path, tmp_path: Path) -> Iterator[Any]:
    """`open_site(n=10, people=("ann",))`: all that are open are closed at the end."""
    sites: list[Site] = []

    def make(
        people: tuple[str, ...] = ("ann", "bob"),
        results: Path = judged,
        kind: str = "support",
        adjudicators: tuple[str, ...] = (),
        against_judge: bool = False,
        spans: str | None = None,
        folder: Path = tmp_path / "labels",
        **plan: Any,
    ) -> Site:
        task = read_task([results], kind, Problems())
        task = with_spans(task, spans) if spans is not None else task
        plan = {"n": 10} | plan
        work = open_labelling(
            task, folder, people, Plan(**plan), adjudicators=adjudicators,
            against_judge=against_judge,
        )  # fmt: skip
        sites.append(Site(work))
        return sites[-1]

    yield make
    for site in sites:
        if site.work.folder.is_open:
            site.work.close()


@pytest.fixture
def site(open_site: Any) -> Site:
    """Two people with ten items each."""
    return open_site()


@pytest.fixture(scope="module")
def looked_at(judged: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The same for a whole module of tests, which must not mind what others did there."""
    task = read_task([judged], "support", Problems())
    folder = tmp_path_factory.mktemp("labels")
    work = open_labelling(task, folder, ("ann", "bob"), Plan(n=10))
    yield Site(work)
    work.close()
