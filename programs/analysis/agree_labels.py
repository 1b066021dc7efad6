"""How far two files of labels agree, and how far the annotators of one agree among themselves."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...metrics import agreement, pairwise_kappa, reliability
from ...metrics.inference import Draws, Interval
from ...metrics.label_agreement import (
    agreement_intervals,
    cohen_kappas,
    pairwise_intervals,
    reliability_intervals,
)
from ...records.kinds import Cell, LabelFile, check_labelled, check_same_things, known_scale
from ...records.labels import cell_run_aliases, with_run_names
from ...records.reading.problems import InputError
from .scales import check_scales
from .verified import verified_figures


def agree_labels(
    truth: LabelFile, other: LabelFile, human: Path, judged: Path, draws: Draws
) -> dict[str, Any]:
    """Compare the labels of the cells that both have; the paths are for messages."""
    check_same_things(human, truth.key_names, judged, other.key_names)
    aliases = cell_run_aliases(truth.cells, other.cells, truth.key_names)
    other = with_run_names(other, aliases)
    cells = other.cells
    shared = sorted(truth.cells.keys() & cells.keys())
    if not shared:
        check_labelled(truth, human)
        check_labelled(other, judged)
        raise InputError(f"{human} and {judged}: no cell in common{_why_none(truth, cells)}")
    beware = check_scales(truth, other, human, judged)
    scale, topics = joint_scale(truth.scale, other.scale), topics_of(shared, truth.key_names)
    labels = [truth.cells[c] for c in shared], [cells[c] for c in shared]
    pairs = agreement(*labels, scale)
    verified = verified_figures(other.votes, cells, truth.cells, shared, topics, draws)
    return {
        "kind": truth.kind,
        **pairs.as_dict(),
        "n_human_only": len(truth.cells) - len(shared),
        "n_judged_only": len(cells) - len(shared),
        "n_human_unlabelled": truth.n_unlabelled,
        "n_judged_unlabelled": other.n_unlabelled,
        "scale_note": beware,
        "run_aliases": aliases,
        "n_topics": len(set(topics or ())),
        "by_topic": _by_topic(*labels, topics, scale),
        "intervals": plain(agreement_intervals(pairs, *labels, topics, **draws)),
        "annotators": _annotators(truth, scale, draws, cells),
        **({"verified": verified} if verified is not None else {}),
    }


def agree_annotators(labels: LabelFile, path: Path, draws: Draws) -> dict[str, Any]:
    """Compare the annotators of one file with each other."""
    annotators = _annotators(labels, labels.scale, draws)
    if annotators is None:
        check_labelled(labels, path)
        what = "wanted labels of 2 or more annotators, or a second file to compare with"
        raise InputError(f"{path}: no rows of several annotators (field 'annotator'), {what}")
    return {"kind": labels.kind, "scale": list(labels.scale), "annotators": annotators}


def _by_topic(
    truth: Sequence[str], judged: Sequence[str], topics: Sequence[str] | None, scale: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """By topic how many cells, the share of equal labels, and Cohen's kappa by weights."""
    rows: dict[str, list[tuple[str, str]]] = {}
    for topic, pair in zip(topics or (), zip(truth, judged, strict=True), strict=False):
        rows.setdefault(topic, []).append(pair)
    return {
        topic: {
            "n": len(pairs),
            "accuracy": sum(one == other for one, other in pairs) / len(pairs),
            "cohen_kappa": cohen_kappas([a for a, _ in pairs], [b for _, b in pairs], scale),
        }
        for topic, pairs in rows.items()
    }


def joint_scale(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The longer scale if it holds the shorter, else both: a known one, or one after the other."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if set(shorter) <= set(longer):
        return longer
    both = tuple(dict.fromkeys((*one, *other)))
    return known_scale("other", set(both)) or both


def topics_of(cells: Sequence[Cell], key_names: Sequence[str]) -> list[str] | None:
    """The topic of each cell; None where cells have none."""
    if "topic_id" not in key_names:
        return None
    at = key_names.index("topic_id")
    return [cell[at] for cell in cells]


def plain(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Intervals, however nested, ready for JSON."""
    return {
        name: asdict(value) if isinstance(value, Interval) else plain(value)
        for name, value in intervals.items()
    }


def _annotators(
    labels: LabelFile,
    scale: Sequence[str],
    draws: Draws,
    judged: Mapping[Cell, str] | None = None,
) -> dict[str, Any] | None:
    """Agreement among annotators, of the items that the judge judged too; None without any.

    Items without a majority are among them: leaving those out would flatter the annotators.
    """
    items = sorted(labels.annotations if judged is None else labels.annotations.keys() & judged)
    names = sorted({name for cell in items for name in labels.annotations[cell]})
    if len(names) < 2:
        return None
    ratings = [[labels.annotations[cell].get(name) for cell in items] for name in names]
    topics = topics_of(items, labels.key_names)
    among = reliability(ratings, scale)
    intervals = reliability_intervals(among, ratings, scale, topics, **draws)
    fields = {
        "names": names,
        "n_topics": len(set(topics or ())),
        "among": {**among.as_dict(), "intervals": plain(intervals)},
        "judge": None,
    }
    if judged is not None:
        verdicts = [judged[cell] for cell in items]
        pairs = [(verdicts, labels_of_one) for labels_of_one in ratings]
        with_each = pairwise_kappa(pairs, scale)
        by_annotator = [cohen_kappas(*pair, scale) for pair in pairs]
        fields["judge"] = {
            **asdict(with_each),
            "by_annotator": dict(zip(names, by_annotator, strict=True)),
            "pooled": _pooled(verdicts, ratings, scale, topics, draws),
            "intervals": plain(pairwise_intervals(with_each, pairs, scale, topics, **draws)),
        }
    return fields


def _pooled(
    verdicts: Sequence[str],
    ratings: Sequence[Sequence[str | None]],
    scale: Sequence[str],
    topics: Sequence[str] | None,
    draws: Draws,
) -> dict[str, Any]:
    """The judge against every single label: those of all annotators, each a pair of its own."""
    at = [(i, of_one[i]) for of_one in ratings for i in range(len(verdicts))]
    pairs = [(label, verdicts[i], topics and topics[i]) for i, label in at if label is not None]
    labels, judged, of = (list(column) for column in zip(*pairs, strict=True))
    estimates = agreement(labels, judged, scale)
    names = ("precision", "recall", "f1")
    intervals = agreement_intervals(estimates, labels, judged, topics and of, **draws)
    fields = estimates.as_dict()
    return {
        **{name: fields[name] for name in ("n", "confusion", *names)},
        "intervals": plain({name: intervals[name] for name in names}),
    }


def _why_none(truth: LabelFile, judged: Collection[Cell]) -> str:
    n_ids = len(truth.key_names) - 1
    if truth.kind == "nuggets" and {c[:n_ids] for c in truth.cells} & {c[:n_ids] for c in judged}:
        how = "judge with --nuggets and the bank of the first"
        return f", for they hold different nuggets for the same answers; {how}"
    return "; do their ids agree?"
