"""Labels of two sides of a cut: from a label on they are positive, below it negative."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ..reading.problems import InputError
from .cells import LabelFile
from .declared import find_kind

BINARY = ("negative", "positive")


def sides(
    labels: Iterable[str], scale: Sequence[str], cut: str, kind: str, path: Path
) -> dict[str, str]:
    """Each of these labels -> negative or positive.

    Args:
        labels: those that occur, all of them on the scale.
        scale: worst to best, in their order. Whole numbers may be cut at any number above the
            lowest, for a file need not have its best grade.
        kind, path: of the file; any spelling of its kind does, the path is for messages.

    Raises: InputError for a cut that is no label of the scale, or its worst.
    """
    at = cut.strip().lower()
    if at not in scale and (known := find_kind(kind)) is not None and known.spell is not None:
        at = known.spell(at, scale)[0] or at
    with suppress(ValueError):
        numbers = {label: int(label) for label in {*labels, *scale}}
        if int(at) > min(numbers.values()):
            return {label: BINARY[n >= int(at)] for label, n in numbers.items()}
    if at not in scale[1:]:
        wanted = f"wanted one of its labels but the worst: {', '.join(scale[1:])}"
        each = "; --cut HUMAN,JUDGED has one of each"
        raise InputError(f"--cut {cut}: {path} has the labels {', '.join(scale)}, {wanted}{each}")
    return {label: BINARY[rank >= scale.index(at)] for rank, label in enumerate(scale)}


def cut_file(labels: LabelFile, cut: str, path: Path) -> LabelFile:
    """The labels of a file whose labels have an order, as negative and positive.

    Raises: InputError, see `sides`.
    """
    side = sides(labels.cells.values(), labels.scale, cut, labels.kind, path)
    cells = {cell: side[label] for cell, label in labels.cells.items()}
    return replace(labels, scale=BINARY, cells=cells, probabilities={})


def cut_annotations(
    by_cell: Mapping[tuple[str, ...], Mapping[str, str]], side: Mapping[str, str]
) -> dict[tuple[str, ...], dict[str, str]]:
    """The label of each annotator for each cell, as negative and positive."""
    return {cell: {name: side[label] for name, label in by.items()} for cell, by in by_cell.items()}
