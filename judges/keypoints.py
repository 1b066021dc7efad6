"""Does a response state a key point, does a point answer the question, do points state a claim?"""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import dspy
from annotated_types import MaxLen

from ..backends.adapter import replace_instructions, without
from ..backends.gateway import Gateway, Reply
from ..backends.prompt import Baseline, Scorer
from ..backends.replies.schema import KeyedBy
from ..metrics.answer_scores import CLAIM
from ..records.judgements import Provenance, Unjudged
from ..records.key_points import KEY_POINT_KIND, PointEntailment
from .items import ItemJudge
from .labels import ClaimMatch, PointUse
from .lexical.keypoints import (
    filter_point,
    judge_claims,
    judge_point,
    judge_points,
    measure_stated,
    nearest_point,
    score_claims,
    score_filter,
)
from .verdicts import Verdict

_QUOTE_FIRST = (
    "- Find the words of the response that decide it, quote them, and then give the label.\n"
)
_RULES = f"{_QUOTE_FIRST}- Use only the response, not your own knowledge."
Quote = Annotated[str, MaxLen(300)]
_QUOTE = (
    "one sentence or less, copied word for word from the response; empty if the response says "
    "nothing about it"
)


class JudgePoint(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide whether the response entails the key point.\n\n{_RULES}"

    response: str = dspy.InputField(desc="the text that may state the key point")
    key_point: str = dspy.InputField(desc="the key point to look for")
    evidence: Quote = dspy.OutputField(desc=f"the words that decide it, {_QUOTE}")
    verdict: PointEntailment = dspy.OutputField(desc="the label that follows from the evidence")


class JudgePoints(dspy.Signature):  # type: ignore[misc]
    __doc__ = (
        "Decide for each key point whether the response entails it, every point by itself."
        f"\n\n{_RULES}"
    )

    response: str = dspy.InputField(desc="the text that may state the key points")
    key_points: dict[str, str] = dspy.InputField(desc="the key points to look for, by number")
    evidence: Annotated[dict[str, Quote], KeyedBy("key_points")] = dspy.OutputField(
        desc=f"for each number the words that decide it, {_QUOTE}"
    )
    verdicts: Annotated[dict[str, PointEntailment], KeyedBy("key_points")] = dspy.OutputField(
        desc="for each number the label that follows from its evidence"
    )


class EntailmentJudge(ItemJudge):
    """Say yes, no or neutral about a key point: `judge(response=, key_point=).verdict`.

    For several key points: `judge(response=, key_points=[...]).verdicts`, in their order. yes: the
    response states it; no: it contradicts it; neutral: neither. Only yes counts for recall. The
    model always quotes before it gives the label (`evidence` is on). If a quote is not found in the
    response, `is_quoted` is False, and the label is kept. A decision model gives the label alone.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: key points of one response in a call, >= 1. 1: each in its own prompt, as in the
            paper. More: a list of key points in one prompt, which costs less and gives other
            labels; fit and measure it separately. Part of the judge's identity.

    Raises: ValueError for a window below 1. JudgeError from a call, if there is no judgement.
    Source: arXiv:2410.23000 (Long2RAG), section 4; its labels are in appendix B.

    >>> judge = EntailmentJudge("lexical")
    >>> judge(response="Wind sways bridges.", key_points=["wind sways bridges", "ice"]).verdicts
    [<PointEntailment.YES: 'yes'>, <PointEntailment.NEUTRAL: 'neutral'>]
    """

    version = "3"
    name = "entailment"
    kind = "keypoints"
    key = KEY_POINT_KIND.key
    inputs = ("key_point", "response")
    source = "response"
    quotable: Mapping[str, str] = {"response": "key_point"}
    evidence: Mapping[str, str] = {"evidence": "response"}
    answer_type = PointEntailment
    groundless = frozenset(("neutral",))
    scale = KEY_POINT_KIND.labels
    gains: Mapping[str, float] = KEY_POINT_KIND.gains
    overlap = staticmethod(measure_stated)
    baselines: Mapping[str, Baseline] = {"judge_one": judge_point, "judge_each": judge_points}

    def __init__(self, *args: Any, window: int = 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        if window == 1:
            self.predictor, self.output = "judge_one", "verdict"
            self.judge_one = dspy.Predict(JudgePoint)
        else:
            self.listed, self.predictor, self.output = "key_point", "judge_each", "verdicts"
            self.judge_each = dspy.Predict(JudgePoints)
        if self.backend is not None and self.backend.config.gives_labels_alone:
            predict, self.evidence = self.question(self.predictor), {}
            predict.signature = _without_quotes(predict.signature, self.output)
        self.scorers = {self.predictor: self.make_weighted_scorer({})}

    async def decide(  # type: ignore[override]
        self,
        *,
        response: str,
        key_point: str | None = None,
        key_points: Sequence[str] | None = None,
    ) -> dspy.Prediction:
        """Judge one key point, or each of a list; `judge(...)` calls this.

        Args:
            response: the text that may state the key points.
            key_point: the key point to look for.
            key_points: several key points, instead of one.

        Returns: the prediction, see `ItemJudge.prediction`.
        Raises: ValueError unless there is either a key point or a list of them.
        """
        if (key_point is None) == (key_points is None):
            raise ValueError("wanted either key_point or key_points")
        if key_point is not None:
            only, _ = await self.verdict(key_point=key_point, response=response)
            return self.prediction(only)
        items = [{"key_point": text, "response": response} for text in key_points or ()]
        return self.prediction(await self.in_windows(items))


def _without_quotes(signature: type[dspy.Signature], output: str) -> type[dspy.Signature]:
    """The question for a model that writes no text: only the label is requested."""
    instructions = signature.instructions.replace(_QUOTE_FIRST, "")
    plain = without(signature, tuple(EntailmentJudge.evidence))
    plain = plain.with_updated_fields(output, desc="the label that fits")
    plain.__name__ = signature.__name__
    return replace_instructions(plain, instructions)


THRESHOLD = 0.7  # of the probability of yes, arXiv:2410.23000
SAMPLES = 5
WARM = 1.0  # temperature of the samples

Method = Literal["logprobs", "samples", "lexical"]


class FilterPoint(dspy.Signature):  # type: ignore[misc]
    """Decide whether the key point helps to answer the question.

    - A point that answers only a part of the question helps.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    key_point: str = dspy.InputField(desc="a key point taken from a document")
    verdict: PointUse = dspy.OutputField(desc="whether the key point helps")


class KeyPointFilter(ItemJudge):
    """Keep key points that answer the question: `judge(question=, key_point=).verdict` is yes.

    The score is the probability of yes; the verdict is yes from the threshold on. `method` is how
    the judge computes it, and a verdict's `method` how that one was computed:
    logprobs: P(yes) / (P(yes) + P(no)) of the reply's tokens, if the model's entry asks for
        log-probabilities. If a reply lacks them, or has more than half of the probability on
        neither label, samples are drawn.
    samples: the share of yes among replies to the same prompt at temperature 1, without the seed
        of the model's entry, which would make them equal. If one fails, the verdict fails.
    lexical: the words that key point and question share.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        threshold: the lowest score of a point that is kept, in [0, 1].
        samples: the number of samples, >= 1. Like the threshold, part of the judge's identity.

    Raises: ValueError for a threshold outside [0, 1] or fewer than 1 sample. JudgeError from a
        call, if there is no judgement.
    Source: arXiv:2410.23000 (Long2RAG), appendix A.2.
    Differs: the paper draws no samples.

    >>> judge = KeyPointFilter("lexical")
    >>> judge(question="Why do bridges sway?", key_point="Bees dance.").label
    'no'
    """

    version = "2"
    name = "keypoint_filter"
    kind = "other"
    key = ("topic_id", "key_point_id")
    inputs = ("question", "key_point")
    predictor, output = "judge", "verdict"
    answer_type = PointUse
    quotable: Mapping[str, str] = {}
    scale = tuple(label.value for label in PointUse)
    gains: Mapping[str, float] = {"no": 0.0, "yes": 1.0}
    baselines: Mapping[str, Baseline] = {"judge": filter_point}
    scorers: Mapping[str, Scorer] = {"judge": score_filter}

    def __init__(
        self, *args: Any, threshold: float = THRESHOLD, samples: int = SAMPLES, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        if not 0 <= threshold <= 1:
            raise ValueError(f"threshold must be in [0, 1], got {threshold}")
        if samples < 1:
            raise ValueError(f"samples must be 1 or more, got {samples}")
        self.threshold = threshold
        self.samples = samples
        self.judge = dspy.Predict(FilterPoint)

    @property
    def method(self) -> Method:
        """Return how scores are computed, unless a reply lacks log-probabilities."""
        if self.backend is not None and self.backend.config.way == "lexical":
            return "lexical"
        return "logprobs" if self.has_logprobs else "samples"

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge. The provenance is the sum over all requests for the one item."""
        if len(items) != 1:
            raise ValueError(f"wanted 1 item in a call, got {len(items)}")
        calls: list[Provenance] = []
        if self.method != "samples":
            reply = await self.ask("judge", **items[0])
            calls.append(reply.provenance)
            _, score, chances = reply.at("verdict", None)
            if chances is not None:
                score = chances["yes"]
            if score is not None:
                verdict = self._by_threshold(score, self.method, topic_id, chances)
                outside = reply.get_outside("verdict", None)
                return [verdict._replace(outside_probability=outside)], calls[0]
        samples = (self._sample(i, items[0]) for i in range(self.samples))
        replies = await asyncio.gather(*samples)
        share = sum(reply.values["verdict"] == PointUse.YES for reply in replies) / self.samples
        calls += (reply.provenance for reply in replies)
        return [self._by_threshold(share, "samples", topic_id)], _together(calls)

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the point is kept."""
        return reply._replace(values={"verdict": PointUse.YES}, scores={"verdict": 1.0})

    def _by_threshold(
        self,
        score: float,
        method: Method,
        topic_id: str | None,
        chances: dict[str, float] | None = None,
    ) -> Verdict:
        """The verdict by the threshold, or by the cut of a judge file if it has one."""
        label = PointUse.YES if score >= self.threshold else PointUse.NO
        verdict = Verdict(label.value, score, chances, method=method)
        if self.correction is not None:
            verdict = self.correction.verdict(verdict, self.scale, topic_id)._replace(method=method)
        return verdict

    async def _sample(self, i: int, item: Mapping[str, str]) -> Reply:
        replicate = self.replicate * self.samples + i
        if isinstance(self.backend, Gateway):
            warm = None if self.backend.config.temperature is None else WARM
            changed = copy.copy(self)  # with the same predictor, which a trace must show
            changed.backend = self.vary_backend(temperature=warm, logprobs=False, seed=None)
            changed.replicate = replicate
            return await changed.ask("judge", **item)
        lm = self.question("judge").lm or dspy.settings.lm
        if self.backend is not None or lm is None:
            return await self.ask("judge", **item)
        lm = lm.copy(temperature=WARM, rollout_id=replicate)
        return await self._ask_in_dspy("judge", dict(item), lm=lm)

    async def decide(self, *, question: str, key_point: str) -> dspy.Prediction:  # type: ignore[override]
        """Judge one key point; `judge(...)` calls this.

        Args:
            question: the question that the user asks.
            key_point: the key point to keep or drop.

        Returns: the prediction, see `ItemJudge.prediction`, with `method`.
        """
        verdict, _ = await self.verdict(question=question, key_point=key_point)
        return self.prediction(verdict, method=verdict.method)


def _together(calls: Sequence[Provenance]) -> Provenance:
    """One provenance for several requests: their sums, and the model of the last one."""
    return calls[-1]._replace(
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        attempts=sum(call.attempts for call in calls),
        cache_hit=all(call.cache_hit for call in calls),
    )


WINDOW = 10  # claims in one call


class JudgeClaims(dspy.Signature):  # type: ignore[misc]
    """Decide for each claim whether it expresses at least one of the key points.

    - The wording may differ. Detail that no key point contains does no harm.
    - A claim that contradicts every key point it is about, or is only about the same subject,
      expresses none.
    - A part of a key point counts only if the listed claims together express all of that point.
    - Use only the claims, not your own knowledge.
    """

    key_points: str = dspy.InputField(desc="the key points, numbered, one a line")
    claims: dict[str, str] = dspy.InputField(desc="single statements of an answer, by number")
    verdicts: Annotated[dict[str, ClaimMatch], KeyedBy("claims")] = dspy.OutputField(
        desc="one label for each number of the claims"
    )


class ClaimJudge(ItemJudge):
    """Decide which claims state a key point: `judge(key_points=, claims=[...]).verdicts`.

    The key points are one text, made by `number_key_points`. As in EntailmentJudge, a point
    counts only if all of it is stated; several claims of a call may together state a long one. A
    call gives `verdicts`, yes or no for each claim in the given order, and `scores`.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: claims of one answer in a call, >= 1. Part of the judge's identity.

    Raises: ValueError for a window below 1. JudgeError from a call, for the first claim without a
        label.
    Source: arXiv:2410.23000 (Long2RAG), section 6.4, for key point precision.
    Differs: the paper says about precision only that it concerns the claims of the answer; the
        question is our reading.

    >>> judge = ClaimJudge("lexical")
    >>> reply = judge(key_points="1. Wind sways bridges.", claims=["Wind sways bridges.", "Ice."])
    >>> [label.value for label in reply.verdicts]
    ['yes', 'no']
    """

    version = "3"
    name = "claim"
    kind = "other"
    key = ("topic_id", "run_id")
    inputs = ("key_points", "claim")
    listed = "claim"
    quotable: Mapping[str, str] = {"claim": "key_points"}
    answer_type = ClaimMatch
    predictor, output = "judge", "verdicts"
    scale = tuple(label.value for label in ClaimMatch)
    gains: Mapping[str, float] = CLAIM
    baselines: Mapping[str, Baseline] = {"judge": judge_claims}
    scorers: Mapping[str, Scorer] = {"judge": score_claims}

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.judge = dspy.Predict(JudgeClaims)

    def choose_sought_text(self, name: str, item: Mapping[str, str]) -> str:
        """See ExplainingJudge: the key point nearest to the claim."""
        return nearest_point(item["claim"], item["key_points"])

    async def decide(self, *, key_points: str, claims: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """Label each claim, window by window; `judge(...)` calls this.

        Args:
            key_points: the key points as one text, from `number_key_points`.
            claims: the claims of one answer.

        Returns: the prediction, see `ItemJudge.prediction`.
        """
        items = [{"key_points": key_points, "claim": text} for text in claims]
        return self.prediction(await self.in_windows(items))


def number_key_points(key_points: Sequence[str]) -> str:
    r"""Return the key points as one text, one per line.

    >>> number_key_points(["wind moves a deck", "a damper slows it"])
    '1. wind moves a deck\n2. a damper slows it'
    """
    lines = (" ".join(text.split()) for text in key_points)
    return "\n".join(f"{i}. {line}" for i, line in enumerate(lines, 1))
