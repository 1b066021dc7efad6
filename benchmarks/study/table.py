"""The tables of a study, one for each question of a task, and its rows as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from nuggetjudge.views.numbers import MISSING, format_short_share
from nuggetjudge.views.table import Cell, Column, Kind, Row, Style, Table, View

from .figures import Figures
from .parts import State, Taken, count_without_probabilities
from .plan import Part

Json = Mapping[str, Any]
MOST_SHOWN = 9  # recorded judges of a table; of more the best, the middle and the worst


def row_of(part: Part, state: State, figures: Sequence[Figures], took: Taken) -> dict[str, Any]:
    """A part as JSON has it: what was judged how, what it took, and the figures by question.

    A part that was not finished has no figures: what was judged of it is no sample.
    """
    return {
        "judge": part.of.judge,
        "data": part.of.name,
        "model": part.config.get_model(part.of.judge)[1].model,
        "variant": part.variant.name,
        "settings": {**part.of.settings, **part.variant.settings},
        "window": part.window,
        "state": str(state),
        "n_items": len(part.items),
        "n_without_probabilities": count_without_probabilities(part),
        **asdict(took),
        "questions": [asdict(one) for one in figures],
    }


def row_of_other(part: Part, name: str, figures: Sequence[Figures]) -> dict[str, Any]:
    """What the lexical baseline or a recorded judge reaches on the items of a part."""
    about = {"judge": part.of.judge, "data": part.of.name, "model": name}
    return {**about, "n_items": len(part.items), "questions": [asdict(one) for one in figures]}


def make_view(rows: Sequence[Json], others: Sequence[Json]) -> View:
    """A table for each question: people, the lexical baseline, recorded judges, the model.

    What the model took is a table at the end.
    """
    tables = []
    for judge, data in dict.fromkeys((row["judge"], row["data"]) for row in rows):
        ours, theirs = (
            [row for row in of if (row["judge"], row["data"]) == (judge, data)]
            for of in (rows, others)
        )
        asked = [one["question"] for row in (*ours, *theirs) for one in row["questions"]]
        tables += [
            make_table(f"{judge}, {data}, {text}", text, ours, theirs)
            for text in dict.fromkeys(asked)
        ]
    return View("", [*tables, _costs(rows)])


def make_table(title: str, question: str, rows: Sequence[Json], others: Sequence[Json]) -> Table:
    """The figures of one question: people and known judges, a rule, and the model's `rows`."""
    found = [(row, of) for row in others if (of := _at(row, question)) is not None]
    is_lexical = any(row["model"] == "lexical" and row["variant"] == "plain" for row in rows)
    lexical = [pair for pair in found if pair[0]["model"] == "lexical"]
    recorded = sorted(
        (pair for pair in found if pair[0]["model"] != "lexical"), key=_value, reverse=True
    )
    shown, notes = recorded, []
    if len(recorded) > MOST_SHOWN:
        at = len(recorded) // 2
        shown = [*recorded[:3], *recorded[at - 1 : at + 2], *recorded[-3:]]
        notes.append(f"{len(recorded)} recorded judges: best, middle and worst; study.json has all")
    ours = [(row, _at(row, question)) for row in rows]
    every = [of for _, of in (*lexical, *recorded, *ours) if of is not None]
    people = every[0] if every and every[0]["people_kappa"] is not None else None
    columns = _columns(every, has_people=people is not None)
    lines = [] if people is None else [_people(people, len(columns))]
    lines += [_row(row, of, columns) for row, of in ([] if is_lexical else lexical)]
    lines += [_row(row, of, columns) for row, of in shown]
    n_above = len(lines)
    lines += [_row(row, of, columns) for row, of in ours]
    asides = [f"{row['n_items']:,} items" for row in (*rows, *others)][:1]
    if lexical and (share := lexical[0][1]["people_yes"]) is not None:
        asides.append(f"people say yes {format_short_share(share)}")
    rule = n_above if n_above and ours else None
    return Table(title, columns, lines, ", ".join(asides), rule, notes, has_all=True)


def _costs(rows: Sequence[Json]) -> Table:
    columns = [
        Column("part", Kind.NAME),
        Column("model", Kind.NAME),
        Column("n_items", Kind.COUNT, "items"),
        Column("n_unjudged", Kind.COUNT, "unjudged"),
        Column("calls", Kind.COUNT),
        Column("tokens", Kind.COUNT),
        Column("cost", Kind.MONEY),
    ]
    lines = []
    for row in rows:
        unjudged = row["questions"][0]["n_unjudged"] if row["questions"] else None
        tokens = row["prompt_tokens"] + row["completion_tokens"]
        counts = [row["n_items"], unjudged, row["calls"], tokens, row["cost"]]
        lines.append(Row([f"{row['judge']}, {row['data']}", _name(row), *counts]))
    return Table("what the model took", columns, lines)


def _at(row: Json, question: str) -> Json | None:
    found: Iterable[Json] = (one for one in row["questions"] if one["question"] == question)
    return next(iter(found), None)


def _value(pair: tuple[Json, Json]) -> float:
    return -2.0 if pair[1]["kappa"] is None else pair[1]["kappa"]["value"] or -2.0


def _columns(every: Sequence[Json], *, has_people: bool) -> list[Column]:
    of = every[0] if every else None
    columns = [
        Column("model", Kind.NAME, "judge"),
        Column("n", Kind.COUNT),
        Column("kappa", Kind.SHARE),
        Column("kappa", Kind.INTERVAL, "95%"),
        Column("minus_lexical", Kind.DIFFERENCE, "minus lexical"),
        Column("minus_lexical", Kind.INTERVAL, "95%", is_signed=True),
    ]
    if has_people:
        columns.append(Column("kappa_with_each", Kind.SHARE, "with each"))
    lacks = any(one["n_unjudged"] for one in every)
    for which in dict.fromkeys((of["rarest"], of["worst"])) if of else ():
        columns.append(Column(f"recall {which}", Kind.SHARE, f"recall {which}"))
    if of and of["measure"]:
        columns.append(Column("tau_runs", Kind.SHARE, f"tau {of['n_runs']} runs"))
        columns.append(Column("tau_topics", Kind.SHARE, "tau topics"))
    if of and of["people_yes"] is not None:
        columns.append(Column("yes", Kind.SHARE))
    return [*columns, Column("n_unjudged", Kind.COUNT, "unjudged")] if lacks else columns


def _people(of: Json, n_columns: int) -> Row:
    cells: list[Cell] = ["people, each other", of["n_people"], of["people_kappa"]]
    return Row([*cells, *[MISSING] * (n_columns - len(cells))], Style.TRAILING)


def _row(row: Json, of: Json | None, columns: Sequence[Column]) -> Row:
    """`of`: the figures; None: the part was not finished."""
    values: dict[str, Cell] = {"model": _name(row)}
    if of is not None:
        values |= {f"recall {of[which]}": of[f"{which}_recall"] for which in ("worst", "rarest")}
        names = ("n", "n_unjudged", "kappa_with_each", "tau_runs", "tau_topics", "yes")
        values |= {name: of[name] for name in names}
    return Row([_cell(column, values, of) for column in columns])


def _name(row: Json) -> str:
    name = str(row["model"])
    if row.get("variant", "plain") != "plain":
        name += f", {row['variant']}"
    if row.get("state", State.DONE) != State.DONE:
        name += f" ({row['state']})"
    return name


def _cell(column: Column, values: Mapping[str, Cell], of: Json | None) -> Cell:
    if column.key not in ("kappa", "minus_lexical"):
        return values.get(column.key)
    figure: Json | None = None if of is None else of[column.key]
    if figure is None or (values["model"] == "lexical" and column.key == "minus_lexical"):
        return None
    if column.kind is not Kind.INTERVAL:
        value: float | None = figure["value"]
        return value
    return None if figure["low"] is None else (figure["low"], figure["high"])
