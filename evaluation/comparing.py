"""`nuggetjudge.agree` and `nuggetjudge.compare`, whose results print as tables."""

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
from typing import TYPE_CHECKING, Any, TypeAlias

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
from ..records.reading.problems import InputError, Problems, did_you_mean
from ..views.formats import escape_html, view_html
from ..views.table import View
from ..views.terminal import Terminal, view_text

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]

Source: TypeAlias = str | Path | StoredResult


class InOneLine(AbstractContextManager[None]):
    """Hide the frames of nuggetjudge in an InputError, so that a typo shows no long traceback."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, InputError):
            error.__traceback__ = error.__cause__ = None
            error.__suppress_context__ = True


def open_source(stack: ExitStack, source: Source) -> Path:
    """Return the folder or file of a result.

    The judgements of a stopped run, or of a folder of another tool, are written to a temporary
    folder, which is deleted when `stack` closes.

    Raises: InputError if an input of a stopped run has changed; TypeError for anything but a
        result or a path.
    Warns: UserWarning for a stopped run; it points to the caller of the function that called this.
    """
    if isinstance(source, StoredResult):
        return source.folder
    if not isinstance(source, str | os.PathLike):
        raise TypeError(f"wanted a result or the path of its folder, not {source!r}")
    at = stack.enter_context(results_at(Path(source)))
    if at.problems is not None:
        warn_about(at.problems)
    if at.is_partial:
        what = f"{source}: stopped run, partial; run it again with the same config to continue"
        warnings.warn(what, UserWarning, stacklevel=3)
    return at.path


def list_wanted_values(where: Mapping[str, str | Sequence[str]] | None) -> dict[str, list[str]]:
    """Return the wanted values of each field as a list, also for a single value.

    Args:
        where: field -> value or values; None: no field.
    """
    values_of = where or {}
    return {name: [v] if isinstance(v, str) else list(v) for name, v in values_of.items()}


def warn_about(problems: Problems) -> None:
    """Warn about rows that readers left out or flagged: the number of each kind, and the first.

    The warning points to the caller of the function that called this.
    """
    for kind, n in problems.counts().items():
        first = next(row for row in problems.rows if row.kind == kind)
        what = f"{n:,} {kind} ({first.action}), first at {first}"
        warnings.warn(what, UserWarning, stacklevel=3)


def import_pandas() -> Any:
    """Import pandas. Raises: ModuleNotFoundError with the command to install it."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise ModuleNotFoundError("a frame needs pandas: pip install pandas") from None
    return pandas


class InTables(ABC):
    """An object that notebooks, interpreters and `print` show as a verdict and tables."""

    @abstractmethod
    def view(self) -> View:
        """Return the verdict and tables."""

    def _repr_html_(self) -> str:
        return view_html(self.view())

    def __str__(self) -> str:
        return view_text(self.view(), Terminal.of(sys.stdout))


class Text(str):
    """Text that notebooks, interpreters and `print` show unchanged."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape_html(self)}</pre>"


class Agreement(InTables, dict[str, Any]):
    """The agreement of labels or scores: a dict ready for JSON, shown as tables.

    The keys are those of `judge agree --json`. For labels: `n` (items with both labels),
    `n_human_only`, `n_judged_only`, `accuracy`, `cohen_kappa`, `alpha`, `confusion` (n_labels,
    n_labels; rows are human labels), `scale`, `intervals` (bootstrap over topics), and
    `annotators` if several people labelled. For scores: `measures`.
    """

    def __repr__(self) -> str:
        if "confusion" not in self:
            return f"Agreement({self['kind']})"
        share = write_estimate(self["intervals"]["accuracy"])
        return f"Agreement({self['kind']}, n={self['n']:,}, share of equal labels {share})"

    __str__ = InTables.__str__

    def view(self, *, has_all: bool = False) -> View:
        """Return the verdict and the tables: coefficients, and for labels the confusions.

        Args:
            has_all: show all coefficients; False: the main ones.
        """
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
    """Compare a judge's labels with human labels, item by item, or scores by rank.

    Args:
        labels: a file of human labels, in any layout of docs/formats.md, or of scores of runs.
        judged: a result, a results folder, or a file of the same kind; None: compare the
            annotators of `labels` with each other.
        where: field -> value or values; only rows of `labels` with these are read.
        kind: what to compare, if there is a choice: nuggets, support, relevance, ratings,
            keypoints, items or scores; None: the kind of the files, or the first kind that both
            folders have.
        cut: a label: this label and better ones count as positive, others as negative. Give two
            labels if the files have two scales.
        measures: for scores: a measure of `judged` -> the measure of `labels` to compare it with;
            None: all measures in both.
        resamples: the number of bootstrap samples of topics, >= 0; 0: no intervals.
        seed: the seed of the samples, >= 0.
        level: the level of the intervals, in (0, 1).

    Returns: the agreement with intervals, and the agreement between annotators if there are
        several. It is a dict that prints as tables.
    Raises: InputError if nothing can be compared, or if the labels have different scales.
    Warns: UserWarning if rows were left out.
    Source: Cohen (1960, 1968) for kappa, Krippendorff (2011) for alpha, Kendall (1945) for the
        tau-b of scores; intervals by a bootstrap over topics.

    Example: nj.agree("human.jsonl", "results/demo")

    The judge gives 3 of 4 items the label of the people. By chance it would be 2 of 4:

    >>> import nuggetjudge as nj
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     human, judged = Path(folder, "human.csv"), Path(folder, "judged.csv")
    ...     _ = human.write_text("item,label\\na,yes\\nb,yes\\nc,no\\nd,no\\n")
    ...     _ = judged.write_text("item,label\\na,yes\\nb,yes\\nc,no\\nd,yes\\n")
    ...     found = nj.agree(human, judged)
    >>> found["accuracy"], found["cohen_kappa"]["unweighted"]
    (0.75, 0.5)
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
    """A comparison of runs or judges: a dict ready for JSON, shown as tables.

    The keys are those of `judge compare --json`. `compared` is "runs" or "judges". For runs:
    `measures`, by name the `runs` (run_id, mean, low, high, n_topics, n_unanswered) and `pairs`
    (difference, its low and high, p, corrected p, wins, ties, losses, is_significant). For judges:
    `agreement`, `flip_counts`, `flips` and `ranking`.
    """

    def __init__(
        self,
        comparison: Mapping[str, Any],
        by_topic: Mapping[str, Mapping[str, Mapping[str, float | None]]],
        judged_by: Mapping[str, Sequence[str]] = MappingProxyType({}),
    ) -> None:
        """Keep the comparison, with its scores as attributes.

        Args:
            comparison: the keys and values of the dict.
            by_topic: for runs: `by_topic[measure][topic][run]`, the score in [0, 1] (for `length`:
                words); None: not judged. A run that is missing did not answer, which counts as 0
                unless the measure is of given answers only. For judges: empty.
            judged_by: the judges of `one` and `other`, if they are results.
        """
        super().__init__(comparison)
        self.by_topic, self.judged_by = by_topic, judged_by

    def __repr__(self) -> str:
        if self["compared"] == "judges":
            return f"Comparison(judges, n={self['agreement']['n']:,}, n_flips={self['n_flips']:,})"
        return f"Comparison(runs, measures={list(self['measures'])})"

    __str__ = InTables.__str__

    def __missing__(self, measure: str) -> Any:
        """Return `measures` of runs by name, such as `comparison["V_strict"]`."""
        measures = dict.get(self, "measures", {})
        if measure in measures:
            return measures[measure]
        names = [*measures, *self]
        raise KeyError(f"no {measure!r}; there is {', '.join(names)}{did_you_mean(measure, names)}")

    def frame(self) -> pandas.DataFrame:
        """Return a row for each measure and pair of runs, or for each label that differs.

        Columns for runs: `measure`, the two runs, `mean` and `other_mean`, their `difference` with
        `low` and `high`, p and its corrections, wins, ties, losses and `is_significant`. For
        judges: the ids and both labels.

        Raises: ModuleNotFoundError without pandas.
        """
        frame = import_pandas()
        if self["compared"] == "judges":
            return frame.DataFrame(self["flips"])
        rows = []
        for measure, of in self["measures"].items():
            means = {run["run_id"]: run["mean"] for run in of["runs"]}
            for pair in of["pairs"]:
                one, other = pair["run_id"], pair["other_run_id"]
                ids = {"measure": measure, "run_id": one, "other_run_id": other}
                rows.append(ids | {"mean": means[one], "other_mean": means[other]} | pair)
        return frame.DataFrame(rows)

    def view(self) -> View:
        """Return the verdict, and a table of the two runs, the ranking or the two judges."""
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
    """Test whether runs differ, paired by topic, or show where two judges differ.

    Args:
        one, other: a result, a results folder, a file of judgements, or a file of scores by topic.
            Without `other`, the runs in `one` are compared. With `other`, the judges are compared
            if both labelled the same answers; otherwise the runs of both.
        runs: the names of the runs to compare, the first minus the second; (): all.
        measures: for runs: the measures to compare; (): all measures for two runs, one per task
            for more runs.
        way: "runs" or "judges", to force a comparison; None: see `one`.
        kind: for judges: nuggets, support, relevance, ratings, keypoints or items; None: the kind
            that both have.
        resamples: the number of random samples of topics, >= 1, for p and intervals.
        seed: the seed of the samples, >= 0.
        level: the level of the intervals, in (0, 1); two runs differ significantly if
            p < 1 - level.

    Returns: the differences with intervals and p, and the scores by topic. It is a dict that
        prints as tables.
    Raises: InputError for files that cannot be compared, or an unknown run or measure.
    Warns: UserWarning if rows were left out.

    Example: nj.compare("results/demo", runs=["complete", "thin"])

    The first run is better on all 6 topics. If both were equally good, all 6 differences would
    have the same sign with p = 2 / 2**6:

    >>> import nuggetjudge as nj
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> scores = "".join(f"new,t{i},0.75\\nold,t{i},0.5\\n" for i in range(6))
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "scores.csv")
    ...     _ = file.write_text(f"run_id,topic_id,recall\\n{scores}")
    ...     [pair] = nj.compare(file)["recall"]["pairs"]
    >>> pair["difference"], pair["p"], pair["is_significant"]
    (0.25, 0.03125, True)
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
