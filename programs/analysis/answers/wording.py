"""Words and lines of what is shown in a terminal: numbers, counts, texts as wide as it is."""

from __future__ import annotations

import shlex
import shutil
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path

from ....records.reading.problems import shown

NO_TERMINAL = 100  # columns where nothing says how wide the terminal is
_LEAST = 40


def width() -> int:
    """Columns of the terminal."""
    return max(shutil.get_terminal_size((NO_TERMINAL, 24)).columns, _LEAST)


def wrapped(text: str, indent: str = "", first: str | None = None) -> str:
    """A text in lines as wide as the terminal, its control characters as escapes.

    Args:
        indent: before each line. first: before the first line instead.
    """
    lines = textwrap.wrap(
        shown(" ".join(text.split())),
        width(),
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
    return "\n".join(lines or [(indent if first is None else first).rstrip()]) + "\n"


def number(value: float | None, measure: str = "") -> str:
    """A score with three digits and no leading zero; - where there is none.

    >>> number(0.25), number(1.0), number(None), number(96.0, "length")
    ('.250', '1', '-', '96')
    """
    if value is None:
        return "-"
    if measure == "length" or value == int(value):
        return f"{value:.0f}"
    sign = "-" if value < 0 else ""
    return sign + f"{abs(value):.3f}".removeprefix("0")


def counted(n: int, what: str) -> str:
    """A number of things, with an s where there are several.

    >>> counted(1, "run"), counted(1580, "topic")
    ('1 run', '1,580 topics')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def plural(unit: str) -> str:
    """Several of a unit that was judged.

    >>> plural("key point"), plural("criterion")
    ('key points', 'criteria')
    """
    return "criteria" if unit == "criterion" else f"{unit}s"


def listed(names: Iterable[str]) -> str:
    """Names with commas, and an `and` before the last.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def command(*words: str | Path) -> str:
    """A command line as a user types it.

    >>> command("judge", "show", "my results")
    "judge show 'my results'"
    """
    return shown(shlex.join(map(str, words)))


def overlap_note(judges_of: Mapping[str, Iterable[str]]) -> str:
    """What is only word overlap, said as that; "" where nothing is."""
    if not judges_of:
        return ""
    programs = listed(judges_of)
    return wrapped(f"Labels of {programs} are word overlap: no model has read these answers.")
