"""The views of probes: a verdict, then tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....programs.analysis.tables.words import (
    compare_with_zero,
    count,
    join_words,
    write_estimate,
    write_share,
)
from ....views.numbers import format_short_share
from ....views.table import Column, Kind, Table, View
from ..columns import Fields, Shown, estimate, make_table, show

_PAYLOADS, _ALL_PAYLOADS = 3, 8  # payloads to quote, and with --all
_TEXT = 70  # characters of a payload


def _who(judge: Fields) -> str:
    return f"{judge['judge']}, {judge['model']['model']}"


_UNJUDGED = show("unjudged", Kind.COUNT, path="n_unjudged")


# Conditions


def view_conditions(result: Any, has_all: bool = False) -> View:
    """The view of `judge probe` with conditions.

    Args:
        has_all: also show the calls and tokens of each condition.
    """
    judge, effects = result.about, result.of("effect")
    base, *rows = (row for row in result.of("condition") if "skipped" not in row)
    best, items = judge["scale"][-1], count(judge["n_items"], "item")
    columns = [
        show("condition", Kind.NAME),
        show("n", Kind.COUNT, "items", optional=1),
        _UNJUDGED,
        show("changed", Kind.SHARE, path="changed.value"),
        *estimate("kappa", path="kappa.unweighted"),
        show("linear", Kind.SHARE, "linear kappa", "kappa.linear.value", optional=4),
        *estimate("best", f"change of {best}", "best", Kind.DIFFERENCE, (2, 2)),
        show("runs", Kind.SHARE, "largest change of a run", "runs.largest", optional=3),
        show("tau_b", Kind.SHARE, "tau-b of runs", "runs.tau_b", optional=3),
    ]
    tables = [make_table(f"{_who(judge)}: labels compared with the base", columns, rows, items)]
    if effects:
        columns = [
            show("effect", Kind.NAME),
            show("n", Kind.COUNT),
            _UNJUDGED,
            *estimate("gain", "change of mean gain", kind=Kind.DIFFERENCE),
            *estimate("best", "change of best label", kind=Kind.DIFFERENCE, optional=(1, 1)),
        ]
        tables.append(make_table("Effects", columns, effects))
    if has_all:
        columns = [
            show("condition", Kind.NAME),
            show("calls", Kind.COUNT, path="cost.calls"),
            show("calls_of_base", Kind.NUMBER, "times base", "cost.calls_of_base",
                  optional=1, digits=2),
            show("tokens", Kind.COUNT, path="cost.tokens"),
            show("tokens_of_base", Kind.NUMBER, "times base", "cost.tokens_of_base",
                  optional=2, digits=2),
            show("what", Kind.TEXT),
        ]  # fmt: skip
        tables.append(make_table("Cost", columns, [row for row in (base, *rows) if row["cost"]]))
    level = ""
    if base["share_best"] is not None:
        level = f"; share of {best} {format_short_share(base['share_best'])}"
    judged = f"{base['n_judged']:,} judged, {base['n_unjudged']:,} unjudged"
    notes = [f"Base: {base['what']}; {judged}{level}."]
    notes += [f"{row['effect']}: {row['what']}." for row in effects]
    notes += ["--all shows calls and tokens."] * (not has_all)
    return View(_conditions_verdict(judge["judge"], rows, effects, items), tables, notes)


def _conditions_verdict(judge: str, rows: list[Fields], effects: list[Fields], items: str) -> str:
    """Name the condition that changes the most labels, and the significant effects."""
    compared = [r for r in rows if r["changed"]["value"] is not None]
    again = [r for r in compared if r["condition"].startswith("replicate")]
    rows = [r for r in compared if r not in again] or again
    if not rows:
        return f"No condition of the {judge} judge could be compared."
    most = max(rows, key=lambda row: float(row["changed"]["value"]))
    conditions = count(len(rows), "condition")
    if not most["changed"]["value"]:
        return f"{conditions} change no label of the {judge} judge ({items})."
    text = (
        f"Of {conditions}, {most['condition']} changes the most labels of the "
        f"{judge} judge: {write_share(most['changed'], most['n'], 'items')}"
    )
    if again and again is not rows:  # the last row has all replicates
        text += f"; asking again changes {format_short_share(again[-1]['changed']['value'])}"
    sided = [row for row in effects if compare_with_zero(row["gain"])]
    biases = [f"{row['effect']} {write_estimate(row['gain'], signed=True)}" for row in sided]
    return f"{text}; biased by {join_words(biases)}." if biases else f"{text}."


# Planted faults


def view_faults(result: Any, _: bool = False) -> View:
    """The view of `judge probe --faults`, with a table for each judge."""
    tables, verdicts = [], []
    for one in result.found:
        whole = one.rows[-1]
        columns = [
            show("fault", Kind.NAME),
            show("planted", Kind.COUNT, optional=3),
            show("n", Kind.COUNT, "must fall", "detection.n"),
            *estimate("fell", path="detection"),
            show("n_stay", Kind.COUNT, "must stay", "false_alarms.n", optional=1),
            *estimate("moved", "changed", "false_alarms", optional=(0, 4)),
            show("unjudged", Kind.COUNT, path="n_unjudged"),
        ]
        if "lexical" in whole:
            for name, of in (("fell", "detection"), ("changed", "false_alarms")):
                path = f"lexical.{of}.value"
                columns.append(
                    show(f"lexical_{name}", Kind.SHARE, f"{name}, lexical", path, optional=2)
                )
        rows = [
            row
            | {"n_unjudged": row["detection"]["n_unjudged"] + row["false_alarms"]["n_unjudged"]}
            | {"leads": row is whole}
            for row in one.rows
            if row["planted"]
        ]
        aside = f"{count(whole['planted'], 'fault')} planted, {count(one.n_topics, 'topic')}"
        notes = [*_fault_notes(one.rows, result.about)]
        tables.append(make_table(_who(one.judge), columns, rows, aside, notes=notes))
        fell, moved = whole["detection"], whole["false_alarms"]
        parts = []
        if fell["value"] is not None:
            parts.append(f"notices {write_share(fell, fell['n'], 'planted faults')}")
        if moved["value"] is not None:
            parts.append(f"changes {write_share(moved, moved['n'], 'labels that must stay')}")
        did = join_words(parts) if parts else "got no fault with a known outcome"
        verdicts.append(f"The {one.judge['judge']} judge {did}.")
    return View(" ".join(verdicts), tables)


def _fault_notes(rows: Sequence[Fields], about: Fields) -> Iterator[str]:
    def describe(row: Fields) -> str:
        return write_estimate(row["informedness"], signed=True)

    whole = rows[-1]
    text = f"Informedness (fell minus changed): {describe(whole)}"
    text += f"; lexical: {describe(whole['lexical'])}" if "lexical" in whole else ""
    yield f"{text}. At most {about['sample']} cases of each fault, seed {about['seed']}."
    for name, what in (("blind", "Cannot see"), ("not_planted", "Not planted")):
        of_reason: dict[str, list[str]] = {}
        for row in rows:
            if name in row:
                of_reason.setdefault(row[name], []).append(row["fault"])
        for reason, names in of_reason.items():
            yield f"{what}: {', '.join(names)}: {reason}."


# Planted texts


def view_injection(result: Any, has_all: bool = False) -> View:
    """The view of `judge probe --injection`.

    Args:
        has_all: also show shares by place, and the guards.
    """
    [whole], kinds = result.of("by", "all"), result.of("by", "kind")
    about = f"{count(whole['n_payloads'], 'payload')}, {count(len(result.items), 'item')}"
    rows = [*kinds, whole | {"leads": True}]
    tables = [_flips(_who(result.about), "kind of text", rows, about)]
    flipped = [row for row in result.of("by", "payload") if row["flip"]["value"]]
    if flipped:
        tables.append(_payloads(flipped, _ALL_PAYLOADS if has_all else _PAYLOADS))
    notes = [_parser(result.of("by", "reply"))]
    if has_all:
        guards = [row for row in result.of("by", "guard") if "skipped" not in row]
        columns = [
            show("guard", Kind.NAME, "without", "name"),
            show("n", Kind.COUNT, "honest items"),
            _UNJUDGED,
            *estimate("changed"),
            *estimate("gain", "change of mean gain", kind=Kind.DIFFERENCE, optional=(1, 1)),
            *estimate("score", "change of score", kind=Kind.DIFFERENCE, optional=(2, 2)),
        ]
        tables.append(_flips("", "planted in", result.of("by", "place"), ""))
        tables.append(make_table("Honest items without a guard", columns, guards))
    else:
        notes.append("--all shows where texts were planted, and what each guard changes.")
    return View(_injection_verdict(whole, kinds), tables, notes)


def _injection_verdict(whole: Fields, kinds: Sequence[Fields]) -> str:
    flip = whole["flip"]
    if flip["value"] is None:
        return "No item with injected text was judged."
    share = write_share(flip, whole["n"], "labels")
    text = f"Injected text changes {share} to the label it asks for"
    most = max(kinds, key=lambda row: float(row["flip"]["value"] or 0.0), default=None)
    if most is not None and most["flip"]["value"]:
        text += f"; {most['name']} most often ({format_short_share(most['flip']['value'])})"
    return f"{text}."


def _flips(title: str, head: str, rows: Sequence[Fields], about: str) -> Table:
    columns = [
        show("name", Kind.NAME, head),
        show("cells", Kind.COUNT, "labels"),
        _UNJUDGED,
        *estimate("flip", "changed as asked", key="interval"),
        show("nearer", Kind.SHARE, "moved nearer", "nearer.value", optional=1),
        show("noted", Kind.SHARE, "noticed", optional=2),
    ]
    if any("lexical" in row for row in rows):
        rows = [{"lexical": {"n": 0}, **row} for row in rows]
        for name, kind, what, path, optional in (
            ("n", Kind.COUNT, "labels", "n", 4),
            ("flip", Kind.SHARE, "changed", "flip.value", 3),
            ("nearer", Kind.SHARE, "nearer", "nearer.value", 4),
        ):
            head, path = f"{what}, lexical", f"lexical.{path}"
            columns.append(show(f"lexical_{name}", kind, head, path, optional=optional))
    return make_table(title, columns, rows, about)


def _payloads(flipped: Sequence[Fields], most: int) -> Table:
    """The payloads that changed the largest share of labels; ties by number."""
    ordered = sorted(flipped, key=lambda row: (-row["flip"]["value"], -row["n"], row["name"]))
    columns: list[Shown] = [
        show("payload", Kind.NAME, path="name"),
        (Column("changed", Kind.RATIO), lambda r: (round(r["flip"]["value"] * r["n"]), r["n"])),
        (Column("text", Kind.TEXT), lambda r: _quote(r["text"])),
    ]
    return make_table(f"Texts that changed labels: {len(flipped):,}", columns, ordered[:most])


def _quote(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[:_TEXT].rsplit(' ', 1)[0]} ..."


def _parser(echoes: Sequence[Fields]) -> str:
    shares = []
    for what, is_honest in (("honest", True), ("echoing", False)):
        rows = [row for row in echoes if row["is_honest"] == is_honest]
        n, hijacked = (sum(row[name] for row in rows) for name in ("replies", "hijacked"))
        shares.append(f"{hijacked:,} of {n:,} {what} replies in {len(rows)} forms")
    return f"Replies that the parser misread as the injected verdict: {', '.join(shares)}."
