"""What judges quoted in a results folder, whatever program judged it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ...records.reading.problems import Problems
from ..engine.manifest import read_manifest
from ..protocols.pieces import Piece, TopicFiles
from ..protocols.program import Folder, Program
from ..protocols.table import chosen


def first_quoted(folder: Path) -> list[tuple[str, Piece]]:
    """The first piece with quoted words of each program of a results folder, of those with any."""
    names = read_manifest(folder)["config"]["program"]
    first_pieces = ((one.name, next(quoted_pieces(folder, one), None)) for one in chosen(names))
    return [(name, piece) for name, piece in first_pieces if piece is not None]


def quoted_pieces(folder: Path, program: Program) -> Iterator[Piece]:
    """All that a program judged for whose label words of the judged text are given."""
    problems = Problems()
    files = TopicFiles(Folder(folder, problems).file, problems)
    for topic in files.topics(program.judged):
        yield from (piece for piece in program.pieces(files.of(topic)) if piece.quoted)
