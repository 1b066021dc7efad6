"""The ledger of batches: append-only lines from which a killed run continues."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ...records.reading.problems import InputError
from ...records.writing import Appending
from ..config import BatchConfig

_MEND = "delete the lines of its batch and run again: it is sent again, the others continue"


class Batches(NamedTuple):
    """How requests are gathered into batches, and the file that keeps the state of the batches."""

    config: BatchConfig
    ledger: Path


@dataclass
class Sent:
    """One batch: a hash of each request in it, and its progress.

    `asked_at` (seconds since 1970): when the endpoint was last asked to create it; `left`: indexes
    of the requests whose replies are not used yet.
    """

    name: str
    requests: Sequence[str]
    file_id: str = ""
    asked_at: float = 0.0
    batch_id: str = ""
    left: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.left = set(range(len(self.requests)))


class Ledger:
    """The batches of one model of a run, by name. A last line cut by a kill is dropped.

    Each step is written before the next one starts: the requests of a batch before the upload, the
    file before the batch is created. So a batch that was created but not recorded can be found
    at the endpoint by its name and its file.

    Raises: InputError if the file is not such a ledger, or cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.batches, end = _read(path)
        self._file = Appending(path, end)

    def plan(self, sent: Sent) -> None:
        """Record a batch that is about to be sent."""
        self._write(sent.name, requests=sent.requests)
        self.batches[sent.name] = sent

    def note_upload(self, sent: Sent, file_id: str) -> None:
        """Record that the endpoint has its file of requests."""
        self._write(sent.name, file=file_id)
        sent.file_id = file_id

    def note_request(self, sent: Sent, at: float) -> None:
        """Record that the endpoint is about to be asked to create the batch."""
        self._write(sent.name, asked=at)
        sent.asked_at = at

    def note_batch(self, sent: Sent, batch_id: str) -> None:
        """Record its id at the endpoint."""
        self._write(sent.name, id=batch_id)
        sent.batch_id = batch_id

    def take(self, sent: Sent, index: int) -> None:
        """Record that the reply to one of its requests was used, so that it is not used again."""
        self._write(sent.name, taken=index)
        sent.left.discard(index)
        if not sent.left:
            self.batches.pop(sent.name, None)

    def drop(self, sent: Sent) -> None:
        """Record that there will be no replies. Does nothing if the batch was not planned."""
        if self.batches.pop(sent.name, None) is not None:
            self._write(sent.name, dropped=True)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _write(self, name: str, **what: Any) -> None:
        line = orjson.dumps({"batch": name, **what}, option=orjson.OPT_APPEND_NEWLINE)
        self._file.write(line)


def find_running_batches(folder: Path) -> Iterator[tuple[str, int]]:
    """Id of each batch that the ledgers in a folder list as created, and its replies left."""
    for path in sorted(folder.glob("batches-*.jsonl")):
        for sent in _read(path)[0].values():
            if sent.batch_id:
                yield sent.batch_id, len(sent.left)


def _read(path: Path) -> tuple[dict[str, Sent], int]:
    """The batches with replies left, and where the last whole line ends."""
    batches: dict[str, Sent] = {}
    end = 0
    if not path.exists():
        return batches, end
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break  # cut by a kill
            try:
                _apply(orjson.loads(line), batches)
            except ValueError as error:
                what = f"not a line about a batch ({error}); {_MEND}"
                raise InputError(f"{path}:{number}: {what}") from None
            end += len(line)
    return batches, end


def _apply(row: Any, batches: dict[str, Sent]) -> None:
    match row:
        case {"batch": str(name), "requests": [*requests]}:
            if not all(isinstance(digest, str) for digest in requests):
                raise ValueError("wanted requests as a list of texts")
            batches[name] = Sent(name, requests)
        case {"batch": str(name)} if name in batches:
            _step(row, name, batches)
        case {"batch": str(name)}:
            raise ValueError(f"no earlier line holds the requests of batch {name!r}")
        case _:
            raise ValueError("wanted an object that names a batch")


def _step(row: Mapping[str, Any], name: str, batches: dict[str, Sent]) -> None:
    match row:
        case {"file": str(file_id)}:
            batches[name].file_id = file_id
        case {"asked": float(at)}:
            batches[name].asked_at = at
        case {"id": str(batch_id)}:
            batches[name].batch_id = batch_id
        case {"taken": int(index)} if 0 <= index < len(batches[name].requests):
            batches[name].left.discard(index)
            if not batches[name].left:
                del batches[name]
        case {"dropped": True}:
            del batches[name]
        case _:
            raise ValueError("wanted file, asked, id, taken or dropped with it")
