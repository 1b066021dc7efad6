"""Worked examples of your own: a JSONL file with inputs of a judge and the right replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import dspy

from ..backends.adapter import defaults, without
from ..backends.errors import JudgeOutputError
from ..backends.replies.schema import ReplyFormat
from ..records.reading.fields import Line, read_lines
from ..records.reading.problems import InputError, Problems
from .base import Judge
from .explaining import quote_field
from .in_dspy import check_type

ASKS = "predictor"  # names the question, if the judge has several
J = TypeVar("J", bound=Judge)


def with_demonstrations(judge: J, path: Path) -> J:
    """Return a copy of the judge that shows the examples of a file before each of its questions.

    A line has the inputs and the reply of one question, by the names of its fields. If a judge
    has several questions with the same fields, `predictor` selects one. The examples replace the
    judge's built-in examples and are part of its prompt hashes. A judge that explains accepts
    examples with and without reasons and quotes.

    Raises: InputError with every line that is not an example of this judge, and for an empty file.
    """
    changed: J = judge.deepcopy()
    predictors = changed.questions()
    problems = Problems()
    examples_by_name: dict[str, list[dict[str, Any]]] = {}
    for line in read_lines(path, problems):
        row = dict(line.row)
        name = _predictor(line, row.pop(ASKS, None), row, predictors, _find_reasons(judge))
        if name is not None and (example := _check(line, changed, name, row)) is not None:
            examples_by_name.setdefault(name, []).append(example)
    problems.raise_errors()
    if not examples_by_name:
        raise InputError(f"{path}:1: no examples, wanted one per line")
    for name, examples in examples_by_name.items():
        predictors[name].demos = examples
    return changed


def _predictor(
    line: Line,
    named: object,
    row: Mapping[str, Any],
    predictors: Mapping[str, dspy.Predict],
    optional: frozenset[str],
) -> str | None:
    """Find the question of an example; None and a problem if no question, or several, fit.

    Args:
        optional: fields of the reply that an example may omit.
    """
    if named is not None and named not in [*predictors]:
        line.error("predictor", f"no question {named!r}, wanted one of {', '.join(predictors)}")
        return None
    wrong: dict[str, str] = {}
    for name, predict in predictors.items():
        if named in (None, name):
            fields, empty = predict.signature.fields, defaults(predict.signature)
            missing = [f for f in fields if f not in row and f not in {*empty, *optional}]
            extra = [f for f in row if f not in fields]
            wrong[name] = (
                f"field {missing[0]!r} is missing" if missing
                else f"field {extra[0]!r} is not one of {', '.join(fields)}" if extra
                else ""
            )  # fmt: skip
    fits = [name for name, what in wrong.items() if not what]
    if len(fits) == 1:
        return fits[0]
    several = f"it fits {' and '.join(fits)}; choose one with {ASKS!r}"
    line.error("example", several if fits else next(iter(wrong.values())))
    return None


def _check(line: Line, judge: Judge, name: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Inputs and reply of an example by the fields of the question; None and a problem if wrong."""
    signature = judge.question(name).signature
    inputs = {field: row[field] for field in signature.input_fields if field in row}
    outputs = signature.output_fields
    reply = {field: row[field] for field in outputs if field in row}
    form = ReplyFormat(without(signature, outputs.keys() - reply.keys()))
    try:
        for field, value in inputs.items():
            kind = signature.input_fields[field].annotation
            check_type(f"field {field!r}", kind, value, strict=True)
        return inputs | form.parse(json.dumps(reply), inputs)
    except JudgeOutputError as error:
        line.error("example", f"its reply is invalid: {error.detail}")
    except ValueError as error:
        line.error("example", str(error))
    return None


def _find_reasons(judge: Judge) -> frozenset[str]:
    """The fields of a reply with reasons and quotes that were requested."""
    quotes = getattr(judge, "evidence", {}).items()
    reason = getattr(judge, "rationale", None)
    fields = [field for field, name in quotes if field == quote_field(name)]
    return frozenset(fields if reason is None else (reason, *fields))
