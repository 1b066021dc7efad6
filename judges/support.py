"""Does the cited passage carry the sentence?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from ..backends.adapter import without
from ..backends.prompt import Scorer, Twin
from ..records.labels.cells import SUPPORT_KEY, SUPPORT_SCALE
from ..records.support import SUPPORT_WEIGHTS
from .items import ItemJudge
from .labels import CitationSupport
from .lexical import nuggets_and_citations as lexical
from .lexical.overlap import weighted_overlap


class JudgeSupport(dspy.Signature):  # type: ignore[misc]
    """Decide how far the passage backs up the sentence that cites it.

    full: everything the sentence claims is stated in or follows from the passage. partial: some
    of its claims are backed, others are not. none: no claim is backed, or the passage says
    otherwise. Use the passage alone, not what you know.
    """

    passage: str = dspy.InputField(desc="the cited passage")
    title: str = dspy.InputField(desc="title of the page that it is from", default="")
    sentence: str = dspy.InputField(desc="a sentence of an answer")
    verdict: CitationSupport = dspy.OutputField(desc="how far the passage backs the sentence")


class SupportJudge(ItemJudge):
    """Grades one citation: `judge(sentence=, passage=, title="").verdict`: full, partial or none.

    Args:
        titles: show the title of a passage that has one. Part of the judge's identity.

    Source: arXiv:2504.15205 (TREC 2024 support evaluation), its three grades.
    """

    version = "2"
    name = "support"
    kind = "support"
    key = SUPPORT_KEY
    inputs = ("sentence", "passage")
    optional: tuple[str, ...] = ("title",)
    source = "passage"
    quotable: Mapping[str, str] = {"passage": "sentence", "sentence": "passage"}
    answer_type = CitationSupport
    predictor, output = "judge", "verdict"
    scale = SUPPORT_SCALE
    gains: Mapping[str, float] = {str(label): gain for label, gain in SUPPORT_WEIGHTS.items()}
    overlap = staticmethod(weighted_overlap)
    twins: Mapping[str, Twin] = {"judge": lexical.judge_support}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_support}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.optional = ("title",) if titles else ()
        self.judge = dspy.Predict(JudgeSupport if titles else without(JudgeSupport, ("title",)))
