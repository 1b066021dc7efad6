"""Agreement of two files of labels, and of the annotators of one file."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...metrics import agreement, pairwise_kappa, reliability
from ...metrics.inference import LEVEL, Draws, Interval, mean_by_topic
from ...metrics.label_agreement import (
    agreement_intervals,
    cohen_kappas,
    pairwise_intervals,
    reliability_intervals,
)
from ...records.kinds import (
    FIRST,
    VERIFIER,
    Cell,
    LabelFile,
    check_labelled,
    check_same_things,
    find_kind,
    find_scale,
)
from ...records.labels import cell_run_aliases, with_run_names
from ...records.reading.problems import InputError
from ..protocols.table import programs


def agree_labels(
    truth: LabelFile, other: LabelFile, human: Path, judged: Path, draws: Draws
) -> dict[str, Any]:
    """Compare the labels of common items; the paths are for messages."""
    check_same_things(human, truth.key_names, judged, other.key_names)
    aliases = cell_run_aliases(truth.cells, other.cells, truth.key_names)
    other = with_run_names(other, aliases)
    cells = other.cells
    shared = sorted(truth.cells.keys() & cells.keys())
    if not shared:
        check_labelled(truth, human)
        check_labelled(other, judged)
        raise InputError(f"{human} and {judged}: no item in common{_why_none(truth, cells)}")
    has_two_scales, beware = check_scales(truth, other, human, judged)
    scale, topics = join_scales(truth.scale, other.scale), get_topics(shared, truth.key_names)
    labels = [truth.cells[c] for c in shared], [cells[c] for c in shared]
    pairs = agreement(*labels, scale)
    verified = measure_verification(other.votes, cells, truth.cells, shared, topics, draws)
    return {
        "kind": truth.kind,
        **pairs.as_dict(),
        "n_human_only": len(truth.cells) - len(shared),
        "n_judged_only": len(cells) - len(shared),
        "n_human_unlabelled": truth.n_unlabelled,
        "n_judged_unlabelled": other.n_unlabelled,
        "scale_note": beware,
        "has_two_scales": has_two_scales,
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
        what = "wanted labels of 2 or more annotators, or a second file"
        raise InputError(f"{path}: no rows of several annotators (field 'annotator'), {what}")
    return {"kind": labels.kind, "scale": list(labels.scale), "annotators": annotators}


def _by_topic(
    truth: Sequence[str], judged: Sequence[str], topics: Sequence[str] | None, scale: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Return by topic the number of items, the share of equal labels, and Cohen's kappas."""
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


def join_scales(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """Join two scales: the longer if it contains the shorter, else a known or combined scale."""
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    if set(shorter) <= set(longer):
        return longer
    both = tuple(dict.fromkeys((*one, *other)))
    return find_scale("other", set(both)) or both


def get_topics(cells: Sequence[Cell], key_names: Sequence[str]) -> list[str] | None:
    """Return the topic of each item; None if items have none."""
    if "topic_id" not in key_names:
        return None
    at = key_names.index("topic_id")
    return [cell[at] for cell in cells]


def plain(intervals: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested intervals ready for JSON."""
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
    """Return agreement among annotators on items that the judge judged too; None without any.

    Items without a majority are included: without them, annotators would look better.
    """
    items = sorted(labels.annotations if judged is None else labels.annotations.keys() & judged)
    names = sorted({name for cell in items for name in labels.annotations[cell]})
    if len(names) < 2:
        return None
    ratings = [[labels.annotations[cell].get(name) for cell in items] for name in names]
    topics = get_topics(items, labels.key_names)
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
            "pooled": _pool(verdicts, ratings, scale, topics, draws),
            "intervals": plain(pairwise_intervals(with_each, pairs, scale, topics, **draws)),
        }
    return fields


def _pool(
    verdicts: Sequence[str],
    ratings: Sequence[Sequence[str | None]],
    scale: Sequence[str],
    topics: Sequence[str] | None,
    draws: Draws,
) -> dict[str, Any]:
    """Compare the judge with every single label of all annotators."""
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
    given = next((name for one in programs() if one.kind == truth.kind for name in one.makes), None)
    if given and {c[:n_ids] for c in truth.cells} & {c[:n_ids] for c in judged}:
        kind = find_kind(truth.kind)
        many = (kind and kind.many) or truth.kind
        how = f"judge with those of the first (data.{given})"
        return f", for they hold different {many} for the same answers; {how}"
    return "; do their ids agree?"


_MANY = 20  # from this many items on, an unused label is not an accident
_SHOWN = 8  # labels of a scale in messages
_CUT = "--cut LABEL,LABEL makes both binary, a label for each file"


def check_scales(
    truth: LabelFile, other: LabelFile, human: Path, judged: Path
) -> tuple[bool, str | None]:
    """Return whether two files have different labels, and a warning if they may have two scales.

    Scales of typed files are known. For other files, the scale is the set of used labels, so a
    longer scale on the other side may be the same or another scale.

    Raises: InputError if no coefficient makes sense: no common label, other labels than those of
        the kind, or binary labels (0, 1) against ratings (0 to 5).
    """
    scales = {human: truth.scale, judged: other.scale}
    both = " and ".join(f"{path} has {_name_scale(scale)}" for path, scale in scales.items())
    if not set(truth.scale) & set(other.scale):
        raise InputError(f"{both}: no label in common; {_CUT}")
    kind = find_kind(truth.kind)
    if kind is not None and kind.coarse and truth.scale != other.scale:
        graded = max(truth.scale, other.scale, key=len)
        if kind.coarse in scales.values():
            how = f"such as --cut {'1,3' if graded == other.scale else '3,1'}"
            raise InputError(f"{both}: binary labels and ratings; {_CUT}, {how}")
    if set(truth.scale) != set(other.scale):
        is_known = kind is not None and not kind.has_more_grades and other.scale == kind.labels
        if is_known and set(truth.scale) - set(other.scale):
            raise InputError(f"{both}: two scales; {_CUT}")
        what = "coefficients use all of these labels; if these are two scales"
        return True, f"{both}: {what}, {_CUT}"
    for file, path, more, graded_path in (
        (truth, human, other, judged),
        (other, judged, truth, human),
    ):
        used = [label for label in file.scale if label in {*file.cells.values()}]
        if len(used) == 2 and len(file.cells) >= _MANY and len({*more.cells.values()}) > 2:
            what = f"{path} uses only {used[0]} and {used[1]}, {graded_path} more labels"
            return False, f"{what}; if its scale has two labels, {_CUT}"
    return False, None


def _name_scale(scale: Sequence[str]) -> str:
    is_range = len(scale) > 2 and all(label.lstrip("-").isdecimal() for label in scale)
    if is_range:
        return f"{scale[0]} to {scale[-1]}"
    return ", ".join(scale[:_SHOWN]) + ", ..." * (len(scale) > _SHOWN)


Votes = Mapping[str, str | None]


def measure_verification(
    votes: Mapping[Cell, Votes],
    labels: Mapping[Cell, str],
    truth: Mapping[Cell, str],
    cells: Sequence[Cell],
    topics: Sequence[str] | None,
    draws: Draws,
) -> dict[str, Any] | None:
    """Measure the effect of verification on labels; None if nothing was verified.

    Args:
        votes: the judge's votes by item; verified items have `first` and `verifier`.
        labels: the final labels. truth: human labels. cells: items with both.
        topics: the topic of each of `cells`; None: unknown, so there is no interval.

    Returns: `n_verified` and `n_changed` of all labels of the judge; for `cells`, the changes
        `wrong_to_right`, `right_to_wrong` and `wrong_to_wrong`; and `difference`, the share of
        right labels after minus before verification, with a leave-one-topic-out interval.
        `helped`: True if it is above 0, False if below; None: it may be 0.
    """
    first = {cell: of[FIRST] for cell, of in votes.items() if VERIFIER in of and FIRST in of}
    if not first:
        return None
    before = [first.get(cell, labels[cell]) == truth[cell] for cell in cells]
    after = [labels[cell] == truth[cell] for cell in cells]
    changed = [cell in first and first[cell] != labels[cell] for cell in cells]
    moves = [(old, new) for old, new, is_new in zip(before, after, changed, strict=True) if is_new]
    gain = np.array(after, np.float64) - np.array(before, np.float64)
    difference = mean_by_topic(gain, topics, level=draws.get("level", LEVEL))
    if topics is None:
        difference = replace(difference, n_topics=0)
    low, high = difference.low, difference.high
    has_sign = low is not None and high is not None and not low <= 0 <= high
    return {
        "n_verified": len(first),
        "n_changed": sum(label != labels.get(cell) for cell, label in first.items()),
        "wrong_to_right": moves.count((False, True)),
        "right_to_wrong": moves.count((True, False)),
        "wrong_to_wrong": moves.count((False, False)),
        "n": len(cells),
        "difference": asdict(difference),
        "helped": difference.value > 0 if has_sign and difference.value is not None else None,
    }
