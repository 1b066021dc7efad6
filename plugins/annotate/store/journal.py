"""A person's journal: one line an event, on the disk before it is acknowledged."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import orjson

from ....records.reading.problems import InputError
from ....records.writing import Appending, Lock, check_file
from .events import Event, Label, event_of_line
from .state import State

SUFFIX = ".events.jsonl"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")


def check_name(name: str) -> str:
    """Check a person's name, which names their journal. Raises: InputError if it is invalid."""
    if not _NAME.fullmatch(name):
        what = "wanted letters, digits, '.', '_' and '-', at most 40, a letter or digit first"
        raise InputError(f"annotator {name!r}: {what}")
    return name


def read_state(path: Path) -> State:
    """The state after a journal, without an incomplete last line.

    Raises: InputError for a line that is not an event, or does not fit the lines before it.
    """
    return _scan(path)[0]


class Journal:
    """One person's events: on the disk when `add` returns, and kept as a State.

    Nobody else may have it open, because two servers would give the same numbers.

    Args:
        folder: folder of labels. name: name of the person.

    Raises: InputError for an invalid name or line, a journal that is open elsewhere, or a failed
        write.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = check_name(name)
        self.path = folder / f"{name}{SUFFIX}"
        # Lock before reading: another process may be writing the last line.
        self._lock = Lock(
            self.path, f"{self.path}: is open in another process; stop that one first"
        )
        try:
            self.state, end, self._ids = _scan(self.path)
            self._file = Appending(self.path, end, is_synced=True)
        except InputError:
            self._lock.close()
            raise

    def add(self, event: Event) -> Event | None:
        """Store an event and return it, or return the stored event with the same id.

        None if there is nothing to undo or redo. Only a returned event is on the disk.
        """
        if (earlier := self._ids.get(event.id)) is not None:
            return earlier
        if (resolved := self.state.resolve(event)) is None:
            return None
        stored = resolved.model_copy(update={"seq": self.state.n + 1, "at": datetime.now(UTC)})
        row = stored.model_dump(mode="json")
        self._file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
        self.state.add(stored)
        self._ids[stored.id] = stored
        return stored

    def find_event(self, id: str) -> Event | None:
        """The event with this id; None if it is not stored."""
        return self._ids.get(id)

    def add_labels(self, labels: Iterable[Label]) -> int:
        """Store imported labels with one sync; unchanged labels are left out.

        Returns: the number of new or changed labels.
        """
        new: list[Label] = []
        lines = bytearray()
        for label in labels:
            last = self.state.last(label.key)
            if isinstance(last, Label) and _content(last) == _content(label):
                continue
            seq = self.state.n + len(new) + 1
            new.append(label.model_copy(update={"seq": seq, "at": datetime.now(UTC)}))
            row = new[-1].model_dump(mode="json")
            lines += orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)
        self._file.write(lines)
        for one in new:
            self.state.add(one)
            self._ids[one.id] = one
        return len(new)

    def close(self) -> None:
        """Close the file and release it."""
        self._file.close()
        self._lock.close()


def _content(label: Label) -> Label:
    """The label without the fields that say when and how it was stored."""
    return label.model_copy(update={"id": "", "seq": 0, "at": None})


def _scan(path: Path) -> tuple[State, int, dict[str, Event]]:
    """The state, the end of the last complete line, and the events by id."""
    state, end, ids = State(), 0, dict[str, Event]()
    check_file(path)
    if not path.exists():
        return state, end, ids
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                break
            try:
                event = event_of_line(line)
                if event.seq != number:
                    raise ValueError(f"seq is {event.seq}, wanted {number}")
                state.add(event)
            except ValueError as error:
                what = str(error).splitlines()
                raise InputError(f"{path}:{number}: not an event: {' '.join(what[:3])}") from None
            ids[event.id] = event
            end += len(line)
    return state, end, ids
