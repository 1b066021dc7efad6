"""Passage files: the segments that answers cite and nuggets come from."""

from __future__ import annotations

import re
from collections.abc import Container
from pathlib import Path

from .reading.fields import Line, read_lines
from .reading.problems import Problems
from .rows import Passage

ID_FIELDS = ("docid", "id", "_id", "docno")
TEXT_FIELDS = ("text", "contents", "segment")


def read_passages(
    path: Path, problems: Problems, wanted: Container[str] | None = None
) -> dict[str, Passage]:
    """Read passages by id: JSONL with `docid` (or `id`, `_id`, `docno`) and `text`.

    The text may stand under `contents` or `segment` too; `title` is optional.

    Args:
        wanted: ids to load; the others are passed over, so that a corpus need not fit in memory.

    Errors reported: no id, no text field, one id with two texts. A passage with an empty or null
    text is skipped: a judge cannot read it, so that its citations count as without text.
    """
    passages: dict[str, Passage] = {}
    for line in read_lines(path, problems):
        name = line.id(*ID_FIELDS)
        if name is None or (wanted is not None and name not in wanted):
            continue
        if (passage := passage_of(line, name)) is not None:
            add_passage(passages, passage, line)
    return passages


def natural_order(passage_id: str) -> tuple[list[tuple[str, int, str]], str]:
    """A key to sort ids by, digits compared as numbers: `t:2#9`, `t:2#10`, `t:10#1`."""
    parts = re.findall(r"([^0-9]*)0*([0-9]*)", passage_id)
    return [(text, len(digits), digits) for text, digits in parts], passage_id


def passage_of(line: Line, name: str) -> Passage | None:
    """The passage that an object with a text field holds; None, and a problem, if it has none."""
    if not any(field in line.row for field in TEXT_FIELDS):
        line.missing(*TEXT_FIELDS)
        return None
    text = line.optional_text(*TEXT_FIELDS)
    if not text.strip():
        line.skip("empty_passage", f"passage {name!r} has no text, wanted some")
        return None
    return Passage(id=name, text=text, title=line.optional_text("title"))


def add_passage(
    passages: dict[str, Passage], passage: Passage, line: Line, *, once: bool = True
) -> None:
    """Add to `passages`; another text under the same id is an error.

    Args:
        once: mention it when the same passage comes again; pools repeat passages as a rule.
    """
    earlier = passages.setdefault(passage.id, passage)
    if earlier is passage:
        return
    if earlier.text != passage.text:
        what = f"passage {passage.id!r} has another text than before, wanted one text per id"
        line.error("duplicate_passage", what)
    elif once:
        line.keep("duplicate_passage", f"passage {passage.id!r} occurs twice with the same text")
