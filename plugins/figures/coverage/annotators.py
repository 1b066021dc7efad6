"""Coverage of reports as the judge and each annotator see it: Figure 4 of the CRUX paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ....metrics.rank_correlation import spearman
from ....programs.config.sections import CoverageConfig
from ....programs.protocols.coverage.topic import CoverageData, TopicView
from ....records.labels import read_labels
from ....records.questions import HIGHEST_RATING, answer_id
from ....records.reading.problems import InputError, Problems

UNNAMED = "human labels"  # where the file names no annotator
MIN_REPORTS = 3  # for a correlation; two reports have only two orders


@dataclass(frozen=True)
class LabelledReport:
    """Coverage of one report over the answerable questions that people labelled.

    Attributes:
        judge: the share answered of the questions with a label and a rating; None without any.
        people: annotator -> the share answered of the questions that this person labelled.
        n: number of questions with a label.
    """

    run_id: str
    topic_id: str
    judge: float | None
    people: Mapping[str, float]
    n: int


def compare_annotators(
    data: CoverageData, settings: CoverageConfig, labels: Path, problems: Problems
) -> list[LabelledReport]:
    """Compare the reports of a results folder that people labelled, ordered by run and topic.

    Args:
        labels: rows with topic_id, question_id, label, annotator, and run_id or the id of the
            rated report (passage_id). A label is 0 or 1, or a rating from 0 to 5; a rating of eta
            or more counts as answered.

    Raises: InputError for labels without these ids, for other reports, or of another kind.
    """
    by_report = _read(data, settings, labels, problems)
    reports = []
    for run_id, topic_id in sorted(by_report):
        view = TopicView(data, topic_id, settings)
        name = data.reports[run_id][topic_id]
        rated = np.zeros(len(view.answerable)) if name is None else view.matrix([name])[0]
        counted = {
            q for q, is_one in zip(view.question_ids, view.answerable == 1, strict=True) if is_one
        }
        of_report = {q: given for q, given in by_report[run_id, topic_id].items() if q in counted}
        if not of_report:
            continue
        ratings = dict(zip(view.question_ids, rated.tolist(), strict=True))
        known = [ratings[q] >= settings.eta for q in of_report if not np.isnan(ratings[q])]
        by_person: dict[str, list[bool]] = {}
        for of_question in of_report.values():
            for person, is_answered in of_question.items():
                by_person.setdefault(person, []).append(is_answered)
        people = {
            person: float(np.mean(answered)) for person, answered in sorted(by_person.items())
        }
        judge = float(np.mean(known)) if known else None
        reports.append(LabelledReport(run_id, topic_id, judge, people, len(of_report)))
    if not reports:
        raise InputError(f"{labels}: no label belongs to an answerable question")
    return reports


def correlate_annotators(reports: list[LabelledReport]) -> dict[str, tuple[float | None, int]]:
    """Spearman's rho of the judge with each annotator, and the number of reports."""
    found = {}
    for person in sorted({person for report in reports for person in report.people}):
        pairs = [
            (report.people[person], report.judge)
            for report in reports
            if person in report.people and report.judge is not None
        ]
        sides = [list(side) for side in zip(*pairs, strict=True)]
        rho = spearman(*sides) if len(pairs) >= MIN_REPORTS else None
        found[person] = rho, len(pairs)
    return found


def _read(
    data: CoverageData, settings: CoverageConfig, path: Path, problems: Problems
) -> dict[tuple[str, str], dict[str, dict[str, bool]]]:
    """(run, topic) -> question -> annotator -> whether the report answers it."""
    labels = read_labels(path, problems)
    problems.raise_errors()
    wanted = {"topic_id", "question_id"}
    if not wanted <= {*labels.key_names} or not {"run_id", "passage_id"} & {*labels.key_names}:
        what = f"labels by {', '.join(labels.key_names)}"
        ids = "topic_id, question_id, and run_id or passage_id (the report)"
        raise InputError(f"{path}: {what}, wanted {ids}")
    named = {
        name: (run_id, topic_id)
        for run_id, of_run in data.reports.items()
        for topic_id, name in of_run.items()
        if name is not None
    }
    every = {*labels.cells.values()}.union(*(of.values() for of in labels.annotations.values()))
    least = _find_least(path, every, settings.eta)
    by_report: dict[tuple[str, str], dict[str, dict[str, bool]]] = {}
    for cell in dict.fromkeys((*labels.cells, *labels.annotations)):
        at = dict(zip(labels.key_names, cell, strict=True))
        name = at.get("passage_id") or answer_id(at["topic_id"], at["run_id"])
        given = labels.annotations.get(cell) or {UNNAMED: labels.cells[cell]}
        if name in named:
            by_report.setdefault(named[name], {})[at["question_id"]] = {
                person: int(label) >= least for person, label in given.items()
            }
    if not by_report:
        report = next(iter(named), "none")
        raise InputError(f"{path}: no label belongs to a report of the folder, such as {report!r}")
    return by_report


def _find_least(path: Path, labels: set[str], eta: int) -> int:
    """The lowest label that means "answered". Raises: InputError for other labels."""
    wanted = {str(rating) for rating in range(HIGHEST_RATING + 1)}
    if others := sorted(labels - wanted):
        raise InputError(f"{path}: label {others[0]!r}, wanted 0 or 1, or ratings from 0 to 5")
    return 1 if labels <= {"0", "1"} else eta
