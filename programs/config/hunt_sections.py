"""The sections of a config for agents that search a corpus for nuggets and for sub-questions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Section, Whole
from .pipeline import SearchPipeline, as_step


class HuntConfig(Section):
    """How `nuggets.how: hunt` goes, for each topic."""

    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 50"), as_step("mmr 10")),
        validate_default=True,
        description="steps of a search; what is left of it is read",
    )
    facets: Whole = Field(
        default=8, ge=1, le=10, description="sub-questions of the topic that are searched for"
    )
    rounds: Whole = Field(default=4, ge=1, le=20, description="of searches, at most")
    stop: Whole = Field(
        default=2, ge=1, description="rounds in a row without a new nugget that end it"
    )
    dedupe: Literal["entailment", "words"] = Field(
        default="entailment",
        description="how two nuggets are found to say the same: the entailment judge, both ways, "
        "or their words, without a call",
    )
    most: Whole = Field(default=60, ge=1, le=1000, description="nuggets")
    calls: Whole = Field(default=80, ge=1, le=10_000, description="questions asked of models")


class QuestionsConfig(Section):
    """What sub-questions of `coverage` are made from."""

    how: Literal["report", "research"] = Field(
        default="report",
        description="from the reference report; research: from the topic, those that a passage "
        "answers",
    )
    pipeline: SearchPipeline = Field(
        default=(as_step("bm25 5"),),
        validate_default=True,
        description="steps of a search for one question; what is left of it is graded",
    )
