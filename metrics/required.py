"""Which passages of a pool a report needs, and how far each of the others repeats them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .coverage import ETA, HIGHEST, answers

REQUIRED, PARTLY_REDUNDANT, FULLY_REDUNDANT, NO_ANSWER = 3, 2, 1, 0


def required_subset(pool: ArrayLike, order: Sequence[int], eta: float = ETA) -> list[int]:
    """Rows of the pool that together answer all answerable questions: P**, the oracle context.

    Taken greedily: the passage that answers most questions not answered yet, the first of
    `order` among equals, until no passage answers a new one. The smallest such set may be smaller.

    Args:
        pool: (n_passages, n_questions) ratings in [0, 5], missing = nan = no answer known.
        order: n_passages different numbers; of passages that add equally many answers the one with
            the lowest number is taken.
        eta: the rating that answers, in (0, 5].

    Returns: row numbers in the order taken; [] where no question is known to be answerable.
    Raises: ValueError for a shape, a rating or an eta out of range, or numbers that are not one
        for each passage and all different; it names the index.
    Source: arXiv:2506.20051; the rule for ties is ours.

    >>> required_subset([[5, 0, 0], [3, 4, 0], [0, 0, 5]], order=[0, 1, 2])
    [1, 2]
    """
    hits = answers(pool, eta) == 1
    rows = _rows(len(hits), order)
    taken: list[int] = []
    todo = hits.any(axis=0)
    while todo.any():
        best = max(rows, key=lambda row: int((hits[row] & todo).sum()))  # the first of equals
        taken.append(best)
        todo &= ~hits[best]
    return taken


@dataclass(frozen=True, slots=True)
class CertainPart:
    """What P** is, whatever the missing ratings of its pool say.

    Attributes:
        taken: rows of the pool that it begins with, in the order taken.
        least, most: how many others follow; 0 and 0: it is certain as a whole.
        others: rows that may be among those.
    """

    taken: tuple[int, ...]
    least: int = 0
    most: int = 0
    others: tuple[int, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Whether the missing ratings change nothing."""
        return not self.others


def certain_part(pool: ArrayLike, order: Sequence[int], eta: float = ETA) -> CertainPart:
    """How far the missing ratings of a pool leave its P** open.

    As long as one passage adds most whatever they say, it is taken. From there on any passage that
    may add something may be in P**, and each that is answers a question that no other did.

    Args, raises: as `required_subset`.

    >>> certain_part([[5, 5, 0], [float("nan"), 0, 0], [0, 0, float("nan")]], order=[0, 1, 2])
    CertainPart(taken=(0,), least=0, most=1, others=(2,))
    """
    answered = answers(pool, eta)
    sure, may, rows = answered == 1, answered != 0, _rows(len(answered), order)
    taken: list[int] = []
    while True:
        touched, closed = may[taken].any(axis=0), sure[taken].any(axis=0)
        lows, highs = (sure & ~touched).sum(axis=1), (may & ~closed).sum(axis=1)
        left = [row for row in rows if row not in taken]
        if not (others := [row for row in left if highs[row]]):
            return CertainPart(tuple(taken))
        best = max(left, key=lambda row: int(lows[row]))  # the first of equals
        is_before = True
        is_certain = lows[best] > 0
        for row in left:
            if row == best:
                is_before = False
            elif highs[row] > lows[best] or (is_before and highs[row] == lows[best]):
                is_certain = False
        if not is_certain:
            n_open = int((may[others] & ~closed).any(axis=0).sum())
            most = min(len(others), n_open)
            return CertainPart(tuple(taken), int(lows[best] > 0), most, tuple(sorted(others)))
        taken.append(best)


def passage_grades(pool: ArrayLike, required: Sequence[int], eta: float = ETA) -> list[int | None]:
    """How much a report needs each passage, as relevance grades.

    3 required: in P**.
    2 partly redundant: P** answers the same questions, but the passage is rated higher on one of
      them than any passage of P**.
    1 fully redundant: for each question it answers, P** has a rating at least as high.
    0 answers no question.

    Args:
        pool: (n_passages, n_questions) ratings in [0, 5], missing = nan.
        required: row numbers of P**, as `required_subset` gives them.
        eta: the rating that answers, in (0, 5].

    Returns: a grade for each row. P** is taken as it is given, so its rows are 3 whatever is
        missing; another row has None where its missing ratings, or those of P**, could change the
        grade, or could answer a question that P** is not known to answer.
    Raises: ValueError for a shape, a rating or an eta out of range, a row that is not in the pool,
        or a row that answers a question that no row of `required` does.
    Source: arXiv:2506.20051, in our reading.
    Differs: in the authors' published tool each passage of the pool gets at least 1, so 0 is left
        to passages of other topics, and a passage is fully redundant only where the best rating
        of P** is *strictly* higher than its own, on *every* question.

    >>> passage_grades([[5, 3, 0], [3, 0, 0], [0, 4, 1], [2, 0, 0]], required=[0])
    [3, 1, 2, 0]
    """
    is_answer = answers(pool, eta)  # checks
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
            raise ValueError(f"row {i} answers question {j}, which no required row does")
        if (may_answer & (best_least < eta)).any():
            grades.append(None)  # it may answer what P** does not
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
    """The rows 0 to n - 1 in this order. Raises: ValueError if it is none."""
    ranks = list(order)
    if len(ranks) != n:
        raise ValueError(f"{len(ranks)} numbers in the order of {n} passages")
    for i, rank in enumerate(ranks):
        if rank in ranks[:i]:
            raise ValueError(f"order[{i}] is {rank!r}, which another passage has already")
    return sorted(range(n), key=ranks.__getitem__)
