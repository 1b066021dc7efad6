"""The battle judge: what it costs beside its texts, and a baseline to which place means nothing."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.plugins.trec.arena.judge import BattleJudge, judge_battle, score_battle

PAGE = Path(__file__).resolve().parents[4] / "docs" / "protocols" / "arena.md"
TEXTS = st.text(st.sampled_from("tide moon kelp bay "), max_size=40)


def test_its_prompt_is_as_long_as_the_page_says():
    empty = dict.fromkeys(("question", "answer_a", "answer_b"), "")
    messages = BattleJudge("lexical").prompt("judge").messages(empty)
    n = sum(len(message["content"]) for message in messages)
    assert f"| {n:,} |" in PAGE.read_text(encoding="utf-8")


@given(TEXTS, TEXTS)
def test_the_baseline_says_the_same_when_the_answers_change_places(one, other):
    asked = {"question": "tide", "answer_a": one, "answer_b": other}
    turned = {**asked, "answer_a": other, "answer_b": one}
    swap = {"a": "b", "b": "a", "tie": "tie"}
    assert judge_battle(turned)["verdict"] == swap[judge_battle(asked)["verdict"]]
    assert abs(score_battle(asked)["verdict"] + score_battle(turned)["verdict"] - 1) < 1e-12


def test_the_baseline_takes_the_answer_that_says_clearly_more():
    short, long = "tides follow", "tides follow moon kelp"
    asked = {"question": "", "answer_a": long, "answer_b": short}
    assert judge_battle(asked) == {"verdict": "a"}  # 4 of 6 words, 0.67
    assert BattleJudge("lexical")(**asked).label == "a"
    assert judge_battle(asked | {"answer_b": long}) == {"verdict": "tie"}
