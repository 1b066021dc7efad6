"""`judge cascade`: which labels of a cheap judge to keep, from stored labels"""

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
    help="Keep confident labels of a cheap judge, send the others to a better judge or people.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Confidence = Literal["calibrated", "agreement", "margin"]
Repeated = Annotated[list[float], OptionRules(min=0, max=1)]


@dataclass(frozen=True)
class Labelled:
    """Labels of cheap judges and of a better one, beside those of people.

    Args:
        labels: Labels of people.
        results: Results of the cheap judges, then those of the better one.
        votes: Field of one file's rows that holds member -> label.
        member: Judges of the results to take, in order, the better one last; repeatable.
        to_people: All results are cheap; people are the better judge.
        method: What several cheap labels become.
        cut: A label is right on the same side of this one; else if it is the same.
        judge: Name or YAML file, where labels do not say it.
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
        """What they say, see `read_stored`, and the problems of their files."""
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
    """Choose from which confidence on a cheap label is kept, and write it for a config.

    Example: judge cascade fit human.csv results/small results/strong --agree 0.8 --out cascade.json

    Args:
        confidence: How sure a label is: fitted, by votes, or by probabilities.
        share: Have about this share go on.
        threshold: Keep labels from this confidence on.
        agree: Have this share of the kept labels right: a guarantee.
        with_: Share of fits in which the guarantee is to hold.
        unit: What the guarantee takes for a sample of more of its kind.

    Output:
        out: Cascade file to write.
    """
    from ...calibration.cascades import choose_target, make_fit_report
    from ...programs.analysis.tables.fits import make_cascade_view
    from ...records.reading.problems import InputError
    from ...records.writing import write_file

    if out.exists():
        raise InputError(f"{out}: is there already; name another file")
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
    """Show how good labels are as more of them go to the better judge, by confidence or at random.

    Example: judge cascade curve human.csv results/small results/strong --share 0.3 --share 0.5

    Args:
        confidence: How sure a label is: fitted, by votes, or by probabilities.
        share: A share to show; repeatable.
    """
    from ...calibration.cascades import make_curve_report
    from ...programs.analysis.tables.fits import make_curve_view

    stored, problems = given_labels.read()
    report = make_curve_report(stored, confidence, {}, share or ())
    output.print([report], lambda has_all: make_curve_view(report, has_all=has_all))
    list_problems(problems)


for command in (fit, curve):
    add_command(cascade, command)
