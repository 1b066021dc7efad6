"""What labels of the judged topic buy: the table of docs/benchmarks/fits.md.

    python -m benchmarks.pages.topic DATA

DATA holds folders of judged data (docs/benchmarks/data.md); those that are missing are
left out. Each topic is judged by what was fitted on all other topics, cut included, and on a few
labels of its own, drawn at random; kappa (Cohen's, unweighted, best label against the rest) is
over the pairs of all topics that gave no label, its mean over the draws.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import NamedTuple

import numpy as np

from nuggetjudge.calibration.fits import add_topics, fit_topics
from nuggetjudge.calibration.threshold import fit_cuts
from nuggetjudge.judges.fitted import Correction, OrdinalCurve
from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.judges.lexical.overlap import weigh_overlap, word_weights
from nuggetjudge.judges.lexical.questions import answer_overlap
from nuggetjudge.metrics.label_agreement import agreement

from ..study.sets import CRUX_REPORTS, TREC_NUGGETS, TREC_SUPPORT, JudgedSet, lines

DRAWS = 50
LABELLED = (10, 40)  # labels of each judged topic


class Pair(NamedTuple):
    """One question to people: is `needed` in `source`?"""

    topic: str
    needed: str
    source: str
    label: bool


@dataclass(frozen=True)
class Row:
    """A set of pairs, and the score that the lexical judge goes by without fitting."""

    name: str
    question: str
    pairs: Callable[[Path], Iterable[Pair]]
    plain: Callable[[str, str], float]


@dataclass(frozen=True)
class Measured:
    """Kappas in [-1, 1], of each topic judged by the others.

    Attributes:
        n, n_topics: pairs and topics.
        plain: a cut on the score of the lexical judge.
        weighted: a cut on the weighted score.
        pooled: labels of the judged topic -> the weighted score, moved by topic, by draw; none
            where a topic has fewer than 10 pairs more than that.
        yes_shares: lowest and highest share of a topic's pairs that people said yes to.
        spread: standard deviation of the topics' shifts in logits, mean over the fits.
    """

    n: int
    n_topics: int
    plain: float
    weighted: float
    pooled: dict[int, list[float]]
    yes_shares: tuple[float, float]
    spread: float


class Scored(NamedTuple):
    """(n,) arrays."""

    scores: np.ndarray
    labels: np.ndarray
    topics: np.ndarray

    def at(self, where: np.ndarray) -> Scored:
        """The items there."""
        return Scored(*(column[where] for column in self))


def measure(row: Row, data: Path, draws: int = DRAWS) -> Measured | None:
    """One line of the table; None where its data is absent."""
    if not (data / row.name.split()[0]).is_dir():
        return None
    pairs = list(row.pairs(data / row.name.split()[0]))
    labels = np.array([pair.label for pair in pairs], dtype=np.int64)
    topics = np.array([pair.topic for pair in pairs])
    weights = word_weights(pair.source for pair in pairs)
    plain = Scored(np.array([row.plain(p.needed, p.source) for p in pairs]), labels, topics)
    scores = np.array([weigh_overlap(p.needed, p.source, weights) for p in pairs])
    weighted = Scored(scores, labels, topics)
    smallest = np.unique(topics, return_counts=True)[1].min()
    fitted = {}
    for topic in np.unique(topics):
        rest = weighted.at(topics != topic)
        fitted[topic] = fit_topics(rest.scores, rest.labels, rest.topics.tolist(), 2)
    pooled = {
        m: [judge_by_few_labels(weighted, fitted, m, seed) for seed in range(draws if m else 1)]
        for m in (0, *LABELLED)
        if smallest >= m + 10
    }
    shares = [labels[topics == topic].mean() for topic in fitted]
    return Measured(
        n=len(pairs),
        n_topics=len(fitted),
        plain=judge_by_other_topics(plain),
        weighted=judge_by_other_topics(weighted),
        pooled=pooled,
        yes_shares=(min(shares), max(shares)),
        spread=mean(_spread(correction) for correction in fitted.values()),
    )


def _spread(correction: Correction) -> float:
    assert isinstance(correction.curve, OrdinalCurve)
    assert correction.spread is not None
    return correction.spread * correction.curve.slope


def judge_by_other_topics(items: Scored) -> float:
    """Kappa of a cut that was chosen on the other topics."""
    judged = np.zeros(len(items.labels), dtype=bool)
    for topic in np.unique(items.topics):
        others = items.at(items.topics != topic)
        (cut,), _ = fit_cuts(others.scores, others.labels, 2)
        judged |= (items.topics == topic) & (items.scores >= cut)
    return _kappa(items.labels, judged)


def judge_by_few_labels(items: Scored, fitted: dict[str, Correction], m: int, seed: int) -> float:
    """Kappa over the items that gave no label, m of which were drawn from each topic."""
    rng = np.random.default_rng(seed)
    truth: list[int] = []
    judged: list[bool] = []
    for topic, correction in fitted.items():
        order = rng.permutation(np.flatnonzero(items.topics == topic))
        if m:
            few = items.at(order[:m])
            correction = add_topics(correction, few.scores, few.labels, few.topics.tolist())
        rest = items.at(order[m:])
        assert correction.cuts is not None
        positions = [correction.position(score, topic) for score in rest.scores]
        truth += rest.labels.tolist()
        judged += [position >= correction.cuts[0] for position in positions]
    return _kappa(truth, judged)


def _kappa(truth: Sequence[int] | np.ndarray, judged: Sequence[bool] | np.ndarray) -> float:
    names = ["no", "yes"]
    figures = agreement([names[int(x)] for x in truth], [names[int(x)] for x in judged], names)
    kappa = figures.cohen_kappa["unweighted"]
    assert kappa is not None, "every set here has both labels"
    return kappa


def _pairs(of: JudgedSet, *, first_only: bool = False) -> Callable[[Path], Iterator[Pair]]:
    """Of a judged set, the first of a judge's inputs being looked for in another.

    `first_only`: first citations, which alone have a weight.
    """

    def pairs(folder: Path) -> Iterator[Pair]:
        needed, source = _INPUTS[of.judge]
        for item in of.read(folder):
            if item.weight or not first_only:
                label = item.label == of.questions[0].people
                yield Pair(item.ids["topic_id"], item.inputs[needed], item.inputs[source], label)

    return pairs


def _attributable(folder: Path) -> Iterator[Pair]:
    for row in lines(folder / "claims.jsonl"):
        yield Pair(row["source"], row["claim"], "\n".join(row["references"]), row["label"] == 1)


def _answers(needed: str, source: str) -> float:
    return answer_overlap(needed, source, {})


def _words(needed: str, source: str) -> float:
    return lexical.recall(lexical.content_words(needed), lexical.content_words(source))


# What is looked for, and where, by judge.
_INPUTS = {
    "support": ("sentence", "passage"),
    "assigner": ("nugget", "answer"),
    "answerability": ("question", "context"),
}
ROWS = (
    Row("rag24_support from scratch", "full or not", _pairs(TREC_SUPPORT), lexical.measure_support),
    Row(
        "rag24_support first citation",
        "full or not",
        _pairs(TREC_SUPPORT, first_only=True),
        lexical.measure_support,
    ),
    Row("rag24_nuggets", "support or not", _pairs(TREC_NUGGETS), _words),
    Row("crux_duc task 1", "answered by the report or not", _pairs(CRUX_REPORTS), _answers),
    Row(
        "attributionbench by source", "attributable or not", _attributable, lexical.measure_support
    ),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    columns = "".join(f" {m} labels |" for m in (0, *LABELLED))
    print(f"| data | n | topics | yes | spread | plain, cut | weighted, cut |{columns}")
    print("|---|" + "---:|" * (6 + 1 + len(LABELLED)))
    for row in ROWS:
        measured = measure(row, data)
        if measured is None:
            print(f"{row.name}: not found in {data}", file=sys.stderr)
            continue
        low, high = measured.yes_shares
        cells = [f"{row.name}: {row.question}", f"{measured.n:,}", str(measured.n_topics)]
        cells += [f"{low:.0%}-{high:.0%}", f"{measured.spread:.2f}"]
        cells += [f"{measured.plain:.3f}", f"{measured.weighted:.3f}"]
        cells += [_shown(measured.pooled.get(m, [])) for m in (0, *LABELLED)]
        print("| " + " | ".join(cells) + " |")


def _shown(kappas: Sequence[float]) -> str:
    """Mean and standard deviation over the draws."""
    if not kappas:
        return "–"
    return f"{mean(kappas):.3f}" + (f" ± {stdev(kappas):.3f}" if len(kappas) > 1 else "")


if __name__ == "__main__":
    main()
