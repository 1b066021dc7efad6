"""How reports use their contexts: which answers were retrieved but not used, or not retrieved."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ....programs.config.sections import CoverageConfig
from ....programs.protocols.coverage.topic import CoverageData, TopicView

USED, UNUSED, UNRETRIEVED, NEITHER = "used", "not used", "not retrieved", "neither"


@dataclass(frozen=True)
class Use:
    """One answerable sub-question of a run: answered by its context, by its report, or not.

    Attributes:
        kind: used (both answer), not used (only the context does), not retrieved (only the report
            does), or neither; None: unknown, since a rating is missing: of the text, or of whether
            the question is answerable.
        passage_id: the first passage of the context that answers; None if no passage does.
        report_rating: 0 to 5; None: missing, or the report has no text.
    """

    run_id: str
    topic_id: str
    question_id: str
    question: str
    kind: str | None
    passage_id: str | None
    report_rating: int | None


def find_uses(data: CoverageData, settings: CoverageConfig) -> Iterator[Use]:
    """Yield every question that is or may be answerable, of every run with a context and a report.

    Topics without a context or report of the run are left out.
    """
    for topic_id in data.questions:
        view = TopicView(data, topic_id, settings)
        for run_id, rankings in data.rankings.items():
            reports = data.reports.get(run_id, {})
            if topic_id in rankings and topic_id in reports:
                yield from _find_uses(view, data, run_id, rankings[topic_id], reports[topic_id])


def _find_uses(
    view: TopicView, data: CoverageData, run_id: str, ranking: tuple[str, ...], report: str | None
) -> Iterator[Use]:
    eta, ids = view.settings.eta, ranking[: view.k]
    context = view.matrix(ids)
    of_report = np.zeros(len(view.answerable)) if report is None else view.matrix([report])[0]
    for i, question in enumerate(data.questions[view.topic_id].questions):
        if view.answerable[i] == 0:
            continue
        answering = [name for name, rating in zip(ids, context[:, i], strict=True) if rating >= eta]
        rating = of_report[i]
        is_open = bool(np.isnan([view.answerable[i], rating]).any())
        is_open |= not answering and bool(np.isnan(context[:, i]).any())
        yield Use(
            run_id,
            view.topic_id,
            question.id,
            question.text,
            None if is_open else _name(bool(answering), bool(rating >= eta)),
            answering[0] if answering else None,
            None if report is None or np.isnan(rating) else int(rating),
        )


def _name(is_retrieved: bool, is_reported: bool) -> str:
    if is_retrieved:
        return USED if is_reported else UNUSED
    return UNRETRIEVED if is_reported else NEITHER
