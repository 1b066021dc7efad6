"""What was measured of a fitted judge on test topics, ready for JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..judges import ItemJudge, Verdict
from ..judges.base import Judge
from ..judges.verdicts import lacks_probabilities
from ..metrics.probability import probability_scores, reliability_curve
from ..records.reading.problems import InputError
from .examples import Example, Examples
from .figures import as_row, figures_of
from .settings import Settings, main_figure, objective_of
from .split import Split


class Tested(NamedTuple):
    """Items of test topics with their verdicts before and after."""

    items: list[Example]
    before: list[Verdict]
    after: list[Verdict]
    without: list[Verdict]  # the method topic, had it had no labels of these topics


def report_of(
    judge: ItemJudge,
    examples: Examples,
    settings: Settings,
    splits: Sequence[Split],
    tested: Tested,
    unjudged: Counter[str],
    raw: Iterable[Verdict],
) -> dict[str, Any]:
    """Figures before and after, their differences, and how they came about.

    Args:
        unjudged: how many items were not judged, by reason.
        raw: all verdicts of the judge itself, of which some may lack their probabilities.

    Raises: InputError if no item was judged both before and after.
    """
    truth = [item.label for item in tested.items]
    topics = [item.topic_id for item in tested.items]
    if not truth:
        raise InputError("no item of the test topics was judged both before and after")
    scale, objective = examples.scale, objective_of(settings, examples.scale, judge)
    ours = examples.judge_labels
    before = None if ours is None else [ours[verdict.label] for verdict in tested.before]
    after = [(ours or {}).get(verdict.label, verdict.label) for verdict in tested.after]
    measured = partial(figures_of, is_ordered=judge.is_ordered, draws=settings.draws)
    figures = measured(truth, before, after, topics, scale)
    about = {
        "scale": list(scale),
        "n_labels": len(examples.items),
        "n_without_text": examples.n_without_text,
        "n_unlabelled": examples.n_unlabelled,
        **count_reasons("unjudged", unjudged),
    }
    report = frame_report(
        judge,
        settings,
        splits,
        objective,
        about,
        topics,
        as_row(figures),
        main_figure(objective, scale),
    )
    if settings.method == "topic" and settings.topic_labels:
        labels = [verdict.label for verdict in tested.without]
        without = measured(truth, before, labels, topics, scale)
        report["topic_labels"] = settings.topic_labels
        report["without_topic_labels"] = as_row(without)
    if judge.has_logprobs:
        n = sum(lacks_probabilities(verdict.as_row()) for verdict in raw)
        report["n_without_probabilities"] = n
    report |= _chances(tested, truth, scale)
    return report


def frame_report(
    judge: Judge,
    settings: Settings,
    splits: Sequence[Split],
    objective: str,
    about: Mapping[str, Any],
    topics: Sequence[str],
    figures: dict[str, Any],
    main: str,
) -> dict[str, Any]:
    """What the report of any fit has.

    Args:
        about: what this kind of fit says of its labels and of what is missing.
        topics: of the tested items. figures: ready for JSON; main: the one of the verdict.
    """
    return {
        "judge": judge.name,
        "model": judge.model_name,
        "method": settings.method,
        "objective": objective,
        **about,
        "n_test": len(topics),
        "n_test_topics": len(set(topics)),
        "topics": [
            {"train": list(s.train), "dev": list(s.dev), "test": list(s.test)} for s in splits
        ],
        "seed": settings.seed,
        "figures": figures,
        "verdict": figures[main]["verdict"],
        "main_figure": main,
    }


def count_reasons(name: str, reasons: Counter[str]) -> dict[str, Any]:
    """How many are missing, in all and by reason."""
    return {f"n_{name}": reasons.total(), name: dict(sorted(reasons.items()))}


def _chances(tested: Tested, truth: Sequence[str], scale: Sequence[str]) -> dict[str, Any]:
    """How good the probabilities are, before and after, where there are some."""
    quality: dict[str, Any] = {}
    codes = [list(scale).index(label) for label in truth]
    for name, verdicts in (("before", tested.before), ("after", tested.after)):
        rows = [v.probabilities for v in verdicts]
        if rows and all(row is not None and row.keys() == set(scale) for row in rows):
            chances = np.array([[row[s] for s in scale] for row in rows if row is not None])
            quality.setdefault("probabilities", {})[name] = {
                **probability_scores(chances, codes).as_dict(),
                "reliability": [
                    {"label": f"{label} or better" if j < len(scale) - 1 else label, **vars(row)}
                    for j, label in enumerate(scale)
                    if j
                    for row in reliability_curve(
                        chances[:, j:].sum(axis=1).clip(0, 1), [code >= j for code in codes]
                    )
                ],
            }
    return quality
