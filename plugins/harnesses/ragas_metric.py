"""Our judges as a metric of ragas: in `ragas.evaluate`, in experiments, and by itself.

    ragas.evaluate(dataset, metrics=[AnswerMetric("V_strict", model="openai/gpt-4o")])
    result = await AnswerMetric("KPR", model="openai/gpt-4o").ascore(**row)

Rows of ragas are samples as they are: `nuggetjudge.evaluate(dataset.to_list(), ...)` reads them,
and `samples` the files that its datasets write.
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
    """What an answer is worth in one measure, in [0, 1]; nan where that was not judged.

    In `ragas.evaluate` nuggets and the like are made from the retrieved contexts, or come from
    files (`nuggets="bank.jsonl"`), since its rows have no fields for them; `ascore` and `score`
    take any field that `nuggetjudge.evaluate` knows.

    Args:
        measure, program, model, settings: see `SampleJudge`.
        name: of the column; None: the measure.

    Attributes:
        judged: what each value rests on, in the order in which they came: n, n unjudged, bounds
            and reasons of all that was asked of this metric.

    Warns, when asked: RuntimeWarning of an answer without a value, with the reason, since a row
        of ragas has no place for it.
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
        """Nothing: the judges have settings of their own."""

    async def _single_turn_ascore(self, sample: Any, callbacks: Any) -> float:
        score = await self._judge.ascore(sample.to_dict())
        self.judged.append(score)
        if score.value is None:
            warnings.warn(f"{self.name}: nan, {score}", RuntimeWarning, stacklevel=2)
            return math.nan
        return score.value

    async def ascore(self, **row: Any) -> Any:
        """What experiments call.

        Args:
            row: the fields of a sample.

        Returns: a ragas MetricResult: the value, nan where that was not judged; what it rests on
            and what the answer lost as the reason; n, n_unjudged, low, high and reasons in
            `traces["output"]`.
        """
        return self._result(await self._judge.aexplain(row), row)

    def score(self, **row: Any) -> Any:
        """As `ascore`."""
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
    """Samples for `nuggetjudge.evaluate` of a file that a ragas dataset wrote, JSONL or CSV.

    Raises: InputError with the line of what cannot be read, such as an invalid list.
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
    """Rows whose lists stand as Python writes them, which is how ragas does."""
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
        raise InputError(f"{where} is no list, wanted one as ragas writes it, ['...', '...']")
    return value
