"""Does the key point answer the question? Points that do not are left out of a list."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import dspy

from ..backends.gateway import Gateway, Reply
from ..backends.prompt import Scorer, Twin
from ..records.judgements import Provenance, Unjudged
from .items import ItemJudge
from .labels import PointUse
from .lexical.entailment import filter_point, score_filter
from .verdicts import Verdict

THRESHOLD = 0.7  # of the probability of yes, arXiv:2410.23000
SAMPLES = 5
WARM = 1.0  # temperature of samples

Method = Literal["logprobs", "samples", "lexical"]


class FilterPoint(dspy.Signature):  # type: ignore[misc]
    """Decide whether the key point helps to answer the question.

    - A point that answers only a part of the question helps.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    key_point: str = dspy.InputField(desc="a key point taken from a document")
    verdict: PointUse = dspy.OutputField(desc="whether the key point helps")


class KeyPointFilter(ItemJudge):
    """Keeps key points that answer the question: `judge(question=, key_point=).verdict` is yes.

    The score is the probability of yes, and the verdict is yes from the threshold on. `method`
    says how the judge comes to it, and a verdict's `method` how it came to that one:
    logprobs: P(yes) / (P(yes) + P(no)) of the reply's tokens, where the model's entry asks for
        log-probabilities. A reply without them, or with more than half of the probability on
        neither label, is followed by samples.
    samples: the share of yes among replies to the same prompt at temperature 1, without the seed
        of the model's entry, which would make them alike. One that fails fails the verdict.
    lexical: by the words that key point and question share (lexical_entailment.py).

    Args:
        threshold: least score of a point that is kept, in [0, 1].
        samples: how many, >= 1. Like the threshold, part of the judge's identity.

    Source: arXiv:2410.23000 (Long2RAG), its filter. Differs: samples where it has none.
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
    twins: Mapping[str, Twin] = {"judge": filter_point}
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
        """How scores come about, unless a reply lacks its log-probabilities."""
        if self.backend is not None and self.backend.config.way == "lexical":
            return "lexical"
        return "logprobs" if self.has_logprobs else "samples"

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge; the provenance is the sum over all requests for the one item."""
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
                verdict = self._by_threshold(score, self.method, chances)
                outside = reply.get_outside("verdict", None)
                return [verdict._replace(outside_probability=outside)], calls[0]
        samples = (self._sample(i, items[0]) for i in range(self.samples))
        replies = await asyncio.gather(*samples)
        share = sum(reply.values["verdict"] == PointUse.YES for reply in replies) / self.samples
        calls += (reply.provenance for reply in replies)
        return [self._by_threshold(share, "samples")], _together(calls)

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the point is kept."""
        return reply._replace(values={"verdict": PointUse.YES}, scores={"verdict": 1.0})

    def _by_threshold(
        self, score: float, method: Method, chances: dict[str, float] | None = None
    ) -> Verdict:
        label = PointUse.YES if score >= self.threshold else PointUse.NO
        return Verdict(label.value, score, chances, method=method)

    async def _sample(self, i: int, item: Mapping[str, str]) -> Reply:
        replicate = self.replicate * self.samples + i
        if isinstance(self.backend, Gateway):
            warm = None if self.backend.config.temperature is None else WARM
            twin = copy.copy(self)  # with the same predictor, as a trace has to show
            twin.backend = self.varied(temperature=warm, logprobs=False, seed=None)
            twin.replicate = replicate
            return await twin.ask("judge", **item)
        lm = self.question("judge").lm or dspy.settings.lm
        if self.backend is not None or lm is None:
            return await self.ask("judge", **item)
        lm = lm.copy(temperature=WARM, rollout_id=replicate)
        return await self._ask_in_dspy("judge", dict(item), lm=lm)

    async def decide(self, *, question: str, key_point: str) -> dspy.Prediction:  # type: ignore[override]
        """One call, or one for each sample, all at once."""
        verdict, _ = await self.verdict(question=question, key_point=key_point)
        return self.prediction(verdict, method=verdict.method)


def _together(calls: Sequence[Provenance]) -> Provenance:
    """One provenance for several requests: their sums, and the model of the last."""
    return calls[-1]._replace(
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        attempts=sum(call.attempts for call in calls),
        cache_hit=all(call.cache_hit for call in calls),
    )
