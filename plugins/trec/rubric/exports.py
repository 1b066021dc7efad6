"""Write rubrics and verdicts in the layouts of RAGDoll and ResearchRubrics."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ....metrics import count_words
from ....programs.analysis.answers.views import AnswerTexts
from ....records.reading.fields import read_lines
from ....records.reading.problems import Problems
from ....records.writing import own_folder, write_lines
from . import ragdoll, researchrubrics
from .rubrics import CriterionVerdict, Rubric, collect_rubrics, rubric_row
from .verdicts import RUBRICS, VERDICTS, read_verdicts

_RESULTS = "results"  # folder of ResearchRubrics' results, a file a run


def write_researchrubrics(folder: Path, out: Path, problems: Problems) -> dict[str, int]:
    """Write ResearchRubrics' `processed_data.jsonl`, and `results/RUN.jsonl` for each run.

    A missing verdict has `success` false and no score. ResearchRubrics' own command stops at such a
    line: run it on complete results.
    """
    rubrics, verdicts = _read(folder)
    criteria = {(r.topic_id, c.id): c for r in rubrics.values() for c in r.criteria}
    own_folder(out / _RESULTS)
    n = write_lines(out / "processed_data.jsonl", map(researchrubrics.data_row, rubrics.values()))
    counts = {"processed_data": n, _RESULTS: 0}
    for run in dict.fromkeys(verdict.run_id for verdict in verdicts):
        own = [verdict for verdict in verdicts if verdict.run_id == run]
        name = f"{run.replace('/', '_')}.jsonl"
        rows = researchrubrics.result_rows(own, criteria)
        counts[_RESULTS] += write_lines(out / _RESULTS / name, rows)
    return {**counts, "failed": sum(verdict.label is None for verdict in verdicts)}


def write_ragdoll(folder: Path, out: Path, problems: Problems) -> dict[str, int]:
    """Write RAGDoll's `rubric.jsonl` and `graded.jsonl`."""
    rubrics, verdicts = _read(folder)
    for rubric in rubrics.values():
        for criterion in ragdoll.not_taken(rubric.criteria):
            what = f"criterion {criterion.id!r} of topic {rubric.topic_id!r} weighs"
            wanted = "RAGDoll takes whole numbers from 1 to 5, and drops or changes others"
            what = f"{what} {criterion.weight:g}; {wanted}"
            problems.keep(folder / RUBRICS, 0, "weight_not_taken", what)
    rows = _make_graded_rows(rubrics, verdicts, AnswerTexts(folder, problems))
    return {
        "rubric": write_lines(out / "rubric.jsonl", map(rubric_row, rubrics.values())),
        "graded": write_lines(out / "graded.jsonl", rows),
        "failed": sum(verdict.label is None for verdict in verdicts),
    }


def _make_graded_rows(
    rubrics: dict[str, Rubric], verdicts: list[CriterionVerdict], texts: AnswerTexts
) -> Iterator[dict[str, Any]]:
    for (topic, run), group in groupby(verdicts, lambda one: (one.topic_id, one.run_id)):
        written = texts.of(topic).get(run)
        answer = written.text if written is not None else ""
        by_id = {one.criterion_id: one for one in group}
        yield ragdoll.make_graded_row(rubrics[topic], by_id, run, answer, count_words(answer))


def _read(folder: Path) -> tuple[dict[str, Rubric], list[CriterionVerdict]]:
    problems = Problems()
    rubrics = collect_rubrics(read_lines(folder / RUBRICS, problems), linted=False)
    verdicts = list(read_verdicts(folder / VERDICTS, problems))
    problems.raise_errors()
    return rubrics, verdicts
