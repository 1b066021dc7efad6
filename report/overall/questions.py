"""The title of a page: what its results answer, as a question."""

from __future__ import annotations

from ...programs.protocols.table import programs
from ..source import Source

# By program, of several systems and of one; {} stands for how many, or for its name.
_QUESTIONS = {
    "nuggets": (
        "Which of {} systems states the vital facts?",
        "How many of the vital facts does {} state?",
    ),
    "support": (
        "Which of {} systems is carried by what it cites?",
        "How far is {} carried by what it cites?",
    ),
    "evidence": (
        "Which of {} systems cites what carries it?",
        "Does {} cite what carries it?",
    ),
    "argue": (
        "Which of {} systems answers the questions, carried by what it cites?",
        "How many of the questions does {} answer, carried by what it cites?",
    ),
    "coverage": (
        "Which of {} systems finds and says what a report needs?",
        "How much of what a report needs does {} find and say?",
    ),
    "keypoints": (
        "Which of {} systems states the key points?",
        "How many of the key points does {} state?",
    ),
    "rubric": (
        "Which of {} systems meets its rubrics?",
        "How far does {} meet its rubrics?",
    ),
    "relevance": (
        "Which of {} rankings puts the relevant passages first?",
        "How early do the relevant passages of {} stand?",
    ),
}
_OTHERS = "Which of {} systems scores best?", "How does {} score?"


def question(source: Source) -> str:
    """The question that the first measure answers."""
    several, of_one = _QUESTIONS.get(program_of(source.measures[0]), _OTHERS)
    if len(source.runs) == 1:
        return of_one.format(source.runs[0])
    return several.format(f"{len(source.runs):,}")


def program_of(measure: str) -> str:
    """Name of the program that shows a measure; "" for those of others."""
    name = measure.partition("@")[0]
    if name in ("nDCG", "P(rel=2)", "AP(rel=2)"):
        return "relevance"
    return next((one.name for one in programs() if name in one.shown), "")
