"""`judge drift`: did the instrument move, or the systems?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..options import AsJson, Kind, Level, Where, print_result, where_of
from ..signatures import There
from ..stopping import list_problems
from ..tables import bounds, cell, figure, shown

_NAME = 34


def drift(
    old: There,
    new: There,
    *,
    labels: There | None = None,
    where: Where = None,
    kind: Kind = None,
    measure: list[str] | None = None,
    margin: float = 0.05,
    level: Level = 0.95,
    as_json: AsJson = False,
) -> None:
    """Tell whether a change of scores is one of the judge, or of the systems that it judges.

    Example: judge drift results/may results/june --labels human.csv

    Args:
        old: What the judge said before: results, or a file.
        new: What it says now, or another judge.
        labels: Labels of people: what they labelled and both judged are the anchors; else all that
            both judged.
        measure: Measure whose change is split; may be repeated; else the main one.
        margin: A change certain to be smaller than this counts as none.
    """
    from ...programs.analysis.drift.drift import judge_drift
    from ...records.reading.problems import InputError, Problems

    if where and labels is None:
        raise InputError("--where: chooses labels of people, wanted --labels too")
    problems = Problems()
    changes = judge_drift(
        old,
        new,
        problems,
        labels=labels,
        where=where_of(where or ()),
        kind=kind,
        measures=measure or (),
        margin=margin,
        level=level,
    )
    print_result(changes, lambda: shown("\n".join(map(drift_text, changes))), as_json=as_json)
    list_problems(problems)


def drift_text(split: Mapping[str, Any]) -> str:
    """One measure: the verdict, and the figures that it rests on, in 100 columns."""
    score, human = split["score"], split["judge_less_human"]
    same = "  the systems: same items" if split["are_same_items"] else "  the systems"
    kind = "with labels of people" if split["has_labels"] else "that both judged"
    title = f"[{split['level']:.0%} interval, by topic]"
    lines = [
        f"{cell(split['measure'])}: {split['verdict']}",
        f"{split['n_anchors']:,} anchors {kind}, on {split['n_anchor_topics']:,} of "
        f"{split['n_topics']:,} topics; {split['changed']:.1%} of their labels changed",
        "",
        f"{title:<{_NAME}}{'old':>7}{'new':>8}  change",
        _row(_runs(split["runs"]), score["old"], score["new"], score["change"]),
    ]
    change = split["instrument_change"]
    if human["old"] is not None:
        one, other = (human[side]["value"] for side in ("old", "new"))
        lines.append(_row("judge less human", one, other, change, "+") + "  the instrument")
    else:
        lines.append(_row("labels of the anchors", None, None, change) + "  the instrument")
    lines.append(
        _row("score less that of the instrument", None, None, split["systems_change"]) + same
    )
    if (equal := split["equal_to_human"]) is not None:
        lines.append(_row("labels equal to human", equal["old"], equal["new"], equal["change"]))
    counts = [
        f"{judged:,} judgements" + (f" ({lost:,} lacking)" if lost else "")
        for judged, lost in zip(split["n_judged"], split["n_unjudged"], strict=True)
    ]
    lines += ["", f"Scores rest on {counts[0]} before and {counts[1]} now."]
    lines.append(f"Held: the interval lies within +-{split['margin']:g}.")
    if split["n_other_texts"]:
        lines.append(f"{split['n_other_texts']:,} items have other texts in the new: no anchors.")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _runs(runs: Sequence[Sequence[str]]) -> str:
    """Whose score it is."""
    if all(len(of_side) == 1 for of_side in runs):
        names = " -> ".join(dict.fromkeys(cell(of_side[0], 10) for of_side in runs))
        return f"score of {names}"
    return f"score, mean of {' and '.join(dict.fromkeys(str(len(r)) for r in runs))} runs"


def _row(
    name: str, old: float | None, new: float | None, change: Mapping[str, Any], sign: str = ""
) -> str:
    sides = [figure(value, sign=sign) if value is not None else "" for value in (old, new)]
    moved = f"{figure(change['value'], sign='+')} {bounds(change, '+')}"
    return f"{name:<{_NAME}}{sides[0]:>7}{sides[1]:>8}  {moved}"
