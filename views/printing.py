"""Print a view in the format of `--format`."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TextIO

from .formats import view_csv, view_json, view_latex, view_markdown
from .table import View
from .terminal import Terminal, view_text


class Format(StrEnum):
    """The format of tables; notebooks use `formats.view_html`."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"
    JSON = "json"


_RENDERERS = {
    Format.CSV: view_csv,
    Format.MARKDOWN: view_markdown,
    Format.LATEX: view_latex,
    Format.JSON: view_json,
}


def render(view: View, format: Format = Format.TABLE, terminal: Terminal | None = None) -> str:
    """Return a view as text. `terminal`: where tables are shown; default: 80 columns wide."""
    if format is Format.TABLE:
        return view_text(view, terminal or Terminal())
    return _RENDERERS[format](view)


def print_view(view: View, format: Format = Format.TABLE, stream: TextIO | None = None) -> None:
    """Write a view to a stream; default: standard output."""
    out = sys.stdout if stream is None else stream
    out.write(render(view, format, Terminal.of(out)))
