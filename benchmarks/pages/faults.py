"""Which planted faults the lexical judge sees on TREC 2024 RAG: docs/benchmarks/fault-tests.md.

    python -m benchmarks.pages.faults DATA

DATA holds the folders rag24_e2e and rag24_support, as in docs/benchmarks/data.md; without them
nothing is printed.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import nuggetjudge
from nuggetjudge.plugins.lab.probe.faults import Cell, Tested, judges_in, probing_faults, rates
from nuggetjudge.plugins.lab.probe.probing import Options
from nuggetjudge.programs.engine.manifest import read_folder_config
from nuggetjudge.records.reading.problems import Problems

SAMPLE = 100  # cases of each fault
NAMES = {"assigner": "nuggets", "support": "support"}


@cache
def tested(data: Path) -> dict[str, Tested] | None:
    """The self-test of the lexical judge by program; None where the data is absent."""
    e2e, support = data / "rag24_e2e", data / "rag24_support"
    if not (e2e.is_dir() and support.is_dir()):
        return None
    with tempfile.TemporaryDirectory() as made:
        out = Path(made) / "out"
        nuggetjudge.run(
            program="nuggets,support",
            topics=e2e / "topics.tsv",
            runs=[str(e2e / "runs")],
            nuggets=e2e / "nuggets_nist.jsonl",
            passages=[e2e / "passages.jsonl", support / "passages.jsonl"],
            out=out,
            allow_missing=1.0,
        )
        options = Options(limit=SAMPLE)
        report = probing_faults(
            out, judges_in(out), read_folder_config(out), Problems(), options
        ).ask()
    return {NAMES[one.judge["judge"]]: one for one in report.found}


def cells_of(one: Tested) -> list[Cell]:
    """What had to do something, as the lexical judge labels it."""
    return [cell for each in one.answered for cell in each.cells()]


def always_best(cells: Sequence[Cell], scale: Sequence[str]) -> list[Cell]:
    """The same by a judge that finds everything supported."""
    return [replace(cell, before=scale[-1], after=scale[-1]) for cell in cells]


def at_random(cells: Sequence[Cell], scale: Sequence[str], seed: int = 0) -> list[Cell]:
    """The same by one that draws a label each time."""
    drawn = np.random.default_rng(seed).choice(list(scale), size=(len(cells), 2))
    return [
        replace(cell, before=str(one), after=str(other))
        for cell, (one, other) in zip(cells, drawn, strict=True)
    ]


def by_rule(cells: Sequence[Cell], scale: Sequence[str]) -> list[Cell]:
    """The same by one that knows what was planted."""
    after = {"down": scale[0], "same": scale[-1]}
    return [replace(cell, before=scale[-1], after=after[cell.must]) for cell in cells]


JUDGES: Mapping[str, Callable[[Sequence[Cell], Sequence[str]], list[Cell]]] = {
    "lexical": lambda cells, scale: list(cells),
    "always the best label": always_best,
    "a label at random": at_random,
    "by what was planted": by_rule,
}


def judged(one: Tested) -> dict[str, dict[str, Any]]:
    """Detection, false alarms and informedness of each of `JUDGES` on the same cases."""
    cells = cells_of(one)
    return {
        name: rates(labelled(cells, one.scale), one.scale, one.gains, seed=0)
        for name, labelled in JUDGES.items()
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    options = parser.parse_args(arguments)
    by_program = tested(options.data)
    if by_program is None:
        print(f"rag24_e2e, rag24_support: not found in {options.data}", file=sys.stderr)
        return
    for program, one in by_program.items():
        print(f"\n| {program} | test | planted | n | fell | n | moved |")
        print("|---|---|---:|---:|---|---:|---|")
        for row in one.rows:
            fell, moved = row["detection"], row["false_alarms"]
            planted = row["planted"] if "blind" not in row else "not seen"
            cells = [row["fault"], row["test"] or "", planted]
            cells += [fell["n"], _estimate(fell), moved["n"], _estimate(moved)]
            print("| " + " | ".join(map(str, cells)) + " |")
    print("\n| judge | of | fell | moved | informedness |\n|---|---|---|---|---|")
    for program, one in by_program.items():
        for judge, figures in judged(one).items():
            estimates = (figures[n] for n in ("detection", "false_alarms", "informedness"))
            print(f"| {judge} | {program} | " + " | ".join(map(_estimate, estimates)) + " |")


def _estimate(row: Mapping[str, Any]) -> str:
    if row["value"] is None:
        return "-"
    bounds = "" if row["low"] is None else f" [{row['low']:.3f}, {row['high']:.3f}]"
    return f"{row['value']:.3f}{bounds}"


if __name__ == "__main__":
    main()
