"""`judge trace`: show what agents did for each item, and where two runs differ."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

import typer

from ...backends.budget import compute_cost, get_price
from ...backends.config import Price
from ...cli.options import AsJson, read_pairs
from ...cli.signatures import ExistingPath
from ...cli.stopping import open_results
from ...cli.tables import cell, write_objects, write_text
from ...judges.table import judge_names
from ...programs.config.sections import Config
from ...programs.engine.manifest import read_folder_config
from ...records.reading.problems import InputError
from ...records.traces import ItemTrace, Step, TraceFilter, read_folder_traces
from ...views.terminal import Terminal

_WIDTH = 100  # in a pipe
_SPENT = 22  # columns after a step, for tokens and cost so far
_TEXT = 40  # characters of a text in a step
_FIELDS = ("outcome", "reason", "stage")  # for --where
_MAX_HITS = 5  # passages shown for a search
# These differ already when prompts, models or passages differ.
_NOT_COMPARED = ("replies", "tokens", "index")


def trace(
    context: typer.Context,
    results: ExistingPath,
    item: str | None = None,
    *,
    where: list[str] | None = None,
    diff: ExistingPath | None = None,
    as_json: AsJson = False,
) -> None:
    """Show what agents did, step by step, with tokens and cost so far.

    Examples: judge trace results/evidence 2031-77/sys1
    / judge trace results/evidence --where outcome=not_found
    / judge trace results/evidence --diff results/before

    Args:
        results: A results folder of agents.
        item: Ids of an item, such as topic/run/sentence, or only the first ids.
        where (FIELD=VALUE): Only items with this outcome, reason or stage, e.g. outcome=not_found.
        diff: Other results to compare with: show the first step that differs for each item.
    """
    wanted = TraceFilter(item, **_fields_wanted(where or ()))
    results, *others = open_results(context, [results] if diff is None else [results, diff])
    if others:
        _diff(results, others[0], wanted, as_json=as_json)
    elif as_json:
        write_objects(_rows(read_folder_traces(results, wanted)))
    else:
        prices, ends = Prices(results), Counter[str]()
        for one in read_folder_traces(results, wanted):
            ends[f"{one.outcome} ({one.reason})" if one.reason else one.outcome] += 1
            write_text(_tree(one, prices))
        counted = ", ".join(f"{name} {n:,}" for name, n in ends.most_common())
        write_text(f"{_items(ends.total())}{': ' * bool(ends)}{counted}\n")


def _fields_wanted(texts: Sequence[str]) -> dict[str, str]:
    """Read --where options as fields of a `TraceFilter`. Raises: InputError."""
    wanted = read_pairs("--where", texts)
    for name, values in wanted.items():
        if name not in _FIELDS or len(values) > 1:
            raise InputError(f"--where {name}: wanted {', '.join(_FIELDS)}, each once")
    return {name: value for name, (value,) in wanted.items()}


def _items(n: int) -> str:
    return f"{n:,} item{'' if n == 1 else 's'}"


def _rows(traces: Iterable[ItemTrace]) -> Iterator[dict[str, Any]]:
    for one in traces:
        for step in one.steps:
            agent = {"agent": one.agent} if step["path"] == "0" else {}
            yield {"stage": one.stage, "item": one.ids, **agent, **step}


def _tree(one: ItemTrace, prices: Prices) -> str:
    lines, tokens, cost = [], 0, 0.0
    has_prices = True
    for step in one.steps[1:]:
        tokens += sum(step.get("tokens", ()))
        price = prices.find_cost(step)
        has_prices = has_prices and price is not None
        cost += price or 0.0
        depth = step["path"].count(".")
        text, has_spent = f"{'  ' * depth}{step['path']} {_line(step)}", any(step.get("tokens", ()))
        before = _width() - _SPENT * has_spent
        text = cell(text, before)
        if has_spent:
            text = f"{text:<{before}} {tokens:>10,}" + (f" ${cost:.4f}" if has_prices else "")
        lines.append(text)
    n_calls = sum(len(step.get("replies", ())) for step in one.steps)
    head = f"{one.name}  {one.steps[0]['name']}: {one.outcome}, {n_calls:,} replies"
    return "\n".join([cell(head), *lines]) + "\n\n"


def _width() -> int:
    return Terminal.of(sys.stdout).width if sys.stdout.isatty() else _WIDTH


def _line(step: Step) -> str:
    """Describe one step in a line."""
    if step["kind"] == "end":
        because = ", ".join(step.get("because", ()))
        why = f" ({step['reason']})" if "reason" in step else f" by {because}" * bool(because)
        return f"end: {step['name']}{why}"
    inputs = {**step.get("args", {}), **step.get("in", {})}
    about = " ".join(
        _text(value) if name == "query" else f"{name}={_text(value)}"
        for name, value in inputs.items()
    )
    kind = "" if step["kind"] in ("call", "tool") else f"{step['kind']} "
    out = f" -> {_out(step['out'])}" if "out" in step else ""
    return f"{kind}{step['name']} {about}".rstrip() + out


def _out(out: Any) -> str:
    if isinstance(out, Mapping):
        if "unjudged" in out:
            return f"unjudged ({_text(out['unjudged'])})"
        if "label" in out:
            score = out.get("score")
            return f"{out['label']}" + (f" {score:.2f}" if isinstance(score, float) else "")
        return " ".join(f"{name}={_text(value)}" for name, value in out.items())
    if isinstance(out, list):
        each = [f"{one[0]} {one[1]:.2f}" if _is_hit(one) else _text(one) for one in out[:_MAX_HITS]]
        more = f" and {len(out) - _MAX_HITS:,} more" if len(out) > _MAX_HITS else ""
        return (", ".join(each) or "nothing") + more
    return _text(out)


def _is_hit(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2 and isinstance(one[1], int | float)


def _text(value: Any) -> str:
    is_text = isinstance(value, str) and (" " in value or not value)
    return cell(f'"{value}"' if is_text else str(value), _TEXT)


def _diff(results: Path, other: Path, wanted: TraceFilter, *, as_json: bool) -> None:
    n, different = 0, []
    for difference in differences(results, other, wanted):
        n += 1
        if difference is not None:
            different.append(difference)
    if as_json:
        write_objects(one.as_dict() for one in different)
        return
    for one in different:
        outcomes = " | ".join(name or "missing" for name in one.outcomes)
        write_text(cell(f"{one.item}  {one.stage}: {outcomes}") + "\n")
        for sign, step in zip("<>", one.steps, strict=True):
            line = "no further step" if step is None else f"{step['path']} {_line(step)}"
            write_text(cell(f"  {sign} {line}") + "\n")
    write_text(f"{_items(n)}, {len(different):,} with different steps\n")


class Prices:
    """The cost of steps, by the prices in the run's config.

    A trace does not record cache hits, so every reply counts in full. Prices are unknown if the
    config cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self._config: Config | None = None
        with suppress(InputError):  # no manifest, or a task of a package that is not installed
            self._config = read_folder_config(folder)
        self._price = cache(self._find_price)

    def find_cost(self, step: Step) -> float | None:
        """Dollars; None if the price of a model is unknown."""
        if not step.get("tokens"):
            return 0.0
        price = self._price(step["name"])
        prompt, completion = step["tokens"]
        return None if price is None else compute_cost(price, prompt, 0, completion)

    def _find_price(self, judge: str) -> Price | None:
        """The price of a judge's model; the members of a jury must share it."""
        if self._config is None or judge not in judge_names():
            return None
        prices = {get_price(model) for _, model in self._config.get_models(judge)}
        return prices.pop() if len(prices) == 1 else None


@dataclass(frozen=True)
class Difference:
    """The first step in which two traces of an item differ.

    Attributes:
        fields: the fields that differ.
        steps: the step in each trace; None: this trace has ended before.
        outcomes: the outcome of the item in each trace; None: the item is not in it.
    """

    stage: str
    item: str
    path: str
    fields: tuple[str, ...]
    steps: tuple[Step | None, Step | None]
    outcomes: tuple[str | None, str | None]

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return vars(self)


def differences(one: Path, other: Path, wanted: TraceFilter) -> Iterator[Difference | None]:
    """Yield the first difference of each item of two results folders; None for equal traces.

    Items are in the order of the first folder; items of the second folder only come last.

    Args:
        wanted: which items; outcome and reason are compared with the first folder only.

    Raises: InputError for a folder without a trace or with a broken one, and if neither folder has
        such an item.
    """
    there = wanted.without_outcome
    others = {(x.stage, x.name): x for x in read_folder_traces(other) if there.selects(x)}
    if not others:  # then it is in the first, or nowhere
        yield from (_first(trace, None) for trace in read_folder_traces(one, wanted))
        return
    for trace in filter(wanted.selects, read_folder_traces(one)):
        yield _first(trace, others.pop((trace.stage, trace.name), None))
    for trace in others.values() if wanted == there else ():
        yield _first(None, trace)


def _first(one: ItemTrace | None, other: ItemTrace | None) -> Difference | None:
    there = one or other
    assert there is not None
    outcomes = (one and one.outcome, other and other.outcome)
    steps = ((one.steps if one else ()), (other.steps if other else ()))
    for pair in zip_longest(*steps):
        left, right = ((step or {}) for step in pair)
        fields = tuple(
            name
            for name in dict.fromkeys((*left, *right))
            if name not in _NOT_COMPARED and left.get(name) != right.get(name)
        )
        if fields:
            path = (pair[0] or pair[1])["path"]
            return Difference(there.stage, there.name, path, fields, pair, outcomes)
    return None
