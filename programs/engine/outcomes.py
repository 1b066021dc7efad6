"""What the outcomes of a stage hold: checked as a journal is read, which anyone may have edited."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Annotated, Any, NotRequired

from annotated_types import Ge
from pydantic import (
    AfterValidator,
    ConfigDict,
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
from typing_extensions import TypedDict

from ...records.evidence import Evidence
from ...records.judgements import Reason
from ...records.reading.fields import shorten
from ...records.reading.yaml_text import plain_error

Values = TypeAdapter[Any]  # of `Judged.values`

Count = Annotated[int, Strict(), Ge(0)]

_LEANING = {  # what stands beside the label, see Verdict.as_row
    "score": NotRequired[StrictFloat],
    "probabilities": NotRequired[dict[str, StrictFloat]],
    "evidence": NotRequired[list[Evidence]],
    "rationale": NotRequired[StrictStr],
    "method": NotRequired[StrictStr],
    "votes": NotRequired[dict[str, StrictStr | None]],
    "confidence": NotRequired[StrictFloat],
    "superseded": NotRequired[StrictStr],
}


def object_of(fields: Mapping[str, Any]) -> Any:
    """The type of a JSON object that has these fields, and no others."""
    new: Any = TypedDict  # which type checkers want to read, not to run
    return with_config(ConfigDict(extra="forbid"))(new("Object", dict(fields)))


def list_of(kind: Any) -> Any:
    """The type of a list of values of a type that `object_of` made."""
    return list.__class_getitem__(kind)


_LINE: Values = TypeAdapter(
    object_of(
        {
            "d": Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9a-f]{16}$")],
            "p": list[
                tuple[StrictStr, StrictStr, Count, Count, Count, Count, StrictBool]
            ],  # Provenance
            "v": NotRequired[dict[str, Any]],
            "u": NotRequired[tuple[Reason, StrictStr, StrictStr]],
            "s": NotRequired[list[dict[str, Any]]],
        }
    )
)


_UNJUDGED: Values = TypeAdapter(object_of({"unjudged": tuple[Reason, StrictStr, StrictStr]}))


def _unless_unjudged(row: Any, verdict: ValidatorFunctionWrapHandler) -> Any:
    is_unjudged = isinstance(row, dict) and "unjudged" in row
    return _UNJUDGED.validate_python(row) if is_unjudged else verdict(row)


def verdicts_on(scale: Collection[str]) -> Values:
    """The values of a stage of `labels`: verdicts, whose labels are of this scale.

    In a window, one that ended otherwise than the others has no label, but the reason.
    """

    def on_scale(label: str) -> str:
        if label not in scale:
            raise ValueError(f"wanted one of {', '.join(scale)}")
        return label

    verdict = object_of({"label": Annotated[StrictStr, AfterValidator(on_scale)], **_LEANING})
    return TypeAdapter(
        object_of({"verdicts": list_of(Annotated[verdict, WrapValidator(_unless_unjudged)])})
    )


def made_of(kind: Any) -> Values:
    """The values of a stage of `makes`: what was made, of this type."""
    return TypeAdapter(object_of({"made": kind}))


def wrong_in(row: Any, values: Values | None) -> str:
    """What is wrong with a line of a journal, and what was wanted; "" if nothing is.

    Args:
        values: what an outcome with values holds; None: anything.
    """
    try:
        found: Mapping[str, Any] = _LINE.validate_python(row)
        if ("v" in found) is ("u" in found):
            return "wanted values under v, or under u why there are none"
        if "v" in found and values is not None:
            values.validate_python(found["v"])
    except ValidationError as error:
        loc, what = plain_error(error.errors(include_url=False)[0])
        return f"{'.'.join(loc)}: {shorten(what, 200)}".removeprefix(": ")
    return ""
