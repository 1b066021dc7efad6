"""Paths that cannot be written are reported before anything is asked."""

from __future__ import annotations

import os
from pathlib import Path

from ...records.reading.problems import InputError
from ...records.writing import writing


def check_writable(path: Path) -> None:
    """Raise InputError unless the file or folder, or else its nearest parent, can be written."""
    with writing(path):
        there = next(each for each in (path, *path.absolute().parents) if each.exists())
        if not os.access(there, os.W_OK) or (there != path and not there.is_dir()):
            raise InputError(f"{path}: cannot be written, for {there} is no folder to write in")


def check_writable_file(path: Path) -> None:
    """Raise InputError unless a file can be written there, beside others of its folder."""
    check_writable(path)
    if path.is_dir():
        raise InputError(f"{path}: a folder, wanted a file to write")
    check_writable_folder(path.parent)


def check_writable_folder(path: Path) -> None:
    """Raise InputError unless files can be written into this folder, or it can be made."""
    check_writable(path)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path}: a file, wanted a folder to write in")
