"""Judges that write search queries: for evidence of a sentence, and for gaps in a nugget list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.adapter import SETTING
from ...backends.gateway import Reply
from ...backends.prompt import Baseline
from ...backends.replies.schema import AtMost, KeyedBy
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import contradiction as lexical_search
from ..lexical.contradiction import write_queries
from .lists import fill_up


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
    """Write queries for a sentence: `judge(question=, sentence=, wanted=3).queries`, a list.

    Blank and repeated queries, and queries beyond `wanted`, are dropped; the list may be empty.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, if the reply cannot be read.

    >>> judge = QueryWriter("lexical")
    >>> judge(question="Why do bridges sway?", sentence="Wind moves old bridges.", wanted=2).queries
    ['Wind moves old bridges', 'Wind moves']
    """

    version = "3"
    baselines: Mapping[str, Baseline] = {"write": write_queries}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.write = dspy.Predict(WriteQueries)

    async def decide(self, *, question: str, sentence: str, wanted: int = 3) -> dspy.Prediction:  # type: ignore[override]
        """Write queries for a sentence; `judge(...)` calls this.

        Args:
            question: the question that the answer responds to.
            sentence: the sentence of the answer to check.
            wanted: the largest number of queries.

        Returns: a prediction with `queries`, a list of texts.
        """
        return dspy.Prediction(queries=(await self.queries(question, sentence, wanted))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the number of wanted queries."""
        return reply._replace(
            values={"queries": fill_up(reply.values["queries"], inputs["wanted"])}
        )

    async def queries(
        self, question: str, sentence: str, wanted: int
    ) -> tuple[list[str], Provenance]:
        """Write queries that search for evidence of a sentence.

        Args:
            question: the question that the answer responds to.
            sentence: the sentence of the answer to check.
            wanted: the largest number of queries.

        Returns: the queries, and the provenance of the call.
        """
        reply = await self.ask("write", question=question, sentence=sentence, wanted=wanted)
        distinct: dict[str, str] = {}
        for text in (" ".join(query.split()) for query in reply.values["queries"]):
            if text:
                distinct.setdefault(text.casefold(), text)
        return list(distinct.values())[:wanted], reply.provenance


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
    """Write the next queries: `judge(question=, facets=[...], nuggets=[...], tried=[...])`.

    The prediction's `queries` has one query for each facet, in order.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, if the reply cannot be read.

    >>> judge = GapWriter("lexical")
    >>> facets = ["the wind", "the material"]
    >>> judge(question="Why do bridges sway?", facets=facets, nuggets=["Steel bends"]).queries
    ['wind bends steel', 'material bends steel']
    """

    name = "gap_writer"
    version = "3"
    baselines: Mapping[str, Baseline] = {"write": lexical_search.write_gap_queries}

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
        """Write a query for each facet; `judge(...)` calls this.

        Args:
            question: the question of the user.
            facets: the parts of the question that lack facts.
            nuggets: the facts found so far.
            tried: the queries that were tried before.

        Returns: a prediction with `queries`, in the order of the facets.
        """
        queries, _ = await self.queries(question, facets, nuggets, tried)
        return dspy.Prediction(queries=queries)

    async def queries(
        self,
        question: str,
        facets: Sequence[str],
        nuggets: Sequence[str],
        tried: Sequence[str],
    ) -> tuple[list[str], list[Provenance]]:
        """Write a query for each facet.

        Args:
            question: the question of the user.
            facets: the parts of the question that lack facts.
            nuggets: the facts found so far.
            tried: the queries that were tried before.

        Returns: the queries in the order of the facets, and the provenance of the call.
        """
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
