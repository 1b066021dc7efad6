"""The labels that judges give, worst to best, what each means, and what each is worth.

A meaning is written once, here: prompts, reply schemas and the labelling app's guidelines show it.
The labels of a type exclude each other, and every text has one of them.
"""

from __future__ import annotations

from ..records.rows import Label


class NuggetSupport(Label):
    """How much of a nugget an answer states (arXiv:2411.09607)."""

    NOT_SUPPORT = (
        "not_support",
        "the answer neither states nor clearly implies any of the fact, or only contradicts it",
    )
    PARTIAL_SUPPORT = (
        "partial_support",
        "the answer states or clearly implies some of the fact, but an important part is missing "
        "or contradicted",
    )
    SUPPORT = (
        "support",
        "the answer states or clearly implies every important part of the fact, in any wording",
    )


NUGGET_GAINS = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}


class NuggetMatch(Label):
    """The two-grade form: a nugget is in the answer or it is not."""

    NOT_SUPPORT = "not_support", "an important part of the fact is missing or contradicted"
    SUPPORT = NuggetSupport.SUPPORT.value, NuggetSupport.SUPPORT.meaning


class RelevanceGrade(Label):
    """How well a passage answers a question (arXiv:2406.06519); its values are the grades."""

    UNRELATED = "0", "the passage has nothing to do with the question"
    RELATED = "1", "the passage is related to the question but does not answer it"
    PARTLY = (
        "2",
        "the passage answers the question, but the answer is incomplete, unclear or hard to find "
        "among unrelated content",
    )
    FULLY = "3", "the passage is mainly about the question and contains a clear and complete answer"


class NarrativeGrade(Label):
    """How many parts of a narrative a passage answers (TREC 2025 RAG); by grade."""

    UNRELATED = "0", "the passage has nothing to do with the narrative"
    RELATED = "1", "the passage is about the topic but answers no part in detail"
    ONE = "2", "the passage answers one part in detail"
    SOME = "3", "the passage answers two or three parts in detail"
    MANY = "4", "the passage answers four or more parts in detail"


class AnswerGrade(Label):
    """How well a text answers a question (arXiv:2506.20051); its values are the grades."""

    NONE = "0", "the text does not answer the question at all"
    HARDLY = "1", "the text answers almost nothing of the question"
    LITTLE = "2", "the text answers a small part; most of the answer is missing or unclear"
    PART = (
        "3",
        "the text answers a substantial part, but there are noticeable gaps or unclear statements",
    )
    MOST = "4", "the text answers most of the question; only minor details are missing or imprecise"
    ALL = "5", "the text answers the question completely and precisely"

    @classmethod
    def _missing_(cls, value: object) -> Label | None:
        """`4` for `"4"`; and no sign is dropped, as the hyphens of other labels are."""
        text = str(value).strip() if type(value) in (int, str) else None
        return next((grade for grade in cls if grade.value == text), None)


class CitationSupport(Label):
    """How much of a sentence its cited passage supports (arXiv:2504.15205)."""

    NONE = "none", "the passage supports no claim of the sentence, or the sentence makes no claim"
    PARTIAL = (
        "partial",
        "the passage supports at least one claim of the sentence, and at least one claim is "
        "missing from the passage or contradicted by it",
    )
    FULL = "full", "the sentence makes a claim, and the passage supports every claim of it"


class PointEntailment(Label):
    """Whether a response states a key point, contradicts it or neither (arXiv:2410.23000)."""

    NO = "no", "the response contradicts the key point: the two cannot both be true"
    NEUTRAL = (
        "neutral",
        "the response neither entails nor contradicts the key point; this includes a response "
        "that states only a part of it or is more general",
    )
    YES = (
        "yes",
        "the response entails the key point: all of it is stated in any wording, or clearly "
        "follows from the response",
    )


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


class CriterionMatch(Label):
    """How far an answer meets a criterion (arXiv:2511.07685)."""

    NOT_MET = (
        "not_met",
        "the response gives nothing that the criterion asks for, or all of it incorrectly",
    )
    PARTLY = (
        "partly",
        "the response gives at least some of what the criterion asks for, but some of it is "
        "missing, incorrect or too vague",
    )
    MET = "met", "the response gives correctly all that the criterion asks for, in any wording"


class BinaryCriterionMatch(Label):
    """The two-grade form: a criterion is met or it is not."""

    NOT_MET = (
        "not_met",
        "the response lacks some of what the criterion asks for, or gives it incorrectly",
    )
    MET = CriterionMatch.MET.value, CriterionMatch.MET.meaning


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


class Preference(Label):
    """Which of two answers serves the user better."""

    A = "a", "answer A helps the user, and is better by a difference that would matter to the user"
    B = "b", "answer B helps the user, and is better by a difference that would matter to the user"
    TIE = "tie", "both answers help the user, and no difference between them would matter"
    BOTH_BAD = "both_bad", "neither answer helps the user"


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


class AnswerStated(Label):
    """Whether a sentence gives an accepted answer to a question (arXiv:2405.00982)."""

    NO = "no", "the sentence does not state the whole of this answer to this question"
    YES = "yes", "the sentence states this answer to this question, in any wording"


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
