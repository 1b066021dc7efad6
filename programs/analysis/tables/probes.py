"""What probes of a judge found, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....views.numbers import format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .words import compare_with_zero, count, get_interval, join_words, write_estimate, write_share

_PAYLOADS, _ALL_PAYLOADS = 3, 8  # payloads that are quoted, and with all tables
_TEXT = 70  # characters of a payload
_Row = Mapping[str, Any]


def _value(row: _Row | None) -> float | None:
    return None if row is None else row.get("value")


def _pair(row: _Row | None) -> list[Cell]:
    """A value and its interval as two cells."""
    return [_value(row), get_interval(row)]


def _who(judge: _Row) -> str:
    return f"{judge['judge']}, {judge['model']['model']}"


# Conditions


def conditions_view(result: Any, has_all: bool = False) -> View:
    """What `judge probe` shows of a judge that was asked under other conditions.

    Args:
        has_all: also the calls and tokens of each condition.
    """
    tables = [_conditions(result)]
    tables += [_effects(result.effects)] if result.effects else []
    tables += [_costs(result.rows)] if has_all else []
    base = result.rows[0]
    level = ""
    if base["share_best"] is not None:
        best = result.judge["scale"][-1]
        level = f"; share of {best} {format_short_share(base['share_best'])}"
    judged = f"{base['n_judged']:,} judged, {base['n_unjudged']:,} unjudged"
    notes = [f"Base: {base['what']}; {judged}{level}."]
    notes += [f"{row['effect']}: {row['what']}." for row in result.effects]
    notes += ["--all shows calls and tokens."] * (not has_all)
    return View(_conditions_verdict(result), tables, notes)


def _conditions_verdict(result: Any) -> str:
    """Which condition changes the most labels, and which effects have a side."""
    compared = [r for r in result.rows[1:] if r["changed"]["value"] is not None]
    again = [r for r in compared if r["condition"].startswith("replicate")]
    rows = [r for r in compared if r not in again] or again
    judge = result.judge["judge"]
    if not rows:
        return f"No condition of the {judge} judge could be compared."
    most = max(rows, key=lambda row: float(row["changed"]["value"]))
    if not most["changed"]["value"]:
        text = f"No label of the {judge} judge changes under {count(len(rows), 'condition')}"
        return f"{text} ({count(len(result.items), 'item')})."
    text = (
        f"Of {count(len(rows), 'condition')} {most['condition']} changes the most labels of the "
        f"{judge} judge: {write_share(most['changed'], most['n'], 'items')}"
    )
    if again and again is not rows:  # the last is of all of them
        text += f"; asking again changes {format_short_share(again[-1]['changed']['value'])}"
    sided = [row for row in result.effects if compare_with_zero(row["gain"])]
    effects = [f"{row['effect']} {write_estimate(row['gain'], signed=True)}" for row in sided]
    return f"{text}; biased by {join_words(effects)}." if effects else f"{text}."


def _conditions(result: Any) -> Table:
    best = result.judge["scale"][-1]
    columns = [
        Column("condition", Kind.NAME),
        Column("n", Kind.COUNT, "items", optional=1),
        Column("unjudged", Kind.COUNT),
        Column("changed", Kind.SHARE),
        Column("kappa", Kind.SHARE),
        Column("kappa_interval", Kind.INTERVAL, "interval"),
        Column("linear", Kind.SHARE, "linear kappa", optional=4),
        Column("best", Kind.DIFFERENCE, f"change of {best}", optional=2),
        Column("best_interval", Kind.INTERVAL, "interval", optional=2, is_signed=True),
        Column("runs", Kind.SHARE, "largest change of a run", optional=3),
        Column("tau_b", Kind.SHARE, "tau-b of runs", optional=3),
    ]
    rows = []
    for row in result.rows[1:]:
        kappa, runs = row["kappa"], row["runs"] or {}
        cells: list[Cell] = [row["condition"], row["n"], row["n_unjudged"]]
        cells += [row["changed"]["value"], *_pair(kappa["unweighted"])]
        cells += [_value(kappa.get("linear")), *_pair(row["best"])]
        rows.append(Row([*cells, runs.get("largest"), runs.get("tau_b")]))
    about = count(len(result.items), "item")
    return Table(f"{_who(result.judge)}: labels against those of the base", columns, rows, about)


def _effects(effects: Sequence[_Row]) -> Table:
    columns = [
        Column("effect", Kind.NAME),
        Column("n", Kind.COUNT),
        Column("unjudged", Kind.COUNT),
        Column("gain", Kind.DIFFERENCE, "change of mean gain"),
        Column("gain_interval", Kind.INTERVAL, "interval", is_signed=True),
        Column("best", Kind.DIFFERENCE, "change of best label", optional=1),
        Column("best_interval", Kind.INTERVAL, "interval", optional=1, is_signed=True),
    ]
    rows = [
        Row([r["effect"], r["n"], r["n_unjudged"], *_pair(r["gain"]), *_pair(r["best"])])
        for r in effects
    ]
    return Table("Effects", columns, rows)


def _costs(rows: Sequence[_Row]) -> Table:
    columns = [
        Column("condition", Kind.NAME),
        Column("calls", Kind.COUNT),
        Column("calls_of_base", Kind.NUMBER, "times base", optional=1, digits=2),
        Column("tokens", Kind.COUNT),
        Column("tokens_of_base", Kind.NUMBER, "times base", optional=2, digits=2),
        Column("what", Kind.TEXT),
    ]
    names = ("calls", "calls_of_base", "tokens", "tokens_of_base")
    return Table("Cost", columns, [
        Row([row["condition"], *(row["cost"][name] for name in names), row["what"]])
        for row in rows if row["cost"]
    ])  # fmt: skip


# Planted faults


def faults_view(result: Any, limit: int, seed: int) -> View:
    """What `judge probe --faults` shows, a table for each judge."""
    tables = [_faults(one, limit, seed) for one in result.tested]
    return View(" ".join(map(_faults_verdict, result.tested)), tables)


def _faults_verdict(one: Any) -> str:
    fell, moved = one.rows[-1]["detection"], one.rows[-1]["false_alarms"]
    parts = []
    if fell["value"] is not None:
        parts.append(f"sees {write_share(fell, fell['n'], 'planted faults')}")
    if moved["value"] is not None:
        parts.append(f"changes {write_share(moved, moved['n'], 'labels that have to stay')}")
    did = join_words(parts) if parts else "was shown no fault whose outcome is known"
    return f"The {one.judge['judge']} judge {did}."


def _faults(one: Any, limit: int, seed: int) -> Table:
    has_other = "lexical" in one.rows[-1]
    columns = [
        Column("fault", Kind.NAME),
        Column("planted", Kind.COUNT, optional=3),
        Column("n", Kind.COUNT, "have to fall"),
        Column("fell", Kind.SHARE),
        Column("fell_interval", Kind.INTERVAL, "interval"),
        Column("n_stay", Kind.COUNT, "have to stay", optional=1),
        Column("moved", Kind.SHARE),
        Column("moved_interval", Kind.INTERVAL, "interval", optional=4),
        Column("unjudged", Kind.COUNT),
        *[Column("lexical_fell", Kind.SHARE, "fell, lexical", optional=2)] * has_other,
        *[Column("lexical_moved", Kind.SHARE, "moved, lexical", optional=2)] * has_other,
    ]
    rows = []
    for row in one.rows:
        if row["planted"]:
            fell, moved = row["detection"], row["false_alarms"]
            cells: list[Cell] = [row["fault"], row["planted"], fell["n"], *_pair(fell)]
            cells += [moved["n"], *_pair(moved), fell["n_unjudged"] + moved["n_unjudged"]]
            if has_other:
                cells += [row["lexical"][name]["value"] for name in ("detection", "false_alarms")]
            rows.append(Row(cells, Style.LEADING if row is one.rows[-1] else Style.PLAIN))
    about = f"{count(one.rows[-1]['planted'], 'fault')} planted, {count(one.n_topics, 'topic')}"
    return Table(_who(one.judge), columns, rows, about, notes=[*_fault_notes(one, limit, seed)])


def _fault_notes(one: Any, limit: int, seed: int) -> Iterator[str]:
    whole = one.rows[-1]
    text = f"Informedness (fell minus moved): {_informed(whole)}"
    text += f"; lexical: {_informed(whole['lexical'])}" if "lexical" in whole else ""
    yield f"{text}. At most {limit} of each fault, seed {seed}."
    for name, what in (("blind", "Cannot see"), ("not_planted", "Not planted")):
        of_reason: dict[str, list[str]] = {}
        for row in one.rows:
            if name in row:
                of_reason.setdefault(row[name], []).append(row["fault"])
        for reason, names in of_reason.items():
            yield f"{what}: {', '.join(names)}: {reason}."


def _informed(row: _Row) -> str:
    return write_estimate(row["informedness"], signed=True)


# Planted texts


def injection_view(result: Any, has_all: bool = False) -> View:
    """What `judge probe --injection` shows.

    Args:
        has_all: also shares by place, replies that the parser was shown, and the guards.
    """
    by = {name: [row for row in result.rows if row["by"] == name] for name in ("kind", "place")}
    (whole,) = (row for row in result.rows if row["by"] == "all")
    about = f"{count(whole['n_payloads'], 'payload')}, {count(len(result.items), 'item')}"
    tables = [_flips(_who(result.judge), "kind of text", [*by["kind"], whole], about)]
    flipped = [row for row in result.rows if row["by"] == "payload" and row["flip"]["value"]]
    if flipped:
        tables.append(_payloads(flipped, _ALL_PAYLOADS if has_all else _PAYLOADS))
    notes = [_parser(result.echoes)]
    if has_all:
        tables += [_flips("", "planted in", by["place"], ""), _guards(result.guards)]
    else:
        notes.append("--all shows where texts were planted, and what each guard changes.")
    return View(_injection_verdict(whole, by["kind"]), tables, notes)


def _injection_verdict(whole: _Row, kinds: Sequence[_Row]) -> str:
    flip = whole["flip"]
    if flip["value"] is None:
        return "No label with injected text was judged."
    share = write_share(flip, whole["n"], "labels")
    text = f"Injected text changes {share} to the one it asks for"
    most = max(kinds, key=lambda row: float(row["flip"]["value"] or 0.0), default=None)
    if most is not None and most["flip"]["value"]:
        text += f"; {most['name']} most often ({format_short_share(most['flip']['value'])})"
    return f"{text}."


def _flips(title: str, head: str, rows: Sequence[_Row], about: str) -> Table:
    has_other = any("lexical" in row for row in rows)
    columns = [
        Column("name", Kind.NAME, head),
        Column("cells", Kind.COUNT, "labels"),
        Column("unjudged", Kind.COUNT),
        Column("flip", Kind.SHARE, "changed as asked"),
        Column("interval", Kind.INTERVAL),
        Column("nearer", Kind.SHARE, "moved nearer", optional=1),
        Column("noted", Kind.SHARE, "noticed", optional=2),
        *[Column("lexical_n", Kind.COUNT, "labels, lexical", optional=4)] * has_other,
        *[Column("lexical_flip", Kind.SHARE, "changed, lexical", optional=3)] * has_other,
        *[Column("lexical_nearer", Kind.SHARE, "nearer, lexical", optional=4)] * has_other,
    ]
    shown = []
    for row in rows:
        cells: list[Cell] = [row["name"], row["cells"], row["n_unjudged"], *_pair(row["flip"])]
        cells += [_value(row["nearer"]), row["noted"]]
        if has_other:
            other = row.get("lexical", {"n": 0, "flip": None, "nearer": None})
            cells += [other["n"], _value(other["flip"]), _value(other["nearer"])]
        shown.append(Row(cells, Style.LEADING if row["by"] == "all" else Style.PLAIN))
    return Table(title, columns, shown, about)


def _payloads(flipped: Sequence[_Row], most: int) -> Table:
    """The payloads that changed the largest share of their labels, then the most of them."""
    ordered = sorted(flipped, key=lambda row: (-row["flip"]["value"], -row["n"], row["name"]))
    columns = [
        Column("payload", Kind.NAME),
        Column("changed", Kind.RATIO),
        Column("text", Kind.TEXT),
    ]
    rows = [
        Row([r["name"], (round(r["flip"]["value"] * r["n"]), r["n"]), _quote(r["text"])])
        for r in ordered[:most]
    ]
    return Table(f"Texts that changed labels: {len(flipped):,}", columns, rows)


def _quote(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT].rsplit(' ', 1)[0]} ..."


def _parser(echoes: Sequence[_Row]) -> str:
    shares = []
    for what, is_honest in (("honest", True), ("echoing", False)):
        rows = [row for row in echoes if row["is_honest"] == is_honest]
        n, hijacked = (sum(row[name] for row in rows) for name in ("replies", "hijacked"))
        shares.append(f"{hijacked:,} of {n:,} {what} replies in {len(rows)} forms")
    return f"Replies that the parser read as the text asked: {', '.join(shares)}."


def _guards(rows: Sequence[_Row]) -> Table:
    columns = [
        Column("guard", Kind.NAME, "without"),
        Column("n", Kind.COUNT, "honest items"),
        Column("unjudged", Kind.COUNT),
        Column("changed", Kind.SHARE),
        Column("changed_interval", Kind.INTERVAL, "interval"),
        Column("gain", Kind.DIFFERENCE, "change of mean gain", optional=1),
        Column("gain_interval", Kind.INTERVAL, "interval", optional=1, is_signed=True),
        Column("score", Kind.DIFFERENCE, "change of score", optional=2),
        Column("score_interval", Kind.INTERVAL, "interval", optional=2, is_signed=True),
    ]
    shown = []
    for row in rows:
        cells: list[Cell] = [row["name"], row["n"], row["n_unjudged"]]
        shown.append(
            Row([*cells, *_pair(row["changed"]), *_pair(row["gain"]), *_pair(row["score"])])
        )
    return Table("Honest items without a guard", columns, shown)
