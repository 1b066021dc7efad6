"""The figures that the coordinator sees, computed from journals only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from itertools import combinations
from typing import Any

from ....metrics.label_agreement import pairwise_intervals, pairwise_kappa
from ....records.kinds import Cell
from ..store.kinds import Kind
from ..store.state import State
from .judged import Judged
from .quality import anchoring, self_agreement, speed
from .random_labels import RandomLabels, random_labels
from .scores import live_scores
from .settings import LiveSettings

_RESAMPLES = 400  # of topics: the page shows two digits


def figures(
    judged: Judged | None, states: Mapping[str, State], settings: LiveSettings
) -> dict[str, Any]:
    """The figures, ready for JSON.

    Args:
        judged: the judged items; None for a kind without scores.
        states: the state of each annotator.
    """
    human = random_labels(states, settings.kind, settings.condition)
    measures, reason = [], None
    if judged is None:
        reason = f"labels of {settings.kind} do not give a score"
    elif not human.labels:
        reason = "no randomly drawn item has a label yet"
    else:
        scores = live_scores(
            judged, human.labels, half_width=settings.half_width, level=settings.level
        )
        measures = [one.as_dict() for one in scores]
    people = [_person(name, state, settings.kind) for name, state in states.items()]
    return {
        "measures": measures,
        "reason": reason,
        "level": settings.level,
        "half_width": settings.half_width,
        "condition": settings.condition,
        "agreement": None if judged is None else _agreement(judged, human, settings.level),
        "anchoring": _anchoring(judged, states, settings),
        "people": people,
        "cost": _cost(people),
        "n_disputed": human.n_disputed,
        "n_not_random": human.n_other,
        "of_labels": len(human.labels),
        "computed_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _agreement(judged: Judged, human: RandomLabels, level: float) -> dict[str, Any]:
    """The judge's kappa with people, and people's kappa with each other: the ceiling."""
    items = judged.items
    is_graded = judged.is_ordered and len(items.scale) > 2
    weights = "quadratic" if is_graded else "unweighted"
    cells = [
        cell
        for cell, label in human.labels.items()
        if label is not None and cell in judged.index and judged.is_judged[judged.index[cell]]
    ]
    people = [human.labels[cell] for cell in cells]
    judge = [items.labels[judged.index[cell]] for cell in cells]
    shared = [cell for cell in cells if sum(cell in own for own in human.by_person.values()) > 1]
    own = [[labels.get(cell) for cell in shared] for labels in human.by_person.values()]
    pairs = list(combinations(own, 2))  # people without a shared item have no kappa
    at = items.key_names.index("topic_id")

    def kappa(
        of: Sequence[tuple[Sequence[str | None], Sequence[str | None]]], on: Sequence[Cell]
    ) -> dict[str, Any]:
        n = {"n": len(on)}
        if not of or not on:
            return {"value": None, "lo": None, "hi": None, **n}
        kappas = pairwise_kappa(of, items.scale)
        topics = [cell[at] for cell in on]
        drawn = pairwise_intervals(
            kappas, of, items.scale, topics, resamples=_RESAMPLES, level=level
        )[weights]
        return {"value": drawn.value, "lo": drawn.low, "hi": drawn.high, **n}

    name = "Cohen's kappa" + (", quadratic weights" if is_graded else "")
    return {"name": name, "kappa": kappa([(people, judge)], cells), "ceiling": kappa(pairs, shared)}


def _anchoring(
    judged: Judged | None, states: Mapping[str, State], settings: LiveSettings
) -> dict[str, Any] | None:
    """How people handled shown labels; None if no label was shown."""
    if settings.condition != "post_edit":
        return None
    labels = [
        one for state in states.values() for one in state.labels() if one.kind == settings.kind
    ]

    def get_label(cell: Cell) -> str | None:
        at = None if judged is None else judged.index.get(cell)
        return None if judged is None or at is None else judged.items.labels[at]

    return asdict(anchoring(labels, get_label))


def _person(name: str, state: State, kind: Kind) -> dict[str, Any]:
    """The progress and speed of a person, over their labels of both conditions."""
    labels = [label for label in state.labels() if label.kind == kind]
    timed = [label.active_ms for label in labels if label.active_ms]
    labelled = {label.cell for label in labels}
    return {
        "annotator": name,
        "labels": len(labels),
        "cannot_tell": sum(label.label is None for label in labels),
        "flagged": sum(flag.kind == kind for flag in state.flags()),
        "skipped": sum(
            skip.kind == kind and skip.cell not in labelled for skip in state.list_skipped()
        ),
        "active_ms": sum(timed),
        "n_timed": len(timed),
        "per_hour": 3_600_000 * len(timed) / sum(timed) if timed else None,
        "speed": asdict(speed(labels)),
        "self_agreement": asdict(self_agreement([labels])),
    }


def _cost(people: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The time per label of all people together."""
    n, ms = (sum(one[name] for one in people) for name in ("n_timed", "active_ms"))
    return {"seconds_per_label": ms / n / 1_000 if n else None, "hours": ms / 3_600_000}
