"""How results show themselves: tables in a notebook, aligned columns where there is none."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from ..records.writing.printed import aligned, cell, shown


@dataclass(frozen=True)
class Table:
    """Rows of text.

    Attributes:
        caption: what it is of. header: names of the columns. rows: as many texts each; the first
            names the row. notes: lines below, of how to read it.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def as_text(self) -> str:
        """Lines for a terminal, without what could steer it."""
        notes = "".join(f"{cell(note)}\n" for note in self.notes)
        return f"{cell(self.caption)}\n{aligned([self.header, *self.rows])}{notes}"

    def as_html(self) -> str:
        """A table element and its notes; every text is escaped, and there is no script."""
        head = "".join(_html_cell("th", text, i) for i, text in enumerate(self.header))
        rows = (
            "".join(_html_cell("td", text, i) for i, text in enumerate(row)) for row in self.rows
        )
        body = "\n".join(f"<tr>{row}</tr>" for row in rows)
        notes = "".join(f"<p>{_escaped(note)}</p>\n" for note in self.notes)
        caption = f'<caption style="text-align: left">{_escaped(self.caption)}</caption>'
        return (
            f"<table>{caption}\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table>\n"
            f"{notes}"
        )


def judge_note(names: Sequence[str]) -> str:
    """Who judged, as a note below a table; "" where it is not known.

    >>> judge_note(["lexical"])
    'Judge: lexical (word overlap, no LLM).'
    """
    named = ["lexical (word overlap, no LLM)" if name == "lexical" else name for name in names]
    return f"Judge{'s' * (len(named) > 1)}: {', '.join(named)}." if named else ""


class InTables(ABC):
    """Something that shows itself as tables."""

    @abstractmethod
    def tables(self) -> Sequence[Table]:
        """What it shows."""

    def _repr_html_(self) -> str:
        return "\n".join(table.as_html() for table in self.tables())

    def __str__(self) -> str:
        return "\n".join(table.as_text() for table in self.tables())


class Text(str):
    """Lines that a notebook, an interpreter and `print` show as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{_escaped(self)}</pre>"


def _escaped(text: str) -> str:
    return html.escape(shown(text))


def _html_cell(tag: str, text: str, column: int) -> str:
    side = "right" if column else "left"
    return f'<{tag} style="text-align: {side}">{_escaped(text)}</{tag}>'
