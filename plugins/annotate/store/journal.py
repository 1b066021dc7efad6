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
    """A person's name, which names their journal. Raises: InputError for any other text."""
    if not _NAME.fullmatch(name):
        what = "wanted letters, digits, '.', '_' and '-', at most 40, a letter or digit first"
        raise InputError(f"annotator {name!r}: {what}")
    return name


def read_state(path: Path) -> State:
    """What a journal comes to; a line that was torn at its end is left out.

    Raises: InputError naming the line that is not an event, or does not follow from those before
        it.
    """
    return _scan(path)[0]


class Journal:
    """One person's events: appended, with the disk when `add` returns, and kept as a State.

    Nobody else may have it open: two servers over one journal would both give the next number.

    Args:
        folder: of labels. name: of the person.

    Raises: InputError for a bad name or line, a journal that is open elsewhere, and for what the
        disk refuses.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.name = check_name(name)
        self.path = folder / f"{name}{SUFFIX}"
        # Before it is read: what stands at its end may be a line that another is writing.
        self._lock = Lock(self.path, f"{self.path}: is open in another process, end that first")
        try:
            self.state, end, self._ids = _scan(self.path)
            self._file = Appending(self.path, end, is_synced=True)
        except InputError:
            self._lock.close()
            raise

    def add(self, event: Event) -> Event | None:
        """Keep an event, unless it was kept before; then the one that was kept.

        None: there is nothing to undo or redo. Only what is returned is on the disk.
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
        """The event of this id; None: none was stored."""
        return self._ids.get(id)

    def add_labels(self, labels: Iterable[Label]) -> int:
        """Keep labels that were given elsewhere, all with one sync; one that holds is left out.

        Returns: how many were new, or another than before.
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
        """Close the file, and let others have it."""
        self._file.close()
        self._lock.close()


def _content(label: Label) -> Label:
    """The label without what says when and how it came here."""
    return label.model_copy(update={"id": "", "seq": 0, "at": None})


def _scan(path: Path) -> tuple[State, int, dict[str, Event]]:
    """The state, where the last whole line ends, and the events by their ids."""
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
                raise InputError(f"{path}:{number}: no event here: {' '.join(what[:3])}") from None
            ids[event.id] = event
            end += len(line)
    return state, end, ids
