"""The texts of cells, read when one is wanted, many at a time, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock

from ....programs.analysis.cell_texts import REMARKS, cell_texts, list_needed
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems

MAX_CELLS = 50_000  # cells whose texts are read at a time: a reading costs a look at every file
_BATCHES = 2  # that are kept

Texts = dict[str, str]


class TextReader:
    """Gives a cell's texts, whatever thread asks.

    Args:
        path: a results folder or a file of labels. kind: of its labels.
        cells: those that may be asked for.
        problems: takes what is wrong with the files that have the texts.
    """

    def __init__(self, path: Path, kind: str, cells: Sequence[Cell], problems: Problems) -> None:
        self._path, self._kind, self._problems = path, kind, problems
        self._needed = list_needed(path, kind)
        self._batches: list[dict[Cell, Texts]] = []
        self._lock = Lock()
        self.expect(cells)

    def expect(self, cells: Iterable[Cell]) -> None:
        """Read these together, in this order: those of the queues."""
        self._expected = list(dict.fromkeys(cells))
        self._at = {cell: at for at, cell in enumerate(self._expected)}

    def of(self, cell: Cell) -> Texts:
        """The texts of a cell by their names; an optional one that it has not is left out.

        Raises: InputError where one is missing without which nobody can judge it, and why.
        """
        with self._lock:
            texts = next((batch[cell] for batch in self._batches if cell in batch), None)
            if texts is None:
                texts = self._read(cell)
        if lacking := [name for name in self._needed if name not in texts]:
            about = [row for row in self._problems if row.kind == "no_texts"]
            why = f"; {about[-1].what}" if about else ""
            what = f"item {' '.join(cell)} comes without its {' and '.join(lacking)}{why}"
            raise InputError(f"{self._path}: {what}")
        return texts

    def _read(self, cell: Cell) -> Texts:
        if (at := self._at.get(cell)) is None:
            batch = [cell, *(one for one in self._expected if one[0] == cell[0])]
        else:
            batch = [*self._expected[at:], *self._expected[:at]]
        problems = Problems()
        read = cell_texts(self._path, self._kind, batch[:MAX_CELLS], problems)
        # What the judge wrote beside its label is not for people who give labels.
        by_cell = {
            of: {name: text for name, text in texts.items() if name not in REMARKS}
            for of, texts in read.items()
        }
        self._problems.take(problems)
        self._batches = [by_cell, *self._batches][:_BATCHES]
        return by_cell[cell]
