"""Whether the judge moved or the systems, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....metrics.drift import HELD, MOVED, UNKNOWN
from ....records.printed import cell
from ....views.numbers import format_given
from ....views.table import Column, Kind, Row, Style, Table, View
from .words import count, get_interval, join_words, name_level, write_estimate

_VERDICTS = {
    (MOVED, MOVED): "Both the judge and the systems moved",
    (MOVED, HELD): "The judge moved, the systems did not",
    (MOVED, UNKNOWN): "The judge moved; whether the systems did is not known",
    (HELD, MOVED): "The judge did not move, the systems did",
    (HELD, HELD): "Neither the judge nor the systems moved",
    (HELD, UNKNOWN): "The judge did not move; whether the systems did is not known",
    (UNKNOWN, MOVED): "The systems moved; whether the judge did is not known",
    (UNKNOWN, HELD): "The systems did not move; whether the judge did is not known",
    (UNKNOWN, UNKNOWN): "Whether the judge or the systems moved is not known",
}
_Split = Mapping[str, Any]


def drift_view(splits: Sequence[_Split]) -> View:
    """What `judge drift` shows of what it returned, a table a measure."""
    return View(drift_verdict(splits[0]), [_table(split) for split in splits])


def drift_verdict(split: _Split) -> str:
    """Which of the two moved, and how much of the change is of each."""
    who = _VERDICTS[split["instrument"], split["systems"]]
    change, of_judge, of_systems = (
        write_estimate(row, signed=True)
        for row in (split["score"]["change"], split["instrument_change"], split["systems_change"])
    )
    if split["are_same_items"]:
        return f"{who}: {split['measure']} of the same answers changed by {change}."
    return (
        f"{who}: {split['measure']} changed by {change}, of which {of_judge} is of the judge and "
        f"{of_systems} of the systems."
    )


def _table(split: _Split) -> Table:
    columns = [
        Column("what", Kind.TEXT, ""),
        Column("old", Kind.SHARE),
        Column("new", Kind.SHARE),
        Column("change", Kind.DIFFERENCE),
        Column("interval", Kind.INTERVAL, name_level(split["level"]), is_signed=True),
    ]
    rows = [
        Row([what, old, new, change["value"], get_interval(change)], style)
        for what, old, new, change, style in _rows(split)
    ]
    kind = "labelled by people" if split["has_labels"] else "judged in both"
    aside = f"{count(split['n_anchors'], 'anchor')} {kind}"
    return Table(split["measure"], columns, rows, aside, notes=[*_notes(split)])


def _rows(split: _Split) -> Iterator[tuple[str, Any, Any, Mapping[str, Any], Style]]:
    score, bias = split["score"], split["judge_less_human"]
    yield _whose(split["runs"]), score["old"], score["new"], score["change"], Style.LEADING
    sides = [None if bias[side] is None else bias[side]["value"] for side in ("old", "new")]
    of_judge = "labels of the anchors" if bias["old"] is None else "judge minus people"
    yield f"judge: {of_judge}", *sides, split["instrument_change"], Style.PLAIN
    same = " (same items)" if split["are_same_items"] else ""
    yield f"systems: the rest{same}", None, None, split["systems_change"], Style.PLAIN
    if (equal := split["equal_to_human"]) is not None:
        yield "labels equal to people's", equal["old"], equal["new"], equal["change"], Style.PLAIN


def _whose(runs: Sequence[Sequence[str]]) -> str:
    """Whose score it is."""
    if all(len(of_side) == 1 for of_side in runs):
        return "score of " + " -> ".join(dict.fromkeys(cell(of_side[0]) for of_side in runs))
    return f"score, mean of {join_words([*dict.fromkeys(str(len(r)) for r in runs)])} runs"


def _notes(split: _Split) -> Iterator[str]:
    topics = f"{split['n_anchor_topics']:,} of {count(split['n_topics'], 'topic')}"
    yield f"Anchors on {topics}; {split['changed']:.1%} of their labels changed."
    before, now = (
        count(judged, "judgement") + (f" ({lost:,} missing)" if lost else "")
        for judged, lost in zip(split["n_judged"], split["n_unjudged"], strict=True)
    )
    yield f"The old score rests on {before}, the new one on {now}."
    yield (
        f"Moved: the interval leaves out 0. Did not move: it lies within "
        f"±{format_given(split['margin'])}. Intervals are by topic."
    )
    if n := split["n_other_texts"]:
        yield f"{count(n, 'item')} with other texts in the new: not used as anchors."
