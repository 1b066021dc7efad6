"""Runs the parts of a study one after the other; started again it goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from nuggetjudge.backends.budget import compute_cost, get_price
from nuggetjudge.judges.verdicts import NO_PROBABILITIES
from nuggetjudge.programs.config.sections import Config, JudgeConfig
from nuggetjudge.programs.engine.manifest import constant_judges, read_manifest
from nuggetjudge.programs.engine.results import MANIFEST
from nuggetjudge.programs.engine.spending import Estimate
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.records.writing import Appending, NewFile

from .plan import Part, items_file

SPENT = "spent.jsonl"  # what each start of a part took, but for those that were killed


class State(StrEnum):
    """How far a part is."""

    DONE = "done"
    STOPPED = "stopped"  # at a limit
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Taken:
    """What the replies of a part took; `cost` None: without a known price."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0


def write_items(part: Part, out: Path) -> None:
    """Write the items of its set, as `judge run items` reads them."""
    file = NewFile(items_file(part.of, out))
    for item in part.items:
        file.write(json.dumps({**item.ids, **item.inputs}, ensure_ascii=False).encode() + b"\n")
    file.close()


def run_part(part: Part, out: Path, max_cost: float | None, quiet: bool) -> State:
    """Judge what a part lacks.

    Args:
        max_cost: dollars that are left for this start.

    Raises: InputError, EndpointUnusable; KeyboardInterrupt: its journal is there.
    """
    if max_cost is not None and max_cost <= 0:
        return State.NOT_RUN
    result = judge_collection(part.config.change("run", max_cost=max_cost), quiet=quiet)
    this_time = result.manifest["this_time"]
    if this_time["requests"]:
        path = out / SPENT
        file = Appending(path, path.stat().st_size if path.exists() else 0)
        row = {"part": part.name, "cost": this_time["cost"], "requests": this_time["requests"]}
        file.write(json.dumps(row).encode() + b"\n")
        file.close()
    return State.STOPPED if result.manifest["limit_reached"] else State.DONE


def doubts(part: Part) -> list[str]:
    """What to know of the judge of a part that was run."""
    folder = part.config.run.out
    if not (folder / MANIFEST).is_file():
        return []
    what = list(constant_judges(read_manifest(folder)))
    if n := count_without_probabilities(part):
        what.append(f"{part.name}: {n:,} {NO_PROBABILITIES}")
    return what


def count_without_probabilities(part: Part) -> int:
    """Labels of a part that was run whose probabilities were asked for and did not come."""
    folder = part.config.run.out
    there = (folder / MANIFEST).is_file()
    return int(read_manifest(folder)["counts"].get(NO_PROBABILITIES, 0)) if there else 0


def taken(part: Part) -> Taken:
    """What all replies of a part took, by its journals, those of starts that were killed too."""
    total = Taken()
    price = get_price(part.config.get_model(part.of.judge)[1])
    for _, _, prompt, cached, written, *_ in _calls(part.config.run.out):
        cost = None if price is None or total.cost is None else total.cost
        if cost is not None:
            cost += compute_cost(price, prompt, cached, written)
        total = Taken(
            total.calls + 1, total.prompt_tokens + prompt, total.completion_tokens + written, cost
        )
    return total


def spent(parts: Sequence[Part], out: Path) -> float:
    """Dollars that a study has taken: of each part by its journals, or by its starts if more.

    Journals lack replies that were asked for again; what a killed start took is in them alone.
    """
    by_part: dict[str, float] = {}
    if (out / SPENT).is_file():
        whole, _, _ = (out / SPENT).read_text(encoding="utf-8").rpartition("\n")
        for row in map(json.loads, whole.splitlines()):
            by_part[row["part"]] = by_part.get(row["part"], 0.0) + (row["cost"] or 0.0)
    return sum(max(taken(part).cost or 0.0, by_part.get(part.name, 0.0)) for part in parts)


def planned(part: Part) -> list[Estimate]:
    """What a part would ask, as if nothing were there yet."""
    return [replace(one, judge=part.name) for one in plan(part.config)]


def lexical(part: Part, out: Path) -> Config:
    """The lexical judge on the items of a part, whatever its variant."""
    name = part.of.judge
    judge = JudgeConfig.model_validate(part.of.settings)
    plain = part.config.model_copy(update={"models": {}, "judges": {name: judge}})
    where = {"out": out / "lexical" / part.of.key, "executor": "local", "max_cost": None}
    return plain.change("run", **where)


def _calls(folder: Path) -> Iterator[list[Any]]:
    """Of each reply in the journals, what `Provenance` has."""
    for path in sorted((folder / "journal").glob("*.jsonl")):
        if path.name.startswith("batches-"):
            continue
        with path.open("rb") as journal:
            for line in journal:
                if line.endswith(b"\n"):
                    yield from json.loads(line)["p"]
