"""What should be searched for, to find out whether a sentence is true?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.adapter import SETTING
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.reply import AtMost
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical.contradiction import write_queries
from ..lexical.filling import filled


class WriteQueries(dspy.Signature):  # type: ignore[misc]
    """Write search queries that would find passages which say whether the sentence is true.

    A search by the words of the sentence found nothing that states it. Take other words for the
    same: synonyms, the full name of what is meant, what such a passage would be about. Each query
    is a few words that can be understood alone, and no two look for the same.
    """

    question: str = dspy.InputField(desc="what the answer was to answer")
    sentence: str = dspy.InputField(desc="the sentence of the answer")
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many queries, at most")
    queries: Annotated[list[Annotated[str, MaxLen(200)]], AtMost("wanted")] = dspy.OutputField(
        desc="the queries, the best first"
    )


class QueryWriter(Judge):
    """Queries for a sentence: `judge(question=, sentence=, wanted=3).queries`, a list of texts.

    Blank and repeated ones are dropped, and those beyond `wanted`; there may be none.
    """

    version = "2"
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
