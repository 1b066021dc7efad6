"""Which bytes a file has, so that another one in its place is noticed."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...records.reading.problems import unreadable


def hash_of(path: Path) -> str:
    """SHA-256 of a file. Raises: InputError if it cannot be read."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from None
