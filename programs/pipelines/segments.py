"""Cut documents into passages: windows of sentences, without near-duplicate documents."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import orjson

from ...judges.lexical.segments import sentences
from ...records.reading.problems import InputError, Problems, pip_install
from ...records.rows import Passage
from ...records.writing import NewFile
from ...retrieval.corpus import stream_passages

SHINGLE = 9  # words: arXiv:2411.09607, section 2
_HASHES = (
    128  # hashes of a MinHash; its estimate of a similarity of .8 has a standard deviation of .035
)
_HIGHEST = 0.9  # lowest threshold of the hashes, which need two bands
_SEED = 1
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Segments:
    """How to cut documents into passages.

    Attributes:
        window, stride: sentences per passage, and sentences from one start to the next; None: a
            document is one passage.
        near_duplicates: the estimated Jaccard similarity, in (0, 1], of 9-word shingles from which
            the later of two documents is left out; None: keep all.
    """

    window: int | None = None
    stride: int | None = None
    near_duplicates: float | None = None


@dataclass(frozen=True)
class Segmented:
    """Numbers of documents, of near-duplicates left out, and of written passages."""

    n_documents: int
    n_near_duplicates: int
    n_passages: int


def read_window(text: str) -> tuple[int, int]:
    """Read window and stride from `--segments`. Raises: InputError.

    >>> read_window("10,5")
    (10, 5)
    """
    numbers = [int(part) for part in text.split(",") if part.strip().isdecimal()]
    if len(numbers) != 2 or not 1 <= numbers[1] <= numbers[0]:
        what = "wanted sentences per window and sentences to the next window, such as 10,5"
        raise InputError(f"--segments {text}: {what}")
    return numbers[0], numbers[1]


def write_segments(
    documents: Sequence[Path], out: Path, how: Segments, problems: Problems
) -> Segmented:
    """Write the passages of documents to a JSONL file for `judge retrieve --passages`.

    A passage is `DOCUMENT#0`, `DOCUMENT#1` ... with the title of its document.

    Raises: InputError for bad documents, or if datasketch is not installed.
    """
    kept = _Kept(how.near_duplicates) if how.near_duplicates is not None else None
    n_documents = n_passages = 0
    with NewFile(out) as file:
        for document in stream_passages(documents, problems):
            n_documents += 1
            if kept is not None and kept.has_near(document.text):
                continue
            for passage in cut_document(document, how.window, how.stride):
                n_passages += 1
                title = {"title": passage.title} if passage.title else {}
                row = {"docid": passage.id, **title, "text": passage.text}
                file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
    n_near = 0 if kept is None else kept.n_near
    return Segmented(n_documents, n_near, n_passages)


def cut_document(document: Passage, window: int | None, stride: int | None) -> Iterator[Passage]:
    """Return the windows of a document's sentences; the last one ends with the document.

    >>> text = "One. Two. Three. Four."
    >>> [each.text for each in cut_document(Passage(id="d", text=text), 3, 2)]
    ['One. Two. Three.', 'Three. Four.']
    """
    if window is None or stride is None:
        yield document
        return
    parts = sentences(document.text)
    for number in count():
        start = number * stride
        text = " ".join(parts[start : start + window])
        yield Passage(id=f"{document.id}#{number}", text=text, title=document.title)
        if start + window >= len(parts):
            return


class _Kept:
    """The documents kept so far, without near-duplicates: MinHash and locality-sensitive hashing.

    The hashes find candidates; a candidate counts if the estimate reaches the threshold.
    """

    def __init__(self, threshold: float) -> None:
        if not 0 < threshold <= 1:
            raise InputError(
                f"--near-duplicates {threshold:g}: wanted a value above 0 and at most 1"
            )
        try:
            from datasketch import MinHash, MinHashLSH
        except ImportError:
            what = f"near-duplicates need datasketch: {pip_install('segments')}"
            raise InputError(what) from None
        self._threshold = threshold
        self._make = MinHash
        how: dict[str, Any] = {"threshold": min(threshold, _HIGHEST), "num_perm": _HASHES}
        self._index: Any = MinHashLSH(
            **how, weights=(0.1, 0.9)
        )  # finds almost all candidates, which are then compared
        self._sketches: list[Any] = []
        self.n_near = 0

    def has_near(self, text: str) -> bool:
        """Return whether an earlier document is nearly the same; otherwise keep this one."""
        sketch = self._make(num_perm=_HASHES, seed=_SEED)
        sketch.update_batch([each.encode() for each in _shingles(text)])
        near = (self._sketches[number] for number in self._index.query(sketch))
        if any(sketch.jaccard(other) >= self._threshold for other in near):
            self.n_near += 1
            return True
        self._index.insert(len(self._sketches), sketch)
        self._sketches.append(sketch)
        return False


def _shingles(text: str) -> set[str]:
    """Return all sequences of nine words; a shorter text is one sequence."""
    words = _WORD.findall(text.lower())
    n = max(1, len(words) - SHINGLE + 1)
    return {" ".join(words[start : start + SHINGLE]) for start in range(n)}
