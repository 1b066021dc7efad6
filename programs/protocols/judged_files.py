"""Which file of a results folder holds judgements of a kind, and on which scale they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...records.labels.cells import LabelKind, known_scale
from ...records.reading.problems import InputError
from ..engine.manifest import read_manifest
from .item_scores import ITEMS
from .table import programs

LABELS = "labels.jsonl"  # of items with any ids, so labels of any kind may belong to them


def judged_kinds() -> dict[str, str]:
    """The kinds of judgements that a results folder may have, with their files."""
    return {one.kind: one.judged for one in programs()}


def judged_file(path: Path, kind: str) -> Path:
    """The file with judgements of this kind in a results folder; a file is itself.

    Args:
        kind: of `judged_kinds`, or the kind of the labels that are to be joined.

    Raises: InputError if the folder has none.
    """
    if not path.is_dir():
        return path
    name = judged_kinds().get(kind, LABELS)
    for found in (path / name, path / LABELS):
        if found.is_file():
            return found
    raise InputError(f"{path}: has no {name}, so no judgements like the labels ({kind})")


def kinds_in(path: Path) -> list[str]:
    """The kinds that a results folder has judgements of, those of its own programs first."""
    named = read_manifest(path)["config"]["program"] if (path / "manifest.json").is_file() else ()
    ours = sorted(programs(), key=lambda one: one.name not in named)
    return [one.kind for one in ours if (path / one.judged).is_file()]


def kind_of_folder(path: Path) -> str:
    """The first of them. Raises: InputError if there is none."""
    if found := kinds_in(path):
        return found[0]
    raise InputError(f"{path}: has none of {', '.join(judged_kinds().values())}")


def about_items(*paths: Path) -> dict[str, Any] | None:
    """What the manifest says of the first of these that is a folder of judged items."""
    folders = (path for path in paths if (path / LABELS).is_file())
    return next(filter(None, (read_manifest(path).get(ITEMS) for path in folders)), None)


def scale_of(*paths: Path) -> tuple[str, ...] | None:
    """The labels, worst to best, of the first of these that is a folder of judged items.

    Labels of other files, which people gave to the same items, are on that scale too.
    """
    about = about_items(*paths)
    return tuple(about["labels"]) if about is not None else None


def are_ordered(kind: LabelKind, scale: Sequence[str], *paths: Path) -> bool:
    """Whether one label of this scale is better than another.

    Args:
        kind, scale: of the labels, as `LabelFile` has them.
        paths: what they were read from; a folder of judged items says it of its labels.

    Labels of no known scale are sorted by name, which is no order.
    """
    about = about_items(*paths)
    if about is not None:
        return bool(about["is_ordered"])
    return known_scale(kind, set(scale)) is not None
