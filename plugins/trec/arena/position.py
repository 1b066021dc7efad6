"""Does a judge prefer the answer that it is shown first, whatever the answer says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from ....metrics.inference import SIGNED, Draws, Interval, ratio, resampling


@dataclass(frozen=True)
class PositionEffect:
    """How verdicts depend on the position of an answer.

    Attributes:
        effect: share of verdicts for the answer shown first minus share for the second, in [-1, 1].
            0 if both orders were asked and position has no effect.
        n_first, n_second, n_tied: the numbers of verdicts for the first answer, for the second, and
            for neither.
    """

    effect: Interval
    n_first: int
    n_second: int
    n_tied: int


def position_effect(
    preferred: Sequence[int], topics: Sequence[str], **draws: Unpack[Draws]
) -> PositionEffect:
    """Compute the effect of position over all verdicts, with an interval by topic.

    Args:
        preferred: (n,) 1: the verdict is for the answer shown first, -1: for the second, 0: for
            neither.
        topics: (n,) the topic of each verdict.

    If each battle was judged in both orders, the strengths of runs cancel. Otherwise the order must
    be random.

    Source: the position bias of arXiv:2306.05685, as a signed difference.

    >>> position_effect([1, 1, 0, -1], ["t1", "t1", "t2", "t2"], resamples=0).effect.value
    0.25
    """
    sample = resampling(topics, **draws)
    signs = np.asarray(preferred, float)
    value = float(signs.mean()) if len(signs) else None
    of_signs = signs if sample.n_topics else signs[:0]
    drawn = ratio(sample.sums(of_signs), sample.sums(np.ones_like(of_signs)))
    n_first, n_second = int((signs > 0).sum()), int((signs < 0).sum())
    n_tied = len(signs) - n_first - n_second
    return PositionEffect(sample.interval(value, drawn, SIGNED), n_first, n_second, n_tied)
