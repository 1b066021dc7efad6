"""The folder of one index: published completely or not at all, checked when it is opened.

While the index in folder `bm25` is being made, `.bm25.part` is beside it: the new files are in
`new`, and for a moment the replaced index is in `old`.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ..records.reading.problems import InputError

FORMAT = 2  # raised when the layout of the folder changes
ABOUT, IDS = "index.json", "ids.json"
_MARK = "nuggetjudge_index"  # field of index.json with the format; marks our indexes
_FIELDS = {"kind": str, "settings": dict, "n_passages": int, "files": dict}
_DISK_FAILS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


@dataclass
class IndexDraft:
    """An index in progress: files go into `path`, and the builder counts its passages."""

    path: Path
    n_passages: int = 0


@dataclass(frozen=True)
class IndexInfo:
    """The metadata of an index; its settings are plain JSON."""

    settings: Mapping[str, Any]
    n_passages: int


@contextmanager
def new_index(folder: Path, kind: str, settings: Mapping[str, Any]) -> Iterator[IndexDraft]:
    """Make an index: it appears in `folder` when the block ends, not before.

    An existing index stays until then, and stays for good if the block fails or is killed.

    Args:
        folder: the folder for the index: missing, empty, or one of our indexes, which is replaced.
        kind: the kind of index, such as "bm25"; `open_index` needs the same.
        settings: its settings, as JSON values.

    Raises: InputError if the folder holds anything else, cannot be written, or is in use by
        another process; ValueError if the block ends without a passage.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as parent:
    ...     with new_index(Path(parent, "bm25"), "bm25", {"k1": 0.9}) as draft:
    ...         write_ids(draft.path, ["a", "b"])
    ...         draft.n_passages = 2
    ...     read_ids(Path(parent, "bm25"))
    ['a', 'b']
    """
    folder = folder.resolve()
    with _as_input_error(folder), _only_builder(folder) as work:
        _check_replaceable(folder)
        draft = IndexDraft(work / "new")
        draft.path.mkdir()
        yield draft
        if draft.n_passages < 1:
            raise ValueError(f"{folder}: an index of {draft.n_passages} passages, wanted 1 or more")
        about = {
            _MARK: FORMAT,
            "kind": kind,
            "settings": settings,
            "n_passages": draft.n_passages,
            "files": _digests(draft.path),
        }
        (draft.path / ABOUT).write_bytes(orjson.dumps(about, option=orjson.OPT_INDENT_2))
        _check_replaceable(folder)
        if folder.exists():
            folder.rename(work / "old")
        draft.path.rename(folder)


def open_index(folder: Path, kind: str, settings: Mapping[str, Any] | None = None) -> IndexInfo:
    """Check an index and return its metadata.

    Args:
        settings: values that the index must have; its other settings are free.

    Every file is read for this, about as fast as the disk allows.

    Raises: InputError if there is none, a file is missing or has changed, or it has another
        kind, format or setting; the text says which and what to do.
    """
    resolved = folder.resolve()
    was_begun = not resolved.exists() and _get_part(resolved).exists()
    if was_begun:
        with _as_input_error(resolved), _only_builder(resolved):
            pass  # restores an index that a killed process was replacing
    if not folder.exists():
        what = "the index is unfinished" if was_begun else "there is no index"
        raise InputError(f"{folder}: {what}; create it with `judge index`")
    if (about := _read_about(folder)) is None:
        what = "not an index of nuggetjudge, or corrupt"
        raise InputError(f"{folder}: {what}; choose another, or delete it and create it again")
    again = "create it again with `judge index`"
    if about[_MARK] != FORMAT:
        raise InputError(f"{folder}: index format {about[_MARK]}, wanted {FORMAT}; {again}")
    if about["kind"] != kind:
        raise InputError(f"{folder}: an index of kind {about['kind']}, wanted {kind}")
    for name, wanted in orjson.loads(orjson.dumps(settings or {})).items():
        if (got := about["settings"].get(name)) != wanted:
            what = f"made with {name} {got!r}, wanted {wanted!r}"
            raise InputError(f"{folder}: {what}; create it again, or use the same setting")
    for name, digest in about["files"].items():
        path = folder / name
        if not path.is_file() or _digest(path) != digest:
            got = "has changed" if path.is_file() else "is missing"
            raise InputError(f"{folder}: corrupt index: file {name} {got}; {again}")
    return IndexInfo(about["settings"], about["n_passages"])


def write_ids(folder: Path, passage_ids: Iterable[str]) -> None:
    """Write the ids of the passages in the order of the index."""
    (folder / IDS).write_bytes(orjson.dumps(list(passage_ids)))


def read_ids(folder: Path) -> list[str]:
    """Read the ids of the passages in the order of the index."""
    passage_ids: list[str] = orjson.loads((folder / IDS).read_bytes())
    return passage_ids


def _read_about(folder: Path) -> dict[str, Any] | None:
    """The content of index.json; None if it is missing, not ours, or lacks a field."""
    try:
        about = orjson.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(about, dict) or _MARK not in about:
        return None
    is_whole = all(isinstance(about.get(field), kind) for field, kind in _FIELDS.items())
    return about if is_whole or about[_MARK] != FORMAT else None


def _check_replaceable(folder: Path) -> None:
    """Raise InputError unless the folder is missing, empty or holds only files of an index."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise InputError(f"{folder}: a file, wanted a folder for the index")
    about = _read_about(folder)
    of_index = {ABOUT, *about.get("files", ())} if about else set()
    if others := sorted(set(_files(folder)) - of_index):
        raise InputError(
            f"{folder}: holds {others[0]}, which is not part of an index; choose another folder"
        )


def _files(folder: Path) -> dict[str, Path]:
    """Every file in a folder, by its relative path."""
    files = sorted(path for path in folder.rglob("*") if not path.is_dir())
    return {path.relative_to(folder).as_posix(): path for path in files}


def _digests(folder: Path) -> dict[str, str]:
    return {name: _digest(path) for name, path in _files(folder).items()}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _get_part(folder: Path) -> Path:
    return folder.parent / f".{folder.name}.part"


@contextmanager
def _only_builder(folder: Path) -> Iterator[Path]:
    """An empty, locked work folder; files of a killed process there are removed."""
    work = _get_part(folder)
    work.mkdir(parents=True, exist_ok=True)
    lock = os.open(work, os.O_RDONLY | os.O_NOFOLLOW)  # following a link would delete other files
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{folder}: another process is making this index") from None
        try:
            _clear(work, folder)
            yield work
        finally:
            _clear(work, folder)
            work.rmdir()
    finally:
        os.close(lock)


def _clear(work: Path, folder: Path) -> None:
    """Empty the work folder; an index that was moved there but not replaced goes back."""
    if (work / "old").exists() and not folder.exists():
        (work / "old").rename(folder)
    for name in ("old", "new"):
        with suppress(FileNotFoundError):
            shutil.rmtree(work / name)


@contextmanager
def _as_input_error(folder: Path) -> Iterator[None]:
    """Turn errors of the disk into an InputError with the index's name; others pass."""
    try:
        yield
    except OSError as error:
        about_us = str(error.filename or "").startswith((str(_get_part(folder)), str(folder)))
        is_numpys = type(error) is OSError and error.errno is None  # "n requested and m written"
        if not (about_us or is_numpys or error.errno in _DISK_FAILS):
            raise
        why = error.strerror or str(error)
        raise InputError(f"{folder}: the index cannot be written ({why})") from None
