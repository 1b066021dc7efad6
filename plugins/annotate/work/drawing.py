"""Draws a person's items: at random within topics, and where labels help most."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....programs.scoring.human_labels import RANDOM
from ....records.kinds import Cell
from .next_labels import choose, compute_values, draw_in_turn, make_codes
from .plan import Plan
from .task import Task
from .verify import verify_cells

Ints = NDArray[np.int64]


class Units:
    """The units of a draw: the cells of a task, or the key points of `verify`.

    Attributes:
        names: (n,) the cells, or the ids that several cells share. at: index by name.
        topics: (n,) 0-based indices of their topics.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self.names: list[Cell] = list(dict.fromkeys(map(self.name, task.cells)))
        self.at = {name: number for number, name in enumerate(self.names)}
        self.topics = make_codes(self.names, task.key_names, "topic_id")

    def number(self, cell: Cell) -> int | None:
        """The index of the unit of a cell; None if it has none."""
        return self.at.get(self.name(cell))

    def numbers(self, cells: Iterable[Cell]) -> set[int]:
        """The indices of the units of several cells."""
        units = map(self.number, cells)
        return {number for number in units if number is not None}

    def cells(self, number: int) -> list[Cell]:
        """The cells of a unit, in the order in which people get them."""
        name = self.names[number]
        return verify_cells([name]) if self._task.points else [name]

    def name(self, cell: Cell) -> Cell:
        """The unit name of a cell."""
        return cell[:-1] if self._task.points else cell


@dataclass
class Draw:
    """The units that a person gets.

    Attributes:
        units: all units. pool: indices of the units that the person can get.
        shared, own: random indices: the part that all annotators get, and the person's own.
        chosen: indices chosen by a criterion, with the criterion.
    """

    units: Units
    pool: set[int]
    shared: list[int] = field(default_factory=list)
    own: list[int] = field(default_factory=list)
    chosen: dict[int, str] = field(default_factory=dict)

    @property
    def drawn(self) -> set[int]:
        """All random indices."""
        return {*self.shared, *self.own}

    @property
    def all(self) -> set[int]:
        """All indices."""
        return self.drawn | self.chosen.keys()

    def probabilities(self) -> dict[int, float]:
        """By topic, the drawn share of the units that the person can get.

        Both draws ignore the content of items, so the share holds for each item.
        """
        n_topics = int(self.units.topics.max()) + 1
        drawn, there = (
            np.bincount(self.units.topics[sorted(of)], minlength=n_topics)
            for of in (self.drawn, self.pool)
        )
        return {t: float(drawn[t] / there[t]) for t in range(n_topics) if drawn[t]}

    def at_random(self, task: Task, plan: Plan, annotator: str, n: int, others: set[int]) -> None:
        """Draw until there are n random units, shared units first.

        Args:
            others: units that other annotators drew for themselves; used only as a last resort.
        """
        what = (task.kind, plan.condition)
        n_all = len(self.units.names)
        n_units = n_all if plan.n is None else min(plan.n, n_all)
        n_shared = min(round(plan.overlap * n_units), n)
        order = generator(plan.seed, "shared", *what).permutation(n_all)
        common = _in_turn(order, self.units.topics, n_shared)
        self.shared = list(dict.fromkeys([*self.shared, *(i for i in common if i in self.pool)]))
        self.own = sorted(set(self.own) - set(self.shared))
        order = generator(plan.seed, "own", *what, annotator).permutation(n_all)
        free = self.pool - self.drawn
        left = [int(i) for i in order if i in free]
        for few in ([i for i in left if i not in others], [i for i in left if i in others]):
            wanted = max(n - len(self.drawn), 0)
            self.own += _in_turn(np.array(few, dtype=np.int64), self.units.topics, wanted)
        for number in self.drawn & self.chosen.keys():
            del self.chosen[number]

    def by_worth(self, task: Task, plan: Plan, annotator: str, n: int, others: set[int]) -> None:
        """Choose until there are n units; add random units if the criteria want too few.

        Args:
            others: units of other annotators, which are not chosen again.
        """
        if n <= len(self.all):
            return
        left = np.array(sorted(self.pool - self.all), dtype=np.int64)
        cells = [self.units.names[i] for i in left]
        values = compute_values(task.results, task.files, cells)
        is_others = np.array([int(i) in others for i in left])
        values = {name: np.where(is_others, 0.0, value) for name, value in values.items()}
        topics, runs = (
            np.unique(make_codes(cells, task.key_names, name), return_inverse=True)[1]
            for name in ("topic_id", "run_id")
        )
        rng = generator(plan.seed, "chosen", task.kind, plan.condition, annotator)
        wanted = n - len(self.all)
        for one in choose(values, topics, runs, n=wanted, random_share=0, rng=rng):
            if one.chosen_by == RANDOM:
                self.own.append(int(left[one.index]))
            else:
                self.chosen[int(left[one.index])] = one.chosen_by


def generator(seed: int, *names: str) -> np.random.Generator:
    """A random generator that depends only on a seed and some names."""
    digest = hashlib.sha256("\0".join(names).encode()).digest()
    return np.random.default_rng([seed, *np.frombuffer(digest, dtype="<u4").tolist()])


def in_blocks(
    numbers: Collection[int], topics: Ints, size: int, rng: np.random.Generator
) -> list[int]:
    """Units in random order; topics take turns, each giving `size` units."""
    order = rng.permutation(sorted(numbers))
    turn = rng.permutation(int(topics.max()) + 1)  # the turns of a topic
    seen: dict[int, int] = {}
    keys = []
    for number in map(int, order):
        topic = int(topics[number])
        seen[topic] = seen.get(topic, -1) + 1
        keys.append((seen[topic] // size, int(turn[topic]), seen[topic], number))
    return [number for *_, number in sorted(keys)]


def _in_turn(order: Ints, topics: Ints, n: int) -> list[int]:
    """The first n units of an order in which topics take turns."""
    if not len(order) or n < 1:
        return []
    indices = draw_in_turn(np.arange(len(order)), topics[order], n)
    return [int(order[i]) for i in indices]
