"""Retrieved and used: coverage by rank, ratings of passages, rankings by grades."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...programs.analysis.coverage_tables import COVERAGE, REPORT, measure_taus
from ...programs.inputs import ORACLES
from ...programs.protocols.coverage.files import POOLS, read_coverage
from ...programs.protocols.coverage.topic import CoverageData, TopicView
from ...programs.protocols.program import Folder
from ...programs.protocols.relevance import FILE as RELEVANCE
from ...programs.protocols.relevance import RANKING_MEASURES
from ...programs.scoring.result import Result
from .source import Source

_UNKNOWN = "?"  # a missing rating


def make_coverage(source: Source) -> Mapping[str, Any] | None:
    """The data of the section; None without ratings of sub-questions and without grades."""
    covered = [
        _pack_coverage(source, result) for result in source.results if _is_covered(result.folder)
    ]
    ranked = [
        _pack_ranking(source, result) for result in source.results if _is_ranked(result.folder)
    ]
    return {"covered": covered, "ranked": ranked} if covered or ranked else None


def _is_covered(folder: Path) -> bool:
    return (folder / POOLS).is_file()


def _is_ranked(folder: Path) -> bool:
    return (folder / RELEVANCE).is_file()


def _pack_coverage(source: Source, result: Result) -> dict[str, Any]:
    """The coverage of one results folder."""
    coverage, settings = read_coverage(Folder(result.folder, source.problems))
    views = {topic: TopicView(coverage, topic, settings) for topic in coverage.questions}
    taus = measure_taus(coverage, settings)
    tau = taus.get(COVERAGE)
    return {
        "folder": str(source.name_path(result.folder)),
        "eta": settings.eta,
        "k": settings.k,
        "topics": {topic: _topic(coverage, view) for topic, view in views.items()},
        "runs": {
            source.name_run(result.folder, run): {
                topic: _steps(views[topic], rankings[topic]) for topic in views if topic in rankings
            }
            for run, rankings in coverage.rankings.items()
        },
        "means": _means(source, result),
        "tau": tau and {"value": tau.tau.value, "low": tau.tau.low, "high": tau.tau.high},
    }


def _topic(coverage: CoverageData, view: TopicView) -> dict[str, Any]:
    """Ratings by passage, one character a sub-question, and how many runs retrieved an answer."""
    eta = view.settings.eta
    ratings = view.matrix(view.judged)
    contexts = {
        run: view.matrix(rankings[view.topic_id][: view.k])
        for run, rankings in coverage.rankings.items()
        if view.topic_id in rankings
    }
    by_question = [
        [run for run, context in contexts.items() if (context[:, i] >= eta).any()]
        for i in range(len(view.question_ids))
    ]
    return {
        "questions": [question.text for question in coverage.questions[view.topic_id].questions],
        "answerable": [None if np.isnan(x) else int(x) for x in view.answerable],
        "n_runs": len(contexts),
        "n_answering": [len(runs) for runs in by_question],
        "passages": list(view.judged),
        "ratings": ["".join(map(_character, row)) for row in ratings],
        "required": list(view.required),
        "n_missing": int(np.isnan(ratings).sum()),
    }


def _character(rating: np.float64) -> str:
    return _UNKNOWN if np.isnan(rating) else f"{rating:.0f}"


def _steps(view: TopicView, ranked: tuple[str, ...]) -> dict[str, Any]:
    steps = list(view.steps(ranked))
    coverage = [_round(step["coverage"]) for step in steps]
    return {"coverage": coverage, "passages": [step["passage_id"] for step in steps]}


def _round(value: Any) -> Any:
    return round(value, 4) if isinstance(value, float) else value


def _means(source: Source, result: Result) -> list[dict[str, Any]]:
    """By run, the mean coverage of its contexts and of its reports."""
    rows: dict[str, dict[str, Any]] = {}
    for row in result.scores:
        if (
            row.topic_id == "all"
            and row.run_id not in ORACLES
            and row.measure in (COVERAGE, REPORT)
        ):
            run = source.name_run(result.folder, row.run_id)
            rows.setdefault(run, {"run": run})[row.measure] = row.value
    return list(rows.values())


def _pack_ranking(source: Source, result: Result) -> dict[str, Any]:
    """The means of the ranking measures of one folder of graded candidates."""
    rows: dict[str, dict[str, Any]] = {}
    for row in result.scores:
        if row.topic_id == "all" and row.measure in RANKING_MEASURES:
            run = source.name_run(result.folder, row.run_id)
            rows.setdefault(run, {"run": run, "n": row.n, "n_unjudged": row.n_unjudged})
            rows[run][row.measure] = row.value
    return {"measures": list(RANKING_MEASURES), "runs": list(rows.values())}
