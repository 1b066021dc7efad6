"""Variants of a judge: other orders of labels and fields, without quotes, without its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

import dspy

from ....backends import open_backend
from ....backends.config import ModelConfig
from ....judges.items import ItemJudge
from ....records.rows import Label


def list_labels(judge: ItemJudge) -> tuple[str, ...]:
    """The labels in the order of prompt and schema; () for a range of numbers.

    Also () for a judge with a custom prompt, since its labels cannot be reordered.
    """
    labels = None if judge.own_words == "prompt" else _label_type(judge)
    return tuple(label.value for label in labels) if labels is not None else ()


def with_label_order(judge: ItemJudge, order: Sequence[str]) -> ItemJudge:
    """A copy of the judge whose prompt and reply schema list the labels in this order.

    The meaning of each label and the instructions stay the same.
    Raises: ValueError if these are not all labels that the judge lists.
    """
    labels = _label_type(judge) if list_labels(judge) else None
    if labels is None or sorted(order) != sorted(label.value for label in labels):
        raise ValueError(f"wanted the labels {list_labels(judge)} in some order, got {order}")
    by_value = {label.value: label for label in labels}
    (base,) = labels.__bases__  # it has no labels but reads their spellings
    reordered: Any = base(
        labels.__name__, [(by_value[v].name, (v, by_value[v].meaning)) for v in order]
    )
    signature = _signature(judge)
    kind = signature.output_fields[judge.output].annotation
    if get_origin(kind) is dict:
        reordered = dict[get_args(kind)[0], reordered]  # type: ignore[misc]
    return _with_fields(judge, {judge.output: reordered}, list(signature.fields))


def list_inputs(judge: ItemJudge) -> tuple[str, ...]:
    """The input fields of every call, in order; () if a prompt file places them."""
    if judge.own_words == "prompt":
        return ()
    return tuple(n for n in _signature(judge).input_fields if n not in judge.optional)


def with_first_input(judge: ItemJudge, name: str) -> ItemJudge:
    """A copy of the judge with this input before the others.

    Raises: ValueError for an unknown name.
    """
    signature = _signature(judge)
    if name not in signature.input_fields:
        raise ValueError(f"{name!r} is not one of {', '.join(signature.input_fields)}")
    others = [field for field in signature.fields if field != name]
    return _with_fields(judge, {}, [name, *others])


def without_evidence(judge: ItemJudge) -> ItemJudge:
    """A copy of the judge that returns only labels, without quotes."""
    return judge.explaining(evidence=False)


def with_lexical(judge: ItemJudge) -> ItemJudge | None:
    """The lexical judge instead of a judge; None if it has no rule, or is the judge itself."""
    assert judge.backend is not None
    if judge.backend.config.way == "lexical" or judge.prompt(judge.predictor).baseline is None:
        return None
    changed = judge.explaining(evidence=False, reasoning=False)
    changed.backend = open_backend(ModelConfig(model="lexical"))
    changed.correction = None  # these were fitted to the model's scores
    return changed


def _signature(judge: ItemJudge) -> Any:
    return judge.question(judge.predictor).signature


def _label_type(judge: ItemJudge) -> type[Label] | None:
    kind = _signature(judge).output_fields[judge.output].annotation
    if get_origin(kind) is dict:
        kind = get_args(kind)[1]
    return kind if isinstance(kind, type) and issubclass(kind, Label) else None


def _with_fields(judge: ItemJudge, types: dict[str, Any], order: Sequence[str]) -> ItemJudge:
    signature = _signature(judge)
    for name, kind in types.items():
        signature = signature.with_updated_fields(name, type_=kind)
    fields = {name: (signature.fields[name].annotation, signature.fields[name]) for name in order}
    changed: ItemJudge = judge.deepcopy()
    predict = changed.question(judge.predictor)
    predict.signature = dspy.Signature(fields, signature.instructions, _signature(judge).__name__)
    return changed
