"""How often intervals leave the score out if one looks at them all the time: a table of
docs/benchmarks/corrected-scores.md.

    python -m benchmarks.pages.looks DATA [--streams 400]

Each stream is a set of items of which all labels by people are known, made anew or, of
dl23_llmjudge in DATA, real; they are labelled in a random order within topics, and looked at after
every label.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from nuggetjudge.metrics.ppi import estimate, interval_of_these, moments, sample
from nuggetjudge.plugins.annotate.live.confidence_sequence import Order, confidence_sequence

from .corrected import SCALE, read_graded

BLOCK = 10  # labels of a topic before the next one's turn, as `judge annotate` has it
FIRST = 20  # labels from which the fixed-sample interval is looked at
LOOKS = 20  # at it, evenly up to the end: fewer than the sequence has, in its favour
GRADES = np.array([0.0, 0.5, 1.0])


@dataclass(frozen=True)
class Stream:
    """Items with all that is to be known of them, and the order in which they are labelled."""

    topics: np.ndarray  # (n,)
    human: np.ndarray  # (n,) gains in [0, 1]
    judged: np.ndarray  # (n,)
    weights: np.ndarray  # (n,) their sum is 1
    order: np.ndarray  # (m,)

    @property
    def score(self) -> float:
        """By people's labels of all items."""
        return float(self.weights @ self.human)


@dataclass(frozen=True)
class Watched:
    """What a stream's intervals did."""

    left: bool  # the sequence, at any look
    fixed_left: bool  # the fixed-sample interval, at any of its looks
    fixed_left_at_end: bool  # at the last
    width: float  # of the sequence at the end
    ratio: float  # over that of the fixed-sample interval there


@dataclass(frozen=True)
class Kind:
    """How items are made.

    Attributes:
        skill: of the judge; 0: it guesses.
        lean: how far topics differ in what the judge gets wrong, standard deviation of a logit.
        mean: logit of the share of items that earn something.
        n_labels: of each topic; None: of all items.
        by_turns: topics take turns; else one is finished before the next.
    """

    n_topics: int = 12
    n_items: int = 200  # of a topic; with `uneven`, of the mean topic
    n_labels: int | None = 50
    skill: float = 2.0
    lean: float = 0.8
    mean: float = 0.0
    graded: bool = False
    uneven: bool = False
    by_turns: bool = True


KINDS = {
    "errors differ by topic": Kind(),
    "few topics": Kind(n_topics=5),
    "many topics, few labels of each": Kind(n_topics=100, n_items=60, n_labels=10),
    "hardly anything earns": Kind(mean=-4.0),
    "a judge that hardly errs": Kind(skill=5.0, lean=0.0),
    "a judge that guesses": Kind(skill=0.0),
    "three grades, by probability": Kind(graded=True),
    "topics of any size, weights too": Kind(uneven=True),
    "one topic after the other": Kind(by_turns=False),
    "every item labelled": Kind(n_items=60, n_labels=None),
}


def make(kind: Kind, rng: np.random.Generator) -> Stream:
    """A stream of this kind."""
    n, t = kind.n_items, kind.n_topics
    sizes = rng.integers(n // 4, 2 * n - n // 4, t) if kind.uneven else np.full(t, n)
    topics = np.repeat(np.arange(t), sizes)
    share = _logistic(kind.mean + rng.normal(0, 1.2, t))[topics]
    lean = rng.normal(0, kind.lean, t)[topics]
    if kind.graded:
        human = GRADES[(rng.random((len(topics), 2)) < share[:, None]).sum(axis=1)]
        noise = rng.normal(0, 1, len(topics))
        judged = _logistic(kind.skill * (2 * human - 1) + lean + noise)
    else:
        human = (rng.random(len(topics)) < share) * 1.0
        says = _logistic(kind.skill * (2 * human - 1) + lean)
        judged = (rng.random(len(topics)) < says) * 1.0
    weights = 1 / (sizes[topics] * t)
    if kind.uneven:
        weights = weights * rng.uniform(0.5, 1.5, len(topics))
        weights /= weights.sum()
    labels = len(topics) if kind.n_labels is None else kind.n_labels
    order = in_order(topics, labels, rng, block=BLOCK if kind.by_turns else len(topics))
    return Stream(topics, human, judged, weights, order)


def in_order(
    topics: np.ndarray, n: int, rng: np.random.Generator, block: int = BLOCK
) -> np.ndarray:
    """Up to n random items of each topic, `block` of them before the next topic's turn."""
    turn = rng.permutation(topics.max() + 1)
    drawn_items = []
    for topic in range(topics.max() + 1):
        drawn = rng.permutation(np.flatnonzero(topics == topic))[:n]
        drawn_items += [(at // block, turn[topic], at, item) for at, item in enumerate(drawn)]
    return np.array([item for *_, item in sorted(drawn_items)])


def watch(stream: Stream, *, level: float = 0.95, fixed: bool = True) -> Watched:
    """Follow a stream's intervals to its end."""
    order = Order(stream.topics, stream.order)
    labels = stream.human[stream.order]
    sequence = confidence_sequence(order, stream.judged, labels, stream.weights, level=level)
    low, high, score = sequence.low - 1e-9, sequence.high + 1e-9, stream.score
    left = bool(((low > score) | (high < score)).any())
    width = float(sequence.high[-1] - sequence.low[-1])
    if not fixed:
        return Watched(left, False, False, width, np.nan)
    m = len(stream.order)
    outside, last = [], 0.0
    for n in np.unique(np.linspace(min(FIRST, m), m, LOOKS).astype(int)):
        so_far = np.full(len(stream.topics), np.nan)
        so_far[stream.order[:n]] = labels[:n]
        items = sample(stream.judged, so_far, stream.weights, stream.topics)
        try:
            interval = interval_of_these(estimate(items, moments(items).lam), level=level)
        except ValueError:  # labels of one topic so far
            continue
        if interval.low is None or interval.high is None:
            continue  # a topic has less than 2 labels
        outside.append(not interval.low - 1e-9 <= score <= interval.high + 1e-9)
        last = interval.high - interval.low
    at_end = bool(outside and outside[-1])
    return Watched(left, any(outside), at_end, width, width / last if last > 1e-9 else np.nan)


def graded_stream(data: Path) -> Callable[[np.random.Generator], Stream] | None:
    """Streams of dl23_llmjudge, each of one of its judges; None where it is absent."""
    if (pairs := read_graded(data)) is None:
        return None
    weights = 1 / (np.bincount(pairs.topics)[pairs.topics] * (pairs.topics.max() + 1))
    names, top = sorted(pairs.judges), len(SCALE) - 1

    def stream(rng: np.random.Generator) -> Stream:
        judged = pairs.judges[names[rng.integers(len(names))]]
        order = in_order(pairs.topics, 30, rng)
        return Stream(pairs.topics, pairs.human / top, judged / top, weights, order)

    return stream


def row(name: str, watched: Sequence[Watched], one: Stream) -> str:
    """A line of the table."""
    shares = [
        np.mean([getattr(w, field) for w in watched])
        for field in ("left", "fixed_left", "fixed_left_at_end")
    ]
    ratios = [w.ratio for w in watched if not np.isnan(w.ratio)]
    cells = [name, str(one.topics.max() + 1), f"{len(one.topics):,}", f"{len(one.order):,}"]
    cells += [f"{share:.1%}" for share in shares]
    cells += [f"{np.mean([w.width for w in watched]):.3f}"]
    cells += [f"{np.mean(ratios):.2f}" if ratios else "–"]
    return "| " + " | ".join(cells) + " |"


def _logistic(x: np.ndarray) -> np.ndarray:
    shares: np.ndarray = 1 / (1 + np.exp(-x))
    return shares


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    parser.add_argument("--streams", type=int, default=400, help="of each kind")
    options = parser.parse_args(arguments)
    makers: dict[str, Callable[[np.random.Generator], Stream]] = {
        name: partial(make, kind) for name, kind in KINDS.items()
    }
    if (graded := graded_stream(options.data)) is not None:
        makers["passages graded by 33 judges"] = graded
    else:
        print(f"dl23_llmjudge: not found in {options.data}", file=sys.stderr)
    print("| stream | topics | items | labels | left | fixed left | at the end | width | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name, maker in makers.items():
        rng = np.random.default_rng(19)
        streams = [maker(rng) for _ in range(options.streams)]
        print(row(name, [watch(one) for one in streams], streams[0]))


if __name__ == "__main__":
    main()
