"""Folders of nuggetizer or RAGDoll: the kinds of their files, and the tasks that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from ....programs.config.base import ProgramName, program_names
from ....records.kinds import FileKind, file_kind
from ....records.reading.lines import first_line
from ....records.reading.problems import InputError

GROUP = "nuggetjudge.tool_files"  # of entry points: TASK.KIND = "module:function" of a ToolFiles
_ENDINGS = (".jsonl", ".jsonl.gz", ".csv", ".txt")
_NOT_THEIRS = ("manifest.json", "journal")  # in our results folders, finished or not
_EVENTS = "raw-events"  # output of RAGDoll's agent, a file a call


@dataclass(frozen=True)
class ToolFolder:
    """A folder of another tool's judgements.

    Attributes:
        files: files by their apparent kind, sorted by name.
        judged: the tasks with judgements in the folder, and the kind of their file.
    """

    path: Path
    files: Mapping[FileKind, Sequence[Path]]
    judged: Mapping[ProgramName, FileKind]

    @property
    def judged_files(self) -> Sequence[Path]:
        """The files with judgements."""
        return [file for kind in self.judged.values() for file in self.files[kind]]


@cache
def find_takers() -> Mapping[tuple[ProgramName, FileKind], EntryPoint]:
    """The functions that read a kind of file for a task, in the order of the tasks."""
    named = {(*entry.name.split(".", 1),): entry for entry in entry_points(group=GROUP)}
    tasks = program_names()
    known = sorted((at for at in named if at[0] in tasks), key=lambda at: tasks.index(at[0]))
    return {(task, kind): named[task, kind] for task, kind in known}


def find_tool_folder(path: Path) -> ToolFolder | None:
    """The files of another tool in a folder, or one level below it; None without judgements.

    Only the beginning of each file is read. Our own results folders do not count.
    """
    if not path.is_dir() or _is_ours(path):
        return None
    files: dict[FileKind, list[Path]] = {}
    for file in _files(path):
        files.setdefault(_kind(file), []).append(file)
    judged = {task: kind for task, kind in find_takers() if kind in files}
    return ToolFolder(path, files, judged) if judged else None


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
        return "of an unknown kind"
