"""What the units of an answer write besides text: citations of passages, and marks of headings.

A heading makes no claim that a citation could support.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from .reading.fields import Line, as_id, as_int, show

MAX_WORDS = 12  # a longer line says something, whatever it begins with
MARKERS = ("type", "kind", "role")  # an answer object may name itself a heading under one of these

_HASHES = re.compile(r"#{1,6}\s+\S.*")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1:?")
_TABLE_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?")


@dataclass(frozen=True)
class References:
    """What the citations of one answer may name.

    `listed` are the ids that integer citations count in, None where no id could be read;
    `named` all ids that a citation may use; `is_open`: there is no list, so every id will do;
    `not_given` names for what the system cited and never had.
    """

    listed: tuple[str | None, ...]
    named: Collection[str]
    is_open: bool
    not_given: tuple[str, ...] = ()


def read_references(line: Line) -> References:
    """The `references` of an answer, and the ids of its `documents`.

    Reported: an id that is listed twice (both indexes count, so that positions hold), an item that
    is no id (its index is kept).
    """
    references = line.array("references") if line.row.get("references") is not None else None
    listed = tuple(map(as_id, references or ()))
    inline = set(inline_documents(line))
    written = line.array("not_given") if line.row.get("not_given") is not None else None
    not_given = tuple(filter(None, map(as_id, written or ())))
    named = inline | {name for name in (*listed, *not_given) if name is not None}
    if None in listed or len(set(listed)) < len(listed):
        _note_odd_references(line, references or [], listed)
    return References(listed, named, references is None and not inline, not_given)


def _note_odd_references(
    line: Line, references: Sequence[object], listed: Sequence[str | None]
) -> None:
    for index, (item, name) in enumerate(zip(references, listed, strict=True)):
        if name is None:
            line.skip("bad_reference", f"references[{index}] is {show(item)}, wanted an id")
        elif (first := listed.index(name)) < index:
            what = f"references[{index}] is {name!r}, as references[{first}]; wanted each once"
            line.keep("duplicate_reference", what)


def inline_documents(line: Line) -> dict[str, dict[str, Any]]:
    """The `documents` that a report carries, by id, from a map or a list; unread otherwise."""
    documents = line.row.get("documents")
    if isinstance(documents, list):
        items = [item for item in documents if isinstance(item, dict)]
        pairs = [(as_id(item.get("id", item.get("docid"))), item) for item in items]
    elif isinstance(documents, dict):
        pairs = [(as_id(name), item) for name, item in documents.items()]
    else:
        pairs = []
    return {name: item for name, item in pairs if name is not None}


def plain_citations(written: object, references: References) -> dict[str, None] | None:
    """As `read_citations`, where `written` are different indexes in the references; else None."""
    if not isinstance(written, list):
        return None
    citations: dict[str, None] = {}
    for index in written:
        if type(index) is not int or not 0 <= index < len(references.listed):
            return None
        if (name := references.listed[index]) is None or name in citations:
            return None
        citations[name] = None
    return citations


def read_citations(item: Line, references: References) -> dict[str, float | None]:
    """The passages that a sentence cites, each with the confidence that the run gave, if it did.

    They stand in the order of the file, or by falling confidence.

    Takes a list of 0-based indexes in `references`, a list of ids, or a map from id to
    confidence. A number written as text is an id if the references list it, else an index. An
    id that the references do not list is kept, for it names a passage, and is reported; what
    names nothing (an index out of range, a value of another type) and what names a passage a
    second time is skipped and reported.
    """
    citations: dict[str, float | None] = {}
    for written, weight in _written(item):
        passage_id = _resolve(item, written, references)
        if passage_id is None:
            continue
        if passage_id in citations:
            what = f"{item.name('citations')} has {passage_id!r} twice, wanted it once"
            item.skip("duplicate_citation", what)
            continue
        citations[passage_id] = weight
    return citations


def heading_sign(item: Line, text: str, *, is_cited: bool) -> str | None:
    """What makes an answer object a heading, in words; None if it is a sentence.

    A heading says so itself (`"type": "heading"`, also under `kind` or `role`, or
    `"heading": true`), or is an uncited single line of at most 12 words that does not end as a
    sentence does and is written as Markdown writes headings: after 1-6 `#`, or wholly in bold.
    The rule under a table's head (`|---|---|`) counts too; other table rows are sentences. A
    cited unit without such a field is never a heading: its run stands behind it with a source.

    Source: our reading of the TREC RAG 2026 guidelines, which allow headings and name no mark.
    """
    for marker in MARKERS:
        value = item.row.get(marker)
        if isinstance(value, str) and value.strip().lower() in ("heading", "header"):
            return f"{marker} is {value!r}"
    for marker in ("heading", "is_heading"):
        if item.row.get(marker) is True:
            return f"{marker} is true"
    line = text.strip()
    if is_cited or not line or "\n" in line:
        return None
    if _TABLE_RULE.fullmatch(line):
        return "rule of a table"
    bare = line.strip("#*_: ")
    if len(line.split()) > MAX_WORDS or bare.endswith((".", "!", ";")):
        return None
    if _HASHES.fullmatch(line):
        return "Markdown heading"
    return "line in bold" if _BOLD.fullmatch(line) else None


def is_table_row(text: str) -> bool:
    """Whether it is written as Markdown writes a row of a table: one line between bars.

    >>> is_table_row("| tide | 3 m |"), is_table_row("|---|---|"), is_table_row("a | b")
    (True, False, False)
    """
    line = text.strip()
    is_between = len(line) > 2 and line[0] == line[-1] == "|" and "\n" not in line
    return is_between and not _TABLE_RULE.fullmatch(line)


def is_table_rule(text: str) -> bool:
    """Whether it is the rule under the head of a table."""
    return bool(_TABLE_RULE.fullmatch(text.strip()))


def _written(item: Line) -> list[tuple[object, float | None]]:
    value = item.row.get("citations")
    if value is None:
        return []
    if isinstance(value, list):
        return [(written, None) for written in value]
    if isinstance(value, dict):
        weighted = [(name, _confidence(item, name, weight)) for name, weight in value.items()]
        return sorted(weighted, key=lambda pair: math.inf if pair[1] is None else -pair[1])
    what = f"{item.name('citations')} is {show(value)}, wanted a list or a map; read as a list"
    item.keep("bad_citations", what)
    return [(value, None)]


def _confidence(item: Line, name: str, weight: object) -> float | None:
    if isinstance(weight, int | float) and not isinstance(weight, bool) and math.isfinite(weight):
        return float(weight)
    what = f"{item.name('citations')} gives {name!r} the confidence {show(weight)}, wanted a number"
    item.keep("bad_confidence", f"{what}; placed last")
    return None


def _resolve(item: Line, written: object, references: References) -> str | None:
    if isinstance(written, str):
        name = as_id(written)
        if name is not None and (name in references.named or references.is_open):
            return name
        index = as_int(written)
        if index is None or not references.listed:
            return _unlisted(item, name, written)
        item.keep("citation_as_text", f"{item.name('citations')} has {written!r}, read as an index")
    else:
        index = as_int(written)
    return _at(item, index, written, references.listed)


def _unlisted(item: Line, name: str | None, written: object) -> str | None:
    if name is None:
        _bad(item, written)
        return None
    what = f"{item.name('citations')} has {name!r}, which the references do not list; kept"
    item.keep("unknown_citation", what)
    return name


def _at(item: Line, index: int | None, written: object, listed: Sequence[str | None]) -> str | None:
    if index is None:
        _bad(item, written)
        return None
    if not 0 <= index < len(listed):
        wanted = f"0 to {len(listed) - 1}" if listed else "none, for there are no references"
        what = f"{item.name('citations')} has {show(written)}, wanted {wanted}"
        item.skip("citation_out_of_range", what)
        return None
    if listed[index] is None:
        what = f"{item.name('citations')} has {index}, whose reference is no id"
        item.skip("citation_of_bad_reference", what)
    return listed[index]


def _bad(item: Line, written: object) -> None:
    what = f"{item.name('citations')} has {show(written)}, wanted an id or an index in references"
    item.skip("bad_citation", what)
