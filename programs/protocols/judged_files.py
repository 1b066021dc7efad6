"""Find the file of a results folder with judgements of a kind, and their scale."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ...records.kinds import find_scale, kinds_of_labels
from ...records.reading.fields import Line, read_lines
from ...records.reading.problems import InputError, Problems
from ..engine.manifest import read_manifest
from .judged_items import ItemScale
from .judgements import Judgement, read_plain_judgements
from .program import Program
from .table import programs

LABELS = "labels.jsonl"  # the expected file of kinds without their own file


def list_judged_kinds() -> dict[str, str]:
    """Return the kinds of judgements that a results folder may have, with their files."""
    return {one.kind: one.judged for one in programs()}


def find_task(folder: Path, kind: str) -> Program | None:
    """Return the task with judgements of this kind in a results folder.

    Args:
        kind: a kind of `list_judged_kinds` or of a label file. Items, and judgements of tasks of
            other packages, may have any ids, so labels of any kind may belong to them.
    """
    present = [one for one in programs() if (folder / one.judged).is_file()]
    label_kinds = kinds_of_labels()
    of_kind = [one for one in present if one.kind == kind]
    if kind in label_kinds:
        of_kind += [one for one in present if one.kind not in label_kinds]
    return next(iter(of_kind), None)


def find_judged_file(path: Path, kind: str) -> Path:
    """Return the file with judgements of this kind in a results folder; a file is returned as is.

    Args:
        kind: a kind of `list_judged_kinds`, or the kind of labels to join.

    Raises: InputError if the folder has no such file.
    """
    if not path.is_dir():
        return path
    if (program := find_task(path, kind)) is not None:
        return path / program.judged
    name = list_judged_kinds().get(kind, LABELS)
    has = ", ".join(kinds_in(path)) or "none"
    raise InputError(f"{path}: has no judgements of {kind} ({name}); it has {has}")


def read_judgements(path: Path, kind: str) -> Iterator[Judgement]:
    """All judgements of a kind in a results folder, or in a file of them; problems are not listed.

    Raises: InputError if there are none.
    """
    file = find_judged_file(path, kind)
    program = find_task(path, kind) if path.is_dir() else None
    program = program or next((one for one in programs() if one.kind == kind), None)

    def lines(name: str) -> Iterator[Line]:
        at = path / name if path.is_dir() else file
        is_there = at.is_file() and (path.is_dir() or program is None or name == program.judged)
        return read_lines(at, Problems()) if is_there else iter(())

    return read_plain_judgements(lines(file.name)) if program is None else program.judgements(lines)


def kinds_in(path: Path) -> list[str]:
    """Return the kinds of judgements in a results folder, those of its tasks first."""
    named = read_manifest(path)["config"]["program"] if (path / "manifest.json").is_file() else ()
    ours = sorted(programs(), key=lambda one: one.name not in named)
    return [one.kind for one in ours if (path / one.judged).is_file()]


def kind_of_folder(path: Path) -> str:
    """Return the first kind of judgements. Raises: InputError if there is none."""
    if kinds := kinds_in(path):
        return kinds[0]
    raise InputError(f"{path}: has none of {', '.join(list_judged_kinds().values())}")


def scale_in(*paths: Path, kind: str | None = None) -> ItemScale | None:
    """Return a task's scale from the first path that is a folder with such judgements.

    Args:
        kind: the kind of judgements; None: the first kind of a folder.
    """
    for path in paths:
        if path.is_dir():
            of_folder = kind or next(iter(kinds_in(path)), None)
            program = find_task(path, of_folder) if of_folder is not None else None
            if program is not None and (item_scale := program.scale(path)) is not None:
                return item_scale
    return None


def find_file_scale(*paths: Path, kind: str | None = None) -> tuple[str, ...] | None:
    """Return the labels, worst to best, if `scale_in` knows them.

    Human labels of the same items have the same scale.
    """
    item_scale = scale_in(*paths, kind=kind)
    return item_scale.labels if item_scale is not None else None


def are_ordered(kind: str, scale: Sequence[str], *paths: Path) -> bool:
    """Return whether the labels of this scale have an order.

    Args:
        kind, scale: of the labels, as in `LabelFile`.
        paths: their files; a folder of judged items knows the order of its labels.

    Labels of an unknown scale are sorted by name, and have no order.
    """
    item_scale = scale_in(*paths, kind=kind)
    if item_scale is not None:
        return item_scale.is_ordered
    return find_scale(kind, set(scale)) is not None
