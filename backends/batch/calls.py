"""The calls of an OpenAI-style batch API: files up and down, batches made, found and looked at."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import aiohttp
import orjson

from ...records.writing import temporary
from ..config import ModelConfig
from ..errors import EndpointError, EndpointUnusable
from ..http import failure_of, headers_of, lost, start_of
from ..secrecy import secrets_of
from ..sessions import CONNECT_S, FAULTS, Session
from .ledger import Sent

ENDPOINT = "/v1/chat/completions"  # what each request of a batch is for, whatever the base URL
WINDOW = "24h"  # the only one that is offered
NAME = "nuggetjudge"  # of the metadata that holds a batch's name
OVER = ("completed", "failed", "expired", "cancelled")
UNDER_WAY = ("validating", "in_progress", "finalizing", "cancelling")
_PAGE = 100  # batches in one answer
_MOST_BYTES = 2**24  # of one answer that is no file


class BatchCalls:
    """Talks to `{api_base}/files` and `{api_base}/batches`.

    Every call raises EndpointError, or EndpointUnusable when none can succeed.

    Args:
        ledger: named where the endpoint does not know what the ledger says it has.
    """

    def __init__(self, config: ModelConfig, ledger: Path) -> None:
        self._config = config
        self._ledger = ledger
        self._secrets = secrets_of(config)
        timeout_s = config.timeout_s  # of silence: a large file may take longer
        timeout = aiohttp.ClientTimeout(connect=min(CONNECT_S, timeout_s), sock_read=timeout_s)
        self._session = Session(str(config.base_url), headers_of(config), timeout)

    async def upload(self, sent: Sent, lines: IO[bytes]) -> str:
        """Send a file of requests; its id."""
        lines.seek(0)
        form = aiohttp.FormData({"purpose": "batch"})
        name, kind = f"{NAME}-{sent.name}.jsonl", "application/jsonl"
        with os.fdopen(os.dup(lines.fileno()), "rb") as twin:  # aiohttp closes what it has sent
            form.add_field("file", twin, filename=name, content_type=kind)
            return _id(await self._ask("POST", "/files", data=form))

    async def make(self, sent: Sent) -> str:
        """Make a batch of its file; its id."""
        body = {
            "input_file_id": sent.file_id,
            "endpoint": ENDPOINT,
            "completion_window": WINDOW,
            "metadata": {NAME: sent.name},
        }
        return _id(await self._ask("POST", "/batches", json=body))

    async def find(self, sent: Sent) -> str | None:
        """The id of the batch with its name, or of its file, if one was made."""
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
        """The batch as it stands; its status is one of OVER or UNDER_WAY."""
        batch = await self._ask("GET", f"/batches/{sent.batch_id}")
        if not _is_of(batch, sent):
            what = f"batch {sent.batch_id} at {self._config.endpoint_id} is of another file"
            raise EndpointUnusable(f"{what}; {self._ledger} can be deleted, to ask anew")
        if batch.get("status") not in (*OVER, *UNDER_WAY):
            what = f"batch {sent.batch_id} at {self._config.endpoint_id} has an unknown status"
            raise EndpointUnusable(f"{what}: {batch.get('status')!r}")
        return batch

    async def download(self, file_id: str, into: IO[bytes]) -> None:
        """Add a file's bytes, with a line end after the last."""
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
        """Let go of connections."""
        await self._session.aclose()

    async def _ask(self, method: str, path: str, **options: Any) -> dict[str, Any]:
        async with self._open(method, path, **options) as response:
            raw, _ = await start_of(response, _MOST_BYTES)
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
                    raw, _ = await start_of(response, _MOST_BYTES)
                    raise self._failure(response, raw)
                yield response
        except FAULTS as error:
            fault = lost(error, self._secrets)
            message = f"{method} {path}: {fault}"
            raise EndpointError(message, retryable=fault.retryable, status=fault.status) from None

    def _failure(
        self, response: aiohttp.ClientResponse, raw: bytes
    ) -> EndpointError | EndpointUnusable:
        status, retry_after = response.status, response.headers.get("Retry-After")
        error = failure_of(self._config, self._secrets, status, raw, retry_after)
        if status not in (404, 405, 501):
            is_final = isinstance(error, EndpointError) and not error.retryable
            return EndpointUnusable(str(error)) if is_final else error
        what = str(error).split("\n")[0]
        hint = (
            "Either there is no batch API (then run.executor: local), or it does not know with this"
            f" key what was sent before (then {self._ledger} can be deleted, to ask anew)"
        )
        return EndpointUnusable(f"{what}\n{hint}")


def _is_of(row: dict[str, Any], sent: Sent) -> bool:
    """Whether a batch has this name; where it shows none, whether it is of this file."""
    metadata = row.get("metadata")
    name = metadata.get(NAME) if isinstance(metadata, dict) else None
    return bool(row.get("input_file_id") == sent.file_id if name is None else name == sent.name)


def _id(row: dict[str, Any]) -> str:
    batch_id = row.get("id")
    if not isinstance(batch_id, str):
        raise EndpointError(f"not a file or batch: {str(row)[:80]}", retryable=True)
    return batch_id
