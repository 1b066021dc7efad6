"""A comparison of runs as tables: verdict, measures, topics, judgements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ....views.numbers import format_count, format_money, format_p, format_short_share
from ....views.table import Column, Kind, Row, Style, Table, View
from ...protocols.table import meaning
from ...scoring.result import Result
from ..compare_runs import HOLM, HSD, PRIMARY, is_over_fewer
from .leaderboards import name_judges, too_few

SHOWN_TOPICS = 3  # topics of each side; SHOWN_FLIPS: judgements that differ most
SHOWN_FLIPS = 5
_FLIP_CHARS = 200  # of each text of a differing label
_MIN_QUESTIONS = 6
_MANY = 100_000  # more questions than anyone has: the runs are practically equal
_BOTH_HAVE = "Differences are over the topics that both runs have; means over all topics of a run."
_OUTCOME = {True: "yes", False: "no", None: "not tested"}


def make_comparison_view(
    comparison: Mapping[str, Any],
    judged_by: Mapping[str, Sequence[str]] = MappingProxyType({}),
    flips: str = "",
) -> View:
    """Return the view of a comparison.

    Args:
        judged_by: the judges of each result; see `read_judges`.
        flips: for judges: the file with all differing labels; "": none.
    """
    if comparison["compared"] == "judges":
        return _judges_view(comparison, judged_by, flips)
    measures = comparison["measures"]
    two = {name: tests for name, tests in measures.items() if len(tests["runs"]) == 2}
    level = comparison["level"]
    tables = [_pairs(two, level)] if two else []
    tables += [_ranking(name, tests, level) for name, tests in measures.items() if name not in two]
    if two:
        tables += _differences(comparison, two)
    return View(write_comparison_verdict(comparison), tables, _judge_notes(judged_by))


def read_judges(paths: Sequence[Path]) -> dict[str, list[str]]:
    """Return the judges of the paths that are results folders, as text."""
    named = zip(("one", "other"), paths, strict=False)
    return {name: Result(path).judged_by for name, path in named if path.is_dir()}


def _judge_notes(judged_by: Mapping[str, Sequence[str]]) -> list[str]:
    names = {name: name_judges(judges) for name, judges in judged_by.items() if judges}
    if len({*names.values()}) < 2:
        return [f"Judge: {judge}." for judge in [*names.values()][:1]]
    return ["Judges: " + "; ".join(f"{name}: {judge}" for name, judge in names.items()) + "."]


def write_comparison_verdict(comparison: Mapping[str, Any]) -> str:
    """Return a sentence: which run is better by the first main measure, and how certain that is."""
    measures = comparison["measures"]
    name = _main_measures(measures)[0]
    tests = measures[name]
    if len(tests["runs"]) == 2:
        return _pair_verdict(name, tests, measures.get("length"))
    n = len(tests["pairs"])
    apart = sum(bool(pair["is_significant"]) for pair in tests["pairs"])
    best = tests["runs"][0]["run_id"]
    return (
        f"{best} scores highest on {name}; {apart:,} of {n:,} pairs of runs differ significantly."
    )


def _main_measures(measures: Mapping[str, Any]) -> list[str]:
    return [name for name in measures if name in PRIMARY] or list(measures)[:1]


def _pair_verdict(name: str, tests: Mapping[str, Any], lengths: Mapping[str, Any] | None) -> str:
    (pair,) = tests["pairs"]
    one, other = pair["run_id"], pair["other_run_id"]
    difference, low, high = pair["difference"], pair["low"], pair["high"]
    if difference is None:
        return f"{one} and {other} cannot be compared on {name}: no topic is judged for both."
    sign = -1 if meaning(name).is_less_better else 1
    better = "worse" if difference * sign < 0 else "better"
    amount = format_short_share(difference, signed=True)
    if low is not None and high is not None:
        bounds = (format_short_share(end, signed=True) for end in (low, high))
        amount += f" [{', '.join(bounds)}]"
    if not difference:
        text = f"{one} and {other} have the same mean {name}"
    elif pair["is_significant"]:
        text = f"{one} is {better} than {other}: {name} {amount}, p {_equals(pair['p'])}"
    else:
        text = f"{one} is not shown to be {better} than {other}: {name} {amount}{_say_needed(pair)}"
    return f"{text}.{_length_sentence(lengths)}"


def _equals(p: float | None) -> str:
    text = format_p(p)
    return text if text.startswith("<") else f"= {text}"


def _say_needed(pair: Mapping[str, Any]) -> str:
    """Return how many questions would be needed to show the difference; "" if too many.

    With so many, the half-width is expected to equal the difference: the chance is about even.
    The half-width of the interval shrinks with the square root of the number of questions. With
    fewer than six questions, a randomisation test cannot reach p < .05: its smallest p is 2 / 2^n.
    """
    if (n := pair["n_topics"]) < _MIN_QUESTIONS:
        return f"; {n} questions are too few, at least {_MIN_QUESTIONS} are needed"
    if not pair["difference"] or pair["low"] is None or pair["high"] is None:
        return ""
    half = (pair["high"] - pair["low"]) / 2
    needed = math.ceil(n * (half / pair["difference"]) ** 2)
    what = f"; about {format_count(needed)} questions would be needed for an even chance to show it"
    return what if n < needed <= _MANY else ""


def _length_sentence(lengths: Mapping[str, Any] | None) -> str:
    if lengths is None or lengths["pairs"][0]["difference"] is None:
        return ""
    (pair,) = lengths["pairs"]
    n = round(pair["difference"])
    longer = pair["run_id"] if n > 0 else pair["other_run_id"]
    return f" {longer} is {abs(n):,} words longer." if n else ""


def _pairs(measures: Mapping[str, Mapping[str, Any]], level: float) -> Table:
    """Make a table with a row for each measure, main measures first."""
    first, second = (run["run_id"] for run in next(iter(measures.values()))["runs"])
    main = _main_measures(measures)
    names = [*main, *(name for name in measures if name not in main)]
    columns = [
        Column("measure", Kind.TEXT),
        Column("first", Kind.SHARE, optional=1),
        Column("second", Kind.SHARE, optional=1),
        Column("difference", Kind.DIFFERENCE),
        Column("interval", Kind.INTERVAL, f"{level:.0%} interval", is_signed=True),
        Column("p", Kind.P),
        Column("won", Kind.TEXT, "won, tied, lost", optional=2),
        Column("effect", Kind.DIFFERENCE, "effect size", optional=3),
    ]
    rows = []
    for name in names:
        tests = measures[name]
        (pair,), (one, other) = tests["pairs"], tests["runs"]
        has_interval = pair["low"] is not None and pair["high"] is not None
        rows.append(
            Row(
                [
                    name,
                    one["mean"],
                    other["mean"],
                    pair["difference"],
                    (pair["low"], pair["high"]) if has_interval else None,
                    pair["p"],
                    f"{pair['wins']}/{pair['ties']}/{pair['losses']}",
                    pair["effect_size"],
                ],
                Style.LEADING if name in main else Style.PLAIN,
            )
        )
    notes = [_BOTH_HAVE] * any(is_over_fewer(tests, tests["pairs"]) for tests in measures.values())
    return Table(f"{first} minus {second}, by topic", columns, rows, notes=notes)


def _ranking(name: str, tests: Mapping[str, Any], level: float) -> Table:
    """Make a table with a row for each run and its difference to the next run."""
    next_of = {pair["run_id"]: pair for pair in tests["pairs"] if pair["are_neighbours"]}
    has_hsd = tests["test"] == HSD
    columns = [
        Column("rank", Kind.NAME, "#"),
        Column("run", Kind.NAME),
        Column("mean", Kind.SHARE),
        Column("difference", Kind.DIFFERENCE, "difference to the next"),
        Column("interval", Kind.INTERVAL, f"{level:.0%} interval", is_signed=True),
        Column("p", Kind.P, optional=3),
        Column("p_hsd", Kind.P, "p HSD") if has_hsd else Column("p_holm", Kind.P, "p Holm"),
        Column("n_topics", Kind.COUNT, "common topics", optional=2),
        Column("differs", Kind.NAME, "differ", optional=1),
    ]
    if has_hsd:
        columns = [column for column in columns if column.key != "n_topics"]
    rows = []
    for rank, run in enumerate(tests["runs"], 1):
        pair = next_of.get(run["run_id"])
        cells: list[Any] = [str(rank), run["run_id"], run["mean"]]
        if pair is None:
            cells += [None] * (len(columns) - 4) + [""]
        else:
            has_interval = pair["low"] is not None and pair["high"] is not None
            bounds = (pair["low"], pair["high"]) if has_interval else None
            cells += [pair["difference"], bounds, pair["p"]]
            cells += [pair["p_hsd"]] if has_hsd else [pair["p_holm"], pair["n_topics"]]
            cells.append(_OUTCOME[pair["is_significant"]])
        rows.append(Row(cells, Style.LEADING if rank == 1 else Style.PLAIN))
    title = f"{name}: {len(rows)} runs"
    aside = f"{tests['n_topics']} topics"
    return Table(title, columns, rows, aside, notes=list(_ranking_notes(tests, next_of, level)))


def _ranking_notes(
    tests: Mapping[str, Any], next_of: Mapping[str, Mapping[str, Any]], level: float
) -> Iterator[str]:
    pairs, how = tests["pairs"], {HSD: "Tukey HSD"}.get(tests["test"], tests["test"])
    n = sum(bool(pair["is_significant"]) for pair in pairs)
    alpha = format_p(1 - level)
    yield f"{n:,} of {len(pairs):,} pairs differ significantly ({how}, p < {alpha})"
    if tests["test"] == HOLM and (few := tests["least_topics"]) is not None:
        yield too_few(few, len(tests["runs"]))
    n_complete, n_topics = tests["n_topics_all_judged"], tests["n_topics"]
    if tests["test"] == HSD and n_complete < n_topics:
        yield f"HSD uses the {n_complete:,} of {n_topics:,} topics on which every run has a score"
    yield from write_answered_lines(tests["runs"], tests["n_topics"])
    if is_over_fewer(tests, next_of.values()):
        yield _BOTH_HAVE


def write_answered_lines(runs: Sequence[Mapping[str, Any]], n_topics: int) -> Iterator[str]:
    """Return a line for each run whose mean includes unanswered topics."""
    for run in runs:
        if n := run["n_unanswered"]:
            yield f"{run['run_id']} answered {n_topics - n:,} of {n_topics:,} topics"


def _differences(
    comparison: Mapping[str, Any], measures: Mapping[str, Mapping[str, Any]]
) -> Iterator[Table]:
    """Return tables of topics that moved the main measures of two runs, and their judgements."""
    names = [run["run_id"] for run in next(iter(measures.values()))["runs"]]
    for name in _main_measures(measures):
        if "topics" in measures[name]:
            yield _topics(name, measures[name], names)
    for of_kind in comparison.get("judgements", ()):
        yield from _flips(of_kind, names) if "flips" in of_kind else [_labels(of_kind, names)]


def _topics(name: str, tests: Mapping[str, Any], names: Sequence[str]) -> Table:
    moved = [row for row in tests["topics"] if row["difference"]]
    wins = [row for row in moved if row["difference"] > 0][:SHOWN_TOPICS]
    losses = [row for row in moved if row["difference"] < 0][:SHOWN_TOPICS]
    columns = [
        Column("topic", Kind.NAME),
        Column("first", Kind.SHARE, names[0]),
        Column("second", Kind.SHARE, names[1]),
        Column("difference", Kind.DIFFERENCE),
    ]
    rows = [
        Row(
            [
                row["topic_id"],
                row["value"] if row["is_answered"] else "no answer",
                row["other_value"] if row["other_is_answered"] else "no answer",
                row["difference"],
            ]
        )
        for row in (*wins, *reversed(losses))
    ]
    notes = list(write_answered_lines(tests["runs"], tests["n_topics"]))
    notes += _more(len(moved) - len(rows), "topics in between")
    title = (
        f"{name} by topic: the largest differences" if rows else f"{name} is the same on all topics"
    )
    return Table(title, columns, rows, notes=notes)


def _flips(changes: Mapping[str, Any], names: Sequence[str]) -> Iterator[Table]:
    one, other = names
    n = changes["n_better"] + changes["n_worse"]
    moved = [row for row in changes["topics"] if row["n_better"] or row["n_worse"]]
    title = f"{changes['what']}: {n:,} of {changes['n']:,} labels differ"
    counts = [
        Column("topic", Kind.NAME),
        Column("better", Kind.COUNT, f"better in {one}"),
        Column("worse", Kind.COUNT, f"better in {other}"),
        Column("n", Kind.COUNT, "of"),
    ]
    rows = [
        Row([row["topic_id"], row["n_better"], row["n_worse"], row["n"]])
        for row in moved[: 2 * SHOWN_TOPICS]
    ]
    yield Table(title, counts, rows, notes=_more(len(moved) - len(rows), "topics"))
    if not moved:
        return
    columns = [
        Column("topic", Kind.NAME),
        Column("first", Kind.NAME, one),
        Column("second", Kind.NAME, other),
        Column("text", Kind.TEXT, changes["what"]),
    ]
    flips = [
        Row([row["topic_id"], row["label"], row["other_label"], row["text"] or row["id"]])
        for row in changes["flips"][:SHOWN_FLIPS]
    ]
    yield Table("", columns, flips, notes=_more(n - SHOWN_FLIPS, changes["what"]))


def _labels(changes: Mapping[str, Any], names: Sequence[str]) -> Table:
    labels = " / ".join(changes["labels"])
    columns = [Column("topic", Kind.NAME), *(Column(name, Kind.NAME) for name in names)]
    topics = changes["topics"][: 2 * SHOWN_TOPICS]
    rows = []
    for topic, row in (*((row["topic_id"], row) for row in topics), ("all", changes)):
        sides = (row[side].values() for side in ("labels", "other_labels"))
        rows.append(Row([topic, *(" / ".join(f"{n:,}" for n in side) for side in sides)]))
    notes = _more(len(changes["topics"]) - len(topics), "topics")
    return Table(f"{changes['what']} by topic: {labels}", columns, rows, notes=notes)


def _more(n: int, what: str) -> list[str]:
    return [f"... and {n:,} more {what}; --json has all"] if n > 0 else []


# Two judges of the same answers


def _judges_view(
    comparison: Mapping[str, Any], judged_by: Mapping[str, Sequence[str]], flips: str
) -> View:
    agreement, n_flips = comparison["agreement"], comparison["n_flips"]
    share = format_short_share(agreement["intervals"]["accuracy"]["value"])
    verdict = (
        f"The judges give {n_flips:,} of {agreement['n']:,} items another label "
        f"({comparison['kind']}; {share} equal)."
    )
    tables = [_agreement(agreement), _flip_counts(comparison), _flip_examples(comparison, flips)]
    tables += [_rank_changes(comparison["ranking"])] if comparison["ranking"] else []
    tables += [_costs(comparison["cost"])] if comparison.get("cost") else []
    notes = [] if comparison["ranking"] else ["No runs to rank by these labels."]
    notes += _judge_notes(judged_by)
    return View(verdict, [table for table in tables if table.rows], notes)


def _agreement(agreement: Mapping[str, Any]) -> Table:
    intervals = agreement["intervals"]
    named = {"share of equal labels": intervals["accuracy"]}
    named |= {f"Cohen kappa, {name}": row for name, row in intervals["cohen_kappa"].items()}
    columns = [
        Column("figure", Kind.TEXT, "agreement"),
        Column("value", Kind.SHARE),
        Column("interval", Kind.INTERVAL),
        Column("topics", Kind.COUNT),
    ]
    rows = []
    for name, row in named.items():
        bounds = None if row["low"] is None or row["high"] is None else (row["low"], row["high"])
        rows.append(Row([name, row["value"], bounds, row["n_topics"]]))
    return Table("", columns, rows)


def _flip_counts(comparison: Mapping[str, Any]) -> Table:
    columns = [
        Column("label", Kind.NAME, "first judge"),
        Column("other_label", Kind.NAME, "second judge"),
        Column("n", Kind.COUNT, "items"),
    ]
    rows = [Row([row["label"], row["other_label"], row["n"]]) for row in comparison["flip_counts"]]
    return Table("Labels that differ", columns, rows)


def _flip_examples(comparison: Mapping[str, Any], flips: str) -> Table:
    columns = [Column("field", Kind.NAME, ""), Column("text", Kind.TEXT, "")]
    rows = []
    for n, row in enumerate(comparison["flips"][:SHOWN_FLIPS], 1):
        rows.append(Row([f"{n}", ""], Style.LEADING))
        rows += [Row([name, _short(value)]) for name, value in row.items() if value is not None]
    where = f"all are in {flips}" if flips else "--flips FILE writes all"
    more = comparison["n_flips"] - SHOWN_FLIPS
    return Table("Examples", columns, rows, notes=[f"... and {more:,} more; {where}"] * (more > 0))


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _FLIP_CHARS else f"{text[: _FLIP_CHARS - 3]}..."


def _rank_changes(ranking: Mapping[str, Any]) -> Table:
    columns = [
        Column("measure", Kind.TEXT, "by"),
        Column("tau_b", Kind.SHARE, "tau-b"),
        Column("runs", Kind.COUNT),
        Column("swaps", Kind.TEXT, "neighbours that swap places"),
    ]
    rows = []
    for name, row in ranking.items():
        swaps = ", ".join(f"{a} / {b}" for a, b in row["swaps"][:SHOWN_TOPICS])
        more = len(row["swaps"]) - SHOWN_TOPICS
        swaps = (swaps + (f" and {more} more" if more > 0 else "")) or "none"
        rows.append(Row([name, row["tau_b"], row["n_runs"], swaps]))
    return Table("Order of runs", columns, rows)


def _costs(cost: Mapping[str, Any]) -> Table:
    columns = [
        Column("cost", Kind.TEXT),
        Column("one", Kind.COUNT, "first judge"),
        Column("other", Kind.COUNT, "second judge"),
        Column("ratio", Kind.NUMBER, "ratio per judgement", digits=2),
    ]
    rows = []
    for name, ratio in cost["ratio_per_judgement"].items():
        sides = [cost[side][name] for side in ("one", "other")]
        is_money = name == "dollars"
        rows.append(Row([name, *(format_money(n) if is_money else n for n in sides), ratio]))
    return Table("", columns, rows)
