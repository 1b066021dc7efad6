"""Which of two answers would whoever asked rather have?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import dspy

from ...backends.prompt import Scorer, Twin
from ...records.instruments.battles import BATTLE_KEY
from ..items import ItemJudge
from ..lexical import ranking as lexical_ranking


class JudgeBattle(dspy.Signature):  # type: ignore[misc]
    """Decide which of two answers serves whoever asked better.

    Go by the criteria if there are any, and by how much of what they need an answer gives: parts
    of the question covered, facts to use, nothing wrong or made up, nothing idle. Place, length,
    confidence and layout are no merits.
    a or b: that answer is better in a way that matters. tie: neither is. both_bad: neither gives
    what was asked for.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    criteria: str = dspy.InputField(desc="what makes one answer better here", default="")
    answer_a: str = dspy.InputField(desc="answer A")
    answer_b: str = dspy.InputField(desc="answer B")
    verdict: Literal["a", "b", "tie", "both_bad"] = dspy.OutputField(desc="the better answer")


class BattleJudge(ItemJudge):
    """Sets two answers side by side: `judge(question=, answer_a=, answer_b=).label`.

    The label is a, b, tie or both_bad. The judge is not told whose answers they are; `criteria=`
    says what is to count. One call is one order of the answers: the program `arena` asks both.

    Source: the blind battles of arXiv:2306.05685 and arXiv:2403.04132; two kinds of tie as
    RAGDoll's arena has them. The prompt is ours.
    """

    version = "1"
    name = "battle"
    kind = "battles"
    key = BATTLE_KEY
    inputs = ("question", "answer_a", "answer_b")
    optional: tuple[str, ...] = ("criteria",)
    source = "answer_a"
    quotable: Mapping[str, str] = {"answer_a": "question", "answer_b": "question"}
    groundless = frozenset({"tie", "both_bad"})
    predictor, output = "judge", "verdict"
    scale = ("b", "both_bad", "tie", "a")
    is_ordered = False
    gains: Mapping[str, float] = {"b": 0.0, "both_bad": 0.5, "tie": 0.5, "a": 1.0}
    twins: Mapping[str, Twin] = {"judge": lexical_ranking.judge_battle}
    scorers: Mapping[str, Scorer] = {"judge": lexical_ranking.score_battle}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(JudgeBattle)
