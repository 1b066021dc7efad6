"""Does the context of an answer support its statements, contradict them, or not mention them?"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ..backends.errors import JudgeError
from ..backends.prompt import Baseline, Scorer
from ..backends.replies.schema import KeyedBy
from ..records.groundedness import GROUNDEDNESS_KIND, StatementSupport, join_context
from ..records.judgements import Provenance, Reason, Unjudged
from .items import ItemJudge, make_keys
from .lexical.contradiction import judge_groundedness, score_groundedness
from .lexical.overlap import weigh_overlap
from .lexical.segments import segments
from .verdicts import Listed, Verdict, as_one

WINDOW = 10  # statements in one call
CONTEXT_WORDS = 3000  # of the context, in one call
SUPPORTED, CONTRADICTED = StatementSupport.SUPPORTED.value, StatementSupport.CONTRADICTED.value
NOT_FOUND = StatementSupport.NOT_FOUND.value
_BY_PRIORITY = (SUPPORTED, CONTRADICTED, NOT_FOUND)  # the first that any part gives


class JudgeGroundedness(dspy.Signature):  # type: ignore[misc]
    """Decide for each statement of an answer whether the context supports it.

    - Check every claim of the statement against the context. A claim is one piece of information,
      such as who did something, when, where or why. A statement often makes several.
    - A claim is supported if the context states it in any wording, or if it clearly follows from
      the context. Several passages may support a claim together.
    - A claim that differs from the context in a number, a name, a date or an order is contradicted
      if both cannot be true. A claim that the context does not mention is missing.
    - If one passage supports a claim and another passage contradicts it, the claim is supported.
    - The statements are in the order of the answer. Read a pronoun by the statements before it and
      by the question.
    - Use only the context, not your own knowledge. A true statement may be missing from it.
    """

    context: str = dspy.InputField(
        desc="the passages that the answer should rest on, separated by blank lines"
    )
    question: str = dspy.InputField(desc="the question that the answer is to", default="")
    statements: dict[str, str] = dspy.InputField(desc="the statements of the answer, by number")
    verdicts: Annotated[dict[str, StatementSupport], KeyedBy("statements")] = dspy.OutputField(
        desc="one label for each number of the statements"
    )


class GroundednessJudge(ItemJudge):
    """Label the statements of an answer: `judge(context=, statements=[...]).verdicts`.

    The labels are supported, contradicted and not_found, in the order of the statements. For one
    statement: `judge(context=, statement=).label`. A context longer than `context_words` is judged
    in parts, cut between passages or sentences, in parallel. A statement is supported if a
    part supports it; otherwise contradicted if a part contradicts it; otherwise not found. If no
    part supports a statement and a part failed, the statement is unjudged. A statement that no part
    supports alone is not found, even if two parts together would support it. Score,
    probabilities and quotes come from the part that decides.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: statements in a call, >= 1. Part of the judge's identity.
        context_words: the largest number of words of the context in a call, >= 1. Part of the
            judge's identity.

    Raises: ValueError for a window or a number of words below 1. JudgeError from a
        call, if there is no judgement.
    Source: arXiv:2309.15217 (RAGAS), faithfulness.
    Differs: RAGAS answers yes or no; here a contradicted statement has its own label.

    >>> judge = GroundednessJudge("lexical")
    >>> judge(context="Wind sways bridges.", statement="Wind sways bridges.").label
    'supported'
    """

    version = "1"
    name = "groundedness"
    kind = "groundedness"
    key = GROUNDEDNESS_KIND.key
    inputs = ("statement", "context")
    optional: tuple[str, ...] = ("question",)
    source = "context"
    listed = "statement"
    quotable: Mapping[str, str] = {"context": "statement"}
    groundless = frozenset({NOT_FOUND})
    answer_type = StatementSupport
    predictor, output = "judge", "verdicts"
    scale = GROUNDEDNESS_KIND.labels
    gains: Mapping[str, float] = GROUNDEDNESS_KIND.gains
    overlap = staticmethod(weigh_overlap)
    baselines: Mapping[str, Baseline] = {"judge": judge_groundedness}
    scorers: Mapping[str, Scorer] = {"judge": score_groundedness}

    def __init__(
        self,
        *args: Any,
        window: int = WINDOW,
        context_words: int = CONTEXT_WORDS,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        if context_words < 1:
            raise ValueError(f"context_words must be 1 or more, got {context_words}")
        self.context_words = context_words
        self.judge = dspy.Predict(JudgeGroundedness)

    async def decide(  # type: ignore[override]
        self,
        *,
        context: str | Sequence[str],
        statement: str | None = None,
        statements: Sequence[str] | None = None,
        question: str = "",
    ) -> dspy.Prediction:
        """Judge each window of statements with each part of the context.

        Args:
            context: the passages, as a list or as one text.
            statement: the statement to judge.
            statements: several statements, instead of one, in the order of the answer.
            question: the question that the answer responds to; "": not shown.

        Returns: the prediction, see `ItemJudge.prediction`.
        Raises: ValueError unless the call has either a statement or a list of statements.
        """
        if (statement is None) == (statements is None):
            raise ValueError("wanted either statement or statements")
        whole = context if isinstance(context, str) else join_context(context)
        shared = {"context": whole, **self.optional_inputs({"question": question})}
        if statement is not None:
            return self.prediction((await self.verdict(statement=statement, **shared))[0])
        items = [{"statement": text, **shared} for text in statements or ()]
        return self.prediction(await self.in_windows(items))

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge; the calls for all parts of the context count as one."""
        labels, calls = await self.judge_items(items, topic_id)
        return labels, calls[0] if len(calls) == 1 else as_one(self.model_name, calls)

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge: one call for each part of the context."""
        parts = segments(items[0]["context"], self.context_words) if items else []
        if len(parts) < 2:
            plainly = super().verdicts
            return await self.ask_apart(items, lambda part: plainly(part, topic_id))
        plain = copy.copy(self)  # a correction applies to the final label, not to parts
        plain.correction = None
        outcomes = await asyncio.gather(*(plain._about_part(items, part) for part in parts))
        calls = tuple(call for _, calls in outcomes for call in calls)
        of_items = zip(*(labels for labels, _ in outcomes), strict=True)
        return [self._together(each, topic_id) for each in of_items], calls

    async def _about_part(
        self, items: Sequence[Mapping[str, str]], part: str
    ) -> tuple[Sequence[Verdict | Unjudged], tuple[Provenance, ...]]:
        """Labels of the items by one part of the context, with quotes placed in the whole context.

        Raises: JudgeError at a limit of the budget.
        """
        if len(items) > self.window:
            raise ValueError(f"wanted 1 to {self.window} items in a call, got {len(items)}")

        async def ask(
            items: Sequence[Mapping[str, str]],
        ) -> tuple[list[Verdict | Unjudged], Provenance]:
            texts = [item["statement"] for item in items]
            listed = Listed({**items[0], "context": part}, "statement", texts)
            reply = await self.ask(self.predictor, **self.call_inputs(listed))
            both = zip(make_keys(items), items, strict=True)
            return [self._verdict(reply, key, item, None) for key, item in both], reply.provenance

        try:
            return await self.ask_apart(items, ask)
        except JudgeError as error:
            if error.reason is Reason.BUDGET:
                raise
            return [Unjudged(error.reason, error.detail, error.raw)] * len(items), ()

    def _together(
        self, parts: Sequence[Verdict | Unjudged], topic_id: str | None
    ) -> Verdict | Unjudged:
        """Combine the verdicts of the parts on one statement."""
        found = [each for each in parts if isinstance(each, Verdict)]
        labels = [each.label if isinstance(each, Verdict) else None for each in parts]
        lost = next((each for each in parts if isinstance(each, Unjudged)), None)
        label = next((name for name in _BY_PRIORITY if name in labels), None)
        if lost is not None and label != SUPPORTED:
            what = f"{labels.count(None)} of {len(parts)} parts of the context were not judged"
            return lost._replace(detail=f"{what}: {lost.detail}")
        decides = max((e for e in found if e.label == label), key=lambda each: each.score or 0.0)
        verdict = decides
        if self.correction is not None:
            verdict = self.correction.verdict(decides, self.scale, topic_id)
        return verdict._replace(
            parts={str(number): each for number, each in enumerate(labels, 1)},
            evidence=decides.evidence,
            rationale=decides.rationale,
        )
