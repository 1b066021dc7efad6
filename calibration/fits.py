"""The methods that fit numbers, not prompts: from scores and labels to a correction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from ..judges import Verdict
from ..judges.fitted.correction import Correction
from .scale import fit_scale
from .threshold import Floats, fit_cuts
from .topic import fit_topics

FitMethod = Literal["threshold", "topic", "platt", "ordinal", "isotonic"]
FIT_METHODS: tuple[FitMethod, ...] = get_args(FitMethod)


def score_of(verdict: Verdict, scale: Sequence[str]) -> float:
    """The judge's score; of one that gives labels only, the label's position on its scale."""
    if verdict.score is not None:
        return verdict.score
    return list(scale).index(verdict.label) / (len(scale) - 1)


def fit(
    method: FitMethod,
    verdicts: Sequence[Verdict],
    labels: Sequence[str],
    topics: Sequence[str],
    *,
    judge_scale: Sequence[str],
    scale: Sequence[str],
    objective: str,
) -> Correction:
    """Fit one method.

    Args:
        verdicts: n of the judge as it is, without a correction.
        labels: n of people, on `scale`, worst to best; topics: n ids.
        objective: what cuts are chosen by, see `threshold.fit_cuts`.

    Raises: ValueError if the method cannot be fitted to these items, or if the best cuts of
        threshold give them all one label; it says why.
    """
    scores = np.array([score_of(verdict, judge_scale) for verdict in verdicts])
    codes = np.array([list(scale).index(label) for label in labels], dtype=np.int64)
    k = len(scale)
    if len(set(labels)) < 2:
        raise ValueError(f"all {len(labels)} labels to fit on are {labels[0]!r}")
    if method == "threshold":
        cuts, _ = fit_cuts(scores, codes, k, objective=objective)
        _check_cuts(cuts, scores, scale)
        correction = Correction(cuts=cuts)
    elif method == "topic":
        correction = fit_topics(scores, codes, topics, k, objective=objective)
    else:
        correction = fit_scale(scores, codes, k, method, objective=objective)
    own = None if tuple(scale) == tuple(judge_scale) else tuple(scale)
    return correction.model_copy(update={"labels": own})


def _check_cuts(cuts: Sequence[float], scores: Floats, scale: Sequence[str]) -> None:
    """Raise ValueError if the cuts give all scores one label."""
    codes = np.unique(np.searchsorted(cuts, scores, side="right"))
    if len(codes) == 1:
        what = f"the best cuts label all {len(scores)} items to fit on {scale[codes[0]]!r}"
        how = "take another objective, prompt or model (logprobs give finer scores)"
        raise ValueError(f"{what}, so the scores do not tell people's labels apart; {how}")
