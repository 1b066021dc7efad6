"""The texts of cells, read on demand, many at a time, and kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock

from ....programs.analysis.cell_texts import REMARKS, cell_texts, list_needed
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems

MAX_CELLS = 50_000  # cells whose texts are read at a time: each reading goes through every file
_BATCHES = 2  # that are kept

Texts = dict[str, str]


class TextReader:
    """Gives the texts of a cell, in any thread.

    Args:
        path: a results folder or a file of labels. kind: kind of its labels.
        cells: cells that may be requested.
        problems: gets the problems of the files with the texts.
    """

    def __init__(self, path: Path, kind: str, cells: Sequence[Cell], problems: Problems) -> None:
        self._path, self._kind, self._problems = path, kind, problems
        self._needed = list_needed(path, kind)
        self._batches: list[dict[Cell, Texts]] = []
        self._lock = Lock()
        self.expect(cells)

    def expect(self, cells: Iterable[Cell]) -> None:
        """Read the texts of these cells together, in this order."""
        self._expected = list(dict.fromkeys(cells))
        self._at = {cell: at for at, cell in enumerate(self._expected)}

    def of(self, cell: Cell) -> Texts:
        """The texts of a cell by name, without missing optional texts.

        Raises: InputError, with the reason, if a text is missing that judging needs.
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
        # People who label must not see the other fields of the judge.
        by_cell = {
            of: {name: text for name, text in texts.items() if name not in REMARKS}
            for of, texts in read.items()
        }
        self._problems.take(problems)
        self._batches = [by_cell, *self._batches][:_BATCHES]
        return by_cell[cell]
