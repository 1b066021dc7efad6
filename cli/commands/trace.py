"""`judge trace`: what agents did for each item, compared, and proven from kept replies."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...records.reading.problems import InputError
from ...views.printing import print_view
from ...views.table import Column, Kind, Row, Table, View
from ...views.terminal import Terminal
from ..options import AsJson, read_pairs
from ..signatures import There
from ..stopping import GATE_FAILED
from ..tables import cell, write_objects, write_text

if TYPE_CHECKING:
    from ...programs.analysis.traces.reading import Prices
    from ...records.traces import ItemTrace, Step

_WIDTH = 100  # in a pipe
_SPENT = 22  # behind a step, for what was spent until then
_TEXT = 40  # of a text in it
_FIELDS = ("outcome", "reason", "stage")  # of --where
_MOST = 5  # passages of a search that are named


def trace(
    context: typer.Context,
    results: There,
    item: str | None = None,
    *,
    where: list[str] | None = None,
    diff: There | None = None,
    check: bool = False,
    as_json: AsJson = False,
) -> None:
    """Show what agents did, step by step, with the tokens and cost until then.

    Examples: judge trace results/evidence 2031-77/sys1
    / judge trace results/evidence --where outcome=not_found
    / judge trace results/evidence --diff results/before / judge trace results/evidence --check

    Args:
        results: A results folder of agents.
        item: Ids of an item, as topic/run/sentence, or the first of them.
        where (FIELD=VALUE): Only items of this outcome, reason or stage, e.g. outcome=not_found.
        diff: Other results: show each item's first other step.
        check: Replay the run from kept replies and compare its files; exit 1 if not.
    """
    from ...programs.analysis.traces.reading import Prices, Wanted, traces_of
    from ..views.partial import opened

    wanted = Wanted(item, **_fields_wanted(where or ()))
    if check:
        if diff is not None or any(wanted):
            raise InputError("--check: replays the whole run, wanted no ITEM, filter or --diff")
        _check(results, as_json=as_json)
        return
    results, *others = opened(context, [results] if diff is None else [results, diff])
    if others:
        _diff(results, others[0], wanted, as_json=as_json)
    elif as_json:
        write_objects(_rows(traces_of(results, wanted)))
    else:
        prices, ends = Prices(results), Counter[str]()
        for one in traces_of(results, wanted):
            ends[f"{one.outcome} ({one.reason})" if one.reason else one.outcome] += 1
            write_text(_tree(one, prices))
        counted = ", ".join(f"{name} {n:,}" for name, n in ends.most_common())
        write_text(f"{_items(ends.total())}{': ' * bool(ends)}{counted}\n")


def _fields_wanted(texts: Sequence[str]) -> dict[str, str]:
    """What an item must have, by the fields of `Wanted`. Raises: InputError for another form."""
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
        price = prices.of(step)
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
    """One step in words."""
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
        each = [f"{one[0]} {one[1]:.2f}" if _is_hit(one) else _text(one) for one in out[:_MOST]]
        more = f" and {len(out) - _MOST:,} more" if len(out) > _MOST else ""
        return (", ".join(each) or "nothing") + more
    return _text(out)


def _is_hit(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 2 and isinstance(one[1], int | float)


def _text(value: Any) -> str:
    is_text = isinstance(value, str) and (" " in value or not value)
    return cell(f'"{value}"' if is_text else str(value), _TEXT)


def _diff(results: Path, other: Path, wanted: Any, *, as_json: bool) -> None:
    from ...programs.analysis.traces.diff import differences

    n, different = 0, []
    for difference in differences(results, other, wanted):
        n += 1
        if difference is not None:
            different.append(difference)
    if as_json:
        write_objects(one.as_dict() for one in different)
        return
    for one in different:
        outcomes = " | ".join(name or "not there" for name in one.outcomes)
        write_text(cell(f"{one.item}  {one.stage}: {outcomes}") + "\n")
        for sign, step in zip("<>", one.steps, strict=True):
            line = "no further step" if step is None else f"{step['path']} {_line(step)}"
            write_text(cell(f"  {sign} {line}") + "\n")
    write_text(f"{_items(n)}, {len(different):,} with another step\n")


def _check(results: Path, *, as_json: bool) -> None:
    from ...programs.analysis.traces.replay import replay
    from ...programs.run import judge_collection

    replayed = replay(results, judge_collection)
    if as_json:
        about = {name: getattr(replayed, name) for name in ("is_same", "replies", "other")}
        write_objects([{**about, "files": [file.as_dict() for file in replayed.files]}])
    else:
        columns = [Column("file", Kind.NAME)]
        columns += [
            Column(name, Kind.COUNT)
            for name in ("lines", "not the same", "the same but for why it failed")
        ]
        rows = [Row([file.name, file.lines, file.differ, file.failed]) for file in replayed.files]
        print_view(View(tables=[Table("", columns, rows)]))
        for file in replayed.files:
            if file.first:
                write_text(f"{file.name}, {file.first}\n")
        write_text("".join(f"{line}\n" for line in replayed.other))
        how = "follow" if replayed.is_same else "do not follow"
        write_text(f"The results {how} from {replayed.replies:,} kept replies.\n")
    if not replayed.is_same:
        raise typer.Exit(GATE_FAILED)
