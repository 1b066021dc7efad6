"""`nuggetjudge.compare`: runs tested against each other by topic, or two judges of the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from ..metrics.bootstrap import LEVEL
from ..metrics.significance import RESAMPLES
from ..programs.analysis.compare import compare as compare_files
from ..programs.analysis.compare_runs import OVER_BOTH, is_over_fewer
from ..programs.scoring.result import Result as StoredResult
from ..programs.scoring.topic_scores import merged, topic_scores
from ..records.reading.problems import Problems
from ..records.writing.printed import figure, interval
from .sources import Source, opened, warn_of
from .tables import InTables, Table, judge_note

_NEXT = ("run", "mean", "interval", "less the next", "interval", "p", "told apart")
_TOLD_APART = {True: "yes", False: "no", None: "cannot be tested"}


class Comparison(InTables, dict[str, Any]):
    """The comparison, a dict ready for JSON that shows itself as tables.

    Keys: what `judge compare --json` prints. `compared`: "runs" or "judges"; of runs `measures`,
    by name their `runs` (run_id, mean, low, high, n_topics, n_unanswered) and `pairs` (difference,
    its low and high, p, corrected p, wins, ties, losses, is_told_apart); of judges `agreement`,
    `flip_counts`, `flips` and `ranking`.
    """

    def __init__(
        self,
        comparison: Mapping[str, Any],
        by_topic: Mapping[str, Mapping[str, Mapping[str, float | None]]],
        judged_by: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """As attributes too.

        Args:
            by_topic: of runs `by_topic[measure][topic][run]`, the score in [0, 1] (or words, for
                `length`); None: not judged; a run that is not there did not answer, which counts
                as 0 in all measures but those of what was answered. Empty of judges.
            judged_by: who judged `one` and `other`, where they are results.
        """
        super().__init__(comparison)
        self.by_topic, self.judged_by = by_topic, judged_by

    def __repr__(self) -> str:
        if self["compared"] == "judges":
            return f"Comparison(judges, n={self['agreement']['n']:,}, n_flips={self['n_flips']:,})"
        return f"Comparison(runs, measures={list(self['measures'])})"

    __str__ = InTables.__str__

    def tables(self) -> list[Table]:
        """Of two runs a row a measure, of more a leaderboard a measure; of judges their labels."""
        tables = self._tables()
        names = list(self.judged_by.values())
        if names[1:] and names[0] != names[1]:
            by = "; ".join(f"{name}: {', '.join(of)}" for name, of in self.judged_by.items())
            notes = [f"Judges: {by}."]
        else:
            notes = [note for note in map(judge_note, names[:1]) if note]
        return [replace(table, notes=[*table.notes, *notes]) for table in tables]

    def _tables(self) -> list[Table]:
        if self["compared"] == "judges":
            return [_agreement(self), _flips(self)]
        two = {m: tests for m, tests in self["measures"].items() if len(tests["runs"]) == 2}
        more = [
            _leaderboard(measure, tests, self["level"])
            for measure, tests in self["measures"].items()
            if measure not in two
        ]
        return [*([_pairs(two, self["level"])] if two else []), *more]


def compare(
    one: Source,
    other: Source | None = None,
    *,
    runs: Sequence[str] = (),
    measures: Sequence[str] = (),
    way: str | None = None,
    kind: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Comparison:
    """Test runs against each other by topic, or show where two judges of the same answers differ.

    Args:
        one, other: a result, a results folder, a file of judgements, or of scores by topic.
            Without `other` the runs in `one` are compared, with it the runs of both, or, where
            both hold labels of the same answers, the judges.
        runs: names of the runs to compare, the first less the second; all by default.
        measures: of runs; by default all of two runs, of more one of each program.
        way: "runs" or "judges", where it is not as it seems.
        kind: of judges: nuggets, support, relevance, ratings, keypoints or items.
        resamples: samples of topics drawn for p and intervals; seed: of the draws.
        level: of the intervals; two runs are told apart where p < 1 - level.

    Returns: differences with their intervals and p by topic, and the scores by topic.
    Raises: InputError for files that cannot be compared, an unknown run or measure.
    Warns: UserWarning of rows that were left out.

    Example: nj.compare("results/demo", runs=["complete", "thin"])
    """
    problems = Problems()
    by_topic: dict[str, dict[str, dict[str, float | None]]] = {}
    with ExitStack() as stack:
        paths = list(map(partial(opened, stack), [one] if other is None else [one, other]))
        comparison = compare_files(
            paths[0],
            paths[1] if len(paths) > 1 else None,
            problems,
            way=way,
            runs=list(runs),
            measures=list(measures),
            kind=kind,
            resamples=resamples,
            seed=seed,
            level=level,
        )
        if comparison["compared"] == "runs":
            scores = merged(paths, [topic_scores(path, Problems()) for path in paths])
            for measure, of in comparison["measures"].items():
                values = {
                    run["run_id"]: scores.values[measure][run["run_id"]] for run in of["runs"]
                }
                by_topic[measure] = {
                    topic: {run: cells[topic] for run, cells in values.items() if topic in cells}
                    for topic in scores.topics[measure]
                }
        judged_by = {
            name: StoredResult(path).judged_by
            for name, path in zip(("one", "other"), paths, strict=False)
            if path.is_dir()
        }
    warn_of(problems)
    return Comparison(comparison, by_topic, judged_by)


def _pairs(measures: Mapping[str, Mapping[str, Any]], level: float) -> Table:
    first, second = (run["run_id"] for run in next(iter(measures.values()))["runs"])
    rows = []
    for name, tests in measures.items():
        (pair,), (one, other), digits = tests["pairs"], tests["runs"], _digits(name)
        rows.append(
            [
                name,
                figure(one["mean"], digits),
                figure(other["mean"], digits),
                figure(pair["difference"], digits, "+"),
                interval(pair["low"], pair["high"], digits, "+"),
                figure(pair["p"], 4),
                f"{pair['wins']}/{pair['ties']}/{pair['losses']}",
                _TOLD_APART[pair["is_told_apart"]],
            ]
        )
    header = ["measure", "first", "second", "difference", f"{level:.0%} interval", "p"]
    caption = f"{first} less {second}, by topic"
    any_is_over_fewer = any(is_over_fewer(tests, tests["pairs"]) for tests in measures.values())
    notes = [OVER_BOTH] if any_is_over_fewer else []
    return Table(caption, [*header, "won/tied/lost", "told apart"], rows, notes)


def _leaderboard(measure: str, tests: Mapping[str, Any], level: float) -> Table:
    digits = _digits(measure)
    next_of = {pair["run_id"]: pair for pair in tests["pairs"] if pair["are_neighbours"]}
    rows = []
    for run in tests["runs"]:
        row = [run["run_id"], figure(run["mean"], digits)]
        row.append(interval(run["low"], run["high"], digits))
        if (pair := next_of.get(run["run_id"])) is None:
            row += ["", "", "", ""]
        else:
            row += [
                figure(pair["difference"], digits, "+"),
                interval(pair["low"], pair["high"], digits, "+"),
                figure(pair["p_hsd"], 4),
                _TOLD_APART[pair["is_told_apart"]],
            ]
        rows.append(row)
    n_apart = sum(bool(pair["is_told_apart"]) for pair in tests["pairs"])
    notes = [
        f"Pairs told apart: {n_apart:,} of {len(tests['pairs']):,}. Intervals are {level:.0%}, by "
        "topic; p is corrected for the number of runs (HSD)."
    ]
    if any(pair["is_told_apart"] is None for pair in tests["pairs"]):
        notes.append(
            f"Pairs cannot be tested by HSD: it takes two topics on which every run was judged, "
            f"and there are {tests['n_topics_all_judged']} of {tests['n_topics']}."
        )
    if is_over_fewer(tests, next_of.values()):
        notes.append(OVER_BOTH)
    caption = f"{measure}: {len(rows)} runs, {tests['n_topics']} topics"
    return Table(caption, _NEXT, rows, notes)


def _digits(measure: str) -> int:
    return 0 if measure == "length" else 3  # in words


def _agreement(comparison: Mapping[str, Any]) -> Table:
    intervals = comparison["agreement"]["intervals"]
    named = {"share of equal labels": intervals["accuracy"]}
    named |= {f"kappa, {name}": row for name, row in intervals["cohen_kappa"].items()}
    rows = [
        [name, figure(row["value"]), interval(row["low"], row["high"])]
        for name, row in named.items()
        if row["value"] is not None
    ]
    n = comparison["agreement"]["n"]
    caption = f"{comparison['kind']}: {n:,} labels of both judges, {comparison['n_flips']:,} differ"
    return Table(caption, ["figure", "value", "interval"], rows)


def _flips(comparison: Mapping[str, Any]) -> Table:
    rows = [
        [row["label"], row["other_label"], f"{row['n']:,}"] for row in comparison["flip_counts"]
    ]
    swaps = [
        f"By {measure} {len(row['swaps']):,} neighbours swap; tau-b {figure(row['tau_b'])} over "
        f"{row['n_runs']} runs."
        for measure, row in (comparison["ranking"] or {}).items()
    ]
    return Table("Labels that differ", ["one", "other", "n"], rows, swaps)
