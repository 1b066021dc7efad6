"""Suggestions of the lexical judge that were read, and the share that carries their sentence.

suggestions.csv beside this file has ids and labels of three sheets, no texts. Sheet 1: 100 of all
suggestions. Sheet 2: 80 of those from .60 on and 20 below. Sheet 3: 40 others from .65 on. Sheet 1
had one reader, sheets 2 and 3 another, who saw no scores; no reader was an assessor of NIST. Of a
pair with two labels the worse one counts.
"""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from nuggetjudge.judges import SupportJudge
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.plugins.lab.evidence import share
from nuggetjudge.programs.protocols.evidence import LEXICAL_WORDS
from nuggetjudge.records.kinds import Cell
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.support import SUPPORT_KIND

SHEETS = Path(__file__).with_name("suggestions.csv")
DRAWS = {"all": ("1", "2", "3"), "sheet 1": ("1",), "sheets 2 and 3": ("2", "3")}
STRATA = (0.6, 0.65)  # scores from which the sheets drew more
CUTS = (0.5, 0.6, 0.65, 0.7, 0.75, 0.8)
PARTLY = ("full", "partial")


class Read(NamedTuple):
    """A suggestion that was read: its score in [0, 1] and the number of the sentence's words."""

    topic_id: str
    score: float
    words: int
    label: str


def sheet_labels(sheets: Sequence[str], path: Path = SHEETS) -> dict[Cell, str]:
    """The labels of these sheets, of two of a pair the worse one. Raises: InputError."""
    labels: dict[Cell, str] = {}
    for sheet in sheets:
        problems = Problems()
        for cell, label in read_labels(path, problems, {"sheet": [sheet]}).cells.items():
            labels[cell] = min(label, labels.get(cell, label), key=SUPPORT_KIND.labels.index)
        problems.raise_errors()
    return labels


def scored(
    labels: Mapping[Cell, str], sentences: Mapping[Cell, str], passages: Mapping[str, str]
) -> list[Read]:
    """The labelled pairs with the scores that the lexical judge gives them.

    Args:
        sentences: texts by topic, run and number. passages: texts by id.
    """
    judge = SupportJudge("lexical")
    pairs = []
    for (topic_id, *at, name), label in labels.items():
        text = sentences[(topic_id, *at)]
        score = judge(sentence=text, passage=passages[name]).score
        pairs.append(Read(topic_id, score, len(text.split()), label))
    return pairs


def stratum(score: float) -> int:
    """Which of the parts that were drawn from the score is in."""
    return bisect(STRATA, score)


def precision(
    read: Sequence[Read],
    scores: Sequence[float],
    cut: float,
    wanted: Sequence[str] = ("full",),
    *,
    resamples: int = 1000,
) -> tuple[int, Interval]:
    """Of suggestions that score `cut` or more: how many were read, and the share that is wanted.

    Args:
        read: sentences of `LEXICAL_WORDS` words or more; others are left out.
        scores: of all suggestions for such sentences: each that was read stands for those of its
            stratum that were not.
    """
    long = [each for each in read if each.words >= LEXICAL_WORDS]
    n, n_read = Counter(map(stratum, scores)), Counter(stratum(each.score) for each in long)
    kept = [each for each in long if each.score >= cut]
    weights = [n[stratum(each.score)] / n_read[stratum(each.score)] for each in kept]
    hits = [each.label in wanted for each in kept]
    topics = [each.topic_id for each in kept]
    return len(kept), share(hits, topics, weights, resamples=resamples)
