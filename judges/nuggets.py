"""Judges of nuggets: make a list from passages, rate importance, find nuggets in an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, Self

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ..backends.adapter import SETTING
from ..backends.gateway import Reply
from ..backends.prompt import Baseline, Scorer
from ..backends.replies.schema import AtMost, KeyedBy
from ..records.judgements import Provenance
from ..records.nuggets import NUGGET_KIND, NuggetSupport
from ..records.rows import Importance
from .base import Judge
from .fitted import JudgeFile
from .items import ItemJudge, require_verdict
from .labels import NuggetMatch
from .lexical import contradiction as lexical_search
from .lexical import overlap as lexical
from .lexical.grounds import find_quote
from .lexical.overlap import weigh_overlap
from .makers.lists import NUGGETS, Inputs, ListMaker, Spans, add_example, fill_up

WINDOW = 10  # passages or nuggets in one call, arXiv:2411.09607
MAX_NUGGETS = 30  # length of the list while it grows; both arXiv:2411.09607

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
    """Make a nugget list: `judge(question=, passages=[...]).nuggets`, at most `limit` strings.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: passages in a call, >= 1; each call updates the list of the call before.
        limit: the largest number of nuggets, >= 1. Models put the most important first, so nuggets
            beyond the limit are cut; `n_cut` counts them.
        example: show one worked example, made up for the prompt.

    Raises: ValueError for a window or a limit below 1. JudgeError from a call, if a reply cannot
        be read.
    Source: arXiv:2411.09607, section 3.1.

    >>> judge = Nuggetizer("lexical")
    >>> passages = ["Strong wind moves bridges."]
    >>> judge(question="Why do bridges sway?", passages=passages).nuggets
    ['Strong wind moves bridges']
    """

    name = "nuggetizer"
    kind = "nuggets"
    made_from = ("question", "passages")
    predictor, output = "update", "updated"
    version = "4"
    baselines: Mapping[str, Baseline] = {"update": lexical.update_nuggets}

    def __init__(
        self,
        *args: Any,
        window: int = WINDOW,
        limit: int = MAX_NUGGETS,
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
        """Make a nugget list, window by window; `judge(...)` calls this.

        Args:
            question: the question that the nuggets answer.
            passages: the texts to take facts from.

        Returns: a prediction with `nuggets`, a list of texts, and `n_cut`.
        """
        nuggets, n_cut, _ = await self.create(question, passages)
        return dspy.Prediction(nuggets=nuggets, n_cut=n_cut)

    async def make_texts(self, *, question: str, passages: Sequence[str]) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.create(question, passages))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: all passages in one call, because the list comes from all of them."""
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
        return reply._replace(values={"updated": fill_up(reply.values["updated"], inputs["limit"])})

    async def create(
        self, question: str, passages: Sequence[str]
    ) -> tuple[list[str], int, list[Provenance]]:
        """Make a nugget list, window by window.

        Args:
            question: the question that the nuggets answer.
            passages: the texts to take facts from.

        Returns: the nuggets, the number that was cut, and the provenance of each call.
        """
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
        text: the nugget.
        passage: the 0-based index of the quoted passage; None: there is no such passage.
        span: the position of the quote in that passage, `text[start:end]`; None: not found.

    >>> judge = NuggetProposer("lexical")
    >>> reply = judge(question="Why?", facet="wind", passages=["Strong wind moves bridges."])
    >>> reply.proposed
    [ProposedNugget(text='Strong wind moves bridges', passage=0, span=(0, 25))]
    """

    text: str
    passage: int | None
    span: tuple[int, int] | None


class QuotedNugget(TypedDict):
    """A nugget in the form of a reply."""

    nugget: Annotated[str, MinLen(1), MaxLen(160)]
    passage: int
    quote: Annotated[str, MaxLen(400)]


def _word_nuggets(nuggets: list[QuotedNugget]) -> list[QuotedNugget]:
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
    proposed: Annotated[list[QuotedNugget], AtMost("limit"), AfterValidator(_word_nuggets)] = (
        dspy.OutputField(desc="the new nuggets, each with its passage and the quote")
    )


class NuggetProposer(Judge):
    """Find new nuggets: `judge(question=, facet=, passages=[...], known=[...]).proposed`.

    A call gives a list of ProposedNugget. Code looks up each quote in its passage; a nugget without
    a span has no source. Nuggets beyond `limit` are cut, since the most important come first.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        limit: the largest number of nuggets of a call, >= 1.

    Raises: ValueError for a limit below 1. JudgeError from a call, if the reply cannot be read.

    >>> judge = NuggetProposer("lexical")
    >>> passages = ["Strong wind moves bridges."]
    >>> reply = judge(question="Why do bridges sway?", facet="bridges", passages=passages)
    >>> [(each.text, each.passage, each.span) for each in reply.proposed]
    [('Strong wind moves bridges', 0, (0, 25))]
    """

    name = "nugget_proposer"
    version = "3"
    baselines: Mapping[str, Baseline] = {"find": lexical_search.propose_nuggets}

    def __init__(self, *args: Any, limit: int = LIMIT, **options: Any) -> None:
        super().__init__(*args, **options)
        if limit < 1:
            raise ValueError(f"limit must be 1 or more, got {limit}")
        self.limit = limit
        self.find = dspy.Predict(ProposeNuggets)

    async def decide(  # type: ignore[override]
        self, *, question: str, facet: str, passages: Sequence[str], known: Sequence[str] = ()
    ) -> dspy.Prediction:
        """Find new nuggets in one call; `judge(...)` calls this.

        Args:
            question: the question of the user.
            facet: the part of the question to look for.
            passages: the texts to take facts from.
            known: the nuggets found before.

        Returns: a prediction with `proposed`, a list of ProposedNugget.
        """
        nuggets, _ = await self.propose(question, facet, passages, known)
        return dspy.Prediction(proposed=nuggets)

    async def propose(
        self, question: str, facet: str, passages: Sequence[str], known: Sequence[str]
    ) -> tuple[list[ProposedNugget], list[Provenance]]:
        """Find new nuggets in passages.

        Args:
            question: the question of the user.
            facet: the part of the question to look for.
            passages: the texts to take facts from.
            known: the nuggets found before.

        Returns: the new nuggets, and the provenance of the call.
        """
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
    """Rate nuggets vital or okay: `judge(question=, nuggets=[...]).importance`, in their order.

    Nugget files with human labels fit it.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: nuggets in a call, >= 1. Part of the judge's identity.

    Raises: ValueError for a window below 1. JudgeError from a call, for the first nugget without
        a label.
    Source: arXiv:2411.09607, section 3.1: vital and okay, 10 nuggets in a call.

    >>> judge = NuggetImportance("lexical")
    >>> judge(question="Why do bridges sway?", nuggets=["Wind sways bridges.", "Ice."]).verdicts
    ['vital', 'okay']
    """

    version = "2"
    name = "importance"
    kind = "other"
    key = ("topic_id", "nugget_id")
    inputs = ("question", "nugget")
    quotable: Mapping[str, str] = {}  # the importance of a nugget cannot be shown by a quote
    listed = "nugget"
    predictor, output = "rate", "importance"
    scale = IMPORTANCE_SCALE
    gains: Mapping[str, float] = {"okay": 0.0, "vital": 1.0}
    baselines: Mapping[str, Baseline] = {"rate": lexical.rate_importance}

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.rate = dspy.Predict(RateImportance)

    def copy_with_fit(self, state: JudgeFile) -> Self:
        """See ItemJudge. Raises: ValueError, also for shifts of topics: it has no topic ids."""
        if state.correction is not None and state.correction.topics:
            raise ValueError("it shifts scores by topic, but importance is rated without topic ids")
        return super().copy_with_fit(state)

    async def decide(self, *, question: str, nuggets: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """Rate nuggets, all windows in parallel; `judge(...)` calls this.

        Args:
            question: the question that an answer should cover.
            nuggets: the facts to rate.

        Returns: a prediction with `importance` and `verdicts`, in their order.
        """
        labels, _ = await self.label(question, nuggets)
        return dspy.Prediction(importance=labels, verdicts=[label.value for label in labels])

    async def label(
        self, question: str, nuggets: Sequence[str]
    ) -> tuple[list[Importance], list[Provenance]]:
        """Rate nuggets, all windows in parallel.

        Args:
            question: the question that an answer should cover.
            nuggets: the facts to rate.

        Returns: one label for each nugget, in order, and the provenance of each call.
        """
        items = [{"question": question, "nugget": text} for text in nuggets]
        starts = range(0, len(items), self.window)
        windows = [items[start : start + self.window] for start in starts]
        parts = await asyncio.gather(*map(self.verdicts, windows))
        labels = [
            Importance(require_verdict(each).label) for verdicts, _ in parts for each in verdicts
        ]
        return labels, [call for _, call in parts]


_RULES = """\
- Judge each nugget by itself. The wording of the answer may differ from that of the nugget.
- A fact is clearly implied if a careful reader of the answer cannot doubt it. A part of a fact
  is important if the fact would mean something else without it.
- Use only the text of the answer, not your own knowledge."""


class AssignNuggets(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each nugget, a short fact, how much of it the answer states.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the answer responds to")
    answer: str = dspy.InputField(desc="the answer to judge")
    nuggets: dict[str, str] = dspy.InputField(desc="the facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetSupport], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label for each number of the nuggets"
    )


class MatchNuggets(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each nugget, a short fact, whether the answer states it.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the answer responds to")
    answer: str = dspy.InputField(desc="the answer to judge")
    nuggets: dict[str, str] = dspy.InputField(desc="the facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetMatch], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label for each number of the nuggets"
    )


class NuggetAssigner(ItemJudge):
    """Label nuggets, a window at a time: `judge(question=, answer=, nuggets=[...]).verdicts`.

    A call gives `verdicts`, one label for each nugget in the given order, and their `scores`.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: nuggets in a call, >= 1. Part of the judge's identity.
        grades: 3 (support, partial_support, not_support) or 2 (support, not_support).

    Raises: ValueError for a window below 1. JudgeError from a call, for the first nugget without
        a label.
    Source: arXiv:2411.09607, section 3.3: three labels, 10 nuggets in a call.

    >>> judge = NuggetAssigner("lexical")
    >>> reply = judge(question="Why?", answer="Wind moves decks.", nuggets=["wind moves", "ice"])
    >>> [label.value for label in reply.verdicts]
    ['support', 'not_support']
    """

    version = "2"
    name = "assigner"
    kind = "nuggets"
    key = NUGGET_KIND.key
    inputs = ("question", "answer", "nugget")
    source = "answer"
    quotable: Mapping[str, str] = {"answer": "nugget"}
    listed = "nugget"
    predictor, output = "assign", "verdicts"
    overlap = staticmethod(weigh_overlap)
    baselines: Mapping[str, Baseline] = {"assign": lexical.assign_nuggets}
    scorers: Mapping[str, Scorer] = {"assign": lexical.score_nuggets}

    def __init__(self, *args: Any, window: int = WINDOW, grades: Literal[2, 3] = 3, **options: Any):
        super().__init__(*args, **options)
        self._take_window(window)
        self.labels: type[NuggetSupport] | type[NuggetMatch] = NuggetSupport
        self.assign = dspy.Predict(AssignNuggets)
        if grades == 2:
            self.labels = NuggetMatch
            self.assign = dspy.Predict(MatchNuggets)
            self.baselines = {"assign": lexical.match_nuggets}
        self.scale = tuple(label.value for label in self.labels)
        self.answer_type = self.labels
        self.gains = {name: NUGGET_KIND.gains[name] for name in self.scale}

    async def decide(  # type: ignore[override]
        self, *, question: str, answer: str, nuggets: Sequence[str]
    ) -> dspy.Prediction:
        """Label each nugget, window by window; `judge(...)` calls this.

        Args:
            question: the question that the answer responds to.
            answer: the text to judge.
            nuggets: the facts to look for.

        Returns: the prediction, see `ItemJudge.prediction`.
        """
        items = [{"question": question, "answer": answer, "nugget": text} for text in nuggets]
        verdicts = await self.in_windows(items)
        return self.prediction(verdicts)
