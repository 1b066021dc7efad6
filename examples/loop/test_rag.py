"""A change of rag.py, gated: pytest examples/loop/test_rag.py (docs/howto/gate.md)."""

from collections.abc import Callable

import pytest
from rag import DEMO, QUESTIONS, answer  # type: ignore[import-not-found,unused-ignore]

from nuggetjudge import Result, assert_judged


@pytest.fixture
def judged(judge: Callable[..., Result]) -> Callable[[int], Result]:
    """`judged(k)`: what the system answers with k passages, judged by the same nuggets."""

    def of(k: int) -> Result:
        samples = [row | answer(row["question"], k) for row in QUESTIONS]
        return judge(samples, ["nuggets", "support"], bank=DEMO / "nuggets.jsonl")

    return of


def test_answers_state_what_matters_and_cite_it(
    judged: Callable[[int], Result],
) -> None:
    result = judged(8)
    assert assert_judged(result).mean("V_strict") >= 0.1
    assert assert_judged(result).mean("support_precision") >= 0.9


def test_more_passages_lose_nothing(judged: Callable[[int], Result]) -> None:
    new, before = judged(8), judged(2)
    # Five questions can show something at 0.9 at most.
    assert_judged(new).not_worse_than(before, measures=["V_strict"], level=0.9)
