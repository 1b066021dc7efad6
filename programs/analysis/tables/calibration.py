"""What fitting a judge did on topics not fitted to: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....views.numbers import format_share, format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .words import FEW_TOPICS, count, get_interval, name_figure, write_estimate

_MAIN = ("kappa", "accuracy", "f1")  # shown beside the figure that was fitted for
_NEW = "on topics that the fit never saw"
_DROPPED = (
    "The correction of the judge's state is dropped: it was fitted to scores of the old prompt. "
    "Fit another to those of the new one, with this file as state."
)
_Report = Mapping[str, Any]


def fit_view(report: _Report, *, has_all: bool, may_fold: bool, missing: str) -> View:
    """What `judge calibrate` shows of the report of a fit.

    Args:
        has_all: all figures, and how often labels came true by their probability.
        may_fold: whether this method takes --folds. missing: what labels without probabilities are.
    """
    names = {name: name_figure(name) for name in report["figures"]}
    if "scale" in report:
        names["best_vs_rest"] = name_figure(f"one_vs_rest:{report['scale'][-1]}")
    main = report["main_figure"]
    verdict = _write_verdict(report, names[main], report["figures"][main])
    tables = [_figures(_describe_test(report), report["figures"], names, main, has_all)]
    if without := report.get("without_topic_labels"):
        title = f"Without the labels of the test topics ({report['topic_labels']} of each at most)"
        tables.append(_figures(title, without, names, main, has_all))
    if has_all:
        scores = report.get("probabilities", {})
        tables += [_reliability(side, rows) for side, rows in scores.items()]
    notes = [*_notes(report, may_fold), *_missing(report, missing)]
    notes += ["--all shows the other figures."] * (not has_all)
    return View(verdict, tables, notes)


def _write_verdict(report: _Report, name: str, main: _Report) -> str:
    """Whether the fit helped, by the figure that it was made for."""
    before, after, difference = main["before"], main["after"], main["difference"]
    if before is None:
        what = "the judge's own labels are of another scale, so there is no value before"
        return f"After the fit {name} is {write_estimate(after)} {_NEW}; {what}."
    sides = [format_short_share(of["value"]) for of in (before, after)]
    if (difference or {}).get("low") is None:
        values = ", ".join(
            f"{v} {side}" for v, side in zip(sides, ("before", "after"), strict=True)
        )
        return f"Whether the fit helped is not known: {name} has no interval here ({values})."
    change = f"from {sides[0]} to {sides[1]} {_NEW}: {write_estimate(difference, signed=True)}"
    return {
        "better": f"The fit helped: {name} rose {change}.",
        "worse": f"The fit did harm: {name} fell {change}.",
        "unclear": f"The fit is not shown to help: {name} went {change}.",
    }[report["verdict"]]


def _describe_test(report: _Report) -> str:
    return f"Tested on {report['n_test']:,} of {count(report['n_test_topics'], 'topic')}"


def _figures(
    title: str, figures: _Report, names: Mapping[str, str], main: str, has_all: bool
) -> Table:
    columns = [
        Column("figure", Kind.TEXT),
        Column("before", Kind.SHARE),
        Column("before_interval", Kind.INTERVAL, "interval before", optional=2),
        Column("after", Kind.SHARE),
        Column("after_interval", Kind.INTERVAL, "interval after", optional=1),
        Column("difference", Kind.DIFFERENCE),
        Column("difference_interval", Kind.INTERVAL, "interval", is_signed=True),
    ]
    rows = []
    for name in sorted(figures, key=lambda name: name != main):
        if not has_all and name not in (main, *_MAIN):
            continue
        cells: list[Cell] = [names[name]]
        for side in ("before", "after", "difference"):
            of = figures[name][side]
            cells += [None if of is None else of["value"], get_interval(of)]
        rows.append(Row(cells, Style.LEADING if name == main else Style.PLAIN))
    return Table(title, columns, rows)


def _reliability(side: str, scores: _Report) -> Table:
    columns = [
        Column("label", Kind.TEXT),
        Column("predicted", Kind.SHARE),
        Column("share", Kind.SHARE, "observed"),
        Column("n", Kind.COUNT),
    ]
    rows = [
        Row([row["label"], row["mean_probability"], row["share"], row["n"]])
        for row in scores["reliability"]
    ]
    return Table(f"Probabilities {side}, in groups of equally many items", columns, rows)


def _notes(report: _Report, may_fold: bool) -> Iterator[str]:
    matched = f", matched by {report['match']}" if "match" in report else ""
    yield (
        f"{report['judge']} by {report['model'] or 'DSPy'}, method {report['method']}, chosen by "
        f"{name_figure(report['objective'])}{matched}."
    )
    yield _describe_split(report)
    for side, scores in report.get("probabilities", {}).items():
        brier, loss, ece = (format_share(scores[name]) for name in ("brier", "log_loss", "ece"))
        about = f"(n {scores['n']:,})"
        yield f"Probabilities {side}: Brier {brier}, log loss {loss}, ECE {ece} {about}."
    if "optimiser" in report:
        yield from _optimiser(report["optimiser"])
    has_intervals = report["figures"][report["main_figure"]]["after"]["low"] is not None
    if has_intervals and (n := report["n_test_topics"]) < FEW_TOPICS:
        n_all = len({topic for part in report["topics"][0].values() for topic in part})
        more = f"; --folds {n_all} tests all {n_all}" if n < n_all and may_fold else ""
        yield f"With {count(n, 'test topic')} the intervals are a rough guide{more}."


def _describe_split(report: _Report) -> str:
    """What the judge was fitted to."""
    splits = report["topics"]
    n = (
        count(report["n_lists"], "list")
        if "match" in report
        else count(report["n_labels"], "label")
    )
    if len(splits) > 1:
        folds = f"{len(splits) - 1} of {len(splits)} folds"
        return f"{n}; each topic is tested by a fit to the other {folds}."
    parts = ", ".join(f"{name} {len(splits[0][name])}" for name in ("train", "dev", "test"))
    return f"{n}; topics: {parts}."


def _optimiser(optimised: _Report) -> Iterator[str]:
    gains = [format_share(optimised[f"dev_gain_{side}"]) for side in ("before", "after")]
    stopped = f"; stopped by the {optimised['stopped_by']}" if optimised["stopped_by"] else ""
    yield (
        f"{count(optimised['n_candidates'], 'candidate')}, {count(optimised['calls'], 'call')}; "
        f"mean gain on dev {gains[0]} before, {gains[1]} after{stopped}."
    )
    if optimised["correction_dropped"]:
        yield _DROPPED


def _missing(report: _Report, without: str) -> Iterator[str]:
    """What is not in the figures, and why."""
    if report["n_unjudged"]:
        what = "lists were not made" if "match" in report else "items were not judged"
        why = _reasons(report["unjudged"])
        yield f"{report['n_unjudged']:,} {what} and are left out: {why}."
    if n := report.get("n_without_probabilities"):
        yield f"{n:,} {without}: judge doctor tells whether the model gives any."
    if n := report.get("n_unmatched"):
        why = _reasons(report["unmatched"])
        yield f"{n:,} items of lists were not matched and are left out: {why}."


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in counts.items())
