"""Read results of Inspect, DeepEval, promptfoo and MLflow as tables, with a row per item.

Each score of a judge is a column with the name that the tool gives it. Labels of people are in the
same file: in a sample's metadata (Inspect, DeepEval), as an edited score (Inspect), a rating in the
web viewer (promptfoo), or an assessment whose source is HUMAN (MLflow).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from ...records.reading.fields import Line
from ...records.reading.problems import InputError, Problems, need
from ...records.tables import Table, find_binary_kind, find_encoding, read_table

Row = dict[str, Any]
Judged = tuple[Row, list[str]]  # with the columns of a judge's scores
_TEXT = 300  # characters of a text to keep; texts are not judged here
_HUMAN = "human"


@dataclass(frozen=True)
class Results:
    """A table, and the columns with a judge's scores, if the tool says which."""

    table: Table
    judged: tuple[str, ...] = ()


def read_results(path: Path, problems: Problems, sheet: str | None = None) -> Results:
    """Read a file of another tool, recognised by its content, or any table.

    Raises: InputError as `read_table` does, or for a file of a tool without a single item.
    """
    if path.suffix == ".eval":
        return _inspect_archive(path, problems)
    whole = _whole_json(path)
    for tool, (is_of, read) in _TOOLS.items():
        if whole is not None and is_of(whole):
            return _make_table(path, read(whole), problems, tool)
    return Results(read_table(path, problems, sheet=sheet))


def _whole_json(path: Path) -> Any:
    """The value of a JSON file, or the rows of a JSONL file; None for other files."""
    if not path.is_file() or find_binary_kind(path) or find_encoding(path, 4096) != "utf-8":
        return None
    content = path.read_bytes()
    if content.lstrip()[:1] not in (b"{", b"["):
        return None
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError:
        pass
    try:
        first, _, _ = content.lstrip().partition(b"\n")
        if not (_is_trace(one := orjson.loads(first)) or _is_promptfoo_row(one)):
            return None
        return [orjson.loads(line) for line in content.splitlines() if line.strip()]
    except orjson.JSONDecodeError:
        return None


def _make_table(path: Path, rows: Iterable[Judged], problems: Problems, tool: str) -> Results:
    found = list(rows)
    lines = [Line(path, number, row, problems) for number, (row, _) in enumerate(found, 1)]
    if not lines:
        raise InputError(f"{path}: results of {tool} without a single scored item")
    columns = tuple(dict.fromkeys(name for line in lines for name in line.row))
    judged = tuple(dict.fromkeys(name for _, names in found for name in names))
    table = Table(path, columns, lines, (f"results of {tool}",))
    return Results(table, tuple(name for name in judged if name in columns))


def _cut(text: Any) -> Any:
    return text[:_TEXT] if isinstance(text, str) else None


def _plain(values: Mapping[str, Any] | None) -> Iterator[tuple[str, Any]]:
    """Fields that hold one value, not a list or an object."""
    for name, value in (values or {}).items():
        if isinstance(value, str | int | float | bool):
            yield name, value


# Inspect


def _inspect_archive(path: Path, problems: Problems) -> Results:
    """Read a log in Inspect's own format with its library."""
    log = need("inspect_ai.log", "inspect")
    try:
        read = log.read_eval_log(str(path)).model_dump(mode="json")
    except Exception as error:  # the library's errors have no common class
        raise InputError(f"{path}: not a log that Inspect reads ({error})") from None
    return _make_table(path, _inspect_rows(read), problems, "Inspect")


def _is_inspect(value: Any) -> bool:
    return isinstance(value, dict) and {"eval", "samples", "status"} <= value.keys()


def _inspect_rows(log: Mapping[str, Any]) -> Iterator[Judged]:
    """A row per sample and epoch. An edited score is a person's; the first one is the judge's."""
    for sample in log.get("samples") or ():
        row: Row = {"item": str(sample.get("id")), "epoch": sample.get("epoch")}
        target = sample.get("target")
        if isinstance(target, str):
            row["target"] = _cut(target)
        row |= dict(_plain(sample.get("metadata")))
        judged: list[str] = []
        for name, score in (sample.get("scores") or {}).items():
            edits = score.get("history") or ()
            first = edits[0].get("value", score.get("value")) if edits else score.get("value")
            scores = _score_columns(name, first)
            row |= scores
            judged += scores
            if len(edits) > 1:
                row |= _score_columns(f"{_HUMAN} {name}", score.get("value"))
        yield row, judged


def _score_columns(name: str, value: Any) -> Row:
    if isinstance(value, Mapping):  # one scorer, several scores
        return {f"{name}.{key}": one for key, one in _plain(value)}
    return {name: value} if isinstance(value, str | int | float | bool) else {}


# DeepEval


def _is_deepeval(value: Any) -> bool:
    return isinstance(_deepeval_cases(value), list)


def _deepeval_cases(value: Any) -> Any:
    if not isinstance(value, dict):
        return None
    inner = value.get("testRunData", value)
    cases = inner.get("testCases") if isinstance(inner, dict) else None
    turns = inner.get("conversationalTestCases") if isinstance(inner, dict) else None
    return cases if cases or not turns else turns


def _deepeval_rows(value: Mapping[str, Any]) -> Iterator[Judged]:
    """A row per test case, with the score of each metric and whether it passed."""
    for case in _deepeval_cases(value):
        row: Row = {"item": case.get("name"), "question": _cut(case.get("input")),
                    "answer": _cut(case.get("actualOutput"))}  # fmt: skip
        row |= dict(_plain(case.get("metadata") or case.get("additionalMetadata")))
        for metric in case.get("metricsData") or ():
            name = str(metric.get("name"))
            row[name] = metric.get("score")
            row[f"{name} passed"] = None if metric.get("error") else metric.get("success")
        yield row, [name for name in row if name.endswith(" passed")]


# promptfoo


def _is_promptfoo(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_promptfoo_row, value))
    return isinstance(value, dict) and isinstance(_promptfoo_results(value), list)


def _is_promptfoo_row(value: Any) -> bool:
    return isinstance(value, dict) and {"vars", "success"} <= value.keys()


def _promptfoo_results(value: Mapping[str, Any]) -> Any:
    inner = value.get("results")
    rows = inner.get("results") if isinstance(inner, dict) else inner
    return rows if isinstance(rows, list) and rows and _is_promptfoo_row(rows[0]) else None


def _promptfoo_rows(value: Any) -> Iterator[Judged]:
    """A row per test and provider: whether each assertion passed, and the rating of a person.

    A rating in the web viewer replaces the result of the test; the results of the assertions keep
    the judge's label.
    """
    rows = value if isinstance(value, list) else _promptfoo_results(value)
    for at, result in enumerate(rows):
        provider = result.get("provider")
        name = provider.get("id") if isinstance(provider, Mapping) else provider
        row: Row = {"item": str(result.get("testIdx", at)), "run": name}
        case = result.get("testCase")
        described = case.get("metadata") if isinstance(case, Mapping) else None
        row |= dict(_plain(described)) | dict(_plain(result.get("metadata")))
        row |= {key: _cut(one) if isinstance(one, str) else one
                for key, one in _plain(result.get("vars"))}  # fmt: skip
        grading = result.get("gradingResult") or {}
        parts = grading.get("componentResults") or ()
        judged: list[str] = []
        for part in parts:
            assertion = part.get("assertion") or {}
            kind = str(assertion.get("type") or "assertion")
            if kind == _HUMAN:
                row[_HUMAN] = part.get("pass")
                continue
            title = str(assertion.get("metric") or kind)
            n = sum(each == title or each.startswith(f"{title} #") for each in row)
            title = f"{title} #{n + 1}" if n else title
            row[title], row[f"{title} score"] = part.get("pass"), part.get("score")
            judged.append(title)
        if not any((part.get("assertion") or {}).get("type") == _HUMAN for part in parts):
            row["passed"] = result.get("success")
        yield row, judged or ["passed"]


# MLflow


def _is_trace(value: Any) -> bool:
    return isinstance(value, dict) and _assessments(value) is not None


def _assessments(value: Mapping[str, Any]) -> Any:
    """The assessments of a trace from `to_dict`, `to_json` or a frame of `search_traces`."""
    info = value.get("info")
    found = info.get("assessments") if isinstance(info, dict) else value.get("assessments")
    return found if isinstance(found, list) else None


def _is_mlflow(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and any(map(_is_trace, value))
    if isinstance(value, dict) and isinstance(value.get("traces"), list):
        return any(map(_is_trace, value["traces"]))
    return _is_split_frame(value) or _is_trace(value)


def _is_split_frame(value: Any) -> bool:
    """Whether a value is a table that `mlflow.evaluate` logs: columns, and rows as lists."""
    return (
        isinstance(value, dict)
        and {"columns", "data"} <= value.keys()
        and isinstance(value["data"], list)
    )


def _mlflow_rows(value: Any) -> Iterator[Judged]:
    """A row per trace, a column per assessment: `NAME` by a judge, `human NAME WHO` by a person."""
    if _is_split_frame(value):
        for cells in value["data"]:
            yield {str(k): _short(v) for k, v in zip(value["columns"], cells, strict=True)}, []
        return
    traces: Sequence[Any] = value.get("traces", [value]) if isinstance(value, dict) else value
    for trace in traces:
        info = trace.get("info") or trace
        question = info.get("request_preview") or trace.get("request")
        name = info.get("trace_id") or info.get("request_id")
        row: Row = {"item": name, "question": _cut(question)}
        judged: list[str] = []
        for one in _assessments(trace) or ():
            if one.get("valid") is False:
                continue
            source = one.get("source") or {}
            said = one.get("feedback") or one.get("expectation") or {}
            name = str(one.get("assessment_name") or one.get("name"))
            is_human = source.get("source_type") == "HUMAN"
            if is_human:
                name = f"{_HUMAN} {name} {source.get('source_id') or ''}".rstrip()
            if isinstance(said.get("value"), str | int | float | bool):
                row[name] = said["value"]
                judged += [] if is_human else [name]
        yield row, judged


def _short(value: Any) -> Any:
    return _cut(value) if isinstance(value, str) else value


_TOOLS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Any], Iterator[Judged]]]] = {
    "Inspect": (_is_inspect, _inspect_rows),
    "DeepEval": (_is_deepeval, _deepeval_rows),
    "promptfoo": (_is_promptfoo, _promptfoo_rows),
    "MLflow": (_is_mlflow, _mlflow_rows),
}
