"""The fields of a reply in which a judge says why, put before the one with its label."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ...backends.adapter import with_first
from ...backends.replies.schema import KeyedBy, keyed_by

REASONING = "reasoning"  # the field of a reply that holds the reason
MOST_QUOTES, QUOTE_CHARS, REASON_CHARS = 2, 160, 240  # of each label; of a text, its characters


def quote_field(name: str) -> str:
    """The field of a reply that quotes this input."""
    return f"{name}_quotes"


def with_reason(signature: Any, output: str) -> Any:
    """The signature with a field for a short reason, before all others of the reply.

    Args:
        output: the field that holds the label, or labels by number.
    """
    each, kind = _shape(signature, output, Annotated[str, MaxLen(REASON_CHARS)])
    desc = f"{each}the reason for the {output.removesuffix('s')}, in one short sentence"
    return _prepended(signature, REASONING, desc, kind)


def with_quotes(signature: Any, output: str, names: Sequence[str]) -> Any:
    """The signature with a field of verbatim parts of each of these inputs, before all others.

    Raises: ValueError if an input has the name of such a field.
    """
    quotes = Annotated[list[Annotated[str, MaxLen(QUOTE_CHARS)]], MaxLen(MOST_QUOTES)]
    each, kind = _shape(signature, output, quotes)
    for name in reversed(names):
        desc = (
            f"{each}the shortest excerpts of the {name.replace('_', ' ')} that decide the "
            f"{output.removesuffix('s')}, each contiguous and copied exactly; [] if there are none"
        )
        signature = _prepended(signature, quote_field(name), desc, kind)
    return signature


def _shape(signature: Any, output: str, kind: Any) -> tuple[str, Any]:
    """How a field speaks of the items of a call, and its type: as the field of the labels does."""
    listed = keyed_by(signature.output_fields[output])
    if listed is None:
        return "", kind
    return "for each number, ", Annotated[dict.__class_getitem__((str, kind)), KeyedBy(listed)]


def _prepended(signature: Any, name: str, desc: str, kind: Any) -> Any:
    if name in signature.fields:
        raise ValueError(f"it has a field {name!r}, which its reply needs for something else")
    return with_first(signature, name, dspy.OutputField(desc=desc), kind)
