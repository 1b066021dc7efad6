"""Settings whose values are secrets, recognised by their names: these are shown nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

HIDDEN = "***"
_SECRET = re.compile(
    r"(key|token|passw(or)?d|pwd|passphrase|secrets?|auth|authorization|bearer|credentials?|cookie)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]+")


def is_secret(name: str) -> bool:
    """Whether a word of the name ends as names of secrets do.

    >>> is_secret("models.default.api_key"), is_secret("X-Auth-Token"), is_secret("run.max_tokens")
    (True, True, False)
    """
    return any(map(_SECRET.search, _WORD.findall(name)))


def has_secret(names: Iterable[str], value: Any) -> bool:
    """Whether a value under these names is one, or names one itself, at any depth or as text."""
    if any(map(is_secret, names)):
        return True
    if isinstance(value, dict):
        return any(has_secret([str(name)], inner) for name, inner in value.items())
    if isinstance(value, list | tuple):
        return any(has_secret((), inner) for inner in value)
    return False
