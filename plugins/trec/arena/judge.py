"""Which of two answers would the asker prefer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy

from ....backends.adapter import SETTING
from ....backends.prompt import Baseline, Scorer
from ....judges.items import ItemJudge
from ....judges.lexical.overlap import content_words
from ....records.rows import Label
from .kind import BATTLE_KIND

CLEARLY = 0.55  # share of the words of both that the better answer has


class Preference(Label):
    """Which of two answers serves the user better."""

    A = "a", "answer A helps the user, and is better by a difference that would matter to the user"
    B = "b", "answer B helps the user, and is better by a difference that would matter to the user"
    TIE = "tie", "both answers help the user, and no difference between them would matter"
    BOTH_BAD = "both_bad", "neither answer helps the user"


def judge_battle(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Prefer the answer with clearly more distinct content words: the lexical baseline.

    It reads neither question nor criteria, so it does not see errors.
    """
    share = _share(inputs)
    verdict = "a" if share >= CLEARLY else "b" if 1 - share >= CLEARLY else "tie"
    return {"verdict": verdict}


def score_battle(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the share of answer A in the distinct content words of both answers, in [0, 1]."""
    return {"verdict": _share(inputs)}


def _share(inputs: Mapping[str, Any]) -> float:
    one, other = (len(content_words(inputs[name])) for name in ("answer_a", "answer_b"))
    return one / (one + other) if one + other else 0.5


class JudgeBattle(dspy.Signature):  # type: ignore[misc]
    """Decide which of two answers better serves the user who asked the question.

    - Prefer the answer that covers more of what the user needs, with correct and useful facts.
    - An answer helps if it gives at least some of what the user asked for.
    - Count errors, inventions and filler against an answer.
    - Do not reward position, length, confidence or formatting.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    criteria: Annotated[str, SETTING] = dspy.InputField(
        desc="what makes an answer better; follow it where it differs from the rules", default=""
    )
    answer_a: str = dspy.InputField(desc="answer A")
    answer_b: str = dspy.InputField(desc="answer B")
    verdict: Preference = dspy.OutputField(desc="which answer is better")


class BattleJudge(ItemJudge):
    """Compare two answers: `judge(question=, answer_a=, answer_b=).label`.

    The label is a, b, tie or both_bad. The judge does not see which runs wrote the answers;
    `criteria=` says what counts. One call is one order of the answers; the task `arena` asks for
    both orders.

    Source: the blind battles of arXiv:2306.05685 and arXiv:2403.04132; two kinds of tie as in
        RAGDoll's arena. The prompt is ours.
    """

    version = "2"
    name = "battle"
    kind = "battles"
    key = BATTLE_KIND.key
    inputs = ("question", "answer_a", "answer_b")
    optional: tuple[str, ...] = ("criteria",)
    source = "answer_a"
    quotable: Mapping[str, str] = {"answer_a": "question", "answer_b": "question"}
    groundless = frozenset({"tie", "both_bad"})
    predictor, output = "judge", "verdict"
    scale = ("b", "both_bad", "tie", "a")
    is_ordered = False
    gains: Mapping[str, float] = {"b": 0.0, "both_bad": 0.5, "tie": 0.5, "a": 1.0}
    baselines: Mapping[str, Baseline] = {"judge": judge_battle}
    scorers: Mapping[str, Scorer] = {"judge": score_battle}

    examples: Mapping[str, str | list[str]] = {
        "answer_a": "Cold water rises, so ice forms at the surface of the lake.",
        "answer_b": "Because the air is cold.",
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(JudgeBattle)
