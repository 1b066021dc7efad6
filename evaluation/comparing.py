"""`nuggetjudge.agree` and `nuggetjudge.compare`, and how results show themselves."""

from __future__ import annotations

import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from ..metrics.inference import LEVEL
from ..metrics.inference import N_PERMUTATIONS as RESAMPLES
from ..programs.analysis.agree import agree as agree_files
from ..programs.analysis.compare import compare as compare_files
from ..programs.analysis.tables.agreement import make_agreement_view
from ..programs.analysis.tables.comparisons import make_comparison_view, read_judges
from ..programs.analysis.tables.words import write_estimate
from ..programs.partial import results_at
from ..programs.scoring.result import Result as StoredResult
from ..programs.scoring.topic_scores import merge_sources, topic_scores
from ..records.reading.problems import InputError, Problems
from ..views.formats import escape_html, view_html
from ..views.table import View
from ..views.terminal import Terminal, view_text

Source: TypeAlias = str | Path | StoredResult


class InOneLine(AbstractContextManager[None]):
    """Let an InputError from within be as if raised here: a typo needs no traceback of ours."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            error.__traceback__ = error.__cause__ = None
            error.__suppress_context__ = True


def open_source(stack: ExitStack, source: Source) -> Path:
    """Where it is; of a stopped run a folder with what was judged by now, until `stack` closes.

    Of a folder of another tool one with its judgements as ours.

    Raises: InputError where an input of a stopped run is not as it was; TypeError for what is
        neither a result nor a path.
    Warns: UserWarning of a stopped run, in the line that called the function which called this one.
    """
    if isinstance(source, StoredResult):
        return source.folder
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"a result or the path of its folder is wanted, not {source!r}")
    at = stack.enter_context(results_at(Path(source)))
    if at.problems is not None:
        warn_about(at.problems)
    if at.is_partial:
        what = f"{source}: stopped run, partial; the same run with the same config goes on"
        warnings.warn(what, UserWarning, stacklevel=3)
    return at.path


def list_wanted_values(where: Mapping[str, str | Sequence[str]] | None) -> dict[str, list[str]]:
    """The values wanted of each field, one of them or several."""
    values_of = where or {}
    return {name: [v] if isinstance(v, str) else list(v) for name, v in values_of.items()}


def warn_about(problems: Problems) -> None:
    """Warn of what readers left out or doubted: by kind, with the first of each.

    The warning names the line that called the function which called this one.
    """
    for kind, n in problems.counts().items():
        first = next(row for row in problems.rows if row.kind == kind)
        what = f"{n:,} {kind} ({first.action}), first at {first}"
        warnings.warn(what, UserWarning, stacklevel=3)


class InTables(ABC):
    """Something that shows itself as a verdict and tables."""

    @abstractmethod
    def view(self) -> View:
        """What it shows."""

    def _repr_html_(self) -> str:
        return view_html(self.view())

    def __str__(self) -> str:
        return view_text(self.view(), Terminal.of(sys.stdout))


class Text(str):
    """Lines that a notebook, an interpreter and `print` show as they are."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape_html(self)}</pre>"


class Agreement(InTables, dict[str, Any]):
    """How far labels, or scores, agree: a dict ready for JSON that shows itself as tables.

    Keys: what `judge agree --json` prints. Of labels `n` (cells with both), `n_human_only`,
    `n_judged_only`, `accuracy`, `cohen_kappa`, `alpha`, `confusion` (n_labels, n_labels; rows are
    people's), `scale`, `intervals` by topic, and `annotators`, where people's labels name more
    than one; of scores `measures`.
    """

    def __repr__(self) -> str:
        if "confusion" not in self:
            return f"Agreement({self['kind']})"
        share = write_estimate(self["intervals"]["accuracy"])
        return f"Agreement({self['kind']}, n={self['n']:,}, share of equal labels {share})"

    __str__ = InTables.__str__

    def view(self, *, has_all: bool = False) -> View:
        """The verdict, the coefficients that fit (or all), and of labels where they differ."""
        return make_agreement_view(self, has_all=has_all)


def agree(
    labels: str | Path,
    judged: Source | None = None,
    *,
    where: Mapping[str, str | Sequence[str]] | None = None,
    kind: str | None = None,
    cut: str | Sequence[str] = (),
    measures: Mapping[str, str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = LEVEL,
) -> Agreement:
    """Hold a judge's labels against people's, cell by cell on their ids, or scores by rank.

    Args:
        labels: people's labels in any layout that is read (docs/formats.md), or scores of runs.
        judged: a result, a results folder, or a file of the same kind; None: the annotators of
            `labels` are compared with each other.
        where: of `labels`, only rows whose field has this value, or one of these.
        kind: of two folders, or to choose: nuggets, support, relevance, ratings, keypoints,
            items or scores.
        cut: a label; labels from it on count as positive, those below it as negative. Two, where
            the files have two scales.
        measures: of scores, the measure of `judged` -> that of `labels` it is compared with; None:
            each that both have.
        resamples: samples of topics drawn for intervals; 0: no intervals. seed: of the draws.
        level: of the intervals, in (0, 1).

    Returns: agreement with intervals by topic, people's own beside it where several labelled.
    Raises: InputError if nothing can be compared, or the labels are not of one scale.
    Warns: UserWarning of rows that were left out.

    Example: nj.agree("human.jsonl", "results/demo")
    """
    problems, rows_of_people = Problems(), list_wanted_values(where)
    with InOneLine(), ExitStack() as stack:
        agreement = agree_files(
            open_source(stack, labels),
            None if judged is None else open_source(stack, judged),
            problems,
            rows_of_people,
            kind,
            [cut] if isinstance(cut, str) else list(cut),
            measures,
            resamples=resamples,
            seed=seed,
            level=level,
        )
    warn_about(problems)
    return Agreement(agreement)


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
        return make_comparison_view(self, self.judged_by)


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
        paths = list(map(partial(open_source, stack), [one] if other is None else [one, other]))
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
            scores = merge_sources(paths, [topic_scores(path, Problems()) for path in paths])
            for measure, of in comparison["measures"].items():
                values = {
                    run["run_id"]: scores.values[measure][run["run_id"]] for run in of["runs"]
                }
                by_topic[measure] = {
                    topic: {run: cells[topic] for run, cells in values.items() if topic in cells}
                    for topic in scores.topics[measure]
                }
        judged_by = read_judges(paths)
    warn_about(problems)
    return Comparison(comparison, by_topic, judged_by)
