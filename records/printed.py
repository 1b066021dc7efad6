"""Text for people: figures, columns, and nothing that could steer a terminal."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping
from typing import Any, TextIO


def shown(text: str) -> str:
    """The text with control characters, bidi marks and half characters as escapes, lines kept.

    >>> shown("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def write_note(text: str) -> None:
    """Write to stderr, as `shown`: paths, ids and flags may hold anything.

    A terminal gets lines that are broken between words.
    """
    _write(text, sys.stderr)


def write_text(text: str) -> None:
    """Write to stdout, as `write_note` does to stderr."""
    _write(text, sys.stdout)


def _write(text: str, stream: TextIO) -> None:
    plain = shown(text)
    if stream.isatty():
        plain = wrapped(plain, shutil.get_terminal_size().columns)
    stream.write(plain)


def wrapped(text: str, width: int, *, breaks_words: bool = False) -> str:
    """The text in lines of at most so many columns, each indented as it was.

    Args:
        breaks_words: whether a word that is longer than a line is broken.

    >>> wrapped("  one two three\\n", 10)
    '  one two\\n  three\\n'
    """
    lines = []
    for line in text.split("\n"):
        indent = " " * (len(line) - len(line.lstrip(" ")))
        lines += textwrap.wrap(
            line, width, subsequent_indent=indent, break_on_hyphens=False,
            break_long_words=breaks_words,
        ) or [""]  # fmt: skip
    return "\n".join(lines)


def cell(text: str, most: int | None = None) -> str:
    """As `shown`, on one line, of at most so many characters, cut between words if possible.

    >>> cell("one\\ntwo"), cell("abcdef", 5), cell("three short words", 14)
    ('one\\\\ntwo', 'ab...', 'three short...')
    """
    plain = shown(text).replace("\n", "\\n")
    if most is None or len(plain) <= most:
        return plain
    kept = plain[: most - 3]
    words = kept[: kept.rstrip().rfind(" ") + 1]
    return (kept if plain[most - 3] == " " or not words.strip() else words) + "..."


def figure(value: float | None, digits: int = 3, sign: str = "") -> str:
    """A number, or - where there is none.

    >>> figure(0.25), figure(0.25, 2, "+"), figure(None)
    ('0.250', '+0.25', '-')
    """
    return "-" if value is None else f"{value:{sign}.{digits}f}"


def interval(
    low: float | None, high: float | None, digits: int = 3, sign: str = "", none: str = "-"
) -> str:
    """The bounds of a number in brackets, or `none` where there are none.

    >>> interval(0.1, 0.25), interval(None, None), interval(None, 1.0, none="[- -]")
    ('[0.100 0.250]', '-', '[- -]')
    """
    if low is None or high is None:
        return none
    return f"[{figure(low, digits, sign)} {figure(high, digits, sign)}]"


def estimate(row: Mapping[str, Any] | None) -> str:
    """A value with its bounds behind it, of a row with `value`, `low` and `high`.

    >>> estimate({"value": 0.5, "low": 0.4, "high": 0.625})
    '0.500 [0.400, 0.625]'
    """
    if row is None or row["value"] is None or row["low"] is None:
        return figure(None if row is None else row["value"])
    return f"{figure(row['value'])} [{figure(row['low'])}, {figure(row['high'])}]"
