"""Judges that make nuggets: a list from passages, window by window, and proposals with quotes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.adapter import SETTING
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import nugget_search as lexical_search
from ..lexical import nuggets_and_citations as lexical
from ..lexical.filling import filled
from ..lexical.grounds import find_quote
from .examples import NUGGETS, add_example
from .lists import Inputs, ListMaker, Spans

WINDOW = 10  # passages in one call
MOST_NUGGETS = 30  # length of the list while it grows; both arXiv:2411.09607

Nugget = Annotated[str, MinLen(1), MaxLen(160)]  # of 1 to 12 words


class UpdateNuggets(dspy.Signature):  # type: ignore[misc]
    """Update the list of nuggets, short facts that a comprehensive answer to the question contains.

    - A nugget is one atomic fact of 1 to 12 words. It is a statement, not a question, and can be
      understood without the passages and the other nuggets.
    - Together the nuggets cover every aspect of the question that the passages say something
      about. Include the essential facts and also those that are worthwhile but not essential.
    - Add each relevant fact of the passages that the list lacks. Merge nuggets that state the
      same fact. Remove a nugget only if it is irrelevant to the question.
    - Take facts only from the passages and the list, not from your own knowledge.
    - Return the whole list, even if nothing has changed, the most important nuggets first. If
      there are more than `limit`, leave out the least important.
    """

    question: str = dspy.InputField(desc="the question of the user")
    passages: dict[str, str] = dspy.InputField(desc="relevant passages, by number")
    asked: str = dspy.InputField(desc="the same question again")
    nuggets: list[str] = dspy.InputField(desc="the list so far; empty at first")
    limit: Annotated[int, SETTING] = dspy.InputField(desc="the most nuggets that the list may have")
    updated: Annotated[list[Nugget], AtMost("limit")] = dspy.OutputField(
        desc="the whole updated list, the most important nuggets first"
    )


class Nuggetizer(ListMaker):
    """Makes a nugget list: `judge(question=, passages=[...]).nuggets`, at most `limit` strings.

    Args:
        window: passages per call; each call updates the list of the one before.
        limit: longest list; what a model returns beyond it is cut, since it is told to put the
            most important first, and `n_cut` says how many.
        example: show one worked example, made up for the prompt.

    Source: arXiv:2411.09607, nugget creation.
    """

    name = "nuggetizer"
    kind = "nuggets"
    made_from = ("question", "passages")
    predictor, output = "update", "updated"
    version = "4"
    twins: Mapping[str, Twin] = {"update": lexical.update_nuggets}

    def __init__(
        self,
        *args: Any,
        window: int = WINDOW,
        limit: int = MOST_NUGGETS,
        example: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        if window < 1 or limit < 1:
            raise ValueError(f"window and limit must be 1 or more, got {window} and {limit}")
        self.window = window
        self.limit = limit
        self.update = dspy.Predict(UpdateNuggets)
        if example:
            add_example(self.update, NUGGETS)

    async def decide(self, *, question: str, passages: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """All windows, each with the list that the one before left."""
        nuggets, n_cut, _ = await self.create(question, passages)
        return dspy.Prediction(nuggets=nuggets, n_cut=n_cut)

    async def made(self, *, question: str, passages: Sequence[str]) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.create(question, passages))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: all passages in one call, since all of them stand behind the list."""
        return {
            "question": inputs["question"],
            "passages": {str(i): text for i, text in enumerate(inputs["passages"], 1)},
            "asked": inputs["question"],
            "nuggets": [],
            "limit": self.limit,
            "updated": list(texts[: self.limit]),
        }

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the longest list."""
        return reply._replace(values={"updated": filled(reply.values["updated"], inputs["limit"])})

    async def create(
        self, question: str, passages: Sequence[str]
    ) -> tuple[list[str], int, list[Provenance]]:
        """The nuggets, how many were cut, and one provenance per call."""
        nuggets: list[str] = []
        n_cut, calls = 0, []
        for start in range(0, len(passages), self.window):
            batch = passages[start : start + self.window]
            reply = await self.ask(
                "update",
                question=question,
                passages={str(i): text for i, text in enumerate(batch, start + 1)},
                asked=question,
                nuggets=nuggets,
                limit=self.limit,
            )
            calls.append(reply.provenance)
            updated = list(
                dict.fromkeys(t for text in reply.values["updated"] if (t := text.strip()))
            )
            nuggets, n_cut = updated[: self.limit], n_cut + len(updated[self.limit :])
        return nuggets, n_cut, calls


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
    (judges/lexical/grounds.py); one without a span rests on nothing. What is returned beyond
    `limit` is cut, since the most important come first.

    Args:
        limit: most nuggets of a call.

    Raises: JudgeError.
    """

    name = "nugget_proposer"
    version = "3"
    twins: Mapping[str, Twin] = {"find": lexical_search.propose_nuggets}

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
