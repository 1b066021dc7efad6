"""The passages of a collection, one after the other, and the text by which one is found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ..records.reading.fields import read_lines
from ..records.reading.problems import InputError, Problems
from ..records.rows import Passage
from ..records.topics import PASSAGE_ID_FIELDS, read_passage

_UNWRITABLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f]")  # in an id: what no TREC run can hold


def passage_text(passage: Passage) -> str:
    """What retrievers and rerankers read of a passage: its title, if any, and its text."""
    return f"{passage.title}\n{passage.text}" if passage.title else passage.text


def stream_passages(paths: Sequence[Path], problems: Problems) -> Iterator[Passage]:
    """Read the passages of some files in their order; texts are not kept.

    Memory holds the ids, with one number each. The files are as `records.read_passages` reads
    them, and the same is recorded in `problems`: a passage without text is skipped; one that comes
    again with the same text is mentioned and left out, and with another text is an error. So is
    an id with white space or control characters, since no TREC run could name it.

    Raises: InputError at the end of a file with errors, or if there is no passage in any file.

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
                what = f"passage {name!r} has an id that no TREC run can hold"
                line.error("bad_id", f"{what}, wanted no white space and no control characters")
                continue
            mark = hash(passage.text)  # 64 bits
            if name not in seen:
                seen[name] = mark
                yield passage
            elif seen[name] == mark:
                what = f"passage {name!r} occurs again with the same text; left out"
                line.keep("duplicate_passage", what)
            else:
                what = f"passage {name!r} has another text than before, wanted one text per id"
                line.error("duplicate_passage", what)
        problems.raise_errors()
    if not seen:
        files = ", ".join(map(str, paths)) or "no files"
        raise InputError(f"{files}: no passage with text, wanted one or more")


def in_batches(passages: Iterable[Passage], size: int) -> Iterator[list[Passage]]:
    """Passages in lists of this size, the last one shorter."""
    some: list[Passage] = []
    for passage in passages:
        some.append(passage)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
