"""`judge jury`: what several judges are worth together, and each; at most 100 columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from ..options import AsJson, Kind, Level, Resamples, Seed, Where, print_result, where_of
from ..signatures import Positive, Takes, There
from ..stopping import list_problems
from ..tables import aligned, bounds, cell, figure, percent, shown

MOST_TOGETHER = 0.3  # correlation of errors from which Dawid and Skene's model is called unfit
_NAME = 48
Several = Annotated[int, Takes(min=2)]


def jury(
    judged: list[There],
    *,
    labels: There | None = None,
    where: Where = None,
    kind: Kind = None,
    votes: str = "votes",
    objective: str | None = None,
    best: list[Several] | None = None,
    family: str | None = None,
    topic_labels: Annotated[int, Takes(min=0)] = 10,
    draws: Positive = 50,
    how: str | None = None,
    out: Path | None = None,
    resamples: Resamples = 1000,
    seed: Seed = 0,
    level: Level = 0.95,
    as_json: AsJson = False,
) -> None:
    """Show what judges are worth together: effective votes, each one's effect, what they could be.

    Examples: judge jury results/jury --labels human.csv
    / judge jury results/gpt results/claude results/local --labels human.csv --best 2

    Args:
        judged: Results of a jury (or a file with votes), or of each judge.
        labels: Labels of people, to measure each way by.
        votes: Field of one file's rows that holds member -> label.
        objective: What members are chosen and cuts are fitted by, as of judge calibrate.
        best: Try the mean of so many, the best on other topics; repeatable.
        family (PATTERN): Members are of one family where this finds the same in their names.
        topic_labels: Labels of each topic that a fit may use; 0: none.
        draws: How often those are drawn.
        how: How --out combines: vote, median, mean, dawid-skene, or by topic: dawid-skene-topics.

    Output:
        out: Label file to write the combined labels to.
    """
    from ...calibration.jury.report import jury_report, write_combined
    from ...calibration.jury.ways import Settings
    from ...records.reading.problems import InputError, Problems

    problems = Problems()
    if (how is None) is not (out is None):
        raise InputError("--how and --out: wanted both, to write labels, or neither")
    ballots, report = jury_report(
        judged,
        problems,
        labels=labels,
        where=where_of(where or ()),
        kind=kind,
        votes=votes,
        settings=Settings(
            objective=objective or "",
            best=tuple(best or ()),
            family=_family(family),
            topic_labels=topic_labels,
            n_draws=draws,
            seed=seed,
        ),
        draws={"resamples": resamples, "seed": seed, "level": level},
    )
    if out is not None and how is not None:
        write_combined(out, ballots, how)
    written = f"\nWritten: {out}\n" if out is not None else ""
    print_result([report], lambda: shown(jury_text(report) + written), as_json=as_json)
    list_problems(problems)


def jury_text(report: Mapping[str, Any]) -> str:
    """The report in 100 columns."""
    lines = list(_head(report))
    if report["ways"]:
        lines += ["", *_ways(report)]
    lines += ["", *aligned(_members(report)).splitlines(), "", *_notes(report)]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _head(report: Mapping[str, Any]) -> Sequence[str]:
    worth, m = report["worth"], len(report["members"])
    by = "errors" if report["by_people"] else "differences from the jury"
    n_topics = f" of {report['n_topics']:,} topics" if report["n_topics"] else ""
    lines = [
        f"{m} members, {report['n_items']:,} items{n_topics}, labels of people for "
        f"{report['n_labelled']:,}; how: {report['how']}"
    ]
    if worth["value"] is not None:
        most = "" if report["by_people"] else "at most "
        lines.append(
            f"Worth {most}{worth['value']:.1f} votes of {m}: their {by} correlate "
            f"{figure(worth['correlation'], 2)}, on average."
        )
    if (families := report["families"]) is not None and families["value"] is not None:
        n = families["n_members"]
        lines.append(
            f"The best of each of {n} families: worth {families['value']:.1f} votes of {n}."
        )
    if report["n_adjudicated"]:
        n, changed = report["n_adjudicated"], report["n_overturned"]
        lines.append(
            f"The adjudicator decided {n:,} items, {changed:,} ({changed / n:.1%}) of them "
            "against the vote."
        )
    return lines


def _ways(report: Mapping[str, Any]) -> Sequence[str]:
    name = report["objective"]
    head = f"{'':<{_NAME}}{'kappa':>6}  {name if name != 'kappa' else 'the same':<22}less chosen"
    lines, uses = [head], None
    for way in report["ways"]:
        if way["uses"] != uses:
            uses = way["uses"]
            lines.append(_USES.get(uses, f"with labels of other topics, and {uses}:"))
        if way["why_not"]:
            lines.append(f"  {cell(way['name'], _NAME - 2)}: {cell(way['why_not'])}")
            continue
        value, less = way["value"], way["less_chosen"]
        both = f"{figure(value['value'])} {bounds(value)}"
        row = f"  {cell(way['name'], _NAME - 3):<{_NAME - 2}}{figure(way['kappa']):>6}  {both:<22}"
        if less is not None:
            row += f"{figure(less['value'], sign='+')} {bounds(less, '+')}"
        if way["n_unlabelled"]:
            row += f"  {way['n_unlabelled']:,.0f} without"
        lines.append(row)
    return lines


_USES = {
    "none": "without labels of people:",
    "other topics": "with labels of other topics:",
    "these": "in hindsight, with the labels that it is measured by:",
}


def _members(report: Mapping[str, Any]) -> list[list[str]]:
    objective = report["objective"]
    rows = [["member", "judged", "unjudged", "kappa", objective, "differs", "changes", "cost"]]
    for member in report["members"]:
        cost = member["cost"]
        rows.append(
            [
                cell(member["member"], 40),
                f"{member['n']:,}",
                f"{member['n_unjudged']:,}",
                figure(member["kappa"]),
                figure(member["value"]),
                percent(member["differs"]),
                percent(member["changes"]),
                "-" if cost is None else f"${cost:.4f}",
            ]
        )
    if objective == "kappa":
        rows = [row[:3] + row[4:] for row in rows]
    return rows


def _notes(report: Mapping[str, Any]) -> Sequence[str]:
    lines = [
        "differs: its labels that are not the jury's; changes: the jury's that would be others "
        "without it."
    ]
    correlation = report["worth"]["correlation"]
    if correlation is not None and correlation > MOST_TOGETHER:
        lines.append(
            "Members err together, which Dawid and Skene's model rules out: do not trust it here."
        )
    if report["n_off_scale"]:
        lines.append(f"{report['n_off_scale']:,} votes are no label of the scale; not counted.")
    return lines


def _family(pattern: str | None) -> Callable[[str], str] | None:
    from ...records.reading.problems import InputError

    if pattern is None:
        return None
    try:
        regex = re.compile(pattern)
    except re.error as error:
        raise InputError(f"--family {pattern}: no regular expression ({error})") from None

    def family(name: str) -> str:
        match = regex.search(name)
        return name if match is None else match[0]

    return family
