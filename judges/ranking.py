"""Judges that rank passages by how well they answer a question, and their lexical baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MinLen

from ..backends.errors import JudgeOutputError
from ..backends.prompt import Baseline
from ..backends.replies.schema import AtMost
from ..records.judgements import Provenance, Reason
from .base import Judge
from .lexical.overlap import content_words, recall


def order_passages(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return all numbers, by falling share of the question's content words."""
    return {"order": [int(number) for number in _rank(inputs)]}


def best_passage(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the number of the passage with the largest share."""
    return {"best": int(_rank(inputs)[0])}


class Order(NamedTuple):
    """The ranked passages of one call, and the number of repairs of the reply.

    Attributes:
        indexes: the 0-based index of each passage once, the best first.
        doubled: the number of repeated mentions of a passage.
        unknown: the number of numbers that belong to no passage.
        lost: the number of passages that the reply does not mention.

    >>> order = Order((1, 0, 2), lost=1)
    >>> order.indexes[0], order.is_mended
    (1, True)
    """

    indexes: tuple[int, ...]
    doubled: int = 0
    unknown: int = 0
    lost: int = 0

    @property
    def is_mended(self) -> bool:
        """Return whether the reply needed any repair."""
        return bool(self.doubled or self.unknown or self.lost)


class OrderPassages(dspy.Signature):  # type: ignore[misc]
    """Rank the passages by how well they answer the question, the best first.

    - A passage that contains the answer ranks above one that is only about the topic. Both rank
      above a passage about something else.
    - The order in which the passages are given has no meaning.
    - Name every number exactly once.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    passages: dict[str, str] = dspy.InputField(desc="the passages to rank, by number")
    order: Annotated[list[int], MinLen(1), AtMost("passages")] = dspy.OutputField(
        desc="the numbers of all passages, best first"
    )


class ListwiseRanker(Judge):
    """Rank passages in one call: `judge(question=, passages=[...]).order`, an Order.

    A reply that is not a permutation is repaired, and each repair is counted: the first mention of
    a number counts, unknown numbers are dropped, and passages that were not mentioned follow in
    their given order. For long rankings, see retrieval.windows.slide.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, if a reply cannot be read or names no passage; callers then keep
        the given order. ValueError from a call with fewer than 2 passages.
    Source: arXiv:2304.09542 (RankGPT), permutation generation. The prompt is ours.

    >>> judge = ListwiseRanker("lexical")
    >>> judge(question="Why do bridges sway?", passages=["Bees dance.", "Bridges sway."]).order
    Order(indexes=(1, 0), doubled=0, unknown=0, lost=0)
    """

    version = "3"
    baselines: Mapping[str, Baseline] = {"rank": order_passages}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.rank = dspy.Predict(OrderPassages)

    async def decide(self, *, question: str, passages: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """Rank passages in one call; `judge(...)` calls this.

        Args:
            question: the text that the passages should answer.
            passages: the texts to rank, 2 or more.

        Returns: a prediction with `order`, an Order.
        """
        return dspy.Prediction(order=(await self.order(question, passages))[0])

    async def order(self, question: str, passages: Sequence[str]) -> tuple[Order, Provenance]:
        """Return the order of the passages, and the provenance of the call.

        Args:
            question: the text that the passages should answer.
            passages: the texts to rank, 2 or more.

        Returns: the order of the passages, and the provenance of the call.
        Raises: ValueError for fewer than 2 passages; JudgeError as for a call.
        """
        if len(passages) < 2:
            raise ValueError(f"wanted 2 or more passages to put in order, got {len(passages)}")
        numbered = {str(number): text for number, text in enumerate(passages, 1)}
        reply = await self.ask("rank", question=question, passages=numbered)
        return permutation(reply.values["order"], len(passages)), reply.provenance


def permutation(numbers: Sequence[int], n: int) -> Order:
    """Turn the numbers of a reply, from 1, into an order of n passages.

    Raises: JudgeOutputError if no number belongs to a passage.

    >>> permutation([3, 1, 3, 9], 4)
    Order(indexes=(2, 0, 1, 3), doubled=1, unknown=1, lost=2)
    """
    indices = [number - 1 for number in numbers if 1 <= number <= n]
    if not indices:
        detail = f"no number belongs to one of the {n} passages"
        raise JudgeOutputError(Reason.UNPARSEABLE, detail, str(list(numbers)))
    named = dict.fromkeys(indices)
    lost = [index for index in range(n) if index not in named]
    doubled, unknown = len(indices) - len(named), len(numbers) - len(indices)
    return Order((*named, *lost), doubled, unknown, len(lost))


class PickPassage(dspy.Signature):  # type: ignore[misc]
    """Pick the passage that answers the question best.

    - A passage that contains the answer is better than one that is only about the topic.
    - The order in which the passages are given has no meaning.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    passages: dict[str, str] = dspy.InputField(desc="the passages to choose from, by number")
    best: int = dspy.OutputField(desc="the number of the best passage")


class SetwiseRanker(Judge):
    """Pick the best passage of a set: `judge(question=, passages=[...]).best`, its index from 0.

    For the best ten of many see retrieval.windows.setwise_top.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, also for a number without a passage (unparseable). ValueError
        from a call with fewer than 2 passages.
    Source: arXiv:2310.09497 (Setwise). The prompt is ours.

    >>> judge = SetwiseRanker("lexical")
    >>> judge(question="Why do bridges sway?", passages=["Bees dance.", "Bridges sway."]).best
    1
    """

    version = "2"
    baselines: Mapping[str, Baseline] = {"pick": best_passage}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pick = dspy.Predict(PickPassage)

    async def decide(self, *, question: str, passages: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """Pick the best passage in one call; `judge(...)` calls this.

        Args:
            question: the text that the passages should answer.
            passages: the texts to choose from, 2 or more.

        Returns: a prediction with `best`, the 0-based index of the passage.
        """
        return dspy.Prediction(best=(await self.best(question, passages))[0])

    async def best(self, question: str, passages: Sequence[str]) -> tuple[int, Provenance]:
        """Return the index of the best passage, and the provenance of the call.

        Args:
            question: the text that the passages should answer.
            passages: the texts to choose from, 2 or more.

        Returns: the 0-based index of the best passage, and the provenance of the call.
        Raises: ValueError for fewer than 2 passages; JudgeError as for a call.
        """
        if len(passages) < 2:
            raise ValueError(f"wanted 2 or more passages to choose from, got {len(passages)}")
        numbered = {str(number): text for number, text in enumerate(passages, 1)}
        reply = await self.ask("pick", question=question, passages=numbered)
        number = reply.values["best"]
        if not 1 <= number <= len(passages):
            detail = f"picked {number}, wanted 1 to {len(passages)}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, str(reply.values))
        return number - 1, reply.provenance


def _rank(inputs: Mapping[str, Any]) -> list[str]:
    question_words = content_words(inputs["question"])
    shares = {
        n: recall(question_words, content_words(text)) for n, text in inputs["passages"].items()
    }
    return sorted(shares, key=lambda number: -shares[number])
