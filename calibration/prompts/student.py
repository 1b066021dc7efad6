"""A judge as DSPy's optimisers take it: a program of one predictor, and its calls to learn from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_args

import dspy
from pydantic import TypeAdapter

from ...backends.replies.schema import keyed_by
from ...judges.base import Judge
from ...judges.calls import JudgedItem, calls
from ...judges.fitted.files import FittedPrompt
from ...judges.items import ItemJudge

RATIONALE = "reason_of_the_people"  # field of a DSPy example; shown to what proposes instructions


class Example(JudgedItem, Protocol):
    """An item with the label that people gave it."""

    @property
    def label(self) -> str: ...
    @property
    def rationale(self) -> str: ...


@dataclass(frozen=True)
class Task:
    """One call of the judge, or one list to be made.

    Attributes:
        inputs: by field of the predictor; of a windowed judge the listed ones as a numbered map.
        example: inputs, right reply and any rationales, ready for JSON, as DSPy trains with.
    """

    inputs: dict[str, Any]
    example: dspy.Example


@dataclass(frozen=True)
class ItemTask(Task):
    """One call about items; `labels` are the right ones by number, "" where there is one item."""

    labels: dict[str, str]


def tasks(judge: ItemJudge, examples: Sequence[Example]) -> list[ItemTask]:
    """The calls that the judge makes for these items, with its own window, in their order.

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


def by_number(field: Any) -> dict[str, str]:
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


def predictor_of(judge: Judge) -> str:
    """The question of a judge whose prompt is looked for.

    Raises: ValueError for a judge that asks several, or none.
    """
    if name := getattr(judge, "predictor", ""):
        return str(name)
    if len(names := list(judge.questions())) != 1:
        raise ValueError(f"{judge.name} asks {', '.join(names) or 'nothing'}, wanted one question")
    return names[0]


def prompt_of(predict: dspy.Predict) -> FittedPrompt:
    """What an optimiser made of a predictor, as data: of its demos only the fields asked about."""
    names = predict.signature.fields
    demos = [{name: demo[name] for name in names if name in demo} for demo in predict.demos]
    return FittedPrompt(instructions=predict.signature.instructions, demos=tuple(demos))


def _reply(judge: ItemJudge, labels: Mapping[str, str]) -> Any:
    """Labels as the reply's JSON holds them: a grade as a number, a window's as a map."""
    field = judge.question(judge.predictor).signature.output_fields[judge.output]
    is_map = keyed_by(field) is not None
    kind: TypeAdapter[Any] = TypeAdapter(
        get_args(field.annotation)[1] if is_map else field.annotation
    )
    values = {
        key: kind.dump_python(kind.validate_python(label), mode="json")
        for key, label in labels.items()
    }
    return values if is_map else values[""]
