"""Quality of a ranking: by relevance grades (ir_measures), or by sub-questions (alpha-nDCG)."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import e
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .answer_scores import Value
from .coverage import ETA, answers, some


@dataclass(frozen=True)
class RankingScores:
    """Ranking measures of one run.

    Attributes:
        by_topic: measure -> topic id -> value, for all topics with judged passages; 0 if the run
            did not rank a topic. A few measures leave out topics on which they are undefined.
        mean: measure -> mean over the topics of `by_topic`.
        topics_without_qrels: topics that the run ranked but that have no grades; they do not count.
    """

    by_topic: dict[str, dict[str, float]]
    mean: dict[str, float]
    topics_without_qrels: tuple[str, ...]


def ranking_scores(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Sequence[str]],
    measures: Sequence[str],
) -> RankingScores:
    """Score rankings by relevance grades, with measures under their names in ir_measures.

    Args:
        qrels: topic id -> passage id -> grade; at least one grade. A passage that is not listed is
            not relevant, and a topic without any grade does not count.
        run: topic id -> passage ids, best first, without repeats. This order is scored: passages
            get scores made from their ranks, so that no tie is broken by name.
        measures: names, such as "nDCG@10", "AP", "R@100", "P(rel=2)@5".

    Returns: the values by topic and their means.
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
        raise ValueError("the qrels have no grade, so no measure is defined")
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


def read_measure(name: str) -> Any:
    """Return the measure with a name of ir_measures, such as `nDCG@10` or `P(rel=2)@5`.

    ir_measures 0.4 reads names with parts of Python's `ast` that Python 3.14 removed.

    Args:
        name: the name of the measure.

    Raises: ValueError or NameError for an unknown name.
    """
    import ir_measures

    node = ast.parse(name.strip(), mode="eval").body
    options: dict[str, Any] = {}
    cut: Any = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        cut, node = ast.literal_eval(node.right), node.left
    if isinstance(node, ast.Call) and not node.args:
        options = {str(each.arg): ast.literal_eval(each.value) for each in node.keywords}
        node = node.func
    if not isinstance(node, ast.Name):
        raise ValueError("it is not of the form Measure(option=value)@k")
    if node.id not in ir_measures.measures.registry:
        raise NameError(f"measure not found: {node.id}")
    kind = ir_measures.measures.registry[node.id]
    return kind(**options, **({} if cut is None else {kind.AT_PARAM: cut}))


# Errors for a name that is not a measure, here and in ir_measures.
_NO_MEASURE = (
    NameError,
    ValueError,
    SyntaxError,
    KeyError,
    TypeError,
    AttributeError,
    AssertionError,
)


def _parse(name: str) -> Any:
    import ir_measures

    try:
        measure = read_measure(name)
        pipeline: Any = ir_measures.DefaultPipeline
        supported = pipeline.supports(measure)
    except _NO_MEASURE as error:
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


ALPHA = 0.5  # the default of ndeval
# A greedy ranking of passages of `pool` gains at least 1 - 1/e of the best ranking
# (Nemhauser, Wolsey and Fisher, 1978).
MAX_OF_POOL = e / (e - 1)

Marks = NDArray[np.bool_]  # (n_passages, n_questions): which passage answers which question


def alpha_ndcg(
    context: ArrayLike,
    pool: ArrayLike,
    answerable: ArrayLike | None = None,
    *,
    k: int,
    alpha: float = ALPHA,
    eta: float = ETA,
) -> Value:
    """Compute alpha-nDCG@k of a context, >= 0, with the answerable questions as subtopics.

    alpha-DCG@k = sum over ranks r <= k and the questions that passage r answers of
    (1 - alpha)^(passages above that answer it too) / log2(1 + r). It is divided by the same sum for
    the ideal ranking of the pool, which chooses at each rank the passage that adds most given the
    passages above it; among equals, the first in `pool`.

    Args:
        context: (n_passages, n_questions) ratings in [0, 5], best passage first, missing = nan.
            Rows are in rank order; rows below k do not count.
        pool: (n_pool, n_questions) ratings for the ideal: all judged passages, or only Z*.
        answerable: (n_questions,): 1 answerable, 0 not, nan undecided; None: the questions that
            `pool` answers.
        k: cut-off >= 0 of both rankings. At 0 the measure is undefined.
        alpha: in [0, 1]; the share of an answer's gain that is lost with each repetition.
        eta: the lowest rating that answers, in (0, 5].

    Returns: the value over known ratings. If the rating of a passage on a question is missing, the
        passage is skipped for that question and later ones move up (condensed lists); the ideal
        uses only known answers. None if no rating of the context on an answerable question is
        known. An empty context gains 0.
        n: known ratings of the context down to k on answerable questions.
        n_unjudged: its missing ratings on questions that are or may be answerable, the pool's
        missing ratings on them, and 1 for each undecided question with all ratings of the pool.
        low, high: the context without and with its missing answers. None if ratings of the pool
        are missing on questions that may be answerable, since the ideal is then unknown.
        Without a question that may be answerable, or that a passage of `pool` may answer:
        undefined, no value and no bounds.

        A value can be above 1: a context with better passages than `pool`, or with more of them,
        gains more than the ideal, and the greedy ideal is not always the best ranking.
    Raises: ValueError for a shape, rating, k, alpha or eta out of range; it names the index.
    Source: arXiv:2506.20051, equations 4 and 5; Clarke et al., "Novelty and diversity in
        information retrieval evaluation" (2008); ndeval for the ideal. Sakai, "Alternatives to
        bpref" (2007), for condensed lists.
    Differs: ndeval, and so ir_measures, breaks ties of the ideal by passage name, has no missing
        ratings, and takes no k above 20. If none of that matters, the values are equal.

    >>> s1, s2, other = [5, 0], [0, 5], [0, 0]
    >>> alpha_ndcg([s1, s2], [s1, s1, s2], k=2).value
    1.0
    >>> round(alpha_ndcg([other, s1, s1], [s1, s1, s2], k=3).value, 4)
    0.4683
    """
    ranked, judged, wanted = _check_ratings(context, pool, answerable, k, alpha, eta)
    subtopics, may_be = wanted == 1, wanted != 0
    sure, may = (judged == 1) & subtopics, (judged != 0) & may_be
    known = ~np.isnan(ranked)
    n = int(known[:, subtopics].sum())
    n_unjudged = int((~known)[:, may_be].sum()) + int(np.isnan(judged[:, may_be]).sum())
    n_unjudged += int((np.isnan(wanted) & ~np.isnan(judged).any(axis=0)).sum())
    if not k or not may.any():
        return Value(None, n, 0, None, None)
    hits, possible = (ranked == 1) & subtopics, (ranked != 0) & may_be
    ideal, value = _ideal(sure, k, alpha), None
    if ideal and (n or not len(ranked)):
        value = _dcg(hits, known.cumsum(axis=0), alpha) / ideal
    if (sure != may).any():
        return Value(value, n, n_unjudged, None, None)
    ranks = np.ones_like(known).cumsum(axis=0)
    low, high = _dcg(hits, ranks, alpha) / ideal, _dcg(possible, ranks, alpha) / ideal
    if value is not None:  # rounding may put low above value
        low, high = min(low, value), max(high, value)
    return Value(value, n, n_unjudged, low, high)


def _check_ratings(
    context: ArrayLike,
    pool: ArrayLike,
    answerable: ArrayLike | None,
    k: int,
    alpha: float,
    eta: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Mark which passage answers which question, and which question is answerable.

    Returns: (k or fewer, n_questions) of the context, (n_pool, n_questions) of the pool,
        (n_questions,) answerable; 1 yes, 0 no, nan unknown.
    Raises: ValueError for a shape, rating, k, alpha or eta out of range.
    """
    if k < 0:
        raise ValueError(f"k is {k}, wanted >= 0")
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}, wanted 0 to 1")
    ranked, judged = answers(context, eta)[:k], answers(pool, eta)
    if ranked.shape[1] != judged.shape[1]:
        raise ValueError(
            f"{ranked.shape[1]} questions of the context, {judged.shape[1]} of the pool"
        )
    wanted = some(judged) if answerable is None else np.asarray(answerable, dtype=np.float64)
    if wanted.shape != judged.shape[1:]:
        raise ValueError(f"answerable has shape {wanted.shape}, the ratings {judged.shape}")
    return ranked, judged, wanted


def _dcg(hits: Marks, ranks: NDArray[np.int64], alpha: float) -> float:
    """alpha-DCG of answers (n_passages, n_questions) at these ranks of the same shape."""
    above = hits.cumsum(axis=0) - hits
    return float((hits * (1 - alpha) ** above / np.log2(1 + np.maximum(ranks, 1))).sum())


def _ideal(hits: Marks, k: int, alpha: float) -> float:
    """alpha-DCG@k of the greedy ranking, which takes the first among equal passages."""
    taken: list[int] = []
    total = 0.0
    for rank in range(1, min(k, len(hits)) + 1):
        gains = (hits * (1 - alpha) ** hits[taken].sum(axis=0)).sum(axis=1)
        gains[taken] = -1
        taken.append(int(gains.argmax()))
        total += float(gains[taken[-1]] / np.log2(1 + rank))
    return total
