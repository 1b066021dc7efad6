"""The conditions of a probe: the judge as it is, and with one thing about it changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ....backends.gateway import Backend
from ....judges import ItemJudge
from ....judges.calls import answers, calls
from ....judges.variants import listed_labels, shown_inputs, with_first_input, with_label_order
from ....records.labels.items import ItemRow
from .shown import MAKERS

Kind = Literal[
    "batch", "order", "labels", "input", "replicates", "schema",
    "passages", "length", "citation", "name",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)  # another one last, since each has random orders by place
BATCHES = (1, 5, 10, 20)  # items in one call
REPEATS = 3  # seeded orders of items and labels, and replicates
BASE = "base"


@dataclass(frozen=True)
class Condition:
    """A judge, and the order in which it is given the items.

    `name` says what is changed in a word, `what` for people. `order` has the positions of the
    items that are asked about, `calls` of those that go into one call each. `items` are all items,
    as this condition shows them.
    """

    name: str
    kind: str
    what: str
    judge: ItemJudge = field(repr=False)
    items: Sequence[ItemRow] = field(repr=False)
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
        self._model = backend_of(judge).config
        self.found: list[Condition] = []
        self.skipped: list[Skipped] = []
        what = f"window {judge.window}, given order" if judge.listed else "given order"
        is_lexical = self._model.way == "lexical"
        what += "" if is_lexical else f", schema {self._model.reply_schema}"
        self._add(BASE, BASE, what, judge)
        makers = {
            "batch": self._batches,
            "order": self._orders,
            "labels": self._label_orders,
            "input": self._inputs,
            "replicates": self._replicates,
            "schema": self._schemas,
        }
        for kind in KINDS:
            if kind in kinds and kind in makers:
                makers[kind]()
            elif kind in kinds:
                self._shown(kind)

    def _batches(self) -> None:
        for size in BATCHES if self._takes_several("batch") else ():
            if size != self._judge.window:
                twin = self._judge.deepcopy()
                twin.window = size
                what = f"{size} items a call" if size > 1 else "1 item a call"
                self._add(f"batch-{size}", "batch", what, twin)

    def _orders(self) -> None:
        groups = answers(self._judge, self._items)
        for n in range(1, self._repeats + 1 if self._takes_several("order") else 1):
            order = [int(i) for group in groups for i in self._rng["order"].permutation(group)]
            what = f"items of an answer in random order {n}"
            self._add(f"order-{n}", "order", what, self._judge, order)

    def _label_orders(self) -> None:
        labels = listed_labels(self._judge)
        if not labels:
            reason = f"the {self._judge.name} judge gives a number of a range, it lists no labels"
            if self._judge.own_words == "prompt":
                reason = f"the {self._judge.name} judge has a prompt of its own"
            self._skip("labels", reason)
            return
        orders: dict[tuple[str, ...], None] = {}
        while len(orders) < min(self._repeats, math.factorial(len(labels)) - 1):
            order = tuple(labels[i] for i in self._rng["labels"].permutation(len(labels)))
            if order != labels:
                orders.setdefault(order)
        for n, order in enumerate(orders, 1):
            twin = with_label_order(self._judge, order)
            self._add(f"labels-{n}", "labels", f"labels {', '.join(order)}", twin)

    def _inputs(self) -> None:
        for name in shown_inputs(self._judge)[1:]:
            twin = with_first_input(self._judge, name)
            self._add(f"input-{name}", "input", f"{name} shown first", twin)

    def _replicates(self) -> None:
        for n in range(1, self._repeats + 1):
            twin = self._judge.deepcopy()
            twin.replicate = n
            self._add(f"replicate-{n}", "replicates", f"asked again, time {n}", twin)

    def _schemas(self) -> None:
        if self._model.way not in ("http", "litellm", "vllm"):
            self._skip("schema", f"model {self._model.way} takes no reply schema")
            return
        if self._judge.own_words == "prompt":
            self._skip("schema", f"the {self._judge.name} judge has a prompt of its own")
            return
        for form in ("json_schema", "none"):
            if form != self._model.reply_schema:
                twin = self._judge.deepcopy()
                twin.backend = backend_of(self._judge).varied(reply_schema=form)
                what = "the reply's schema is sent" if form != "none" else "no reply schema is sent"
                self._add(f"schema-{form}", "schema", what, twin)

    def _shown(self, kind: Kind) -> None:
        for found in MAKERS[kind](self._judge, self._items):
            if isinstance(found, str):
                self._skip(kind, found)
            else:
                order, items = found.order, found.items
                self._add(found.name, kind, found.what, found.judge, order, items)

    def _takes_several(self, kind: str) -> bool:
        """Whether the judge takes several items a call; if not, this kind is skipped."""
        if self._judge.listed is None:
            self._skip(kind, f"the {self._judge.name} judge takes one item a call")
        return self._judge.listed is not None

    def _add(
        self,
        name: str,
        kind: str,
        what: str,
        judge: ItemJudge,
        order: list[int] | None = None,
        items: Sequence[ItemRow] | None = None,
    ) -> None:
        """Add a condition, unless it changes the calls alone and one with the same is there."""
        items = self._items if items is None else items
        order = list(range(len(items))) if order is None else order
        in_order = calls(judge, [items[i] for i in order])
        asked = [[order[i] for i in call] for call in in_order]
        for other in self.found if kind in ("batch", "order") else ():
            if sorted(other.calls) == sorted(asked):
                self._skip(name, f"the same calls as {other.name} on these items")
                return
        self.found.append(Condition(name, kind, what, judge, items, order, asked))

    def _skip(self, name: str, reason: str) -> None:
        self.skipped.append(Skipped(name, reason))


def backend_of(judge: ItemJudge) -> Backend:
    """What answers; a probed judge has one."""
    assert judge.backend is not None
    return judge.backend
