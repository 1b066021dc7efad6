"""Does a cited passage support the sentence, or contradict it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import dspy

from ..backends.adapter import without
from ..backends.gateway import Reply
from ..backends.prompt import Baseline, Scorer
from ..records.judgements import Unjudged
from ..records.support import SUPPORT_KIND, CitationSupport
from .explaining import make_ungrounded, quote_field, with_quotes
from .items import ItemJudge
from .labels import Contradiction
from .lexical import overlap as lexical
from .lexical.contradiction import judge_contradiction
from .lexical.overlap import weigh_overlap
from .verdicts import Verdict


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
    """Grade one citation: `judge(sentence=, passage=, title="").verdict`: full, partial or none.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        titles: show the title of a passage that has one. Part of the judge's identity.

    Raises: JudgeError from a call, if there is no judgement.
    Source: arXiv:2504.15205 (TREC 2024 support evaluation), section 3.2: its three grades.

    >>> SupportJudge("lexical")(sentence="Wind moves decks.", passage="Wind moves decks.").label
    'full'
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
    overlap = staticmethod(weigh_overlap)
    baselines: Mapping[str, Baseline] = {"judge": lexical.judge_support}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_support}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.optional = ("title",) if titles else ()
        self.judge = dspy.Predict(JudgeSupport if titles else without(JudgeSupport, ("title",)))


class FindContradiction(dspy.Signature):  # type: ignore[misc]
    """Decide whether the passage contradicts the sentence.

    - Compare the claims of the sentence with the passage one by one.
    - If the two statements could both be true, the label is neither.
    - Use only the two texts, not your own knowledge.
    """

    passage: str = dspy.InputField(desc="the passage to compare with the sentence")
    sentence: str = dspy.InputField(desc="a sentence of an answer")
    verdict: Contradiction = dspy.OutputField(desc="whether the passage contradicts the sentence")


class ContradictionJudge(ItemJudge):
    """Decide whether a passage contradicts a sentence: `judge(sentence=, passage=).verdict`.

    It always quotes. `contradicts` needs words that are found in both texts; without them the item
    is Unjudged(ungrounded).

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, if there is no judgement, or if a quote is missing (ungrounded).
    Differs: entailment judges ask about a text with three labels. This judge is asked only about
        passages that do not support the sentence, or about further ones if one does.

    >>> judge = ContradictionJudge("lexical")
    >>> passage = "The bridge is 50 metres long."
    >>> judge(sentence="The bridge is 40 metres long.", passage=passage).label
    'contradicts'
    """

    version = "3"
    name = "contradiction"
    kind = "other"
    key = SUPPORT_KIND.key
    inputs = ("sentence", "passage")
    source = "passage"
    quotable: Mapping[str, str] = {"passage": "sentence", "sentence": "passage"}
    answer_type = Contradiction
    predictor, output = "judge", "verdict"
    scale = tuple(label.value for label in Contradiction)
    gains: Mapping[str, float] = {"neither": 0.0, "contradicts": 1.0}
    baselines: Mapping[str, Baseline] = {"judge": judge_contradiction}
    evidence: Mapping[str, str] = {quote_field(name): name for name in ("passage", "sentence")}
    requires_evidence = True

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        quoted = list(self.evidence.values())
        self.judge = dspy.Predict(with_quotes(FindContradiction, self.output, quoted))

    def explaining(
        self,
        *,
        evidence: bool | Literal["required"] | None = None,
        reasoning: bool | None = None,
    ) -> Self:
        """See ItemJudge. Raises: ValueError for False, because its label depends on quotes."""
        if evidence is False:
            raise ValueError("evidence: contradictions are always quoted")
        return super().explaining(evidence="required", reasoning=reasoning)

    def add_explanation(
        self, verdict: Verdict, reply: Reply, key: str | None, item: Mapping[str, str]
    ) -> Verdict | Unjudged:
        """See ItemJudge: both texts must be quoted."""
        quoting = super().add_explanation(verdict, reply, key, item)
        if isinstance(quoting, Unjudged) or not self.needs_evidence(quoting.label):
            return quoting
        named = {each.of for each in quoting.evidence or () if each.is_quoted}
        return quoting if named.issuperset(self.quotable) else make_ungrounded(quoting)
