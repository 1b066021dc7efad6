"""Is a nugget vital to a good answer, or okay to have?"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ..backends.prompt import Twin
from ..backends.reply import KeyedBy
from ..records.judgements import Provenance
from ..records.rows import Importance
from .base import Judge
from .lexical import nuggets_and_citations as lexical

WINDOW = 10  # nuggets in one call, arXiv:2411.09607


class RateImportance(dspy.Signature):  # type: ignore[misc]
    """Decide for each nugget how much a good answer to the question needs it.

    vital: an answer without it would be lacking. okay: good to know, but not needed.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    nuggets: dict[str, str] = dspy.InputField(desc="facts, by number")
    importance: Annotated[dict[str, Importance], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label per nugget number"
    )


class NuggetImportance(Judge):
    """Rates nuggets a window at a time: `judge(question=, nuggets=[...]).importance`, in order.

    Source: arXiv:2411.09607, vital and okay, 10 nuggets a call.
    """

    version = "1"
    twins: Mapping[str, Twin] = {"rate": lexical.rate_importance}

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        if window < 1:
            raise ValueError(f"window must be 1 or more, got {window}")
        self.window = window
        self.rate = dspy.Predict(RateImportance)

    async def decide(self, *, question: str, nuggets: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """All windows at once."""
        return dspy.Prediction(importance=(await self.label(question, nuggets))[0])

    async def label(
        self, question: str, nuggets: Sequence[str]
    ) -> tuple[list[Importance], list[Provenance]]:
        """One label per nugget, in order, and one provenance per call."""
        starts = range(0, len(nuggets), self.window)
        windows = [nuggets[start : start + self.window] for start in starts]
        parts = await asyncio.gather(*(self._window(question, window) for window in windows))
        return [label for labels, _ in parts for label in labels], [call for _, call in parts]

    async def _window(
        self, question: str, nuggets: Sequence[str]
    ) -> tuple[list[Importance], Provenance]:
        numbered = {str(i): text for i, text in enumerate(nuggets, 1)}
        reply = await self.ask("rate", question=question, nuggets=numbered)
        return [reply.values["importance"][key] for key in numbered], reply.provenance
