"""An answer by its sentences, each with what it cites: `[1]` is the first context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...judges.lexical.segments import sentences
from ...records.reading.fields import shorten
from ...records.reading.problems import InputError
from .cells import listed
from .marks import MARK, MOST, Marks

# Behind the full stop it is of the sentence before: "It sways.[1] Then", "It sways. [1]. Then".
_AFTER = re.compile(rf"(?<!\b[A-Z])([.!?…][\"'”’)]*)((?:[ \t]*{MARK})+)\.?(?=\s|$)")
_MARKER = re.compile(r"^\s*(?:[-*•+]|\d{1,3}[.)])\s+")  # of an item of a list
_HEADING = re.compile(r"\s*#{1,6}\s")
_ENDED = re.compile(r"[.!?…:;][\"'”’)\]*_]*\s*$")
# What a sentence does not end with, and a number that "No." stands before.
_GOES_ON = re.compile(r"\b(?:e\.g|i\.e|vs|al|Figs?|Eqs?|Sec|Vol|pp|cf|ca|approx|Prof)\.$", re.I)
_NUMBERED = re.compile(r"\bNos?\.$")


@dataclass(frozen=True)
class Sentence:
    """A sentence without its marks.

    `citations`: 0-based indices among the contexts, or ids of them, the best first.
    """

    text: str
    citations: tuple[int | str, ...] = ()


def indices_by_id(ids: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Where contexts stand that have an id of their own; several may have the same."""
    indices: dict[str, tuple[int, ...]] = {}
    for index, name in enumerate(ids):
        if name:
            indices[name] = (*indices.get(name, ()), index)
    return indices


def sentences_of(
    answer: str, by_id: Mapping[str, tuple[int, ...]] | None = None, n: int = MOST
) -> list[Sentence]:
    """The sentences of an answer, with the citations that stand in or behind them.

    Which marks are read: see `marks`. A number or text that is the id of a context names it;
    another number is an index among them, perhaps of none. Lines of a list are sentences of their
    own, a heading stands with the sentence after it, and what has no letter and no digit with the
    sentence before it.

    Args:
        by_id: indices of contexts with ids; None: there are no contexts, and what stands in
            brackets is text.
        n: how many contexts there are.

    >>> for sentence in sentences_of("Tides turn. [2] They come twice [1, 3], at 6.30.", {}):
    ...     print(sentence.text, sentence.citations)
    Tides turn. (1,)
    They come twice, at 6.30. (0, 2)
    """
    return cited_sentences(Marks(answer, by_id, n))


def cited_sentences(marks: Marks) -> list[Sentence]:
    """The sentences of the answer of these marks; see `sentences_of`."""
    sentences_before: list[Sentence] = []
    heading = ""

    def before_the_stop(match: re.Match[str]) -> str:
        stop, after = match.groups()
        return f"{after}{stop}" if marks.cited(after) else match[0]

    for line in _lines(_AFTER.sub(before_the_stop, marks.text)):
        if _HEADING.match(line):
            heading += f"{line.strip()}\n"
            continue
        for text in _joined(sentences(_MARKER.sub("", line))):
            cited: tuple[int | str, ...] = tuple(dict.fromkeys(marks.cited(text)))
            words = marks.left_out_of(text)
            if sentences_before and not heading and not any(map(str.isalnum, words)):
                before = sentences_before.pop()
                words = f"{before.text} {words}".strip() if not cited else before.text
                cited = tuple(dict.fromkeys((*before.citations, *cited)))
            sentences_before.append(Sentence(heading + words, cited))
            heading = ""
    return [*sentences_before, Sentence(heading.strip())] if heading else sentences_before


def sentence_of(sentence: Any, at: str) -> Sentence:
    """One of an answer that was given by sentence: a text, or `{text, citations}`.

    Raises: InputError naming the one without text, or with citations that are none.
    """
    if isinstance(sentence, Sentence):
        return sentence
    if isinstance(sentence, str):
        return Sentence(sentence)
    if not isinstance(sentence, Mapping) or not isinstance(sentence.get("text"), str):
        what = "wanted text, or text and citations"
        raise InputError(f"{at}: is {shorten(repr(sentence), 60)}, {what}")
    cited = sentence.get("citations")
    citations = [] if cited is None else listed(cited)
    for citation in citations:
        if isinstance(citation, bool) or not isinstance(citation, int | str):
            what = "wanted ids of contexts, or their places from 0"
            raise InputError(f"{at}.citations: {shorten(repr(citation), 60)}, {what}")
    return Sentence(sentence["text"], tuple(citations))


def _lines(text: str) -> list[str]:
    """Its lines; one that was only broken for its length goes on in the next."""
    lines: list[str] = []
    goes_on = False
    for line in text.splitlines():
        is_new = bool(_HEADING.match(line) or _MARKER.match(line)) or line.lstrip()[:1] == "|"
        if goes_on and line.strip() and not is_new:
            lines[-1] = f"{lines[-1].rstrip()} {line.strip()}"
        else:
            lines.append(line)
        goes_on = bool(line.strip()) and not (_HEADING.match(line) or _ENDED.search(line))
    return [line for line in lines if line.strip()]


def _joined(pieces: list[str]) -> list[str]:
    """Put together again what was cut behind an abbreviation."""
    joined: list[list[str]] = []
    for piece in pieces:
        before = joined[-1][-1] if joined else ""
        is_number = bool(_NUMBERED.search(before)) and piece[:1].isdigit()
        if is_number or _GOES_ON.search(before):
            joined[-1].append(piece)
        else:
            joined.append([piece])
    return [" ".join(each) for each in joined]
