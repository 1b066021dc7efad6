"""What a jury of recorded judges is worth: the tables of docs/benchmarks/jury-methods.md.

    python -m benchmarks.pages.juries DATA

DATA holds the folder dl23_llmjudge: pairs.jsonl, a line for each passage with qid, docid,
relevance (of people) and llm (judge -> label). It is what `judge jury` prints of them.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nuggetjudge.calibration.juries import make_jury_report
from nuggetjudge.records.reading.problems import Problems


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    path = parser.parse_args(arguments).data / "dl23_llmjudge" / "pairs.jsonl"
    if not path.is_file():
        print(f"dl23_llmjudge: not found at {path}", file=sys.stderr)
        return
    _, report = make_jury_report(
        [path],
        Problems(),
        labels=path,
        where=None,
        kind=None,
        votes="llm",
        objective=None,
        draws={},
    )
    print("| judges | effective votes | correlation of errors |\n|---|---:|---:|")
    worth = report["worth"]
    print(f"| all 33 | {worth['value']:.1f} | {worth['correlation']:.2f} |")
    print(
        "\n| method | labels of people that it uses | kappa | quadratic | minus the chosen judge |"
    )
    print("|---|---|---:|---:|---:|")
    for method in report["methods"]:
        less = method["minus_chosen"]
        cells = [
            method["name"],
            method["uses"],
            f"{method['kappa']:.3f}",
            _bounded(method["value"]),
        ]
        print(f"| {' | '.join(cells)} | {_bounded(less, '+') if less else '–'} |")


def _bounded(of: Mapping[str, Any], sign: str = "") -> str:
    return f"{of['value']:{sign}.3f} [{of['low']:{sign}.3f}, {of['high']:{sign}.3f}]"


if __name__ == "__main__":
    main()
