"""Multi-document summaries: documents and the text that sums them up, to build topics from."""

from __future__ import annotations

import re
from pathlib import Path

from .questions import TOPIC_FIELDS
from .reading.fields import Line, read_lines
from .reading.problems import Problems
from .rows import Row

TEXT_FIELDS = ("text", "contents")
_TOPIC_ID = re.compile(r"[^\s:#]+")  # a passage is `<topic>:<document>#<passage>`
_TAKEN = "all"  # the topic of means


class Summary(Row):
    """The documents of a topic and their summary, which becomes its reference report."""

    id: str
    documents: tuple[str, ...]
    summary: str


def read_summaries(path: Path, problems: Problems) -> list[Summary]:
    """Read `id`, `documents` and `summary`, in file order.

    A document is a text, or an object with `text` (or `contents`) and, before it, `title`.
    An empty one is skipped, and those after it move up.

    Errors noted: an id with white space, `:` or `#`, the id `all`, an id twice; no document
    with text; an empty summary; a file without summaries.
    """
    summaries: dict[str, Summary] = {}
    for line in read_lines(path, problems):
        name, summary = line.id(*TOPIC_FIELDS), line.text("summary")
        documents = _documents(line)
        if name is None or summary is None or documents is None:
            continue
        if name == _TAKEN or not _TOPIC_ID.fullmatch(name):
            wanted = f"wanted one without white space, ':' and '#' that is not {_TAKEN!r}"
            line.error("bad_id", f"the id {name!r} cannot begin the ids of passages, {wanted}")
        elif name in summaries:
            line.error("duplicate_id", f"the id {name!r} occurs twice, wanted it once")
        elif not summary.strip():
            line.error("empty_summary", f"the summary of {name!r} is empty, wanted text")
        elif not documents:
            line.error("no_documents", f"{name!r} has no document with text, wanted at least one")
        else:
            summaries[name] = Summary(id=name, documents=documents, summary=summary)
    if not summaries:
        problems.error(path, 1, "empty_file", "no summaries, wanted at least one")
    return list(summaries.values())


def _documents(line: Line) -> tuple[str, ...] | None:
    """The texts of the documents, each after its title; what is wrong with one is a problem."""
    if (items := line.objects("documents", text_as="text")) is None:
        return None
    found = []
    for item in items:
        text, title = item.text(*TEXT_FIELDS), item.optional_text("title").strip()
        if text is None:
            continue
        if text.strip():
            found.append(f"{title}\n\n{text}" if title else text)
        else:
            item.skip("empty_document", f"{item.name('text')} is empty; those after it move up")
    return tuple(found)
