"""What was judged of an answer, as the tools give it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...programs.protocols.pieces import POINTS
from ...records.labels.declared import declared_kinds
from .replies import Piece, Quote, Unjudged


def quotes_of(evidence: Iterable[Mapping[str, Any]]) -> list[Quote]:
    """Quotes as they stand in judgement files."""
    return [
        Quote(
            of=each.get("of", ""),
            quoted_words=each["quote"],
            stands_there=True if each.get("start") is not None else each.get("is_quoted"),
        )
        for each in evidence
    ]


def pieces_of(view: Mapping[str, Any], contexts: Sequence[str]) -> list[Piece]:
    """The judged pieces of one answer.

    Args:
        view: the answer as `judge show --json` has it.
        contexts: ids of the passages, in the order in which they were given.
    """
    number: dict[str | None, int] = {}
    for n, docid in enumerate(contexts, start=1):
        number.setdefault(docid, n)  # a passage that was given twice is the first
    return [
        Piece(
            what=row["unit"],
            quoted_text=row["text"],
            label=row["label"] or None,
            score=row["score"],
            importance=row["importance"],
            sentence=None if row["sentence"] is None else row["sentence"] + 1,
            passage=number.get(row["docid"]),
            quotes=quotes_of(row["evidence"]),
            unjudged=Unjudged(reason=row["unjudged"], quoted_detail=row["detail"])
            if row["unjudged"]
            else None,
        )
        for row in view["judged"]
    ]


def missing_of(pieces: Iterable[Piece]) -> list[Piece]:
    """Nuggets and key points that the answer does not state, or states in part."""
    best = {one.labels[-1] for one in declared_kinds().values() if "run_id" in one.key}
    return [p for p in pieces if p.what in POINTS and p.label and p.label not in best]
