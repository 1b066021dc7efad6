"""Texts that a spreadsheet would take for formulas: written with an apostrophe, read without."""

from __future__ import annotations

import re

# OWASP, "CSV injection"; wide forms too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_STARTS = re.compile(f"'*[{re.escape(''.join(FORMULA))}]")


def neutral(text: str) -> str:
    """The text with an apostrophe before what would be a formula, or would look so guarded.

    >>> neutral("=1+1"), neutral("it = 2")
    ("'=1+1", 'it = 2')
    """
    return f"'{text}" if _STARTS.match(text) else text


def as_meant(text: str) -> str:
    """What `neutral` was given, so that offsets in a text are the same on both sides of a file.

    >>> as_meant("'=1+1"), as_meant("'tis so")
    ('=1+1', "'tis so")
    """
    return text[1:] if text.startswith("'") and _STARTS.match(text) else text
