"""`judge jury`: compare a jury with its members."""

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
    """Compare a jury with its members: agreement with people, and the effective number of judges.

    Examples: judge jury results/jury --labels human.csv
    / judge jury results/gpt results/claude results/local --labels human.csv

    Args:
        judged: Results of a jury or a file with votes; or results of each judge.
        labels: Human labels, to compare the methods of combining votes.
        votes: Field with the votes, member -> label, if one file has all labels.
        objective: Agreement to compare methods by: kappa, linear, quadratic, macro_f1, accuracy or
            one_vs_rest:LABEL; default: linear, or kappa for 2 labels.
        method: How --out combines votes: vote, median, mean, dawid-skene, or dawid-skene-topics
            (fitted per topic).

    Output:
        out: Label file to write the combined labels to.
    """
    from ...calibration.juries import make_jury_report, write_combined
    from ...programs.analysis.tables.fits import make_jury_view
    from ...records.reading.problems import InputError, Problems

    problems = Problems()
    if (method is None) is not (out is None):
        raise InputError("--method and --out: give both to write labels, or neither")
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
