"""What judges made of judges have in common: several calls for an item, and none of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ...records.judgements import Provenance, Unjudged
from ..items import ItemJudge
from ..verdicts import Verdict


class Several(ItemJudge):
    """A judge whose `judged` asks other judges."""

    predictor = ""  # it asks nothing itself

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge; all calls as one."""
        judged, calls = await self.judged(items, topic_id)
        return judged, as_one(self.model_name, calls)

    async def decide(self, **inputs: Any) -> dspy.Prediction:
        """Each item once. A judge that lists an input takes a list of it under its plural."""
        several = self.several
        if self.listed is None or several not in inputs:
            return await super().decide(**inputs)
        shared = {name: value for name, value in inputs.items() if name != several}
        verdicts = await self.in_windows(
            [{**shared, self.listed: text} for text in inputs[several]]
        )
        return self.prediction(verdicts)


def as_one(model: str, calls: Sequence[Provenance]) -> Provenance:
    """Several calls, or none, as if they were one of this model."""
    return Provenance(
        model=model,
        finish_reason=calls[-1].finish_reason if calls else "",
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        cached_tokens=sum(call.cached_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        attempts=sum(call.attempts for call in calls),
        cache_hit=all(call.cache_hit for call in calls),
    )
