"""Writes results in the formats of other tools: RAGDoll, nuggetizer, TREC qrels, and of tasks."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ...evaluation.comparing import Source, open_source, warn_about
from ...metrics import count_words
from ...programs.analysis.answers.views import AnswerTexts
from ...programs.engine.folders import find_inputs
from ...programs.inputs import load_collection
from ...programs.protocols.nuggets import ASSIGNMENTS, BANKS
from ...programs.protocols.relevance import FILE as RELEVANCE
from ...programs.protocols.support import FILE as SUPPORT
from ...programs.protocols.table import programs
from ...programs.scoring.result import Result
from ...records.nuggets import Assignment, read_assignments, read_nugget_banks
from ...records.reading.problems import InputError, Problems
from ...records.relevance import RelevanceLabel, check_ids, read_relevance
from ...records.rows import NuggetBank
from ...records.scores import score_row
from ...records.support import read_support
from ...records.writing import check_elsewhere, own_folder, write_file, write_lines
from . import nuggetizer_rows, ragdoll_rows
from .nuggetizer_rows import NUGGET_COLUMNS
from .ragdoll_rows import SUPPORT_COLUMNS

RAGDOLL = "ragdoll"
Row = TypeVar("Row")
Values = dict[tuple[str, str], dict[str, float | None]]  # by run and topic: by measure


def write_nuggetizer(result: Source, out: str | Path) -> dict[str, int]:
    """Write `nuggets.jsonl`, `assignments.jsonl` and `metrics.jsonl` into a folder.

    A failed judgement is `failed` in the assignments. The metrics are ours, over the successful
    judgements, with nuggetizer's names, a `run_id` and `failed_count`. nuggetizer's own command
    counts failed judgements as not supported, so its values can be lower.

    Args:
        result: a result or a results folder with nuggets.
        out: a folder, created if missing; not the results folder itself.

    Returns: rows by file, and `failed`: the number of missing labels.
    Raises: InputError if the results have no nuggets.

    Example: write_nuggetizer("results/demo", "for-nuggetizer")
    """
    with ExitStack() as stack:
        return _nuggetizer(open_source(stack, result), Path(out))


def _nuggetizer(folder: Path, out: Path) -> dict[str, int]:
    check_elsewhere(folder, out)
    if not (folder / ASSIGNMENTS).is_file():
        raise InputError(f"{folder}: has no {ASSIGNMENTS}, so nothing for nuggetizer")
    own_folder(out)
    assignments = _read(read_assignments, folder / ASSIGNMENTS)
    counts = {
        "nuggets": write_lines(
            out / "nuggets.jsonl", map(nuggetizer_rows.bank, read_banks(folder))
        ),
        "assignments": write_lines(
            out / "assignments.jsonl", map(nuggetizer_rows.assignment, assignments)
        ),
        "metrics": write_lines(out / "metrics.jsonl", _metrics(folder, assignments)),
    }
    return counts | {"failed": sum(map(n_failed, assignments))}


def read_banks(folder: Path) -> list[NuggetBank]:
    """The nuggets of each topic."""
    problems = Problems()
    path = folder / BANKS
    banks = read_nugget_banks(path, problems) if path.is_file() else {}
    problems.raise_errors()
    return list(banks.values())


def _read(read: Callable[[Path, Problems], Iterable[Row]], path: Path) -> list[Row]:
    problems = Problems()
    rows = list(read(path, problems))
    problems.raise_errors()
    return rows


def n_failed(assignment: Assignment) -> int:
    """The number of missing labels of an answer."""
    return sum(each.label is None for each in assignment.nuggets)


def read_values(folder: Path) -> Values:
    """The scores of a folder; topic `all` has the means."""
    values: Values = {}
    for row in Result(folder).scores:
        values.setdefault((row.run_id, row.topic_id), {})[row.measure] = score_row(row)["value"]
    return values


def _metrics(folder: Path, assignments: list[Assignment]) -> Iterator[dict[str, Any]]:
    failed = {(each.run_id, each.topic_id): n_failed(each) for each in assignments}
    of_run: dict[str, int] = {}
    for (run_id, _), n in failed.items():
        of_run[run_id] = of_run.get(run_id, 0) + n
    for (run_id, topic_id), values in read_values(folder).items():
        if values.keys() & NUGGET_COLUMNS.keys():
            n = of_run.get(run_id, 0) if topic_id == "all" else failed.get((run_id, topic_id), 0)
            named = {"run_id": run_id, "failed_count": n}
            yield {**nuggetizer_rows.metric_row(topic_id, values), **named}


# The defaults of `ragdoll support metric-rows`.
_METRIC_ROWS = tuple(name for name in SUPPORT_COLUMNS.values() if not name.startswith("hard"))


def write_ragdoll(
    result: Source, out: str | Path, problems: Problems | None = None
) -> dict[str, int]:
    """Write the files that RAGDoll's commands would write, under their names.

    Nuggets: `nuggets.jsonl`, `assignments.jsonl`, `metrics/cell_metrics.csv` and
    `metrics/run_metrics.csv`; support: `support_assignments.jsonl`, `support_metrics.jsonl` and
    `support_metric_rows.txt`; relevance: `umbrela.judgments.jsonl`; and the files of other tasks
    (`Program.tools`). A failed judgement is `failed`, -1, or failed with -1. The metrics are ours,
    over the successful judgements, and empty without any; RAGDoll's own commands give 0 there.

    Args:
        result: a result or a results folder.
        out: a folder, created if missing; not the results folder itself.
        problems: gets the data that RAGDoll would read differently, and missing texts; None: warn.

    Returns: rows by file, and `failed`: the number of failed judgements.
    Raises: InputError if there is nothing to write for RAGDoll.

    Example: write_ragdoll("results/demo", "for-ragdoll")
    """
    found = Problems() if problems is None else problems
    with ExitStack() as stack:
        counts = _ragdoll(open_source(stack, result), Path(out), found)
    if problems is None:
        warn_about(found)
    return counts


def _ragdoll(folder: Path, out: Path, problems: Problems) -> dict[str, int]:
    check_elsewhere(folder, out)
    writers = {
        ASSIGNMENTS: _nuggets,
        SUPPORT: _support,
        RELEVANCE: _relevance,
    }
    others = [one for one in programs() if RAGDOLL in one.tools]
    names = [*writers, *(one.judged for one in others)]
    if not any((folder / name).is_file() for name in names):
        raise InputError(f"{folder}: has none of {', '.join(names)}, so nothing for RAGDoll")
    own_folder(out)
    values = read_values(folder)
    counts: dict[str, int] = {"failed": 0}
    written: list[Mapping[str, int]] = [
        write(folder, out, values, problems)
        for name, write in writers.items()
        if (folder / name).is_file()
    ]
    written += [
        one.export(RAGDOLL, folder, out, problems)
        for one in others
        if (folder / one.judged).is_file()
    ]
    for rows in written:
        for what, n in rows.items():
            counts[what] = counts.get(what, 0) + n
    return {
        **{name: n for name, n in counts.items() if name != "failed"},
        "failed": counts["failed"],
    }


def write_for(
    tool: str, result: Source, out: str | Path, problems: Problems | None = None
) -> dict[str, int]:
    """Write results in the format of another tool, by the tasks that can write for it.

    Args:
        tool: its name, one of `Program.tools`.
        result: a result or a results folder.
        out: a folder, created if missing; not the results folder itself.
        problems: gets the data that the tool would read differently; None: warn.

    Returns: rows by file, and `failed`: the number of failed judgements.
    Raises: InputError if no judged task can write for the tool.

    Example: write_for("ragdoll", "results/demo", "for-ragdoll")
    """
    found = Problems() if problems is None else problems
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        folder = open_source(stack, result)
        check_elsewhere(folder, Path(out))
        able = [one for one in programs() if tool in one.tools]
        ready = [one for one in able if (folder / one.judged).is_file()]
        if not ready:
            names = " or ".join(one.judged for one in able)
            how = " or ".join(f"`judge run {one.name}`" for one in able)
            raise InputError(f"{folder}: has no {names}; run {how} first")
        for one in ready:
            counts |= one.export(tool, folder, own_folder(Path(out)), found)
    if problems is None:
        warn_about(found)
    return counts


def _nuggets(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    assignments = _read(read_assignments, folder / ASSIGNMENTS)
    own_folder(out / "metrics")
    cells = [_cell_row(each, values.get((each.run_id, each.topic_id), {})) for each in assignments]
    runs = dict.fromkeys(each.run_id for each in assignments)
    means = [
        {"run_id": run, "n_topics": sum(each.run_id == run for each in assignments)}
        | _columns(values.get((run, "all"), {}), NUGGET_COLUMNS)
        for run in sorted(runs)
    ]
    _write_csv(out / "metrics" / "cell_metrics.csv", cells)
    _write_csv(out / "metrics" / "run_metrics.csv", means)
    return {
        "nuggets": write_lines(
            out / "nuggets.jsonl", map(nuggetizer_rows.bank, read_banks(folder))
        ),
        "assignments": write_lines(
            out / "assignments.jsonl", map(ragdoll_rows.assignment, assignments)
        ),
        "metrics": len(cells),
        "failed": sum(map(n_failed, assignments)),
    }


def _cell_row(assignment: Assignment, values: Mapping[str, float | None]) -> dict[str, Any]:
    length = (
        count_words(assignment.answer_text)
        if assignment.answer_text
        else assignment.response_length
    )
    return {
        "qid": assignment.topic_id,
        "run_id": assignment.run_id,
        **_columns(values, NUGGET_COLUMNS),
        "nugget_count": len(assignment.nuggets),
        "vital_count": sum(each.nugget.importance == "vital" for each in assignment.nuggets),
        "failed_count": n_failed(assignment),
        "response_length": "" if length is None else length,
    }


def _support(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    texts, n_failed = AnswerTexts(folder, problems), 0
    assigned, metrics = [], []
    for row in _read(read_support, folder / SUPPORT):
        written = texts.of(row.topic_id).get(row.run_id)
        sentences = written.sentences if written is not None else ()
        supported = [
            (
                each.id,
                each.text or (sentences[each.id][0] if each.id < len(sentences) else ""),
                [(citation.passage_id, citation.label) for citation in each.citations],
            )
            for each in row.sentences
        ]
        n_failed += sum(label is None for _, _, cited in supported for _, label in cited)
        assigned.append(ragdoll_rows.support_assignment(row.run_id, row.topic_id, supported))
        of_cell = values.get((row.run_id, row.topic_id), {})
        scored = {
            column: _round(of_cell.get(measure, of_cell.get(measure.removesuffix("_all"))))
            for measure, column in SUPPORT_COLUMNS.items()  # for first citations, both are equal
        }
        ids = {"topic_id": row.topic_id, "run_id": row.run_id}
        metrics.append({**ids, **scored, "sentences": len(row.sentences)})
    lines = list(_metric_lines(metrics))
    write_file(out / "support_metric_rows.txt", "".join(lines))
    return {
        "support_assignments": write_lines(out / "support_assignments.jsonl", assigned),
        "support_metrics": write_lines(out / "support_metrics.jsonl", metrics),
        "support_metric_rows": len(lines),
        "failed": n_failed,
    }


def _metric_lines(metrics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """`run topic measure value`, by run and measure; a missing value has no line."""
    for row in sorted(metrics, key=lambda row: str(row["run_id"])):
        for name in _METRIC_ROWS:
            if row[name] is not None:
                yield f"{row['run_id']} {row['topic_id']} {name} {row[name]:.6g}\n"


def _relevance(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    config = find_inputs(folder).check("relevance is written with the judged texts")
    data = load_collection(config.data, config.run.limit)
    judgements = []
    for row in _read(read_relevance, folder / RELEVANCE):
        topic, passage = data.topics.get(row.topic_id), data.passages.get(row.passage_id)
        texts = (topic.question if topic else "", passage.text if passage else "")
        judgements.append(
            ragdoll_rows.relevance_judgement(row.topic_id, row.passage_id, row.grade, *texts)
        )
    return {
        "umbrela.judgments": write_lines(out / "umbrela.judgments.jsonl", judgements),
        "failed": sum(row["status"] == "failed" for row in judgements),
    }


def _columns(values: Mapping[str, float | None], names: Mapping[str, str]) -> dict[str, Any]:
    cells = {column: _round(values.get(measure)) for measure, column in names.items()}
    return {column: "" if value is None else value for column, value in cells.items()}


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 6)  # as RAGDoll writes them


def _write_csv(path: Path, objects: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    if objects:
        writer = csv.DictWriter(text, list(objects[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(objects)
    write_file(path, text.getvalue())


@dataclass(frozen=True)
class Written:
    """The number of written grades, of grades with a confidence, and of passages left out because
    their judgements failed."""

    n: int
    n_sure: int
    n_unjudged: int


def write_qrels(result: Source, out: str | Path, run_id: str) -> Written:
    """Write `topic Q0 passage grade confidence run`, sorted by topic and passage.

    The confidence, in [0, 1], is the probability of the grade if the judge gave probabilities, the
    share of the votes for it if a jury judged, and otherwise 1, as the track requires.

    Args:
        result: a result or a results folder with relevance.jsonl.
        out: the file; an existing file is replaced.
        run_id: name of the judgments; no white space.

    Raises: InputError for a folder without grades, or an id with white space.
    Source: guidelines of the TREC 2025 RAG track, "Relevance Judgment", output format.
    """
    with ExitStack() as stack:
        return _qrels(open_source(stack, result), Path(out), run_id)


def _qrels(folder: Path, out: Path, run_id: str) -> Written:
    if not (folder / RELEVANCE).is_file():
        raise InputError(f"{folder}: has no {RELEVANCE}; give results of the relevance task")
    labels = _read(read_relevance, folder / RELEVANCE)
    rows: list[Confident] = []
    n_sure = 0
    for label in labels:
        if label.grade is not None:
            sure = confidence(label)
            n_sure += sure is not None
            rows.append(
                (label.topic_id, label.passage_id, label.grade, 1.0 if sure is None else sure)
            )
    if not rows:
        raise InputError(f"{folder / RELEVANCE}: none of its {len(labels):,} passages has a grade")
    try:
        write_confident_qrels(out, rows, run_id)
    except ValueError as error:
        raise InputError(f"{out}: {error}") from None
    return Written(len(rows), n_sure, len(labels) - len(rows))


Confident = tuple[str, str, int, float]  # topic, document, grade, and the judge's confidence


def write_confident_qrels(path: Path, rows: Iterable[Confident], run_id: str) -> int:
    """Write `topic Q0 document grade confidence run`, sorted; return the number of lines.

    Raises: ValueError for an id with white space, as in `write_qrels`, or a confidence that is not
        finite.
    Source: guidelines of the TREC 2025 RAG track; "assign all 1 if not applicable".
    """
    lines = []
    for topic_id, passage_id, grade, confidence in sorted(rows):
        if not math.isfinite(confidence):
            raise ValueError(f"confidence {confidence!r} of {passage_id!r}, wanted a finite number")
        check_ids(topic_id, passage_id, run_id)
        lines.append(f"{topic_id} Q0 {passage_id} {grade} {confidence:.6g} {run_id}\n")
    write_file(path, "".join(lines))
    return len(lines)


def confidence(label: RelevanceLabel) -> float | None:
    """The judge's confidence in a grade, in [0, 1]; None if it gives none."""
    grade = str(label.grade)
    if label.probabilities is not None:
        return label.probabilities.get(grade)
    votes = [vote for vote in (label.votes or {}).values() if vote is not None]
    return sum(vote == grade for vote in votes) / len(votes) if votes else None
