"""Who is best, and is that known: a row a run, with three kinds of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...metrics.means import mean_over_topics
from ...metrics.value import Value
from ...programs.analysis.compare_runs import PRIMARY
from ...programs.inputs.coverage import ORACLES
from ...programs.protocols.glossary import meaning
from ...programs.protocols.measure_values import LENGTH
from ...programs.protocols.table import programs
from ...records.rows import ScoreRow
from ..source import Source

_BESIDE = 3  # other measures in the row


def data(source: Source) -> Mapping[str, Any]:
    """By measure: mean, interval over topics, bounds for the unjudged, corrected value.

    Of measures by which pairs are tested `apart` has which: a character for each pair in the
    order of the rows (first with second, first with third, ...): 1 told apart, 0 not, ? unknown.
    """
    corrected = corrected_rows(source)
    return {
        "count": len(source.runs),
        "measures": {m: _measure(source, m, corrected) for m in source.measures},
        "labels": ", ".join(path.name for path in source.labels) or None,
        "not_corrected": source.not_corrected,
    }


def corrected_rows(source: Source) -> dict[tuple[str, str], Mapping[str, Any]]:
    """(measure, run) to what labels make of its score: value, and interval over topics."""
    corrected: dict[tuple[str, str], Mapping[str, Any]] = {}
    for score in source.corrected:
        if score.corrected is not None:
            like = score.corrected.like_these
            value = {"value": score.corrected.value, "low": like.low, "high": like.high}
            corrected[score.measure, score.run_id] = {**value, "n_labels": score.n_labels}
    return corrected


def _measure(
    source: Source, measure: str, corrected: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[str, Any]:
    compared = source.compared(measure)
    explained = meaning(measure)
    rows = [
        {
            **{name: row[name] for name in ("run_id", "mean", "low", "high", "n_unanswered")},
            "n_topics": row["n_topics"],
            **_judged(source, measure, row["run_id"]),
            "corrected": corrected.get((measure, row["run_id"])),
        }
        for row in compared["runs"]
    ]
    n_topics = len(source.scores.topics[measure])
    for row in rows:  # a 0 of answers of which nothing was judged is none
        if row["n"] == 0 == row["mean"] and row["n_unanswered"] < n_topics:
            row["mean"] = row["low"] = row["high"] = None
    if explained.is_less_better:
        rows.sort(key=lambda row: (row["mean"] is None, row["mean"], row["run_id"]))
    apart = {
        frozenset((pair["run_id"], pair["other_run_id"])): pair["is_told_apart"]
        for pair in compared["pairs"]
    }
    names = [row["run_id"] for row in rows]
    marks = [
        {None: "?", True: "1", False: "0"}[apart[frozenset((one, other))]]
        for i, one in enumerate(names)
        for other in (names[i + 1 :] if apart else ())
    ]
    oracles = [_oracle(name, of) for name, of in source.scores.rows[measure].items()]
    return {
        "rows": rows,
        "apart": "".join(marks),
        "n_topics": n_topics,
        "n_topics_all_judged": compared["n_topics_all_judged"],
        "test": compared["test"],
        "least_topics": compared["least_topics"],
        "scale": scale_of(rows),
        "meaning": explained.text,
        "is_less_better": explained.is_less_better,
        "is_of_answered": source.scores.is_of_answered(measure),
        "beside": _beside(source, measure),
        "oracles": [row for row in oracles if row is not None],
    }


def _judged(source: Source, measure: str, run: str) -> dict[str, Any]:
    """How many judgements a mean rests on, and the bounds of what is missing."""
    rows = source.scores.rows[measure][run]
    topics = source.scores.topics[measure]
    mean = rows.get("all")
    if mean is None or len(source.paths) > 1:  # the topics of all folders may be fewer
        values = {topic: _value(rows[topic]) for topic in topics if topic in rows}
        is_of_answered = source.scores.is_of_answered(measure)
        estimate, _ = mean_over_topics(values, None if is_of_answered else topics)
    else:
        estimate = _value(mean)
    has_bounds = estimate.n_unjudged > 0 and estimate.low is not None
    bounds = [estimate.low, estimate.high] if has_bounds else None
    return {"n": estimate.n, "n_unjudged": estimate.n_unjudged, "bounds": bounds}


def _value(row: ScoreRow) -> Value:
    return Value(row.value, row.n or 0, row.n_unjudged or 0, row.low, row.high)


def scale_of(rows: list[dict[str, Any]]) -> list[float]:
    """From 0 to 1 or, of a measure that goes beyond, to a round number above all that is drawn."""
    drawn = [row[name] for row in rows for name in ("mean", "low", "high")]
    drawn += [bound for row in rows for bound in row["bounds"] or ()]
    bounds = [x for x in drawn if x is not None]
    low, high = min([0.0, *bounds]), max([1.0, *bounds])
    if high > 1:
        step = 10 ** (len(str(int(high))) - 1)
        high = float(-(-high // step) * step) if high > 2 else -(-high * 10 // 1) / 10
    return [low, high]


def _oracle(name: str, rows: Mapping[str, ScoreRow]) -> dict[str, Any] | None:
    oracle, _, folder = name.partition("@")
    mean = rows.get("all")
    if oracle not in ORACLES or mean is None:
        return None
    what = "the required passages" if oracle == ORACLES[0] else "the reference reports"
    where = f", {folder}" if folder else ""
    return {"run_id": name, "what": what + where, "mean": mean.value, "n": mean.n}


def _beside(source: Source, measure: str) -> list[str]:
    """Other main measures: of other programs those that they are compared by, then of its own."""
    shown = next((p.shown for p in programs() if measure.partition("@")[0] in p.shown), ())
    own = [m for name in shown for m in source.measures if m.partition("@")[0] == name]
    first = [m for m in source.measures if m in PRIMARY]
    every = dict.fromkeys((*first, *own))
    return [m for m in every if m not in (measure, LENGTH)][:_BESIDE]
