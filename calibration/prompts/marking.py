"""How an optimiser's answers are marked: with a gain, and for those that can read, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import dspy

from ...judges.items import ItemJudge
from .gain import Gains
from .student import RATIONALE, ItemTask, Task, by_number


class Marks(Protocol):
    """DSPy's metrics for a judge.

    Attributes:
        solved: gain from which nothing about an example is wrong.
        by_chance, if_perfect: mean gain on dev of answers that do not look at the example (None:
            not known), and of answers that are all right.
    """

    solved: float
    by_chance: float | None
    if_perfect: float

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """One gain in [0, 1] for each thing that is judged; None: no judgement, worth 0."""
        ...

    def start(self, gain: float | None) -> None:
        """Take in the mean gain of the judge's own prompt on dev, if that is known."""
        ...

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """What DSPy maximises; with a trace, whether this may become a worked example."""
        ...

    def metric_with_feedback(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        name: str | None = None,
        name_trace: Any = None,
    ) -> dspy.Prediction:
        """The same with words, for optimisers that reflect; GEPA names the predictor."""
        return dspy.Prediction(
            score=self.metric(example, prediction), feedback=self.feedback(example, prediction)
        )

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """What was right and wrong in one call, in words."""
        ...


class ItemMarks(Marks):
    """Labels against those of people. A reply that is no judgement has none, the worst gain."""

    def __init__(self, judge: ItemJudge, gains: Gains) -> None:
        self._gains = gains
        self.solved = min(row[label] for label, row in gains.table.items())
        self.by_chance, self.if_perfect = gains.chance, gains.perfect
        self._output, self._listed = judge.output, judge.listed

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """See Marks: one for each item of the call."""
        assert isinstance(task, ItemTask)
        labels = self.labels(prediction)
        return [
            self._gains.of(labels[n], right) if n in labels else None
            for n, right in task.labels.items()
        ]

    def start(self, gain: float | None) -> None:
        """See Marks: right labels are right, whatever the judge's own prompt gave."""

    def right(self, example: dspy.Example) -> dict[str, str]:
        """The labels of the people."""
        return by_number(example[self._output])

    def labels(self, prediction: dspy.Prediction | None) -> dict[str, str]:
        """Those of a prediction; empty if it failed."""
        if prediction is None or self._output not in prediction:
            return {}
        return by_number(prediction[self._output])

    def gain(self, right: Mapping[str, str], labels: Mapping[str, str]) -> float:
        """Mean gain over the items of a call."""
        return sum(self._gains.of(labels.get(n), label) for n, label in right.items()) / len(right)

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """See Marks."""
        right, labels = self.right(example), self.labels(prediction)
        return self.gain(right, labels) if trace is None else float(labels == right)

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """See Marks; and why people labelled it so."""
        if "failure" in prediction:
            return f"The reply was no judgement ({prediction.failure})."
        labels, reasons = self.labels(prediction), by_number(example.get(RATIONALE, {}))
        lines = []
        for n, right in self.right(example).items():
            item = f"{self._listed} {n}: " if n else ""
            line = f"{item}right, it is {right}."
            if labels[n] != right:
                line = f"{item}wrong, it is {right} and not {labels[n]}."
            if n in reasons:
                line += f" The annotator's reason: {reasons[n]}"
            lines.append(line[0].upper() + line[1:])
        return "\n".join(lines)
