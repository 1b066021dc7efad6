"""Templates with placeholders, filled without running code, and styles of lists in them.

Source: the syntax is Python's `str.format`, reduced to names: `{name}`, and `{{` and `}}`
for braces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

COUNT = "n_"  # {n_nuggets}: how many there are of {nuggets}
ListStyle = Literal["numbered", "bracketed", "lines", "python", "json"]
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Piece(NamedTuple):
    """A part of a template: fixed text or, with a `name`, a placeholder; lines count from 1."""

    text: str
    name: str | None
    line: int


class TemplateError(ValueError):
    """A template that cannot be filled; `line` of the template, from 1."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line


def pieces(template: str) -> tuple[Piece, ...]:
    """Cut a template at its placeholders.

    Raises: TemplateError for a single brace, or braces around anything but a name.

    >>> [(piece.text, piece.name) for piece in pieces('Q: {question} {{"O": 3}}')]
    [('Q: ', None), ('', 'question'), (' {"O": 3}', None)]
    """
    return tuple(_join_pieces(_cut(template)))


def _cut(template: str) -> Iterator[Piece]:
    end, line = 0, 1
    for match in _PIECE.finditer(template):
        before = template[end : match.start()]
        line += before.count("\n")
        yield Piece(before, None, line)
        whole, name = match[0], match[1]
        if name is not None:
            if not _NAME.fullmatch(name):
                what = f"{whole!r} is not a placeholder; write a literal brace twice"
                raise TemplateError(line, f"{what}: {{{{ or }}}}")
            yield Piece("", name, line)
        elif len(whole) == 2:
            yield Piece(whole[0], None, line)
        else:
            raise TemplateError(line, f"a single {whole!r}; write a literal brace twice")
        end = match.end()
    yield Piece(template[end:], None, line)


def _join_pieces(cut: Iterator[Piece]) -> Iterator[Piece]:
    text, start = "", 1
    for piece in cut:
        if piece.name is None:
            text, start = text + piece.text, piece.line
            continue
        if text:
            yield Piece(text, None, start)
        yield piece
        text = ""
    if text:
        yield Piece(text, None, start)


def fill(cut: Sequence[Piece], values: Mapping[str, str]) -> str:
    """Put a value into each placeholder; values are never searched for placeholders."""
    return "".join([piece.text if piece.name is None else values[piece.name] for piece in cut])


def _number_texts(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, 1))


def _bracket_texts(texts: Sequence[str]) -> str:
    return "\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1))


STYLES: Mapping[str, Callable[[Sequence[str]], str]] = {
    "numbered": _number_texts,
    "bracketed": _bracket_texts,
    "lines": "\n".join,
    "python": lambda texts: repr(list(texts)),
    "json": lambda texts: json.dumps(list(texts), ensure_ascii=False),
}


def as_text(value: Any, style: ListStyle) -> str:
    """Write a judge's input as text for a prompt; a list in its style, numbered from 1.

    For a map, which judges number through all calls, only the values count: a published prompt
    sees the list of its own call.

    >>> as_text({"11": "it's red", "12": "it moves"}, "python")
    '["it\\'s red", \\'it moves\\']'
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return STYLES[style]([v if isinstance(v, str) else _plain(v) for v in value])
    return value if isinstance(value, str) else _plain(value)


def _plain(value: Any) -> str:
    if value is None:  # an optional input
        return ""
    return json.dumps(value, ensure_ascii=False, default=str)
