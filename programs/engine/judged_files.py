"""Which file of a results folder holds judgements of a kind, and on which scale they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError
from .manifest import read_manifest

ITEMS = "items"
JUDGED_FILES = {
    "nuggets": "assignments.jsonl",
    "support": "support.jsonl",
    "relevance": "relevance.jsonl",
    "ratings": "ratings.jsonl",
    "keypoints": "entailments.jsonl",
    ITEMS: "labels.jsonl",  # of items with any ids, so labels of any kind may belong to them
}


def judged_file(path: Path, kind: str) -> Path:
    """The file with judgements of this kind in a results folder; a file is itself.

    Args:
        kind: a key of `JUDGED_FILES`, or the kind of the labels that are to be joined.

    Raises: InputError if the folder has none.
    """
    if not path.is_dir():
        return path
    for name in (JUDGED_FILES.get(kind), JUDGED_FILES[ITEMS]):
        if name is not None and (path / name).is_file():
            return path / name
    name = JUDGED_FILES.get(kind, JUDGED_FILES[ITEMS])
    raise InputError(f"{path}: has no {name}, so no judgements like the labels ({kind})")


def kinds_in(path: Path) -> list[str]:
    """The kinds that a results folder has judgements of."""
    return [kind for kind, name in JUDGED_FILES.items() if (path / name).is_file()]


def kind_of_folder(path: Path) -> str:
    """The first of them. Raises: InputError if there is none."""
    if found := kinds_in(path):
        return found[0]
    raise InputError(f"{path}: has none of {', '.join(JUDGED_FILES.values())}")


def about_items(*paths: Path) -> dict[str, Any] | None:
    """What the manifest says of the first of these that is a folder of judged items."""
    folders = (path for path in paths if (path / JUDGED_FILES[ITEMS]).is_file())
    return next(filter(None, (read_manifest(path).get(ITEMS) for path in folders)), None)


def scale_of(*paths: Path) -> tuple[str, ...] | None:
    """The labels, worst to best, of the first of these that is a folder of judged items.

    Labels of other files, which people gave to the same items, are on that scale too.
    """
    about = about_items(*paths)
    return tuple(about["labels"]) if about is not None else None


def have_order(*paths: Path) -> bool:
    """Whether labels go from worst to best; not where the judge of such a folder says no."""
    about = about_items(*paths)
    return about is None or bool(about["is_ordered"])
