"""Problems with files: place, fault, value, what was wanted; suggestions, and what to install."""

from __future__ import annotations

import difflib
import importlib
import re
import shutil
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO


def escape(text: str) -> str:
    """Replace control characters, bidi marks and half characters by escapes; keep line breaks.

    >>> escape("a\\x1b[2Jb")
    'a\\\\x1b[2Jb'
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape").decode("ascii")
        for c in text
    )


def write_note(text: str) -> None:
    """Write escaped text to stderr: paths, ids and flags may hold anything.

    On a terminal, lines are broken between words.
    """
    _write(text, sys.stderr)


def write_text(text: str) -> None:
    """Write to stdout, like `write_note` to stderr."""
    _write(text, sys.stdout)


def _write(text: str, stream: TextIO) -> None:
    plain = escape(text)
    if stream.isatty():
        plain = wrap(plain, shutil.get_terminal_size().columns)
    stream.write(plain)


def wrap(text: str, width: int, *, breaks_words: bool = False) -> str:
    """Break lines at a width; indentation is kept.

    Args:
        breaks_words: break words that are longer than a line.

    >>> wrap("  one two three\\n", 10)
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
    """Write escaped text on one line of at most `most` characters, cut between words if possible.

    >>> cell("one\\ntwo"), cell("abcdef", 5), cell("three short words", 14)
    ('one\\\\ntwo', 'ab...', 'three short...')
    """
    plain = escape(text).replace("\n", "\\n")
    if most is None or len(plain) <= most:
        return plain
    kept = plain[: most - 3]
    words = kept[: kept.rstrip().rfind(" ") + 1]
    return (kept if plain[most - 3] == " " or not words.strip() else words) + "..."


def figure(value: float | None, digits: int = 3, sign: str = "") -> str:
    """Format a number, or - for None.

    >>> figure(0.25), figure(0.25, 2, "+"), figure(None)
    ('0.250', '+0.25', '-')
    """
    return "-" if value is None else f"{value:{sign}.{digits}f}"


def interval(
    low: float | None, high: float | None, digits: int = 3, sign: str = "", none: str = "-"
) -> str:
    """Format the bounds of a number in brackets, or `none` if they are missing.

    >>> interval(0.1, 0.25), interval(None, None), interval(None, 1.0, none="[- -]")
    ('[0.100 0.250]', '-', '[- -]')
    """
    if low is None or high is None:
        return none
    return f"[{figure(low, digits, sign)} {figure(high, digits, sign)}]"


def estimate(row: Mapping[str, Any] | None) -> str:
    """Format a value and its bounds, from a row with `value`, `low` and `high`.

    >>> estimate({"value": 0.5, "low": 0.4, "high": 0.625})
    '0.500 [0.400, 0.625]'
    """
    if row is None or row["value"] is None or row["low"] is None:
        return figure(None if row is None else row["value"])
    return f"{figure(row['value'])} [{figure(row['low'])}, {figure(row['high'])}]"


SHOWN_ALIKE = 3  # shown problems that differ only in names and numbers
SHOWN = 10  # problems quoted in an error message; all of them are in `Problems`


class InputError(Exception):
    """A file, flag or config that cannot be used; the text says where, what, got and wanted."""

    def __str__(self) -> str:
        """The text, escaped: it may hold a path, an id or a flag."""
        return escape(super().__str__())


def unreadable(path: str | Path, error: OSError | UnicodeDecodeError) -> InputError:
    """Make the InputError for a file that cannot be opened, or is not UTF-8 text."""
    why = error.strerror if isinstance(error, OSError) else None
    if isinstance(error, IsADirectoryError):
        why = "it is a folder, wanted a file"
    if isinstance(error, FileNotFoundError) and Path(path).is_symlink():
        why = f"a link to {Path(path).readlink()}, which does not exist"
    return InputError(f"{path}: cannot be read ({why or error})")


def check_no_pipe(path: str | Path) -> None:
    """Raise InputError for a pipe or a device: inputs are read more than once.

    Call it before a user's file is opened; opening would wait for a pipe's other end.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):
        what = "is a pipe or a device, and inputs are read more than once; save it as a file"
        raise InputError(f"{path}: {what}")


@contextmanager
def raise_at(at: str | Path) -> Iterator[None]:
    """Turn a ValueError inside into an InputError, with the file and line in front."""
    try:
        yield
    except ValueError as error:
        raise InputError(f"{at}: {error}") from None


@dataclass(frozen=True)
class Problem:
    """One fault in a file.

    Attributes:
        file: the path of the file.
        line: the number of the line, from 1; 0: the fault is of the whole file.
        kind: the short name under which problems are counted.
        what: the fault, what was read and what was wanted.
        action: error: the file cannot be used; skipped: something is left out; kept: only
            mentioned.
    """

    file: str
    line: int
    kind: str
    what: str
    action: Literal["error", "skipped", "kept"]

    def __str__(self) -> str:
        at = f"{self.file}:{self.line}" if self.line else self.file  # 0: of the whole file
        return f"{at}: {self.what}"


class Problems:
    """Collects what readers find, so that you see all problems together.

    An `error` makes the file unusable (`raise_errors` ends the reading); a `skip` leaves one
    thing out; a `keep` only mentions it. Everything that is left out has a row here.
    """

    def __init__(self) -> None:
        self.rows: list[Problem] = []
        self.notes: dict[str, None] = {}  # guesses about how to read files

    def note(self, text: str) -> None:
        """Record once how a file was read.

        Args:
            text: the note, such as the columns that were recognised.
        """
        self.notes[text] = None

    def error(self, file: str | Path, line: int, kind: str, what: str) -> None:
        """Record a fault that makes the file unusable.

        Args:
            file, line: the place; line 0 is the whole file.
            kind: the short name under which problems are counted.
            what: the fault, what was read and what was wanted.
        """
        self.rows.append(Problem(str(file), line, kind, cell(what), "error"))

    def skip(self, file: str | Path, line: int, kind: str, what: str) -> None:
        """Record something that was left out. For the arguments see `error`.

        Args:
            file, line, kind, what: the place, the short name and the fault.
        """
        self.rows.append(Problem(str(file), line, kind, cell(what), "skipped"))

    def keep(self, file: str | Path, line: int, kind: str, what: str) -> None:
        """Record something unusual that was used unchanged. For the arguments see `error`.

        Args:
            file, line, kind, what: the place, the short name and the fault.
        """
        self.rows.append(Problem(str(file), line, kind, cell(what), "kept"))

    def take(self, others: Problems) -> None:
        """Add the new problems of a file that is read once more, by file, line and kind.

        Args:
            others: the problems of the later reading.
        """
        known = {(row.file, row.line, row.kind) for row in self.rows}
        self.rows += (r for r in others.rows if (r.file, r.line, r.kind) not in known)
        self.notes |= others.notes

    def raise_errors(self) -> None:
        """Raise one error for all errors recorded so far, if there are any.

        Raises: InputError with the first errors and their total number.
        """
        errors = {str(row): row for row in self.rows if row.action == "error"}
        if not errors:  # a file that is read twice reports each once
            return
        alike: dict[tuple[str, ...], list[str]] = {}
        for text, row in errors.items():
            alike.setdefault((row.file, row.kind, _shape(row.what)), []).append(text)
        lines: list[str] = []
        for texts in alike.values():
            more = len(texts) - SHOWN_ALIKE
            lines += texts if more == 1 else texts[:SHOWN_ALIKE]
            lines += [f"... and {more:,} more like it"] * (more > 1)
        beyond = f"\n... and {len(lines) - SHOWN} more" if len(lines) > SHOWN else ""
        raise InputError("\n".join(lines[:SHOWN]) + beyond)

    def counts(self) -> dict[str, int]:
        """Return the number of problems by kind, skipped and kept, most frequent first."""
        return dict(Counter(row.kind for row in self.rows if row.action != "error").most_common())

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")


def _shape(what: str) -> str:
    """A message without the values in it; the first quoted name is kept."""
    first = _QUOTED.search(what)
    return (first[0] if first else "") + _VARIES.sub("", what)


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names most similar to this one, the most similar first; [] if none is similar.

    >>> nearest("modle", ["data", "model", "models"], 2)
    ['model', 'models']
    """
    return difflib.get_close_matches(name, list(known), n=most)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Make the question at the end of an error; "" if no name is similar.

    >>> did_you_mean("asigner", ["assigner", "support"])
    '; did you mean assigner?'
    """
    return "".join(f"; did you mean {suggestion}?" for suggestion in nearest(name, known))


def pip_install(extra: str) -> str:
    """The command that installs an extra; before the first release, from the source."""
    return f"pip install '.[{extra}]' in the folder of nuggetjudge's source"


def need(module: str, extra: str) -> Any:
    """Import a module of an extra. Raises: InputError with the package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library, missing = module.partition(".")[0], error.name or module
        if missing.startswith(f"{library}."):
            missing = library
        raise InputError(f"{missing} is not installed: {pip_install(extra)}") from None
