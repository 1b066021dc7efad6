"""Results as RAGDoll, the toolkit of TREC RAG 2026, writes them: one folder for its commands."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ...evaluation.sources import Source, opened
from ...metrics import count_words
from ...programs.analysis.answers.texts import AnswerTexts
from ...programs.engine.folders.inputs import inputs_of
from ...programs.inputs.collection import load_collection
from ...programs.protocols.judged_items import ALL
from ...programs.protocols.nuggets.program import ASSIGNMENTS
from ...programs.protocols.relevance import FILE as RELEVANCE
from ...programs.protocols.rubric.program import VERDICTS
from ...programs.protocols.support import FILE as SUPPORT
from ...records.nuggets import Assignment
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_relevance
from ...records.support import read_support
from ...records.tools import nuggetizer as nuggetizer_rows
from ...records.tools import ragdoll as rows
from ...records.tools.metric_rows import NUGGET_COLUMNS, SUPPORT_COLUMNS
from ...records.writing import own_folder, write_file
from ..trec.arena.kind import read_battles
from ..trec.arena.ragdoll import write_ragdoll_arena
from ..trec.arena.standings import FILE as BATTLES
from ..trec.arena.standings import STRENGTH
from .nuggetizer import (
    Values,
    assignments_of,
    banks_of,
    check_elsewhere,
    n_failed,
    values_of,
    write_lines,
)
from .rubrics import ragdoll_files

# What `ragdoll support metric-rows` takes by default.
_METRIC_ROWS = tuple(name for name in SUPPORT_COLUMNS.values() if not name.startswith("hard"))


def write(result: Source, out: str | Path) -> dict[str, int]:
    """Write what RAGDoll's commands would have left, by their names.

    Nuggets: `nuggets.jsonl`, `assignments.jsonl`, `metrics/cell_metrics.csv` and
    `metrics/run_metrics.csv`; support: `support_assignments.jsonl`, `support_metrics.jsonl` and
    `support_metric_rows.txt`; relevance: `umbrela.judgments.jsonl`; rubrics: `rubric.jsonl` and
    `graded.jsonl`; battles, in `arena/`: `judgments.jsonl`, `pairwise.csv`, `coverage.csv` and
    `leaderboard.csv`. A judgement that did not come is `failed`, -1, or failed with -1. Metrics are
    ours, over what was judged, and empty where nothing was: its own commands give 0 there.

    Args:
        result: a result or a results folder.
        out: a folder, made if it is not there; not the results folder itself.

    Returns: rows by file, and `failed`: judgements that are not there.
    Raises: InputError where there is nothing that RAGDoll knows.

    Example: ragdoll.write("results/demo", "for-ragdoll")
    """
    with ExitStack() as stack:
        return write_folder(opened(stack, result), Path(out), Problems())


def write_folder(folder: Path, out: Path, problems: Problems) -> dict[str, int]:
    """As `write`, of a finished folder; texts that are not there any more are in `problems`."""
    check_elsewhere(folder, out)
    writers = {
        ASSIGNMENTS: _nuggets,
        SUPPORT: _support,
        RELEVANCE: _relevance,
        VERDICTS: _rubrics,
        BATTLES: _arena,
    }
    present = [name for name in writers if (folder / name).is_file()]
    if not present:
        raise InputError(f"{folder}: has none of {', '.join(writers)}, so nothing for RAGDoll")
    own_folder(out)
    values = values_of(folder)
    counts: dict[str, int] = {"failed": 0}
    for name in present:
        for what, n in writers[name](folder, out, values, problems).items():
            counts[what] = counts.get(what, 0) + n
    return {
        **{name: n for name, n in counts.items() if name != "failed"},
        "failed": counts["failed"],
    }


def _nuggets(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    assignments = assignments_of(folder)
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
        "nuggets": write_lines(out / "nuggets.jsonl", map(nuggetizer_rows.bank, banks_of(folder))),
        "assignments": write_lines(out / "assignments.jsonl", map(rows.assignment, assignments)),
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
    texts, file_problems, n_failed = AnswerTexts(folder, problems), Problems(), 0
    assigned, metrics = [], []
    for row in read_support(folder / SUPPORT, file_problems):
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
        assigned.append(rows.support_assignment(row.run_id, row.topic_id, supported))
        of_cell = values.get((row.run_id, row.topic_id), {})
        scored = {
            column: _rounded(of_cell.get(measure, of_cell.get(measure.removesuffix("_all"))))
            for measure, column in SUPPORT_COLUMNS.items()  # of first citations both are one
        }
        ids = {"topic_id": row.topic_id, "run_id": row.run_id}
        metrics.append({**ids, **scored, "sentences": len(row.sentences)})
    file_problems.raise_errors()
    lines = list(_metric_lines(metrics))
    write_file(out / "support_metric_rows.txt", "".join(lines))
    return {
        "support_assignments": write_lines(out / "support_assignments.jsonl", assigned),
        "support_metrics": write_lines(out / "support_metrics.jsonl", metrics),
        "support_metric_rows": len(lines),
        "failed": n_failed,
    }


def _metric_lines(metrics: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """`run topic measure value`, by run and measure; a value that is not there has no line."""
    for row in sorted(metrics, key=lambda row: str(row["run_id"])):
        for name in _METRIC_ROWS:
            if row[name] is not None:
                yield f"{row['run_id']} {row['topic_id']} {name} {row[name]:.6g}\n"


def _relevance(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    config = inputs_of(folder).checked("relevance is written with the texts that were judged")
    data = load_collection(config.data, config.run.limit)
    file_problems, judgements = Problems(), []
    for row in read_relevance(folder / RELEVANCE, file_problems):
        topic, passage = data.topics.get(row.topic_id), data.passages.get(row.passage_id)
        texts = (topic.question if topic else "", passage.text if passage else "")
        judgements.append(rows.relevance_judgement(row.topic_id, row.passage_id, row.grade, *texts))
    file_problems.raise_errors()
    return {
        "umbrela.judgments": write_lines(out / "umbrela.judgments.jsonl", judgements),
        "failed": sum(row["status"] == "failed" for row in judgements),
    }


def _arena(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    file_problems = Problems()
    battles = list(read_battles(folder / BATTLES, file_problems))
    file_problems.raise_errors()
    means = {run: of_run for (run, topic), of_run in values.items() if topic == ALL}
    strengths = {run: b for run, of in means.items() if (b := of.get(STRENGTH)) is not None}
    write_ragdoll_arena(own_folder(out / "arena"), battles, strengths)
    forfeits = sum(battle.is_forfeit for battle in battles)  # of which no question was asked
    if forfeits:
        what = f"{forfeits:,} battles that a run lost without an answer: RAGDoll has none such"
        problems.skip(folder / BATTLES, 0, "forfeit", what)
    failed = sum(battle.label is None for battle in battles)
    return {"arena/judgments": len(battles) - forfeits, "failed": failed}


def _rubrics(folder: Path, out: Path, values: Values, problems: Problems) -> dict[str, int]:
    return ragdoll_files(folder, out, problems)


def _columns(values: Mapping[str, float | None], names: Mapping[str, str]) -> dict[str, Any]:
    cells = {column: _rounded(values.get(measure)) for measure, column in names.items()}
    return {column: "" if value is None else value for column, value in cells.items()}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)  # as RAGDoll writes them


def _write_csv(path: Path, objects: Sequence[Mapping[str, Any]]) -> None:
    text = io.StringIO()
    if objects:
        writer = csv.DictWriter(text, list(objects[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(objects)
    write_file(path, text.getvalue())
