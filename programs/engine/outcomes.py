"""What the outcomes of a stage hold: checked as a journal is read, which anyone may have edited."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Annotated, Any, NotRequired

from annotated_types import Ge
from pydantic import (
    ConfigDict,
    GetPydanticSchema,
    Strict,
    StrictBool,
    StrictFloat,
    StrictStr,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    with_config,
)
from pydantic_core import core_schema
from typing_extensions import TypedDict

from ...records.judgements import Evidence, Reason
from ...records.reading.fields import shorten
from ...records.reading.settings import plain_error
from ...records.traces import STEP_PATH

Values = TypeAdapter[Any]  # of `Judged.values`

Count = Annotated[int, Strict(), Ge(0)]

_LEANING = {  # what stands beside the label, see Verdict.as_row
    "score": NotRequired[StrictFloat],
    "probabilities": NotRequired[dict[str, StrictFloat]],
    "outside_probability": NotRequired[StrictFloat],
    "evidence": NotRequired[list[Evidence]],
    "rationale": NotRequired[StrictStr],
    "method": NotRequired[StrictStr],
    "votes": NotRequired[dict[str, StrictStr | None]],
    "confidence": NotRequired[StrictFloat],
    "superseded": NotRequired[StrictStr],
    "parts": NotRequired[dict[str, StrictStr | None]],
}


def object_of(fields: Mapping[str, Any]) -> Any:
    """The type of a JSON object that has these fields, and no others."""
    new: Any = TypedDict  # which type checkers want to read, not to run
    return with_config(ConfigDict(extra="forbid"))(new("Object", dict(fields)))


def list_of(kind: Any) -> Any:
    """The type of a list of values of a type that `object_of` made."""
    return list.__class_getitem__(kind)


@with_config(ConfigDict(extra="allow"))
class _Step(TypedDict):
    """A step of an agent, with whatever belongs to its kind."""

    path: Annotated[str, StringConstraints(strict=True, pattern=STEP_PATH)]
    kind: StrictStr
    name: StrictStr


_Key = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{40}$")]

_LINE: Values = TypeAdapter(
    object_of(
        {
            "d": Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{16}$")],
            "p": list[
                tuple[StrictStr, StrictStr, Count, Count, Count, Count, StrictBool]
            ],  # Provenance
            "v": NotRequired[dict[str, Any]],
            "u": NotRequired[tuple[Reason, StrictStr, StrictStr]],
            "s": NotRequired[list[_Step]],
            "f": NotRequired[list[_Key]],
        }
    )
)


_UNJUDGED: Values = TypeAdapter(object_of({"unjudged": tuple[Reason, StrictStr, StrictStr]}))


def verdicts_on(scale: Collection[str]) -> Values:
    """The values of a stage of `labels`: verdicts, whose labels are of this scale.

    In a window, one that ended otherwise than the others has no label, but the reason.
    """
    return _verdicts_on(tuple(scale))


@lru_cache(maxsize=64)  # building one takes longer than many a stage
def _verdicts_on(scale: tuple[str, ...]) -> Values:
    on_scale = core_schema.custom_error_schema(
        core_schema.literal_schema([*scale]),
        custom_error_type="scale",
        custom_error_message=f"wanted one of {', '.join(scale)}",
    )
    a_text = core_schema.str_schema(strict=True)
    label = core_schema.chain_schema([a_text, on_scale])
    some_label = {"label": scale[0]}

    def but_for_unjudged(rows: Any, verdicts: ValidatorFunctionWrapHandler) -> Any:
        try:
            return verdicts(rows)  # as good as always; Python is not asked about each
        except ValidationError:
            if not isinstance(rows, list) or not any(map(_is_unjudged, rows)):
                raise
        for row in filter(_is_unjudged, rows):
            _UNJUDGED.validate_python(row)
        verdicts([some_label if _is_unjudged(row) else row for row in rows])
        return rows

    of_scale = Annotated[str, GetPydanticSchema(lambda kind, handler: label)]
    verdict = object_of({"label": of_scale, **_LEANING})
    rows = {"verdicts": Annotated[list_of(verdict), WrapValidator(but_for_unjudged)]}
    return TypeAdapter(object_of(rows))


def _is_unjudged(row: Any) -> bool:
    return isinstance(row, dict) and "unjudged" in row


def made_of(kind: Any) -> Values:
    """The values of a stage of `makes`: what was made, of this type."""
    return TypeAdapter(object_of({"made": kind}))


def wrong_in(row: Any, values: Values | None) -> str:
    """What is wrong with a line of a journal, and what was wanted; "" if nothing is.

    Args:
        values: what an outcome with values holds; None: anything.
    """
    try:
        _LINE.validator.validate_python(row)
        if ("v" in row) is ("u" in row):
            return "wanted values under v, or under u why there are none"
        if "v" in row and values is not None:
            values.validator.validate_python(row["v"])
    except ValidationError as error:
        loc, what = plain_error(error.errors(include_url=False)[0])
        return f"{'.'.join(loc)}: {shorten(what, 200)}".removeprefix(": ")
    return ""
