"""Calls of an OpenAI-style batch API: upload and download files; create, find and read batches."""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Any

import aiohttp
import orjson

from ...records.writing import temporary
from .. import http
from ..config import ModelConfig
from ..errors import EndpointError, EndpointUnusable
from ..gateway import Completion
from ..http import (
    CONNECT_S,
    FAULTS,
    Session,
    make_connection_error,
    make_headers,
    parse_reply,
    read_completion,
    read_failure,
    read_start,
    report_cut,
)
from ..secrecy import Secrets, find_secrets
from .ledger import Sent

ENDPOINT = "/v1/chat/completions"  # the target of each request of a batch, whatever the base URL
WINDOW = "24h"  # the only window offered
NAME = "nuggetjudge"  # key of the metadata that holds a batch's name
OVER = ("completed", "failed", "expired", "cancelled")
UNDER_WAY = ("validating", "in_progress", "finalizing", "cancelling")
_PAGE = 100  # batches in one answer
_MAX_BYTES = 2**24  # of one reply that is not a file


class BatchCalls:
    """Talks to `{api_base}/files` and `{api_base}/batches`.

    Every call raises EndpointError, or EndpointUnusable if no call can succeed.

    Args:
        ledger: its path, for errors about a file or batch that the endpoint does not know.
    """

    def __init__(self, config: ModelConfig, ledger: Path) -> None:
        self._config = config
        self._ledger = ledger
        self._secrets = find_secrets(config)
        timeout_s = config.timeout_s  # without any data: a large file may take longer
        timeout = aiohttp.ClientTimeout(connect=min(CONNECT_S, timeout_s), sock_read=timeout_s)
        self._session = Session(str(config.base_url), make_headers(config), timeout)

    async def upload(self, sent: Sent, lines: IO[bytes]) -> str:
        """Upload a file of requests; returns its id."""
        lines.seek(0)
        form = aiohttp.FormData({"purpose": "batch"})
        name, kind = f"{NAME}-{sent.name}.jsonl", "application/jsonl"
        with os.fdopen(os.dup(lines.fileno()), "rb") as copy:  # aiohttp closes what it has sent
            form.add_field("file", copy, filename=name, content_type=kind)
            return _id(await self._ask("POST", "/files", data=form))

    async def make(self, sent: Sent) -> str:
        """Create a batch from its uploaded file; returns its id."""
        body = {
            "input_file_id": sent.file_id,
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "metadata": {NAME: sent.name},
        }
        return _id(await self._ask("POST", "/batches", json=body))

    async def find(self, sent: Sent) -> str | None:
        """Find the batch by its name, or by its file; returns its id, or None."""
        where: dict[str, Any] = {"limit": _PAGE}
        seen: set[str] = set()
        while True:
            page = await self._ask("GET", "/batches", params=where)
            rows = page.get("data") or []
            for row in rows:
                if _is_of(row, sent):
                    return _id(row)
            if not (page.get("has_more") and rows) or (last := _id(rows[-1])) in seen:
                return None
            seen.add(last)
            where["after"] = last

    async def look(self, sent: Sent) -> dict[str, Any]:
        """Read the current state of the batch; its status is one of OVER or UNDER_WAY."""
        batch = await self._ask("GET", f"/batches/{sent.batch_id}")
        if not _is_of(batch, sent):
            what = f"batch {sent.batch_id} at {self._config.endpoint_id} belongs to another file"
            raise EndpointUnusable(f"{what}; delete {self._ledger} to send its requests anew")
        if batch.get("status") not in (*OVER, *UNDER_WAY):
            what = f"batch {sent.batch_id} at {self._config.endpoint_id} has an unknown status"
            raise EndpointUnusable(f"{what}: {batch.get('status')!r}")
        return batch

    async def download(self, file_id: str, into: IO[bytes]) -> None:
        """Append a file's bytes, with a line end after the last line."""
        last = b"\n"
        async with self._open("GET", f"/files/{file_id}/content") as response:
            async for part in response.content.iter_any():
                with temporary():
                    into.write(part)
                last = part[-1:] or last
        if last != b"\n":
            with temporary():
                into.write(b"\n")

    async def aclose(self) -> None:
        """Close connections."""
        await self._session.aclose()

    async def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        async with self._open(method, path, **options) as response:
            raw, _ = await read_start(response, _MAX_BYTES)
        try:
            row = orjson.loads(raw)
        except ValueError:
            row = None
        if not isinstance(row, dict):
            start = self._secrets.blank(raw.decode("utf-8", "replace"))[:80]
            raise EndpointError(f"{method} {path}: not JSON: {start!r}", retryable=True)
        return row

    @asynccontextmanager
    async def _open(
        self, method: str, path: str, **options: Any
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        try:
            async with self._session.request(method, path, **options) as response:
                if response.status >= 300:
                    raw, _ = await read_start(response, _MAX_BYTES)
                    raise self._failure(response, raw)
                yield response
        except FAULTS as error:
            fault = make_connection_error(error, self._secrets)
            message = f"{method} {path}: {fault}"
            raise EndpointError(message, retryable=fault.retryable, status=fault.status) from None

    def _failure(
        self, response: aiohttp.ClientResponse, raw: bytes
    ) -> EndpointError | EndpointUnusable:
        status, retry_after = response.status, response.headers.get("Retry-After")
        error = read_failure(self._config, self._secrets, status, raw, retry_after)
        if status not in (404, 405, 501):
            is_final = isinstance(error, EndpointError) and not error.retryable
            return EndpointUnusable(str(error)) if is_final else error
        what = str(error).split("\n")[0]
        hint = (
            "Either the endpoint has no batch API (then use run.executor: local), or it does not"
            f" show this key earlier batches (then delete {self._ledger} to send them again)"
        )
        return EndpointUnusable(f"{what}\n{hint}")


def _is_of(row: dict[str, Any], sent: Sent) -> bool:
    """Whether a batch has this name or, if it shows no name, this file."""
    metadata = row.get("metadata")
    name = metadata.get(NAME) if isinstance(metadata, dict) else None
    return bool(row.get("input_file_id") == sent.file_id if name is None else name == sent.name)


def _id(row: dict[str, Any]) -> str:
    batch_id = row.get("id")
    if not isinstance(batch_id, str):
        raise EndpointError(f"not a file or batch: {str(row)[:80]}", retryable=True)
    return batch_id


YIELD_EVERY = 64  # replies between two checks for Ctrl-C
_ID = re.compile(rb'"custom_id"\s*:\s*"(\d+-[0-9a-f]+)"')  # quotes in a text are escaped


class Results:
    """The downloaded lines, kept in a file; at most MAX_REPLY_BYTES of each line are read.

    `status`: how the batch ended, for requests without a line.
    """

    def __init__(self, batch_id: str, status: str) -> None:
        self.batch_id = batch_id
        self.status = status
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  see close
        self._starts: dict[int, list[int]] = {}  # where the lines of each request start

    async def sort(self, requests: Sequence[str]) -> None:
        """Find the line of each request, given their hashes by index."""
        for number, (start, line) in enumerate(self._lines()):
            if (index := _index(line, requests)) is not None:
                self._starts.setdefault(index, []).append(start)
            if number % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def completion(self, index: int, config: ModelConfig, secrets: Secrets) -> Completion:
        """Read the reply to one request. Raises: EndpointError, EndpointUnusable."""
        row = self._row(index, config)
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(status := response.get("status_code"), int):
            raw = orjson.dumps(response.get("body"))
            if status == 200:
                return read_completion(raw, secrets)
            raise read_failure(config, secrets, status, raw)
        error = error if isinstance(error, dict) else {}
        code = str(error.get("code") or "")
        message = secrets.blank(str(error.get("message") or code or "no reply and no error"))
        what = f"batch {self.batch_id}: {message[:300]}"
        raise EndpointError(what, retryable=code != "batch_cancelled")

    def close(self) -> None:
        """Close the file of lines."""
        with suppress(OSError):  # unwritten data is not needed
            self.file.close()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Where each line starts, and the part of it that is read."""
        with temporary():
            self.file.seek(0)
        start = 0
        while line := self.file.readline(http.MAX_REPLY_BYTES + 1):
            yield start, line
            part = line
            while part and not part.endswith(b"\n"):  # the rest of a longer line
                part = self.file.readline(http.MAX_REPLY_BYTES)
            start = self.file.tell()

    def _row(self, index: int, config: ModelConfig) -> dict[str, Any]:
        """The result of one request. Raises: EndpointError if its lines disagree."""
        if lines := [self._line(start, config) for start in self._starts.get(index, ())]:
            row, *others = map(parse_reply, lines)
            if any(_read_content(other) != _read_content(row) for other in others):
                what = f"batch {self.batch_id}: {len(lines)} results for one request, which differ"
                billed = sum(map(len, lines))
                raise EndpointError(what, retryable=False, billed=billed, is_general=False)
            return row
        message = f"{self.status}, with no result for this request"
        return {"error": {"code": f"batch_{self.status}", "message": message}}

    def _line(self, start: int, config: ModelConfig) -> bytes:
        self.file.seek(start)
        line = self.file.readline(http.MAX_REPLY_BYTES + 1)
        if not line.endswith(b"\n"):
            raise report_cut(len(line))
        return line


def _read_content(row: dict[str, Any]) -> Any:
    """A line of results without ids and times."""
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices or body or row.get("error")


def _index(line: bytes, requests: Sequence[str]) -> int | None:
    """Index of the request that a line of results answers, or None."""
    try:
        if line.endswith(b"\n"):
            custom_id = parse_reply(line)["custom_id"]
        else:  # too long to be read whole
            custom_id = _ID.search(line)[1].decode()  # type: ignore[index]
        index, digest = custom_id.split("-")
        return int(index) if requests[int(index)] == digest else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
