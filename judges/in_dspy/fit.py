"""What fitting changes, as DSPy saves and loads it: a parameter, and worked examples that fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import dspy
from dspy.predict.parameter import Parameter
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from ...backends.adapter import as_data, without
from ...backends.errors import JudgeOutputError
from ...backends.replies.schema import ReplyFormat, keyed_by

if TYPE_CHECKING:
    from ..fitted.files import JudgeFile


def check_demos(
    name: str, signature: type[dspy.Signature], demos: Sequence[Mapping[str, Any]]
) -> None:
    """Raise ValueError for an example with a value that the signature has no place for.

    A map of labels must have the keys of its input map. Fields may be missing, as DSPy has it, and
    those that the signature does not know are not shown.
    """
    for i, demo in enumerate(demos):
        try:
            _check(signature, demo)
        except JudgeOutputError as error:
            raise ValueError(f"{name}.demos[{i}]: {error.detail}") from None
        except ValueError as error:
            raise ValueError(f"{name}.demos[{i}]: {error}") from None


def _check(signature: type[dspy.Signature], demo: Mapping[str, Any]) -> None:
    for name, field in signature.input_fields.items():
        if (value := demo.get(name)) is not None:
            check_type(name, field.annotation, value)
    reply = {n: demo[n] for n in signature.output_fields if demo.get(n) is not None}
    if not reply:
        return
    for name in reply:
        source = keyed_by(signature.output_fields[name])
        if source is not None and demo.get(source) is None:
            raise ValueError(f"{name} has the keys of {source}, which is missing")
    shortened = without(signature, [name for name in signature.output_fields if name not in reply])
    form, text = ReplyFormat(shortened), as_data(reply, default=to_jsonable_python)
    form.check(form.parse(text, None), demo, text)


def check_type(name: str, kind: Any, value: Any, *, strict: bool | None = None) -> None:
    """Raise ValueError, with the name and what is wrong within it, for a value of another type."""
    try:
        TypeAdapter(kind).validate_python(value, strict=strict)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (name, *first["loc"])))
        raise ValueError(f"{where}: {first['msg']}, got {str(first['input'])[:80]!r}") from None


class Fitted(Protocol):
    """A judge of items; what fits a judge that makes lists is its prompt alone."""

    def fit(self) -> JudgeFile | None: ...
    def take_fit(self, state: JudgeFile | None) -> None: ...


class Fit(Parameter):  # type: ignore[misc]
    """The correction, word weights and topics of a judge; DSPy saves the prompts by itself.

    Loading raises ValueError where they are of another judge, version, scale or model.
    """

    def __init__(self, judge: Fitted) -> None:
        self._judge = judge

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Data of a judge file; {} of a judge that is not fitted."""
        state = self._judge.fit()
        return state.model_dump(mode="json") if state is not None else {}

    def load_state(self, state: dict[str, Any]) -> None:
        """See dump_state."""
        from ..fitted.files import JudgeFile

        self._judge.take_fit(JudgeFile.model_validate(state) if state else None)

    def reset(self) -> None:
        """Forget it: DSPy drops the examples, and cut-offs are for scores of a whole prompt."""
        self._judge.take_fit(None)
