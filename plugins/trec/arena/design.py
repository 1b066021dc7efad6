"""Which answers meet: pairs of runs on topics, equal for equal seeds and labels."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import lcm
from typing import NamedTuple

import numpy as np

from .ratings import PRIOR, bradley_terry, covariance


class Meeting(NamedTuple):
    """Two runs on a topic; `run_id` sorts before `opponent_id`."""

    topic_id: str
    run_id: str
    opponent_id: str


class Field:
    """All possible meetings.

    Args:
        topics: the topics, in the order of the design.
        runs: the runs, in any order.
        absent: the (run, topic) of answers that a run did not give. Such a run loses to every run
            that answered, and two such runs do not meet.

    If nuggetjudge itself failed to make an answer, its run still meets the others; the battle is
    then not judged.
    """

    def __init__(
        self,
        topics: Sequence[str],
        runs: Collection[str],
        *,
        absent: Collection[tuple[str, str]] = (),
    ) -> None:
        self.topics = list(topics)
        self.runs = sorted(runs)
        self.pairs = list(combinations(self.runs, 2))
        self._absent = set(absent)

    def has(self, meeting: Meeting) -> bool:
        """Return whether these two runs can meet on this topic."""
        return not self._absent.issuperset((run, meeting.topic_id) for run in meeting[1:])

    def in_turn(self, seed: int) -> Iterator[Meeting]:
        """Yield every meeting once, in an order of which each beginning is balanced.

        Among the first n meetings, the numbers of meetings of any two pairs of runs differ by at
        most one, and so do those of any two topics, as long as all meetings are possible. The order
        goes through pairs and topics in parallel, and shifts one of them by one place each time
        both are back at their first combination.
        """
        rng = np.random.default_rng(seed)
        pairs = [self.pairs[i] for i in rng.permutation(len(self.pairs))]
        topics = [self.topics[i] for i in rng.permutation(len(self.topics))]
        together = lcm(len(pairs), len(topics)) if pairs and topics else 1
        for n in range(len(pairs) * len(topics)):
            topic = topics[(n + n // together) % len(topics)]
            if self.has(meeting := Meeting(topic, *pairs[n % len(pairs)])):
                yield meeting

    def at_random(self, seed: int) -> list[Meeting]:
        """Yield every meeting once, in random order."""
        every = [Meeting(topic, *pair) for topic in self.topics for pair in self.pairs]
        meetings = [meeting for meeting in every if self.has(meeting)]
        return [meetings[i] for i in np.random.default_rng(seed).permutation(len(meetings))]


def uncertain(
    field: Field, gains: Mapping[Meeting, float | None], n: int, seed: int
) -> list[Meeting]:
    """Return the next n meetings of the pairs whose order is least certain.

    Args:
        gains: the result of `run_id` in each meeting so far: 1, 0.5 or 0; None: not judged. Such a
            meeting adds no information and is not repeated.

    Each meeting is between the two runs whose strengths are nearest, in standard errors of their
    difference (Bradley-Terry with a weak prior, errors by Fisher information). The expected
    information of a meeting is added before the next is chosen. The topic is the one with the
    fewest meetings. Ties follow the order of `Field.in_turn`.
    """
    runs = {run: i for i, run in enumerate(field.runs)}
    wins = np.zeros((len(runs), len(runs)))
    n_on = dict.fromkeys(field.topics, 0)
    for meeting, gain in gains.items():
        n_on[meeting.topic_id] += 1
        if gain is not None:
            i, j = runs[meeting.run_id], runs[meeting.opponent_id]
            wins[i, j] += gain
            wins[j, i] += 1 - gain
    left: dict[tuple[str, str], list[str]] = {}  # topics by pair, the preferred one first
    for meeting in field.in_turn(seed):
        if meeting not in gains:
            left.setdefault(meeting[1:], []).append(meeting.topic_id)
    strengths = bradley_terry(wins, PRIOR)
    spread = covariance(wins, strengths, PRIOR)
    pairs = list(left)
    first, second = (np.array([runs[pair[side]] for pair in pairs], int) for side in (0, 1))
    apart = np.abs(strengths[first] - strengths[second])
    information = 1 / (2 + np.exp(apart) + np.exp(-apart))  # p (1 - p)
    is_open = np.ones(len(pairs), bool)
    chosen: list[Meeting] = []
    while len(chosen) < n and is_open.any():
        variance = spread[first, first] + spread[second, second] - 2 * spread[first, second]
        certainty = np.where(is_open, apart / np.sqrt(np.maximum(variance, 1e-12)), np.inf)
        # Among equally near pairs, the one whose difference is least certain.
        at = int(np.lexsort((-variance, certainty.round(9)))[0])
        topics = left[pairs[at]]
        topic = min(topics, key=lambda name: n_on[name])
        topics.remove(topic)
        is_open[at] = bool(topics)
        n_on[topic] += 1
        chosen.append(Meeting(topic, *pairs[at]))
        row = spread[:, first[at]] - spread[:, second[at]]
        spread = spread - np.outer(row, row) * (
            information[at] / (1 + information[at] * variance[at])
        )
    return chosen
