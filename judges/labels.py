"""Labels that judges give, worst to best, each with its meaning.

Labels of a declared kind (`records/kinds.py`) are beside the reader of its rows. Each meaning
is written once: prompts, reply schemas and the labelling app's guidelines show it. The labels of a
type exclude each other, and every text fits one of them.
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
