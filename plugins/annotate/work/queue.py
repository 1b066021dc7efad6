"""The items that a person gets, their order, and the probability that each was drawn."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from ....programs.scoring.human_labels import RANDOM
from ....records.kinds import Cell
from ....records.reading.problems import InputError
from ..store.state import State
from .drawing import Draw, Units, generator, in_blocks
from .plan import BLOCK, CONTROLS, GAP, REPEATS, Entry, Plan
from .task import Task


def make_queue(
    task: Task,
    annotator: str,
    plan: Plan,
    *,
    state: State | None = None,
    earlier: Sequence[Entry] = (),
    barred: Iterable[Cell] = (),
    others: Sequence[Sequence[Entry]] = (),
) -> list[Entry]:
    """A person's queue. The same arguments give the same queue.

    Within each topic, the random items are a simple random sample of the items that the person can
    get, whatever else is chosen. Shared items come first. Topics take turns, so that an unfinished
    queue has items of all topics.

    Args:
        state: the person's earlier actions; items that they labelled are left out.
        earlier: the person's existing queue, which is extended: its items keep their positions, and
            their probability grows with the draw.
        barred: items that they must not get, because they are in the queue of the other condition.
        others: queues of other annotators; items that these drew for themselves, and chosen items,
            are used again only if no others are left.

    Raises: InputError for a bad plan, or if nothing is left to label.
    """
    plan.check(task.kind)
    needs_labels = plan.how == "next" or plan.condition == "post_edit"
    if needs_labels and task.files and not task.files[0].cells:
        what = "has no labels to show or to choose items by; leave out --condition and --queue"
        raise InputError(f"{task.results[0]}: {what}")
    units = Units(task)
    mine = units.numbers(entry.cell for entry in earlier)
    done = (one.cell for one in state.labels() if one.kind == task.kind) if state else ()
    away = units.numbers([*barred, *done]) - mine
    pool = set(range(len(units.names))) - away
    if not pool:
        raise InputError(f"annotator {annotator}: has labelled all {len(units.names):,} items")
    n, n_repeats = _sizes(plan.n, len(pool), repeats=task.kind != "bank")
    draw = _make_draw(units, pool, earlier)
    theirs = [entry for queue in others for entry in queue]
    own = [one for one in theirs if one.chosen_by == RANDOM and not one.is_shared]
    n_random = n if plan.how == "random" else round(plan.random_share * n)
    draw.at_random(task, plan, annotator, n_random, units.numbers(one.cell for one in own))
    if plan.how == "next":
        draw.by_worth(task, plan, annotator, n, units.numbers(one.cell for one in theirs))
    new = draw.all - mine
    rng = generator(plan.seed, "order", task.kind, plan.condition, annotator, str(len(earlier)))
    shared = set(draw.shared)
    order = in_blocks(new & shared, units.topics, BLOCK, rng)
    order += in_blocks(new - shared, units.topics, BLOCK, rng)
    n_again = max(n_repeats - _n_repeated(units, earlier), 0)
    return _place(task, plan, draw, earlier, order, n_again, rng)


def _place(
    task: Task,
    plan: Plan,
    draw: Draw,
    earlier: Sequence[Entry],
    order: Sequence[int],
    n_again: int,
    rng: np.random.Generator,
) -> list[Entry]:
    """The earlier entries, then this order with its repeats, each with its probability."""
    units, shared, drawn = draw.units, set(draw.shared), draw.drawn
    shares = draw.probabilities()
    controls = _controls(order, plan, rng)

    def of_draw(number: int) -> dict[str, object]:
        by = RANDOM if number in drawn else draw.chosen[number]
        share = shares[int(units.topics[number])] if by == RANDOM else None
        return {"chosen_by": by, "probability": share, "is_shared": number in shared}

    def entries(number: int, repeat: int) -> list[Entry]:
        is_control = number in controls and not repeat
        return [
            Entry(cell=cell, repeat=repeat, is_control=is_control,
                  shown=_show_label(task, cell, plan, is_control, rng), **of_draw(number))
            for cell in units.cells(number)
        ]  # fmt: skip

    unchanged = [e.model_copy(update=of_draw(units.at[units.name(e.cell)])) for e in earlier]
    again = _repeats(order, controls, n_again, rng)
    return [*unchanged, *(e for number, repeat in again for e in entries(number, repeat))]


def _sizes(n: int | None, n_there: int, *, repeats: bool) -> tuple[int, int]:
    """The number of different items and of repeats."""
    if not repeats:
        return n_there if n is None else min(n, n_there), 0
    different = n_there if n is None else min(n - round(REPEATS * n), n_there)
    if different <= GAP:
        return n_there if n is None else min(n, n_there), 0
    if n is not None and different < n_there:
        return different, n - different
    again = round(different * REPEATS / (1 - REPEATS))
    return different, again if n is None else min(again, n - different)


def _make_draw(units: Units, pool: set[int], earlier: Sequence[Entry]) -> Draw:
    draw = Draw(units, pool)
    for entry in earlier:
        number = units.number(entry.cell)
        if number is None:
            cell = " ".join(entry.cell)
            raise InputError(f"item {cell} of the queue is no longer in the results")
        if entry.repeat or number in draw.all:
            continue
        if entry.chosen_by != RANDOM:
            draw.chosen[number] = entry.chosen_by
        else:
            (draw.shared if entry.is_shared else draw.own).append(number)
    return draw


def _n_repeated(units: Units, earlier: Sequence[Entry]) -> int:
    return len(units.numbers(entry.cell for entry in earlier if entry.repeat))


def _controls(order: Sequence[int], plan: Plan, rng: np.random.Generator) -> set[int]:
    """The positions that show a label that the judge did not give."""
    if plan.condition != "post_edit":
        return set()
    n = round(CONTROLS * len(order))
    return {order[i] for i in rng.choice(len(order), n, replace=False)} if n else set()


def _show_label(
    task: Task, cell: Cell, plan: Plan, is_control: bool, rng: np.random.Generator
) -> str | None:
    """The label shown next to a cell."""
    if plan.condition != "post_edit":
        return None
    judged = task.get_first_label(cell)
    if not is_control:
        return judged
    return str(rng.choice([label for label in task.scale if label != judged]))


def _repeats(
    order: Sequence[int], but: Collection[int], n: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """The order with n repeats, `GAP` or more positions later; (index, repeat)."""
    early = [at for at in range(len(order) - GAP) if order[at] not in but]
    again: dict[int, list[int]] = {}  # by the position that they precede
    for at in rng.choice(early, min(n, len(early)), replace=False) if early and n else ():
        position = int(rng.integers(int(at) + GAP, len(order) + 1))
        again.setdefault(position, []).append(order[int(at)])
    placed = []
    for at in range(len(order) + 1):
        placed += [(number, 1) for number in again.get(at, ())]
        placed += [(number, 0) for number in order[at : at + 1]]
    return placed
