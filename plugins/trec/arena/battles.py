"""Battles: two answers to one topic, and which of them is better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from ....records.kinds import Cell
from ....records.reading.fields import Line
from ....records.rows import LabelScores, Row

BattleLabel = Literal["loss", "tie", "win"]
VerdictLabel = Literal["loss", "both_bad", "tie", "win"]

# The results of a run against its opponent, worst to best, and their gains. As in Chatbot Arena, a
# tie of two bad answers is a tie.
BATTLE_GAINS: dict[str, float] = {"loss": 0.0, "tie": 0.5, "win": 1.0}
BATTLE_SCALE: tuple[BattleLabel, ...] = ("loss", "tie", "win")
VERDICT_SCALE: tuple[VerdictLabel, ...] = ("loss", "both_bad", "tie", "win")
BATTLE_KEY = ("topic_id", "run_id", "opponent_id")

TURNED: dict[BattleLabel, BattleLabel] = {"loss": "win", "tie": "tie", "win": "loss"}
_TURNED = {"loss": "win", "win": "loss", "a": "b", "b": "a"}  # all others mean the same to both
_SPELLINGS: dict[str, str] = {
    **{name: name for name in ("loss", "both_bad", "tie", "win")},
    **{"a": "win", "model_a": "win", "b": "loss", "model_b": "loss"},
    **dict.fromkeys(("tie_(both_bad)", "tie_(bothbad)", "bothbad", "both bad"), "both_bad"),
}
_VERDICTS = {"win": "a", "loss": "b"}  # of the judge, whose first answer is called A


class BattleVerdict(LabelScores):
    """The verdict on a run in one order of the answers; `label` None: not judged."""

    label: VerdictLabel | None


class Battle(Row):
    """The result of a run against another run on one topic; `run_id` sorts before `opponent_id`.

    Attributes:
        label: the result of both orders, see `join_orders`; None: not judged.
        first, second: the verdict on `run_id` with its answer shown first, and second; None: not
            asked.
        is_forfeit: True if one run gave no answer and therefore lost; no judge was asked.
    """

    topic_id: str
    run_id: str
    opponent_id: str
    label: BattleLabel | None
    first: BattleVerdict | None = None
    second: BattleVerdict | None = None
    is_forfeit: bool = False

    @property
    def is_split(self) -> bool:
        """Return whether both orders were judged and disagree, which makes the battle a tie."""
        labels = [verdict.label for verdict in (self.first, self.second) if verdict is not None]
        return len(labels) == 2 and None not in labels and _plain(labels[0]) != _plain(labels[1])

    def as_row(self) -> dict[str, Any]:
        """Return the battle as a line of `battles.jsonl`."""
        names = ("topic_id", "run_id", "opponent_id", "label")
        row: dict[str, Any] = {name: getattr(self, name) for name in names}
        for name, verdict in (("first", self.first), ("second", self.second)):
            row[name] = None if verdict is None else {"label": verdict.label, **verdict.as_fields()}
        return row | {"is_forfeit": self.is_forfeit}


def join_orders(first: VerdictLabel | None, second: VerdictLabel | None) -> BattleLabel | None:
    """Return the label of a battle from its two orders, each from the view of the same run.

    Orders that disagree make a tie. If one of them was not judged, the label is None.

    >>> join_orders("win", "win"), join_orders("win", "loss"), join_orders("win", None)
    ('win', 'tie', None)
    """
    one, other = _plain(first), _plain(second)
    if one is None or other is None:
        return None
    return one if one == other else "tie"


def swap_sides(label: str) -> str:
    """Return the label from the view of the other run.

    >>> swap_sides("win"), swap_sides("tie")
    ('loss', 'tie')
    """
    return _TURNED.get(label, label)


def in_order(run_id: str, opponent_id: str, label: str | None) -> tuple[str, str, str | None]:
    """Return the two runs in sorted order, and the label from the view of the first."""
    if run_id <= opponent_id:
        return run_id, opponent_id, label
    return opponent_id, run_id, None if label is None else swap_sides(label)


def battle_label(written: str | None, scale: Iterable[str] | None = None) -> str | None:
    """Return the label of a battle in our spelling; an unknown label stays as it is.

    Args:
        scale: the labels to return; None: loss, tie, win. The judge's scale calls the answers a and
            b, and has both_bad, too.

    >>> battle_label("model_a"), battle_label("tie (bothbad)"), battle_label("win", ("b", "a"))
    ('win', 'tie', 'a')
    """
    if written is None:
        return None
    name = _SPELLINGS.get(written.strip().lower().replace(" ", "_"), written)
    known = tuple(scale or BATTLE_SCALE)
    if name in known:
        return name
    return _VERDICTS.get(name, name) if "a" in known else _plain(name)


def check_once(line: Line, cell: Cell, seen: dict[Cell, int]) -> bool:
    """Return whether a battle occurs for the first time; a repeated battle is an error of its line.

    Args:
        seen: the line of each battle so far; the new battle is added.
    """
    if (before := seen.setdefault(cell, line.number)) == line.number:
        return True
    what = f"the battle {' '.join(cell)} is in line {before} too, wanted once"
    line.error("duplicate_battle", what)
    return False


def battles_in(lines: Iterable[Line]) -> Iterator[tuple[Line, Battle]]:
    """Yield the battles of a `battles.jsonl`, each with its line.

    Errors reported: a missing id or an id of another type, runs that are not in sorted order, a
    repeated battle. A battle with an unknown label is listed and counts as not judged.
    """
    seen: dict[Cell, int] = {}
    for line in lines:
        topic_id, run_id, opponent_id = (line.id(name) for name in BATTLE_KEY)
        if topic_id is None or run_id is None or opponent_id is None:
            continue
        if run_id >= opponent_id:
            what = f"run_id {run_id!r} and opponent_id {opponent_id!r}, wanted two runs in order"
            line.error("battle", what)
            continue
        if not check_once(line, (topic_id, run_id, opponent_id), seen):
            continue
        yield (
            line,
            Battle(
                topic_id=topic_id,
                run_id=run_id,
                opponent_id=opponent_id,
                label=line.label("label", BATTLE_SCALE),
                first=_verdict(line, "first"),
                second=_verdict(line, "second"),
                is_forfeit=line.row.get("is_forfeit") is True,
            ),
        )


def _verdict(line: Line, name: str) -> BattleVerdict | None:
    if (inner := line.child(name)) is None:
        return None
    return BattleVerdict(label=inner.label("label", VERDICT_SCALE), **inner.read_label_scores())


def _plain(label: Any) -> Any:
    return "tie" if label == "both_bad" else label
