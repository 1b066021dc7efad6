"""Coverage on CRUX-DUC with recorded ratings: the tables of docs/benchmarks/crux-duc.md.

    python -m benchmarks.pages.crux DATA

DATA holds the folder crux_duc, laid out as docs/benchmarks/crux-duc.md says. No model is asked: the
ratings are those of an LLM that others ran.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from nuggetjudge.judges import AnswerabilityGrader
from nuggetjudge.metrics import Reliability, reliability, spearman
from nuggetjudge.metrics.coverage import coverage
from nuggetjudge.programs.analysis.coverage_tables import by_eta, by_k, measure_taus
from nuggetjudge.programs.config.sections import CoverageConfig
from nuggetjudge.programs.inputs import ORACLE_CONTEXT
from nuggetjudge.programs.protocols.coverage.topic import TopicView, coverage_rows
from nuggetjudge.records.questions import reference_id
from nuggetjudge.records.rows import ScoreRow

from .crux_duc import (
    ENDS,
    SETTINGS,
    STEPS,
    Duc,
    grade_counts,
    labelled_runs,
    read_duc,
    removed_questions,
    replay,
    ties,
)

ANNOTATORS = ("a1", "a2", "a3")
MEASURES = ("coverage", "alpha_ndcg@10", "alpha_ndcg_required@10", "redundancy")


def reference_coverage(duc: Duc) -> dict[str, tuple[float, int, int]]:
    """Mean coverage of the reference summaries, topics, questions: of all, of the answerable."""
    rows = {}
    for name in ("all questions", "answerable questions"):
        values, n = [], 0
        for topic in duc.queries:
            view = TopicView(duc.data, topic, SETTINGS)
            of = view.answerable if name.startswith("answerable") else np.ones_like(view.answerable)
            value = coverage(view.matrix([reference_id(topic)]), of, SETTINGS.eta)
            assert value.value is not None
            values.append(value.value)
            n += int(of.sum())
        rows[name] = math.fsum(values) / len(values), len(values), n
    return rows


def run_scores(duc: Duc, settings: CoverageConfig) -> dict[str, dict[str, ScoreRow]]:
    """Run -> measure -> mean row, the oracle `Z*` among the runs."""
    rows: dict[str, dict[str, ScoreRow]] = {}
    for row in coverage_rows(duc.data, settings):
        if row.topic_id == "all":
            rows.setdefault(row.run_id, {})[row.measure] = row
    return rows


def human_coverage(duc: Duc) -> dict[str, dict[str, float]]:
    """Report -> majority, a1, a2, a3 -> share of its questions that are answered."""
    return {
        report: {
            who: sum(row[who] for row in rows) / len(rows) for who in ("majority", *ANNOTATORS)
        }
        for report, rows in duc.labels.items()
    }


def annotators(duc: Duc) -> Reliability:
    """Agreement of the three annotators over all items."""
    rows = [row for rows in duc.labels.values() for row in rows]
    return reliability([[str(row[who]) for row in rows] for who in ANNOTATORS], ["0", "1"])


def lexical_coverage(duc: Duc) -> dict[str, float]:
    """Report -> share of its labelled questions that it answers by the lexical judge."""
    judge = AnswerabilityGrader(model="lexical")
    shares = {}
    for report, rows in duc.labels.items():
        text = duc.reports[report]["text"]
        grades = [judge(question=row["question"], context=text).grade for row in rows]
        shares[report] = sum(grade >= SETTINGS.eta for grade in grades) / len(rows)
    return shares


def spearmans(duc: Duc) -> dict[str, float | None]:
    """Lexical coverage of reports against that by each annotator, and by their majority."""
    people, judged = human_coverage(duc), lexical_coverage(duc)
    return {
        who: spearman([people[report][who] for report in people], list(judged.values()))
        for who in ("majority", *ANNOTATORS)
    }


def _print_reference(duc: Duc) -> None:
    print("| reference summaries, rating >= 3 | topics | questions | mean coverage |")
    print("|---|---:|---:|---:|")
    for name, (value, n_topics, n) in reference_coverage(duc).items():
        print(f"| {name} | {n_topics} | {n} | {value:.4f} |")


def _print_required(duc: Duc) -> None:
    replays = [replay(duc, topic) for topic in duc.queries]
    equal = [one for one in replays if one.ours == one.theirs]
    print(f"\nP** of {len(replays)} topics: equal in {len(equal)}\n")
    print("| topic | passages | rated | P** ours | published | same start | then | end | covered |")
    print("|---|---:|---:|---:|---:|---:|---|---|---:|")
    for one in replays:
        cells = [one.topic, one.n_passages, one.n_rated, len(one.ours), len(one.theirs)]
        cells += [one.n_same, one.then, one.end]
        print("| " + " | ".join(map(str, cells)) + f" | {one.covered:.3f} |")
    steps, first = (
        Counter(s for one in replays for s in one.steps),
        Counter(o.then for o in replays),
    )
    print(f"\n| of the {steps.total()} published passages | n | first to differ |\n|---|---:|---:|")
    for step, meaning in STEPS.items():
        print(f"| {step}: {meaning} | {steps[step]} | {first[step]} |")
    ends = Counter(one.end for one in replays)
    print("\n| of the topics | n | first to differ |\n|---|---:|---:|")
    for end, meaning in ENDS.items():
        n_first = sum(one.then == "ends" and one.end == end for one in replays)
        print(f"| {end}: {meaning} | {ends[end]} | {n_first} |")
    n_ties, n_first, chance = ties(replays)
    print(
        f"\nSteps with a tie: {n_ties}; first in natural order: {n_first} ({chance:.1f} by chance)"
    )
    removed = removed_questions(duc)
    print(f"Taken out of task 1: {len(removed)} questions, {sum(removed.values())} answerable here")
    print("\n| grades of the pools | 3 | 2 | 1 | 0 |\n|---|---:|---:|---:|---:|")
    for rule, counts in grade_counts(duc).items():
        print(f"| {rule} | " + " | ".join(str(counts[grade]) for grade in (3, 2, 1, 0)) + " |")


def _print_runs(duc: Duc) -> None:
    for own_only, which in ((False, "all rated passages"), (True, "passages of own topics alone")):
        scores = run_scores(duc, SETTINGS.model_copy(update={"own_only": own_only}))
        print(f"\n| {which}, first {SETTINGS.k} | " + " | ".join(MEASURES) + " | n | unjudged |")
        print("|---|" + "---:|" * (len(MEASURES) + 2))
        for run, of in sorted(scores.items(), key=lambda item: item[0] != ORACLE_CONTEXT):
            if "coverage" in of:
                n, missing = of["coverage"].n, of["coverage"].n_unjudged
                cells = [_f(of[name].value) for name in MEASURES]
                print(f"| {run} | " + " | ".join(cells) + f" | {n:,} | {missing} |")


def _print_variants(duc: Duc) -> None:
    tables = (
        ("eta", by_eta(duc.data, SETTINGS)),
        ("k", by_k(duc.data, SETTINGS, (5, 10, 20, 50, 100), is_cut=False)),
    )
    for name, variants in tables:
        values = [getattr(variant.settings, name) for variant in variants]
        print(f"\n| coverage by {name} | " + " | ".join(map(str, values)) + " |")
        print("|---|" + "---:|" * len(values))
        for run in variants[0].contexts:
            means = [_f(variant.contexts[run].value) for variant in variants]
            print(f"| {run} | " + " | ".join(means) + " |")
        base = "eta 3" if name == "eta" else f"k {SETTINGS.k}"
        taus = [_f(variant.to_base.tau.value, 3) for variant in variants]
        print(f"| tau-b to {base}, {variants[0].to_base.n_runs} runs | " + " | ".join(taus) + " |")


def _print_people(duc: Duc) -> None:
    people, lexical = human_coverage(duc), lexical_coverage(duc)
    columns = ("majority", *ANNOTATORS)
    print("\n| report | questions | " + " | ".join(columns) + " | lexical |")
    print("|---|---:|" + "---:|" * (len(columns) + 1))
    for report, of in people.items():
        cells = [_f(of[who], 3) for who in columns] + [_f(lexical[report], 3)]
        print(f"| {report} | {len(duc.labels[report])} | " + " | ".join(cells) + " |")
    among = annotators(duc)
    print(f"\nFleiss kappa of {among.n_items} items: {_f(among.fleiss_kappa)}")
    print(f"\n| Spearman with lexical coverage, {len(people)} reports | rho |\n|---|---:|")
    for who, rho in spearmans(duc).items():
        print(f"| {who} | {_f(rho, 3)} |")


def _print_labelled(duc: Duc) -> None:
    data = labelled_runs(duc)
    (means,) = by_eta(data, SETTINGS, [SETTINGS.eta])
    print("\n| labelled runs | coverage of contexts | of reports, by people | unjudged |")
    print("|---|---|---|---:|")
    for run, row in means.contexts.items():
        report = means.reports[run]
        n_unjudged = (row.n_unjudged or 0) + (report.n_unjudged or 0)
        print(f"| {run} | {_bounded(row)} | {_bounded(report)} | {n_unjudged} |")
    print("\n| these contexts against these reports | runs | tau-b | unjudged |")
    print("|---|---:|---:|---:|")
    for name, taus in measure_taus(data, SETTINGS, resamples=0).items():
        print(f"| {name} | {taus.n_runs} | {_f(taus.tau.value, 3)} | {taus.n_unjudged} |")


def _bounded(row: ScoreRow) -> str:
    return f"{_f(row.value)} [{_f(row.low)}, {_f(row.high)}]"


def _f(value: float | None, digits: int = 4) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folder crux_duc")
    options = parser.parse_args(arguments)
    folder = options.data / "crux_duc"
    if not folder.is_dir():
        print(f"crux_duc: not found in {options.data}", file=sys.stderr)
        return
    duc = read_duc(folder)
    _print_reference(duc)
    _print_required(duc)
    _print_runs(duc)
    _print_variants(duc)
    _print_people(duc)
    _print_labelled(duc)


if __name__ == "__main__":
    main()
