"""What a reply to a signature must be: its JSON schema, and a strict parser."""

from __future__ import annotations

import json
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import lru_cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import dspy
import orjson
from pydantic import AfterValidator, ConfigDict, Strict, TypeAdapter, ValidationError, with_config
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict, is_typeddict

from ..records.judgements import Reason
from .errors import JudgeOutputError


class KeyedBy:
    """Marks an output map that has the keys of the input map `field`.

    Use: `verdicts: Annotated[dict[str, Label], KeyedBy("nuggets")] = dspy.OutputField(...)`.
    """

    def __init__(self, field: str) -> None:
        self.field = field


def keyed_by(field: FieldInfo) -> str | None:
    """The input field whose keys this output map must have, or None."""
    return next((mark.field for mark in field.metadata if isinstance(mark, KeyedBy)), None)


class ReplyFormat:
    """The reply to one signature: one JSON object with its output fields.

    Attributes: name: of the signature.
    """

    def __init__(self, signature: type[dspy.Signature]) -> None:
        self.name = signature.__name__
        self._outputs: dict[str, FieldInfo] = dict(signature.output_fields)
        self._keyed = {
            name: source for name, f in self._outputs.items() if (source := keyed_by(f)) is not None
        }
        fields: dict[str, Any] = {name: _annotated(field) for name, field in self._outputs.items()}
        self._reader: TypeAdapter[dict[str, Any]] = TypeAdapter(
            TypedDict(self.name, fields)  # type: ignore[operator]
        )

    @property
    def output_names(self) -> tuple[str, ...]:
        """The fields of a reply."""
        return tuple(self._outputs)

    def map_keys(self, inputs: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
        """The keys that each keyed output map must have; schemas differ by nothing else."""
        if not self._keyed:
            return ()
        return tuple([tuple(inputs[source]) for source in self._keyed.values()])

    def schema(self, keys: tuple[tuple[str, ...], ...] = ()) -> dict[str, Any]:
        """JSON schema of the reply, closed and with every property required (strict mode)."""
        wanted = dict(zip(self._keyed, keys, strict=True))
        properties = {
            name: _closed_map(field, wanted[name]) if name in wanted else _field_schema(field)
            for name, field in self._outputs.items()
        }
        return _closed(properties)

    def field_schemas(self) -> list[str]:
        """The schema of each output field, whatever keys are asked about."""
        return [str(_field_schema(field)) for field in self._outputs.values()]

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """Read a complete reply into the output fields; nothing is padded, cut or repaired.

        Accepts JSON alone or in one code fence with nothing around it (prose may quote a fence
        out of the judged text), and labels that differ from the wanted ones in case, spaces and
        hyphens only. With `inputs`, maps must have exactly the asked keys, and the reply must not
        stand in one of their texts: it would be the judged text's own as well as the model's.

        Raises: JudgeOutputError with reason incomplete (a field or key is missing) or
            unparseable (everything else).
        """
        body = _without_fence(text)
        row = _json_object(body, text)
        if row.keys() != self._outputs.keys():
            for name in self._outputs:
                if name not in row:
                    raise JudgeOutputError(Reason.INCOMPLETE, f"field {name!r} is missing", text)
            extra = next(name for name in row if name not in self._outputs)
            raise JudgeOutputError(Reason.UNPARSEABLE, f"field {extra!r} was not asked", text)
        if inputs is not None:
            self.check(row, inputs, text)
            if _stands_in(body, inputs.values()):
                detail = "the reply stands word for word in the judged text"
                raise JudgeOutputError(Reason.UNPARSEABLE, detail, text)
        try:
            return self._reader.validate_python(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            detail = f"{where}: {first['msg']}, got {str(first['input'])[:80]!r}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text) from None

    def check(self, row: Mapping[str, Any], inputs: Mapping[str, Any], text: str) -> None:
        """Raise JudgeOutputError unless each keyed map has exactly the keys that were asked."""
        for name, source in self._keyed.items():
            self._check_keys(name, row[name], inputs[source], text)

    @staticmethod
    def _check_keys(name: str, got: Any, asked: Mapping[str, Any], text: str) -> None:
        if not isinstance(got, dict):
            detail = f"{name}: wanted an object, got a {type(got).__name__}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text)
        if got.keys() == asked.keys():
            return
        if lost := [key for key in asked if key not in got]:
            detail = (
                f"{name}: {len(asked) - len(lost)} of {len(asked)} verdicts, {lost[0]!r} is missing"
            )
            raise JudgeOutputError(Reason.INCOMPLETE, detail, text)
        extra = [key for key in got if key not in asked]
        detail = f"{name}: {extra[0]!r} was not asked"
        raise JudgeOutputError(Reason.UNPARSEABLE, detail, text)


def _without_fence(text: str) -> str:
    stripped = text.strip()
    if len(stripped) > 6 and stripped.startswith("```") and stripped.endswith("```"):
        stripped = stripped[3:-3].removeprefix("json").removeprefix("JSON").strip()
    return stripped


def _stands_in(reply: str, values: Iterable[Any]) -> bool:
    """Whether one of the texts of a question holds the reply, white space aside."""
    marked = [text for text in _texts(values) if "{" in text]  # hardly any text has one
    return any("".join(reply.split()) in "".join(text.split()) for text in marked)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            yield value
        elif isinstance(value, list | tuple | Mapping):
            yield from _texts(value.values() if isinstance(value, Mapping) else value)


def _json_object(stripped: str, text: str) -> dict[str, Any]:
    if not text.strip():
        raise JudgeOutputError(Reason.UNPARSEABLE, "the reply is empty", text)
    if not stripped.startswith("{"):
        raise JudgeOutputError(Reason.UNPARSEABLE, "wanted one JSON object, got other text", text)
    try:
        row: dict[str, Any] = orjson.loads(stripped)
        if stripped.count(":") != _n_keys(row):  # a colon within a string, or a key given twice
            json.loads(stripped, object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise JudgeOutputError(Reason.UNPARSEABLE, f"broken JSON ({error})", text) from None
    return row


def _n_keys(value: Any) -> int:
    is_map = isinstance(value, dict)
    n = len(value) if is_map else 0
    for part in value.values() if is_map else value:
        if part.__class__ in (dict, list):
            n += _n_keys(part)
    return n


def _distinct(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise ValueError(f"key {key!r} twice")
        seen.add(key)


def _strict(kind: Any) -> Any:
    """The type with its numbers strict: "2", 2.0 and true are not the grade 2 or 1.

    A TypedDict stands for an object with exactly its keys.
    """
    if kind in (int, float, bool):
        return Annotated[kind, Strict()]
    if is_typeddict(kind):
        fields: dict[str, Any] = {
            name: _strict(part) for name, part in get_type_hints(kind).items()
        }
        closed = TypedDict(kind.__name__, fields)  # type: ignore[misc]
        return with_config(ConfigDict(extra="forbid"))(closed)
    parts = tuple(map(_strict, get_args(kind)))
    if (origin := get_origin(kind)) in (list, dict):
        return origin[parts]
    return typing.Union[parts] if origin in (types.UnionType, typing.Union) else kind  # noqa: UP007


def _annotated(field: FieldInfo) -> Any:
    """The field's type with its bounds, and with the checks that a judge makes of a reply."""
    kind: Any = _strict(field.annotation)
    for mark in field.metadata:
        if not (hasattr(mark, "ge") or hasattr(mark, "le") or isinstance(mark, AfterValidator)):
            continue
        kind = Annotated[kind, mark]
    return kind


def _field_schema(field: FieldInfo) -> dict[str, Any]:
    schema = _type_schema(field.annotation)
    for mark in field.metadata:
        if hasattr(mark, "ge"):
            schema = {**schema, "minimum": mark.ge}
        if hasattr(mark, "le"):
            schema = {**schema, "maximum": mark.le}
    return schema


@lru_cache(maxsize=64)
def _type_schema_json(kind: Any) -> bytes:
    return orjson.dumps(TypeAdapter(kind).json_schema())


def _type_schema(kind: Any) -> dict[str, Any]:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return {"type": "string", "enum": [label.value for label in kind]}
    if is_typeddict(kind):
        return _closed({name: _type_schema(part) for name, part in get_type_hints(kind).items()})
    if get_origin(kind) is list:
        return {"items": _type_schema(get_args(kind)[0]), "type": "array"}
    schema: dict[str, Any] = orjson.loads(_type_schema_json(kind))
    return schema


def _closed_map(field: FieldInfo, keys: tuple[str, ...]) -> dict[str, Any]:
    value = _type_schema(get_args(field.annotation)[1])
    return _closed(dict.fromkeys(keys, value))


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
