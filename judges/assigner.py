"""Which nuggets does an answer state?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import dspy

from ..backends.prompt import Scorer, Twin
from ..backends.reply import KeyedBy
from ..records.labels.cells import NUGGET_KEY
from .items import ItemJudge
from .labels import NUGGET_GAINS, NuggetMatch, NuggetSupport
from .lexical import nuggets_and_citations as lexical
from .lexical.overlap import weighted_overlap

WINDOW = 10  # nuggets in one call, arXiv:2411.09607


class AssignNuggets(dspy.Signature):  # type: ignore[misc]
    """Decide for each nugget how much of it the answer states.

    support: the answer states all of it, in any wording. partial_support: it states a part, or
    all but an important detail. not_support: it states none of it or contradicts it.
    Go by the answer's text alone, not by what you know.
    """

    question: str = dspy.InputField(desc="what the answer responds to")
    answer: str = dspy.InputField(desc="the answer being judged")
    nuggets: dict[str, str] = dspy.InputField(desc="facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetSupport], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label per nugget number"
    )


class MatchNuggets(dspy.Signature):  # type: ignore[misc]
    """Decide for each nugget whether the answer states it.

    support: the answer states all of it, in any wording. not_support: a part is missing, it is
    not there, or the answer contradicts it. Go by the answer's text alone, not by what you know.
    """

    question: str = dspy.InputField(desc="what the answer responds to")
    answer: str = dspy.InputField(desc="the answer being judged")
    nuggets: dict[str, str] = dspy.InputField(desc="facts to look for, by number")
    verdicts: Annotated[dict[str, NuggetMatch], KeyedBy("nuggets")] = dspy.OutputField(
        desc="one label per nugget number"
    )


class NuggetAssigner(ItemJudge):
    """Labels nuggets a window at a time: `judge(question=, answer=, nuggets=[...]).verdicts`.

    Args:
        window: nuggets per call; 10 in arXiv:2411.09607. Part of the judge's identity.
        grades: 3 (support, partial_support, not_support) or 2 (support, not_support).

    Returns from a call: `verdicts`, one label per nugget in the order given, and their `scores`.
    """

    version = "1"
    name = "assigner"
    kind = "nuggets"
    key = NUGGET_KEY
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
        self.gains = {name: NUGGET_GAINS[name] for name in self.scale}

    async def decide(  # type: ignore[override]
        self, *, question: str, answer: str, nuggets: Sequence[str]
    ) -> dspy.Prediction:
        """All windows, one after the other."""
        items = [{"question": question, "answer": answer, "nugget": text} for text in nuggets]
        verdicts = await self.in_windows(items)
        return self.prediction(verdicts)
