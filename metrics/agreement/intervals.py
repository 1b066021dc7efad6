"""Topic-bootstrap intervals of the agreement of labels; see docs/trust/agreement.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from ..bootstrap import BEYOND_CHANCE, LEVEL, RESAMPLES, SHARE, Interval, Resampling, resampling
from ..ratio import Array
from .annotators import PairwiseKappa, Ratings, Reliability
from .coefficients import of_items, of_pairs, of_several_pairs
from .counts import confusion, label_counts, n_pair_codes, pair_codes, sums_of_items
from .pairs import Agreement

_SHARES = ("accuracy", "macro_f1", "precision", "recall", "f1", "observed")  # others: beyond chance

Intervals = dict[str, Any]  # figure -> Interval, or name -> Interval where the figure is a dict


def agreement_intervals(
    figures: Agreement,
    truth: Sequence[str],
    judged: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Intervals of the figures of `agreement(truth, judged, scale)`.

    Args:
        figures: its result.
        topics: the topic of each pair; None: not known, no interval has bounds.

    Returns: accuracy, macro_f1, cohen_kappa (by weights), precision, recall, f1 and one_vs_rest (by
        label), alpha (by level), fleiss_kappa, randolph_kappa, ac1.

    >>> from nuggetjudge.metrics import agreement
    >>> truth, judged = ["yes", "no"] * 20, ["yes", "no", "yes", "yes"] * 10
    >>> topics = [f"t{i // 4}" for i in range(40)]
    >>> figures = agreement(truth, judged, ["no", "yes"])
    >>> agreement_intervals(figures, truth, judged, topics)["accuracy"]
    Interval(value=0.75, low=0.75, high=0.75, n_topics=10, level=0.95)
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    drawn = of_pairs(_confusions(truth, judged, figures.scale, sample), figures.scale)
    return _intervals(figures, drawn, sample)


def reliability_intervals(
    figures: Reliability,
    ratings: Ratings,
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Intervals of `reliability(ratings, scale)`: observed, alpha, fleiss_kappa, randolph_kappa,
    ac1 and pairwise_kappa (by weights). Arguments as in `agreement_intervals`.
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    counts = label_counts(ratings, scale)
    used = counts if sample.n_topics else counts[:0]
    sums = sums_of_items(used, sample.topic_of, sample.draws.shape[1])
    pairs = list(combinations(ratings, 2))
    return {
        **_intervals(figures, of_items(sums.drawn(sample.draws)), sample),
        "pairwise_kappa": _pairwise(figures.pairwise_kappa, pairs, scale, sample),
    }


def pairwise_intervals(
    kappas: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Intervals of `pairwise_kappa(pairs, scale)`, by weights; in a sample the mean is over the
    pairs that have a kappa there. Arguments as in `agreement_intervals`.
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    return _pairwise(kappas, pairs, scale, sample)


def _pairwise(
    kappas: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    sample: Resampling,
) -> dict[str, Interval]:
    drawn, _ = of_several_pairs(_confusions(*pair, scale, sample) for pair in pairs)
    return _intervals(kappas, drawn, sample)


def _confusions(
    one: Sequence[str | None],
    other: Sequence[str | None],
    scale: Sequence[str],
    sample: Resampling,
) -> Array:
    """(resamples, k, k) counts of the pairs that have both labels."""
    codes = pair_codes(one, other, scale)
    used = codes if sample.n_topics else codes[:0]
    return confusion(sample.counts(used, n_pair_codes(len(scale))), len(scale))


def _intervals(figures: object, drawn: Mapping[str, Any], sample: Resampling) -> Intervals:
    """The interval of each drawn figure around the value that `figures` has of that name."""
    values = figures if isinstance(figures, Mapping) else vars(figures)

    def of(value: Any, figure: Any, name: str) -> Any:
        if isinstance(figure, Mapping):
            return {label: of(value[label], each, name) for label, each in figure.items()}
        return sample.interval(value, figure, SHARE if name in _SHARES else BEYOND_CHANCE)

    return {name: of(values[name], figure, name) for name, figure in drawn.items()}
