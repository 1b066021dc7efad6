"""Compare runs by topic: which runs differ significantly?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from ...metrics.inference import (
    LEVEL,
    Draws,
    PairedTest,
    compare_pairs,
    compute_randomised_hsd,
    holm,
    mean_intervals,
)
from ...metrics.inference import N_PERMUTATIONS as RESAMPLES
from ...metrics.rank_correlation import spearman
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.rows import ScoreRow
from ..protocols.table import meaning
from ..scoring.topic_scores import (
    TopicScores,
    merge_sources,
    note_other_instruments,
    runs_in_both,
    topic_scores,
)

Floats = NDArray[np.float64]

# Measures that compare a leaderboard.
PRIMARY = ("V_strict", "support_precision", "coverage", "report_coverage", "nDCG@10")

DRAWS: Draws = {"resamples": RESAMPLES, "seed": 0, "level": LEVEL}

# Tests: for two runs, for all pairs of complete scores, and of scores with gaps.
PAIRED, HSD, HOLM = "randomisation", "HSD", "pairs tested on the topics both have, Holm"
_COMPLETE = 0.8  # share of topics with all runs that HSD needs


def compare_runs(
    sources: Sequence[Path],
    problems: Problems,
    *,
    runs: Sequence[str] = (),
    measures: Sequence[str] = (),
    **draws: Unpack[Draws],
) -> dict[str, Any]:
    """Test the differences between runs, separately for each measure.

    Args:
        sources: results folders, files of judgements or files of scores by topic. A run in two
            sources is named `run@source`. Only topics of both sources count.
        runs: the runs to compare, the first minus the second; default: all, in source order;
            with more than two runs, the better minus the worse.
        measures: the measures to compare; default: all, or `PRIMARY` with more than two runs.
        draws: options of intervals; a pair differs significantly if p < 1 - level.

    Returns: `runs_in_both`: runs in two sources. `measures`: by name its `runs` (mean, its
        interval by topic, and topics), its `test` (see `choose_test`) and `pairs`: the fields of
        `PairedTest`, and with more than two runs `p_holm`, `p_hsd` (None if `test` differs) and
        `are_neighbours` on the leaderboard. `is_significant` uses the p of `test`; None: the two
        runs share no topic. For two runs also their `topics`, see `find_topic_differences`; for
        runs of one folder, `judgements` beside the measures, see `find_judgement_differences`.
    Raises: InputError for an unknown run or measure, fewer than two runs, scores without topics.
    """
    scores_of = [topic_scores(path, problems) for path in sources]
    if len(sources) > 1:
        note_other_instruments(sources, problems)
    scores = merge_sources(sources, scores_of)
    run_ids = list(dict.fromkeys(run for of_run in scores.values.values() for run in of_run))
    chosen = list(dict.fromkeys(runs)) or run_ids
    names = " and ".join(map(str, sources))
    if unknown := [run for run in chosen if run not in run_ids]:
        raise InputError(f"{names}: no run {unknown[0]!r}; runs: {_there(unknown[0], run_ids)}")
    if len(chosen) < 2:
        raise InputError(f"{names}: {len(chosen)} run, wanted two or more to compare")
    wanted = list(measures) or _default_measures(scores, chosen)
    if missing := [m for m in wanted if m not in scores.values]:
        raise InputError(
            f"{names}: no measure {missing[0]!r}; there is {_there(missing[0], scores.values)}"
        )
    if not wanted:
        raise InputError(f"{names}: {' and '.join(chosen)} have no measure in common")
    options: Draws = {**DRAWS, **draws}
    of_measures = {
        measure: _one_measure(scores, measure, chosen, len(chosen) > 2, options)
        for measure in wanted
    }
    compared = {
        "compared": "runs",
        **options,
        "runs_in_both": sorted(runs_in_both(scores_of)),
        "measures": of_measures,
    }
    if len(chosen) == 2:
        from .run_differences import find_judgement_differences, find_topic_differences

        for measure in wanted:
            of_measures[measure]["topics"] = find_topic_differences(scores, measure, *chosen)
        if len(sources) == 1 and sources[0].is_dir():
            compared["judgements"] = find_judgement_differences(
                sources[0], chosen[0], chosen[1], problems
            )
    return compared


def _there(name: str, names: Collection[str]) -> str:
    return f"{', '.join(names)}{did_you_mean(name, names)}"


def compare_scores(
    scores: TopicScores, measure: str, *, is_tested: bool = True, **draws: Unpack[Draws]
) -> dict[str, Any]:
    """Return the result of `compare_runs` for one measure and all runs of the given scores.

    Args:
        is_tested: also test all pairs; False: `pairs` is empty, which is much faster.
    """
    options: Draws = {**DRAWS, **draws}
    runs = list(dict.fromkeys(run for of_run in scores.values.values() for run in of_run))
    return _one_measure(scores, measure, runs, len(runs) > 2, options, is_tested=is_tested)


def _default_measures(scores: TopicScores, runs: Sequence[str]) -> list[str]:
    present = [m for m, by_run in scores.values.items() if sum(r in by_run for r in runs) > 1]
    primary = [measure for measure in PRIMARY if measure in present]
    return present if len(runs) == 2 or not primary else primary


def _one_measure(
    scores: TopicScores,
    measure: str,
    runs: Sequence[str],
    is_leaderboard: bool,
    options: Draws,
    *,
    is_tested: bool = True,
) -> dict[str, Any]:
    present = [run for run in runs if run in scores.values[measure]]
    topics = list(scores.topics[measure])
    table = make_score_table(scores, measure, present)
    rows = make_run_rows(scores, measure, present, table, options)
    order = list(range(len(present)))
    if is_leaderboard:
        order.sort(key=lambda i: (rows[i]["mean"] is None, -(rows[i]["mean"] or 0), present[i]))
    table = table[:, order]
    pairs = list(combinations(range(len(order)), 2)) if is_tested else []
    tests = _test_pairs(table, options) if is_tested else []
    found = find_differences(table, options, tests) if pairs else None
    p_holm = _correct_by_holm([test.p for test in tests])
    alpha = 1 - options["level"]
    rows_of_pairs = []
    for n, ((i, j), test) in enumerate(zip(pairs, tests, strict=True)):
        names = {"run_id": present[order[i]], "other_run_id": present[order[j]]}
        row: dict[str, Any] = {**names, **_test_row(test)}
        p = None if found is None else found.p[n]
        if is_leaderboard:
            has_hsd = found is not None and found.test == HSD
            row |= {"p_holm": p_holm[n], "p_hsd": p if has_hsd else None}
            row["are_neighbours"] = j == i + 1
        row["is_significant"] = None if p is None else p < alpha
        rows_of_pairs.append(row)
    return {
        "n_topics": len(topics),
        "n_topics_all_judged": len(_all_judged(table)),
        "test": None if found is None else found.test,
        "least_topics": None if found is None else found.least_topics,
        "runs": [rows[i] for i in order],
        "pairs": rows_of_pairs,
    }


def is_over_fewer(compared: Mapping[str, Any], pairs: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a difference covers fewer topics than the means of its runs."""
    n_of = {run["run_id"]: run["n_topics"] for run in compared["runs"]}
    return any(
        row["n_topics"] < max(n_of[row["run_id"]], n_of[row["other_run_id"]]) for row in pairs
    )


def make_score_table(scores: TopicScores, measure: str, runs: Sequence[str]) -> Floats:
    """Return (n_topics, n_runs) scores: 0 for unanswered topics, nan for unjudged ones."""
    topics = list(scores.topics[measure])
    unanswered = None if scores.is_of_answered(measure) else 0.0
    cells = [
        [scores.values[measure][run].get(topic, unanswered) for run in runs] for topic in topics
    ]
    return np.array(cells, dtype=float).reshape(len(topics), len(runs))


def make_run_rows(
    scores: TopicScores, measure: str, runs: Sequence[str], table: Floats, options: Draws
) -> list[dict[str, Any]]:
    """Return for each run its mean, the interval by topic, and its answered topics.

    A run without any judgement has no mean.

    Args:
        table: the result of `make_score_table` for the other arguments.
    """
    topics = set(scores.topics[measure])
    none = dict.fromkeys(("mean", "low", "high"))
    return [
        {
            "run_id": run,
            **({"mean": mean.value, "low": mean.low, "high": mean.high} if is_judged else none),
            "n_topics": mean.n_topics,
            "n_unanswered": len(topics - scores.values[measure][run].keys()),
        }
        for run, mean in zip(runs, mean_intervals(table.T, level=options["level"]), strict=True)
        for is_judged in [_is_judged(scores.rows[measure][run], topics)]
    ]


def _is_judged(rows: Mapping[str, ScoreRow], topics: Collection[str]) -> bool:
    """Return whether anything of a run was judged, or nothing needed a judgement."""
    present = [rows[topic] for topic in topics if topic in rows]
    return any(row.n is None or row.n for row in present) or not any(r.n_unjudged for r in present)


@dataclass(frozen=True)
class PairDifferences:
    """Tests of all pairs of runs, in the order of the table's columns.

    Attributes:
        test: the test; see `choose_test`.
        p: p of each pair, corrected for all pairs; None: the two runs share no topic.
        differences: the first minus the second run, over the topics of the test.
        least_topics: common topics needed for p below 1 - level, if no two runs share so many;
            None: some pair could differ significantly.
    """

    test: str
    p: Sequence[float | None]
    differences: Sequence[float | None]
    least_topics: int | None = None


def choose_test(table: Floats) -> str:
    """Choose the test of all pairs of runs, by how complete their scores are.

    `PAIRED` for two runs; `HSD` if every run has a score on at least four in five of the topics
    (and on 2) that any two runs share; otherwise `HOLM`, since HSD would exclude too many topics.

    Args:
        table: (n_topics, n_runs); nan: no score.
    """
    if table.shape[1] == 2:
        return PAIRED
    n_complete = len(_all_judged(table))
    n_shared = int(((~np.isnan(table)).sum(axis=1) > 1).sum())
    return HSD if n_complete >= max(2.0, _COMPLETE * n_shared) else HOLM


def find_differences(
    table: Floats, options: Draws, tests: Sequence[PairedTest] = ()
) -> PairDifferences:
    """Test all pairs of runs with the test that all pages and commands use.

    Args:
        table: (n_topics, n_runs) scores; nan: no score.
        tests: tests of all pairs, if they already exist; see `_test_pairs`.
    """
    test = choose_test(table)
    if test == HSD:
        complete = _all_judged(table)
        means = complete.mean(axis=0)
        p = compute_randomised_hsd(complete, resamples=options["resamples"], seed=options["seed"])
        pairs = list(combinations(range(table.shape[1]), 2))
        differences = [float(means[i] - means[j]) for i, j in pairs]
        return PairDifferences(HSD, [float(p[i, j]) for i, j in pairs], differences)
    tests = tests or _test_pairs(table, options)
    p_values = [each.p for each in tests]
    n_tested = sum(p is not None for p in p_values)
    # The smallest p of n topics is 2 / 2^n; Holm's first step multiplies it by the number of pairs.
    least = math.floor(1 - math.log2((1 - options["level"]) / max(1, n_tested))) + 1
    most = max((each.n_topics for each in tests), default=0)
    return PairDifferences(
        test,
        p_values if test == PAIRED else _correct_by_holm(p_values),
        [each.difference.value for each in tests],
        least if most < least else None,
    )


def _test_pairs(table: Floats, options: Draws) -> list[PairedTest]:
    pairs = list(combinations(range(table.shape[1]), 2))
    differences = np.array([table[:, i] - table[:, j] for i, j in pairs])
    return compare_pairs(differences.reshape(len(pairs), len(table)), **options)


def _correct_by_holm(p_values: Sequence[float | None]) -> list[float | None]:
    corrected = iter(holm([p for p in p_values if p is not None]))
    return [None if p is None else next(corrected) for p in p_values]


def _all_judged(table: Floats) -> Floats:
    return table[~np.isnan(table).any(axis=1)]


def _test_row(test: PairedTest) -> dict[str, Any]:
    """Return the fields of a test, with the bounds of the difference."""
    fields = vars(test).copy()
    difference = fields.pop("difference")
    return {
        "difference": difference.value,
        "low": difference.low,
        "high": difference.high,
        **fields,
    }


def compare_with_length(
    measure: str, compared: Mapping[str, Any], words: Mapping[str, float | None]
) -> dict[str, Any]:
    """Return a point for each run, the Pareto-optimal runs, and the rank correlation.

    Args:
        compared: the result of `compare_scores` for the measure.
        words: the mean length of each run's answers.
    """
    points = [
        {"run": row["run_id"], "words": length, "score": row["mean"]}
        for row in compared["runs"]
        if (length := words.get(row["run_id"])) is not None and row["mean"] is not None
    ]
    scores, lengths = [[point[name] for point in points] for name in ("score", "words")]
    sign = -1 if meaning(measure).is_less_better else 1
    return {
        "points": points,
        "front": front([(point["words"], sign * point["score"]) for point in points]),
        "spearman": spearman(lengths, scores) if len(points) > 1 else None,
    }


def front(points: Sequence[tuple[float, float]]) -> list[int]:
    """Return indices of Pareto-optimal (length, score) points, ordered by length.

    No other point is at most as long and better, or shorter and at least as good. Source: Figure 7
    of arXiv:2411.09607.

    >>> front([(100, 0.5), (200, 0.4), (300, 0.9), (90, 0.1)])
    [3, 0, 2]
    """
    best, indices = float("-inf"), []
    order = sorted(range(len(points)), key=lambda i: (points[i][0], -points[i][1]))
    for i in order:
        if points[i][1] > best:
            best = points[i][1]
            indices.append(i)
    return indices
