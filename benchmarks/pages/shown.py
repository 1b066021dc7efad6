"""Puts what is printed now in the place of what a page shows: table rows, output of commands."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

Row = tuple[str, ...]  # the cells of a row
NUMBER = re.compile(r"[-+–]?[$\d.]")
COMMAND = re.compile(r"(?:.*\\\n)*.*\n?")
BLOCK = re.compile(r"^(```\w*\n)(.*?)(^```$)", re.DOTALL | re.MULTILINE)


def with_tables(page: str, printed: str) -> tuple[str, int]:
    """The page with its rows as printed, and how many rows were found.

    A row is found by its table's columns, without the first, whose name a page may choose, and by
    its own cells before the first number. Rows that were not printed stay.
    """
    new: dict[tuple[Row, Row], list[str]] = defaultdict(list)
    for _, columns, cells, line in _rows(printed):
        new[columns, _name(cells)].append(line)
    ours: dict[tuple[Row, Row], list[int]] = defaultdict(list)
    for number, columns, cells, _ in _rows(page):
        ours[columns, _name(cells)].append(number)
    lines, n_rows = page.split("\n"), 0
    for name, numbers in ours.items():
        if len(new[name]) == len(numbers):  # rows of the same name are in the same order
            n_rows += len(numbers)
            for number, line in zip(numbers, new[name], strict=True):
                lines[number] = line
    return "\n".join(lines), n_rows


def with_commands(page: str, run: Callable[[str], str], only: str = "") -> tuple[str, int]:
    """The page with what `run` prints below each `$ judge ...` in its fenced blocks, and how many.

    If the page leaves paragraphs of an output out, as `...`, so does the new page.

    Args:
        only: words that a command must have to be run.
    """
    n_run = 0

    def block(match: re.Match[str]) -> str:
        nonlocal n_run
        parts = re.split(r"^(?=[$] )", match[2], flags=re.MULTILINE)
        for i, part in enumerate(parts):
            shown = COMMAND.match(part)[0]  # type: ignore[index]
            command = shown.replace("\\\n", " ").removeprefix("$ ").strip()
            if part.startswith("$ judge ") and only in command:
                n_run += 1
                parts[i] = shown + shorten_output(run(command), part.removeprefix(shown))
        return match[1] + "".join(parts) + match[3]

    return BLOCK.sub(block, page), n_run


def shorten_output(printed: str, shown: str) -> str:
    """What a page shows if the output has its lines, where `...` is for any lines.

    Otherwise the paragraphs of the output that it shows; all of them if it has no `...` paragraph.
    """
    parts = [re.escape(part) for part in re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)]
    if re.fullmatch("(?:.*\n)*?".join(parts), printed.rstrip("\n") + "\n"):
        return shown
    paragraphs = shown.rstrip("\n").split("\n\n")
    if "..." not in paragraphs:
        return printed
    new = printed.rstrip("\n").split("\n\n")
    found = [p if p == "..." else difflib.get_close_matches(p, new, 1, 0)[0] for p in paragraphs]
    return "\n\n".join(found) + "\n"


def _rows(text: str) -> Iterator[tuple[int, Row, Row, str]]:
    """The rows of all tables: line number, columns without the first, cells, the line."""
    columns: Row = ()
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if not line.startswith("|"):
            columns = ()
        elif number + 1 < len(lines) and re.fullmatch(r"[|:\- ]+", lines[number + 1]):
            columns = _cells(line)[1:]
        elif not re.fullmatch(r"[|:\- ]+", line):
            yield number, columns, _cells(line), line


def _cells(line: str) -> Row:
    return tuple(cell.strip() for cell in line.strip().strip("|").split("|"))


def _name(cells: Row) -> Row:
    n = next((i for i, cell in enumerate(cells) if i and NUMBER.match(cell)), len(cells))
    return cells[:n]
