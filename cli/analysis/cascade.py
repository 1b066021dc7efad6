"""`judge cascade`: which labels of a cheap judge to keep, from stored labels; 100 columns."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ..options import AsJson, Kind, Level, Resamples, Seed, Where, add, print_result, where_of
from ..signatures import Positive, Share, Takes, There
from ..stopping import list_problems
from ..tables import bounds, cell, figure, percent, shown

cascade = typer.Typer(
    help="Fit which labels of a cheap judge to keep, and see what that is worth.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)
Confidence = Literal["calibrated", "agreement", "margin"]
Repeated = Annotated[list[float], Takes(min=0, max=1)]


@dataclass(frozen=True)
class Labelled:
    """Labels of cheap judges and of a dear one, beside those of people.

    Args:
        labels: Labels of people.
        results: Results of the cheap judges, then those of the dear one.
        votes: Field of one file's rows that holds member -> label.
        member: Judges of the results to take, in order, the dear one last; repeatable.
        to_people: All results are cheap; people are the dear judge.
        how: What several cheap labels become.
        cut: A label is right on the same side of this one; else if it is the same.
        judge: Name or YAML file, where labels do not say it.
    """

    labels: There
    results: list[There]
    _: KW_ONLY
    where: Where = None
    kind: Kind = None
    votes: str = "votes"
    member: list[str] | None = None
    to_people: bool = False
    how: Literal["vote", "median", "mean"] = "median"
    cut: str | None = None
    judge: str | None = None

    def read(self) -> tuple[Any, Any]:
        """What they say, see `read_stored`, and the problems of their files."""
        from ...calibration.cascade.stored import read_stored
        from ...records.reading.problems import Problems

        problems, options = Problems(), dict(vars(self))
        files = options.pop("labels"), options.pop("results")
        options |= {"where": where_of(self.where or ()), "members": options.pop("member") or ()}
        return read_stored(*files, problems, **options), problems


def fit(
    given_labels: Labelled,
    *,
    out: Path,
    confidence: Confidence = "calibrated",
    share: Share | None = None,
    threshold: float | None = None,
    agree: float | None = None,
    with_: Annotated[float, Takes("--with")] = 0.9,
    unit: Literal["topic", "item"] = "topic",
    splits: Positive = 1000,
    seed: Seed = 0,
    as_json: AsJson = False,
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
        splits: Tries of it on topics left out.

    Output:
        out: Cascade file to write.
    """
    from ...calibration.cascade.report import choice, fit_report
    from ...records.reading.problems import InputError
    from ...records.writing.files import write_file

    if out.exists():
        raise InputError(f"{out}: is there already; name another file")
    promise = None if agree is None else {"agree": agree, "with": with_, "unit": unit}
    wanted = choice(share, threshold, promise)
    stored, problems = given_labels.read()
    state, report = fit_report(stored, confidence, wanted, splits=splits, seed=seed)
    write_file(out, state.text().encode())
    lines = [*_head(report), *_fitted(report), f"Written: {out}\n"]
    print_result([report], lambda: shown("\n".join(lines)), as_json=as_json)
    list_problems(problems)


def curve(
    given_labels: Labelled,
    *,
    confidence: Confidence = "calibrated",
    share: Repeated | None = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    as_json: AsJson = False,
) -> None:
    """Show what labels are worth as more of them go on, beside random ones and the cheap panel.

    Example: judge cascade curve human.csv results/small results/strong --share 0.3 --share 0.5

    Args:
        confidence: How sure a label is: fitted, by votes, or by probabilities.
        share: A share to show; repeatable.
    """
    from ...calibration.cascade.report import curve_report

    stored, problems = given_labels.read()
    draws = {"resamples": resamples, "seed": seed, "level": level}
    report = curve_report(stored, confidence, draws, share or ())  # type: ignore[arg-type]
    lines = [*_head(report), "", *_curve(report), ""]
    print_result([report], lambda: shown("\n".join(lines)), as_json=as_json)
    list_problems(problems)


def people(
    results: There,
    *,
    out: Path,
    kind: Kind = None,
    n: Annotated[Positive | None, Takes("--n")] = None,
    kept: Annotated[int, Takes(min=0)] = 100,
    seed: Seed = 0,
) -> None:
    """Write what a run left to people as a label file to fill in, with some of what it kept.

    Filled in, it corrects the scores: judge score RESULTS --labels people.csv

    Example: judge cascade people results/demo --out people.csv

    Args:
        results: Results that people complete.
        n: Take so many without a label; else all.
        kept: Kept ones to label too, at random, for corrected scores.

    Output:
        out: File to fill in: .csv or .jsonl.
    """
    from ...programs.analysis.people_sheet import people_sheet
    from ...programs.engine.label_sheet import write_sheet
    from ...records.reading.problems import Problems

    problems = Problems()
    sheet = people_sheet(results, problems, kind=kind, n=n, n_kept=kept, seed=seed)
    write_sheet(out, sheet.rows, problems)
    lines = [f"{count:>8,}  {name}" for name, count in sheet.n_by.items()]
    lines.append(f"{len(sheet.rows):>8,}  of {sheet.n_cells:,} items of {sheet.kind}")
    lines.append(f"Labels: {', '.join(map(cell, sheet.scale))}. Written: {out}\n")
    sys.stdout.write(shown("\n".join(lines)))
    list_problems(problems)


for command in (fit, curve, people):
    add(cascade, command)


def _head(report: Mapping[str, Any]) -> Sequence[str]:
    first = report["first"]
    several = f"{report['how']} of {len(first)}: " if len(first) > 1 else ""
    is_right = "the same label" if report["cut"] is None else f"the same side of {report['cut']}"
    lines = [
        cell(f"First: {several}{', '.join(first)}; then {report['next']}", 100),
        f"{report['n_items']:,} items of {report['n_topics']} topics with labels of people; right: "
        f"{is_right}, {report['right']:.1%} at first",
    ]
    texts = "" if report["has_texts"] else ", without the texts: no lexical score, no length"
    fitted = f", by fits to other topics{texts}" if report["confidence"] == "calibrated" else ""
    lines.append(
        f"Confidence: {report['confidence']}{fitted}; AUROC {figure(report['auroc'])} "
        "(does it tell right from wrong)"
    )
    if report["n_without_confidence"]:
        n = report["n_without_confidence"]
        lines.append(f"{n:,} items have no confidence (no label, or too few votes): they go on.")
    if report["n_off_scale"]:
        lines.append(f"Labels that are not on the scale, not counted: {report['n_off_scale']:,}.")
    return lines


def _fitted(report: Mapping[str, Any]) -> Sequence[str]:
    kept = 1 - report["goes_on"]
    lines = [
        "",
        f"Kept from confidence {report['threshold']:.4f} on: {kept:.1%} of the labels, "
        f"{percent(report['kept_right'])} of them right",
        f"To {report['next']}: {report['goes_on']:.1%}, "
        f"{percent(report['next_right_of_others'])} of them right there",
    ]
    if "guarantee" not in report:
        return lines
    promise = report["guarantee"]
    agree, level, unit = promise["agree"], promise["with"], promise["unit"]
    lines += [
        f"Guarantee: kept labels agree with people in >= {agree:.0%}, in {level:.0%} of fits;",
        f"rests on {promise['n_topics']} topics, by {unit}: at least {promise['at_least']:.1%} do",
    ]
    if unit == "item" and promise["design_effect"] is not None:
        lines.append(
            "Warning: items of one topic err together, which this bound does not see: design "
            f"effect {promise['design_effect']:.1f}."
        )
    for name, tried in promise["tried"].items():
        lines.append(
            f"Tried {tried['n']:,} times on {tried['n_topics']} topics, by {name}: on the others "
            f"broken in {tried['share']:.1%} (allowed {1 - level:.0%}), kept {tried['kept']:.1%}"
        )
    return lines


def _curve(report: Mapping[str, Any]) -> Sequence[str]:
    points, ordered = report["points"], report["points"][0]["quadratic"] is not None
    name = "quadratic" if ordered else "kappa"
    binary = report["cut"] is not None
    head = f"{'goes on':<9}{'kappa':>6}" + (f"{'linear':>7}" if ordered else "")
    head += f"  {name:<21}{'less ' + cell(report['next'], 14):<23}"
    head += f"{'accuracy':>8}{'kappa':>7}  " if binary else ""
    lines, way = [head + f"{'cost':>7}"], None
    for point in points:
        if point["way"] != way:
            way = point["way"]
            lines.append(_title(way, report))
        row = f"  {point['share']:>5.0%}  {_value(point['kappa']):>6}"
        row += f"{_value(point['linear']):>7}" if ordered else ""
        row += f"  {_both(point[name]):<21}{_both(point['less_dear'], '+'):<23}"
        row += f"{_value(point['accuracy']):>8}{_value(point['binary']):>7}  " if binary else ""
        lines.append(row + f"{_cost(point, report):>7}")
    lines.append("")
    if binary:
        lines.append(f"accuracy and the kappa after it: on two sides of {report['cut']}.")
    has_prices = None not in report["costs"]
    unit = "dollars for 1,000 items" if has_prices else "calls for an item; no prices are known"
    lines.append(f"cost: {unit}. Brackets: intervals over topics.")
    if unlabelled := max(point["n_unlabelled"] for point in points):
        lines.append(f"Up to {unlabelled:,.1f} items have no label and count in no figure.")
    return [line.rstrip() for line in lines]


def _title(way: str, report: Mapping[str, Any]) -> str:
    titles = {
        "confidence": "the least sure go on:",
        "random": "any go on, at random:",
        "panel": f"the cheap panel alone (median of {len(report['members'])}):",
        "dear": f"{cell(report['next'], 60)} alone:",
    }
    alone = way.removeprefix("random ")
    return titles.get(way, f"any go on, at random, of {cell(alone, 60)} alone:")


def _cost(point: Mapping[str, Any], report: Mapping[str, Any]) -> str:
    cheap, dear = report["costs"]
    if cheap is None or dear is None:
        return f"{point['calls']:.2f}"
    n_cheap = max(1, len(report["members"]))
    of_cheap = point["calls"] - point["share"]  # of the first stage, or of its first judge
    return f"{1000 * (cheap * of_cheap / n_cheap + dear * point['share']):.2f}"


def _value(of: Mapping[str, Any] | None) -> str:
    return figure(None if of is None else of["value"])


def _both(of: Mapping[str, Any], sign: str = "") -> str:
    return f"{figure(of['value'], sign=sign)} {bounds(of, sign)}"
