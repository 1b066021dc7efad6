"""What the page asks and says, as JSON. What is asked changes nothing; `event` alone does.

Functions that are not `async` run in a thread, so that nobody waits for another's disk.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import orjson
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ....records.reading.problems import InputError
from ..store.events import Event
from .desk import Desk
from .disputed import Docket
from .messages import Wrong, check_same, event_in, id_in, make_check, verdict_in
from .people import Person
from .shown import (
    show_answer,
    show_bank,
    show_item,
    show_recent,
    show_reference_item,
    show_review,
    show_task,
)
from .workplace import Workplace

Answer: TypeAlias = Mapping[str, Any] | list[Any]
_T = TypeVar("_T")
_MOST_DIGITS = 10
NO_ROOM = 507  # insufficient storage: the page keeps the event and sends it again


class Refused(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


def routes(work: Workplace) -> list[Route]:
    """The addresses below /api."""
    api = Api(work)
    handlers = {
        "task": api.task,
        "item": api.of_position(show_item),
        "answer": api.of_position(show_answer),
        "bank": api.of_position(show_bank),
        "verify": api.of_position(show_reference_item),
        "next": api.next,
        "recent": api.recent,
        "review": api.review,
        "dispute": api.dispute,
        "reveal": api.reveal,
        "progress": api.progress,
    }
    addresses = [Route(f"/api/{name}", _answers(function)) for name, function in handlers.items()]
    return [*addresses, Route("/api/event", api.event, methods=["POST"])]


class Api:
    """The answers about one workplace."""

    def __init__(self, work: Workplace) -> None:
        self.work = work

    def task(self, request: Request) -> Answer:
        """What this person is to do."""
        person, work = _person(request), self.work
        docket = work.dockets.get(person.id)
        views = ("progress",) if person.is_coordinator else work.views
        views = ("adjudicate",) if docket is not None else views
        desk = work.desks.get(person.id) or next(iter(work.desks.values()))
        progress = docket.progress if docket is not None else desk.progress
        about = {
            "annotator": person.id,
            "is_coordinator": person.is_coordinator,
            "condition": desk.condition,
            "against_judge": docket is not None and docket.against_judge,
            "n": progress.total,
        }
        own = {} if person.is_coordinator else {"progress": progress._asdict()}
        return {**show_task(work.task, views), **about, **own}

    def of_position(
        self, show: Callable[[Desk, int], dict[str, Any]]
    ) -> Callable[[Request], Answer]:
        """What is shown of the position that a request names."""

        def answer(request: Request) -> Answer:
            desk = self._desk(request)
            content = show(desk, _position(request, desk))
            self.work.is_looked_at.set()
            return content

        return answer

    def next(self, request: Request) -> Answer:
        """The first open position behind `after`, or of all; an adjudicator's first dispute."""
        if (docket := self.work.dockets.get(_person(request).id)) is not None:
            return {"n": docket.first_open()}
        desk = self._desk(request)
        after = _position(request, desk, "after") if "after" in request.query_params else -1
        return {"n": desk.next_open(after)}

    def recent(self, request: Request) -> Answer:
        """The person's last deeds."""
        return show_recent(self._desk(request))

    def review(self, request: Request) -> Answer:
        """What the person flagged, could not tell or left."""
        return show_review(self._desk(request))

    def dispute(self, request: Request) -> Answer:
        """A dispute."""
        docket = self._docket(request)
        return _present(docket.show(_number(request)), "people agree about this by now")

    def reveal(self, request: Request) -> Answer:
        """Who said what, to who has decided."""
        docket = self._docket(request)
        return _present(docket.reveal(_number(request)), "decide first: then it is told")

    def progress(self, request: Request) -> Answer:
        """How far all are and what their labels say: for the coordinator alone."""
        if not _person(request).is_coordinator:
            raise Refused(403, "for the coordinator alone: open the coordinator's link")
        return self.work.progress()

    async def event(self, request: Request) -> Response:
        """Keep an event; when it is answered, it is on the disk."""
        body = await request.body()
        return await run_in_threadpool(_answers(lambda sent: self._keep(sent, body)), request)

    def _keep(self, request: Request, body: bytes) -> Answer:
        docket = self.work.dockets.get(_person(request).id)
        desk = docket.desk if docket is not None else self._desk(request)
        try:
            row = orjson.loads(body)
            stored, position = desk.stored(id_in(row)) or _take_event(row, desk, docket)
            if stored is not None:
                check_same(row, stored, desk)
        except orjson.JSONDecodeError as error:
            raise Refused(400, f"no JSON: {error}") from None
        except Wrong as error:
            raise Refused(error.status, str(error)) from None
        except InputError as error:
            raise Refused(NO_ROOM, str(error)) from None
        progress = desk.progress if docket is None else docket.progress
        if stored is None:
            return {"seq": None, "progress": progress._asdict(), "n": None}
        self.work.changed()
        goes_on = stored.do in ("label", "skip") and position is not None
        n = desk.next_open(position) if goes_on and position is not None else position
        return {"seq": stored.seq, "progress": progress._asdict(), "n": n}

    def _desk(self, request: Request) -> Desk:
        return _present(self.work.desks.get(_person(request).id), "this link labels nothing", 403)

    def _docket(self, request: Request) -> Docket:
        what = "this link decides nothing: --adjudicator gives such links"
        return _present(self.work.dockets.get(_person(request).id), what, 403)


def _take_event(row: Any, desk: Desk, docket: Docket | None) -> tuple[Event | None, int | None]:
    event = event_in(row, desk) if docket is None else verdict_in(row, docket)
    return desk.take(event, make_check(event, desk))


def _present(value: _T | None, what: str, status: int = 404) -> _T:
    if value is None:
        raise Refused(status, what)
    return value


def _person(request: Request) -> Person:
    person = request.scope["state"]["person"]
    if not isinstance(person, Person):
        raise Refused(401, "open the link that `judge annotate` printed")
    return person


def _position(request: Request, desk: Desk, name: str = "n") -> int:
    if (number := _number(request, name)) < len(desk.entries):
        return number
    raise Refused(404, f"{name}={number}: wanted 0 to {len(desk.entries) - 1}")


def _number(request: Request, name: str = "n") -> int:
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdigit() and len(text) < _MOST_DIGITS:
        return int(text)
    raise Refused(404, f"{name}={text[:40]!r}: wanted a number")


def _json(answer: Answer, status: int = 200) -> Response:
    body = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
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
