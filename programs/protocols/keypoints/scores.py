"""Scores of key points: per answer on the scoreboard, and per group of topics or answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ....metrics import KEY_POINT_MEASURES, Value
from ....metrics.answer_scores import IN_0_TO_1, not_made
from ....metrics.key_points import (
    by_length,
    group_means,
    key_point_f1,
    key_point_precision,
    key_point_recall,
    micro_recall,
)
from ....records.key_points import ClaimSet, read_claims, read_entailments
from ....records.rows import Topic
from ..measure_values import is_of_answered
from ..program import Folder

# Keys of the manifest: topics without key points; those whose points could not be made, and (run,
# topic) of the answers to them.
LEFT_OUT, UNMADE = "topics_without_key_points", "cells_without_key_points"
UNMADE_TOPICS = "topics_with_unmade_key_points"


@dataclass
class KeyPointCell:
    """What was judged of one answer.

    Attributes:
        labels: yes, neutral, no or None (not judged) of each key point; None for the whole: the
            key points of its topic, or the answer itself, could not be made.
        claims: of the answer, with `is_precise`; None: they are missing.
        is_precise: whether claims were asked for.
    """

    topic_id: str
    run_id: str
    labels: list[str | None] | None = field(default_factory=list)
    claims: ClaimSet | None = None
    is_precise: bool = False

    def values(self) -> dict[str, Value]:
        """KPR, and KPP and KPF where claims were asked for."""
        if self.labels is None:
            return dict.fromkeys(KEY_POINT_MEASURES if self.is_precise else ("KPR",), not_made())
        recall = key_point_recall(self.labels)
        if not self.is_precise:
            return {"KPR": recall}
        has_claims = self.claims is not None and self.claims.claims is not None
        labels = [c.label for c in self.claims.claims or ()] if self.claims is not None else []
        precision = key_point_precision(labels if has_claims else None)
        both = key_point_f1(recall, precision)
        is_zero = recall.is_complete and recall.value == 0
        if precision.value is None and not (both.is_undefined or is_zero):
            # Of an answer without a claim it is 0/0, and no part of the mean, or 0.
            both = Value(None, both.n, both.n_unjudged, 0.0, 1.0)
        return {"KPR": recall, "KPP": precision, "KPF": both}


def read_cells(folder: Folder) -> list[KeyPointCell]:
    """What was judged of every answer."""
    cells: dict[tuple[str, str], KeyPointCell] = {}
    for row in read_entailments(folder.need("entailments.jsonl"), folder.problems):
        cell = cells.setdefault((row.run_id, row.topic_id), KeyPointCell(row.topic_id, row.run_id))
        if cell.labels is not None:
            cell.labels.append(row.label)
    left_out = folder.notes.get(LEFT_OUT, ())
    unmade = (cell for cell in folder.not_made if cell[1] not in left_out)
    for run_id, topic_id in (*folder.notes.get(UNMADE, ()), *unmade):
        cells[run_id, topic_id] = KeyPointCell(topic_id, run_id, labels=None)
    if (path := folder.file("claims.jsonl")) is not None:
        for cell in cells.values():
            cell.is_precise = True
        for claims in read_claims(path, folder.problems):
            if (claims.run_id, claims.topic_id) in cells:
                cells[claims.run_id, claims.topic_id].claims = claims
    folder.problems.raise_errors()
    return list(cells.values())


def group_rows(
    cells: Sequence[KeyPointCell],
    topics: Sequence[Topic],
    n_points: Mapping[str, int],
    lengths: Mapping[tuple[str, str], int],
) -> Iterator[dict[str, Any]]:
    """Rows of each run: means by domain, category and length of its answers, and micro recall.

    Args:
        topics: those that every run has to answer.
        n_points: key points of each topic whose points are known; those of others are in no micro
            recall, which is then open.
        lengths: words of the answers, by topic and run; not of those that were not made.

    `by` says what the groups are, `group` which one; of length it is the fewest to the most words
    of a quarter of the run's answers, and `all` has Spearman's correlation of length and KPR.
    """
    by_run: dict[str, list[KeyPointCell]] = {}
    for cell in cells:
        by_run.setdefault(cell.run_id, []).append(cell)
    groups = {
        "domain": {topic.id: topic.domain for topic in topics},
        "category": {topic.id: topic.category for topic in topics},
    }
    unknown = [topic.id for topic in topics if topic.id not in n_points]
    for run_id, own in sorted(by_run.items()):
        values = {cell.topic_id: cell.values() for cell in own}
        for measure in dict.fromkeys(name for of_topic in values.values() for name in of_topic):
            of_measure = {t: v[measure] for t, v in values.items() if measure in v}
            every = None
            if not is_of_answered(measure):
                every = [topic.id for topic in topics]
                absent = dict.fromkeys(unknown, not_made(value=0.0))
                of_measure = absent | of_measure
            for by, names in groups.items():
                if any(names.values()):
                    for group, (mean, n) in group_means(of_measure, names, every).items():
                        yield _row(run_id, by, group, measure, mean, n)
        labels: dict[str, Sequence[str | None]] = {t: ["neutral"] * n for t, n in n_points.items()}
        for cell in own:
            if cell.topic_id in n_points:
                own_labels = cell.labels
                labels[cell.topic_id] = own_labels or [None] * n_points[cell.topic_id]
        micro = micro_recall(labels)
        if unknown:
            micro = micro.widened(IN_0_TO_1, len(unknown))
        yield _row(run_id, "micro", "all", "KPR", micro, len(labels))
        with_length = [cell for cell in own if (cell.topic_id, run_id) in lengths]
        recalls = [values[cell.topic_id]["KPR"] for cell in with_length]
        quarters = by_length(recalls, [lengths[cell.topic_id, run_id] for cell in with_length])
        for part in quarters.bins:
            group, mean = f"{part.shortest:.0f}-{part.longest:.0f}", part.mean
            if n_lost := len(own) - len(with_length):  # nobody knows in which
                mean = mean.widened(IN_0_TO_1, n_lost)
            yield _row(run_id, "length", group, "KPR", mean, part.n)
        row = {"run_id": run_id, "by": "length", "group": "all", "measure": "spearman_KPR"}
        yield {**row, "value": quarters.spearman, "n_topics": quarters.n}


def _row(
    run_id: str, by: str, group: str, measure: str, value: Value, n_topics: int
) -> dict[str, Any]:
    row = {"run_id": run_id, "by": by, "group": group, "measure": measure}
    return {**row, **asdict(value), "n_topics": n_topics}
