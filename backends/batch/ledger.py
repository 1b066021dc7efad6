"""What went into batches and what came back: append-only lines from which a killed run goes on."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ...records.reading.problems import InputError
from ..config import BatchConfig


class Batches(NamedTuple):
    """How requests are gathered into batches, and the file that keeps the state of these."""

    config: BatchConfig
    ledger: Path


@dataclass
class Sent:
    """One batch: a hash of each request in it, and how far it got.

    `asked_at` (seconds since 1970): when the endpoint was last told to make it; `left`: places of
    the requests whose replies were not taken yet.
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
    """The batches of one model of a run, by name; a line torn by a kill is dropped.

    A step is written before what follows from it: the requests of a batch before its file goes
    up, the file before the batch is made. So one that was made and not written down can be found
    at the endpoint by its name and its file.

    Raises: InputError if the file is no such ledger.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.batches, end = _read(path)
        self._file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o644)
        os.ftruncate(self._file, end)

    def plan(self, sent: Sent) -> None:
        """Note a batch that is about to be sent."""
        self._write(sent.name, requests=sent.requests)
        self.batches[sent.name] = sent

    def uploaded(self, sent: Sent, file_id: str) -> None:
        """Note that its requests are at the endpoint."""
        self._write(sent.name, file=file_id)
        sent.file_id = file_id

    def asked(self, sent: Sent, at: float) -> None:
        """Note that the endpoint is being told to make it."""
        self._write(sent.name, asked=at)
        sent.asked_at = at

    def made(self, sent: Sent, batch_id: str) -> None:
        """Note its id at the endpoint."""
        self._write(sent.name, id=batch_id)
        sent.batch_id = batch_id

    def take(self, sent: Sent, place: int) -> None:
        """Note that the reply to one of its requests was used, so that it is not used again."""
        self._write(sent.name, taken=place)
        sent.left.discard(place)
        if not sent.left:
            self.batches.pop(sent.name, None)

    def drop(self, sent: Sent) -> None:
        """Note that there will be no replies; nothing, if it was not planned."""
        if self.batches.pop(sent.name, None) is not None:
            self._write(sent.name, dropped=True)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _write(self, name: str, **what: Any) -> None:
        line = orjson.dumps({"batch": name, **what}, option=orjson.OPT_APPEND_NEWLINE)
        n_written = os.write(self._file, line)
        if n_written != len(line):  # the next line must not follow half a one
            os.ftruncate(self._file, os.fstat(self._file).st_size - n_written)
            raise OSError(f"{self.path}: a line could not be written whole; is the disk full?")


def left_running(folder: Path) -> Iterator[tuple[str, int]]:
    """Id of each batch that the ledgers in a folder have as made, and how many replies are left."""
    for path in sorted(folder.glob("batches-*.jsonl")):
        for sent in _read(path)[0].values():
            if sent.batch_id:
                yield sent.batch_id, len(sent.left)


def _read(path: Path) -> tuple[dict[str, Sent], int]:
    """The batches with something left, and where the last whole line ends."""
    found: dict[str, Sent] = {}
    end = 0
    if not path.exists():
        return found, end
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break  # torn by a kill
            try:
                _apply(orjson.loads(line), found)
            except (ValueError, KeyError, TypeError) as error:
                what = f"not a line about a batch ({error}); move the file away to ask anew"
                raise InputError(f"{path}:{number}: {what}") from None
            end += len(line)
    return found, end


def _apply(row: dict[str, Any], found: dict[str, Sent]) -> None:
    name = row["batch"]
    match row:
        case {"requests": [*requests]}:
            found[name] = Sent(name, requests)
        case {"file": str(file_id)}:
            found[name].file_id = file_id
        case {"asked": float(at)}:
            found[name].asked_at = at
        case {"id": str(batch_id)}:
            found[name].batch_id = batch_id
        case {"taken": int(place)}:
            found[name].left.discard(place)
            if not found[name].left:
                del found[name]
        case {"dropped": True}:
            del found[name]
        case _:
            raise ValueError("no such step")
