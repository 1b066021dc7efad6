"""What drives the screens of decisions: the real page with its policy, and invented items.

Events are checked, folded and undone by the real store, and nuggets by the real bank; only where
items come from is invented, so that every text can be hostile.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from nuggetjudge.plugins.annotate.server.guards import HEADERS
from nuggetjudge.plugins.annotate.server.static import files
from nuggetjudge.plugins.annotate.store.events import BankEdit, Label, Verdict, read_event
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.plugins.annotate.work.bank import EditedBank
from nuggetjudge.records.rows import Nugget, NuggetBank

SUPPORT = [
    {"label": "none", "word": "none of it", "key": "1", "mark": "✗"},
    {"label": "partial", "word": "part of it", "key": "2", "mark": "◐"},
    {"label": "full", "word": "all of it", "key": "3", "mark": "✓"},
]
YES_NO = [
    {"label": "no", "word": "no", "key": "1", "mark": "✗"},
    {"label": "yes", "word": "yes", "key": "2", "mark": "✓"},
]
TASKS = ("grounded", "key_point")
NAMES = ("ada", "@judge", "<b>bob</b>")


@dataclass
class Session:
    """One person's work. Topics are (question, facts, passages); points and disputes are rows."""

    view: str = "bank"
    topics: list[tuple[str, list[str], list[dict[str, str]]]] = field(default_factory=list)
    points: list[dict[str, Any]] = field(default_factory=list)
    disputes: list[dict[str, Any]] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    state: State = field(default_factory=State)
    events: list[dict[str, Any]] = field(default_factory=list)  # events as the page sent them
    is_against_judge: bool = False
    refuse: str = ""  # why the next event is refused
    scale: list[dict[str, str]] = field(default_factory=lambda: SUPPORT)

    def task(self, _: dict[str, str]) -> Any:
        n = {"bank": len(self.topics), "verify": 2 * len(self.points)}.get(self.view, 0)
        return {
            "kind": self.view if self.view in ("bank", "verify") else "support",
            "condition": "from_scratch", "against_judge": self.is_against_judge,
            "annotator": "(coordinator)" if self.view == "progress" else "eve",
            "is_coordinator": self.view == "progress",
            "scale": YES_NO if self.view == "verify" else self.scale, "cannot_tell": "0",
            "question": "How far does the passage support the sentence?", "inputs": [],
            "guidelines": "", "practice": [], "fingerprint": "f", "views": [self.view], "n": n,
            "progress": {"done": 0, "total": n, "active_ms": 0},
        }  # fmt: skip

    def next(self, _: dict[str, str]) -> Any:
        return {"n": self._open()}

    def _open(self, after: int = -1) -> int | None:
        if self.view == "adjudicate":
            done = {verdict.cell[0] for verdict in self.state.verdicts()}
            return next((n for n in range(len(self.disputes)) if f"c{n}" not in done), None)
        if self.view != "verify":
            return 0
        done = {label.cell for label in self.state.labels()}
        positions = range(2 * len(self.points))
        return next((n for n in positions if n > after and self._cell(n) not in done), None)

    def _cell(self, n: int) -> tuple[str, ...]:
        return (f"t{n // 2}", f"p{n // 2}", TASKS[n % 2])

    def bank(self, query: dict[str, str]) -> Any:
        n = int(query["n"])
        edited = self.edited(n)
        question, facts, passages = self.topics[n]
        start = {f"n{i}": fact for i, fact in enumerate(facts)}
        rows = [
            {
                "id": one.nugget.id, "text": one.nugget.text, "importance": one.nugget.importance,
                "from": [{"id": root, "text": start[root]} for root in one.roots],
            }
            for one in edited.nuggets.values()
        ]  # fmt: skip
        row = {"n": n, "item": f"bank {n}", "topic_id": f"t{n}"}
        return {**row, "question": question, "nuggets": rows, "passages": passages}

    def edited(self, n: int) -> EditedBank:
        """The nuggets of a topic as they are now."""
        question, facts, _ = self.topics[n]
        nuggets = tuple(
            Nugget(id=f"n{i}", text=fact, importance="vital") for i, fact in enumerate(facts)
        )
        bank = NuggetBank(topic_id=f"t{n}", query=question, nuggets=nuggets)
        return EditedBank.of(bank, self.state.edits(f"t{n}"))

    def texts(self, n: int = 0) -> list[str]:
        """The texts of a topic's nuggets as they are now."""
        return [one.nugget.text for one in self.edited(n).nuggets.values()]

    def verify(self, query: dict[str, str]) -> Any:
        point = int(query["n"]) // 2
        labels = {}
        for at, name in enumerate(TASKS):
            label = self.state.last(("label", "verify", *self._cell(2 * point + at), "0"))
            if isinstance(label, Label):
                labels[name] = label.model_dump(include={"label", "rationale", "active_ms"})
        flag = self.state.last(("flag", "verify", *self._cell(2 * point)))
        return {
            **self.points[point],
            "n": int(query["n"]),
            "places": {
                name: {"n": 2 * point + at, "item": f"verify {2 * point + at}"}
                for at, name in enumerate(TASKS)
            },
            "labels": labels,
            "flagged": bool(flag and flag.on),
        }

    def dispute(self, query: dict[str, str]) -> Any:
        done = {verdict.cell[0]: verdict for verdict in self.state.verdicts()}
        total = len(self.disputes)
        n = int(query["n"])
        verdict = done.get(f"c{n}")
        return {
            **self.disputes[n], "n": n, "item": f"dispute {n}", "at": n, "total": total,
            "next": n + 1 if n + 1 < total else None, "previous": n - 1 if n else None,
            "verdict": verdict and {"label": verdict.label, "rationale": verdict.rationale},
        }  # fmt: skip

    def reveal(self, query: dict[str, str]) -> Any:
        n = int(query["n"])
        if not any(verdict.cell == (f"c{n}",) for verdict in self.state.verdicts()):
            return None
        letters = [one["letter"] for one in self.disputes[n]["sources"]]
        return {
            "sources": [
                {"letter": letter, "name": name, "is_judge": name == "@judge"}
                for letter, name in zip(letters, cycle(NAMES), strict=False)
            ]
        }

    def progress(self, _: dict[str, str]) -> Any:
        return self.figures

    def take(self, row: dict[str, Any]) -> Any:
        """Keep an event, as the server does."""
        self.events.append(row)
        if self.refuse:
            why, self.refuse = self.refuse, ""
            return why
        known = {key: value for key, value in row.items() if key not in ("n", "item")}
        n = row.get("n")
        if row["do"] not in ("undo", "redo"):
            assert row["item"] == f"{'dispute' if row['do'] == 'adjudicate' else self.view} {n}"
        if row["do"] == "bank":
            known["topic_id"] = f"t{n}"
        elif row["do"] == "adjudicate":
            order = NAMES[: len(self.disputes[n]["sources"])]
            known |= {"kind": "support", "cell": [f"c{n}"], "order": order}
        elif n is not None:
            known |= {"kind": "verify", "cell": self._cell(n)}
        event = read_event(known)
        resolved = self.state.resolve(event)
        progress = {"done": 0, "total": 1, "active_ms": 0}
        if resolved is None:
            return {"seq": None, "progress": progress, "n": None}
        if isinstance(resolved, BankEdit):
            self.edited(n).check(resolved)
        kept = resolved.model_copy(update={"seq": self.state.n + 1})
        before = self.state.recent(1)
        self.state.add(kept)
        action = kept if hasattr(kept, "key") else (before if kept.do == "undo" else None)
        if isinstance(action, list):
            action = action[0]
        position = n if n is not None else self._position(action or self.state.recent(1)[0])
        if kept.do == "label":
            position = self._open(n)
        return {"seq": kept.seq, "progress": progress, "n": position}

    def _position(self, action: Any) -> int:
        if isinstance(action, BankEdit):
            return int(action.topic_id[1:])
        if isinstance(action, Verdict):
            return int(action.cell[0][1:])
        return 2 * int(action.cell[0][1:]) + TASKS.index(action.cell[2])


class Page:
    """The app; `session` is whose page it is, and can be changed between tests."""

    def __init__(self) -> None:
        self.session = Session()
        self.files = files()
        names = ("task", "next", "bank", "verify", "dispute", "reveal", "progress")
        asked = [Route(f"/api/{name}", self._answer(name)) for name in names]
        events = Route("/api/event", self._event, methods=["POST"])
        self.app = Starlette(routes=[*asked, events, Route("/{path:path}", self._file)])

    def _answer(self, name: str) -> Any:
        async def answer(request: Request) -> Response:
            answered = getattr(self.session, name)(dict(request.query_params))
            return _json(
                {"error": "not yet"} if answered is None else answered,
                404 if answered is None else 200,
            )

        return answer

    async def _event(self, request: Request) -> Response:
        row = json.loads(await request.body())
        try:
            reply = self.session.take(row)
        except ValueError as error:
            reply = str(error)
        return _json({"error": reply}, 400) if isinstance(reply, str) else _json(reply)

    async def _file(self, request: Request) -> Response:
        file = self.files.get(request.url.path)
        if file is None:
            return Response("", 404, headers=HEADERS)
        return Response(file.body, headers={**HEADERS, "content-type": file.media_type})


def _json(reply: Any, status: int = 200) -> Response:
    body = json.dumps(reply)  # with escapes of lone surrogates, as the server's
    return (
        JSONResponse(None, status, headers=HEADERS)
        if body is None
        else Response(body, status, headers={**HEADERS, "content-type": "application/json"})
    )
