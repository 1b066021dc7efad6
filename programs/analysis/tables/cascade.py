"""What a cascade keeps of a cheap judge's labels, and what that is worth: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....views.numbers import format_share, format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .words import compare_with_zero, count, get_interval, join_words, name_figure, write_estimate

_LEAST_SURE, _AT_RANDOM, _PANEL, _BETTER = "confidence", "random", "panel", "dear"  # ways of points
_Report = Mapping[str, Any]


def fit_view(report: _Report) -> View:
    """What `judge cascade fit` shows of `fit_report`."""
    tables = [_tried(report["guarantee"])] if "guarantee" in report else []
    return View(_fit_verdict(report), tables, [*_notes(report), *_promise_notes(report)])


def _fit_verdict(report: _Report) -> str:
    goes_on, threshold = report["goes_on"], format_short_share(report["threshold"])
    text = f"Labels with confidence {threshold} or more are kept: {1 - goes_on:.0%}"
    text += _right(report["kept_right"], "of them right")
    text += f"; the other {goes_on:.0%} go to {report['next']}"
    text += _right(report["next_right_of_others"], "right there")
    if promise := report.get("guarantee"):
        text += (
            f"; guaranteed in {promise['with']:.0%} of fits: at least {promise['agree']:.0%} of "
            "the kept labels agree with people"
        )
    return f"{text}."


def _right(share: float | None, what: str) -> str:
    return "" if share is None else f", {share:.0%} {what}"


def _tried(promise: _Report) -> Table:
    columns = [
        Column("unit", Kind.NAME, "bound by"),
        Column("tries", Kind.COUNT),
        Column("topics", Kind.COUNT),
        Column("broken", Kind.SHARE, "share broken"),
        Column("kept", Kind.SHARE, "share kept"),
    ]
    rows = [
        Row([name, tried["n"], tried["n_topics"], tried["share"], tried["kept"]])
        for name, tried in promise["tried"].items()
    ]
    allowed = f"allowed to be broken: {format_short_share(1 - promise['with'])}"
    return Table("The guarantee, tried on topics left out", columns, rows, allowed)


def _promise_notes(report: _Report) -> Iterator[str]:
    if not (promise := report.get("guarantee")):
        return
    yield (
        f"The guarantee rests on {count(promise['n_topics'], 'topic')}, by {promise['unit']}: at "
        f"least {promise['at_least']:.1%} of the kept labels agree with people."
    )
    effect = promise["design_effect"]
    if promise["unit"] == "item" and effect is not None:
        yield (
            "Warning: items of one topic err together, which a bound by item does not see: design "
            f"effect {effect:.1f}."
        )


def curve_view(report: _Report, *, has_all: bool = False) -> View:
    """What `judge cascade curve` shows of `curve_report`.

    Args:
        has_all: also unweighted and linear kappa, and items drawn for the first judge alone.
    """
    tables = [_curve(report, has_all), _alone(report)]
    return View(_curve_verdict(report), tables, [*_notes(report), *_curve_notes(report)])


def _main(report: _Report) -> str:
    return "kappa" if report["points"][0]["quadratic"] is None else "quadratic"


def _curve_verdict(report: _Report) -> str:
    """The least share that is not significantly worse than asking the better judge about all.

    Where no share below 100% is, that which is nearest to half.
    """
    name, better = _main(report), report["next"]
    points = [point for point in _points(report, _LEAST_SURE) if point["share"] < 1]
    (alone,) = (point[name] for point in _points(report, _BETTER))
    if not points:
        return f"{better} about all items: {name_figure(name)} {write_estimate(alone)}."
    worse = [point for point in points if compare_with_zero(point["less_dear"]) < 0]
    last = max((point["share"] for point in worse), default=-1.0)
    enough = [point for point in points if point["share"] > last]
    if points[0]["less_dear"]["low"] is None:
        enough, outcome = [], ""
    elif enough:
        outcome = f": not significantly worse than {better} alone"
    else:
        outcome = f"; every share tried below 100% is significantly worse than {better} alone"
    chosen = enough[0] if enough else min(points, key=lambda point: abs(point["share"] - 0.5))
    who = "Keeping every cheap label"
    if chosen["share"]:
        who = f"Asking {better} about the least confident {chosen['share']:.0%}"
    random = [p[name] for p in _points(report, _AT_RANDOM) if p["share"] == chosen["share"]]
    against = [f"{format_short_share(each['value'])} at random" for each in random]
    against = [*against * bool(chosen["share"]), f"{format_short_share(alone['value'])} for all"]
    return (
        f"{who} gives {name_figure(name)} {write_estimate(chosen[name])}, against "
        f"{join_words(against)}{outcome}."
    )


def _points(report: _Report, way: str) -> list[_Report]:
    return [point for point in report["points"] if point["way"] == way]


def _value(estimate: _Report | None) -> float | None:
    return None if estimate is None else estimate["value"]


def _curve(report: _Report, has_all: bool) -> Table:
    """A row for each share that goes to the better judge, beside as many items at random."""
    name, has_cut = _main(report), report["cut"] is not None
    of_first = [way for way in dict.fromkeys(p["way"] for p in report["points"]) if " " in way]
    drawn = [_AT_RANDOM, *of_first] if has_all else [_AT_RANDOM]
    has_others = has_all and name != "kappa"
    kappa = Column("kappa", Kind.SHARE, optional=1)
    linear = Column("linear", Kind.SHARE, "linear kappa", optional=1)
    columns = [
        Column("share", Kind.NAME, "share asked"),
        Column("value", Kind.SHARE, name_figure(name)),
        Column("interval", Kind.INTERVAL, optional=2),
        *(_random_column(way) for way in drawn),
        Column("difference", Kind.DIFFERENCE, f"minus {report['next']}"),
        Column("difference_interval", Kind.INTERVAL, "interval", is_signed=True),
        *([kappa, linear] if has_others else []),
        *[Column("accuracy", Kind.SHARE, "right side of cut", optional=1)] * has_cut,
        *[Column("binary", Kind.SHARE, "kappa of sides", optional=1)] * has_cut,
        Column("cost", Kind.NUMBER, _cost_head(report), digits=2),
    ]  # fmt: skip
    random = {way: {p["share"]: p for p in _points(report, way)} for way in drawn}
    rows = []
    for point in _points(report, _LEAST_SURE):
        cells: list[Cell] = [f"{point['share']:.0%}", point[name]["value"]]
        cells.append(get_interval(point[name]))
        cells += [_value(random[way].get(point["share"], {}).get(name)) for way in drawn]
        cells += [point["less_dear"]["value"], get_interval(point["less_dear"])]
        cells += [_value(point["kappa"]), _value(point["linear"])] * has_others
        cells += [_value(point["accuracy"]), _value(point["binary"])] * has_cut
        rows.append(Row([*cells, _cost(point, report)]))
    about = f"{count(report['n_items'], 'item')}, {count(report['n_topics'], 'topic')}"
    title = f"{report['next']} asked about the least confident labels"
    return Table(title, columns, rows, about, has_all=has_all)


def _random_column(way: str) -> Column:
    alone = way.removeprefix(_AT_RANDOM).strip()
    head = f"at random, {alone}" if alone else "at random"
    return Column(way.replace(" ", "_"), Kind.SHARE, head, optional=1)


def _alone(report: _Report) -> Table:
    """What the cheap judges together, and the better one, reach for all items."""
    name = _main(report)
    titles = {
        _PANEL: f"the {len(report['members'])} cheap judges, median",
        _BETTER: report["next"],
    }
    columns = [
        Column("judge", Kind.NAME, "for all items"),
        Column("value", Kind.SHARE, name_figure(name)),
        Column("interval", Kind.INTERVAL),
        Column("cost", Kind.NUMBER, _cost_head(report), digits=2),
    ]
    rows = []
    for point in report["points"]:
        if (way := point["way"]) in titles:
            cells = [titles[way], point[name]["value"], get_interval(point[name])]
            style = Style.LEADING if way == _BETTER else Style.PLAIN
            rows.append(Row([*cells, _cost(point, report)], style))
    return Table("", columns, rows)


def _cost_head(report: _Report) -> str:
    return "calls an item" if None in report["costs"] else "dollars per 1,000 items"


def _cost(point: _Report, report: _Report) -> float:
    """Dollars for 1,000 items; calls for an item where no prices are known."""
    cheap, better = report["costs"]
    if cheap is None or better is None:
        return float(point["calls"])
    of_cheap = point["calls"] - point["share"]  # of the first stage, or of its first judge
    per_item = cheap * of_cheap / max(1, len(report["members"])) + better * point["share"]
    return float(1000 * per_item)


def _curve_notes(report: _Report) -> Iterator[str]:
    yield "Intervals are by topic."
    if report["cut"] is not None:
        yield f"Sides of the cut: {report['cut']} or better, or worse."
    if unlabelled := max(point["n_unlabelled"] for point in report["points"]):
        yield f"Up to {unlabelled:,.1f} items have no label and count in no figure."


def _notes(report: _Report) -> Iterator[str]:
    """Who judges first, and how well its confidence separates right from wrong."""
    first: Sequence[str] = report["first"]
    several = f"{report['how']} of {len(first)}: " if len(first) > 1 else ""
    is_right = "the same label" if report["cut"] is None else f"the same side of {report['cut']}"
    yield (
        f"First: {several}{', '.join(first)}; {report['right']:.1%} right ({is_right} as people, "
        f"{count(report['n_items'], 'item')}, {count(report['n_topics'], 'topic')})."
    )
    how = report["confidence"]
    if how == "calibrated":
        how += ", by fits to other topics"
        how += "" if report["has_texts"] else ", without the texts: no lexical score, no length"
    auroc = format_share(report["auroc"])
    yield f"Confidence: {how}; AUROC {auroc} (.5: it does not separate right from wrong)."
    if n := report["n_without_confidence"]:
        yield f"{count(n, 'item')} without confidence (no label, or too few votes): they go on."
    if n := report["n_off_scale"]:
        yield f"{count(n, 'label')} not counted: not on the scale."
