"""`judge next`: what people should label next."""

from __future__ import annotations

from pathlib import Path

import typer

from ..options import Kind
from ..signatures import Positive, There
from ..stopping import list_problems
from ..tables import cell, write_text


def next(
    context: typer.Context,
    results: list[There],
    *,
    out: Path,
    n: Positive = 100,
    labels: There | None = None,
    kind: Kind = None,
    random_share: float = 0.5,
) -> None:
    """Choose cells for people to label and write them as a label file to fill in.

    Example: judge next results/demo --n 100 --out to-label.csv

    Args:
        results: Results folders or label files, one a judge.
        n: Cells to label.
        labels: What people labelled already; left out.
        random_share: Share of them drawn at random, for corrected scores.

    Output:
        out: File to fill in: .csv or .jsonl.
    """
    from ...programs.analysis.next_labels import next_labels
    from ...programs.engine.label_sheet import write_sheet
    from ...records.reading.problems import Problems
    from ..views.partial import opened

    problems = Problems()
    sheet = next_labels(
        opened(context, results),
        n,
        problems,
        labels=labels,
        kind=kind,
        random_share=random_share,
    )
    write_sheet(out, sheet.rows, problems)
    lines = [f"{count:>8,}  {name}" for name, count in sheet.n_by.items()]
    left = f"of {sheet.n_cells:,} judged cells, {sheet.n_labelled:,} labelled before"
    lines += [
        f"{len(sheet.rows):>8,}  {left}",
        f"Labels of {sheet.kind}: {', '.join(map(cell, sheet.scale))}. Written: {out}",
    ]
    if kind is None and (others := _other_kinds(results[0], sheet.kind)):
        lines.append(f"Also judged there: {', '.join(others)} (--kind).")
    write_text("\n".join(lines) + "\n")
    list_problems(problems)


def _other_kinds(path: Path, chosen: str) -> list[str]:
    from ...programs.protocols.judged_files import kinds_in

    return [kind for kind in kinds_in(path) if kind != chosen] if path.is_dir() else []
