"""Does the cited passage support the sentence?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from ..backends.adapter import without
from ..backends.prompt import Scorer, Twin
from ..records.support import SUPPORT_KIND, CitationSupport
from .items import ItemJudge
from .lexical import nuggets_and_citations as lexical
from .lexical.overlap import weighted_overlap


class JudgeSupport(dspy.Signature):  # type: ignore[misc]
    """Decide how far the passage supports the sentence that cites it.

    - Check every claim of the sentence against the passage. A claim is one piece of information,
      such as who did something, when, where or why. A sentence often makes several.
    - A claim is supported if the passage states it or it clearly follows from the passage. A
      passage on the same theme that supports no claim is none.
    - A fluent sentence can differ from its passage in a detail, such as a number, a name, a date
      or a cause. Such a claim is not supported.
    - Use only the passage, not your own knowledge. A true sentence may be unsupported.
    """

    passage: str = dspy.InputField(desc="the cited passage")
    title: str = dspy.InputField(
        desc="the title of the passage's page; it may show who or what the passage is about",
        default="",
    )
    sentence: str = dspy.InputField(desc="a sentence of an answer, which cites the passage")
    verdict: CitationSupport = dspy.OutputField(desc="how far the passage supports the sentence")


class SupportJudge(ItemJudge):
    """Grades one citation: `judge(sentence=, passage=, title="").verdict`: full, partial or none.

    Args:
        titles: show the title of a passage that has one. Part of the judge's identity.

    Source: arXiv:2504.15205 (TREC 2024 support evaluation), its three grades.
    """

    version = "3"
    name = "support"
    kind = "support"
    key = SUPPORT_KIND.key
    inputs = ("sentence", "passage")
    optional: tuple[str, ...] = ("title",)
    source = "passage"
    quotable: Mapping[str, str] = {"passage": "sentence", "sentence": "passage"}
    answer_type = CitationSupport
    predictor, output = "judge", "verdict"
    scale = SUPPORT_KIND.labels
    gains: Mapping[str, float] = SUPPORT_KIND.gains
    overlap = staticmethod(weighted_overlap)
    twins: Mapping[str, Twin] = {"judge": lexical.judge_support}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_support}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.optional = ("title",) if titles else ()
        self.judge = dspy.Predict(JudgeSupport if titles else without(JudgeSupport, ("title",)))
