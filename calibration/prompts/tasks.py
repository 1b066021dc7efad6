"""A judge in the form for DSPy's optimisers: a program, its calls as tasks, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_args

import dspy
from pydantic import TypeAdapter

from ...backends.replies.schema import get_key_source
from ...judges.base import Judge
from ...judges.fitted import FittedPrompt
from ...judges.items import ItemJudge, JudgedItem, calls

RATIONALE = "reason_of_the_people"  # field of a DSPy example; proposers see it


class Example(JudgedItem, Protocol):
    """An item with its human label."""

    @property
    def label(self) -> str: ...
    @property
    def rationale(self) -> str: ...


@dataclass(frozen=True)
class Task:
    """One call of the judge, or one list to make.

    Attributes:
        inputs: by field of the predictor; for a windowed judge, the listed ones as a numbered map.
        example: inputs, right reply and any rationales, ready for JSON, in DSPy's form for
            training.
    """

    inputs: dict[str, Any]
    example: dspy.Example


@dataclass(frozen=True)
class ItemTask(Task):
    """One call about items; `labels`: the right ones by number, "" for a single item."""

    labels: dict[str, str]


def tasks(judge: ItemJudge, examples: Sequence[Example]) -> list[ItemTask]:
    """The calls that the judge makes for these items, with its own window, in order.

    Raises: ValueError for a label that the judge cannot give; it names the index.
    """
    made = []
    for i, example in enumerate(examples):
        if example.label not in judge.scale:
            wanted = ", ".join(judge.scale)
            raise ValueError(f"examples[{i}] has the label {example.label!r}, wanted {wanted}")
    for indices in calls(judge, examples):
        window = [examples[i] for i in indices]
        inputs: dict[str, Any] = {name: window[0].inputs[name] for name in judge.inputs}
        inputs |= judge.optional_inputs(window[0].inputs)
        keys = [""]
        if judge.listed is not None:
            del inputs[judge.listed]
            keys = [str(n) for n in range(1, len(window) + 1)]
            texts = [example.inputs[judge.listed] for example in window]
            inputs[judge.several] = dict(zip(keys, texts, strict=True))
        labels = {key: example.label for key, example in zip(keys, window, strict=True)}
        reasons = {key: e.rationale for key, e in zip(keys, window, strict=True) if e.rationale}
        fields = {**inputs, judge.output: _reply(judge, labels)}
        if reasons:
            fields[RATIONALE] = reasons if judge.listed is not None else reasons[""]
        made.append(ItemTask(inputs, dspy.Example(**fields).with_inputs(*inputs), labels))
    return made


def number_labels(field: Any) -> dict[str, str]:
    """Labels or rationales of a JSON-ready field, with the keys of `ItemTask.labels`."""
    if isinstance(field, dict):
        return {key: str(part) for key, part in field.items()}
    return {"": str(field)}


class Student(dspy.Module):  # type: ignore[misc]
    """Does as trained human annotators do; `judge` is asked for all that an example takes."""

    def __init__(self, judge: dspy.Predict, answer: Callable[..., dspy.Prediction]) -> None:
        super().__init__()
        self.judge = judge
        self.answer = answer

    def forward(self, **inputs: Any) -> dspy.Prediction:
        return self.answer(self.judge, inputs)


def get_predictor(judge: Judge) -> str:
    """The question of a judge whose prompt is optimised.

    Raises: ValueError for a judge with several questions, or none.
    """
    if name := getattr(judge, "predictor", ""):
        return str(name)
    if len(names := list(judge.questions())) != 1:
        raise ValueError(f"{judge.name} asks {', '.join(names) or 'nothing'}, wanted one question")
    return names[0]


def get_prompt(predict: dspy.Predict) -> FittedPrompt:
    """The result of an optimiser for a predictor, as data, with only the fields of its question."""
    names = predict.signature.fields
    demos = [{name: demo[name] for name in names if name in demo} for demo in predict.demos]
    return FittedPrompt(instructions=predict.signature.instructions, demos=tuple(demos))


def _reply(judge: ItemJudge, labels: Mapping[str, str]) -> Any:
    """Labels in the form of the reply's JSON: a grade as a number, a window's labels as a map."""
    field = judge.question(judge.predictor).signature.output_fields[judge.output]
    is_map = get_key_source(field) is not None
    kind: TypeAdapter[Any] = TypeAdapter(
        get_args(field.annotation)[1] if is_map else field.annotation
    )
    values = {
        key: kind.dump_python(kind.validate_python(label), mode="json")
        for key, label in labels.items()
    }
    return values if is_map else values[""]


@dataclass(frozen=True)
class Gains:
    """The gain of each label for each true label.

    Attributes:
        table: true label -> given label -> gain in [0, 1]; the right label has the highest gain of
            its row.
        chance: mean gain of answers that do not depend on the item: all the same label, the
            commonest one, or labels drawn at random.
        perfect: mean gain of perfect answers.
    """

    table: Mapping[str, Mapping[str, float]]
    chance: float
    perfect: float

    def of(self, label: str | None, truth: str) -> float:
        """The gain of one item; None (no judgement) has the worst gain, 0."""
        return self.table[truth].get(label, 0.0) if label is not None else 0.0


def make_kappa_gains(
    labels: Sequence[str], scale: Sequence[str], *, is_ordered: bool = True
) -> Gains:
    """Make gains whose mean over items is Cohen's kappa, up to scale and origin.

    Two labels disagree by the distance of their positions on the scale, from 0 to 1 (linear
    weights); without an order by 1 if they differ. The part of an item with true label t and
    given label g is

        r(g) - d(t, g),   r(g) = sum_i p_i d(i, g),   p_i = share of label i among `labels`

    which has mean 0 for any constant answer, because r(g) is the mean disagreement of g, and is
    highest at g = t, because d is a metric (quadratic weights are not). Over
    the items of `labels`, kappa = mean part / mean r(g). Parts are rescaled to [0, 1].

    Args:
        labels: n true labels of the items on which candidates are chosen.
        scale: the possible labels, worst to best.

    Raises: ValueError for a label outside the scale (with its index) or labels that are all equal.
    Source: J. Cohen, "Weighted kappa" (Psychological Bulletin 70, 1968), observed minus expected
        disagreement, split by item.

    >>> make_kappa_gains(["no", "no", "no", "yes"], ["no", "yes"]).table["yes"]
    {'no': 0.0, 'yes': 1.0}
    """
    index = {name: i for i, name in enumerate(scale)}
    for i, label in enumerate(labels):
        if label not in index:
            raise ValueError(f"labels[{i}] is {label!r}, wanted one of {', '.join(scale)}")
    if len(set(labels)) < 2:
        raise ValueError(f"all {len(labels)} labels are the same, wanted two different ones")

    def distance(true: str, other: str) -> float:
        if not is_ordered:
            return float(true != other)
        return abs(index[true] - index[other]) / (len(scale) - 1)

    by_chance = {g: sum(distance(t, g) for t in labels) / len(labels) for g in scale}
    part = {t: {g: by_chance[g] - distance(t, g) for g in scale} for t in scale}
    low = min(min(row.values()) for row in part.values())
    high = max(max(row.values()) for row in part.values())
    table = {t: {g: (v - low) / (high - low) for g, v in row.items()} for t, row in part.items()}
    perfect = sum(table[t][t] for t in labels) / len(labels)
    return Gains(table, chance=-low / (high - low), perfect=perfect)


class Marks(Protocol):
    """DSPy's metrics for a judge.

    Attributes:
        solved: gain from which an example has no error.
        by_chance, if_perfect: mean gain on dev of answers that ignore the example (None: unknown),
            and of perfect answers.
    """

    solved: float
    by_chance: float | None
    if_perfect: float

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """One gain in [0, 1] for each judged item; None: no judgement, which counts 0."""
        ...

    def start(self, gain: float | None) -> None:
        """Receive the mean gain of the judge's own prompt on dev, if known."""
        ...

    def metric(
        self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None
    ) -> float:
        """The value that DSPy maximises; with a trace, whether this may become a worked example."""
        ...

    def metric_with_feedback(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        trace: Any = None,
        name: str | None = None,
        name_trace: Any = None,
    ) -> dspy.Prediction:
        """The same with feedback, for optimisers that reflect; GEPA names the predictor."""
        return dspy.Prediction(
            score=self.metric(example, prediction), feedback=self.feedback(example, prediction)
        )

    def feedback(self, example: dspy.Example, prediction: dspy.Prediction) -> str:
        """The right and wrong parts of one call, in words."""
        ...


class ItemMarks(Marks):
    """Labels against people's labels. A failed judgement has no label and gets the worst score."""

    def __init__(self, judge: ItemJudge, gains: Gains) -> None:
        self._gains = gains
        self.solved = min(row[label] for label, row in gains.table.items())
        self.by_chance, self.if_perfect = gains.chance, gains.perfect
        self._output, self._listed = judge.output, judge.listed

    def gains(self, task: Task, prediction: dspy.Prediction) -> Sequence[float | None]:
        """See Marks: one gain for each item of the call."""
        assert isinstance(task, ItemTask)
        labels = self.labels(prediction)
        return [
            self._gains.of(labels[n], right) if n in labels else None
            for n, right in task.labels.items()
        ]

    def start(self, gain: float | None) -> None:
        """See Marks: it changes nothing, because right labels are always right."""

    def right(self, example: dspy.Example) -> dict[str, str]:
        """The human labels."""
        return number_labels(example[self._output])

    def labels(self, prediction: dspy.Prediction | None) -> dict[str, str]:
        """The labels of a prediction; empty if it failed."""
        if prediction is None or self._output not in prediction:
            return {}
        return number_labels(prediction[self._output])

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
        """See Marks; with people's reasons for the labels."""
        if "failure" in prediction:
            return f"The reply was not a valid judgement ({prediction.failure})."
        labels, reasons = self.labels(prediction), number_labels(example.get(RATIONALE, {}))
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
