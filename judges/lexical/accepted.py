"""The lexical twin of the judge of accepted answers: the answer's content words in the sentence.

Of a question for which any answer will do, those of the question. Its cut-off is that of nuggets,
which was fitted to labels of nuggets in whole answers; on answers in sentences it was fitted to
nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..labels import AnswerStated
from .nuggets_and_citations import NUGGET_FULL, content_words, recall

QUESTION, ANSWER, ANY = "question: ", " | accepted answer: ", "any"


def find_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Yes from the share at which a nugget counts as stated."""
    shares = score_answers(inputs)["verdicts"]
    return {
        "verdicts": {
            key: AnswerStated.YES if share >= NUGGET_FULL else AnswerStated.NO
            for key, share in shares.items()
        }
    }


def score_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share of content words that `find_answers` goes by, in [0, 1]."""
    words = content_words(inputs["sentence"])
    return {
        "verdicts": {
            key: recall(content_words(_needed(text)), words)
            for key, text in inputs["answers"].items()
        }
    }


def _needed(text: str) -> str:
    """The answer in a text of `question_with_answer`, or its question where any will do."""
    question, _, answer = text.rpartition(ANSWER)
    return question.removeprefix(QUESTION) if question and answer == ANY else answer
