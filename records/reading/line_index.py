"""Where lines stand in their files, by key: read again key by key, and not kept in memory."""

from __future__ import annotations

import os
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

import orjson

from .fields import Line
from .lines import has_lines, line_starts, parse_json
from .problems import InputError, Problems

MOST_OPEN = 128  # files; one beyond them is opened for each line


class LineIndex:
    """Lines recorded under keys, file after file, and read again in that order for each key.

    Holds four integers a line, and the files that it read open. An object that has no offset of its
    own in its file, which is compressed, one JSON document or an envelope, is copied into a
    temporary file that goes when the index does.
    """

    def __init__(self) -> None:
        self._stored: dict[str, array[int]] = {}  # by key: file, start, size, number
        self._paths: list[Path] = []
        self._starts: array[int] | None = None  # of the last file; None: its lines are copied
        self._copies: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by the line below
        self._open: dict[Path, IO[bytes]] = {}
        weakref.finalize(self, _close, self._copies, self._open)
        self._end = 0

    def note(self, line: Line, key: str) -> None:
        """Remember where a line stands; the lines of one file come together."""
        if not self._paths or self._paths[-1] != line.path:
            self._paths.append(line.path)
            self._starts = line_starts(line.path) if has_lines(line.path) else None
        file = len(self._paths) - 1
        if self._starts is not None and not line.prefix:
            start, end = self._starts[line.number - 1 : line.number + 1]
        else:
            try:
                copy = orjson.dumps(line.row)
            except TypeError:  # more levels than it writes
                line.error("bad_json", "is nested too deeply, wanted 254 levels at most")
                return
            try:
                self._copies.seek(self._end)
                self._copies.write(copy)
                self._copies.flush()
            except OSError as error:
                where = tempfile.gettempdir()
                what = f"cannot be written ({error.strerror or error})"
                raise InputError(f"{where}: {what}") from None
            file, start, end = ~file, self._end, self._end + len(copy)  # below 0: a copy
            self._end = end
        entries = self._stored.setdefault(key, array("q"))
        entries.extend((file, start, end - start, line.number))

    def lines(self, key: str) -> Iterator[Line]:
        """The lines of a key, in the order in which they were recorded.

        Raises: InputError if a line does not stand there any more.
        """
        problems = Problems()
        entries = iter(self._stored.get(key, ()))
        for file, start, size, number in zip(entries, entries, entries, entries, strict=True):
            path = self._paths[max(file, ~file)]
            try:
                row = parse_json(self._read(start, size, None if file < 0 else path))
            except (OSError, ValueError) as error:
                what = f"changed while the run went on; line {number} is gone ({error})"
                raise InputError(f"{path}: {what}; start it again") from None
            yield Line(path, number, row, problems)

    def _read(self, start: int, size: int, path: Path | None) -> bytes:
        if path is None:
            self._copies.seek(start)
            return self._copies.read(size)
        if (stream := self._open.get(path)) is None:
            stream = path.open("rb", buffering=0)
            if len(self._open) == MOST_OPEN:
                with stream:
                    return os.pread(stream.fileno(), size, start)
            self._open[path] = stream
        return os.pread(stream.fileno(), size, start)


def _close(copies: IO[bytes], others: Mapping[Path, IO[bytes]]) -> None:
    for stream in others.values():
        stream.close()
    with suppress(OSError):  # what the disk did not take is not wanted any more
        copies.close()
