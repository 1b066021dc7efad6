"""What came back of a batch: lines of the files that it names, by the request it is about."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from typing import IO, Any

import orjson

from ..config import ModelConfig
from ..errors import EndpointError
from ..gateway import Completion
from ..http import failure_of, loaded, read_completion
from ..secrecy import Secrets

BREATH = 64  # replies between two looks at Ctrl-C


class Results:
    """The downloaded lines, kept in a file.

    `status`: how the batch ended, for requests that no line is about.
    """

    def __init__(self, batch_id: str, status: str) -> None:
        self.batch_id = batch_id
        self.status = status
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  see close
        self._starts: dict[int, int] = {}

    async def sort(self, requests: Sequence[str]) -> None:
        """Find the line of each request, given their hashes by place."""
        self.file.seek(0)
        start = 0
        for number, line in enumerate(self.file):
            if (place := _place(line, requests)) is not None:
                self._starts[place] = start
            start += len(line)
            if number % BREATH == 0:
                await asyncio.sleep(0)

    def completion(self, place: int, config: ModelConfig, secrets: Secrets) -> Completion:
        """The reply to one request. Raises: EndpointError, EndpointUnusable."""
        row = self._row(place)
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(status := response.get("status_code"), int):
            raw = orjson.dumps(response.get("body"))
            if status == 200:
                return read_completion(raw, secrets)
            raise failure_of(config, secrets, status, raw)
        error = error if isinstance(error, dict) else {}
        code = str(error.get("code") or "")
        said = secrets.blank(str(error.get("message") or code or "no reply and no error"))
        what = f"batch {self.batch_id}: {said[:300]}"
        raise EndpointError(what, retryable=code != "batch_cancelled")

    def close(self) -> None:
        """Let go of the lines; none is read any more."""
        self.file.close()

    def _row(self, place: int) -> dict[str, Any]:
        if place in self._starts:
            self.file.seek(self._starts[place])
            return loaded(self.file.readline())
        message = f"{self.status}, with no result for this request"
        return {"error": {"code": f"batch_{self.status}", "message": message}}


def _place(line: bytes, requests: Sequence[str]) -> int | None:
    """Which request a line of results is about; None if it is none of these."""
    try:
        place, digest = loaded(line)["custom_id"].split("-")
        return int(place) if requests[int(place)] == digest else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
