"""Which units of an answer are headings: they make no claim that a citation could support."""

from __future__ import annotations

import re

from .reading.fields import Line

MAX_WORDS = 12  # a longer line says something, whatever it begins with
MARKERS = ("type", "kind", "role")  # an answer object may name itself a heading under one of these

_HASHES = re.compile(r"#{1,6}\s+\S.*")
_BOLD = re.compile(r"(\*\*|__)(?:(?!\1).)+\1:?")
_TABLE_RULE = re.compile(r"\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?")


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
