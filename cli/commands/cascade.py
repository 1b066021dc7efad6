"""`judge cascade`: choose which labels of a cheap judge to keep, from stored labels."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..options import Kind, Output, OutputOfMuch, Where, add_command, read_where
from ..signatures import ExistingPath, OptionRules, Share
from ..stopping import list_problems
from ..tables import write_note

cascade = typer.Typer(
    help="Use a cheap judge first; send uncertain items to a better judge or to people.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Confidence = Literal["calibrated", "agreement", "margin"]
Repeated = Annotated[list[float], OptionRules(min=0, max=1)]


@dataclass(frozen=True)
class Labelled:
    """Labels of cheap judges and of a better judge, and human labels.

    Args:
        labels: Human labels.
        results: Results of the cheap judges, then of the better judge.
        votes: Field with the votes, member -> label, if one file has all labels.
        member: Judges to use from the results, in order, the better judge last; may be repeated.
        to_people: Treat all results as cheap; people are the better judge.
        method: How to combine several cheap labels.
        cut: Count a label as correct if it is on the human label's side of this label; default:
            if it is equal.
        judge: Judge that gave the labels, a name or YAML file, if the labels do not name it.
    """

    labels: ExistingPath
    results: list[ExistingPath]
    _: KW_ONLY
    where: Where = None
    kind: Kind = None
    votes: str = "votes"
    member: list[str] | None = None
    to_people: bool = False
    method: Literal["vote", "median", "mean"] = "median"
    cut: str | None = None
    judge: str | None = None

    def read(self) -> tuple[Any, Any]:
        """Read the labels, see `read_stored`, and the problems of their files."""
        from ...calibration.stored import read_stored
        from ...records.reading.problems import Problems

        problems, options = Problems(), dict(vars(self))
        files = options.pop("labels"), options.pop("results")
        options |= {"where": read_where(self.where or ()), "members": options.pop("member") or ()}
        return read_stored(*files, problems, **options), problems


def fit(
    given_labels: Labelled,
    *,
    out: Path,
    confidence: Confidence = "calibrated",
    share: Share | None = None,
    threshold: float | None = None,
    agree: float | None = None,
    with_: Annotated[float, OptionRules("--with")] = 0.9,
    unit: Literal["topic", "item"] = "topic",
    output: Output,
) -> None:
    """Fit the confidence from which to keep a cheap label, and write a cascade file.

    Example: judge cascade fit human.csv results/small results/strong --agree 0.8 --out cascade.json

    Args:
        confidence: Confidence of a label: calibrated (fitted), agreement (votes) or margin
            (probabilities).
        share: Send about this share of items to the better judge.
        threshold: Keep labels with at least this confidence.
        agree: Guarantee that people agree with this share of the kept labels.
        with_: Confidence level of the guarantee.
        unit: Sampling unit of the guarantee.

    Output:
        out: Cascade file to write.
    """
    from ...calibration.cascades import choose_target, make_fit_report
    from ...programs.analysis.tables.fits import make_cascade_view
    from ...records.reading.problems import InputError
    from ...records.writing import write_file

    if out.exists():
        raise InputError(f"{out}: exists already; name another file")
    promise = None if agree is None else {"agree": agree, "with": with_, "unit": unit}
    wanted = choose_target(share, threshold, promise)
    stored, problems = given_labels.read()
    state, report = make_fit_report(stored, confidence, wanted)
    write_file(out, state.text().encode())
    output.print([report], lambda _: make_cascade_view(report))
    write_note(f"Written: {out}\n")
    list_problems(problems)


def curve(
    given_labels: Labelled,
    *,
    confidence: Confidence = "calibrated",
    share: Repeated | None = None,
    output: OutputOfMuch,
) -> None:
    """Show label quality by the share of items sent to the better judge.

    Example: judge cascade curve human.csv results/small results/strong --share 0.3 --share 0.5

    Args:
        confidence: Confidence of a label: calibrated (fitted), agreement (votes) or margin
            (probabilities).
        share: A share to show; may be repeated.
    """
    from ...calibration.cascades import make_curve_report
    from ...programs.analysis.tables.fits import make_curve_view

    stored, problems = given_labels.read()
    report = make_curve_report(stored, confidence, {}, share or ())
    output.print([report], lambda has_all: make_curve_view(report, has_all=has_all))
    list_problems(problems)


for command in (fit, curve):
    add_command(cascade, command)
