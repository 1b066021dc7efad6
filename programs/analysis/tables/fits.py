"""The effect of a fit on held-out topics, as tables, verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....views.numbers import format_number, format_share, format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .words import (
    FEW_TOPICS,
    MAX_TOGETHER,
    compare_with_zero,
    count,
    get_interval,
    join_words,
    name_figure,
    write_estimate,
)

_MAIN = ("kappa", "accuracy", "f1")  # shown beside the objective of the fit
_NEW = "on topics that the fit never saw"
_DROPPED = (
    "The correction of the judge's state is dropped: it was fitted to scores of the old prompt. "
    "Fit another to those of the new one, with this file as state."
)
_Report = Mapping[str, Any]


def make_calibration_view(report: _Report, *, has_all: bool, may_fold: bool, missing: str) -> View:
    """Return the view of `judge calibrate`.

    Args:
        has_all: show all coefficients, and how often labels were right by their probability.
        may_fold: whether this method supports --folds. missing: names items without
            probabilities.
    """
    names = {name: name_figure(name) for name in report["figures"]}
    if "scale" in report:
        names["best_vs_rest"] = name_figure(f"one_vs_rest:{report['scale'][-1]}")
    main = report["main_figure"]
    verdict = _write_verdict(report, names[main], report["figures"][main])
    tables = [_figures(_describe_test(report), report["figures"], names, main, has_all)]
    if without := report.get("without_topic_labels"):
        title = f"Without labels of the test topics (at most {report['topic_labels']} per topic)"
        tables.append(_figures(title, without, names, main, has_all))
    if has_all:
        scores = report.get("probabilities", {})
        tables += [_reliability(side, rows) for side, rows in scores.items()]
    notes = [*_notes(report, may_fold), *_missing(report, missing)]
    notes += ["--all shows the other coefficients."] * (not has_all)
    return View(verdict, tables, notes)


def _write_verdict(report: _Report, name: str, main: _Report) -> str:
    """Return a sentence: whether the fit helped, by its objective."""
    before, after, difference = main["before"], main["after"], main["difference"]
    if before is None:
        what = "the judge's own labels have another scale, so there is no value before the fit"
        return f"After the fit {name} is {write_estimate(after)} {_NEW}; {what}."
    sides = [format_short_share(of["value"]) for of in (before, after)]
    if (difference or {}).get("low") is None:
        values = ", ".join(
            f"{v} {side}" for v, side in zip(sides, ("before", "after"), strict=True)
        )
        return f"It is unknown whether the fit helped: {name} has no interval here ({values})."
    change = f"from {sides[0]} to {sides[1]} {_NEW}: {write_estimate(difference, signed=True)}"
    return {
        "better": f"The fit helped: {name} rose {change}.",
        "worse": f"The fit made the judge worse: {name} fell {change}.",
        "unclear": f"No significant effect of the fit: {name} went {change}.",
    }[report["verdict"]]


def _describe_test(report: _Report) -> str:
    items = count(report["n_test"], "label" if "scale" in report else "list")
    return f"Tested on {items} of {count(report['n_test_topics'], 'topic')}"


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
    return Table(f"Probabilities {side}, in groups of equal size", columns, rows)


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
        yield f"With {count(n, 'test topic')}, the intervals are only a rough guide{more}."


def _describe_split(report: _Report) -> str:
    """Describe the topics that the judge was fitted to and tested on."""
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
    """List what the coefficients exclude, and why."""
    if report["n_unjudged"]:
        what = "lists were not made" if "match" in report else "items were not judged"
        why = _reasons(report["unjudged"])
        yield f"{report['n_unjudged']:,} {what} and are excluded: {why}."
    if n := report.get("n_without_probabilities"):
        yield f"{n:,} {without}: judge doctor shows whether the model returns probabilities."
    if n := report.get("n_unmatched"):
        why = _reasons(report["unmatched"])
        yield f"{n:,} items of lists were not matched and are excluded: {why}."


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in counts.items())


_MIN_SURE, _AT_RANDOM, _PANEL, _BETTER = (
    "confidence",
    "random",
    "panel",
    "expensive",
)  # ways of points


def make_cascade_view(report: _Report) -> View:
    """Return the view of `judge cascade fit`."""
    tables = [_make_tried(report["guarantee"])] if "guarantee" in report else []
    return View(_fit_verdict(report), tables, [*_cascade_notes(report), *_promise_notes(report)])


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


def _make_tried(promise: _Report) -> Table:
    columns = [
        Column("unit", Kind.NAME, "bound by"),
        Column("tries", Kind.COUNT),
        Column("topics", Kind.COUNT),
        Column("broken", Kind.SHARE, "share not met"),
        Column("kept", Kind.SHARE, "share met"),
    ]
    rows = [
        Row([name, tried["n"], tried["n_topics"], tried["share"], tried["kept"]])
        for name, tried in promise["tried"].items()
    ]
    allowed = f"may be missed in: {format_short_share(1 - promise['with'])}"
    return Table("The guarantee on held-out topics", columns, rows, allowed)


def _promise_notes(report: _Report) -> Iterator[str]:
    if not (promise := report.get("guarantee")):
        return
    yield (
        f"The guarantee uses {count(promise['n_topics'], 'topic')}, by {promise['unit']}: at "
        f"least {promise['at_least']:.1%} of the kept labels agree with people."
    )
    effect = promise["design_effect"]
    if promise["unit"] == "item" and effect is not None:
        yield (
            "Warning: errors within a topic are correlated, which a bound by item ignores: design "
            f"effect {effect:.1f}."
        )


def make_curve_view(report: _Report, *, has_all: bool = False) -> View:
    """Return the view of `judge cascade curve`.

    Args:
        has_all: also show unweighted and linear kappa, and random items for the first judge only.
    """
    tables = [_curve(report, has_all), _alone(report)]
    return View(_curve_verdict(report), tables, [*_cascade_notes(report), *_curve_notes(report)])


def _main(report: _Report) -> str:
    return "kappa" if report["points"][0]["quadratic"] is None else "quadratic"


def _curve_verdict(report: _Report) -> str:
    """Return a sentence about the smallest share that is not significantly worse than 100%.

    If every share below 100% is significantly worse, it is about the share nearest to half.
    """
    name, better = _main(report), report["next"]
    points = [point for point in _points(report, _MIN_SURE) if point["share"] < 1]
    (alone,) = (point[name] for point in _points(report, _BETTER))
    if not points:
        return f"{better} about all items: {name_figure(name)} {write_estimate(alone)}."
    worse = [point for point in points if compare_with_zero(point["minus_expensive"]) < 0]
    last = max((point["share"] for point in worse), default=-1.0)
    enough = [point for point in points if point["share"] > last]
    if points[0]["minus_expensive"]["low"] is None:
        enough, outcome = [], ""
    elif enough:
        outcome = f": not significantly worse than {better} alone"
    else:
        outcome = f"; every tested share below 100% is significantly worse than {better} alone"
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
    """Make a table with a row for each share of items sent to the better judge."""
    name, has_cut = _main(report), report["cut"] is not None
    of_first = [way for way in dict.fromkeys(p["way"] for p in report["points"]) if " " in way]
    drawn = [_AT_RANDOM, *of_first] if has_all else [_AT_RANDOM]
    has_others = has_all and name != "kappa"
    kappa = Column("kappa", Kind.SHARE, optional=1)
    linear = Column("linear", Kind.SHARE, "linear kappa", optional=1)
    columns = [
        Column("share", Kind.NAME, "share sent"),
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
    for point in _points(report, _MIN_SURE):
        cells: list[Cell] = [f"{point['share']:.0%}", point[name]["value"]]
        cells.append(get_interval(point[name]))
        cells += [_value(random[way].get(point["share"], {}).get(name)) for way in drawn]
        cells += [point["minus_expensive"]["value"], get_interval(point["minus_expensive"])]
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
    """Make a table of the cheap judges and of the better judge on all items."""
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
    return "calls per item" if None in report["costs"] else "dollars per 1,000 items"


def _cost(point: _Report, report: _Report) -> float:
    """Return dollars per 1,000 items; calls per item if prices are unknown."""
    cheap, better = report["costs"]
    if cheap is None or better is None:
        return float(point["calls"])
    of_cheap = point["calls"] - point["share"]  # members of the first stage, or its judge
    per_item = cheap * of_cheap / max(1, len(report["members"])) + better * point["share"]
    return float(1000 * per_item)


def _curve_notes(report: _Report) -> Iterator[str]:
    yield "Intervals are by topic."
    if report["cut"] is not None:
        yield f"Sides of the cut: {report['cut']} or better, and worse."
    if unlabelled := max(point["n_unlabelled"] for point in report["points"]):
        yield f"Up to {unlabelled:,.1f} items have no label and are excluded."


def _cascade_notes(report: _Report) -> Iterator[str]:
    """List notes on the first judge, and how well its confidence separates right from wrong."""
    first: Sequence[str] = report["first"]
    several = f"{report['method']} of {len(first)}: " if len(first) > 1 else ""
    is_right = "the same label" if report["cut"] is None else f"the same side of {report['cut']}"
    yield (
        f"First: {several}{', '.join(first)}; {report['right']:.1%} right ({is_right} as people, "
        f"{count(report['n_items'], 'item')}, {count(report['n_topics'], 'topic')})."
    )
    how = report["confidence"]
    if how == "calibrated":
        how += ", by fits to other topics"
        how += "" if report["has_texts"] else ", without texts: no lexical score, no length"
    auroc = format_share(report["auroc"])
    yield f"Confidence: {how}; AUROC {auroc} (.5: it does not separate right from wrong)."
    if n := report["n_without_confidence"]:
        yield f"{count(n, 'item')} without confidence (no label or too few votes): sent on."
    if n := report["n_off_scale"]:
        yield f"{count(n, 'label')} not counted: not on the scale."


_CHOSEN = "single, chosen on other topics"  # all methods are compared with this member
_USES = {
    "none": "no labels",
    "other topics": "labels of other topics",
    "these": "the same labels (hindsight)",
}
_SIDES = {1: "better than", 0: "as well as", -1: "worse than"}


def make_jury_view(report: _Report, *, has_all: bool = False) -> View:
    """Return the view of `judge jury`.

    Args:
        has_all: also show methods that use labels of the same topic.
    """
    methods = [
        method
        for method in report["methods"]
        if has_all or method["uses"] in ("none", "other topics")
    ]
    tables = [_list_methods(report, methods)] if methods else []
    hidden = len(report["methods"]) - len(methods)
    notes = [*_jury_notes(report, methods)]
    notes += (
        [f"--all also shows {count(hidden, 'method')} with labels of the same topics."]
        if hidden
        else []
    )
    return View(write_jury_verdict(report), [*tables, _members(report)], notes)


def write_jury_verdict(report: _Report) -> str:
    """Return a sentence: whether the jury beats its best member, and how many judges it equals."""
    methods = {method["name"]: method for method in report["methods"]}
    worth = _worth(report)
    jury, member = (methods.get(name) for name in (report["method"], _CHOSEN))
    if not jury or not member or not jury["value"] or jury["value"]["value"] is None:
        return f"{worth}." if report["by_people"] else f"{worth}; --labels compares it with people."
    side = _SIDES[compare_with_zero(jury["minus_chosen"])]
    single = format_short_share(member["value"]["value"])
    return (
        f"The jury agrees with people {side} its best member: {name_figure(report['objective'])} "
        f"{write_estimate(jury['value'])} against {single}; {worth[:1].lower()}{worth[1:]}."
    )


def _worth(report: _Report) -> str:
    worth, m = report["worth"], len(report["members"])
    most, errors = ("", "errors") if report["by_people"] else ("at most ", "differences from it")
    if worth["value"] is None:
        return (
            f"How many judges its {m} members are worth is unknown: their {errors} vary too little"
        )
    votes = format_number(worth["value"], 1)
    correlation = format_short_share(worth["correlation"])
    why = f"{errors} correlate {correlation}"
    return f"Its {m} members are worth {most}{votes} independent judges ({why})"


def _list_methods(report: _Report, methods: Sequence[_Report]) -> Table:
    has_objective = report["objective"] != "kappa"
    columns = [
        Column("method", Kind.TEXT, "method"),
        Column("uses", Kind.TEXT, optional=3),
        *[Column("kappa", Kind.SHARE, optional=2)] * has_objective,
        Column("value", Kind.SHARE, name_figure(report["objective"])),
        Column("interval", Kind.INTERVAL, "interval", optional=1),
        Column("difference", Kind.DIFFERENCE, "minus best member"),
        Column("difference_interval", Kind.INTERVAL, "interval", is_signed=True),
    ]
    rows = []
    for method in methods:
        if method["why_not"]:
            continue
        value, difference = method["value"], method["minus_chosen"]
        cells = [
            method["name"],
            _USES.get(method["uses"], method["uses"]),
            *[method["kappa"]] * has_objective,
        ]
        cells += [value["value"], get_interval(value)]
        cells += [difference and difference["value"], get_interval(difference)]
        is_own = method["name"] == report["method"]
        rows.append(Row(cells, Style.LEADING if is_own else Style.PLAIN))
    aside = f"{count(report['n_labelled'], 'item')}, {count(report['n_topics'], 'topic')}"
    return Table("Agreement with people", columns, rows, aside)


def _members(report: _Report) -> Table:
    members, has_objective = report["members"], report["objective"] != "kappa"
    columns = {
        "member": Column("member", Kind.NAME),
        "n": Column("judged", Kind.COUNT),
        "n_unjudged": Column("unjudged", Kind.COUNT, optional=1),
        "kappa": Column("kappa", Kind.SHARE, optional=2 * has_objective),
        "value": Column("value", Kind.SHARE, name_figure(report["objective"])),
        "differs": Column("differs", Kind.SHARE, "differs from jury"),
        "changes": Column("changes", Kind.SHARE, "changes jury"),
        "cost": Column("cost", Kind.MONEY, optional=3),
    }
    used = [name for name in columns if any(row[name] for row in members)]
    if not has_objective and "value" in used:
        used.remove("value")
    rows = [Row([row[name] for name in used]) for row in members]
    about = f"{count(report['n_items'], 'item')}, jury: {report['method']}"
    return Table("Members", [columns[name] for name in used], rows, about)


def _jury_notes(report: _Report, methods: Sequence[_Report]) -> Iterator[str]:
    if methods:
        yield (
            "Best member: chosen and tested on different topics. Cuts are fitted to labels of "
            "other topics. Intervals are by topic."
        )
    yield (
        "differs: share of its labels that are not the jury's; changes: share of the jury's labels "
        "that would change without it."
    )
    if n := report["n_adjudicated"]:
        changed = report["n_overturned"]
        yield f"The adjudicator decided {count(n, 'item')}, {changed:,} against the vote."
    correlation = report["worth"]["correlation"]
    if correlation is not None and correlation > MAX_TOGETHER:
        yield (
            "Errors of members are correlated, so do not use Dawid and Skene's model: it assumes "
            "independent errors."
        )
    if n := report["n_off_scale"]:
        yield f"{count(n, 'vote')} not counted: not on the scale."
    for method in methods:
        if method["why_not"]:
            yield f"{method['name']}: {method['why_not']}."
        elif method["n_unlabelled"]:
            yield f"{method['name']}: gives no label for {method['n_unlabelled']:,.0f} items."
