"""`judges.NAME.example` turns a worked example off, and a run's identity says what was sent."""

import asyncio

import pytest

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.judge_set import JudgeSet, make_budget
from nuggetjudge.records.reading.problems import InputError


def judge_of(name, **settings):
    """The judge as a config makes it, and its identity."""
    config = load_config(None, {"models.default.model": "openai/mock", **settings})
    judge_set = JudgeSet(config, cache=None, budget=make_budget(config), asks=False)
    judge = judge_set[name]
    asyncio.run(judge_set.aclose())
    return judge, judge_set.identities()[name]


@pytest.mark.parametrize(
    "name",
    [
        "nuggetizer",
        "subquestions",
        "keypoint_extractor",
        "keypoint_merger",
        pytest.param("request", marks=pytest.mark.whole),
    ],
)
def test_a_config_turns_the_example_off_which_makes_it_another_judge(name):
    shown, with_example = judge_of(name)
    plain, without = judge_of(name, **{f"judges.{name}.example": False})
    assert [len(p.fixed) for p in shown.prompts().values()] == [3]
    assert [len(p.fixed) for p in plain.prompts().values()] == [1]
    assert with_example["prompts"] != without["prompts"]


def test_a_judge_without_an_example_has_no_such_setting():
    with pytest.raises(InputError, match=r"judges.assigner.example: only nuggetizer, subquestions"):
        load_config(None, {"judges.assigner.example": False})


def test_the_manifest_has_the_temperature_that_was_sent():
    assert judge_of("subquestions")[1]["model"]["temperature"] == 0.7
    assert judge_of("answerability")[1]["model"]["temperature"] == 0
    _, chosen = judge_of("subquestions", **{"models.default.temperature": 0})
    assert (chosen["model"]["temperature"], chosen["model"]["top_p"]) == (0, None)
