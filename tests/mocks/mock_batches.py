"""The mock server with a batch API: /v1/files and /v1/batches, as OpenAI's behave and misbehave.

with MockBatches(ends=["expired"]) as server:
    ask(server.base_url)
    assert [batch.status for batch in server.batches.values()] == ["expired", "completed"]
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from mock_api import Denied, error_body
from mock_faults import Fault, Status
from mock_replies import Body
from mock_server import MockServer, Received

MOST_REQUESTS, MOST_BYTES = 50_000, 200 * 10**6
COUNTED = ("total", "completed", "failed")
Call = Literal["upload", "make", "list", "look", "download"]
Moment = Literal["before", "after"]  # of what a call does; its reply comes after both
End = Literal["completed", "expired", "cancelled"] | tuple[str, str]  # or code and message


class Lost(Exception):
    """Raised by a hook: the connection breaks without a reply."""


@dataclass
class StoredFile:
    """An uploaded file, or one of results."""

    id: str
    name: str
    purpose: str
    content: bytes
    created_at: int = field(default_factory=lambda: int(time.time()))

    def shown(self) -> Body:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "filename": self.name,
            "purpose": self.purpose,
            "status": "processed",
        }


@dataclass
class StoredBatch:
    """A batch, in the fields that the API shows."""

    id: str
    input_file_id: str
    metadata: dict[str, str]
    lines: list[Body] = field(default_factory=list)
    status: str = "validating"
    errors: Body | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))
    created_at: int = field(default_factory=lambda: int(time.time()))

    def shown(self) -> Body:
        kept = ("id", "input_file_id", "metadata", "status", "errors", "output_file_id")
        return {
            "object": "batch",
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "created_at": self.created_at,
            "expires_at": self.created_at + 24 * 3600,
            "error_file_id": self.error_file_id,
            "request_counts": self.counts,
            **{name: getattr(self, name) for name in kept},
        }


class MockBatches(MockServer):
    """The mock server with a batch API; what runs in a batch is in `requests`, too.

    Args:
        ends: how batches end, in the order in which they are made; past the end: completed. A
            pair of code and message: the file is not taken, the status is failed.
        step_s: seconds in each of validating, in_progress and finalizing.
        share_done: of the requests of a batch that expires or is cancelled.
        hook: called with each call of the API, before and after what it does; may raise Lost, or
            Denied for an error reply.

    `faults` are for the requests in batches: a Status is that of its line. Batches stay in
    progress while `held` is set.
    """

    def __init__(
        self,
        *arguments: Any,
        ends: Iterable[End] = (),
        step_s: float = 0.02,
        share_done: float = 0.5,
        hook: Callable[[Call, Moment], None] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*arguments, **options)
        self.ends = deque(ends)
        self.step_s = step_s
        self.share_done = share_done
        self.hook = hook or (lambda call, moment: None)
        self.held = threading.Event()
        self.files: dict[str, StoredFile] = {}
        self.batches: dict[str, StoredBatch] = {}
        self.calls: list[Call] = []
        self._jobs: set[asyncio.Task[None]] = set()

    def add_routes(self, app: web.Application) -> None:
        super().add_routes(app)
        app.router.add_post("/v1/files", self._served("upload", self._upload))
        app.router.add_get("/v1/files/{id}/content", self._served("download", self._download))
        app.router.add_post("/v1/batches", self._served("make", self._make))
        app.router.add_get("/v1/batches", self._served("list", self._list))
        app.router.add_get("/v1/batches/{id}", self._served("look", self._look))

    def _served(self, call: Call, do: Callable[[web.Request], Any]) -> Any:
        async def handle(request: web.Request) -> web.StreamResponse:
            self.calls.append(call)
            try:
                self.hook(call, "before")
                self._check_key(request)
                found: web.StreamResponse = await do(request)
                self.hook(call, "after")
            except Lost:
                assert request.transport is not None
                request.transport.close()
                return web.Response()
            except Denied as denied:
                shape = error_body(denied.status, str(denied), denied.param, denied.code)
                return web.json_response(shape, status=denied.status)
            return found

        return handle

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        sent = form.get("file")
        if not isinstance(sent, web.FileField) or form.get("purpose") != "batch":
            raise Denied(400, "A file and its purpose are needed.", "file")
        content = sent.file.read()
        if len(content) > MOST_BYTES:
            raise Denied(413, "The file is larger than 200 MB.", "file")
        stored = self._store("file", sent.filename, "batch", content)
        return web.json_response(stored.shown())

    async def _download(self, request: web.Request) -> web.Response:
        return web.Response(body=self._found(self.files, request).content)

    async def _make(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body.get("endpoint") != "/v1/chat/completions" or body.get("completion_window") != "24h":
            raise Denied(400, "Invalid endpoint or completion_window.", "endpoint")
        if body.get("input_file_id") not in self.files:
            raise Denied(400, "No such input file.", "input_file_id")
        for name, value in (body.get("metadata") or {}).items():
            if not (isinstance(value, str) and len(name) <= 64 and len(value) <= 512):
                raise Denied(400, f"Invalid metadata {name!r}.", "metadata")
        number = len(self.batches)
        made = StoredBatch(f"batch_{number}", body["input_file_id"], body.get("metadata") or {})
        self.batches[made.id] = made
        end = self.ends.popleft() if self.ends else "completed"
        job = asyncio.create_task(self._work(made, end))
        self._jobs.add(job)
        job.add_done_callback(self._jobs.discard)
        return web.json_response(made.shown())

    async def _list(self, request: web.Request) -> web.Response:
        newest = list(reversed(self.batches.values()))
        after, limit = request.query.get("after"), int(request.query.get("limit", 20))
        if after is not None:
            newest = newest[[batch.id for batch in newest].index(after) + 1 :]
        page = [batch.shown() for batch in newest[:limit]]
        ends = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        shown = {"object": "list", "data": page, "has_more": len(newest) > limit, **ends}
        return web.json_response(shown)

    async def _look(self, request: web.Request) -> web.Response:
        return web.json_response(self._found(self.batches, request).shown())

    def _found(self, stored: dict[str, Any], request: web.Request) -> Any:
        name = request.match_info["id"]
        if name not in stored:
            raise Denied(404, f"No such object: {name}", "id")
        return stored[name]

    def _store(self, prefix: str, name: str, purpose: str, content: bytes) -> StoredFile:
        made = StoredFile(f"{prefix}-{len(self.files)}", name, purpose, content)
        self.files[made.id] = made
        return made

    async def _work(self, batch: StoredBatch, end: End) -> None:
        await asyncio.sleep(self.step_s)
        batch.lines, errors = _checked(self.files[batch.input_file_id].content)
        if isinstance(end, tuple):
            errors = [_error(*end)] if end[0] else []
        if errors or isinstance(end, tuple):
            batch.status = "failed"
            batch.errors = {"object": "list", "data": errors} if errors else None
            return
        batch.counts["total"] = len(batch.lines)
        batch.status = "in_progress"
        await asyncio.sleep(self.step_s)
        while self.held.is_set():
            await asyncio.sleep(0.01)
        n_done = len(batch.lines)
        if end != "completed":
            n_done = int(n_done * self.share_done)
        results: tuple[list[Body], list[Body]] = ([], [])
        for line in batch.lines[:n_done]:
            row = self._answer(line)
            is_error = row["response"]["status_code"] != 200
            results[is_error].append(row)
            batch.counts["failed" if is_error else "completed"] += 1
        for line in batch.lines[n_done:]:
            told = {"code": f"batch_{end}", "message": "This request could not be executed."}
            row = {"id": "batch_req", "custom_id": line["custom_id"], "response": None}
            results[1].append({**row, "error": told})
        batch.status = "finalizing"
        await asyncio.sleep(self.step_s)
        for kind, rows in zip(("output", "error"), results, strict=True):
            if rows:
                random.Random(batch.id).shuffle(rows)
                text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
                stored = self._store(
                    kind, f"{batch.id}_{kind}.jsonl", "batch_output", text.encode()
                )
                setattr(batch, f"{kind}_file_id", stored.id)
        batch.status = end

    def _answer(self, line: Body) -> Body:
        received = Received(len(self.requests), line["body"], {}, time.monotonic())
        self.requests.append(received)
        fault = self._next_fault(received)
        try:
            if isinstance(fault, Status):
                raise Denied(fault.code, f"The request failed with {fault.code}.")
            self._check_body(line["body"])
            body = self._completion(line["body"], fault or Fault())
            received.status = 200
        except Denied as denied:
            received.status = denied.status
            body = error_body(denied.status, str(denied), denied.param, denied.code)
        received.finished = True
        told = {"status_code": received.status, "request_id": f"req_{received.index}", "body": body}
        row = {"id": f"batch_req_{received.index}", "custom_id": line["custom_id"]}
        return {**row, "response": told, "error": None}


def _checked(content: bytes) -> tuple[list[Body], list[Body]]:
    """The lines of an input file, and what is wrong with it."""
    rows: list[Body] = []
    errors: list[Body] = []
    for number, text in enumerate(content.decode().split("\n"), 1):
        if not text:
            continue
        try:
            row = json.loads(text)
        except ValueError:
            errors.append(_error("invalid_json_line", "This line is not JSON.", number))
            continue
        is_id = re.fullmatch(r"[\w-]{1,64}", str(row.get("custom_id", "")))
        if not is_id or row.get("method") != "POST" or row.get("url") != "/v1/chat/completions":
            errors.append(_error("invalid_request", "An id, method or url is wrong.", number))
        rows.append(row)
    if len({row.get("custom_id") for row in rows}) < len(rows):
        errors.append(_error("duplicate_custom_id", "A custom_id stands twice."))
    if len({row.get("body", {}).get("model") for row in rows}) > 1:
        errors.append(_error("mismatched_model", "A file holds requests to one model."))
    if not rows:
        errors.append(_error("empty_file", "The input file is empty."))
    if len(rows) > MOST_REQUESTS:
        errors.append(_error("too_many_tasks", "A batch holds 50,000 requests at most."))
    return rows, errors


def _error(code: str, message: str, line: int | None = None) -> Body:
    return {"code": code, "message": message, "param": None, "line": line}
