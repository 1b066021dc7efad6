"""Parts of a sample under the names that another tool's rows have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...evaluation.samples.contexts import CONTEXTS
from ...evaluation.samples.fields import ANSWER, QUESTION
from ...records.reading.problems import InputError, did_you_mean

CONTEXT = "context"  # what DSPy programs call them


def sample_fields(
    given: Mapping[str, Any],
    answered: Mapping[str, Any],
    fields: Mapping[str, str],
    where: str,
) -> dict[str, Any]:
    """The fields of one sample, as `nuggetjudge.evaluate` takes them.

    Args:
        given: what the system was given, and what is known of it; an answer in it is somebody
            else's and never judged. answered: what the system made of it.
        fields: a part of a sample -> the field of either that holds it, where it has another name.
        where: names both, for messages.

    Raises: InputError for a name in `fields` that neither has, or without an answer.
    """
    without_answer = {name: value for name, value in given.items() if name not in ANSWER}
    rows = {**given, **answered}
    parts = {**without_answer, **answered}
    for part, name in fields.items():
        if name not in rows:
            there = ", ".join(map(str, rows))
            hint = did_you_mean(name, map(str, rows))
            raise InputError(f"{where}: no field {name!r} for {part}; fields: {there}{hint}")
        for other in next((names for names in (QUESTION, ANSWER, CONTEXTS) if part in names), ()):
            parts.pop(other, None)
        parts[part] = rows[name]
    if not any(isinstance(parts.get(name), str) for name in ANSWER):
        there = ", ".join(map(str, answered)) or "none"
        names = ", ".join(ANSWER)
        raise InputError(f"{where}: no answer ({names}), fields of what was answered: {there}")
    if CONTEXT in parts and not any(name in parts for name in CONTEXTS):
        context = parts.pop(CONTEXT)
        parts["contexts"] = [context] if isinstance(context, str) else context
    return parts
