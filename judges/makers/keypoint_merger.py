"""Which key points of a question say the same, so that each thing counts once?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import keypoints as lexical_keypoints
from .examples import MERGED_POINTS, add_example

MOST_POINTS = 60  # in one call
REPAIRS = 2  # further calls after a reply that is no partition


class MergedPoint(NamedTuple):
    """What one or more key points say together; `members` are their indexes, from 0, ascending."""

    text: str
    members: tuple[int, ...]


class PointGroup(TypedDict):
    """A merged point as a reply gives it."""

    text: Annotated[str, MinLen(1), MaxLen(600)]
    members: Annotated[list[int], MinLen(1)]


def _worded(groups: list[PointGroup]) -> list[PointGroup]:
    for index, group in enumerate(groups, 1):
        if not (group["text"].strip() and group["members"]):
            raise ValueError(f"merged point {index} has no text or no members")
    return groups


class MergeKeyPoints(dspy.Signature):  # type: ignore[misc]
    """Merge key points that state the same fact or argument, so that each appears only once.

    - Merge points that state the same fact or argument, in any wording, and points of which one
      contains the other.
    - Do not merge points that contradict each other, or that are only about the same subject.
    - Put the number of each point into exactly one merged point. A point that matches
      no other point becomes a merged point of its own.
    - Write each merged point as one sentence that contains all that its members say, and no more.
    - If `faults` is not empty, it lists what was wrong with `rejected`. Return the whole reply
      again, corrected.
    """

    question: str = dspy.InputField(desc="the question of the user")
    points: dict[str, str] = dspy.InputField(desc="the key points, by number")
    rejected: list[dict[str, Any]] = dspy.InputField(
        desc="your last reply, which must be corrected; empty at first"
    )
    faults: Annotated[list[str], SETTING] = dspy.InputField(
        desc="what was wrong with the rejected reply; empty at first"
    )
    merged: Annotated[list[PointGroup], MinLen(1), AtMost("points"), AfterValidator(_worded)] = (
        dspy.OutputField(
            desc="the merged points; `members` are the numbers of the points that it merges"
        )
    )


class KeyPointMerger(Judge):
    """Joins key points: `judge(question=, texts=[...]).points`, a list of MergedPoint.

    Every text is a member of exactly one merged point. A reply that loses, invents or doubles a
    number is shown again with what is wrong, up to `repairs` times. A point that was joined with
    no other keeps its text, whatever the reply has. Order: that of each one's first member.

    More than `most_points` texts are cut into blocks of up to half as many, and every two blocks
    are merged in one call, so that each point meets every other (k blocks: k (k - 1) / 2 calls,
    one after the other). What is joined stays with the earlier block and goes on as one point.
    Fewer than two texts cost no call.

    Args:
        most_points: in one call, >= 2.
        repairs: most further calls after a wrong reply.
        example: show one worked example, made up for the prompt.

    Raises: JudgeError when the last repair is still wrong; its detail names the numbers: incomplete
        if the reply loses some, else unparseable.
    Source: arXiv:2410.23000, key point aggregation. Blocks and repairs are ours.
    """

    version = "3"
    twins: Mapping[str, Twin] = {"join": lexical_keypoints.merge_points}

    def __init__(
        self,
        *args: Any,
        most_points: int = MOST_POINTS,
        repairs: int = REPAIRS,
        example: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        if most_points < 2 or repairs < 0:
            wanted = "most_points must be 2 or more and repairs 0 or more"
            raise ValueError(f"{wanted}, got {most_points} and {repairs}")
        self.most_points = most_points
        self.repairs = repairs
        self.join = dspy.Predict(MergeKeyPoints)
        if example:
            add_example(self.join, MERGED_POINTS)

    async def decide(self, *, question: str, texts: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """One call, or one for every two blocks; and their repairs."""
        return dspy.Prediction(points=(await self.merge(question, texts))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: no two points are the same."""
        alone = [{"text": text, "members": [int(n)]} for n, text in inputs["points"].items()]
        return reply._replace(values={"merged": alone})

    async def merge(
        self, question: str, texts: Sequence[str]
    ) -> tuple[list[MergedPoint], list[Provenance]]:
        """The merged points, and one provenance per call."""
        points = [MergedPoint(text, (index,)) for index, text in enumerate(texts)]
        if len(points) <= self.most_points:
            return await self._join(question, points)
        blocks = _blocks(points, self.most_points // 2)
        calls: list[Provenance] = []
        for a, b in combinations(range(len(blocks)), 2):
            if not (blocks[a] and blocks[b]):  # all of it was joined with an earlier block
                continue
            earlier = {index for point in blocks[a] for index in point.members}
            joined, made = await self._join(question, blocks[a] + blocks[b])
            blocks[a] = [point for point in joined if not earlier.isdisjoint(point.members)]
            blocks[b] = [point for point in joined if earlier.isdisjoint(point.members)]
            calls += made
        return _in_order(point for block in blocks for point in block), calls

    async def _join(
        self, question: str, points: Sequence[MergedPoint]
    ) -> tuple[list[MergedPoint], list[Provenance]]:
        if len(points) < 2:
            return list(points), []
        numbered = {str(number): point.text for number, point in enumerate(points, 1)}
        groups: list[PointGroup] = []
        faults: list[str] = []
        calls: list[Provenance] = []
        for _ in range(1 + self.repairs):
            reply = await self.ask(
                "join", question=question, points=numbered, rejected=groups, faults=faults
            )
            calls.append(reply.provenance)
            groups = reply.values["merged"]
            lost, faults = _faults(groups, len(points))
            if not faults:
                return _in_order(_merged(group, points) for group in groups), calls
        reason = Reason.INCOMPLETE if lost else Reason.UNPARSEABLE
        detail = f"of {len(points)} in a call, after {self.repairs} repairs: {'; '.join(faults)}"
        raise JudgeOutputError(reason, detail, str(groups))


def _faults(groups: Sequence[PointGroup], n: int) -> tuple[list[int], list[str]]:
    """The numbers from 1 to n that no group has, and all that keeps the groups from a partition."""
    times = Counter(number for group in groups for number in group["members"])
    lost = [number for number in range(1, n + 1) if number not in times]
    unknown = sorted(number for number in times if not 1 <= number <= n)
    doubled = sorted(number for number in times if 1 <= number <= n and times[number] > 1)
    faults = {
        "in no merged point": lost,
        "not the number of a point": unknown,
        "listed more than once": doubled,
    }
    return lost, [
        f"{what}: {', '.join(map(str, those))}" for what, those in faults.items() if those
    ]


def _merged(group: PointGroup, points: Sequence[MergedPoint]) -> MergedPoint:
    joined = [points[number - 1] for number in group["members"]]
    text = " ".join(group["text"].split()) if len(joined) > 1 else joined[0].text
    return MergedPoint(text, tuple(sorted(index for point in joined for index in point.members)))


def _in_order(points: Iterable[MergedPoint]) -> list[MergedPoint]:
    return sorted(points, key=lambda point: point.members)


def _blocks(points: Sequence[MergedPoint], most: int) -> list[list[MergedPoint]]:
    """Runs of the points, of even length up to `most`."""
    n = math.ceil(len(points) / most)
    borders = [len(points) * i // n for i in range(n + 1)]
    return [list(points[start:end]) for start, end in pairwise(borders)]
