"""The standings of reports on questions with accepted answers, and their measures.

A standing says whether an answer is given, and whether the citations support the sentence that
gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from ....metrics.answer_scores import UNDEFINED, Value, weighted_recall
from ....metrics.key_points import key_point_f1

Standing = Literal["not_said", "unsupported", "uncited", "supported"]
# How a report stands to an answer, from worst to best; to cite the wrong source misleads readers
# more than to cite none.
STANDINGS: tuple[Standing, ...] = ("not_said", "unsupported", "uncited", "supported")

COVERAGE, F1, SENTENCES = "question_coverage_supported", "report_f1", "sentence_support"
# What a standing earns in each measure of questions.
QUESTION_GAINS: dict[str, dict[str, float]] = {
    COVERAGE: {"not_said": 0.0, "unsupported": 0.0, "uncited": 0.0, "supported": 1.0},
    "question_coverage": {"not_said": 0.0, "unsupported": 1.0, "uncited": 1.0, "supported": 1.0},
    "said_uncited": {"not_said": 0.0, "unsupported": 0.0, "uncited": 1.0, "supported": 0.0},
    "said_unsupported": {"not_said": 0.0, "unsupported": 1.0, "uncited": 0.0, "supported": 0.0},
}
WEIGHTED = "question_coverage_weighted"
QUESTION_MEASURES = (*QUESTION_GAINS, WEIGHTED)
# arXiv:2509.26184 (Auto-ARGUE): a vital question counts twice; without importances all count once.
_WEIGHT = {"vital": 2.0, "okay": 1.0, None: 1.0}
_NOTHING_EARNED = Value(value=0.0, n=0, n_unjudged=0, low=0.0, high=0.0)


class Between(NamedTuple):
    """The standings that missing judgements leave possible, from `low` to `high`, both included."""

    low: Standing
    high: Standing

    @property
    def known(self) -> Standing | None:
        """Return the standing; None while more than one is possible."""
        return self.low if self.low == self.high else None


NOT_SAID = Between("not_said", "not_said")


def sentence_standing(citations: Sequence[str | None]) -> Between:
    """Return whether its citations support a sentence, from their labels.

    The sentence is supported if every citation fully supports it, unsupported if any citation gives
    less, and uncited without citations.

    Args:
        citations: full, partial, none, or None = not judged.

    Raises: ValueError for another label.
    Source: arXiv:2405.00982 (ARGUE): a sentence is penalised if any cited document fails it.
    Differs: the paper's yes or no is full support here; partial support counts as no.

    >>> sentence_standing(["full", None])
    Between(low='unsupported', high='supported')
    """
    if odd := [each for each in citations if each not in ("full", "partial", "none", None)]:
        raise ValueError(f"{odd[0]!r} is no support label, wanted full, partial, none or None")
    if not citations:
        return Between("uncited", "uncited")
    if any(each in ("partial", "none") for each in citations):
        return Between("unsupported", "unsupported")
    return Between("unsupported" if None in citations else "supported", "supported")


def answer_standing(is_stated: bool | None, sentence: Between) -> Between:
    """Return the standing of an answer by one sentence: the sentence's, if it gives the answer.

    >>> answer_standing(None, sentence_standing([]))
    Between(low='not_said', high='uncited')
    """
    if is_stated is None:
        return Between("not_said", sentence.high)
    return sentence if is_stated else NOT_SAID


def take_best(standings: Iterable[Between]) -> Between:
    """Return the best standing, for an answer in several sentences or a question with OR.

    Without standings: not said.
    """
    return _fold(standings, max)


def take_worst(standings: Iterable[Between]) -> Between:
    """Return the worst standing, for a question with AND, which needs all its answers.

    Without standings: not said. A missing judgement counts only if it could change the result.

    >>> take_worst([NOT_SAID, Between("not_said", "supported")]).known
    'not_said'
    """
    return _fold(standings, min)


def _fold(standings: Iterable[Between], choose: Callable[[list[int]], int]) -> Between:
    ranges = list(standings)
    if not ranges:
        return NOT_SAID
    low = choose([STANDINGS.index(each.low) for each in ranges])
    high = choose([STANDINGS.index(each.high) for each in ranges])
    return Between(STANDINGS[low], STANDINGS[high])


def question_scores(
    standings: Sequence[Between], importances: Sequence[str | None]
) -> dict[str, Value]:
    """Compute the measures of one report over the questions of its topic, each in [0, 1].

    Args:
        standings: one per question.
        importances: vital, okay or None, in the same order.

    Returns: by name, in the order of `QUESTION_MEASURES`:
        question_coverage_supported: share of the questions that are answered by sentences whose
            citations support them; nugget coverage in Auto-ARGUE.
        question_coverage: share of the questions that are answered, whatever the citations.
        said_uncited, said_unsupported: share that is answered only without a citation, or only with
            a citation that fails. These two and the first add up to question_coverage.
        question_coverage_weighted: as the first; a vital question counts twice.
        A question counts as judged in a measure if its value there is the same for all possible
        standings. The bounds take the other questions at their worst and best. No questions: None.
    Raises: ValueError if lengths differ or an importance is unknown.
    Source: arXiv:2405.00982 (ARGUE), arXiv:2509.26184 (Auto-ARGUE). The other measures are ours.

    >>> scores = question_scores([Between("uncited", "uncited"), NOT_SAID], [None, None])
    >>> scores["question_coverage"].value, scores["said_uncited"].value
    (0.5, 0.5)
    """
    if len(standings) != len(importances):
        raise ValueError(f"{len(standings)} questions with {len(importances)} importances")
    if odd := [each for each in importances if each not in _WEIGHT]:
        raise ValueError(f"{odd[0]!r} is no importance, wanted vital, okay or None")
    scores = {
        name: _score(standings, [1.0] * len(standings), gains)
        for name, gains in QUESTION_GAINS.items()
    }
    weights = [_WEIGHT[importance] for importance in importances]
    return scores | {WEIGHTED: _score(standings, weights, QUESTION_GAINS[COVERAGE])}


def sentence_support(sentences: Sequence[Between]) -> Value:
    """Compute the share of sentences that all their judged citations support, in [0, 1].

    An empty report scores 0 with n = 0.

    Args:
        sentences: the standings of sentences that make a claim, see `sentence_standing`.

    Source: arXiv:2509.26184 (Auto-ARGUE), sentence support.
    Differs: in the paper, a sentence without citation counts only if a model finds that it needs
        one and that it says something for the first time; here all sentences that make a claim
        count.

    >>> sentence_support([sentence_standing(["full"]), sentence_standing([])]).value
    0.5
    """
    if not sentences:
        return _NOTHING_EARNED
    return _score(sentences, [1.0] * len(sentences), QUESTION_GAINS[COVERAGE])


def report_f1(coverage: Value, support: Value) -> Value:
    """Harmonic mean of `question_coverage_supported` and `sentence_support`, in [0, 1].

    Source: arXiv:2509.26184 (Auto-ARGUE), f1; computed by `key_point_f1`.
    """
    return UNDEFINED if coverage.is_undefined else key_point_f1(coverage, support)


def _score(
    standings: Sequence[Between], weights: Sequence[float], gains: Mapping[str, float]
) -> Value:
    if not standings:
        return UNDEFINED
    lows, highs = [], []
    for low, high in standings:
        is_open = STANDINGS[STANDINGS.index(low) : STANDINGS.index(high) + 1]
        earned = [gains[standing] for standing in is_open]
        lows.append(min(earned))
        highs.append(max(earned))
    judged = [(x, w) for x, y, w in zip(lows, highs, weights, strict=True) if x == y]
    value = weighted_recall(*zip(*judged, strict=True)) if judged else None
    low_mean, high_mean = weighted_recall(lows, weights), weighted_recall(highs, weights)
    if value is not None:  # the last bit of a division may say otherwise
        low_mean, high_mean = min(low_mean, value), max(high_mean, value)
    return Value(value, len(judged), len(standings) - len(judged), low_mean, high_mean)
