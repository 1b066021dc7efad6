"""`judge jury`: what several judges are worth together, and each."""

from __future__ import annotations

from pathlib import Path

from ..options import Kind, OutputOfMuch, Where, read_where
from ..signatures import ExistingPath
from ..stopping import list_problems
from ..tables import write_note


def jury(
    judged: list[ExistingPath],
    *,
    labels: ExistingPath | None = None,
    where: Where = None,
    kind: Kind = None,
    votes: str = "votes",
    objective: str | None = None,
    method: str | None = None,
    out: Path | None = None,
    output: OutputOfMuch,
) -> None:
    """Compare a jury with its members: agreement with people, and how many judges it is worth.

    Examples: judge jury results/jury --labels human.csv
    / judge jury results/gpt results/claude results/local --labels human.csv

    Args:
        judged: Results of a jury (or a file with votes), or of each judge.
        labels: Labels of people, to compare all methods of combining votes with.
        votes: Field of one file's rows that holds member -> label.
        objective: How agreement is measured, as in judge calibrate.
        method: How --out combines votes: vote, median, mean, dawid-skene; dawid-skene-topics: the
            last by topic.

    Output:
        out: Label file to write the combined labels to.
    """
    from ...calibration.juries import make_jury_report, write_combined
    from ...programs.analysis.tables.fits import make_jury_view
    from ...records.reading.problems import InputError, Problems

    problems = Problems()
    if (method is None) is not (out is None):
        raise InputError("--method and --out: wanted both, to write labels, or neither")
    jury, report = make_jury_report(
        judged,
        problems,
        labels=labels,
        where=read_where(where or ()),
        kind=kind,
        votes=votes,
        objective=objective,
        draws={},
    )
    if out is not None and method is not None:
        write_combined(out, jury, method)
    output.print([report], lambda has_all: make_jury_view(report, has_all=has_all))
    if out is not None:
        write_note(f"Written: {out}\n")
    list_problems(problems)
