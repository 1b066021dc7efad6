"""A change of rag.py, gated: pytest examples/loop/test_rag.py (docs/howto/gate.md)."""

import pytest
from rag import DEMO, QUESTIONS, answer

from nuggetjudge import assert_judged


@pytest.fixture
def judged(judge):
    """`judged(k)`: what the system answers with k passages, judged by the same nuggets."""

    def of(k):
        samples = [row | answer(row["question"], k) for row in QUESTIONS]
        return judge(samples, ["nuggets", "support"], bank=DEMO / "nuggets.jsonl")

    return of


def test_answers_state_what_matters_and_rest_on_what_they_cite(judged):
    result = judged(8)
    assert assert_judged(result).mean("V_strict") >= 0.1
    assert assert_judged(result).mean("support_precision") >= 0.9


def test_more_passages_lose_nothing(judged):
    new, before = judged(8), judged(2)
    # Five questions can show something at 0.9 at most.
    assert_judged(new).not_worse_than(before, measures=["V_strict"], level=0.9)
