"""What the page asks and says, as JSON. What is asked changes nothing; `event` alone does.

Functions that are not `async` run in a thread, so that nobody waits for another's disk.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ...records.reading.problems import InputError
from .desk import Desk
from .people import COORDINATOR, Person
from .said import Wrong, event_said
from .shown import shown_item, shown_recent, shown_task
from .workplace import Workplace

Answer: TypeAlias = Mapping[str, Any] | list[Any]
NO_ROOM = 507  # insufficient storage: the page keeps the event and sends it again


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


def routes(work: Workplace) -> list[Route]:
    """The addresses below /api."""
    api = Api(work)
    asked = {
        "task": api.task,
        "item": api.item,
        "next": api.next,
        "recent": api.recent,
        "progress": api.progress,
    }
    found = [Route(f"/api/{name}", _answers(function)) for name, function in asked.items()]
    return [*found, Route("/api/event", api.event, methods=["POST"])]


class Api:
    """The answers about one workplace."""

    def __init__(self, work: Workplace) -> None:
        self.work = work

    def task(self, request: Request) -> Answer:
        """What this person is to do."""
        person = _person(request)
        about = {"annotator": person.id, "is_coordinator": person.is_coordinator}
        if person.is_coordinator:
            shown = shown_task(self.work.task, ["progress"], [])
            return {**shown, **about, "condition": self._condition(), "n": 0}
        desk = self._desk(request)
        shown = shown_task(self.work.task, self.work.views, self.work.practice)  # type: ignore[arg-type]
        more = {"condition": desk.condition, "n": len(desk.entries)}
        return {**shown, **about, **more, "progress": desk.progress._asdict()}

    def item(self, request: Request) -> Answer:
        """The item of a place."""
        desk = self._desk(request)
        return shown_item(desk, _place(request, desk))

    def next(self, request: Request) -> Answer:
        """The first open place behind `after`, or of all."""
        desk = self._desk(request)
        after = _place(request, desk, "after") if "after" in request.query_params else -1
        return {"n": desk.next_open(after)}

    def recent(self, request: Request) -> Answer:
        """The person's last deeds."""
        return shown_recent(self._desk(request))

    def progress(self, request: Request) -> Answer:
        """How far all are and what their labels say: for the coordinator alone."""
        if not _person(request).is_coordinator:
            raise Refused(403, "for the coordinator alone: open the coordinator's link")
        return self.work.progress()

    async def event(self, request: Request) -> Response:
        """Keep an event; when it is answered, it is on the disk."""
        body = await request.body()
        try:
            return _json(await run_in_threadpool(self._keep, request, body))
        except Refused as error:
            return _json({"error": str(error)}, error.status)

    def _keep(self, request: Request, body: bytes) -> Answer:
        desk = self._desk(request)
        try:
            event = event_said(orjson.loads(body), desk)
            kept, place = desk.take(event)
        except orjson.JSONDecodeError as error:
            raise Refused(400, f"no JSON: {error}") from None
        except Wrong as error:
            raise Refused(error.status, str(error)) from None
        except InputError as error:
            raise Refused(NO_ROOM, str(error)) from None
        progress = desk.progress._asdict()
        if kept is None:
            return {"seq": None, "progress": progress, "n": None}
        self.work.changed()
        goes_on = kept.do in ("label", "skip", "adjudicate") and place is not None
        n = desk.next_open(place) if goes_on and place is not None else place
        return {"seq": kept.seq, "progress": progress, "n": n}

    def _desk(self, request: Request) -> Desk:
        person = _person(request)
        if person.id == COORDINATOR:
            raise Refused(403, "the coordinator labels nothing: open an annotator's link")
        return self.work.desks[person.id]

    def _condition(self) -> str:
        return next(iter(self.work.desks.values())).condition


def _person(request: Request) -> Person:
    person = request.scope["state"]["person"]
    if not isinstance(person, Person):
        raise Refused(401, "open the link that `judge annotate` printed")
    return person


def _place(request: Request, desk: Desk, name: str = "n") -> int:
    said = request.query_params.get(name, "")
    if said.isascii() and said.isdigit() and len(said) < 10 and int(said) < len(desk.entries):
        return int(said)
    raise Refused(404, f"{name}={said[:40]}: wanted 0 to {len(desk.entries) - 1}")


def _json(answer: Answer, status: int = 200) -> Response:
    try:
        body = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
    except TypeError:  # half a character in some text, which JSON can say as an escape
        body = json.dumps(answer, allow_nan=False).encode()
    return Response(body, status, media_type="application/json")


def _answers(function: Callable[[Request], Answer]) -> Callable[[Request], Response]:
    @functools.wraps(function)
    def answer(request: Request) -> Response:
        try:
            return _json(function(request))
        except Refused as error:
            return _json({"error": str(error)}, error.status)
        except InputError as error:
            return _json({"error": str(error)}, 503)

    return answer
