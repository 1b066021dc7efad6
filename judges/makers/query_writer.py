"""What should be searched for, to find out whether a sentence is true?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.adapter import SETTING
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical.contradiction import write_queries
from ..lexical.filling import filled


class WriteQueries(dspy.Signature):  # type: ignore[misc]
    """Write search queries that find passages which show whether the sentence is true.

    - A search with the words of the sentence has found no passage that supports it. Rephrase the
      sentence with synonyms, full names and the terms that such a passage would use.
    - Each query is a few words that can be understood on their own.
    - No two queries search for the same thing. Write at most as many queries as `wanted` says.
    """

    question: str = dspy.InputField(desc="the question that the answer responds to")
    sentence: str = dspy.InputField(desc="the sentence of the answer to check")
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="the most queries to write")
    queries: Annotated[list[Annotated[str, MaxLen(200)]], AtMost("wanted")] = dspy.OutputField(
        desc="the queries, the best first"
    )


class QueryWriter(Judge):
    """Queries for a sentence: `judge(question=, sentence=, wanted=3).queries`, a list of texts.

    Blank and repeated ones are dropped, and those beyond `wanted`; there may be none.
    """

    version = "3"
    twins: Mapping[str, Twin] = {"write": write_queries}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.write = dspy.Predict(WriteQueries)

    async def decide(self, *, question: str, sentence: str, wanted: int = 3) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(queries=(await self.queries(question, sentence, wanted))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many as are wanted."""
        return reply._replace(values={"queries": filled(reply.values["queries"], inputs["wanted"])})

    async def queries(
        self, question: str, sentence: str, wanted: int
    ) -> tuple[list[str], Provenance]:
        """The queries and the provenance of the call."""
        reply = await self.ask("write", question=question, sentence=sentence, wanted=wanted)
        distinct: dict[str, str] = {}
        for text in (" ".join(query.split()) for query in reply.values["queries"]):
            if text:
                distinct.setdefault(text.casefold(), text)
        return list(distinct.values())[:wanted], reply.provenance
