"""The table of a study, as Markdown for people and as JSON for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .figures import Figures
from .parts import State, Taken, count_without_probabilities
from .plan import Part

COLUMNS = (
    "judge", "data: question", "variant", "n", "kappa", "lexical", "people", "recall of the worst",
    "tau runs", "tau topics", "yes (people)", "unjudged", "calls", "tokens", "dollars",
)  # fmt: skip
_N_TEXT = 3  # the first columns, which hold words


def row_of(part: Part, state: State, figures: Sequence[Figures], took: Taken) -> dict[str, Any]:
    """A part as JSON has it: what was judged how, what it took, and the figures by question.

    A part that was not finished has no figures: what was judged of it is no sample.
    """
    return {
        "judge": part.of.judge,
        "data": part.of.name,
        "variant": part.variant.name,
        "settings": {**part.of.settings, **part.variant.settings},
        "window": part.window,
        "state": str(state),
        "n_items": len(part.items),
        "n_without_probabilities": count_without_probabilities(part),
        **asdict(took),
        "questions": [asdict(one) for one in figures],
    }


def markdown(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table; what a part took stands in its first row alone."""
    marks = ["---"] * _N_TEXT + ["---:"] * (len(COLUMNS) - _N_TEXT)
    lines = [COLUMNS, marks, *(cells for row in rows for cells in _rows(row))]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _rows(row: Mapping[str, Any]) -> list[list[str]]:
    variant = row["variant"] if row["window"] is None else f"{row['variant']} ({row['window']})"
    took = [
        f"{row['calls']:,}",
        f"{row['prompt_tokens'] + row['completion_tokens']:,}",
        "unknown" if row["cost"] is None else f"{row['cost']:.4f}",
    ]
    if row["state"] != State.DONE:
        empty = [row["state"], *["-"] * 7]
        return [[row["judge"], row["data"], variant, f"{row['n_items']:,}", *empty, *took]]
    rows = []
    for number, of in enumerate(row["questions"]):
        cells = [row["judge"], f"{row['data']}: {of['question']}", variant, f"{of['n']:,}"]
        cells += _figures(of)
        rows.append(cells + (took if number == 0 else [""] * len(took)))
    return rows


def _figures(of: Mapping[str, Any]) -> list[str]:
    unjudged = f"{of['n_unjudged']:,}"
    if not of["n"]:  # there is no figure of what was not judged
        return ["unjudged", _number(of["lexical_kappa"]), *["-"] * 5, unjudged]
    people = _number(of["people_kappa"])
    if of["people_kappa"] is not None:
        people += f" (n {of['n_people']:,}; judge {_number(of['kappa_with_each'])})"
    tau_runs = _number(of["tau_runs"])
    if of["tau_runs"] is not None:
        tau_runs += f" ({of['n_runs']})"
    return [
        _interval(of["kappa"]),
        _number(of["lexical_kappa"]),
        people,
        f"{of['worst']} {_number(of['worst_recall'])}",
        tau_runs,
        _number(of["tau_topics"]),
        f"{_number(of['yes'], 2)} ({_number(of['people_yes'], 2)})",
        unjudged,
    ]


def _interval(of: Mapping[str, Any]) -> str:
    value = _number(of["value"])
    return value if of["low"] is None else f"{value} [{of['low']:.3f}, {of['high']:.3f}]"


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
