"""What people read before they label: the project's own file, or a few words for each kind."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ....records.reading.problems import InputError, unreadable
from ..store.kinds import Kind
from .wording import TELL, write_guidelines

HASH_CHARS = 16
MAX_CHARS = 200_000


def read_guidelines(kind: Kind, path: Path | None = None, about: str = "") -> str:
    """The guidelines of a task, as plain text.

    Args:
        path: of the project's own. about: what the judge is asked, which its people are asked too
            where they have no file; "": the words of the kind.

    Raises: InputError for a file that cannot be read, is empty or too long.
    """
    if path is None:
        if about.strip():
            return f"{about.strip()}\n\n{TELL}"
        return write_guidelines(kind)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8, wanted plain text") from None
    if not text.strip():
        raise InputError(f"{path}: is empty, wanted guidelines")
    if len(text) > MAX_CHARS:
        raise InputError(f"{path}: {len(text):,} characters, wanted {MAX_CHARS:,} at most")
    return text


def guidelines_sha256(text: str) -> str:
    """What names guidelines in events: the start of their SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_CHARS]
