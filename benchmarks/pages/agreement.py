"""What agreement looks like on published data: the tables of docs/benchmarks/agreements.md.

    python -m benchmarks.pages.agreement DATA

DATA holds folders of judged data, laid out as that page says; those that are missing are left out.
Intervals are drawn by topic, 1000 samples, seed 0.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from nuggetjudge.metrics import agreement, reliability, taus
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.metrics.label_agreement import agreement_intervals, reliability_intervals

GRADES = tuple("012345")  # 0-3 are the scale; one judge gave a 5


def judges(pairs: Path) -> Iterator[tuple[str, int, Interval, Interval]]:
    """Recorded relevance judges against people, best first: name, n, kappa, ordinal alpha."""
    rows = list(_rows(pairs))
    truth, topics = [str(row["relevance"]) for row in rows], [row["qid"] for row in rows]
    by_judge = []
    for name in rows[0]["llm"]:
        judged = [str(row["llm"][name]) for row in rows]
        pair = agreement(truth, judged, GRADES)
        intervals = agreement_intervals(pair, truth, judged, topics)
        by_judge.append(
            (name, pair.n, intervals["cohen_kappa"]["unweighted"], intervals["alpha"]["ordinal"])
        )
    yield from sorted(by_judge, key=lambda row: -(row[2].value or 0.0))


def annotators(labels: Path) -> tuple[int, dict[str, Interval]]:
    """Three people on whether a report answers a question: n items, and figures by name."""
    rows = list(_rows(labels))
    ratings = [[str(row[name]) for row in rows] for name in ("a1", "a2", "a3")]
    among = reliability(ratings, ["0", "1"])
    topics = [row["qid"] for row in rows]
    intervals = reliability_intervals(among, ratings, ["0", "1"], topics)
    figures = {"Fleiss kappa": intervals["fleiss_kappa"], "AC1": intervals["ac1"]}
    return among.n_items, figures | {"mean Cohen kappa": intervals["pairwise_kappa"]["unweighted"]}


def leaderboards(published: Path) -> Iterator[tuple[str, int, float, float]]:
    """Two published tables of run scores: measure, n runs in both, tau-b, tau_ap."""
    rows = list(_rows(published))
    for measure in ("V_strict", "A"):
        manual, automatic = (
            {row["run_id"]: row[measure] for row in rows if row["table"] == table}
            for table in (6, 7)
        )
        coefficients = taus({}, {}, truth_runs=manual, judged_runs=automatic)
        of_runs = coefficients.coefficients["run_level"]
        yield (
            measure,
            coefficients.n_runs,
            of_runs["tau_b"].value or 0.0,
            of_runs["tau_ap"].value or 0.0,
        )


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    if (path := data / "dl23_llmjudge" / "pairs.jsonl").is_file():
        print("| judge | n | Cohen kappa | ordinal alpha |\n|---|---:|---|---|")
        for name, n, kappa, alpha in judges(path):
            print(f"| {name} | {n:,} | {_shown(kappa)} | {_shown(alpha)} |")
    if (path := data / "crux_duc" / "human_t1.jsonl").is_file():
        n_items, figures = annotators(path)
        print("\n| three annotators | n | value |\n|---|---:|---|")
        for name, figure in figures.items():
            print(f"| {name} | {n_items:,} | {_shown(figure)} |")
    if (path := data / "rag24_nuggets" / "published_run_scores.jsonl").is_file():
        print("\n| Table 6 against Table 7 | runs | tau-b | tau_ap |\n|---|---:|---:|---:|")
        for measure, n_runs, tau_b, tau_ap in leaderboards(path):
            print(f"| {measure} | {n_runs} | {tau_b:.3f} | {tau_ap:.3f} |")


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _shown(interval: Interval) -> str:
    return f"{interval.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


if __name__ == "__main__":
    main()
