"""A judge of items as the metric of a DSPy evaluation or optimiser."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...backends.errors import JudgeError

Field = str | Callable[[Any, Any], Any] | None


class Judging(Protocol):
    """What a metric needs of a judge of items."""

    name: str
    output: str
    scale: tuple[str, ...]
    gains: Mapping[str, float]
    is_ordered: bool
    correction: Any

    def __call__(self, **inputs: Any) -> Any: ...


class JudgeMetric:
    """`metric(example, prediction)`: what the label is worth, in [0, 1]; of several the mean.

    Args:
        judge: a judge of items.
        fields: an input of the judge -> the field of prediction or example that holds it, a
            function of both, or None to leave it out. An input that is not named is looked for
            under its own name; the prediction's is taken before the example's.

    Attributes:
        unjudged: the errors of the judgements that did not arrive.

    Raises, when called: JudgeError where there is no judgement, with a RuntimeWarning, since
        dspy.Evaluate logs it and counts its `failure_score`, 0 unless it is set: with
        `failure_score=float("nan")` no failed judgement passes for a score. ValueError for a field
        that neither has.
    """

    def __init__(self, judge: Judging, fields: Mapping[str, Field]) -> None:
        self.judge = judge
        self._parameters = inspect.signature(judge).parameters
        for name in fields:
            if name not in self._parameters:
                wanted = ", ".join(self._parameters)
                raise ValueError(f"the {judge.name} judge has no input {name!r}, it has {wanted}")
        if not judge.gains and not judge.is_ordered:
            raise ValueError(f"the labels of the {judge.name} judge have neither gains nor order")
        self._fields = dict(fields)
        self.unjudged: list[JudgeError] = []

    def __call__(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> float:
        inputs = self._inputs(example, prediction)
        try:
            judgement = self.judge(**inputs)
        except JudgeError as error:
            self.unjudged.append(error)
            what = "the metric has no judgement, which dspy.Evaluate counts as its failure_score"
            warnings.warn(f"{what}: {error.reason.value}", RuntimeWarning, stacklevel=2)
            raise
        labels = self._labels(judgement)
        if not labels:
            raise ValueError(f"there is nothing for the {self.judge.name} judge to label")
        return sum(map(self._gain, labels)) / len(labels)

    def _inputs(self, example: Any, prediction: Any) -> dict[str, Any]:
        inputs = {}
        for name, parameter in self._parameters.items():
            field = self._fields.get(name, name)
            if field is None:
                continue
            if callable(field):
                inputs[name] = field(example, prediction)
            elif (row := _holder(field, prediction, example)) is not None:
                inputs[name] = row[field]
            elif name in self._fields or parameter.default is parameter.empty:
                what = f"neither prediction nor example has a field {field!r}"
                raise ValueError(f"{what}; name it: judge.metric({name}=...)")
        return inputs

    def _labels(self, judgement: Any) -> list[str]:
        output = self.judge.output
        names = (output, output.removesuffix("s"), f"{output}s")  # of one item, or of a list
        labels = judgement[next(name for name in names if name in judgement)]
        return [str(label) for label in (labels if isinstance(labels, list) else [labels])]

    def _gain(self, label: str) -> float:
        """Its gain, else its position on the scale: labels of a correction have no gain."""
        scale = (self.judge.correction and self.judge.correction.labels) or self.judge.scale
        if set(scale) <= set(self.judge.scale) and self.judge.gains:
            return self.judge.gains[label]
        return scale.index(label) / (len(scale) - 1)


def _holder(field: str, *rows: Any) -> Any:
    """The first of these that has the field."""
    return next((row for row in rows if hasattr(row, "keys") and field in row), None)
