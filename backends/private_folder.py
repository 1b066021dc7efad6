"""Where replies and vectors are kept between runs: folders of the user's own, closed to others."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

from ..records.reading.problems import InputError


def default_folder(name: str) -> Path:
    """In the user's own cache directory, never a project folder that others could fill."""
    return Path(platformdirs.user_cache_dir("nuggetjudge", appauthor=False)) / name


def make_private(folder: Path, what: str) -> None:
    """Make a folder, or close to others the one that stands there.

    Raises: InputError, which calls it a folder for the `what`, if that fails or the folder belongs
        to somebody else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        info = folder.stat()
        if hasattr(os, "getuid") and info.st_uid != os.getuid():
            raise InputError(
                f"{folder}: the {what} belongs to another user; name a folder of your own"
            )
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    except (OSError, ValueError) as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error
        raise InputError(
            f"{folder}: no folder for the {what} ({why}); name another with run.cache"
        ) from None
