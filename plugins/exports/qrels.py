"""Grades of a relevance run as qrels of six columns, as the TREC RAG track takes judgments."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from ...evaluation.sources import Source, opened
from ...programs.protocols.relevance import FILE
from ...records.reading.problems import InputError, Problems
from ...records.relevance import Confident, RelevanceLabel, read_relevance, write_confident_qrels


@dataclass(frozen=True)
class Written:
    """How many grades were written, of how many the judge gave a confidence for, and how many are
    missing since they were not judged."""

    n: int
    n_sure: int
    n_unjudged: int


def write(result: Source, out: str | Path, run_id: str) -> Written:
    """Write `topic Q0 passage grade confidence run`, sorted by topic and passage.

    The confidence, in [0, 1], is the probability of the grade where the judge gave probabilities,
    of a jury the share of the members' votes for it, else 1, as the track wants it.

    Args:
        result: a result or a results folder with relevance.jsonl.
        out: the file, replaced if it is there.
        run_id: what the judgments are called; no white space.

    Raises: InputError for a folder without such grades, an id with white space, nothing judged.
    Source: guidelines of the TREC 2025 RAG track, "Relevance Judgment", output format.
    """
    with ExitStack() as stack:
        return write_folder(opened(stack, result), Path(out), run_id)


def write_folder(folder: Path, out: Path, run_id: str) -> Written:
    """As `write`, of a finished folder."""
    if not (folder / FILE).is_file():
        raise InputError(f"{folder}: has no {FILE}, wanted results of relevance")
    problems = Problems()
    labels = list(read_relevance(folder / FILE, problems))
    problems.raise_errors()
    rows: list[Confident] = []
    n_sure = 0
    for label in labels:
        if label.grade is not None:
            sure = confidence(label)
            n_sure += sure is not None
            rows.append(
                (label.topic_id, label.passage_id, label.grade, 1.0 if sure is None else sure)
            )
    if not rows:
        raise InputError(f"{folder / FILE}: none of its {len(labels):,} passages has a grade")
    try:
        write_confident_qrels(out, rows, run_id)
    except ValueError as error:
        raise InputError(f"{out}: {error}") from None
    return Written(len(rows), n_sure, len(labels) - len(rows))


def confidence(label: RelevanceLabel) -> float | None:
    """How sure the judge is of a grade, in [0, 1]; None: it does not say."""
    grade = str(label.grade)
    if label.probabilities is not None:
        return label.probabilities.get(grade)
    votes = [vote for vote in (label.votes or {}).values() if vote is not None]
    return sum(vote == grade for vote in votes) / len(votes) if votes else None
