"""What should be searched for next, where a question's facets have too few nuggets?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.prompt import Twin
from ...backends.replies.schema import KeyedBy
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import hunting as lexical_hunting


class WriteGapQueries(dspy.Signature):  # type: ignore[misc]
    """Write one search query for each facet of the question, to find facts that are still missing.

    - Word each query as one would type it into a search engine. It names the subject, so that it
      can be understood on its own.
    - Do not search for facts that the known nuggets cover.
    - Each query differs from the queries that were tried before.
    """

    question: str = dspy.InputField(desc="the question of the user")
    nuggets: list[str] = dspy.InputField(desc="the known nuggets: facts found so far")
    tried: list[str] = dspy.InputField(desc="the queries that were tried before")
    facets: dict[str, str] = dspy.InputField(
        desc="the parts of the question that lack facts, by number"
    )
    queries: Annotated[dict[str, Annotated[str, MaxLen(200)]], KeyedBy("facets")] = (
        dspy.OutputField(desc="one query for each number of the facets")
    )


class GapWriter(Judge):
    """Writes the next queries: `judge(question=, facets=[...], nuggets=[...], tried=[...])`.

    `queries` of the prediction has one for each facet, in their order.

    Raises: JudgeError.
    """

    name = "gap_writer"
    version = "3"
    twins: Mapping[str, Twin] = {"write": lexical_hunting.write_gap_queries}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.write = dspy.Predict(WriteGapQueries)

    async def decide(  # type: ignore[override]
        self,
        *,
        question: str,
        facets: Sequence[str],
        nuggets: Sequence[str] = (),
        tried: Sequence[str] = (),
    ) -> dspy.Prediction:
        """One call."""
        queries, _ = await self.queries(question, facets, nuggets, tried)
        return dspy.Prediction(queries=queries)

    async def queries(
        self,
        question: str,
        facets: Sequence[str],
        nuggets: Sequence[str],
        tried: Sequence[str],
    ) -> tuple[list[str], list[Provenance]]:
        """A query for each facet, in order, and the provenance of the call."""
        reply = await self.ask(
            "write",
            question=question,
            nuggets=list(nuggets),
            tried=list(tried),
            facets={str(i): text for i, text in enumerate(facets, 1)},
        )
        written = reply.values["queries"]
        texts = [" ".join(written[str(i)].split()) for i in range(1, len(facets) + 1)]
        return texts, [reply.provenance]
