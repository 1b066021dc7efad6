"""The guidelines that people read before they label: a file of the project, or our default."""

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
        path: file of the project. about: the instruction of the judge, used if there is no file;
            "": the default of the kind.

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
        raise InputError(f"{path}: is not UTF-8; save it as plain text in UTF-8") from None
    if not text.strip():
        raise InputError(f"{path}: is empty; write guidelines or leave out --guidelines")
    if len(text) > MAX_CHARS:
        raise InputError(f"{path}: {len(text):,} characters, wanted {MAX_CHARS:,} at most")
    return text


def guidelines_sha256(text: str) -> str:
    """The name of guidelines in events: the start of their SHA-256."""
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_CHARS]
