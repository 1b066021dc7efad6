"""The same judge asked in another form: its labels, or its inputs, in another order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, get_args, get_origin

import dspy

from .items import ItemJudge


def listed_labels(judge: ItemJudge) -> tuple[str, ...]:
    """The labels in the order in which prompt and schema list them; () for a range of numbers."""
    labels = _label_type(judge)
    return tuple(label.value for label in labels) if labels is not None else ()


def with_label_order(judge: ItemJudge, order: Sequence[str]) -> ItemJudge:
    """A copy of the judge whose prompt and reply schema list the labels in this order.

    What each label means, the words of the instructions included, stays as it is.
    Raises: ValueError if these are not all labels that the judge lists.
    """
    labels = _label_type(judge)
    if labels is None or sorted(order) != sorted(label.value for label in labels):
        raise ValueError(f"wanted the labels {listed_labels(judge)} in some order, got {order}")
    names = {label.value: label.name for label in labels}
    (base,) = labels.__bases__  # which has no labels of its own, but reads their spellings
    reordered: Any = base(labels.__name__, [(names[value], value) for value in order])
    signature = _signature(judge)
    kind = signature.output_fields[judge.output].annotation
    if get_origin(kind) is dict:
        reordered = dict[get_args(kind)[0], reordered]  # type: ignore[misc]
    return _with_fields(judge, {judge.output: reordered}, list(signature.fields))


def shown_inputs(judge: ItemJudge) -> tuple[str, ...]:
    """The fields that a call shows, in order."""
    return tuple(_signature(judge).input_fields)


def with_first_input(judge: ItemJudge, name: str) -> ItemJudge:
    """A copy of the judge that shows this input before the others.

    Raises: ValueError if no input has that name.
    """
    signature = _signature(judge)
    if name not in signature.input_fields:
        raise ValueError(f"{name!r} is not one of {', '.join(signature.input_fields)}")
    others = [field for field in signature.fields if field != name]
    return _with_fields(judge, {}, [name, *others])


def _signature(judge: ItemJudge) -> Any:
    return getattr(judge, judge.predictor).signature


def _label_type(judge: ItemJudge) -> type[Enum] | None:
    kind = _signature(judge).output_fields[judge.output].annotation
    if get_origin(kind) is dict:
        kind = get_args(kind)[1]
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else None


def _with_fields(judge: ItemJudge, types: dict[str, Any], order: Sequence[str]) -> ItemJudge:
    signature = _signature(judge)
    for name, kind in types.items():
        signature = signature.with_updated_fields(name, type_=kind)
    fields = {name: (signature.fields[name].annotation, signature.fields[name]) for name in order}
    twin: ItemJudge = judge.deepcopy()
    predict = getattr(twin, judge.predictor)
    predict.signature = dspy.Signature(fields, signature.instructions, _signature(judge).__name__)
    return twin
