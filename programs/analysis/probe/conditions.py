"""The conditions of a probe: the judge as it is, and with one thing about it changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ....judges import ItemJudge
from ....judges.calls import answers, calls
from ....judges.variants import listed_labels, shown_inputs, with_first_input, with_label_order
from ....records.labels.items import ItemRow

Kind = Literal["batch", "order", "labels", "input", "replicates", "schema"]
KINDS: tuple[Kind, ...] = ("batch", "order", "labels", "input", "replicates", "schema")
BATCHES = (1, 5, 10, 20)  # items in one call
REPEATS = 3  # seeded orders of items and labels, and replicates
BASE = "base"


@dataclass(frozen=True)
class Condition:
    """A judge, and the order in which it is given the items.

    `name` says what is changed in a word, `what` for people. `calls` has the places of the items
    that go into one call each.
    """

    name: str
    kind: str
    what: str
    judge: ItemJudge = field(repr=False)
    order: list[int] = field(repr=False)
    calls: list[list[int]] = field(repr=False)


@dataclass(frozen=True)
class Skipped:
    """A condition that this judge, its model or these items do not have."""

    name: str
    reason: str


class Conditions:
    """All conditions of a probe, the base first, and those that do not apply.

    Args:
        kinds: of `KINDS`, those wanted.
        seed: of the orders.
        repeats: how many orders of items and of labels, and how many replicates.
    """

    def __init__(
        self,
        judge: ItemJudge,
        items: Sequence[ItemRow],
        kinds: Sequence[Kind],
        *,
        seed: int,
        repeats: int,
    ) -> None:
        self._judge = judge
        self._items = items
        self._rng = {kind: np.random.default_rng([seed, i]) for i, kind in enumerate(KINDS)}
        self._repeats = repeats
        self._given = list(range(len(items)))
        said = f"window {judge.window}, " if judge.listed else ""
        form = judge.backend.config.reply_schema if judge.backend is not None else "none"
        said += "given order" if _way(judge) == "lexical" else f"given order, schema {form}"
        self.found = [self._condition(BASE, BASE, said, judge, self._given)]
        self.skipped: list[Skipped] = []
        makers = {
            "batch": self._batches,
            "order": self._orders,
            "labels": self._label_orders,
            "input": self._inputs,
            "replicates": self._replicates,
            "schema": self._schemas,
        }
        for kind in KINDS:
            if kind in kinds:
                makers[kind]()

    def _batches(self) -> None:
        if self._judge.listed is None:
            self._skip("batch", f"the {self._judge.name} judge takes one item a call")
            return
        for size in BATCHES:
            if size != self._judge.window:
                twin = self._judge.deepcopy()
                twin.window = size
                what = f"{size} items a call" if size > 1 else "1 item a call"
                self._add_if_new(self._condition(f"batch-{size}", "batch", what, twin, self._given))

    def _orders(self) -> None:
        if self._judge.listed is None:
            self._skip("order", f"the {self._judge.name} judge takes one item a call")
            return
        groups = answers(self._judge, self._items)
        for n in range(1, self._repeats + 1):
            order = [int(i) for group in groups for i in self._rng["order"].permutation(group)]
            what = f"items of an answer in random order {n}"
            self._add_if_new(self._condition(f"order-{n}", "order", what, self._judge, order))

    def _label_orders(self) -> None:
        labels = listed_labels(self._judge)
        if not labels:
            reason = f"the {self._judge.name} judge gives a number of a range, it lists no labels"
            self._skip("labels", reason)
            return
        orders: dict[tuple[str, ...], None] = {}
        while len(orders) < min(self._repeats, math.factorial(len(labels)) - 1):
            order = tuple(labels[i] for i in self._rng["labels"].permutation(len(labels)))
            if order != labels:
                orders.setdefault(order)
        for n, order in enumerate(orders, 1):
            twin = with_label_order(self._judge, order)
            what = f"labels {', '.join(order)}"
            self.found.append(self._condition(f"labels-{n}", "labels", what, twin, self._given))

    def _inputs(self) -> None:
        for name in shown_inputs(self._judge)[1:]:
            twin = with_first_input(self._judge, name)
            what = f"{name} shown first"
            self.found.append(self._condition(f"input-{name}", "input", what, twin, self._given))

    def _replicates(self) -> None:
        for n in range(1, self._repeats + 1):
            twin = self._judge.deepcopy()
            twin.replicate = n
            what = f"asked again, time {n}"
            found = self._condition(f"replicate-{n}", "replicates", what, twin, self._given)
            self.found.append(found)

    def _schemas(self) -> None:
        backend = self._judge.backend
        if backend is None or _way(self._judge) not in ("http", "litellm", "vllm"):
            self._skip("schema", f"model {_way(self._judge)} takes no reply schema")
            return
        for form in ("json_schema", "none"):
            if form != backend.config.reply_schema:
                twin = self._judge.deepcopy()
                twin.backend = backend.varied(reply_schema=form)
                what = "the reply's schema is sent" if form != "none" else "no reply schema is sent"
                found = self._condition(f"schema-{form}", "schema", what, twin, self._given)
                self.found.append(found)

    def _condition(
        self, name: str, kind: str, what: str, judge: ItemJudge, order: list[int]
    ) -> Condition:
        in_order = calls(judge, [self._items[i] for i in order])
        asked = [[order[place] for place in call] for call in in_order]
        return Condition(name, kind, what, judge, order, asked)

    def _add_if_new(self, condition: Condition) -> None:
        """Add a condition, unless its calls are those of one that is there."""
        for other in self.found:
            if sorted(other.calls) == sorted(condition.calls):
                self._skip(condition.name, f"the same calls as {other.name} on these items")
                return
        self.found.append(condition)

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append(Skipped(name, reason))


def _way(judge: ItemJudge) -> str:
    return judge.backend.config.way if judge.backend is not None else ""
