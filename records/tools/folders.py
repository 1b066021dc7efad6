"""Folders that nuggetizer or RAGDoll wrote: which of their files hold what."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..kinds import file_kind
from ..reading.lines import first_line
from ..reading.problems import InputError

_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".txt")
_NOT_THEIRS = ("manifest.json", "journal")  # of results folders of ours, finished or not
_EVENTS = "raw-events"  # what RAGDoll's agent printed, a file a call


@dataclass(frozen=True)
class ToolFolder:
    """A folder of another tool's judgements.

    Attributes:
        files: by what they hold, sorted by name: judgements, what is read with them, and `scores`.
        judged: the kinds of judgements among them.
        left: files that are not read, with what they seem to be.
    """

    path: Path
    files: Mapping[str, Sequence[Path]]
    judged: Sequence[str]
    left: Mapping[Path, str]


def tool_folder(
    path: Path, taken: Collection[str], read_with: Collection[str] = ()
) -> ToolFolder | None:
    """What another tool left in a folder, or one level below it; None: no judgements of any.

    Only the beginning of each file is read. A folder of ours is none.

    Args:
        taken: the kinds of judgements that are wanted. read_with: kinds of files read beside them.
    """
    if not path.is_dir() or _is_ours(path):
        return None
    files: dict[str, list[Path]] = {}
    left: dict[Path, str] = {}
    for file in _files(path):
        if (kind := _kind(file)) in (*taken, *read_with, "scores"):
            files.setdefault(kind, []).append(file)
        else:
            left[file] = kind
    judged = [kind for kind in taken if kind in files]
    return ToolFolder(path, files, judged, left) if judged else None


def _is_ours(path: Path) -> bool:
    return any((path / name).exists() for name in _NOT_THEIRS)


def _files(path: Path) -> list[Path]:
    inside = sorted(each for each in path.iterdir() if each.name[0] != ".")
    below = [
        each
        for folder in inside
        if folder.is_dir() and folder.name != _EVENTS and not _is_ours(folder)
        for each in sorted(folder.iterdir())
    ]
    files = [each for each in (*inside, *below) if each.is_file()]
    return [each for each in files if each.name.endswith(_ENDINGS)]


def _kind(path: Path) -> str:
    try:
        return file_kind(path) if first_line(path) else "empty"
    except InputError:
        return "of no known kind"
