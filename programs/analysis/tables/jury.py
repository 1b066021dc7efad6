"""What several judges are worth together, and each, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....views.numbers import format_number, format_short_share
from ....views.table import Column, Kind, Row, Style, Table, View
from .words import (
    MOST_TOGETHER,
    compare_with_zero,
    count,
    get_interval,
    name_figure,
    write_estimate,
)

_CHOSEN = "single, chosen on other topics"  # the member that all ways are compared with
_USES = {
    "none": "no labels",
    "other topics": "labels of other topics",
    "these": "the same labels: hindsight",
}
_SIDES = {1: "better than", 0: "as well as", -1: "worse than"}
_Report = Mapping[str, Any]


def jury_view(report: _Report, *, has_all: bool = False) -> View:
    """What `judge jury` shows of `jury_report`.

    Args:
        has_all: also ways that use labels of the same topic.
    """
    ways = [way for way in report["ways"] if has_all or way["uses"] in ("none", "other topics")]
    tables = [_ways(report, ways)] if ways else []
    hidden = len(report["ways"]) - len(ways)
    notes = [*_notes(report, ways)]
    notes += [f"{count(hidden, 'way')} with labels of the same topics: --all."] if hidden else []
    return View(jury_verdict(report), [*tables, _members(report)], notes)


def jury_verdict(report: _Report) -> str:
    """Whether the jury agrees with people better than its best member, and what it is worth."""
    ways = {way["name"]: way for way in report["ways"]}
    worth = _worth(report)
    jury, member = (ways.get(name) for name in (report["how"], _CHOSEN))
    if not jury or not member or not jury["value"] or jury["value"]["value"] is None:
        return f"{worth}." if report["by_people"] else f"{worth}; --labels compares it with people."
    side = _SIDES[compare_with_zero(jury["less_chosen"])]
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


def _ways(report: _Report, ways: Sequence[_Report]) -> Table:
    has_objective = report["objective"] != "kappa"
    columns = [
        Column("way", Kind.TEXT, "how labels are made"),
        Column("uses", Kind.TEXT, optional=3),
        *[Column("kappa", Kind.SHARE, optional=2)] * has_objective,
        Column("value", Kind.SHARE, name_figure(report["objective"])),
        Column("interval", Kind.INTERVAL, "interval", optional=1),
        Column("difference", Kind.DIFFERENCE, "minus best member"),
        Column("difference_interval", Kind.INTERVAL, "interval", is_signed=True),
    ]
    rows = []
    for way in ways:
        if way["why_not"]:
            continue
        value, difference = way["value"], way["less_chosen"]
        cells = [way["name"], _USES.get(way["uses"], way["uses"]), *[way["kappa"]] * has_objective]
        cells += [value["value"], get_interval(value)]
        cells += [difference and difference["value"], get_interval(difference)]
        is_own = way["name"] == report["how"]
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
    about = f"{count(report['n_items'], 'item')}, jury: {report['how']}"
    return Table("Members", [columns[name] for name in used], rows, about)


def _notes(report: _Report, ways: Sequence[_Report]) -> Iterator[str]:
    if ways:
        yield (
            "Best member: chosen and tested on different topics. Cuts are fitted to labels of "
            "other topics. Intervals are by topic."
        )
    yield (
        "differs: share of its labels that are not the jury's; changes: share of the jury's labels "
        "that would be others without it."
    )
    if n := report["n_adjudicated"]:
        changed = report["n_overturned"]
        yield f"The adjudicator decided {count(n, 'item')}, {changed:,} of them against the vote."
    correlation = report["worth"]["correlation"]
    if correlation is not None and correlation > MOST_TOGETHER:
        yield (
            "Members err together, so do not use Dawid and Skene's model: it takes errors as "
            "independent."
        )
    if n := report["n_off_scale"]:
        yield f"{count(n, 'vote')} not counted: no label of the scale."
    for way in ways:
        if way["why_not"]:
            yield f"{way['name']}: {way['why_not']}."
        elif way["n_unlabelled"]:
            yield f"{way['name']}: {way['n_unlabelled']:,.0f} items have no label by it."
