"""Labelled items as the calls of a judge, and prompts as data."""

import json

import dspy
from stamped import REASON, Stamped, stamped, stamped_nuggets

from nuggetjudge.backends.adapter import JudgeAdapter
from nuggetjudge.calibration.prompts.tasks import RATIONALE, get_prompt, number_labels, tasks
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge


def test_a_windowed_judge_learns_from_the_windows_that_it_will_judge_in():
    windows = tasks(NuggetAssigner("lexical", window=3), stamped_nuggets(2, 4))
    assert [len(task.labels) for task in windows] == [3, 1, 3, 1]
    first = windows[0]
    assert list(first.inputs) == ["question", "answer", "nuggets"]
    assert list(first.inputs["nuggets"]) == ["1", "2", "3"]
    assert first.example["verdicts"] == first.labels
    assert first.labels["2"] == "support"
    assert first.example[RATIONALE] == dict.fromkeys("123", REASON)
    assert first.example.inputs().keys() == ["question", "answer", "nuggets"]


def test_a_grade_is_a_number_in_a_worked_example_and_text_among_labels():
    item = Stamped("t1", {"question": "why", "passage": "because"}, "2", "")
    (task,) = tasks(RelevanceJudge("lexical"), [item])
    assert task.example["grade"] == 2
    assert RATIONALE not in task.example
    assert task.labels == number_labels(task.example["grade"]) == {"": "2"}


def test_demos_become_json_of_the_asked_fields_alone_and_change_no_byte_of_the_prompt():
    judge = SupportJudge("lexical")
    (task,) = tasks(judge, stamped(1))
    judge.judge.demos = [dspy.Example(augmented=True, **task.example)]
    prompt = get_prompt(judge.judge)
    assert list(prompt.demos[0]) == ["passage", "sentence", "verdict"]
    assert json.loads(prompt.model_dump_json())["demos"] == list(prompt.demos)

    def written(demos):
        return JudgeAdapter().format(judge.judge.signature, demos, task.inputs)

    assert written([dict(demo) for demo in prompt.demos]) == written(judge.judge.demos)
