"""One answer at a time, as other tools ask: its value in one measure, or why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ..evaluation.evaluate import evaluate
from ..evaluation.questions import QuestionScore


class SampleJudge:
    """Judges single samples by one measure.

    Args:
        measure: the value to give, of a program that is run, such as V_strict, support_precision,
            coverage or KPR.
        program: which programs; None: all that a sample has something for.
        model: who judges; see `nuggetjudge.run`.
        settings: as of `nuggetjudge.run`; `max_cost`, `max_calls` and `max_tokens` are for all
            samples together.
    """

    def __init__(
        self,
        measure: str,
        program: str | Sequence[str] | None = None,
        *,
        model: str | Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        self.measure = measure
        self._given = {"program": program, "model": model, **settings}

    def score(self, sample: Mapping[str, Any]) -> QuestionScore:
        """What the sample is worth.

        Args:
            sample: fields as of `nuggetjudge.evaluate`.

        Raises: InputError for a sample that lacks something, and for an unknown measure.
        """
        rows = evaluate([sample], **self._given).rows([self.measure])
        return rows[0]

    async def ascore(self, sample: Mapping[str, Any]) -> QuestionScore:
        """As `score`, in a thread."""
        return await asyncio.to_thread(self.score, sample)
