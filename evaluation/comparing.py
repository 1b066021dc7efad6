"""`nuggetjudge.compare`: runs tested against each other by topic, or two judges of the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from types import MappingProxyType
from typing import Any

from ..metrics.inference import LEVEL
from ..metrics.inference import N_PERMUTATIONS as RESAMPLES
from ..programs.analysis.compare import compare as compare_files
from ..programs.analysis.tables.comparisons import comparison_view, judges_of
from ..programs.scoring.topic_scores import merged, topic_scores
from ..records.reading.problems import Problems
from ..views.table import View
from .sources import InOneLine, Source, opened, warn_of
from .tables import InTables


class Comparison(InTables, dict[str, Any]):
    """The comparison, a dict ready for JSON that shows itself as tables.

    Keys: what `judge compare --json` prints. `compared`: "runs" or "judges"; of runs `measures`,
    by name their `runs` (run_id, mean, low, high, n_topics, n_unanswered) and `pairs` (difference,
    its low and high, p, corrected p, wins, ties, losses, is_significant); of judges `agreement`,
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

    def view(self) -> View:
        """The verdict; of two runs a row a measure, of more a ranking each; of judges labels."""
        return comparison_view(self, self.judged_by)


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
        level: of the intervals; two runs differ significantly where p < 1 - level.

    Returns: differences with their intervals and p by topic, and the scores by topic.
    Raises: InputError for files that cannot be compared, an unknown run or measure.
    Warns: UserWarning of rows that were left out.

    Example: nj.compare("results/demo", runs=["complete", "thin"])
    """
    problems = Problems()
    by_topic: dict[str, dict[str, dict[str, float | None]]] = {}
    with InOneLine(), ExitStack() as stack:
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
        judged_by = judges_of(paths)
    warn_of(problems)
    return Comparison(comparison, by_topic, judged_by)
