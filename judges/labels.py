"""The labels that judges give, worst to best, and what each is worth."""

from __future__ import annotations

from ..records.rows import Label


class NuggetSupport(Label):
    """How much of a nugget an answer states (arXiv:2411.09607)."""

    NOT_SUPPORT = "not_support"
    PARTIAL_SUPPORT = "partial_support"
    SUPPORT = "support"


NUGGET_GAINS = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}


class NuggetMatch(Label):
    """The two-grade form: a nugget is in the answer or it is not."""

    NOT_SUPPORT = "not_support"
    SUPPORT = "support"


class AnswerGrade(Label):
    """How well a text answers a question (arXiv:2506.20051); its values are the grades."""

    NONE = "0"
    HARDLY = "1"
    LITTLE = "2"
    PART = "3"
    MOST = "4"
    ALL = "5"

    @classmethod
    def _missing_(cls, value: object) -> Label | None:
        """`4` for `"4"`; and no sign is dropped, as the hyphens of other labels are."""
        text = str(value).strip() if type(value) in (int, str) else None
        return next((grade for grade in cls if grade.value == text), None)


class CitationSupport(Label):
    """How much of a sentence its cited passage carries (arXiv:2504.15205)."""

    NONE = "none"
    PARTIAL = "partial"
    FULL = "full"


class PointEntailment(Label):
    """Whether a response states a key point, contradicts it or neither (arXiv:2410.23000)."""

    NO = "no"
    NEUTRAL = "neutral"
    YES = "yes"


class PartAnswer(Label):
    """How a passage answers one part of a narrative."""

    NONE = "none"
    RELATED = "related"
    DETAILED = "detailed"


class CriterionMatch(Label):
    """How far an answer meets a criterion (arXiv:2511.07685)."""

    NOT_MET = "not_met"
    PARTLY = "partly"
    MET = "met"


class BinaryCriterionMatch(Label):
    """The two-grade form: a criterion is met or it is not."""

    NOT_MET = "not_met"
    MET = "met"


class Contradiction(Label):
    """Whether a passage says that a sentence is wrong."""

    NEITHER = "neither"
    CONTRADICTS = "contradicts"


class YesNo(Label):
    """Whether it is so."""

    NO = "no"
    YES = "yes"


class SearchKind(Label):
    """How a question has to be searched for (arXiv:2410.23000)."""

    SIMPLE = "simple"
    COMPLEX = "complex"
    VAGUE = "vague"
