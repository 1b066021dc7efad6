"""How much of a narrative does a passage answer, by word overlap?

Nothing is fitted, because we have no passages with texts that people graded by sub-narratives. A
part counts as answered from the share of its words that is the threshold of a stated nugget.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....judges.lexical.overlap import NUGGET_FULL, RELEVANCE_CUTS, content_words, recall
from ..settings import BEST_GRADE
from .grades import PartAnswer, narrative_grade, split_parts

RELATED = 0.30  # share of a part's content words from which the passage is about the part
ALL_OF_IT = 0.95  # share of a whole narrative's words for the best grade


def judge_narrative(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Grade 0-4 by the number of answered sub-narratives; without any, by the narrative's words."""
    shares = _shares(inputs)
    if not shares:
        share = _share(inputs["question"], inputs["passage"])
        return {"grade": sum(share >= cut for cut in (*RELEVANCE_CUTS, ALL_OF_IT))}
    n_answered = sum(share >= NUGGET_FULL for share in shares)
    return {"grade": narrative_grade(n_answered, sum(share >= RELATED for share in shares))}


def score_narrative(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the score in [0, 1]: the sum of the word shares of the sub-narratives, divided.

    The divisor is 4, or the number of sub-narratives if they are fewer; a score above 1 becomes 1.
    Without sub-narratives, the score is the share of the narrative's words.
    """
    shares = _shares(inputs)
    if not shares:
        return {"grade": _share(inputs["question"], inputs["passage"])}
    return {"grade": min(1.0, sum(shares) / min(BEST_GRADE, len(shares)))}


def judge_part(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Label whether one sub-narrative is answered, by the share of its words in the passage."""
    share = _share(inputs["sub_narrative"], inputs["passage"])
    if share >= NUGGET_FULL:
        return {"answer": PartAnswer.DETAILED}
    return {"answer": PartAnswer.RELATED if share >= RELATED else PartAnswer.NONE}


def _shares(inputs: Mapping[str, Any]) -> list[float]:
    parts = split_parts(inputs.get("sub_narratives") or "")
    return [_share(part, inputs["passage"]) for part in parts]


def _share(needed: str, text: str) -> float:
    return recall(content_words(needed), content_words(text))
