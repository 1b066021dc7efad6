"""What came back of a batch: lines of the files that it names, by the request it is about."""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO, Any

import orjson

from ...records.writing import temporary
from ..config import ModelConfig
from ..errors import EndpointError
from ..gateway import Completion
from ..http import cut_off, failure_of, loaded, read_completion
from ..secrecy import Secrets

BREATH = 64  # replies between two looks at Ctrl-C
_ID = re.compile(rb'"custom_id"\s*:\s*"(\d+-[0-9a-f]+)"')  # inside a text its quotes are escaped


class Results:
    """The downloaded lines, kept in a file; of each no more than `most` bytes are read.

    `status`: how the batch ended, for requests that no line is about.
    """

    def __init__(self, batch_id: str, status: str, most: int) -> None:
        self.batch_id = batch_id
        self.status = status
        self._most = most
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  see close
        self._starts: dict[int, list[int]] = {}  # where the lines of each request start

    async def sort(self, requests: Sequence[str]) -> None:
        """Find the line of each request, given their hashes by index."""
        for number, (start, line) in enumerate(self._lines()):
            if (index := _index(line, requests)) is not None:
                self._starts.setdefault(index, []).append(start)
            if number % BREATH == 0:
                await asyncio.sleep(0)

    def completion(self, index: int, config: ModelConfig, secrets: Secrets) -> Completion:
        """The reply to one request. Raises: EndpointError, EndpointUnusable."""
        row = self._row(index, config)
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(status := response.get("status_code"), int):
            raw = orjson.dumps(response.get("body"))
            if status == 200:
                return read_completion(raw, secrets)
            raise failure_of(config, secrets, status, raw)
        error = error if isinstance(error, dict) else {}
        code = str(error.get("code") or "")
        message = secrets.blank(str(error.get("message") or code or "no reply and no error"))
        what = f"batch {self.batch_id}: {message[:300]}"
        raise EndpointError(what, retryable=code != "batch_cancelled")

    def close(self) -> None:
        """Let go of the lines; none is read any more."""
        with suppress(OSError):  # what the disk did not take is not wanted
            self.file.close()

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """Where each line starts, and what is read of it."""
        with temporary():
            self.file.seek(0)
        start = 0
        while line := self.file.readline(self._most + 1):
            yield start, line
            part = line
            while part and not part.endswith(b"\n"):  # the rest of a longer one
                part = self.file.readline(self._most)
            start = self.file.tell()

    def _row(self, index: int, config: ModelConfig) -> dict[str, Any]:
        """What the batch says of one request. Raises: EndpointError if its lines disagree."""
        if lines := [self._line(start, config) for start in self._starts.get(index, ())]:
            row, *others = map(loaded, lines)
            if any(_content_of(other) != _content_of(row) for other in others):
                what = f"batch {self.batch_id}: {len(lines)} results for one request, which differ"
                billed = sum(map(len, lines))
                raise EndpointError(what, retryable=False, billed=billed, is_general=False)
            return row
        message = f"{self.status}, with no result for this request"
        return {"error": {"code": f"batch_{self.status}", "message": message}}

    def _line(self, start: int, config: ModelConfig) -> bytes:
        self.file.seek(start)
        line = self.file.readline(self._most + 1)
        if not line.endswith(b"\n"):
            raise cut_off(config, len(line))
        return line


def _content_of(row: dict[str, Any]) -> Any:
    """What a line of results says, without ids and times."""
    response = row.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    choices = body.get("choices") if isinstance(body, dict) else None
    return choices or body or row.get("error")


def _index(line: bytes, requests: Sequence[str]) -> int | None:
    """Which request a line of results is about; None if it is none of these."""
    try:
        if line.endswith(b"\n"):
            custom_id = loaded(line)["custom_id"]
        else:  # too long to be read whole
            custom_id = _ID.search(line)[1].decode()  # type: ignore[index]
        index, digest = custom_id.split("-")
        return int(index) if requests[int(index)] == digest else None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
