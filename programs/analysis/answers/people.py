"""The labels of people for what a results folder judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ....records.kinds import Cell, check_labelled
from ....records.labels import read_labels, run_aliases
from ....records.reading.problems import InputError, Problems
from ...protocols.judged_files import judged_by, kinds_in, scale_of

Label = tuple[str, str, str]  # annotator, label, rationale; "" where the file has none


class People:
    """People's labels by cell, of one program of a results folder."""

    def __init__(self, folder: Path, labels: Path, runs: Sequence[str], problems: Problems) -> None:
        file = read_labels(labels, problems, scale=scale_of(folder))
        problems.raise_errors()
        check_labelled(file, labels)
        program = judged_by(folder, file.kind)
        if program is None:
            has = ", ".join(kinds_in(folder)) or "nothing"
            raise InputError(f"{labels}: labels of {file.kind}, and {folder} judged {has}")
        self.program = program.name
        self._file = file
        at = file.key_names.index("run_id") if "run_id" in file.key_names else None
        theirs = (
            {cell[at] for cell in (*file.cells, *file.annotations)} if at is not None else set()
        )
        self._at, self._names = at, {ours: name for name, ours in run_aliases(runs, theirs).items()}

    def of(self, program: str, cell: Cell) -> tuple[Label, ...]:
        """Of one cell, annotator by annotator; () where nobody labelled it."""
        if program != self.program or not cell:
            return ()
        if (at := self._at) is not None and at < len(cell) and cell[at] in self._names:
            cell = (*cell[:at], self._names[cell[at]], *cell[at + 1 :])
        rationale = self._file.rationales.get(cell, "")
        if by_annotator := self._file.annotations.get(cell):
            remarks = rationale.split("\n")
            if len(remarks) != len(by_annotator):  # not one of each annotator
                remarks = [rationale] + [""] * (len(by_annotator) - 1)
            pairs = zip(by_annotator.items(), remarks, strict=True)
            return tuple((name, label, remark) for (name, label), remark in pairs)
        label = self._file.cells.get(cell)
        return () if label is None else (("", label, rationale),)
