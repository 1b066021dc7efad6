"""Which facts do these passages add to a list of nuggets, and in which words do they state them?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.adapter import SETTING
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import hunting as lexical_hunting
from ..lexical.quotes import find_quote

LIMIT = 10  # nuggets of one call


class ProposedNugget(NamedTuple):
    """A nugget, and the words that state it.

    Attributes:
        text: of the nugget.
        passage: the 0-based index of the passage that was quoted; None: there is no such passage.
        span: where the quote stands in that passage, `text[start:end]`; None: nowhere.
    """

    text: str
    passage: int | None
    span: tuple[int, int] | None


class QuotedNugget(TypedDict):
    """A nugget as a reply gives it."""

    nugget: Annotated[str, MinLen(1), MaxLen(160)]
    passage: int
    quote: Annotated[str, MaxLen(400)]


def _worded(nuggets: list[QuotedNugget]) -> list[QuotedNugget]:
    if not all(each["nugget"].strip() for each in nuggets):
        raise ValueError("a nugget without text")
    return nuggets


class ProposeNuggets(dspy.Signature):  # type: ignore[misc]
    """Propose new nuggets: short facts from the passages that a comprehensive answer contains.

    - Look for what the passages say about the facet, which is one part of the question. Propose
      the essential facts and also those that are worthwhile but not essential.
    - A nugget is one atomic fact of 1 to 12 words. It is a statement, not a question, and can be
      understood without the passages and the other nuggets.
    - Propose a fact only if a single passage states all of it. Give the number of that passage
      and a quote: one contiguous excerpt that states the fact, copied exactly.
    - Do not repeat facts that the known nuggets cover, in any wording.
    - Propose at most as many nuggets as `limit` says, the most important first. Return an empty
      list if the passages add nothing.
    """

    question: str = dspy.InputField(desc="the question of the user")
    facet: str = dspy.InputField(desc="the part of the question to look for")
    passages: dict[str, str] = dspy.InputField(desc="the passages, by number")
    known: list[str] = dspy.InputField(desc="the nuggets found before")
    limit: Annotated[int, SETTING] = dspy.InputField(desc="the most nuggets to propose")
    proposed: Annotated[list[QuotedNugget], AtMost("limit"), AfterValidator(_worded)] = (
        dspy.OutputField(desc="the new nuggets, each with its passage and the quote")
    )


class NuggetProposer(Judge):
    """Finds new nuggets: `judge(question=, facet=, passages=[...], known=[...]).proposed`.

    Each is a ProposedNugget, whose quote is looked for in its passage by code
    (judges/lexical/quotes.py); one without a span rests on nothing. What is returned beyond
    `limit` is cut, since the most important come first.

    Args:
        limit: most nuggets of a call.

    Raises: JudgeError.
    """

    name = "nugget_proposer"
    version = "3"
    twins: Mapping[str, Twin] = {"find": lexical_hunting.propose_nuggets}

    def __init__(self, *args: Any, limit: int = LIMIT, **options: Any) -> None:
        super().__init__(*args, **options)
        if limit < 1:
            raise ValueError(f"limit must be 1 or more, got {limit}")
        self.limit = limit
        self.find = dspy.Predict(ProposeNuggets)

    async def decide(  # type: ignore[override]
        self, *, question: str, facet: str, passages: Sequence[str], known: Sequence[str] = ()
    ) -> dspy.Prediction:
        """One call."""
        nuggets, _ = await self.propose(question, facet, passages, known)
        return dspy.Prediction(proposed=nuggets)

    async def propose(
        self, question: str, facet: str, passages: Sequence[str], known: Sequence[str]
    ) -> tuple[list[ProposedNugget], list[Provenance]]:
        """The new nuggets, and the provenance of the call."""
        reply = await self.ask(
            "find",
            question=question,
            facet=facet,
            passages={str(i): text for i, text in enumerate(passages, 1)},
            known=list(known),
            limit=self.limit,
        )
        nuggets = []
        for each in reply.values["proposed"][: self.limit]:
            index = each["passage"] - 1
            is_there = 0 <= index < len(passages)
            span = find_quote(each["quote"], passages[index]) if is_there else None
            text = " ".join(each["nugget"].split())
            nuggets.append(ProposedNugget(text, index if is_there else None, span))
        return nuggets, [reply.provenance]
