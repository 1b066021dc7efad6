"""From the quotes in a judge's reply to evidence that was looked up, and what lacks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from ...records.judgements import Evidence, Reason, Unjudged, quoted, unquoted
from ..lexical.grounds import spans
from ..lexical.quotes import find_quote
from ..verdicts import Verdict


def looked_up(of: str, value: Any, text: str) -> Iterator[Evidence]:
    """The quotes in a field of a reply, each looked for in the text that it is of.

    Args:
        value: a quote, a list of them, or None; blank ones and repetitions are left out.
    """
    quotes = [value] if isinstance(value, str) else value or ()
    for words in dict.fromkeys(quotes):
        if not words.strip():
            continue
        if (span := find_quote(words, text)) is not None:
            yield quoted(of, text, *span)
        else:
            yield unquoted(of, words)


def by_rule(looked_for: Mapping[str, str], item: Mapping[str, str]) -> tuple[Evidence, ...]:
    """The evidence of word overlap: where an input holds most of the words looked for in it."""
    return tuple(
        quoted(name, item[name], *span)
        for name, needed in looked_for.items()
        for span in spans(needed, item[name])
    )


def ungrounded(verdict: Verdict) -> Unjudged:
    """What a label ends as that needs a quote and has none that stands in the judged text."""
    wrong = [each.quote for each in verdict.evidence or () if not each.is_quoted]
    why = f"not in the text: {wrong[0]!r:.80}" if wrong else "nothing is quoted"
    raw = json.dumps(verdict.as_row(), ensure_ascii=False)
    return Unjudged(Reason.UNGROUNDED, f"{verdict.label} without evidence, {why}", raw)
