"""Whether a result file is what its run wrote: by the SHA-256 in the manifest beside it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import orjson

from .problems import InputError, check_no_pipe, unreadable

MANIFEST = "manifest.json"
FILES = "files"  # of a manifest: the SHA-256 of each file that the run wrote, by its name
_State = tuple[int, ...]  # of a file: another one after each change


def hash_of(path: Path) -> str:
    """SHA-256 of a file. Raises: InputError if it cannot be read."""
    check_no_pipe(path)
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None


def check_digest(path: Path) -> None:
    """Raise InputError for a result file that was edited since its run wrote it.

    A process hashes a file once, and again if it changes. Files of earlier versions have no digest
    in their manifest, and pass.
    """
    manifest = path.parent / MANIFEST
    if (state := _state(manifest)) is None or (own := _state(path)) is None:
        return
    wanted = _digests(manifest, state).get(path.name)
    if wanted is not None and wanted != _hash(path, own):
        what = "was edited after the run wrote it (its SHA-256 is not the one in manifest.json)"
        todo = "restore it, or start the run again; edit a copy in another folder"
        raise InputError(f"{path}: {what}; {todo}")


def _state(path: Path) -> _State | None:
    try:
        at = os.stat(path)
    except OSError:
        return None
    return at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


@lru_cache(maxsize=256)
def _digests(manifest: Path, state: _State) -> Mapping[str, str]:
    """What a manifest of ours says; nothing if it is another one, or broken."""
    try:
        row = orjson.loads(manifest.read_bytes())
    except (OSError, ValueError):
        return {}
    files = row.get(FILES) if isinstance(row, dict) and "fingerprint" in row else None
    return files if isinstance(files, dict) else {}


@lru_cache(maxsize=4096)
def _hash(path: Path, state: _State) -> str:
    return hash_of(path)
