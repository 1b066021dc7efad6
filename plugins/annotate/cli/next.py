"""`judge next`: choose the items that people should label next."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ....cli.options import Kind
from ....cli.signatures import ExistingPath, OptionRules, Positive
from ....cli.stopping import list_problems, open_results
from ....cli.tables import cell, write_text
from ....programs.engine.label_sheet import write_sheet
from ....programs.protocols.judged_files import kinds_in
from ....records.reading.problems import InputError, Problems
from ..work.next_labels import make_people_sheet, next_labels


def next(
    context: typer.Context,
    results: list[ExistingPath],
    *,
    out: Path,
    n: Annotated[Positive | None, OptionRules("--n")] = None,
    labels: ExistingPath | None = None,
    kind: Kind = None,
    random_share: float = 0.5,
    kept: Annotated[int | None, OptionRules(min=0)] = None,
) -> None:
    """Choose items for people to label and write them as a label file to fill in.

    Then correct the scores with the filled file: judge score RESULTS --labels FILE

    Examples: judge next results/demo --n 100 --out to-label.csv
    / judge next results/cascade --kept 100 --out people.csv

    Args:
        results: Results folders or label files, one for each judge.
        n: Items to label; default: 100; with --kept all items without a label.
        labels: Existing labels from people; their items are left out.
        random_share: Share of the items drawn at random, which corrected scores need.
        kept: Take the items that a cascade left without a label, and this many labelled items.

    Output:
        out: File to fill in: .csv or .jsonl.
    """
    problems = Problems()
    folders = open_results(context, results)
    if kept is None:
        sheet = next_labels(
            folders,
            100 if n is None else n,
            problems,
            labels=labels,
            kind=kind,
            random_share=random_share,
        )
    elif len(folders) > 1 or labels is not None:
        raise InputError("--kept needs one results folder, and no --labels")
    else:
        sheet = make_people_sheet(folders[0], problems, kind=kind, n=n, n_kept=kept)
    write_sheet(out, sheet.rows, problems)
    lines = [f"{count:>8,}  {name}" for name, count in sheet.n_by.items()]
    left = f"of {sheet.n_cells:,} items; {sheet.n_labelled:,} already have a label"
    lines += [
        f"{len(sheet.rows):>8,}  {left}",
        f"Labels of {sheet.kind}: {', '.join(map(cell, sheet.scale))}. Written: {out}",
    ]
    if kind is None and (others := _other_kinds(results[0], sheet.kind)):
        lines.append(f"Other judgements of the results: {', '.join(others)} (--kind).")
    write_text("\n".join(lines) + "\n")
    list_problems(problems)


def _other_kinds(path: Path, chosen: str) -> list[str]:
    return [kind for kind in kinds_in(path) if kind != chosen] if path.is_dir() else []
