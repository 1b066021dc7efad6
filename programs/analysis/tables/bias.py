"""What a judge's errors go with, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ....views.numbers import format_given
from ....views.table import Cell, Column, Kind, Row, Table, View
from .words import compare_with_zero, count, get_interval, join_words, name_level, write_estimate

# What a judge is biased to where more of a covariate means a higher label, and where a lower one.
_DIRECTIONS = {
    "length": ("longer texts", "shorter texts"),
    "position": ("later places", "earlier places"),
    "rank": ("later citations", "earlier citations"),
    "citations": ("more citations", "fewer citations"),
}
_Errors = Mapping[str, Any]


def bias_view(errors: _Errors) -> View:
    """What `agree --by` shows of `judge_errors`."""
    level = name_level(errors["level"])
    slopes = [row for row in errors["by"] if row["alone"] is not None]
    tables = [_slopes(slopes, level, has_several=len(errors["by"]) > 1)] if slopes else []
    return View(bias_verdict(errors), [*tables, _groups(errors, level)], [*_notes(errors)])


def bias_verdict(errors: _Errors) -> str:
    """What the judge is biased to, adjusted for the others, and its mean error."""
    found, others = [], []
    for row in errors["by"]:
        slope = row["together"] or row["alone"]
        if slope is None:
            continue
        if (side := compare_with_zero(slope)) == 0:
            others.append(row["by"])
        else:
            amount = write_estimate(slope, signed=True)
            found.append(f"{_direction(row, side)} ({amount}{_per(row)})")
    overall = _overall(errors["error"])
    if found:
        return f"The judge is biased to {join_words(found)}; {overall}."
    if others:
        return f"No bias by {join_words(others, 'or')} is shown; {overall}."
    return f"{overall[:1].upper()}{overall[1:]}."


def _direction(row: _Errors, side: int) -> str:
    if row["unit"] is not None:
        upward, downward = _DIRECTIONS[row["by"]]
        return upward if side > 0 else downward
    first, other = (each["group"] for each in row["groups"])
    return str(first if side > 0 else other)


def _per(row: _Errors) -> str:
    if row["unit"] is None:
        return ""
    words = " words" if row["by"] == "length" else ""
    return f" per {format_given(row['unit'])}{words}"


def _overall(error: _Errors) -> str:
    amount = write_estimate(error, signed=True)
    side = compare_with_zero(error)
    if side == 0:
        return f"on the whole the judge is not shown to label higher or lower than people: {amount}"
    return (
        f"on the whole the judge labels {'higher' if side > 0 else 'lower'} than people: {amount}"
    )


def _slopes(slopes: list[_Errors], level: str, *, has_several: bool) -> Table:
    columns = [
        Column("by", Kind.NAME),
        Column("per", Kind.TEXT),
        Column("items", Kind.COUNT, optional=2),
        Column("alone", Kind.DIFFERENCE),
        Column("alone_interval", Kind.INTERVAL, level, is_signed=True),
        Column("adjusted", Kind.DIFFERENCE, "adjusted for the others", optional=1),
        Column("adjusted_interval", Kind.INTERVAL, level, optional=1, is_signed=True),
    ]
    rows = []
    for row in slopes:
        together = row["together"]
        cells: list[Cell] = [row["by"], _unit(row), row["n"]]
        cells += [row["alone"]["value"], get_interval(row["alone"])]
        cells += [None if together is None else together["value"], get_interval(together)]
        rows.append(Row(cells if has_several else cells[:5]))
    title = "How judge minus people changes"
    return Table(title, columns if has_several else columns[:5], rows, has_all=True)


def _unit(row: _Errors) -> str:
    if row["unit"] is None:
        first, other = (each["group"] for each in row["groups"])
        return f"{first} minus {other}"
    return f"{format_given(row['unit'])} more"


def _groups(errors: _Errors, level: str) -> Table:
    columns = [
        Column("by", Kind.NAME),
        Column("group", Kind.NAME, "of"),
        Column("items", Kind.COUNT),
        Column("error", Kind.DIFFERENCE, "judge minus people"),
        Column("interval", Kind.INTERVAL, level, is_signed=True),
    ]
    all_items = {"group": "all", "n": errors["n"], "error": errors["error"]}
    rows = [
        Row([by, each["group"], each["n"], each["error"]["value"], get_interval(each["error"])])
        for by, group in [("", [all_items]), *((row["by"], row["groups"]) for row in errors["by"])]
        for each in group
    ]
    about = f"{count(errors['n'], 'item')}, {count(errors['n_topics'], 'topic')}"
    return Table("Judge minus people, mean over items", columns, rows, about)


def _notes(errors: _Errors) -> Iterator[str]:
    labels = ", ".join(f"{label} {format_given(gain)}" for label, gain in errors["gains"].items())
    yield f"Labels count {labels}. Intervals are by topic."
    for row in errors["by"]:
        unknown = f"; unknown for {count(row['n_unknown'], 'item')}" if row["n_unknown"] else ""
        if row["by"] != "run" or unknown:
            yield f"{row['by']}: {row['what']}{unknown}."
    if errors["n_unjudged"]:
        yield f"{count(errors['n_unjudged'], 'item')} that people labelled were not judged."
    if errors["is_told_apart"] is False:
        yield "These go together so closely that the effect of each cannot be separated."
