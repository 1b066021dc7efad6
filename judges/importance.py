"""Is a nugget vital to a good answer, or okay to have?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import dspy

from ..backends.prompt import Twin
from ..backends.replies.schema import KeyedBy
from ..records.judgements import Provenance
from ..records.rows import Importance
from .fitted.files import JudgeFile
from .items import ItemJudge, judged
from .lexical import nuggets_and_citations as lexical

WINDOW = 10  # nuggets in one call, arXiv:2411.09607
IMPORTANCE_SCALE = (Importance.OKAY.value, Importance.VITAL.value)


class RateImportance(dspy.Signature):  # type: ignore[misc]
    """Decide for each nugget, a short fact, how important it is for an answer to the question.

    - Judge each nugget by itself, by what the question asks for.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    nuggets: dict[str, str] = dspy.InputField(desc="the facts to rate, by number")
    importance: Annotated[dict[str, Importance], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label for each number of the nuggets"
    )


class NuggetImportance(ItemJudge):
    """Rates nuggets a window at a time: `judge(question=, nuggets=[...]).importance`, in order.

    People's labels stand in files of nuggets, which fit it.

    Source: arXiv:2411.09607, vital and okay, 10 nuggets a call.
    """

    version = "2"
    name = "importance"
    kind = "other"
    key = ("topic_id", "nugget_id")
    inputs = ("question", "nugget")
    quotable: Mapping[str, str] = {}  # a nugget is no text that could be quoted for its importance
    listed = "nugget"
    predictor, output = "rate", "importance"
    scale = IMPORTANCE_SCALE
    gains: Mapping[str, float] = {"okay": 0.0, "vital": 1.0}
    twins: Mapping[str, Twin] = {"rate": lexical.rate_importance}

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.rate = dspy.Predict(RateImportance)

    def fitted(self, state: JudgeFile) -> Self:
        """See ItemJudge. Raises: ValueError, also for shifts of topics, whose ids it never sees."""
        if state.correction is not None and state.correction.topics:
            raise ValueError("it moves scores by topic, and importance is rated without topic ids")
        return super().fitted(state)

    async def decide(self, *, question: str, nuggets: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """All windows at once."""
        labels, _ = await self.label(question, nuggets)
        return dspy.Prediction(importance=labels, verdicts=[label.value for label in labels])

    async def label(
        self, question: str, nuggets: Sequence[str]
    ) -> tuple[list[Importance], list[Provenance]]:
        """One label per nugget, in order, and one provenance per call."""
        items = [{"question": question, "nugget": text} for text in nuggets]
        starts = range(0, len(items), self.window)
        windows = [items[start : start + self.window] for start in starts]
        parts = await asyncio.gather(*map(self.verdicts, windows))
        labels = [Importance(judged(each).label) for verdicts, _ in parts for each in verdicts]
        return labels, [call for _, call in parts]
