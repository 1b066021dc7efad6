"""`nuggetjudge.agree`: a judge against people, and people against each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..metrics.inference import LEVEL
from ..programs.analysis.agree import agree as agree_files
from ..programs.analysis.tables.agreement import agreement_view
from ..programs.analysis.tables.words import write_estimate
from ..records.reading.problems import Problems
from ..views.table import View
from .sources import InOneLine, Source, chosen_rows, opened, warn_of
from .tables import InTables


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
        return agreement_view(self, has_all=has_all)


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
    problems, rows_of_people = Problems(), chosen_rows(where)
    with InOneLine(), ExitStack() as stack:
        agreement = agree_files(
            opened(stack, labels),
            None if judged is None else opened(stack, judged),
            problems,
            rows_of_people,
            kind,
            [cut] if isinstance(cut, str) else list(cut),
            measures,
            resamples=resamples,
            seed=seed,
            level=level,
        )
    warn_of(problems)
    return Agreement(agreement)
