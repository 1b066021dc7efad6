"""Labels that judges give, worst to best, with what each means.

Those of a declared kind (`records/kinds.py`) are beside the reader of its rows. A meaning
is written once: prompts, reply schemas and the labelling app's guidelines show it. The labels of a
type exclude each other, and every text has one of them.
"""

from __future__ import annotations

from ..records.key_points import PointEntailment as PointEntailment
from ..records.nuggets import NuggetSupport as NuggetSupport
from ..records.rows import Label
from ..records.support import CitationSupport as CitationSupport


class NuggetMatch(Label):
    """The two-grade form: a nugget is in the answer or it is not."""

    NOT_SUPPORT = "not_support", "an important part of the fact is missing or contradicted"
    SUPPORT = NuggetSupport.SUPPORT.value, NuggetSupport.SUPPORT.meaning


class NarrativeGrade(Label):
    """How many parts of a narrative a passage answers (TREC 2025 RAG); by grade."""

    UNRELATED = "0", "the passage has nothing to do with the narrative"
    RELATED = "1", "the passage is about the topic but answers no part in detail"
    ONE = "2", "the passage answers one part in detail"
    SOME = "3", "the passage answers two or three parts in detail"
    MANY = "4", "the passage answers four or more parts in detail"


class PartAnswer(Label):
    """How a passage answers one part of a narrative."""

    NONE = "none", "the passage has nothing to do with the part or the topic of the narrative"
    RELATED = (
        "related",
        "the passage is about the subject of the part or the topic of the narrative, but does not "
        "answer the part in detail",
    )
    DETAILED = (
        "detailed",
        "the passage answers the part in detail, with facts, reasons or examples",
    )


class Contradiction(Label):
    """Whether a passage says that a sentence is wrong."""

    NEITHER = (
        "neither",
        "the passage contradicts no claim of the sentence; this includes a passage that supports "
        "it, does not mention its claims, is less exact, or is about another case or time",
    )
    CONTRADICTS = (
        "contradicts",
        "at least one claim of the sentence cannot be true if the passage is true; the passage "
        "denies the claim, or gives another number, date, name or order for the same thing",
    )


class PointUse(Label):
    """Whether a key point helps to answer a question (arXiv:2410.23000)."""

    NO = "no", "the point is irrelevant to the question, or only background"
    YES = "yes", "the point directly helps to answer the question, in full or in part"


class ClaimMatch(Label):
    """Whether a claim expresses a key point (arXiv:2410.23000, precision)."""

    NO = (
        "no",
        "the claim expresses no key point, and no needed part of a key point that the listed "
        "claims express together",
    )
    YES = (
        "yes",
        "the claim expresses at least one key point, with or without further detail, or a needed "
        "part of a key point that the listed claims express together",
    )


class YesNo(Label):
    """Whether it is so."""

    NO = "no"
    YES = "yes"


class SearchKind(Label):
    """How a question has to be searched for (arXiv:2410.23000)."""

    SIMPLE = "simple", "the question asks for plain information about one thing, in one step"
    COMPLEX = (
        "complex",
        "the question is clear but combines several things, steps or conditions, or uses metaphor",
    )
    VAGUE = "vague", "the topic or the intent of the question is unclear"
