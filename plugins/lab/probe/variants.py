"""The same judge asked in another form: other orders, other fields, without its model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, get_origin

import dspy

from ....backends import open_backend
from ....backends.config import ModelConfig
from ....judges.items import ItemJudge
from ....records.rows import Label


def list_labels(judge: ItemJudge) -> tuple[str, ...]:
    """The labels in the order in which prompt and schema list them; () for a range of numbers.

    () too for a judge with a prompt of its own, whose words nothing here can put in another order.
    """
    labels = None if judge.own_words == "prompt" else _label_type(judge)
    return tuple(label.value for label in labels) if labels is not None else ()


def with_label_order(judge: ItemJudge, order: Sequence[str]) -> ItemJudge:
    """A copy of the judge whose prompt and reply schema list the labels in this order.

    What each label means, the words of the instructions included, stays as it is.
    Raises: ValueError if these are not all labels that the judge lists.
    """
    labels = _label_type(judge) if list_labels(judge) else None
    if labels is None or sorted(order) != sorted(label.value for label in labels):
        raise ValueError(f"wanted the labels {list_labels(judge)} in some order, got {order}")
    by_value = {label.value: label for label in labels}
    (base,) = labels.__bases__  # which has no labels of its own, but reads their spellings
    reordered: Any = base(
        labels.__name__, [(by_value[v].name, (v, by_value[v].meaning)) for v in order]
    )
    signature = _signature(judge)
    kind = signature.output_fields[judge.output].annotation
    if get_origin(kind) is dict:
        reordered = dict[get_args(kind)[0], reordered]  # type: ignore[misc]
    return _with_fields(judge, {judge.output: reordered}, list(signature.fields))


def list_inputs(judge: ItemJudge) -> tuple[str, ...]:
    """The fields that every call shows, in order; () where a prompt file says where they are."""
    if judge.own_words == "prompt":
        return ()
    return tuple(n for n in _signature(judge).input_fields if n not in judge.optional)


def with_first_input(judge: ItemJudge, name: str) -> ItemJudge:
    """A copy of the judge that shows this input before the others.

    Raises: ValueError if no input has that name.
    """
    signature = _signature(judge)
    if name not in signature.input_fields:
        raise ValueError(f"{name!r} is not one of {', '.join(signature.input_fields)}")
    others = [field for field in signature.fields if field != name]
    return _with_fields(judge, {}, [name, *others])


def without_evidence(judge: ItemJudge) -> ItemJudge:
    """A copy of the judge that is asked for its labels alone, without the words that it goes by."""
    return judge.explaining(evidence=False)


def with_lexical(judge: ItemJudge) -> ItemJudge | None:
    """The lexical judge in the place of another; None where it has no rule, or is the judge."""
    assert judge.backend is not None
    if judge.backend.config.way == "lexical" or judge.prompt(judge.predictor).baseline is None:
        return None
    changed = judge.explaining(evidence=False, reasoning=False)
    changed.backend = open_backend(ModelConfig(model="lexical"))
    changed.correction = None  # fitted to the model's scores
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
