"""Coverage of corrected scores: tables of docs/benchmarks/corrected-scores.md.

    python -m benchmarks.pages.corrected DATA [--draws 400] [--share 0.1]

DATA holds folders of judged data, laid out as that page says; those that are missing are left out.
Every item there has a human label. A share of those is drawn at random within each
topic, again and again, and what comes out is compared with the score by all labels.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any

import numpy as np

from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.metrics.answer_scores import scale_gains
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.metrics.label_agreement import agreement
from nuggetjudge.metrics.ppi import (
    Moments,
    Sample,
    estimate,
    interval_like_these,
    interval_of_these,
    moments,
    sample,
)
from nuggetjudge.records.rows import nugget_ids

SCALE = ("0", "1", "2", "3")
GROUPS = 3  # of judges, by kappa


@dataclass(frozen=True)
class Outcome:
    """One corrected score of one draw, compared with the score by all labels."""

    holds_these: bool  # its interval of these topics holds that score
    holds_like: bool  # so does the one for topics like these
    human_holds: bool  # so does the one of these topics by the drawn labels alone
    width_these: float  # of the interval of these topics, over that by labels alone
    width_like: float
    judged_error: float  # how far off the judge's score is
    corrected_error: float
    human_error: float


def outcome(sample: Sample, lam: float, truth: float) -> Outcome:
    """Compare one sample's estimates with the truth."""
    corrected, human = estimate(sample, lam), estimate(sample, 0.0)
    these, alone = interval_of_these(corrected), interval_of_these(human)
    like, like_alone = interval_like_these(corrected), interval_like_these(human)
    judged = float(sample.weights @ sample.judged)
    return Outcome(
        _holds(these, truth),
        _holds(like, truth),
        _holds(alone, truth),
        _width(these) / _width(alone),
        _width(like) / _width(like_alone),
        abs(judged - truth),
        abs(corrected.value - truth),
        abs(human.value - truth),
    )


@dataclass(frozen=True)
class Graded:
    """Pairs graded by people and by many judges."""

    topics: np.ndarray  # (n,) place of the topic
    human: np.ndarray  # (n,) grade 0-3
    judges: dict[str, np.ndarray]  # (n,) each

    def kappa(self, judge: str) -> float:
        """Cohen's kappa of one judge, over all pairs."""
        human, judged = ([SCALE[g] for g in of] for of in (self.human, self.judges[judge]))
        kappa = agreement(human, judged, SCALE).cohen_kappa["unweighted"]
        assert kappa is not None, "people and judges gave more than one grade here"
        return kappa


def read_graded(data: Path) -> Graded | None:
    """The pairs of dl23_llmjudge; None where that folder is absent."""
    if not (data / "dl23_llmjudge").is_dir():
        return None
    rows = list(_lines(data / "dl23_llmjudge" / "pairs.jsonl"))
    _, topics = np.unique([row["qid"] for row in rows], return_inverse=True)
    # One judge gave one 5.
    judges = {name: np.array([min(row["llm"][name], 3) for row in rows]) for name in rows[0]["llm"]}
    return Graded(topics, np.array([row["relevance"] for row in rows]), judges)


def graded_outcomes(
    pairs: Graded, judges: Sequence[str], share: float, draws: int, seed: int = 0
) -> dict[tuple[str, str], list[Outcome]]:
    """(judge, measure) -> an outcome for each draw of that share of the labels."""
    rng = np.random.default_rng(seed)
    n_topics = int(pairs.topics.max()) + 1
    weights = 1 / (np.bincount(pairs.topics)[pairs.topics] * n_topics)
    outcomes: dict[tuple[str, str], list[Outcome]] = {}
    for _ in range(draws):
        drawn = draw(pairs.topics, share, rng)
        for measure, gains in scale_gains(SCALE).items():
            gain = np.array([gains[label] for label in SCALE])
            human = np.where(drawn, gain[pairs.human], np.nan)
            truth = float(weights @ gain[pairs.human])
            for judge in judges:
                one = sample(gain[pairs.judges[judge]], human, weights, pairs.topics)
                of_judge = outcomes.setdefault((judge, measure), [])
                of_judge.append(outcome(one, moments(one).lam, truth))
    return outcomes


def draw(topics: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    """(n,) which items have a label: at random, this share of each topic's, 2 at least."""
    drawn = np.zeros(len(topics), dtype=bool)
    for topic in np.unique(topics):
        items = np.flatnonzero(topics == topic)
        drawn[rng.choice(items, max(2, round(share * len(items))), replace=False)] = True
    return drawn


@dataclass(frozen=True)
class Assigned:
    """The vital nuggets of TREC 2024 answers, by NIST assessors and by the lexical judge."""

    runs: np.ndarray  # (n,) place of the run
    topics: np.ndarray  # (n,) place of the topic
    human: np.ndarray  # (n,) 1 = support
    judged: np.ndarray  # (n,) 1 = support
    weights: np.ndarray  # (n,) in V_strict, over the topics of the folder


def read_assigned(data: Path) -> Assigned | None:
    """The nuggets of rag24_nuggets; None where that folder is absent."""
    if not (data / "rag24_nuggets").is_dir():
        return None
    rows: list[tuple[str, str, bool, bool, float]] = []
    for row in _lines(data / "rag24_nuggets" / "nugget_assignments.jsonl"):
        nuggets = [nugget for nugget in row["nuggets"] if nugget["importance"] == "vital"]
        texts = dict(zip(nugget_ids([n["text"] for n in nuggets]), nuggets, strict=True))
        inputs = {
            "answer": row["answer_text"],
            "nuggets": {name: nugget["text"] for name, nugget in texts.items()},
        }
        verdicts = lexical.assign_nuggets(inputs)["verdicts"]
        for name, nugget in texts.items():
            judged = getattr(verdicts[name], "label", verdicts[name]) == "support"
            human = nugget["assignment"] == "support"
            rows.append((row["run_id"], row["qid"], human, judged, 1 / len(nuggets)))
    runs, topics, human, judged, weights = (np.array(column) for column in zip(*rows, strict=True))
    _, run_at = np.unique(runs, return_inverse=True)
    names, topic_at = np.unique(topics, return_inverse=True)
    return Assigned(run_at, topic_at, human * 1.0, judged * 1.0, weights / len(names))


def assigned_outcomes(
    nuggets: Assigned, share: float, draws: int, seed: int = 0, least: int = 20
) -> list[Outcome]:
    """An outcome in V_strict for each draw and each run with that many labels in 5 topics."""
    rng = np.random.default_rng(seed)
    n_topics = int(nuggets.topics.max()) + 1
    items = np.bincount(nuggets.topics)[nuggets.topics]
    outcomes = []
    for _ in range(draws):
        drawn = draw(nuggets.topics, share, rng)
        labels = np.bincount(nuggets.topics, drawn).astype(np.int64)[nuggets.topics]
        samples = []
        for run in range(int(nuggets.runs.max()) + 1):
            on = nuggets.runs == run
            human = np.where(drawn, nuggets.human, np.nan)[on]
            labelled = ~np.isnan(human)
            has_both = len(set(human[labelled])) == 2
            enough = labelled.sum() >= least and len(set(nuggets.topics[on][labelled])) >= 5
            if has_both and enough:
                of_run = (nuggets.weights[on], nuggets.topics[on], n_topics, nuggets.topics[on])
                one = Sample(nuggets.judged[on], human, *of_run, labels[on], items[on])
                samples.append((one, float(nuggets.weights[on] @ nuggets.human[on])))
        lam = reduce(add, (moments(one) for one, _ in samples), Moments(0.0, 0.0, 0.0)).lam
        outcomes += [outcome(one, lam, truth) for one, truth in samples]
    return outcomes


def mean(outcomes: Sequence[Outcome], figure: str) -> float:
    """The mean of one field; of yes and no, the share of yes."""
    return float(np.mean([getattr(one, figure) for one in outcomes]))


def _holds(interval: Interval, truth: float) -> bool:
    low, high = _bounds(interval)
    return low <= truth <= high


def _width(interval: Interval) -> float:
    low, high = _bounds(interval)
    return high - low


def _bounds(interval: Interval) -> tuple[float, float]:
    if interval.low is None or interval.high is None:
        raise ValueError("no interval: a topic has less than 2 labels")
    return interval.low, interval.high


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _graded_table(pairs: Graded, share: float, draws: int) -> None:
    ranked = sorted(pairs.judges, key=pairs.kappa, reverse=True)
    outcomes = graded_outcomes(pairs, ranked, share, draws)
    n, size = len(pairs.human), len(ranked) // GROUPS
    print(f"{len(ranked)} judges of {n:,} pairs, {share:.0%} of the labels, {draws} draws\n")
    print("| judges | kappa | measure | these topics | like these | labels alone | width | like |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    groups = [ranked[i * size : (i + 1) * size if i < GROUPS - 1 else None] for i in range(GROUPS)]
    for name, judges in (*zip(("best", "middle", "worst"), groups, strict=True), ("all", ranked)):
        kappas = [pairs.kappa(judge) for judge in judges]
        for measure in (*scale_gains(SCALE), "all"):
            chosen = [
                one
                for judge in judges
                for m in scale_gains(SCALE)
                if measure in (m, "all")
                for one in outcomes[judge, m]
            ]
            shares = [mean(chosen, f) for f in ("holds_these", "holds_like", "human_holds")]
            widths = [mean(chosen, f) for f in ("width_these", "width_like")]
            cells = [f"{len(judges)} {name}", f"{min(kappas):.2f} to {max(kappas):.2f}", measure]
            cells += [f"{x:.1%}" for x in shares] + [f"{x:.2f}" for x in widths]
            print("| " + " | ".join(cells) + " |")


def _assigned_table(nuggets: Assigned, draws: int) -> None:
    n_runs = int(nuggets.runs.max()) + 1
    print(f"\nV_strict of {n_runs} runs, {len(nuggets.human):,} vital nuggets, {draws} draws\n")
    print("| labels | scores | these topics | width | error: judged | corrected | labels alone |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    for share in (0.2, 0.3, 0.5):
        outcomes = assigned_outcomes(nuggets, share, draws)
        cells = [f"{share:.0%}", f"{len(outcomes):,}", f"{mean(outcomes, 'holds_these'):.1%}"]
        figures = ("width_these", "judged_error", "corrected_error", "human_error")
        cells += [f"{mean(outcomes, figure):.3f}" for figure in figures]
        print("| " + " | ".join(cells) + " |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    parser.add_argument("--draws", type=int, default=400, help="random draws of the labels")
    parser.add_argument("--share", type=float, default=0.1, help="of the labels of each topic")
    options = parser.parse_args(arguments)
    pairs, nuggets = read_graded(options.data), read_assigned(options.data)
    if pairs is not None:
        _graded_table(pairs, options.share, options.draws)
    if nuggets is not None:
        _assigned_table(nuggets, options.draws)
    for name, data in (("dl23_llmjudge", pairs), ("rag24_nuggets", nuggets)):
        if data is None:
            print(f"{name}: not found in {options.data}", file=sys.stderr)


if __name__ == "__main__":
    main()
