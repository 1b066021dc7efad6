"""Where quoted words stand: in which sentences of an answer, and in a passage."""

from __future__ import annotations

from collections.abc import Sequence

from ....records.judgements import Evidence

Span = tuple[int, int, int]  # sentence, start, end in code points
OF_ANSWER = ("answer", "response", "context", "report")  # the names that judges have for it
OF_PASSAGE = ("passage",)


def in_answer(evidence: Evidence, sentences: Sequence[str], at: int | None = None) -> list[Span]:
    """The parts of sentences that are quoted; [] where the words are not found there.

    Args:
        evidence: with the offsets of the words in the whole text, sentences joined by spaces, or
            in one sentence; where that is of another text, they are searched for.
        at: the sentence that the judgement is about.
    """
    if evidence.is_quoted is False:
        return []
    if evidence.of == "sentence" and at is not None and at < len(sentences):
        offsets = in_text(evidence, sentences[at])
        return [] if offsets is None else [(at, *offsets)]
    if evidence.of not in OF_ANSWER:
        return []
    offsets = in_text(evidence, " ".join(text for text in sentences if text))
    if offsets is None:
        return []
    start, end = offsets
    spans, offset = [], 0
    for number, text in enumerate(sentences):
        if not text:
            continue
        low, high = max(start - offset, 0), min(end - offset, len(text))
        if low < high:
            spans.append((number, low, high))
        offset += len(text) + 1
    return spans


def in_text(evidence: Evidence, text: str) -> tuple[int, int] | None:
    """Start and end of the words in a text, in code points; None: they are not in it."""
    if evidence.is_quoted is False:
        return None
    if evidence.start is not None and evidence.end is not None and evidence.stands_in(text):
        return evidence.start, evidence.end
    start = text.find(evidence.quote) if evidence.quote else -1
    return None if start < 0 else (start, start + len(evidence.quote))
