"""The form of a reply to a signature: its JSON schema, and a strict parser."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable, Mapping, Sized
from enum import Enum
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import dspy
import orjson
from annotated_types import MaxLen
from pydantic import (
    AfterValidator,
    ConfigDict,
    Discriminator,
    Strict,
    TypeAdapter,
    ValidationError,
    with_config,
)
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict, is_typeddict

from ...records.judgements import Reason
from ...records.rows import Label
from ..errors import JudgeOutputError
from .text import NoObjectError, Written, is_copy, read_object

_UNIONS = (types.UnionType, typing.Union)
MAX_CHARS, MAX_ITEMS = 2_000, 100  # of a text and of a list without other bounds

BOUNDS = ("minLength", "maxLength", "minItems", "maxItems")  # the words for bounds in a schema

Shape = tuple[tuple[str, ...] | int, ...]  # see ReplyFormat.shape


class KeyedBy:
    """Marks an output map with the same keys as the input map `field`.

    Use: `verdicts: Annotated[dict[str, Label], KeyedBy("nuggets")] = dspy.OutputField(...)`.
    """

    def __init__(self, field: str) -> None:
        self.field = field


def get_key_source(field: FieldInfo) -> str | None:
    """The input field whose keys this output map must have, or None."""
    return next((mark.field for mark in field.metadata if isinstance(mark, KeyedBy)), None)


class AtMost:
    """Marks an output list that has at most as many entries as the input `field` counts.

    The count is the value of a number, the length of a list or map, or the words of a text, rounded
    up to a power of two so that few schemas differ by it.
    Use: `updated: Annotated[list[str], AtMost("limit")] = dspy.OutputField(...)`.
    """

    def __init__(self, field: str) -> None:
        self.field = field

    def count(self, inputs: Mapping[str, Any]) -> int:
        """Compute the bound for these inputs, at least 1."""
        value = inputs[self.field]
        if isinstance(value, str):
            return 1 << len(value.split()).bit_length()
        return max(1, len(value) if isinstance(value, Sized) else int(value))


class Graded:
    """Marks an output number as a grade with the meanings of a label type.

    Use: `grade: Annotated[int, Ge(0), Le(3), Graded(RelevanceGrade)] = dspy.OutputField(...)`.
    """

    def __init__(self, labels: type[Label]) -> None:
        self.labels = labels


def get_meanings(field: FieldInfo) -> dict[str, str]:
    """The meaning of each label of an output, in the order of its schema; {} if there are none."""
    kind = next((mark.labels for mark in field.metadata if isinstance(mark, Graded)), None)
    if kind is None:
        kind = (
            get_args(field.annotation)[1] if get_key_source(field) else unwrap(field.annotation)[0]
        )
    if not (isinstance(kind, type) and issubclass(kind, Label)):
        return {}
    return {label.value: label.meaning for label in kind if label.meaning}


def read_grades(kind: type[Enum]) -> list[int]:
    """The grades of a label type whose labels are numbers, in order; [] for labels that are words.

    >>> from nuggetjudge.records.questions import AnswerGrade
    >>> from nuggetjudge.records.support import CitationSupport
    >>> read_grades(AnswerGrade), read_grades(CitationSupport)
    ([0, 1, 2, 3, 4, 5], [])
    """
    values = [label.value for label in kind]
    return sorted(map(int, values)) if all(str(value).isdecimal() for value in values) else []


class ReplyFormat:
    """The reply to one signature: one JSON object with its output fields.

    Attributes: name: of the signature.
    """

    def __init__(self, signature: type[dspy.Signature]) -> None:
        self.name = signature.__name__
        self._outputs: dict[str, FieldInfo] = dict(signature.output_fields)
        self._keyed = {
            name: source
            for name, f in self._outputs.items()
            if (source := get_key_source(f)) is not None
        }
        self._counted = {
            name: mark
            for name, f in self._outputs.items()
            for mark in f.metadata
            if isinstance(mark, AtMost)
        }
        labels = [name for name, f in self._outputs.items() if not _is_free_text(f.annotation)]
        self._deciding = frozenset(labels or self._outputs)
        self._reader = _make_reader(signature)  # type: ignore[arg-type]  # a class has a hash

    @property
    def output_names(self) -> tuple[str, ...]:
        """The fields of a reply."""
        return tuple(self._outputs)

    def shape(self, inputs: Mapping[str, Any]) -> Shape:
        """The inputs that a schema depends on: keys of keyed maps, then bounds of lists."""
        if not (self._keyed or self._counted):
            return ()
        keys = [tuple(inputs[source]) for source in self._keyed.values()]
        return (*keys, *[mark.count(inputs) for mark in self._counted.values()])

    def schema(self, shape: Shape = (), *, bounded: bool = True) -> dict[str, Any]:
        """JSON schema of the reply: no other properties, all of them required (strict mode).

        Args:
            shape: see `shape`. bounded: whether it limits the length of texts and lists; some
                endpoints do not support such limits.
        """
        given: dict[str, Any] = dict(zip([*self._keyed, *self._counted], shape, strict=False))
        properties = {
            name: _describe_field(
                field,
                _make_closed_map(field, given[name])
                if name in self._keyed and name in given
                else _field_schema(field, given.get(name)),
            )
            for name, field in self._outputs.items()
        }
        schema = _make_closed_object(properties)
        return schema if bounded else drop_bounds(schema)

    def field_schemas(self) -> list[str]:
        """The schema of each output field, without keys and meanings."""
        return [*self._field_schemas]

    @cached_property
    def _field_schemas(self) -> list[str]:  # needed for each question
        return [str(_field_schema(field)) for field in self._outputs.values()]

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """Read a complete reply into the output fields; nothing is padded, cut or repaired.

        Accepts one JSON object (see `read_object`: thoughts, prose and fences may surround it),
        and labels that differ from the expected ones only in case, spaces, hyphens, quotation marks
        and a full stop. With `inputs`, maps must have exactly the requested keys, and the object
        must not occur in one of their texts, because then the judged text may have dictated it.
        Reasons and quotes beside its labels do not count as a difference.

        Raises: JudgeOutputError with reason incomplete (a field or key is missing) or
            unparseable (everything else).
        """
        written = self._read_written(text)
        row = written.row
        if row.keys() != self._outputs.keys():
            for name in self._outputs:
                if name not in row:
                    what = f"field {name!r} is missing"
                    raise JudgeOutputError(Reason.INCOMPLETE, what, text, complaint=what)
            extra = next(name for name in row if name not in self._outputs)
            what = "it had a field that was not asked for"
            detail = f"field {extra!r} was not requested"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=what)
        if inputs is not None:
            self.check(row, inputs, text, written)
        try:
            return self._reader.validate_python(row)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = [str(part) for part in first["loc"]]
            detail = f"{'.'.join(path)}: {first['msg']}, got {str(first['input'])[:80]!r}"
            if first["type"] == "extra_forbidden":  # the reply invented its name
                path = path[:-1]
            what = f"{'.'.join(path)}: {_without_tag(first)}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=what) from None

    def object_in(self, text: str) -> str:
        """The JSON object of a reply, exactly as written, which `parse` reads."""
        return self._read_written(text).body

    @staticmethod
    def _read_written(text: str) -> Written:
        try:
            return read_object(text)
        except NoObjectError as error:
            reason = Reason.UNPARSEABLE
            raise JudgeOutputError(reason, str(error), text, complaint=error.complaint) from None

    def check(
        self,
        row: Mapping[str, Any],
        inputs: Mapping[str, Any],
        text: str,
        written: Written | None = None,
    ) -> None:
        """Raise JudgeOutputError unless each keyed map has exactly the requested keys, and no text
        of the inputs holds the same object.

        Args:
            row: the output fields. text: the reply. written: its object; None: only `row` is known.
        """
        for name, source in self._keyed.items():
            self._check_keys(name, row[name], inputs[source], text)
        if written is None:
            body = orjson.dumps(dict(row), default=str).decode()
            written = Written(body, orjson.loads(body), is_alone=False)
        if is_copy(written, inputs.values(), self._deciding):
            detail = "the judged text contains the reply word for word"
            # Asked again, a model that meant its reply could only give another label.
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=None)

    @staticmethod
    def _check_keys(name: str, got: Any, wanted: Mapping[str, Any], text: str) -> None:
        if not isinstance(got, dict):
            detail = f"{name}: wanted an object, got a {type(got).__name__}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=detail)
        if got.keys() == wanted.keys():
            return
        if lost := [key for key in wanted if key not in got]:
            n_got = f"{len(wanted) - len(lost)} of {len(wanted)} verdicts"
            detail = f"{name}: {n_got}, {lost[0]!r} is missing"
            raise JudgeOutputError(Reason.INCOMPLETE, detail, text, complaint=detail)
        extra = [key for key in got if key not in wanted]
        detail = f"{name}: {extra[0]!r} was not requested"
        what = f"{name} had a key that was not asked for"
        raise JudgeOutputError(Reason.UNPARSEABLE, detail, text, complaint=what)


def _strict(kind: Any) -> Any:
    """The type with strict numbers: "2", 2.0 and true are not the grade 2 or 1.

    A TypedDict means an object with exactly its keys; a literal at the start distinguishes
    several of them.
    """
    kind, _ = unwrap(kind)  # a text beyond its length limit is still read
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
    if origin not in _UNIONS:
        return kind
    tag, union = _find_tag(get_args(kind)), typing.Union[parts]  # noqa: UP007
    return union if tag is None else Annotated[union, Discriminator(tag)]


def _find_tag(kinds: tuple[Any, ...]) -> str | None:
    """The key whose literal distinguishes these objects; None if they have no such key."""
    if not all(map(is_typeddict, kinds)):
        return None
    first = [next(iter(get_type_hints(kind).items())) for kind in kinds]
    is_tag = all(get_origin(part) is Literal for _, part in first)
    return first[0][0] if is_tag and len({name for name, _ in first}) == 1 else None


def _without_tag(error: Any) -> str:
    """The fault, without the reply's own words, which pydantic repeats for a wrong literal."""
    if error["type"] == "union_tag_invalid":
        return f"wanted one of {error['ctx']['expected_tags']}"
    return str(error["msg"])


def _is_free_text(kind: Any) -> bool:
    """Whether a field holds texts only, such as reasons, and no labels."""
    kind, _ = unwrap(kind)
    if (origin := get_origin(kind)) in (list, dict):
        return _is_free_text(get_args(kind)[-1])
    if origin in _UNIONS:
        return all(_is_free_text(part) for part in get_args(kind))
    return kind in (str, type(None))


@lru_cache(maxsize=256)  # judges are opened repeatedly
def _make_reader(signature: type[dspy.Signature]) -> TypeAdapter[dict[str, Any]]:
    fields = {name: _annotate_type(field) for name, field in signature.output_fields.items()}
    return TypeAdapter(TypedDict(signature.__name__, fields))  # type: ignore[operator]


def _annotate_type(field: FieldInfo) -> Any:
    """The field's type with its bounds and the judge's checks of a reply."""
    kind: Any = _strict(field.annotation)
    for mark in field.metadata:
        if not (hasattr(mark, "ge") or hasattr(mark, "le") or isinstance(mark, AfterValidator)):
            continue
        kind = Annotated[kind, mark]
    return kind


def unwrap(kind: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type and its marks, from `Annotated`."""
    if get_origin(kind) is Annotated:
        bare, *marks = get_args(kind)
        return bare, tuple(marks)
    return kind, ()


def read_length_bounds(marks: Iterable[Any]) -> tuple[int, int | None]:
    """The smallest and the largest length among the marks on a text or a list."""
    low, high = 0, None
    for mark in marks:
        low, high = getattr(mark, "min_length", low), getattr(mark, "max_length", high)
    return low, high


def drop_bounds(schema: Any) -> Any:
    """A JSON schema without limits on the length of texts and lists."""
    if isinstance(schema, list):
        return [drop_bounds(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    parts = schema.items()
    is_field = isinstance(schema.get("type"), str)  # in `properties` the judge chooses the names
    return {k: drop_bounds(v) for k, v in parts if not (is_field and k in BOUNDS)}


def _field_schema(field: FieldInfo, count: int | None = None) -> dict[str, Any]:
    marks = [*field.metadata, *([MaxLen(count)] if count is not None else ())]
    schema = _type_schema(field.annotation, marks)
    for mark in field.metadata:
        if hasattr(mark, "ge"):
            schema = {**schema, "minimum": mark.ge}
        if hasattr(mark, "le"):
            schema = {**schema, "maximum": mark.le}
    return schema


@lru_cache(maxsize=64)
def _type_schema_json(kind: Any) -> bytes:
    return orjson.dumps(TypeAdapter(kind).json_schema())


def _type_schema(kind: Any, marks: Iterable[Any] = ()) -> dict[str, Any]:
    kind, inner = unwrap(kind)
    low, high = read_length_bounds([*inner, *marks])
    if isinstance(kind, type) and issubclass(kind, Enum):
        if grades := read_grades(kind):
            return {"type": "integer", "minimum": grades[0], "maximum": grades[-1]}
        return {"type": "string", "enum": [label.value for label in kind]}
    if is_typeddict(kind):
        hints = get_type_hints(kind, include_extras=True).items()
        return _make_closed_object({name: _type_schema(part) for name, part in hints})
    origin, parts = get_origin(kind), get_args(kind)
    if kind is str:
        least = {"minLength": low} if low else {}
        return {"type": "string", **least, "maxLength": high or MAX_CHARS}
    if origin is list:
        least = {"minItems": low} if low else {}
        most = {"maxItems": high or MAX_ITEMS}
        return {"items": _type_schema(parts[0]), "type": "array", **least, **most}
    if origin is Literal and all(isinstance(part, str) for part in parts):
        return {"type": "string", "enum": list(parts)}
    if origin in _UNIONS:
        return {"anyOf": [_type_schema(part) for part in parts]}
    schema: dict[str, Any] = orjson.loads(_type_schema_json(kind))
    return schema


def _describe_field(field: FieldInfo, schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field, with the meanings of its labels."""
    meanings = "; ".join(f"{label}: {text}" for label, text in get_meanings(field).items())
    return {"description": meanings, **schema} if meanings else schema


def _make_closed_map(field: FieldInfo, keys: tuple[str, ...]) -> dict[str, Any]:
    value = _type_schema(get_args(field.annotation)[1])
    return _make_closed_object(dict.fromkeys(keys, value))


def _make_closed_object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
