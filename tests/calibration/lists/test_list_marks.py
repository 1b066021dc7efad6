"""What an optimiser is told of a made list: its F1, and in words what it lacks."""

import dspy
import pytest
from stamped import fact

from nuggetjudge.calibration.list_examples import ListExample
from nuggetjudge.calibration.lists import ListMarks, Match, Matcher, make_list_tasks
from nuggetjudge.calibration.prompts.asking import Stopped
from nuggetjudge.judges import Nuggetizer

A, B, C, D = (fact(0, n) for n in range(4))
EXAMPLE = ListExample({"topic_id": "t"}, {"question": "Why?", "passages": ["x"]}, (A, B))


class Says(Matcher):
    """Matches as it is told."""

    def __init__(self, result):
        super().__init__()
        self.result = result

    async def match(self, example, made, concurrency=8):
        return self.result


def marks_of(matcher=None):
    judge = Nuggetizer("lexical")
    tasks = make_list_tasks(judge, [EXAMPLE])
    return ListMarks(judge, matcher or Matcher(), tasks), tasks[0]


def test_a_list_is_worth_its_f1_and_one_that_failed_has_no_gain():
    marks, task = marks_of()
    assert marks.gains(task, dspy.Prediction(updated=[A, C, D])) == [pytest.approx(0.4)]
    assert marks.gains(task, dspy.Prediction(updated=[])) == [0.0]
    assert marks.gains(task, dspy.Prediction(failure="refused")) == [None]


def test_a_list_becomes_a_worked_example_if_it_is_no_worse_than_usual():
    marks, task = marks_of()
    half, none = dspy.Prediction(updated=[A]), dspy.Prediction(updated=[C])
    assert [marks.metric(task.example, prediction, trace=[]) for prediction in (half, none)] == [
        1.0,
        0.0,
    ]
    marks.start(0.9)
    assert marks.metric(task.example, half, trace=[]) == 0.0
    assert marks.metric(task.example, half) == pytest.approx(2 / 3)


def test_feedback_names_what_is_missing_and_what_is_too_much():
    marks, task = marks_of()
    result = marks.metric_with_feedback(task.example, dspy.Prediction(updated=[A, C]))
    assert result.score == 0.5
    assert result.feedback == (
        "Against the list that people made: precision 0.50, recall 0.50.\n"
        f"Missing, which people have:\n- {B}\nNot on the list of people:\n- {C}"
    )
    failed = marks.feedback(task.example, dspy.Prediction(failure="refused: no"))
    assert failed == "No list was made (refused: no)."


def test_what_was_not_matched_is_neither_missing_nor_too_much():
    marks, task = marks_of(Says(Match((True, None), (True, None))))
    prediction = dspy.Prediction(updated=[A, C])
    assert marks.gains(task, prediction) == [1.0]
    assert "Missing" not in marks.feedback(task.example, prediction)
    unknown, task = marks_of(Says(Match((None,), (None, None))))
    assert unknown.gains(task, dspy.Prediction(updated=[A])) == [None]


def test_a_match_for_which_there_is_no_budget_ends_the_search():
    from collections import Counter

    marks, task = marks_of(Says(Match((None,), (None, None), Counter(budget=3))))
    with pytest.raises(Stopped):
        marks.gains(task, dspy.Prediction(updated=[A]))
