"""Who decides where the members of a jury differ: a judge that is shown their labels."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from ...records.judgements import Evidence
from ..items import ItemJudge
from ..variants import with_input
from ..verdicts import Verdict

OTHER_JUDGES = "other_judges"
DESC = (
    "labels that other judges gave, how many of them gave each, and what one of them went by; any "
    "of these may be wrong, the most frequent too"
)


def adjudicating(judge: ItemJudge) -> ItemJudge:
    """A copy of the judge that is shown the labels of others beside the item."""
    return with_input(judge, OTHER_JUDGES, DESC)


def labels_as_text(item: Mapping[str, str], verdicts: Mapping[str, Verdict]) -> str:
    """The distinct labels with their counts and one quote each, and not who gave them.

    Their order follows from the item alone, so that neither the first nor the last is always the
    label that most gave.
    """
    counts: dict[str, int] = {}
    quotes: dict[str, str] = {}
    for verdict in verdicts.values():
        counts[verdict.label] = counts.get(verdict.label, 0) + 1
        if quote := _quote(verdict.evidence):
            quotes.setdefault(verdict.label, quote)

    def drawn(label: str) -> bytes:
        return hashlib.sha256(repr((sorted(item.items()), label)).encode()).digest()

    return "\n".join(
        f"{label}: {counts[label]} of {len(verdicts)}"
        + (f', going by "{quotes[label]}"' if label in quotes else "")
        for label in sorted(counts, key=drawn)
    )


def _quote(evidence: Sequence[Evidence] | None) -> str:
    """What a verdict quotes, the first of several spans."""
    return evidence[0].quote.strip() if evidence else ""
