"""Two measurements as tables: what the prompts of the second one changed; one, by probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nuggetjudge.views.table import Cell, Column, Kind, Row, Style, Styled, Table, View

Measured = Mapping[str, Any]
CHANCE = 0.5  # AUC of a score that says nothing


def make_comparison_view(before: Measured, after: Measured) -> View:
    """Form and size of each judge, then its labels and its agreement with people."""
    names = [name for name in before["judges"] if name in after["judges"]]
    pairs = {name: (before["judges"][name], after["judges"][name]) for name in names}
    worse = [name for name, pair in pairs.items() if _unreadable(pair[1]) > _unreadable(pair[0])]
    verdict = (
        f"More unreadable replies than before: {', '.join(worse)}."
        if worse
        else f"No judge of {len(names)} gives more unreadable replies than before."
    )
    only = sorted({*before["judges"], *after["judges"]} - {*names})
    notes = [f"Only in one of the two: {', '.join(only)}."] if only else []
    for name, why in {**before["skipped"], **after["skipped"]}.items():
        notes.append(f"{name}: not measured; {why}.")
    tables = [_form(pairs), _labels(pairs), _agreement(pairs), _reasons(pairs)]
    return View(verdict, [table for table in tables if table.rows], notes)


def make_ranking_view(judges: Measured) -> View:
    """How well labels agree with people, and how well the probabilities of the labels rank."""
    columns = [
        Column("judge", Kind.NAME),
        Column("n", Kind.COUNT),
        Column("accuracy", Kind.SHARE, "accuracy of the label"),
        Column("kappa", Kind.SHARE, "kappa"),
        Column("kappa_interval", Kind.INTERVAL, "interval", is_signed=True),
        Column("n_scored", Kind.COUNT, "with probabilities"),
        Column("auc", Kind.SHARE, "AUC of the probabilities"),
        Column("auc_interval", Kind.INTERVAL, "interval"),
    ]
    rows = []
    for name, row in judges.items():
        kappa, auc = (
            [value, None if low is None or high is None else (low, high)]
            for value, low, high in (row.get(key) or [None] * 3 for key in ("kappa", "auc"))
        )
        n, n_scored = row.get("n_judged"), row.get("n_scored")
        rows.append(Row([name, n, row.get("accuracy"), *kappa, n_scored, *auc]))
    above = [name for name, row in judges.items() if (row.get("auc", [0, None])[1] or 0) > CHANCE]
    verdict = (
        f"Probabilities rank better than chance: {', '.join(above)}."
        if above
        else "No judge's probabilities rank better than chance (AUC .5)."
    )
    return View(verdict, [Table("labels and probabilities against people", columns, rows)])


def _form(pairs: Mapping[str, tuple[Measured, Measured]]) -> Table:
    columns = [
        Column("judge", Kind.NAME),
        Column("n", Kind.COUNT),
        Column("unreadable_before", Kind.SHARE, "unreadable before"),
        Column("unreadable_after", Kind.SHARE, "after"),
        Column("prefix_before", Kind.SHARE, "prefix before"),
        Column("prefix_after", Kind.SHARE, "after"),
        Column("prompt_before", Kind.COUNT, "prompt tokens before"),
        Column("prompt_after", Kind.COUNT, "after"),
        Column("reply_before", Kind.COUNT, "reply tokens before"),
        Column("reply_after", Kind.COUNT, "after"),
        Column("without_before", Kind.SHARE, "without prob. before", optional=1),
        Column("without_after", Kind.SHARE, "after", optional=1),
    ]
    rows = []
    for name, (old, new) in pairs.items():
        cells: list[Cell] = [name, new["n"], _unreadable(old), _worse(old, new)]
        for key in ("prefix", "prompt_tokens", "reply_tokens", "without_probabilities"):
            cells += [_rounded(key, old[key]), _rounded(key, new[key])]
        rows.append(Row(cells))
    notes = [
        "prefix: share of a prompt's characters in common with the beginning of the prompt before."
    ]
    return Table("form", columns, rows, notes=notes, has_all=True)


def _labels(pairs: Mapping[str, tuple[Measured, Measured]]) -> Table:
    columns = [
        Column("judge", Kind.NAME),
        Column("label", Kind.NAME),
        Column("before", Kind.SHARE),
        Column("after", Kind.SHARE),
        Column("change", Kind.DIFFERENCE),
    ]
    rows = []
    for name, (old, new) in pairs.items():
        for label in sorted({**old["labels"], **new["labels"]}):
            shares = [each["labels"].get(label, 0.0) for each in (old, new)]
            rows.append(Row([name, label, *shares, shares[1] - shares[0]]))
    return Table("label shares", columns, rows)


def _agreement(pairs: Mapping[str, tuple[Measured, Measured]]) -> Table:
    columns = [
        Column("judge", Kind.NAME),
        Column("before", Kind.SHARE),
        Column("interval_before", Kind.INTERVAL, "interval", is_signed=True),
        Column("after", Kind.SHARE),
        Column("interval_after", Kind.INTERVAL, "interval", is_signed=True),
    ]
    rows = []
    for name, both in pairs.items():
        cells: list[Cell] = [name]
        for value, low, high in (each.get("kappa") or [None] * 3 for each in both):
            cells += [value, None if low is None or high is None else (low, high)]
        if any("kappa" in each for each in both):
            rows.append(Row(cells))
    return Table("Cohen's kappa with the labels of people", columns, rows)


def _reasons(pairs: Mapping[str, tuple[Measured, Measured]]) -> Table:
    columns = [
        Column("judge", Kind.NAME),
        Column("reason", Kind.NAME),
        Column("before", Kind.SHARE),
        Column("after", Kind.SHARE),
    ]
    rows = [
        Row([name, reason, *[each["unreadable"].get(reason, 0.0) for each in (old, new)]])
        for name, (old, new) in pairs.items()
        for reason in sorted({**old["unreadable"], **new["unreadable"]})
    ]
    return Table("unreadable replies by reason", columns, rows)


def _unreadable(measured: Measured) -> float:
    return float(sum(measured["unreadable"].values()))


def _worse(old: Measured, new: Measured) -> Cell:
    share = _unreadable(new)
    return Styled(share, Style.WARNING) if share > _unreadable(old) else share


def _rounded(key: str, value: float | None) -> float | None:
    return round(value) if value is not None and key.endswith("_tokens") else value
