"""What fitting changed in a prompt, for people."""

import pytest

from nuggetjudge.calibration.prompts.tasks import get_prompt
from nuggetjudge.calibration.report import diff_prompts
from nuggetjudge.judges import SupportJudge
from nuggetjudge.judges.fitted import FittedPrompt


def test_the_diff_shows_the_new_words_and_each_worked_example():
    judge = SupportJudge("lexical")
    before = judge.judge.signature.instructions
    demo = {"passage": "p\nq", "sentence": "s", "verdict": "full"}
    fitted = FittedPrompt(instructions=f"{before}\n\n{'Mind the dates. ' * 10}", demos=(demo,))
    lines = diff_prompts(judge, {"judge": fitted}).splitlines()
    assert lines[:2] == ["--- support.judge as it was", "+++ support.judge as fitted"]
    added = [line for line in lines[2:] if line.startswith("+")]
    assert not any(line.startswith("-") for line in lines[2:])
    assert sum("Mind the dates." in line for line in added) == 2  # wrapped
    assert added[-5:] == [
        "+worked example 1:",
        "+  passage: p",
        "+q",
        "+  sentence: s",
        "+  verdict: full",
    ]
    assert max(map(len, lines)) <= 101


def test_an_unchanged_prompt_has_no_diff_and_a_foreign_one_is_refused():
    judge = SupportJudge("lexical")
    prompt = get_prompt(judge.judge)
    assert diff_prompts(judge, {"judge": prompt}) == ""
    with pytest.raises(ValueError, match="the support judge asks no question called 'assign'"):
        diff_prompts(judge, {"assign": prompt})
