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
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal

from aiohttp import web
from mock_api import Denied
from mock_replies import Body
from mock_server import MockServer, Received

MAX_REQUESTS, MAX_BYTES = 50_000, 200 * 10**6
LINE = {"method": "POST", "url": "/v1/chat/completions"}
BATCH = {"endpoint": "/v1/chat/completions", "completion_window": "24h"}
Call = Literal["upload", "make", "list", "look", "download"]
Moment = Literal["before", "after"]  # of what a call does; its reply comes after both
End = Literal["completed", "expired", "cancelled"] | tuple[str, str]  # or code and message


class Lost(Exception):
    """Raised by a hook: the connection breaks without a reply."""


@dataclass
class StoredBatch:
    """A batch, in the fields that the API shows, and its requests."""

    id: str
    input_file_id: str
    metadata: dict[str, str]
    status: str = "validating"
    errors: Body | None = None
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("total", "completed", "failed"), 0)
    )
    created_at: int = field(default_factory=lambda: int(time.time()))
    lines: list[Body] = field(default_factory=list)

    def shown(self) -> Body:
        fields = {name: value for name, value in vars(self).items() if name != "lines"}
        return {"object": "batch", **BATCH, **fields}


class MockBatches(MockServer):
    """The mock server with a batch API; what runs in a batch is in `requests`, too.

    Args:
        ends: how batches end, in the order in which they are made; past the end: completed. A
            pair of code and message: the file is not taken, the status is failed.
        step_s: seconds in each of validating, in_progress and finalizing.

    Of the requests of a batch that expires or is cancelled, `share_done` are done. `hook` is called
    with each call of the API, before and after what it does; it may raise Lost, or Denied for an
    error reply. `faults` are for the requests in batches: a Status is that of its line. Batches
    stay in progress while `held` is set.
    """

    def __init__(
        self, *arguments: Any, ends: Iterable[End] = (), step_s: float = 0.02, **options: Any
    ) -> None:
        super().__init__(*arguments, **options)
        self.ends = deque(ends)
        self.step_s = step_s
        self.share_done = 0.5
        self.hook: Callable[[Call, Moment], None] = lambda call, moment: None
        self.held = threading.Event()
        self.files: dict[str, SimpleNamespace] = {}  # of id, purpose, content
        self.batches: dict[str, StoredBatch] = {}
        self.calls: list[Call] = []
        self._jobs: set[asyncio.Task[None]] = set()

    def _routes(self) -> list[web.RouteDef]:
        return [
            *super()._routes(),
            web.post("/v1/files", self._served("upload", self._upload)),
            web.get("/v1/files/{id}/content", self._served("download", self._download)),
            web.post("/v1/batches", self._served("make", self._make)),
            web.get("/v1/batches", self._served("list", self._list)),
            web.get("/v1/batches/{id}", self._served("look", self._look)),
        ]

    def _served(self, call: Call, do: Callable[[web.Request], Awaitable[Any]]) -> Any:
        async def handle(request: web.Request) -> web.Response:
            self.calls.append(call)
            try:
                self.hook(call, "before")
                self._check_key(request.headers)
                answer = await do(request)
                self.hook(call, "after")
            except Lost:
                assert request.transport is not None
                request.transport.close()
                return web.Response()
            except Denied as denied:
                return web.json_response(denied.body, status=denied.status)
            return web.Response(body=answer) if call == "download" else web.json_response(answer)

        return handle

    async def _upload(self, request: web.Request) -> Body:
        form = await request.post()
        sent = form.get("file")
        if not isinstance(sent, web.FileField) or form.get("purpose") != "batch":
            raise Denied(400, "A file and its purpose are needed.", "file")
        content = sent.file.read()
        if len(content) > MAX_BYTES:
            raise Denied(413, "The file is larger than 200 MB.", "file")
        return {"id": self._store("file", "batch", content), "object": "file"}

    async def _download(self, request: web.Request) -> Any:
        return self._by_id(self.files, request).content

    async def _make(self, request: web.Request) -> Body:
        body = await request.json()
        if body["input_file_id"] not in self.files or not BATCH.items() <= body.items():
            raise Denied(400, "Invalid endpoint, completion_window or input file.")
        for name, value in body["metadata"].items():
            if not (len(name) <= 64 and len(value) <= 512):
                raise Denied(400, f"Invalid metadata {name!r}.", "metadata")
        name = f"batch_{len(self.batches)}"
        made = self.batches[name] = StoredBatch(name, body["input_file_id"], body["metadata"])
        job = asyncio.create_task(
            self._work(made, self.ends.popleft() if self.ends else "completed")
        )
        self._jobs.add(job)
        job.add_done_callback(self._ended)
        return made.shown()

    def _ended(self, job: asyncio.Task[None]) -> None:
        self._jobs.discard(job)
        if not job.cancelled() and isinstance(error := job.exception(), Exception):
            self._errors.append(error)

    async def _list(self, request: web.Request) -> Body:
        newest = list(reversed(self.batches.values()))
        after, limit = request.query.get("after"), int(request.query.get("limit", 20))
        if after is not None:
            newest = newest[[batch.id for batch in newest].index(after) + 1 :]
        page = [batch.shown() for batch in newest[:limit]]
        return {"object": "list", "data": page, "has_more": len(newest) > limit}

    async def _look(self, request: web.Request) -> Any:
        return self._by_id(self.batches, request).shown()

    def _by_id(self, stored: dict[str, Any], request: web.Request) -> Any:
        name = request.match_info["id"]
        if name not in stored:
            raise Denied(404, f"No such object: {name}", "id")
        return stored[name]

    def _store(self, prefix: str, purpose: str, content: bytes) -> str:
        name = f"{prefix}-{len(self.files)}"
        self.files[name] = SimpleNamespace(id=name, purpose=purpose, content=content)
        return name

    async def _work(self, batch: StoredBatch, end: End) -> None:
        await asyncio.sleep(self.step_s)
        content = self.files[batch.input_file_id].content.decode()
        batch.lines = [json.loads(text) for text in content.split("\n") if text]
        errors = [*_errors(batch.lines)]
        if isinstance(end, tuple):
            errors = [{"code": end[0], "message": end[1]}] if end[0] else []
        if errors or isinstance(end, tuple):
            batch.status, batch.errors = "failed", {"data": errors} if errors else None
            return
        counts, n_done = batch.request_counts, len(batch.lines)
        counts["total"] = n_done
        batch.status = "in_progress"
        await asyncio.sleep(self.step_s)
        while self.held.is_set():
            await asyncio.sleep(0.01)
        if end != "completed":
            n_done = int(n_done * self.share_done)
        results: dict[str, list[Body]] = {"output": [], "error": []}
        for line in batch.lines[:n_done]:
            row = self._answer(line)
            is_done = row["response"]["status_code"] == 200
            results["output" if is_done else "error"].append(row)
            counts["completed" if is_done else "failed"] += 1
        error = {"code": f"batch_{end}", "message": "This request could not be executed."}
        for line in batch.lines[n_done:]:
            row = {"id": "batch_req", "custom_id": line["custom_id"], "response": None}
            results["error"].append({**row, "error": error})
        batch.status = "finalizing"
        await asyncio.sleep(self.step_s)
        for kind, rows in results.items():
            if rows:
                random.Random(batch.id).shuffle(rows)
                text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
                setattr(batch, f"{kind}_file_id", self._store(kind, "batch_output", text.encode()))
        batch.status = end

    def _answer(self, line: Body) -> Body:
        received = Received(len(self.requests), line["body"], {}, time.monotonic())
        self.requests.append(received)
        fault = self._next_fault(received)
        try:
            if fault.status != 200:
                raise Denied(fault.status, f"The request failed with {fault.status}.")
            received.status, body = 200, self._completion(line["body"], fault)
        except Denied as denied:
            received.status, body = denied.status, denied.body
        received.finished = True
        name = f"batch_req_{received.index}"
        response = {"status_code": received.status, "request_id": name, "body": body}
        return {"id": name, "custom_id": line["custom_id"], "response": response, "error": None}


def _errors(rows: list[Body]) -> Iterable[Body]:
    """What is wrong with the lines of an input file."""
    names = [row["custom_id"] for row in rows]
    is_wrong = {
        "invalid_request": any(not LINE.items() <= row.items() for row in rows),
        "invalid_custom_id": not all(re.fullmatch(r"[\w-]{1,64}", name) for name in names),
        "duplicate_custom_id": len(set(names)) < len(rows),
        "mismatched_model": len({row["body"]["model"] for row in rows}) > 1,
        "empty_file": not rows,
        "too_many_tasks": len(rows) > MAX_REQUESTS,
    }
    return ({"code": code, "message": "It is."} for code, is_so in is_wrong.items() if is_so)
