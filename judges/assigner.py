"""Which nuggets does an answer state?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import dspy

from ..backends.prompt import Scorer, Twin
from ..backends.replies.schema import KeyedBy
from ..records.nuggets import NUGGET_KIND, NuggetSupport
from .items import ItemJudge
from .labels import NuggetMatch
from .lexical import nuggets_and_citations as lexical
from .lexical.overlap import weighted_overlap

WINDOW = 10  # nuggets in one call, arXiv:2411.09607

_RULES = """\
- Judge each nugget by itself. The wording of the answer may differ from that of the nugget.
- A fact is clearly implied if a careful reader of the answer cannot doubt it. A part of a fact
  is important if the fact would mean something else without it.
- Use only the text of the answer, not your own knowledge."""


class AssignNuggets(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each nugget, a short fact, how much of it the answer states.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the answer responds to")
    answer: str = dspy.InputField(desc="the answer to judge")
    nuggets: dict[str, str] = dspy.InputField(desc="the facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetSupport], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label for each number of the nuggets"
    )


class MatchNuggets(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each nugget, a short fact, whether the answer states it.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the answer responds to")
    answer: str = dspy.InputField(desc="the answer to judge")
    nuggets: dict[str, str] = dspy.InputField(desc="the facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetMatch], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label for each number of the nuggets"
    )


class NuggetAssigner(ItemJudge):
    """Labels nuggets a window at a time: `judge(question=, answer=, nuggets=[...]).verdicts`.

    Args:
        window: nuggets per call; 10 in arXiv:2411.09607. Part of the judge's identity.
        grades: 3 (support, partial_support, not_support) or 2 (support, not_support).

    Returns from a call: `verdicts`, one label per nugget in the order given, and their `scores`.
    """

    version = "2"
    name = "assigner"
    kind = "nuggets"
    key = NUGGET_KIND.key
    inputs = ("question", "answer", "nugget")
    source = "answer"
    quotable: Mapping[str, str] = {"answer": "nugget"}
    listed = "nugget"
    predictor, output = "assign", "verdicts"
    overlap = staticmethod(weighted_overlap)
    twins: Mapping[str, Twin] = {"assign": lexical.assign_nuggets}
    scorers: Mapping[str, Scorer] = {"assign": lexical.score_nuggets}

    def __init__(self, *args: Any, window: int = WINDOW, grades: Literal[2, 3] = 3, **options: Any):
        super().__init__(*args, **options)
        self._take_window(window)
        self.labels: type[NuggetSupport] | type[NuggetMatch] = NuggetSupport
        self.assign = dspy.Predict(AssignNuggets)
        if grades == 2:
            self.labels = NuggetMatch
            self.assign = dspy.Predict(MatchNuggets)
            self.twins = {"assign": lexical.match_nuggets}
        self.scale = tuple(label.value for label in self.labels)
        self.answer_type = self.labels
        self.gains = {name: NUGGET_KIND.gains[name] for name in self.scale}

    async def decide(  # type: ignore[override]
        self, *, question: str, answer: str, nuggets: Sequence[str]
    ) -> dspy.Prediction:
        """All windows, one after the other."""
        items = [{"question": question, "answer": answer, "nugget": text} for text in nuggets]
        verdicts = await self.in_windows(items)
        return self.prediction(verdicts)
