"""How good a ranking of passages is against relevance grades; computed by ir_measures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RankingScores:
    """Ranking measures of one run.

    Attributes:
        by_topic: measure -> topic id -> value. All topics with judged passages, and 0 for one that
            the run did not rank; a few measures leave out topics on which they are undefined.
        mean: measure -> mean over the topics of `by_topic`.
        topics_without_qrels: topics that the run ranked and nobody judged; they do not count.
    """

    by_topic: dict[str, dict[str, float]]
    mean: dict[str, float]
    topics_without_qrels: tuple[str, ...]


def ranking_scores(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Sequence[str]],
    measures: Sequence[str],
) -> RankingScores:
    """Score rankings by relevance grades, with measures named as ir_measures names them.

    Args:
        qrels: topic id -> passage id -> grade; at least one grade. A passage not listed counts as
            not relevant, and a topic without any grade does not count.
        run: topic id -> passage ids, best first, without repeats. This order is what is scored:
            the passages get scores made from their ranks, so that no tie is broken by name.
        measures: such as "nDCG@10", "AP", "R@100", "P(rel=2)@5".

    Raises: ValueError for an unknown measure (or one that needs a tool that is not installed), a
        passage ranked twice, or empty qrels.
    Source: ir_measures (MacAvaney et al., ECIR 2022), through trec_eval for the common measures.

    >>> scores = ranking_scores({"t": {"p1": 1, "p2": 0}}, {"t": ["p2", "p1"]}, ["AP", "R@1"])
    >>> scores.mean
    {'AP': 0.5, 'R@1': 0.0}
    """
    import ir_measures

    parsed = {name: _parse(name) for name in measures}
    judged = {topic: dict(grades) for topic, grades in qrels.items() if grades}
    if not judged:
        raise ValueError("the qrels judge no passage, so no measure is defined")
    # ir_measures divides by zero on an empty ranking; left out, it scores 0 like an absent one.
    scored = {topic: _scores_from_ranks(topic, ids) for topic, ids in run.items() if ids}
    result: Any = ir_measures.calc(list(set(parsed.values())), judged, scored)
    by_topic: dict[str, dict[str, float]] = {}
    for name, measure in parsed.items():
        rows = [(row.query_id, row.value) for row in result.per_query if row.measure == measure]
        by_topic[name] = {topic: float(value) for topic, value in sorted(rows)}
    return RankingScores(
        by_topic=by_topic,
        mean={name: float(result.aggregated[measure]) for name, measure in parsed.items()},
        topics_without_qrels=tuple(sorted(run.keys() - judged.keys())),
    )


def _parse(name: str) -> Any:
    import ir_measures

    try:
        measure = ir_measures.parse_measure(name)
        pipeline: Any = ir_measures.DefaultPipeline
        supported = pipeline.supports(measure)
    except (NameError, ValueError, KeyError, TypeError, AttributeError, AssertionError) as error:
        raise ValueError(
            f"unknown measure {name!r} ({error}); wanted one of ir_measures, such as nDCG@10"
        ) from error
    if not supported:
        raise ValueError(f"measure {name!r} needs a tool that is not installed: see ir_measures")
    return measure


def _scores_from_ranks(topic: str, ids: Sequence[str]) -> dict[str, int]:
    scores = {passage: len(ids) - rank for rank, passage in enumerate(ids)}
    if len(scores) != len(ids):
        repeated = sorted({passage for passage in ids if ids.count(passage) > 1})
        raise ValueError(f"topic {topic}: passages ranked more than once: {repeated}")
    return scores
