"""The passages of a collection, one by one, and the text by which each is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..records.reading.fields import read_lines
from ..records.reading.problems import InputError, Problems
from ..records.rows import Passage
from ..records.topics import PASSAGE_ID_FIELDS, read_passage

_UNWRITABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")  # characters of an id that no TREC run can hold


def passage_text(passage: Passage) -> str:
    """The text of a passage for retrievers and rerankers: its title, if any, and its text."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def stream_passages(paths: Sequence[Path], problems: Problems) -> Iterator[Passage]:
    """Yield the passages of some files in order; texts are not kept.

    Memory holds the ids, with one number each. Files and `problems` are as in
    `records.read_passages`: a passage without text is skipped; a repeated passage is
    mentioned and left out if its text is the same, and an error if its text differs. An id with
    white space or control characters is an error too, because no TREC run could hold it.

    Raises: InputError at the end of a file with errors, or if no file has a passage.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "passages.jsonl")
    ...     n_characters = path.write_text('{"docid": "a", "text": "Ebb."}')
    ...     list(stream_passages([path], Problems()))
    [Passage(id='a', text='Ebb.', title='')]
    """
    seen: dict[str, int] = {}
    for path in paths:
        for line in read_lines(path, problems):
            name = line.id(*PASSAGE_ID_FIELDS)
            if name is None or (passage := read_passage(line, name)) is None:
                continue
            if _UNWRITABLE.search(name):
                what = f"passage {name!r} has an id that does not fit into a TREC run"
                line.error("bad_id", f"{what}, wanted no white space and no control characters")
                continue
            mark = hash(passage.text)  # 64 bits
            if name not in seen:
                seen[name] = mark
                yield passage
            elif seen[name] == mark:
                what = f"passage {name!r} occurs twice with the same text; left out"
                line.keep("duplicate_passage", what)
            else:
                what = f"passage {name!r} has two different texts, wanted one text per id"
                line.error("duplicate_passage", what)
        problems.raise_errors()
    if not seen:
        files = ", ".join(map(str, paths)) or "no files"
        raise InputError(f"{files}: no passage with text, wanted one or more")


def in_batches(passages: Iterable[Passage], size: int) -> Iterator[list[Passage]]:
    """Group passages into lists of this size; the last list may be shorter."""
    some: list[Passage] = []
    for passage in passages:
        some.append(passage)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
