"""Did the instrument move, or the systems? Two versions of a judge linked by anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....metrics.bootstrap import LEVEL
from ....metrics.drift import (
    HELD,
    MOVED,
    UNKNOWN,
    Anchors,
    Drift,
    Side,
    drift,
    mean_by_topic,
    status,
)
from ....records.reading.problems import InputError, Problems
from ...protocols.judged_files import are_ordered
from ...protocols.judged_items import Measure
from ...scoring.corrected_measure import MIN_LABELS, MIN_TOPICS
from ..influence import MEASURES
from .versions import Version, Versions, read_versions

Floats = NDArray[np.float64]

MARGIN = 0.05  # of a score; less is no change that matters
# The verdict by whether the instrument, and the systems, moved.
_VERDICTS = {
    (MOVED, MOVED): "both moved",
    (MOVED, HELD): "the instrument moved",
    (HELD, MOVED): "the systems moved",
    (HELD, HELD): "neither moved",
}


def judge_drift(
    old: Path,
    new: Path,
    problems: Problems,
    *,
    labels: Path | None = None,
    where: Mapping[str, Sequence[str]] | None = None,
    kind: str | None = None,
    measures: Sequence[str] = (),
    margin: float = MARGIN,
    level: float = LEVEL,
) -> list[dict[str, Any]]:
    """Split what changed in the scores of two judgements into judge and systems.

    Args:
        old, new: results folders, or files of judgements.
        labels: labels of people; what they labelled and both judged are the anchors. None: all
            items that both judged.
        where: read only labels whose fields have one of these values.
        kind: of the judgements of folders, where there are no labels.
        measures: those wanted; empty: V_strict, A_strict or support_precision, else the first.
        margin: within +- this of 0 a change counts as none.
        level: of all intervals.

    Returns: one object a measure; see docs/trust/drift.md.
    Raises: InputError for fewer than 20 anchors or 5 topics with some, labels without an order, or
        judgements that are not of the same things.
    """
    if not 0 < margin < 1:
        raise InputError(f"--margin {margin}: wanted above 0 and below 1")
    both = read_versions(old, new, labels, problems, where or {}, kind)
    items = both.old.items
    if not are_ordered(items.kind, items.scale, old, new):
        raise InputError(f"{old}: no label is better than another, so no score can change")
    names = [
        m.name for m in items.measures if any(m.name == n.name for n in both.new.items.measures)
    ]
    if unknown := [name for name in measures if name not in names]:
        raise InputError(f"--measure {unknown[0]}: wanted one of {', '.join(names)}")
    first = next((name for name in MEASURES if name in names), names[0])
    return [
        _of_measure(both, name, labels is not None, margin, level) for name in measures or [first]
    ]


def _of_measure(
    both: Versions, name: str, is_labelled: bool, margin: float, level: float
) -> dict[str, Any]:
    ours, theirs = (
        next(measure for measure in version.items.measures if measure.name == name)
        for version in (both.old, both.new)
    )
    topics = sorted({*ours.topics, *theirs.topics})
    index = {topic: i for i, topic in enumerate(topics)}
    on = _anchors(both, ours, theirs, is_labelled)
    old, new = both.old.items, both.new.items
    at = [(both.old.index[cell], both.new.index[cell]) for cell in on]
    names = [old.topics[i] for i, _ in at]
    human = [both.old.human[i] for i, _ in at]
    pairs = [(old.labels[i] or "", new.labels[j] or "") for i, j in at]
    gains = ours.gains
    anchors = Anchors(
        topics=np.array([index[topic] for topic in names]),
        weights=np.array([ours.weights[i] for i, _ in at]),
        old=np.array([gains[one] for one, _ in pairs]),
        new=np.array([gains[other] for _, other in pairs]),
        human=np.array([np.nan if label is None else gains[label] for label in human]),
    )
    both_sides = (both.old, ours), (both.new, theirs)
    before, now = (_side(*each, index) for each in both_sides)
    estimates = drift(before, now, anchors, level=level)
    labels = [_counted(*each) for each in both_sides]
    n_unjudged = [of.count(None) for of in labels]
    instrument = status(estimates.instrument, margin)
    systems = HELD if both.is_same else status(estimates.systems, margin)
    equal = None
    if is_labelled:
        hits = [np.array([pair[k] == h for pair, h in zip(pairs, human, strict=True)], float)
                for k in (0, 1)]  # fmt: skip
        change = mean_by_topic(hits[1] - hits[0], names, level=level)
        one, other = (float(of_side.mean()) for of_side in hits)
        equal = {"old": one, "new": other, "change": asdict(change)}
    return {
        "measure": name,
        "verdict": _VERDICTS.get((instrument, systems), _half(instrument, systems)),
        "instrument": instrument,
        "systems": systems,
        "are_same_items": both.is_same,
        "margin": margin,
        "level": level,
        "runs": [sorted(both.old.runs), sorted(both.new.runs)],
        "n_topics": len(topics),
        "n_judged": [len(of) - n for of, n in zip(labels, n_unjudged, strict=True)],
        "n_unjudged": n_unjudged,
        "n_anchors": len(at),
        "n_anchor_topics": len(set(names)),
        "n_other_texts": both.n_changed,
        "has_labels": is_labelled,
        **_figures(estimates),
        "changed": float(np.mean([one != other for one, other in pairs])),
        "equal_to_human": equal,
    }


def _anchors(
    both: Versions, ours: Measure, theirs: Measure, is_labelled: bool
) -> list[tuple[str, ...]]:
    """The ids of what both judged, weighs in both scores and, if wanted, people labelled."""
    old, new = both.old, both.new
    candidates = [
        (cell, old.items.labels[i] is not None, new.items.labels[j] is not None)
        for cell in both.shared
        for i, j in [(old.index[cell], new.index[cell])]
        if not (is_labelled and old.human[i] is None)
        if ours.weights[i] > 0 and theirs.weights[j] > 0
    ]
    anchors = [cell for cell, *are_judged in candidates if all(are_judged)]
    n_topics = len({old.items.topics[old.index[cell]] for cell in anchors})
    if len(anchors) < MIN_LABELS or n_topics < MIN_TOPICS:
        what = "items with labels of people" if is_labelled else "items"
        wanted = f"wanted {MIN_LABELS} or more on {MIN_TOPICS} or more"
        n_old, n_new = (
            sum(was for _, was, _ in candidates),
            sum(is_now for *_, is_now in candidates),
        )
        why = f"of {len(candidates)} {what} that both have and that weigh in {ours.name}, {n_old} "
        why += f"judged in the old, {n_new} in the new"
        why += f"; {both.n_changed} more have other texts there" if both.n_changed else ""
        where = f"{old.path} and {new.path}: {len(anchors)} anchors on {n_topics} topics"
        raise InputError(f"{where}, {wanted} ({why})")
    return anchors


def _side(version: Version, measure: Measure, index: Mapping[str, int]) -> Side:
    """The mean of its runs by topic; what was not judged earns what its run does on average."""
    items, n_runs = version.items, len(version.runs)
    earned, weight = np.zeros(len(index)), np.zeros(len(index))
    of_run: dict[str, list[int]] = {}
    for i, run in enumerate(items.runs):
        if run in version.runs and measure.weights[i] > 0:
            of_run.setdefault(run, []).append(i)
    for at in of_run.values():
        topics = [index[items.topics[i]] for i in at]
        weights = measure.weights[at] / n_runs
        labels = [items.labels[i] for i in at]
        gains = np.array([np.nan if label is None else measure.gains[label] for label in labels])
        is_judged = ~np.isnan(gains)
        if not is_judged.any():
            what = "nothing of it was judged, so it has no score"
            raise InputError(f"{version.path}: run {items.runs[at[0]]!r}: {what}")
        mean = np.average(gains[is_judged], weights=weights[is_judged])
        np.add.at(earned, topics, weights * np.where(is_judged, gains, mean))
        np.add.at(weight, topics, weights)
    counted = set(measure.topics)
    return Side(earned, weight, np.array([topic in counted for topic in index]))


def _counted(version: Version, measure: Measure) -> list[str | None]:
    """The labels that the score of a side rests on; None: it lacks one."""
    items = version.items
    return [
        label
        for label, run, weight in zip(items.labels, items.runs, measure.weights, strict=True)
        if run in version.runs and weight > 0
    ]


def _half(instrument: str, systems: str) -> str:
    """The verdict where one of the two is not known."""
    if instrument == MOVED:
        return "the instrument moved; whether the systems did cannot be told"
    if systems == MOVED:
        return "the systems moved; whether the instrument did cannot be told"
    return UNKNOWN


def _figures(estimates: Drift) -> dict[str, Any]:
    raw, instrument, systems, bias_old, bias_new = (
        None if figure is None else asdict(figure)
        for figure in (
            estimates.raw,
            estimates.instrument,
            estimates.systems,
            estimates.bias_old,
            estimates.bias_new,
        )
    )
    return {
        "score": {"old": estimates.score_old, "new": estimates.score_new, "change": raw},
        "judge_less_human": {"old": bias_old, "new": bias_new},
        "instrument_change": instrument,
        "systems_change": systems,
    }
