"""How good the ranking of the candidates is by the grades that a judge gave them."""

from __future__ import annotations

from collections.abc import Mapping

from ...metrics import Value, ranking_scores
from ...records.rows import Ranking, ScoreRow
from .scoreboard import Scoreboard

# arXiv:2406.06519 feeds its grades to such measures; computed by ir_measures.
RANKING_MEASURES = ("nDCG@10", "P(rel=2)@10", "AP(rel=2)")

# topic -> passage -> grade; None: asked and not judged
Grades = Mapping[str, Mapping[str, int | None]]


def ranking_rows(grades: Grades, candidates: Mapping[str, Ranking]) -> list[ScoreRow]:
    """Score rows of the candidates, each measure followed by its mean over topics.

    A passage without a grade is taken out of the ranking, since ir_measures would read it as not
    relevant; a topic that has one is bounded by 0 and 1. Topics stand in the order of `grades`.
    """
    judged = {
        topic: {name: grade for name, grade in of_topic.items() if grade is not None}
        for topic, of_topic in grades.items()
    }
    run = {
        topic: [name for name in candidates[topic].passage_ids if name in labelled]
        for topic, labelled in judged.items()
        if labelled
    }
    unmade = [topic for topic, ranking in candidates.items() if ranking.not_made is not None]
    if not (grades or unmade):
        return []
    scores = ranking_scores(judged, run, RANKING_MEASURES).by_topic if run else {}
    run_id = next(iter(candidates.values())).run_id
    board = Scoreboard([*grades, *unmade])
    board.leave_unmade(((run_id, topic) for topic in unmade), RANKING_MEASURES)
    for topic, of_topic in grades.items():
        n = len(judged[topic])
        for measure in RANKING_MEASURES:
            value = scores.get(measure, {}).get(topic)
            low, high = (value, value) if n == len(of_topic) else (0.0, 1.0)
            board.add(run_id, topic, {measure: Value(value, n, len(of_topic) - n, low, high)})
    return list(board.rows())
