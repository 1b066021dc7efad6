"""Worked examples of one's own: a JSONL file of questions to a judge with the right replies."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import dspy

from ...backends.adapter import defaults
from ...backends.errors import JudgeOutputError
from ...records.reading.fields import Line, read_lines
from ...records.reading.problems import InputError, Problems
from ..base import Judge
from ..in_dspy.demos import check_type

ASKS = "predictor"  # names the question of a judge that asks several
J = TypeVar("J", bound=Judge)


def with_demonstrations(judge: J, path: Path) -> J:
    """A copy of the judge that shows the examples of a file before each of its questions.

    A line has the inputs and the reply of one question, by the names of its fields; of a judge
    that asks several with the same fields, `predictor` says which. They take the place of examples
    that the judge has by itself, and are part of its prompts' hashes.

    Raises: InputError with every line that is no example of this judge, and for an empty file.
    """
    twin: J = judge.deepcopy()
    predictors = twin.questions()
    problems = Problems()
    found: dict[str, list[dict[str, Any]]] = {}
    for line in read_lines(path, problems):
        row = dict(line.row)
        name = _predictor(line, row.pop(ASKS, None), row, predictors)
        if name is not None and (example := _checked(line, twin, name, row)) is not None:
            found.setdefault(name, []).append(example)
    problems.raise_errors()
    if not found:
        raise InputError(f"{path}:1: no example in it, wanted one a line")
    for name, examples in found.items():
        predictors[name].demos = examples
    return twin


def _predictor(
    line: Line, named: object, row: Mapping[str, Any], predictors: Mapping[str, dspy.Predict]
) -> str | None:
    """Which question the row is an example of; None, noted, if it is none or that is open."""
    if named is not None and named not in [*predictors]:
        line.error("predictor", f"no question {named!r}, wanted one of {', '.join(predictors)}")
        return None
    wrong: dict[str, str] = {}
    for name, predict in predictors.items():
        if named in (None, name):
            fields, empty = predict.signature.fields, defaults(predict.signature)
            missing = [f for f in fields if f not in row and f not in empty]
            extra = [f for f in row if f not in fields]
            wrong[name] = (
                f"field {missing[0]!r} is missing" if missing
                else f"field {extra[0]!r} is not one of {', '.join(fields)}" if extra
                else ""
            )  # fmt: skip
    fits = [name for name, what in wrong.items() if not what]
    if len(fits) == 1:
        return fits[0]
    several = f"it may be an example of {' or '.join(fits)}; say which under {ASKS!r}"
    line.error("example", several if fits else next(iter(wrong.values())))
    return None


def _checked(line: Line, judge: Judge, name: str, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """Inputs and reply as the question has them; None, noted, if one does not fit."""
    signature = judge.question(name).signature
    inputs = {field: row[field] for field in signature.input_fields if field in row}
    reply = {field: row[field] for field in signature.output_fields}
    try:
        for field, value in inputs.items():
            kind = signature.input_fields[field].annotation
            check_type(f"field {field!r}", kind, value, strict=True)
        return inputs | judge.prompt(name).parse(json.dumps(reply), inputs)
    except JudgeOutputError as error:
        line.error("example", f"its reply is none: {error.detail}")
    except ValueError as error:
        line.error("example", str(error))
    return None
