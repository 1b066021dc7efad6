"""A question counts as unanswerable only where every passage found for it was graded."""

from typing import Any

import pytest

from nuggetjudge.agents import PassageCorpus
from nuggetjudge.agents.researcher import Researcher
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import AnswerabilityGrader
from nuggetjudge.records.judgements import Judged, Reason, Unjudged
from nuggetjudge.records.rows import Passage

PASSAGES = {
    "deck": "Gusts of wind make long bridges sway.",
    "damp": "Engineers keep bridges steady by heavy dampers.",
    "gust": "Gusts of wind make bridges sway.",
    "wind": "The wind turned.",
}
CORPUS = PassageCorpus([Passage(id=name, text=text) for name, text in PASSAGES.items()])
QUESTION = "why do bridges sway and how do engineers keep bridges steady and who painted the wind"


class Fails(AnswerabilityGrader):
    """Gives no grade to a passage."""

    passage = ""

    async def judged(self, items: Any, topic_id: str | None = None) -> Any:
        if items[0]["context"] == PASSAGES[self.passage]:
            raise JudgeError(Reason.REFUSED, "no")
        return await super().judged(items, topic_id)


def outcome_of(failing: str = "", **given: Any) -> Judged | Unjudged:
    judges: dict[str, Any] = {}
    if failing:
        judges["answerability"] = Fails("lexical")
        judges["answerability"].passage = failing
    researcher = Researcher(CORPUS, model="lexical", judges=judges, **given)
    return run_sync(researcher.outcome(topic_id="t", question=QUESTION, questions=[]))


def test_each_part_has_the_passage_that_answers_it_or_none() -> None:
    outcome = outcome_of()
    assert isinstance(outcome, Judged)
    answered = [each["answered_by"] for each in outcome.values["made"]["questions"]]
    assert answered == ["gust", "damp", None]
    *_, last = outcome.values["made"]["questions"]
    assert "wind" in last["grades"]  # it was looked into
    assert outcome.steps[-1]["name"] == "2 of 3 answered"
    assert outcome_of() == outcome


@pytest.mark.parametrize("failing", ["wind", "damp"])
def test_a_grade_that_is_missing_is_no_unanswerable_question(failing: str) -> None:
    outcome = outcome_of(failing)
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.REFUSED


def test_a_grade_that_is_missing_does_not_matter_where_another_passage_answers() -> None:
    judge = Fails("lexical")
    judge.passage = "gust"
    researcher = Researcher(CORPUS, judges={"answerability": judge}, model="lexical")
    [question] = researcher(question="", questions=["Why do bridges sway?"]).questions
    assert question["answered_by"] == "deck"
    assert "gust" not in question["grades"]


def test_questions_that_are_given_are_looked_into_as_they_are() -> None:
    researcher = Researcher(CORPUS, model="lexical")
    prediction = researcher(question="", questions=["Who keeps bridges steady?"])
    assert [each["answered_by"] for each in prediction.questions] == ["damp"]
    strict = Researcher(CORPUS, model="lexical", eta=5)
    assert strict.identity() != researcher.identity()
