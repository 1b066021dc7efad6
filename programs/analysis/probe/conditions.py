"""The conditions of a probe: the judge as it is, and with one thing about it changed."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from ....backends.gateway import Backend
from ....judges import ItemJudge
from ....judges.calls import answers, calls
from ....judges.variants import listed_labels, shown_inputs, with_first_input, with_label_order
from ....records.labels.items import ItemRow
from .asking import Options
from .result import Skipped
from .shown import (
    Base,
    Made,
    Variant,
    citation_ranks,
    longer_and_shorter,
    reversed_passages,
    run_names,
)

Kind = Literal[
    "batch", "order", "labels", "input", "replicates", "schema",
    "passages", "length", "citation", "name",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)  # another one last: random orders go by index
BATCHES = (1, 5, 10, 20)  # items in one call
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


def conditions_of(
    judge: ItemJudge, items: Sequence[ItemRow], options: Options
) -> tuple[list[Condition], list[Skipped]]:
    """All conditions of a probe, the base first, and those that do not apply."""
    model = backend_of(judge).config
    what = f"window {judge.window}, given order" if judge.listed else "given order"
    what += "" if model.way == "lexical" else f", schema {model.reply_schema}"
    conditions = [_condition(BASE, Variant(BASE, what, judge), items)]
    skipped: list[Skipped] = []
    for number, kind in enumerate(KINDS):
        if options.kinds is not None and kind not in options.kinds:
            continue
        base = Base(judge, items, np.random.default_rng([options.seed, number]), options.repeats)
        for made in MAKERS[kind](base):
            if isinstance(made, str):
                skipped.append(Skipped(kind, made))
                continue
            new = _condition(kind, made, items)
            changes_calls_alone = kind in ("batch", "order")
            others = conditions if changes_calls_alone else []
            same = [one.name for one in others if sorted(one.calls) == sorted(new.calls)]
            if same:
                reason = f"the same calls as {same[0]} on these items"
                skipped.append(Skipped(new.name, reason))
            else:
                conditions.append(new)
    return conditions, skipped


def _condition(kind: str, made: Variant, all_items: Sequence[ItemRow]) -> Condition:
    items = all_items if made.items is None else made.items
    order = list(range(len(items))) if made.order is None else made.order
    in_order = calls(made.judge, [items[i] for i in order])
    in_calls = [[order[i] for i in call] for call in in_order]
    return Condition(made.name, kind, made.what, made.judge, items, order, in_calls)


def _batches(base: Base) -> Iterator[Made]:
    if base.judge.listed is None:
        yield _one_a_call(base.judge)
        return
    for size in BATCHES:
        if size != base.judge.window:
            twin = base.judge.deepcopy()
            twin.window = size
            what = f"{size} items a call" if size > 1 else "1 item a call"
            yield Variant(f"batch-{size}", what, twin)


def _orders(base: Base) -> Iterator[Made]:
    if base.judge.listed is None:
        yield _one_a_call(base.judge)
        return
    groups = answers(base.judge, base.items)
    for n in range(1, base.repeats + 1):
        order = [int(i) for group in groups for i in base.rng.permutation(group)]
        what = f"items of an answer in random order {n}"
        yield Variant(f"order-{n}", what, base.judge, order=order)


def _one_a_call(judge: ItemJudge) -> str:
    return f"the {judge.name} judge takes one item a call"


def _own_prompt(judge: ItemJudge) -> str:
    return f"the {judge.name} judge has a prompt of its own"


def _label_orders(base: Base) -> Iterator[Made]:
    judge, labels = base.judge, listed_labels(base.judge)
    if not labels:
        is_own = judge.own_words == "prompt"
        range_ = f"the {judge.name} judge gives a number of a range, it lists no labels"
        yield _own_prompt(judge) if is_own else range_
        return
    orders: dict[tuple[str, ...], None] = {}
    while len(orders) < min(base.repeats, math.factorial(len(labels)) - 1):
        order = tuple(labels[i] for i in base.rng.permutation(len(labels)))
        if order != labels:
            orders.setdefault(order)
    for n, order in enumerate(orders, 1):
        twin = with_label_order(judge, order)
        yield Variant(f"labels-{n}", f"labels {', '.join(order)}", twin)


def _inputs(base: Base) -> Iterator[Made]:
    for name in shown_inputs(base.judge)[1:]:
        yield Variant(f"input-{name}", f"{name} shown first", with_first_input(base.judge, name))


def _replicates(base: Base) -> Iterator[Made]:
    for n in range(1, base.repeats + 1):
        twin = base.judge.deepcopy()
        twin.replicate = n
        yield Variant(f"replicate-{n}", f"asked again, time {n}", twin)


def _schemas(base: Base) -> Iterator[Made]:
    model = backend_of(base.judge).config
    if (why_not := without_schema(base.judge)) or base.judge.own_words == "prompt":
        yield why_not or _own_prompt(base.judge)
        return
    for form in ("json_schema", "none"):
        if form != model.reply_schema:
            what = "the reply's schema is sent" if form != "none" else "no reply schema is sent"
            yield Variant(f"schema-{form}", what, with_schema(base.judge, form))


MAKERS: Mapping[str, Callable[[Base], Iterator[Made]]] = {
    "batch": _batches,
    "order": _orders,
    "labels": _label_orders,
    "input": _inputs,
    "replicates": _replicates,
    "schema": _schemas,
    "passages": reversed_passages,
    "length": longer_and_shorter,
    "citation": citation_ranks,
    "name": run_names,
}


def without_schema(judge: ItemJudge) -> str:
    """Why the judge's model takes no reply schema; "" where it does."""
    way = backend_of(judge).config.way
    return "" if way in ("http", "litellm", "vllm") else f"model {way} takes no reply schema"


def with_schema(judge: ItemJudge, form: str) -> ItemJudge:
    """A copy of the judge whose reply schema is sent in another form, or not ("none")."""
    twin: ItemJudge = judge.deepcopy()
    twin.backend = backend_of(judge).varied(reply_schema=form)
    return twin


def backend_of(judge: ItemJudge) -> Backend:
    """What answers; a probed judge has one."""
    assert judge.backend is not None
    return judge.backend
