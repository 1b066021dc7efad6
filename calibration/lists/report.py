"""What was measured of a judge that makes lists, on test topics, ready for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...judges.makers.lists import ListMaker
from ...metrics.inference import SHARE, SIGNED, Draws, jackknife_interval, resampling
from ...metrics.key_points import LIST_MEASURES, ListScores
from ...records.reading.problems import InputError
from ..report import Figure, count_reasons, frame_report
from ..settings import Settings, Split
from .examples import ListExample, ListExamples

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Tested:
    """What became of the lists of some topics, in their order.

    Attributes:
        made: the texts, None where no list was made. scores: None there too.
        unjudged: lists that were not made, by reason; unmatched: items that were not matched.
        n_calls: of the judge and of the one that matches.
    """

    made: list[tuple[str, ...] | None]
    scores: list[ListScores | None]
    unjudged: Counter[str] = field(default_factory=Counter)
    unmatched: Counter[str] = field(default_factory=Counter)
    n_calls: int = 0


def list_report(
    judge: ListMaker,
    examples: ListExamples,
    settings: Settings,
    splits: Sequence[Split],
    test: Sequence[ListExample],
    before: Tested,
    after: Tested,
    matched_by: str,
) -> dict[str, Any]:
    """Precision, recall and F1 before and after on the same lists, and their differences.

    Raises: InputError if no list was made and matched both before and after.
    """
    both = [
        (example, old, new)
        for example, old, new in zip(test, before.scores, after.scores, strict=True)
        if old is not None and new is not None
    ]
    topics = [example.topic_id for example, *_ in both]
    figures = list_figures(
        [old for _, old, _ in both], [new for *_, new in both], topics, settings.draws
    )
    if "f1" not in figures:
        raise InputError("no list of the test topics was made and matched both before and after")
    sides = [before] if after is before else [before, after]  # where the prompt stayed
    unjudged = sum((side.unjudged for side in sides), Counter[str]())
    unmatched = sum((side.unmatched for side in sides), Counter[str]())
    about = {
        "match": matched_by,
        "n_lists": len(examples.items),
        "n_without_text": examples.n_without_text,
        **count_reasons("unjudged", unjudged),
        **count_reasons("unmatched", unmatched),
    }
    report = frame_report(judge, settings, splits, "f1", about, topics, figures, "f1")
    lists = [
        {**example.ids, "before": asdict(old), "after": asdict(new)} for example, old, new in both
    ]
    return {**report, "lists": lists}


def list_figures(
    before: Sequence[ListScores], after: Sequence[ListScores], topics: Sequence[str], draws: Draws
) -> dict[str, dict[str, Any]]:
    """Means over lists, with intervals over drawn topics; differences leave out topic by topic.

    Args:
        before, after: of the same n lists. topics: n topic ids.

    Returns: precision, recall and f1, ready for JSON, each over the `n` lists that have it on both
        sides: precision is undefined where nothing was made. A measure that none has is left out.
    """
    figures = {}
    for name in LIST_MEASURES:
        pairs = [
            (old.value, new.value, topic)
            for old, new, topic in zip(
                (getattr(scores, name) for scores in before),
                (getattr(scores, name) for scores in after),
                topics,
                strict=True,
            )
            if old.value is not None and new.value is not None
        ]
        if pairs:
            values = np.array([pair[:2] for pair in pairs], np.float64)
            figure = mean_figure(values, [topic for *_, topic in pairs], draws)
            figures[name] = {**asdict(figure), "verdict": figure.verdict, "n": len(pairs)}
    return figures


def mean_figure(values: Floats, topics: Sequence[str], draws: Draws) -> Figure:
    """The means of (n, 2) values, before and after, and their difference."""
    sample = resampling(topics, **draws)
    ones = np.ones(len(values))
    drawn = sample.sums(values) / sample.sums(ones)[:, None]  # each topic has a list at least
    by_topic = np.zeros((sample.n_topics, 2))
    np.add.at(by_topic, sample.topic_of, values)
    n_by_topic = np.bincount(sample.topic_of, minlength=sample.n_topics)
    means = [float(mean) for mean in values.mean(axis=0)]
    left = (len(values) - n_by_topic)[:, None]
    without = (values.sum(axis=0) - by_topic) / np.where(left, left, np.nan)
    change = without[:, 1] - without[:, 0]
    gap = jackknife_interval(means[1] - means[0], change, SIGNED, level=sample.level)
    old, new = (sample.interval(means[i], drawn[:, i], SHARE) for i in (0, 1))
    return Figure(old, new, gap)
