"""Sub-questions of a report: how many a context answers, how densely, and by which passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .answer_scores import Value

ETA = 3  # arXiv:2506.20051: the lowest rating with which a text answers a question
HIGHEST = 5  # of the scale, which starts at 0


def answers(ratings: ArrayLike, eta: float = ETA) -> NDArray[np.float64]:
    """Return which text answers which question: rating >= eta.

    Args:
        ratings: (n_texts, n_questions) in [0, 5], missing = nan.
        eta: in (0, 5].

    Returns: the same shape: 1 answers, 0 does not, nan not judged.
    Raises: ValueError for another shape, a rating or an eta out of range; it names the index.

    >>> answers([[5, 2, float("nan")]]).tolist()
    [[1.0, 0.0, nan]]
    """
    values = np.asarray(ratings, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"wanted ratings (n_texts, n_questions), got shape {values.shape}")
    if not 0 < eta <= HIGHEST:
        raise ValueError(f"eta is {eta}, wanted a rating above 0 and up to {HIGHEST}")
    missing = np.isnan(values)
    for i, j in np.argwhere(~missing & ~((values >= 0) & (values <= HIGHEST))):
        raise ValueError(f"ratings[{i}, {j}] is {values[i, j]}, wanted 0 to {HIGHEST} or nan")
    return np.where(missing, np.nan, values >= eta)


def answerable(pool: ArrayLike, eta: float = ETA) -> NDArray[np.float64]:
    """Return which questions some text of the pool answers; the others count in no measure.

    Args:
        pool: (n_texts, n_questions) ratings in [0, 5], missing = nan.
        eta: the lowest rating that answers, in (0, 5].

    Returns: (n_questions,): 1 answerable, 0 not, nan undecided: no known rating answers it, but a
        rating is missing. Without texts, no question is answerable.
    Raises: ValueError for another shape, a rating or an eta out of range; it names the index.
    Source: arXiv:2506.20051.

    >>> answerable([[5, 2, 2], [0, 1, float("nan")]]).tolist()
    [1.0, 0.0, nan]
    """
    return some(answers(pool, eta))


def coverage(context: ArrayLike, answerable: ArrayLike, eta: float = ETA) -> Value:
    """Compute the share of answerable questions that a text of the context answers, in [0, 1].

    Args:
        context: (n_texts, n_questions) ratings in [0, 5], missing = nan; a report is one text.
        answerable: (n_questions,): 1 answerable, 0 not, nan undecided, from `answerable`.
        eta: the lowest rating that answers, in (0, 5].

    Returns: value: the mean probability that a question known to be answerable is answered: 1 if a
        known rating answers it, 0 if no rating does and none is missing, otherwise
        1 - (1 - rate)^missing. The rate is how often a known rating of the context answers a
        question that no other text in it answers: such answers / (such answers + known ratings
        of unanswered questions). None if the context has no known rating. An empty context covers
        0.
        n: known ratings of the context on answerable questions.
        n_unjudged: its missing ratings on questions that are or may be answerable, plus 1 for each
        undecided question.
        low, high: the value is between them whatever the missing ratings are. A question whose
        answer is missing counts as not answered in `low`, as answered in `high`; a question that
        may not be answerable counts only if that widens the bounds. The bounds ignore that a text
        of the context may also be in the pool. Without an answerable question: undefined, no value
        and no bounds.
    Raises: ValueError for a shape, a rating, a mark or an eta out of range; it names the index.
    Source: arXiv:2506.20051, equation 3.

    >>> nan = float("nan")
    >>> share = coverage([[5, 0, nan, 4], [1, 0, 0, 4]], [1, 1, 1, 0])
    >>> round(share.value, 4), share.n, share.n_unjudged  # at a rate of 1/4: (1 + 0 + 1/4) / 3
    (0.4167, 5, 1)
    """
    answered, wanted = _check(context, answerable, eta)
    n, n_unjudged = _counts(answered, wanted)
    by_context = some(answered)
    sure, maybe = wanted == 1, np.isnan(wanted)
    if not (sure | maybe).any():
        return Value(None, n, n_unjudged, None, None)
    n_sure, n_answered = int(sure.sum()), int((by_context[sure] == 1).sum())
    n_open = int(np.isnan(by_context[sure]).sum())
    may_be_missed = int((by_context[maybe] != 1).sum())
    may_be_hit = int((by_context[maybe] != 0).sum())
    return Value(
        value=_mean_chance(answered[:, sure], _rate(answered[:, sure])),
        n=n,
        n_unjudged=n_unjudged,
        # No question is surely answerable: those that may be are all hit, or all missed.
        low=_share(n_answered, n_sure + may_be_missed, empty=1.0),
        high=_share(n_answered + n_open + may_be_hit, n_sure + may_be_hit, empty=0.0),
    )


@dataclass(frozen=True, slots=True)
class RankStep:
    """The contribution of the passage at one rank of a context.

    Attributes:
        rank: 1 for the first passage.
        n_answered: answerable questions that this passage answers.
        n_new: answerable questions that this passage answers first.
        n_unjudged: its missing ratings on questions that are or may be answerable.
        coverage: of the context down to this rank, in [0, 1]; None if no rating is known.
        incompleteness: 1 - coverage.
        redundancy: share of this passage's answers that an earlier passage already gave, in [0, 1];
            None if it answers nothing.
    """

    rank: int
    n_answered: int
    n_new: int
    n_unjudged: int
    coverage: float | None
    incompleteness: float | None
    redundancy: float | None


def rank_steps(context: ArrayLike, answerable: ArrayLike, eta: float = ETA) -> list[RankStep]:
    """Compute coverage and redundancy of a context, rank by rank.

    Args:
        context: (n_passages, n_questions) ratings in [0, 5], best passage first, missing = nan.
        answerable: (n_questions,): 1 answerable, 0 not, nan undecided (left out here).
        eta: the lowest rating that answers, in (0, 5].

    Returns: a step for each passage, in order. A missing rating does not count as an answer;
        for `coverage`, see `coverage()`.
    Raises: ValueError for a shape, a rating, a mark or an eta out of range; it names the index.

    >>> steps = rank_steps([[5, 0, 0], [3, 4, 0]], [1, 1, 1])
    >>> [(step.n_new, step.redundancy, round(step.coverage, 2)) for step in steps]
    [(1, 0.0, 0.33), (1, 0.5, 0.67)]
    """
    answered, wanted = _check(context, answerable, eta)
    hits = (answered == 1) & (wanted == 1)
    rate = _rate(answered[:, wanted == 1])
    steps = []
    for i, hit in enumerate(hits):
        n_answered, n_new = int(hit.sum()), int((hit & ~hits[:i].any(axis=0)).sum())
        covered = _mean_chance(answered[: i + 1, wanted == 1], rate)
        steps.append(
            RankStep(
                rank=i + 1,
                n_answered=n_answered,
                n_new=n_new,
                n_unjudged=int(np.isnan(answered[i, wanted != 0]).sum()),
                coverage=covered,
                incompleteness=None if covered is None else 1 - covered,
                redundancy=_share(n_answered - n_new, n_answered),
            )
        )
    return steps


def redundancy(context: ArrayLike, answerable: ArrayLike, eta: float = ETA) -> Value:
    """Compute the share of answers in a context that repeat another, in [0, 1]; lower is better.

    An answer is a (passage, answerable question) pair. It repeats another if a passage above
    answers the same question. 0: every answer is new.

    Args:
        context: (n_passages, n_questions) ratings in [0, 5], missing = nan. The order of the
            passages does not change the share.
        answerable: (n_questions,): 1 answerable, 0 not, nan undecided.
        eta: the lowest rating that answers, in (0, 5].

    Returns: value = (answers - questions answered) / answers, over known ratings; None if no answer
        of the context is known; undefined, without bounds, if the context certainly answers
        nothing, such as the empty context. `n` and `n_unjudged` count as in `coverage`; for an
        undefined value, `n_unjudged` is 0.
        low: each missing rating that may answer a new question answers it, once.
        high: every missing rating is an answer, to no new question.
    Raises: ValueError for a shape, a rating, a mark or an eta out of range; it names the index.

    >>> redundancy([[5, 4], [3, 4]], [1, 1])  # 4 answers to 2 questions
    Value(value=0.5, n=4, n_unjudged=0, low=0.5, high=0.5)
    """
    answered, wanted = _check(context, answerable, eta)
    n, n_unjudged = _counts(answered, wanted)
    times = (answered[:, wanted == 1] == 1).sum(axis=0)
    n_answers, n_answered = int(times.sum()), int((times > 0).sum())
    possible = (answered != 0)[:, wanted != 0].sum(axis=0)  # with missing ratings as answers
    most, n_new = int(possible.sum()), int((possible > 0).sum()) - n_answered
    if not most:
        return Value(None, n, 0, None, None)
    return Value(
        value=_share(n_answers - n_answered, n_answers),
        n=n,
        n_unjudged=n_unjudged,
        low=(n_answers - n_answered) / (n_answers + n_new),
        high=(most - max(n_answered, 1)) / most,
    )


def some(answered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return for each question: 1 some text answers it, 0 no text does, nan undecided."""
    missing = np.isnan(answered).any(axis=0)
    return np.where((answered == 1).any(axis=0), 1.0, np.where(missing, np.nan, 0.0))


def _rate(answered: NDArray[np.float64]) -> float | None:
    """How often a known rating answers a question that no other text answers.

    None: there are texts, but no rating is known.
    """
    if len(answered) and np.isnan(answered).all():
        return None
    times = (answered == 1).sum(axis=0)
    n_alone, n_none = int((times == 1).sum()), int((answered == 0)[:, times == 0].sum())
    return n_alone / (n_alone + n_none) if n_alone + n_none else 0.0


def _mean_chance(answered: NDArray[np.float64], rate: float | None) -> float | None:
    """Mean over the questions of the probability that some text answers it.

    Missing ratings answer independently, with this rate.
    """
    if rate is None or not answered.shape[1]:
        return None
    chance = 1 - (1 - rate) ** np.isnan(answered).sum(axis=0)
    return float(np.where((answered == 1).any(axis=0), 1.0, chance).mean())


def _counts(answered: NDArray[np.float64], wanted: NDArray[np.float64]) -> tuple[int, int]:
    missing = np.isnan(answered)
    n = int((~missing)[:, wanted == 1].sum())
    return n, int(missing[:, wanted != 0].sum()) + int(np.isnan(wanted).sum())


def _share(part: int, whole: int, *, empty: float | None = None) -> float | None:
    return part / whole if whole else empty


def _check(
    context: ArrayLike, answerable: ArrayLike, eta: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    answered, wanted = answers(context, eta), np.asarray(answerable, dtype=np.float64)
    if wanted.shape != answered.shape[1:]:
        raise ValueError(f"answerable has shape {wanted.shape}, the ratings {answered.shape}")
    for j in np.flatnonzero(~(np.isnan(wanted) | np.isin(wanted, (0, 1)))):
        raise ValueError(f"answerable[{j}] is {wanted[j]}, wanted 1, 0 or nan")
    return answered, wanted


WEIGHT = 0.5  # arXiv:2506.20051, equation 6: w


def density(
    n_answered: float,
    tokens: float,
    n_answerable: float,
    required_tokens: float,
    weight: float = WEIGHT,
) -> float | None:
    """Compute answers per token of a text, relative to the required passages P**, to the power w.

    Args:
        n_answered: answerable questions that the text answers, from 0 to `n_answerable`.
        tokens: length of the text, >= 0.
        n_answerable: questions that P** answers, >= 0.
        required_tokens: length of P**, >= 0, counted in the same way.
        weight: w > 0; values below 1 move the result towards 1.

    Returns: a number >= 0; 1 is as dense as P**, and a text can be denser. 0 for a text that
        answers nothing, such as the empty context. None if it is undefined: no question is
        answerable, P** has no tokens, or a text without tokens answers something.
    Raises: ValueError for a number out of range.
    Source: arXiv:2506.20051, equation 6.

    >>> density(n_answered=4, tokens=400, n_answerable=8, required_tokens=200)  # sqrt(.01 / .04)
    0.5
    """
    for name, number in (("tokens", tokens), ("required_tokens", required_tokens)):
        if not number >= 0:
            raise ValueError(f"{name} is {number}, wanted >= 0")
    if not 0 <= n_answered <= n_answerable:
        raise ValueError(f"n_answered is {n_answered}, wanted 0 to n_answerable = {n_answerable}")
    if not weight > 0:
        raise ValueError(f"weight is {weight}, wanted > 0")
    if not n_answerable or not required_tokens:
        return None
    if not n_answered:
        return 0.0
    if not tokens:
        return None
    return float((n_answered * required_tokens / (tokens * n_answerable)) ** weight)


def density_value(
    coverage: Value,
    n_answerable: int,
    tokens: float,
    required_tokens: float,
    weight: float = WEIGHT,
) -> Value:
    """Compute the density of a context or report from its coverage, with bounds.

    Equation 6 uses the answered questions as a share of the answerable ones, which is the coverage.
    So questions with missing ratings count as in the coverage, in the value and in the bounds.

    Args:
        coverage: of the text, from `coverage`.
        n_answerable: questions known to be answerable, >= 0.
        tokens, required_tokens, weight: see `density`.

    Returns: the density, with `n` and `n_unjudged` of the coverage. Undefined if `density` or the
        coverage is; without bounds if missing ratings leave that undecided.
    Raises: ValueError for a number out of range.
    Source: arXiv:2506.20051, equation 6.

    >>> density_value(Value(0.5, n=8, n_unjudged=2, low=0.25, high=1.0), 4, 100, 100, weight=1)
    Value(value=0.5, n=8, n_unjudged=2, low=0.25, high=1.0)
    """
    low, value, high = (
        None
        if share is None
        else density(share * n_answerable, tokens, n_answerable, required_tokens, weight)
        for share in (coverage.low, coverage.value, coverage.high)
    )
    if low is None or high is None:
        low = value = high = None
    return Value(value, coverage.n, coverage.n_unjudged, low, high)


REQUIRED, PARTLY_REDUNDANT, FULLY_REDUNDANT, NO_ANSWER = 3, 2, 1, 0


def find_required_subset(pool: ArrayLike, order: Sequence[int], eta: float = ETA) -> list[int]:
    """Find rows of the pool that together answer all answerable questions: P**, the oracle context.

    The choice is greedy: take the passage that answers most open questions, the first of `order`
    among equals, until no passage answers a new one. The smallest such set may be smaller.

    Args:
        pool: (n_passages, n_questions) ratings in [0, 5], missing = nan: no known answer.
        order: n_passages different numbers; among passages that add equally many answers, the
            lowest number wins.
        eta: the lowest rating that answers, in (0, 5].

    Returns: row numbers in the order of choice; [] if no question is known to be answerable.
    Raises: ValueError for a shape, a rating or an eta out of range, or if `order` does not have one
        different number for each passage; it names the index.
    Source: arXiv:2506.20051; the rule for ties is ours.

    >>> find_required_subset([[5, 0, 0], [3, 4, 0], [0, 0, 5]], order=[0, 1, 2])
    [1, 2]
    """
    hits = answers(pool, eta) == 1
    rows = _rows(len(hits), order)
    taken: list[int] = []
    todo = hits.any(axis=0)
    while todo.any():
        best = max(rows, key=lambda row: int((hits[row] & todo).sum()))  # the first among equals
        taken.append(best)
        todo &= ~hits[best]
    return taken


def passage_grades(pool: ArrayLike, required: Sequence[int], eta: float = ETA) -> list[int | None]:
    """Grade passages by how much a report needs them.

    3 required: in P**.
    2 partly redundant: P** answers the same questions, but the passage is rated higher on one of
      them than any passage of P**.
    1 fully redundant: for each question it answers, P** has a rating at least as high.
    0 answers no question.

    Args:
        pool: (n_passages, n_questions) ratings in [0, 5], missing = nan.
        required: row numbers of P**, from `find_required_subset`.
        eta: the lowest rating that answers, in (0, 5].

    Returns: a grade for each row. Rows of P** are 3 whatever is missing. Another row has None
        if its missing ratings, or those of P**, could change the grade, or could answer a
        question that P** is not known to answer.
    Raises: ValueError for a shape, a rating or an eta out of range, a row that is not in the
        pool, or a row that answers a question that no row of `required` answers.
    Source: arXiv:2506.20051, in our reading.
    Differs: in the authors' published tool each passage of the pool gets at least 1, so 0 remains
        for passages of other topics, and a passage is fully redundant only if the best rating
        of P** is *strictly* higher than its own, on *every* question.

    >>> passage_grades([[5, 3, 0], [3, 0, 0], [0, 4, 1], [2, 0, 0]], required=[0])
    [3, 1, 2, 0]
    """
    is_answer = answers(pool, eta)  # checks the arguments
    for i, row in enumerate(required):
        if not 0 <= row < len(is_answer):
            raise ValueError(f"required[{i}] is {row}, not a row of a pool of {len(is_answer)}")
    ratings, missing = np.asarray(pool, dtype=np.float64), np.isnan(is_answer)
    least, most = np.where(missing, 0.0, ratings), np.where(missing, HIGHEST, ratings)
    rows = list(required)
    best_least = least[rows].max(axis=0, initial=0.0)
    best_most = most[rows].max(axis=0, initial=0.0)
    grades: list[int | None] = []
    for i in range(len(is_answer)):
        if i in rows:
            grades.append(REQUIRED)
            continue
        answered, may_answer = least[i] >= eta, most[i] >= eta
        for j in np.flatnonzero(answered & (best_most < eta)):
            raise ValueError(f"row {i} answers question {j}, but no required row does")
        if (may_answer & (best_least < eta)).any():
            grades.append(None)  # it may answer a question that P** does not
        elif (answered & (least[i] > best_most)).any():
            grades.append(PARTLY_REDUNDANT)
        elif (may_answer & (most[i] > best_least)).any():
            grades.append(None)
        elif answered.any():
            grades.append(FULLY_REDUNDANT)
        else:
            grades.append(None if may_answer.any() else NO_ANSWER)
    return grades


def _rows(n: int, order: Sequence[int]) -> list[int]:
    """The rows 0 to n - 1 in this order. Raises: ValueError for an invalid order."""
    ranks = list(order)
    if len(ranks) != n:
        raise ValueError(f"{len(ranks)} numbers in the order of {n} passages")
    for i, rank in enumerate(ranks):
        if rank in ranks[:i]:
            raise ValueError(f"order[{i}] is {rank!r}, which another passage already has")
    return sorted(range(n), key=ranks.__getitem__)
