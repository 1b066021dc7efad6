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
    rounds: Whole = Field(default=4, ge=1, le=20, description="of searches, at most")
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
