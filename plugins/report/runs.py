"""Sections about runs: the leaderboard, two runs, score and length, topics, one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...metrics.answer_scores import Value, mean_over_topics
from ...programs.analysis.compare_runs import PRIMARY, compare_with_length
from ...programs.analysis.leaderboards import Group, find_group
from ...programs.analysis.tables.leaderboards import write_group_phrase
from ...programs.inputs import ORACLES
from ...programs.protocols.scoreboard import LENGTH
from ...programs.protocols.table import meaning, programs
from ...records.nuggets import QUERY_FIELDS, TOPIC_FIELDS
from ...records.reading.fields import read_lines
from ...records.reading.problems import Problems
from ...records.rows import ScoreRow
from .source import Source

_BESIDE, _MORE = 4, 6  # other measures in a row of the chart, and further ones in the table


def make_leaderboard(source: Source) -> Mapping[str, Any]:
    """By measure: mean, interval over topics, bounds for failed judgements, corrected value.

    If pairs are tested by the measure, `apart` has a character for each pair in the order of the
    rows (first with second, first with third, ...): 1 significantly different, 0 no significant
    difference, ? not tested. `leading` has the first run and the runs that are not significantly
    worse; `leaders` is a sentence about them.
    """
    corrected = read_corrected_rows(source)
    return {
        "count": len(source.runs),
        "measure": main_measure(source),
        "measures": {m: _measure(source, m, corrected) for m in source.measures},
        "labels": ", ".join(path.name for path in source.labels) or None,
        "not_corrected": source.not_corrected,
    }


def run_rows(source: Source, measure: str) -> list[dict[str, Any]]:
    """A row a run, best first: its mean, the interval, and the judgements behind it."""
    rows = [
        {
            **{name: row[name] for name in ("run_id", "mean", "low", "high", "n_unanswered")},
            "n_topics": row["n_topics"],
            **_count_judged(source, measure, row["run_id"]),
        }
        for row in source.compare(measure)["runs"]
    ]
    n_topics = len(source.scores.topics[measure])
    for row in rows:  # a 0 without any judgement is not a score
        if row["n"] == 0 == row["mean"] and row["n_unanswered"] < n_topics:
            row["mean"] = row["low"] = row["high"] = None
    sign = 1 if meaning(measure).is_less_better else -1
    rows.sort(key=lambda row: (row["mean"] is None, sign * (row["mean"] or 0), row["run_id"]))
    return rows


def main_measure(source: Source) -> str:
    """The first measure by which a run has a score."""
    scored = (measure for measure in source.measures if rank_runs(source, measure))
    return next(scored, source.measures[0])


def rank_runs(source: Source, measure: str) -> list[tuple[str, float]]:
    """The runs with a score, best first."""
    rows = run_rows(source, measure)
    return [(row["run_id"], row["mean"]) for row in rows if row["mean"] is not None]


def find_leaders(source: Source, measure: str) -> Group:
    """The best run by a measure, and the runs that are not significantly worse."""
    compared = source.compare(measure)
    tested = [row["run_id"] for row in run_rows(source, measure)]
    sign = -1 if meaning(measure).is_less_better else 1
    against: dict[str, tuple[bool | None, float | None]] = {}
    for pair in compared["pairs"]:
        one, other, by = pair["run_id"], pair["other_run_id"], pair["difference"]
        for first, second, turn in ((one, other, sign), (other, one, -sign)):
            if first == tested[0]:
                against[second] = pair["is_significant"], None if by is None else turn * by
    is_tested = any(differs is not None for differs, _ in against.values())
    return find_group(
        tested,
        compared["test"] if is_tested else "",
        [(run, *against[run]) for run in tested if run in against],
        untested=_explain_untested(source, measure),
        least_topics=compared["least_topics"],
    )


def _explain_untested(source: Source, measure: str) -> str:
    """Why no pair was tested."""
    if len(source.runs) < 2:
        return ""
    if source.compare(measure)["pairs"]:
        return "no two of them share a judged topic"
    return f"judge compare RESULTS --measure {measure} tests them"


def read_corrected_rows(source: Source) -> dict[tuple[str, str], Mapping[str, Any]]:
    """By (measure, run), the score corrected with labels: value, and interval over topics."""
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
    compared = source.compare(measure)
    explained = meaning(measure)
    rows = [
        row | {"corrected": corrected.get((measure, row["run_id"]))}
        for row in run_rows(source, measure)
    ]
    n_topics = len(source.scores.topics[measure])
    apart = {
        frozenset((pair["run_id"], pair["other_run_id"])): pair["is_significant"]
        for pair in compared["pairs"]
    }
    names = [row["run_id"] for row in rows]
    marks = [
        {None: "?", True: "1", False: "0"}[apart[frozenset((one, other))]]
        for i, one in enumerate(names)
        for other in (names[i + 1 :] if apart else ())
    ]
    group = find_leaders(source, measure)
    oracles = [_oracle(name, of) for name, of in source.scores.rows[measure].items()]
    return {
        "rows": rows,
        "apart": "".join(marks),
        "leading": group.leading,
        "leaders": write_group_phrase(group, measure, "worse"),
        "n_topics": n_topics,
        "n_topics_all_judged": compared["n_topics_all_judged"],
        "test": compared["test"],
        "least_topics": compared["least_topics"],
        "scale": make_scale(rows),
        "meaning": explained.text,
        "is_less_better": explained.is_less_better,
        "is_of_answered": source.scores.is_of_answered(measure),
        "beside": _beside(source, measure),
        "more": _more(source, measure),
        "oracles": [row for row in oracles if row is not None],
    }


def _count_judged(source: Source, measure: str, run: str) -> dict[str, Any]:
    """How many judgements are behind a mean, and the bounds for missing judgements."""
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


def make_scale(rows: list[dict[str, Any]]) -> list[float]:
    """From 0 to 1, or to a round number above everything drawn if the measure goes beyond 1."""
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
    """The official measures of the same task, then of the other tasks."""
    own = [program for program in programs() if measure.partition("@")[0] in program.shown]
    others = [program for program in programs() if program not in own]
    official = [name for one in (*own, *others) for name in one.shown[: one.n_official]]
    first = [m for m in source.measures if m in PRIMARY]
    named = [m for name in official for m in source.measures if m.partition("@")[0] == name]
    return [m for m in dict.fromkeys((*named, *first)) if m not in (measure, LENGTH)][:_BESIDE]


def _more(source: Source, measure: str) -> list[str]:
    """The other measures that the same task shows."""
    shown = next((p.shown for p in programs() if measure.partition("@")[0] in p.shown), ())
    named = [m for name in shown for m in source.measures if m.partition("@")[0] == name]
    return [m for m in named if m not in (measure, LENGTH, *_beside(source, measure))][:_MORE]


_DIGITS = 4
_FIGURES = ("difference", "low", "high", "p", "p_holm", "p_hsd")
_COUNTS = ("wins", "ties", "losses")


def make_pairs(source: Source) -> Mapping[str, Any] | None:
    """By measure: its runs, best first, and a list of values over pairs (first with second, first
    with third, ...) for each figure. `is_significant` is text, 1, 0 or ? a pair, by `test`."""
    if len(source.runs) < 2:
        return None
    tested = [measure for measure in source.measures if source.is_tested(measure)]
    return {"measures": {measure: _pairs(source.compare(measure)) for measure in tested}}


def _pairs(compared: Mapping[str, Any]) -> dict[str, Any]:
    pairs: Sequence[Mapping[str, Any]] = compared["pairs"]
    marks = {None: "?", True: "1", False: "0"}
    return {
        "runs": [row["run_id"] for row in compared["runs"]],
        "n_topics": compared["n_topics"],
        "n_topics_all_judged": compared["n_topics_all_judged"],
        "test": compared["test"],
        "least_topics": compared["least_topics"],
        **{name: [_short(pair.get(name)) for pair in pairs] for name in _FIGURES},
        **{name: [pair[name] for pair in pairs] for name in _COUNTS},
        "is_significant": "".join(marks[pair["is_significant"]] for pair in pairs),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def make_length(source: Source) -> Mapping[str, Any] | None:
    """By measure: one point a run, the runs that no other beats in both, the rank correlation."""
    if len(source.runs) < 2:
        return None
    if LENGTH not in source.measures:
        return {
            "missing": "Lengths of answers come from the nuggets task, which was not run.",
            "command": "judge run nuggets",
        }
    words = {row["run_id"]: row["mean"] for row in source.compare(LENGTH)["runs"]}
    others = [m for m in source.measures if m != LENGTH and meaning(m).is_quality]
    return {"measures": {m: compare_with_length(m, source.compare(m), words) for m in others}}


def make_topics(source: Source) -> Mapping[str, Any] | None:
    """What is known about topics; their scores are in the page's head (packing.py).

    `questions`: by topic. `unjudged`: by measure and topic the judgements that are missing.
    """
    if not source.topics:
        return None
    return {
        "count": len(source.topics),
        "questions": _questions(source),
        "unjudged": {measure: _count_unjudged(source, measure) for measure in source.measures},
        "less_is_better": [m for m in source.measures if meaning(m).is_less_better],
    }


def _questions(source: Source) -> dict[str, str]:
    questions: dict[str, str] = {}
    for path in source.paths:
        for name in {name: None for one in programs() for name in one.makes.values()}:
            lines = read_lines(path / name, Problems()) if (path / name).is_file() else ()
            for line in lines:
                topic, question = line.optional_id(*TOPIC_FIELDS), line.optional_text(*QUERY_FIELDS)
                if topic is not None and question:
                    questions.setdefault(topic, question)
    return questions


def _count_unjudged(source: Source, measure: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for run in source.scores.values[measure]:
        for topic, row in source.scores.rows[measure].get(run, {}).items():
            if row.n_unjudged and topic != "all":
                counts[topic] = counts.get(topic, 0) + row.n_unjudged
    return counts


def make_profile(source: Source) -> Mapping[str, Any] | None:
    """`n_runs`. The scores are in the page's head, the labels in the data of `matrix`."""
    return {"n_runs": len(source.runs)} if source.topics and source.runs else None
