"""nuggetjudge as a ragas metric: in `ragas.evaluate`, in experiments, or alone.

    ragas.evaluate(dataset, metrics=[AnswerMetric("V_strict", model="openai/gpt-4o")])
    result = await AnswerMetric("KPR", model="openai/gpt-4o").ascore(**row)

`nuggetjudge.evaluate(dataset.to_list(), ...)` reads ragas rows directly, and `samples` reads the
files that ragas datasets write.
"""

from __future__ import annotations

import ast
import csv
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...evaluation.result import QuestionScore
from ...records.reading.lines import json_lines
from ...records.reading.problems import InputError, Problems, need
from .judging import SampleJudge

_base = need("ragas.metrics.base", "ragas")
_SingleTurnMetric: Any = _base.SingleTurnMetric
_COLUMNS = ("user_input", "response", "retrieved_contexts:optional", "reference:optional")


class AnswerMetric(_SingleTurnMetric):  # type: ignore[misc]
    """The score of an answer in one measure, in [0, 1]; nan if judging failed.

    In `ragas.evaluate`, nuggets and other reference items are created from the retrieved contexts
    or come from files (`nuggets="bank.jsonl"`), because ragas rows have no fields for them.
    `ascore` and `score` take any field that `nuggetjudge.evaluate` knows.

    Args:
        measure, program, model, settings: see `SampleJudge`.
        name: name of the column; None: the measure.

    Attributes:
        judged: for each value, in order: n, n unjudged, bounds and reasons.

    Warns, when called: RuntimeWarning with the reason for an answer without a value, because a
        ragas row has no field for it.
    """

    def __init__(
        self,
        measure: str,
        program: str | Sequence[str] | None = None,
        *,
        model: str | Mapping[str, Any] | None = None,
        name: str | None = None,
        **settings: Any,
    ) -> None:
        columns = {_base.MetricType.SINGLE_TURN: set(_COLUMNS)}
        super().__init__(_required_columns=columns, name=name or measure)
        self._judge = SampleJudge(measure, program, model=model, **settings)
        self.judged: list[QuestionScore] = []

    def init(self, run_config: Any) -> None:
        """Do nothing: the judges have their own settings."""

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        score = await self._judge.ascore(sample.to_dict())
        self.judged.append(score)
        if score.value is None:
            warnings.warn(f"{self.name}: nan, {score}", RuntimeWarning, stacklevel=2)
            return math.nan
        return score.value

    async def ascore(self, **row: Any) -> Any:
        """Return the result for ragas experiments.

        Args:
            row: the fields of a sample.

        Returns: a ragas MetricResult: the value (nan if judging failed), an explanation as the
            reason, and n, n_unjudged, low, high and reasons in `traces["output"]`.
        """
        return self._result(await self._judge.aexplain(row), row)

    def score(self, **row: Any) -> Any:
        """Like `ascore`, without asyncio."""
        return self._result(self._judge.explain(row), row)

    def _result(self, explained: Any, row: Mapping[str, Any]) -> Any:
        of = explained.score
        self.judged.append(of)
        names = ("measure", "n", "n_unjudged", "low", "high")
        about = {name: getattr(of, name) for name in names} | {"reasons": dict(of.reasons)}
        return need("ragas.metrics.result", "ragas").MetricResult(
            math.nan if of.value is None else of.value,
            reason=explained.feedback,
            traces={"input": dict(row), "output": about},
        )


def samples(path: str | Path) -> Iterator[dict[str, Any]]:
    """Read a file of a ragas dataset, JSONL or CSV, as samples for `nuggetjudge.evaluate`.

    Raises: InputError with the line of an unreadable value, such as an invalid list.
    """
    path = Path(path)
    if path.suffix == ".csv":
        yield from _csv_rows(path)
        return
    problems = Problems()
    for _, row in json_lines(path, problems):
        yield {name: value for name, value in row.items() if value is not None}
    problems.raise_errors()


def _csv_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows whose lists are written as Python lists, as ragas writes them."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            for row in reader:
                yield {
                    name: _list(text, f"{path}:{reader.line_num}: {name}")
                    if name.endswith(("contexts", "context_ids"))
                    else text
                    for name, text in row.items()
                    if text
                }
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV ({error})") from None


def _list(text: str, where: str) -> list[Any]:
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = None
    if not isinstance(value, list):
        raise InputError(f"{where} is not a list, wanted one as ragas writes it, ['...', '...']")
    return value
