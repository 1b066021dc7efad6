"""What labels of the judged topic buy: the table of docs/trust/calibration.md.

    python -m benchmarks.pages.topic DATA

DATA holds folders of judged data, laid out as docs/lexical.md says; those that are missing are
left out. Each topic is judged by what was fitted on all other topics, cut included, and on a few
labels of its own, drawn at random; kappa (Cohen's, unweighted, best label against the rest) is
over the pairs of all topics that gave no label, its mean over the draws.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any, NamedTuple

import numpy as np

from nuggetjudge.calibration.threshold import fit_cuts
from nuggetjudge.calibration.topic import add_topics, fit_topics
from nuggetjudge.judges.fitted.correction import Correction, OrdinalCurve
from nuggetjudge.judges.lexical import nuggets_and_citations as lexical
from nuggetjudge.judges.lexical.answers import answer_overlap
from nuggetjudge.judges.lexical.overlap import weighted_overlap, word_weights
from nuggetjudge.metrics.agreement.pairs import agreement

DRAWS = 50
LABELLED = (10, 40)  # labels of each judged topic


class Pair(NamedTuple):
    """One question to people: is `needed` in `held`?"""

    topic: str
    needed: str
    held: str
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
        said_yes: lowest and highest share of a topic's pairs that people said yes to.
        spread: standard deviation of the topics' shifts in logits, mean over the fits.
    """

    n: int
    n_topics: int
    plain: float
    weighted: float
    pooled: dict[int, list[float]]
    said_yes: tuple[float, float]
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
    weights = word_weights(pair.held for pair in pairs)
    plain = Scored(np.array([row.plain(p.needed, p.held) for p in pairs]), labels, topics)
    scores = np.array([weighted_overlap(p.needed, p.held, weights) for p in pairs])
    weighted = Scored(scores, labels, topics)
    smallest = np.unique(topics, return_counts=True)[1].min()
    fitted = {}
    for topic in np.unique(topics):
        rest = weighted.at(topics != topic)
        fitted[topic] = fit_topics(rest.scores, rest.labels, rest.topics.tolist(), 2)
    pooled = {
        m: [_pooled(weighted, fitted, m, seed) for seed in range(draws if m else 1)]
        for m in (0, *LABELLED)
        if smallest >= m + 10
    }
    shares = [labels[topics == topic].mean() for topic in fitted]
    return Measured(
        n=len(pairs),
        n_topics=len(fitted),
        plain=_cut(plain),
        weighted=_cut(weighted),
        pooled=pooled,
        said_yes=(min(shares), max(shares)),
        spread=mean(_spread(correction) for correction in fitted.values()),
    )


def _spread(correction: Correction) -> float:
    assert isinstance(correction.curve, OrdinalCurve)
    assert correction.spread is not None
    return correction.spread * correction.curve.slope


def _cut(items: Scored) -> float:
    """Kappa of a cut that was chosen on the other topics."""
    judged = np.zeros(len(items.labels), dtype=bool)
    for topic in np.unique(items.topics):
        others = items.at(items.topics != topic)
        (cut,), _ = fit_cuts(others.scores, others.labels, 2)
        judged |= (items.topics == topic) & (items.scores >= cut)
    return _kappa(items.labels, judged)


def _pooled(items: Scored, fitted: dict[str, Correction], m: int, seed: int) -> float:
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
        places = [correction.position(score, topic) for score in rest.scores]
        truth += rest.labels.tolist()
        judged += [place >= correction.cuts[0] for place in places]
    return _kappa(truth, judged)


def _kappa(truth: Sequence[int] | np.ndarray, judged: Sequence[bool] | np.ndarray) -> float:
    names = ["no", "yes"]
    found = agreement([names[int(x)] for x in truth], [names[int(x)] for x in judged], names)
    kappa = found.cohen_kappa["unweighted"]
    assert kappa is not None, "every set here has both labels"
    return kappa


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _support(folder: Path, *, first_only: bool = False) -> Iterator[Pair]:
    passages = {row["docid"]: row["text"] for row in _lines(folder / "passages.jsonl")}
    for row in _lines(folder / "pairs.jsonl"):
        wanted = row["citation_idx"] == 0 or not first_only
        if wanted and row["condition"].startswith("from_scratch"):
            yield Pair(row["topic_id"], row["sentence"], passages[row["docid"]], row["label"] == 2)


def _nuggets(folder: Path) -> Iterator[Pair]:
    for row in _lines(folder / "nugget_assignments.jsonl"):
        for nugget in row["nuggets"]:
            label = nugget["assignment"] == "support"
            yield Pair(row["qid"], nugget["text"], row["answer_text"], label)


def _answerable(folder: Path) -> Iterator[Pair]:
    reports = {row["report_id"]: row["text"] for row in _lines(folder / "reports.jsonl")}
    for row in _lines(folder / "human_t1.jsonl"):
        yield Pair(row["qid"], row["question"], reports[row["report_id"]], row["majority"] == 1)


def _attributable(folder: Path) -> Iterator[Pair]:
    for row in _lines(folder / "claims.jsonl"):
        yield Pair(row["source"], row["claim"], "\n".join(row["references"]), row["label"] == 1)


def _answers(needed: str, held: str) -> float:
    return answer_overlap(needed, held, {})


def _words(needed: str, held: str) -> float:
    return lexical.recall(lexical.content_words(needed), lexical.content_words(held))


ROWS = (
    Row("rag24_support from scratch", "full or not", _support, lexical.carried),
    Row(
        "rag24_support first citation",
        "full or not",
        partial(_support, first_only=True),
        lexical.carried,
    ),
    Row("rag24_nuggets", "support or not", _nuggets, _words),
    Row("crux_duc task 1", "answered by the report or not", _answerable, _answers),
    Row("attributionbench by source", "attributable or not", _attributable, lexical.carried),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    asked = "".join(f" {m} labels |" for m in (0, *LABELLED))
    print(f"| data | n | topics | yes | spread | plain, cut | weighted, cut |{asked}")
    print("|---|" + "---:|" * (6 + 1 + len(LABELLED)))
    for row in ROWS:
        found = measure(row, data)
        if found is None:
            print(f"{row.name}: not found in {data}", file=sys.stderr)
            continue
        low, high = found.said_yes
        cells = [f"{row.name}: {row.question}", f"{found.n:,}", str(found.n_topics)]
        cells += [f"{low:.0%}-{high:.0%}", f"{found.spread:.2f}"]
        cells += [f"{found.plain:.3f}", f"{found.weighted:.3f}"]
        cells += [_shown(found.pooled.get(m, [])) for m in (0, *LABELLED)]
        print("| " + " | ".join(cells) + " |")


def _shown(kappas: Sequence[float]) -> str:
    """Mean and standard deviation over the draws."""
    if not kappas:
        return "–"
    return f"{mean(kappas):.3f}" + (f" ± {stdev(kappas):.3f}" if len(kappas) > 1 else "")


if __name__ == "__main__":
    main()
