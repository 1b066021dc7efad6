"""Rubrics and verdicts as RAGDoll and ResearchRubrics write theirs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from ...metrics import count_words
from ...programs.analysis.answers.texts import AnswerTexts
from ...programs.protocols.rubric.program import RUBRICS, VERDICTS
from ...records.instruments.rubrics import CriterionVerdict, Rubric, rubric_row, rubrics_of
from ...records.reading.fields import read_lines
from ...records.reading.problems import InputError, Problems
from ...records.tools import ragdoll_rubrics, researchrubrics
from ...records.tools.rubric_verdicts import read_verdicts
from ...records.writing import own_folder
from .nuggetizer import check_elsewhere, write_lines

_RESULTS = "results"  # folder of ResearchRubrics' results, a file a run


def write_folder(folder: Path, out: Path) -> dict[str, int]:
    """Write ResearchRubrics' `processed_data.jsonl`, and `results/RUN.jsonl` of each run.

    A verdict that did not come has `success` false and no score: its own command stops there, and
    is to be run on what is complete.

    Returns: rows by file, and `failed`: verdicts that are not there.
    Raises: InputError where the results have no rubrics.
    """
    check_elsewhere(folder, out)
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
    return {**counts, "failed": _n_failed(verdicts)}


def ragdoll_files(folder: Path, out: Path, problems: Problems) -> dict[str, int]:
    """Write `rubric.jsonl` and `graded.jsonl`; returns their rows, and `failed`.

    Criteria that RAGDoll would weigh otherwise, or drop, when it reads them are listed.
    """
    rubrics, verdicts = _read(folder)
    for rubric in rubrics.values():
        for criterion in ragdoll_rubrics.not_taken(rubric.criteria):
            what = f"criterion {criterion.id!r} of topic {rubric.topic_id!r} weighs"
            wanted = "RAGDoll takes whole numbers from 1 to 5, and drops or changes others"
            what = f"{what} {criterion.weight:g}; {wanted}"
            problems.keep(folder / RUBRICS, 0, "weight_not_taken", what)
    rows = _graded(rubrics, verdicts, AnswerTexts(folder, problems))
    return {
        "rubric": write_lines(out / "rubric.jsonl", map(rubric_row, rubrics.values())),
        "graded": write_lines(out / "graded.jsonl", rows),
        "failed": _n_failed(verdicts),
    }


def _graded(
    rubrics: dict[str, Rubric], verdicts: list[CriterionVerdict], texts: AnswerTexts
) -> Iterator[dict[str, Any]]:
    for (topic, run), group in groupby(verdicts, lambda one: (one.topic_id, one.run_id)):
        written = texts.of(topic).get(run)
        answer = written.text if written is not None else ""
        by_id = {one.criterion_id: one for one in group}
        yield ragdoll_rubrics.graded_row(rubrics[topic], by_id, run, answer, count_words(answer))


def _read(folder: Path) -> tuple[dict[str, Rubric], list[CriterionVerdict]]:
    if not (folder / VERDICTS).is_file():
        raise InputError(f"{folder}: has no {VERDICTS}; run `judge run rubric` first")
    problems = Problems()
    rubrics = rubrics_of(read_lines(folder / RUBRICS, problems), linted=False)
    verdicts = list(read_verdicts(folder / VERDICTS, problems))
    problems.raise_errors()
    return rubrics, verdicts


def _n_failed(verdicts: Iterable[CriterionVerdict]) -> int:
    return sum(verdict.label is None for verdict in verdicts)
