"""Tables as Markdown, CSV, LaTeX, JSON and HTML."""

from __future__ import annotations

import csv
import html
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from ..records.reading.problems import cell, escape
from .table import Column, Estimate, Kind, Row, Style, Table, Value, View, get_style, get_value

# Markdown


def view_markdown(view: View) -> str:
    """Return GitHub tables with complete texts; names are escaped."""
    blocks = [f"**{escape_markdown(view.verdict)}**\n"] if view.verdict else []
    blocks += [_table_markdown(table) for table in view.tables]
    blocks += ["  \n".join(map(escape_markdown, view.notes)) + "\n"] if view.notes else []
    return "\n".join(blocks)


def _table_markdown(table: Table) -> str:
    lines = [[escape_markdown(column.title) for column in table.columns]]
    lines.append(["---" if column.is_words else "---:" for column in table.columns])
    lines += [[escape_markdown(text) for text in _texts(table, row)] for row in table.rows]
    title = ", ".join(escape_markdown(text) for text in (table.title, table.aside) if text)
    notes = "  \n".join(map(escape_markdown, table.notes))
    body = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    return (f"{title}\n\n" if title else "") + body + (f"\n{notes}\n" if notes else "")


def escape_markdown(text: str) -> str:
    """Escape text so that GitHub shows it unchanged, in one cell."""
    return re.sub(r"([\\`*_\[\]<>#|~&@$])", r"\\\1", " ".join(cell(text).split()))


def _texts(table: Table, row: Row) -> Iterator[str]:
    for column, one in zip(table.columns, row.cells, strict=True):
        yield column.format(get_value(one))


# CSV and JSON: all digits


def view_csv(view: View) -> str:
    """Return a header and a line per row, with all digits, one table after the other."""
    return "\n".join(map(_table_csv, view.tables))


def _table_csv(table: Table) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([key for column in table.columns for key in _keys(column)])
    for row in table.rows:
        values = zip(table.columns, row.cells, strict=True)
        writer.writerow([
            cell(value) if isinstance(value, str) else "" if value is None else value
            for column, one in values
            for value in _values(column, get_value(one))
        ])  # fmt: skip
    return out.getvalue()


def view_json(view: View) -> str:
    """Return one JSON object per row; `table` names its table."""
    lines = []
    for table in view.tables:
        for row in table.rows:
            found: dict[str, Any] = {"table": table.title}
            for column, one in zip(table.columns, row.cells, strict=True):
                values = _values(column, get_value(one))
                found |= dict(zip(_keys(column), values, strict=True))
            lines.append(orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE).decode())
    return "".join(lines)


def _keys(column: Column) -> list[str]:
    match column.kind:
        case Kind.INTERVAL | Kind.BAR:
            return [f"{column.key}_low", f"{column.key}_high"]
        case Kind.RATIO:
            return [column.key, f"{column.key}_total"]
    return [column.key]


def _values(column: Column, value: Value) -> Sequence[Value]:
    n = len(_keys(column))
    if value is None:
        return [None] * n
    if isinstance(value, Estimate):
        return [value.low, value.high]
    return list(value) if isinstance(value, tuple) else [value]


# LaTeX


def view_latex(view: View) -> str:
    """Return tables for the booktabs package, each with a caption and the best row in bold."""
    return "\n".join(_table_latex(table, view.verdict) for table in view.tables)


def _table_latex(table: Table, verdict: str) -> str:
    sides = "".join("l" if column.is_words else "r" for column in table.columns)
    title = ", ".join(text for text in (table.title, table.aside) if text)
    caption = " ".join(
        text if text.endswith((".", "?")) else f"{text}."
        for text in (title, verdict, *table.notes)
        if text
    )
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(caption)}}}",
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        " & ".join(escape_latex(column.title) for column in table.columns) + r" \\",
        r"\midrule",
    ]
    for i, row in enumerate(table.rows):
        if table.rule_after == i and i:
            lines.append(r"\midrule")
        texts = [escape_latex(text) for text in _texts(table, row)]
        if row.style is Style.LEADING:
            texts = [rf"\textbf{{{text}}}" for text in texts]
        lines.append(" & ".join(texts) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
    return "".join(f"{line}\n" for line in lines)


_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    **{c: rf"\{c}" for c in "&%$#_{}"},
}  # fmt: skip


def escape_latex(text: str) -> str:
    """Escape text so that LaTeX prints it unchanged.

    >>> escape_latex("support_recall 5% < 10%")
    'support\\\\_recall 5\\\\% \\\\textless{} 10\\\\%'
    """
    return "".join(_LATEX.get(c, c) for c in " ".join(cell(text).split()))


# HTML, for notebooks


def view_html(view: View) -> str:
    """Return table elements and paragraphs; every text is escaped, and there is no script."""
    parts = [f"<p><strong>{escape_html(view.verdict)}</strong></p>"] if view.verdict else []
    parts += map(_table_html, view.tables)
    parts += [f"<p>{escape_html(note)}</p>" for note in view.notes]
    return "\n".join(parts)


_STYLES = {
    Style.LEADING: "font-weight: bold",
    Style.TRAILING: "opacity: .65",
    Style.WARNING: "color: #b35900",
    Style.UNJUDGED: "color: #b3261e",
}
_SVG_WIDTH, _SVG_HEIGHT = 160, 14


def _table_html(table: Table) -> str:
    head = "".join(
        f'<th style="text-align: {_side(column)}">{escape_html(column.title)}</th>'
        for column in table.columns
    )
    body = []
    for i, row in enumerate(table.rows):
        rule = ' style="border-top: 1px solid"' if table.rule_after == i and i else ""
        cells = (_cell_html(table.columns, row, at) for at in range(len(table.columns)))
        body.append(f"<tr{rule}>{''.join(cells)}</tr>")
    title = ", ".join(escape_html(text) for text in (table.title, table.aside) if text)
    caption = f'<caption style="text-align: left">{title}</caption>' if title else ""
    rows = "\n".join(body)
    notes = "".join(f"\n<p>{escape_html(note)}</p>" for note in table.notes)
    start = f"<table>{caption}\n<thead><tr>{head}</tr></thead>\n"
    return f"{start}<tbody>\n{rows}\n</tbody></table>{notes}"


def _cell_html(columns: Sequence[Column], row: Row, at: int) -> str:
    column, one = columns[at], row.cells[at]
    style = f"text-align: {_side(column)}"
    if set_off := _STYLES.get(get_style(one, row)):
        style += f"; {set_off}"
    value = get_value(one)
    inner = escape_html(column.format(value))
    if column.kind is Kind.BAR and isinstance(value, Estimate):
        inner = bar_svg(column, value, inner)
    elif column.kind is Kind.INTERVAL and (drawn := _whisker(columns, row, at)):
        inner += f" {drawn}"
    return f'<td style="{style}">{inner}</td>'


def _whisker(columns: Sequence[Column], row: Row, at: int) -> str:
    """Draw an interval if its value is in the column before."""
    column, ends = columns[at], get_value(row.cells[at])
    value = get_value(row.cells[at - 1]) if at else None
    is_share = columns[at - 1].kind in (Kind.SHARE, Kind.DIFFERENCE)
    if not (is_share and isinstance(ends, tuple) and isinstance(value, float)):
        return ""
    low, high = float(ends[0]), float(ends[1])
    least = -1.0 if column.is_signed or min(low, value) < 0 else 0.0
    if min(low, value) < least or max(high, value) > 1:  # a number of words or points
        return ""
    shape = Column(column.key, Kind.BAR, axis=(least, 1.0))
    return bar_svg(shape, Estimate(value, low, high), escape_html(column.format(ends)))


def bar_svg(column: Column, value: Estimate, title: str) -> str:
    """Draw an interval as a small picture with its value; screen readers read `title`."""
    low, high = column.axis
    span = (high - low) or 1.0

    def place(number: float) -> float:
        share = (min(max(number, low), high) - low) / span
        return round(5 + (_SVG_WIDTH - 10) * share, 1)

    middle = _SVG_HEIGHT / 2
    return (
        f'<svg width="{_SVG_WIDTH}" height="{_SVG_HEIGHT}" role="img"><title>{title}</title>'
        f"{_zero(place(0.0)) if low < 0 < high else ''}"
        f'<line x1="{place(value.low)}" x2="{place(value.high)}" y1="{middle}" y2="{middle}" '
        f'stroke="currentColor" stroke-width="1.5"/>'
        f'<circle cx="{place(value.value)}" cy="{middle}" r="3" fill="currentColor"/></svg>'
    )


def _zero(x: float) -> str:
    """Draw a thin line at 0, to read differences against."""
    ends = f'x1="{x}" x2="{x}" y1="0" y2="{_SVG_HEIGHT}"'
    return f'<line {ends} stroke="currentColor" stroke-width="0.5"/>'


def _side(column: Column) -> str:
    return "left" if column.is_words or column.kind is Kind.BAR else "right"


def escape_html(text: str) -> str:
    """Escape text for HTML, without control characters."""
    return html.escape(escape(text))
