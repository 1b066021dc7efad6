"""The requests of the page, as JSON. Only `event` changes anything.

Functions that are not `async` run in a thread, so that nobody waits for somebody else's disk.
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
from .dispute_queue import DisputeQueue
from .labelling import Labelling
from .messages import Wrong, check_same, event_in, id_in, make_check, verdict_in
from .people import Person
from .session import Session
from .shown import (
    show_answer,
    show_bank,
    show_item,
    show_recent,
    show_reference_item,
    show_review,
    show_task,
)

Answer: TypeAlias = Mapping[str, Any] | list[Any]
_T = TypeVar("_T")
_MAX_DIGITS = 10
NO_ROOM = 507  # insufficient storage: the page keeps the event and sends it again


class Refused(Exception):
    """An error answer."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(what)
        self.status = status


def routes(work: Labelling) -> list[Route]:
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
    """The answers about one labelling."""

    def __init__(self, work: Labelling) -> None:
        self.work = work

    def task(self, request: Request) -> Answer:
        """The task of this person."""
        person, work = _person(request), self.work
        dispute_queue = work.dispute_queues.get(person.id)
        views = ("progress",) if person.is_coordinator else work.views
        views = ("adjudicate",) if dispute_queue is not None else views
        session = work.sessions.get(person.id) or next(iter(work.sessions.values()))
        progress = dispute_queue.progress if dispute_queue is not None else session.progress
        about = {
            "annotator": person.id,
            "is_coordinator": person.is_coordinator,
            "condition": session.condition,
            "against_judge": dispute_queue is not None and dispute_queue.against_judge,
            "n": progress.total,
        }
        own = {} if person.is_coordinator else {"progress": progress._asdict()}
        return {**show_task(work.task, views), **about, **own}

    def of_position(
        self, show: Callable[[Session, int], dict[str, Any]]
    ) -> Callable[[Request], Answer]:
        """The data of the requested position."""

        def answer(request: Request) -> Answer:
            session = self._session(request)
            content = show(session, _position(request, session))
            self.work.is_looked_at.set()
            return content

        return answer

    def next(self, request: Request) -> Answer:
        """The first open position after `after`, or of all; an adjudicator's first dispute."""
        if (dispute_queue := self.work.dispute_queues.get(_person(request).id)) is not None:
            return {"n": dispute_queue.first_open()}
        session = self._session(request)
        after = _position(request, session, "after") if "after" in request.query_params else -1
        return {"n": session.next_open(after)}

    def recent(self, request: Request) -> Answer:
        """The person's last actions."""
        return show_recent(self._session(request))

    def review(self, request: Request) -> Answer:
        """The items that the person flagged, left, or could not decide."""
        return show_review(self._session(request))

    def dispute(self, request: Request) -> Answer:
        """A dispute."""
        dispute_queue = self._dispute_queue(request)
        return _present(dispute_queue.show(_number(request)), "people now agree on this item")

    def reveal(self, request: Request) -> Answer:
        """The names behind the labels, for an adjudicator who has decided."""
        dispute_queue = self._dispute_queue(request)
        sources = dispute_queue.reveal(_number(request))
        return _present(sources, "give your verdict first; then you see the names")

    def progress(self, request: Request) -> Answer:
        """Progress and figures, for the coordinator only."""
        if not _person(request).is_coordinator:
            raise Refused(403, "only the coordinator may see this: open the coordinator's link")
        return self.work.progress()

    async def event(self, request: Request) -> Response:
        """Store an event; the answer comes after it is on the disk."""
        body = await request.body()
        return await run_in_threadpool(_answers(lambda sent: self._keep(sent, body)), request)

    def _keep(self, request: Request, body: bytes) -> Answer:
        dispute_queue = self.work.dispute_queues.get(_person(request).id)
        session = dispute_queue.session if dispute_queue is not None else self._session(request)
        try:
            row = orjson.loads(body)
            stored, position = session.find_event(id_in(row)) or _take_event(
                row, session, dispute_queue
            )
            if stored is not None:
                check_same(row, stored, session)
        except orjson.JSONDecodeError as error:
            raise Refused(400, f"not JSON: {error}") from None
        except Wrong as error:
            raise Refused(error.status, str(error)) from None
        except InputError as error:
            raise Refused(NO_ROOM, str(error)) from None
        progress = session.progress if dispute_queue is None else dispute_queue.progress
        if stored is None:
            return {"seq": None, "progress": progress._asdict(), "n": None}
        self.work.changed()
        goes_on = stored.do in ("label", "skip") and position is not None
        n = session.next_open(position) if goes_on and position is not None else position
        return {"seq": stored.seq, "progress": progress._asdict(), "n": n}

    def _session(self, request: Request) -> Session:
        return _present(
            self.work.sessions.get(_person(request).id), "this link is not for labelling", 403
        )

    def _dispute_queue(self, request: Request) -> DisputeQueue:
        what = "this link is not for verdicts: --adjudicator gives such links"
        return _present(self.work.dispute_queues.get(_person(request).id), what, 403)


def _take_event(
    row: Any, session: Session, dispute_queue: DisputeQueue | None
) -> tuple[Event | None, int | None]:
    event = event_in(row, session) if dispute_queue is None else verdict_in(row, dispute_queue)
    return session.take(event, make_check(event, session))


def _present(value: _T | None, what: str, status: int = 404) -> _T:
    if value is None:
        raise Refused(status, what)
    return value


def _person(request: Request) -> Person:
    person = request.scope["state"]["person"]
    if not isinstance(person, Person):
        raise Refused(401, "open the link that `judge annotate` printed")
    return person


def _position(request: Request, session: Session, name: str = "n") -> int:
    if (number := _number(request, name)) < len(session.entries):
        return number
    raise Refused(404, f"{name}={number}: wanted 0 to {len(session.entries) - 1}")


def _number(request: Request, name: str = "n") -> int:
    text = request.query_params.get(name, "")
    if text.isascii() and text.isdigit() and len(text) < _MAX_DIGITS:
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
