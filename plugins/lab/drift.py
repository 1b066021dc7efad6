"""`judge drift`: did the judge change, or the systems? Compares two versions through anchors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...metrics.inference import LEVEL, mean_by_topic
from ...programs.analysis.cell_texts import REMARKS, cell_texts
from ...programs.analysis.tables.words import (
    count,
    join_words,
    name_level,
    write_estimate,
)
from ...programs.protocols.judged_files import are_ordered, kinds_in
from ...programs.protocols.judged_items import JudgedItems, Measure
from ...programs.protocols.program import Texts
from ...programs.scoring.corrected_measure import MIN_LABELS, MIN_TOPICS
from ...programs.scoring.human_labels import human_labels, read_items
from ...records.columns import TableOptions
from ...records.kinds import Cell
from ...records.labels import read_labels
from ...records.reading.problems import InputError, Problems, cell
from ...views.numbers import format_given
from ...views.table import Column, Kind, Table, View
from .changes import HELD, MOVED, UNKNOWN, Anchors, Drift, Side, drift, status
from .columns import Fields, estimate, make_table, show

Floats = NDArray[np.float64]

# Preferred measures, if present.
_MEASURES = ("V_strict", "A_strict", "support_precision")
MARGIN = 0.05  # smaller changes of a score do not matter
# (judge, systems) -> the verdict in JSON, and the verdict that is printed.
_VERDICTS = {
    (MOVED, MOVED): ("both moved", "Both the judge and the systems changed"),
    (MOVED, HELD): ("the instrument moved", "The judge changed, the systems did not"),
    (MOVED, UNKNOWN): (
        "the instrument moved; whether the systems did cannot be told",
        "The judge changed; whether the systems did is unknown",
    ),
    (HELD, MOVED): ("the systems moved", "The systems changed, the judge did not"),
    (HELD, HELD): ("neither moved", "Neither the judge nor the systems changed"),
    (HELD, UNKNOWN): (UNKNOWN, "The judge did not change; whether the systems did is unknown"),
    (UNKNOWN, MOVED): (
        "the systems moved; whether the instrument did cannot be told",
        "The systems changed; whether the judge did is unknown",
    ),
    (UNKNOWN, HELD): (UNKNOWN, "The systems did not change; whether the judge did is unknown"),
    (UNKNOWN, UNKNOWN): (UNKNOWN, "The data cannot tell whether the judge or the systems changed"),
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
    how: TableOptions | None = None,
) -> list[dict[str, Any]]:
    """Split the change of scores between two sets of judgements into judge and systems.

    Args:
        old, new: results folders, or files of judgements.
        labels: labels of people; items that people and both judges labelled are the anchors. None:
            all items that both judged.
        where: field -> values that a row of labels must have.
        kind: the kind of judgements in folders, without labels.
        measures: names of measures; empty: V_strict, A_strict or support_precision, else the first.
        margin: a change whose interval is within +- this counts as none.
        level: confidence level of the intervals, in (0, 1).
        how: the columns, labels and missing values of a table of labels.

    Returns: one object per measure; see docs/trust/drift.md.
    Raises: InputError for fewer than 20 anchors or 5 topics with anchors, labels without an order,
        or judgements with different ids or labels.
    """
    if not 0 < margin < 1:
        raise InputError(f"--margin {margin}: wanted a number between 0 and 1")
    both = read_versions(old, new, labels, problems, where or {}, kind, how)
    items = both.old.items
    if not are_ordered(items.kind, items.scale, old, new):
        raise InputError(
            f"{old}: the labels have no order, so they give no score that could change"
        )
    names = [
        m.name for m in items.measures if any(m.name == n.name for n in both.new.items.measures)
    ]
    if unknown := [name for name in measures if name not in names]:
        raise InputError(f"--measure {unknown[0]}: wanted one of {', '.join(names)}")
    first = next((name for name in _MEASURES if name in names), names[0])
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
    labels = [_get_labels(*each) for each in both_sides]
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
        "verdict": _VERDICTS[instrument, systems][0],
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
    """The ids of items that both judged, that count in both scores and, if asked, have labels."""
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
        wanted = f"wanted at least {MIN_LABELS} on {MIN_TOPICS} topics"
        n_old, n_new = (
            sum(was for _, was, _ in candidates),
            sum(is_now for *_, is_now in candidates),
        )
        why = f"both have {len(candidates)} {what} that count in {ours.name}; the old results "
        why += f"judged {n_old} of them, the new results {n_new}"
        why += f"; {both.n_changed} more have different texts" if both.n_changed else ""
        where = f"{old.path} and {new.path}: {len(anchors)} anchors on {n_topics} topics"
        raise InputError(f"{where}; {wanted} ({why})")
    return anchors


def _side(version: Version, measure: Measure, index: Mapping[str, int]) -> Side:
    """The mean of a version's runs by topic; an unjudged item gets the mean gain of its run."""
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
            what = "has no judgements, so it has no score"
            raise InputError(f"{version.path}: run {items.runs[at[0]]!r} {what}")
        mean = np.average(gains[is_judged], weights=weights[is_judged])
        np.add.at(earned, topics, weights * np.where(is_judged, gains, mean))
        np.add.at(weight, topics, weights)
    counted = set(measure.topics)
    return Side(earned, weight, np.array([topic in counted for topic in index]))


def _get_labels(version: Version, measure: Measure) -> list[str | None]:
    """The labels from which the score of a side is computed; None: not judged."""
    items = version.items
    return [
        label
        for label, run, weight in zip(items.labels, items.runs, measure.weights, strict=True)
        if run in version.runs and weight > 0
    ]


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


@dataclass(frozen=True)
class Version:
    """The judgements of one version of the judge.

    Attributes:
        human: (n_items,) labels of people; None: not labelled.
        index: ids of an item -> its position.
        runs: the runs whose scores are compared.
    """

    path: Path
    items: JudgedItems = field(repr=False)
    human: Sequence[str | None] = field(repr=False)
    index: Mapping[Cell, int] = field(repr=False)
    runs: frozenset[str]


@dataclass(frozen=True)
class Versions:
    """Both versions, and the items that they have in common.

    Attributes:
        shared: ids of common items; `n_changed` more have the same ids and different texts.
        is_same: whether all items of the compared runs are common, with equal texts.
    """

    old: Version
    new: Version
    shared: list[Cell] = field(repr=False)
    n_changed: int
    is_same: bool


def read_versions(
    old: Path,
    new: Path,
    labels: Path | None,
    problems: Problems,
    where: Mapping[str, Sequence[str]],
    kind: str | None,
    how: TableOptions | None = None,
) -> Versions:
    """Read both versions, with labels of people if given.

    A run whose items are all equal in both versions cannot have changed. If each version also has
    other runs, those are compared: runs of the same name if there are any, else all of them. Runs
    that are not compared are listed. Items of any run may be anchors.

    Raises: InputError if the versions have judgements with different ids or scales.
    """
    if labels is None:
        chosen = kind or _find_kind(old, new)
        read = [read_items(path, chosen, problems) for path in (old, new)]
        human: list[Sequence[str | None]] = [[None] * len(items.cells) for items in read]
    else:
        joined = []
        for path in (old, new):
            own_problems = Problems()
            joined.append(
                human_labels(path, labels, own_problems, where, ignore_others=True, how=how)
            )
            problems.take(own_problems)  # problems of the labels are listed once
        read, human = [items for items, _ in joined], [labels_of for _, labels_of in joined]
    first, second = read
    if first.key_names != second.key_names or first.scale != second.scale:
        both = "; ".join(f"{', '.join(i.key_names)}: {', '.join(i.scale)}" for i in read)
        raise InputError(f"{old} and {new}: their judgements have different ids or labels ({both})")
    index = [{cell: i for i, cell in enumerate(items.cells)} for items in read]
    common = [cell for cell in first.cells if cell in index[1]]
    texts = [
        cell_texts(path, items.kind, common, problems)
        for path, items in zip((old, new), read, strict=True)
    ]
    pairs = {cell: _pair_texts(texts[0][cell], texts[1][cell]) for cell in common}
    shared = [cell for cell in common if all(one == other for one, other in pairs[cell])]
    if n_unknown := sum(not texts_compared for texts_compared in pairs.values()):
        what = f"{n_unknown} items without known texts on both sides are matched by their ids"
        problems.keep(new, 0, "no_texts", what)
    runs, is_same = _pair_runs(first, second, {cell for cell in shared if pairs[cell]})
    for path, items, of_side in zip((old, new), read, runs, strict=True):
        if others := sorted(set(items.runs) - of_side):
            what = f"{len(others)} runs are not compared, such as {others[0]!r}"
            problems.keep(path, 0, "not_compared", f"{what}: equal in both, or only in one")
    versions = [Version(*each) for each in zip((old, new), read, human, index, runs, strict=True)]
    return Versions(versions[0], versions[1], shared, len(common) - len(shared), is_same)


def _pair_texts(one: Texts, other: Texts) -> list[tuple[str, str]]:
    """The texts of an item that both versions have, without remarks of the judge."""
    return [(one[name], other[name]) for name in one.keys() & other.keys() if name not in REMARKS]


def _pair_runs(
    old: JudgedItems, new: JudgedItems, same: Collection[Cell]
) -> tuple[tuple[frozenset[str], frozenset[str]], bool]:
    """The runs of each side to compare, and whether all their items are equal."""
    runs = [frozenset(items.runs) for items in (old, new)]
    changed = [
        frozenset(r for cell, r in zip(items.cells, items.runs, strict=True) if cell not in same)
        for items in (old, new)
    ]
    equal = (runs[0] - changed[0]) & (runs[1] - changed[1])
    others = [of_side - equal for of_side in runs]
    if equal and not all(others):
        return (equal, equal), True
    both = others[0] & others[1]
    return (both or others[0], both or others[1]), False


def _find_kind(old: Path, new: Path) -> str:
    kinds = [
        kinds_in(path) if path.is_dir() else [read_labels(path, Problems()).kind]
        for path in (old, new)
    ]
    for kind in kinds[0]:
        if kind in kinds[1]:
            return kind
    raise InputError(f"{old} and {new}: have no kind of judgements in common")


def drift_view(splits: Sequence[Fields]) -> View:
    """The view of `judge drift`, with one table per measure."""
    return View(drift_verdict(splits[0]), [_table(split) for split in splits])


def drift_verdict(split: Fields) -> str:
    """Say which of the two changed, and how much each contributes."""
    _, who = _VERDICTS[split["instrument"], split["systems"]]
    change, of_judge, of_systems = (
        write_estimate(row, signed=True)
        for row in (split["score"]["change"], split["instrument_change"], split["systems_change"])
    )
    if split["are_same_items"]:
        return f"{who}: {split['measure']} changed by {change} on the same answers."
    return (
        f"{who}: {split['measure']} changed by {change}, of which {of_judge} comes from the judge "
        f"and {of_systems} from the systems."
    )


def _table(split: Fields) -> Table:
    score, bias = split["score"], split["judge_less_human"]
    old, new = (None if bias[side] is None else bias[side]["value"] for side in ("old", "new"))
    of_judge = "labels of the anchors" if bias["old"] is None else "judge minus people"
    same = " (same items)" if split["are_same_items"] else ""
    judge = {"old": old, "new": new, "change": split["instrument_change"]}
    rows = [
        {"what": _whose(split["runs"]), "leads": True, **score},
        {"what": f"judge: {of_judge}", **judge},
        {"what": f"systems: the rest{same}", "change": split["systems_change"]},
    ]
    if split["equal_to_human"] is not None:
        rows.append({"what": "share equal to people", **split["equal_to_human"]})
    level = name_level(split["level"])
    columns = [
        (Column("what", Kind.TEXT, ""), lambda row: row["what"]),
        show("old", Kind.SHARE),
        show("new", Kind.SHARE),
        *estimate("change", "", "", Kind.DIFFERENCE, (0, 0), level, "interval"),
    ]
    kind = "labelled by people" if split["has_labels"] else "judged by both"
    aside = f"{count(split['n_anchors'], 'anchor')} {kind}"
    return make_table(split["measure"], columns, rows, aside, notes=[*_notes(split)])


def _whose(runs: Sequence[Sequence[str]]) -> str:
    """The name of the score: of a run, or the mean of several."""
    if all(len(of_side) == 1 for of_side in runs):
        return "score of " + " -> ".join(dict.fromkeys(cell(of_side[0]) for of_side in runs))
    return f"score, mean of {join_words([*dict.fromkeys(str(len(r)) for r in runs)])} runs"


def _notes(split: Fields) -> Iterator[str]:
    topics = f"{split['n_anchor_topics']:,} of {count(split['n_topics'], 'topic')}"
    yield f"Anchors on {topics}; {split['changed']:.1%} of their labels changed."
    before, now = (
        count(judged, "judgement") + (f" ({lost:,} failed)" if lost else "")
        for judged, lost in zip(split["n_judged"], split["n_unjudged"], strict=True)
    )
    yield f"The old score has {before}, the new one {now}."
    yield (
        f"Changed: the interval excludes 0. Did not change: the interval lies within "
        f"±{format_given(split['margin'])}. Intervals are over topics."
    )
    if n := split["n_other_texts"]:
        yield f"Not used as anchors: {count(n, 'item')} with different texts in the new results."
