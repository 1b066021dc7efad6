"""`judge agree`: a judge against people, and people against each other."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from ...records.reading.problems import InputError, Problems
from ..options import Level, OutputOfMuch, Resamples, Where, read_where
from ..signatures import ExistingPath
from ..stopping import list_problems


def agree(
    context: typer.Context,
    human: ExistingPath,
    judged: ExistingPath | None = None,
    *,
    where: Where = None,
    kind: str | None = None,
    cut: str | None = None,
    measure: list[str] | None = None,
    resamples: Resamples = 1000,
    level: Level = 0.95,
    output: OutputOfMuch,
) -> None:
    """Compare two files of labels cell by cell, two files of scores by rank, or annotators.

    Examples: judge agree human.jsonl results/assignments.jsonl --json
    / judge agree ratings.jsonl results/crux --cut 3

    Args:
        human: Labels (or scores) taken as the truth, or a folder.
        judged: Labels (or scores) to compare, or a results folder; without it the annotators of
            HUMAN are compared.
        kind: What to compare of folders: nuggets, support, relevance, ratings, keypoints, scores.
        cut (LABEL): Make labels binary: positive from this one on, negative below; HUMAN,JUDGED has
            one for each file.
        measure (HUMAN=JUDGED): Of scores: compare these two measures; may be repeated; default:
            those that both have.
    """
    from ...programs.analysis.agree import agree as compare
    from ...programs.analysis.tables.agreement import make_agreement_view
    from ..stopping import open_results

    problems = Problems()
    human, *second = open_results(context, [human] if judged is None else [human, judged])
    judged = second[0] if second else None
    comparison = compare(
        human,
        judged,
        problems,
        read_where(where or ()),
        kind,
        [] if cut is None else cut.split(","),
        _pairs(measure or ()),
        resamples=resamples,
        level=level,
    )
    output.print([comparison], lambda has_all: make_agreement_view(comparison, has_all=has_all))
    list_problems(problems)


def _pairs(texts: Sequence[str]) -> dict[str, str]:
    """Measures of JUDGED, each with that of HUMAN. Raises: InputError."""

    pairs = {}
    for text in texts:
        human, _, judged = text.rpartition("=")
        if not human or not judged or judged in pairs:
            raise InputError(f"--measure {text}: wanted HUMAN=JUDGED, each of JUDGED once")
        pairs[judged] = human
    return pairs
