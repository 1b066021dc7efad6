"""Which accepted answers to questions does a sentence give?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ....backends.prompt import Baseline, Scorer
from ....backends.replies.schema import KeyedBy
from ....judges.items import ItemJudge
from ....judges.lexical.overlap import NUGGET_FULL, content_words, recall
from ....records.rows import Label

WINDOW = 10  # accepted answers in one call
QUESTION, ANSWER, ANY = "question: ", " | accepted answer: ", "any"


class AnswerStated(Label):
    """Whether a sentence gives an accepted answer to a question (arXiv:2405.00982)."""

    NO = "no", "the sentence does not state the whole of this answer to this question"
    YES = "yes", "the sentence states this answer to this question, in any wording"


def find_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Answer yes from a share of words on: the lexical baseline.

    The words are the content words of the accepted answer, searched in the sentence; if any answer
    is accepted, those of the question. The threshold is that of a stated nugget, which was fitted
    to labels of nuggets in whole answers.
    """
    shares = score_answers(inputs)["verdicts"]
    return {
        "verdicts": {
            key: AnswerStated.YES if share >= NUGGET_FULL else AnswerStated.NO
            for key, share in shares.items()
        }
    }


def score_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the share of content words that `find_answers` uses, in [0, 1]."""
    words = content_words(inputs["sentence"])
    return {
        "verdicts": {
            key: recall(content_words(_get_needed(text)), words)
            for key, text in inputs["answers"].items()
        }
    }


def _get_needed(text: str) -> str:
    """The answer in a text of `question_with_answer`; its question if any answer is accepted."""
    question, _, answer = text.rpartition(ANSWER)
    return question.removeprefix(QUESTION) if question and answer == ANY else answer


class FindAnswers(dspy.Signature):  # type: ignore[misc]
    """Decide for each question with its accepted answer whether the sentence states that answer.

    - Judge each pair by itself. The wording may differ.
    - If the accepted answer is "any", the label is yes if the sentence answers the question.
    - Use only the sentence, not your own knowledge.
    """

    question: str = dspy.InputField(desc="the question that the whole report answers")
    answers: dict[str, str] = dspy.InputField(
        desc="pairs of a question and its accepted answer, by number"
    )
    sentence: str = dspy.InputField(desc="a sentence of the report")
    verdicts: Annotated[dict[str, AnswerStated], KeyedBy("answers")] = dspy.OutputField(
        desc="one label for each number of the answers"
    )


class AcceptedAnswerJudge(ItemJudge):
    """Label which answers a sentence gives: `judge(question=, sentence=, answers=[...]).verdicts`.

    Each of the answers is a text of `question_with_answer`.

    Args:
        window: answers in a call, >= 1. Part of the judge's identity.

    Returns from a call: `verdicts`, yes or no for each answer in the given order, and `scores`.
    Source: arXiv:2405.00982 (ARGUE): sentence by sentence, which nugget answers it states.
    """

    version = "2"
    name = "accepted_answer"
    kind = "other"
    key = ("topic_id", "run_id", "sentence_id", "question_id")
    inputs = ("question", "sentence", "answer")
    source = "sentence"
    quotable: Mapping[str, str] = {"sentence": "answer"}
    listed = "answer"
    answer_type = AnswerStated
    predictor, output = "judge", "verdicts"
    scale = tuple(label.value for label in AnswerStated)
    gains: Mapping[str, float] = {"no": 0.0, "yes": 1.0}
    baselines: Mapping[str, Baseline] = {"judge": find_answers}
    scorers: Mapping[str, Scorer] = {"judge": score_answers}

    examples: Mapping[str, str | list[str]] = {
        "answer": [
            f"{QUESTION}At which temperature is water densest?{ANSWER}4 degrees Celsius",
            f"{QUESTION}What happens below the ice?{ANSWER}{ANY}",
        ]
    }

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.judge = dspy.Predict(FindAnswers)

    async def decide(  # type: ignore[override]
        self, *, question: str, sentence: str, answers: Sequence[str]
    ) -> dspy.Prediction:
        """Judge all answers, window by window."""
        items = [{"question": question, "sentence": sentence, "answer": text} for text in answers]
        return self.prediction(await self.in_windows(items))


def question_with_answer(question: str, answer: str) -> str:
    """Return a question with an accepted answer as one text; "": any answer is accepted.

    >>> question_with_answer("Who struck?", "the dockers")
    'question: Who struck? | accepted answer: the dockers'
    >>> question_with_answer("Who struck?", "")
    'question: Who struck? | accepted answer: any'
    """
    question_text, answer_text = " ".join(question.split()), " ".join(answer.split())
    return f"{QUESTION}{question_text}{ANSWER}{answer_text or ANY}"
