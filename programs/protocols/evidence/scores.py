"""What an answer scores by what was found for its sentences: shares, and support repaired."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ....metrics import Value, support_scores
from ....metrics.answer_scores import UNDEFINED
from ....records.support import OUTCOMES, SentenceEvidence

REPAIRED = ("support_precision_repaired", "support_recall_repaired")
MEASURES = (*OUTCOMES, *REPAIRED)


def evidence_values(sentences: Sequence[SentenceEvidence]) -> dict[str, Value]:
    """The measures of one answer, each in [0, 1].

    The share of its claiming sentences that came to each outcome, those for which nothing was
    sought among the sentences. And support_precision and support_recall (see `support_scores`) as
    if each suggestion that is used were the sentence's first citation.

    Args:
        sentences: all of the answer that make a claim.

    >>> row = {"run_id": "r", "topic_id": "t", "outcome": "not_found"}
    >>> given = [SentenceEvidence(sentence=n, **row) for n in range(2)]
    >>> evidence_values(given)["not_found"].value
    1.0
    """
    counts = Counter(sentence.outcome for sentence in sentences)
    n_unjudged = counts[None]
    values = {name: _share(counts[name], len(sentences), n_unjudged) for name in OUTCOMES}
    repaired = support_scores([_labels(sentence) for sentence in sentences])
    by_first = (repaired["support_precision"], repaired["support_recall"])
    return values | dict(zip(REPAIRED, by_first, strict=True))


def _share(count: int, n: int, n_unjudged: int) -> Value:
    if not n:
        return UNDEFINED
    judged = n - n_unjudged
    value = count / judged if judged else None
    return Value(value, judged, n_unjudged, count / n, (count + n_unjudged) / n)


def _labels(sentence: SentenceEvidence) -> list[str | None]:
    """The label of its first citation as repaired; [] where it has none."""
    if sentence.repaired is not None:
        return ["full"]
    if sentence.outcome is None:
        return [None]
    return [] if sentence.citation is None else [sentence.label]
