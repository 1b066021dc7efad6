"""What published labels of LLM judges are worth: the tables of docs/benchmarks/published-judges.md.

    python -m benchmarks.study.real_judges DATA

DATA holds the folders summhay, wice and dl23_llmjudge (docs/benchmarks/data.md); those that
are missing are left out. No model is asked: the labels are those that came with the data.
Whatever is fitted or chosen is tested on other topics; intervals draw topics.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import reduce
from operator import add
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

import nuggetjudge as nj
from nuggetjudge.calibration.cascades import curve, get_confidences
from nuggetjudge.calibration.fits import add_topics, fit_topics
from nuggetjudge.calibration.juries import make_jury_report
from nuggetjudge.calibration.stored import read_stored
from nuggetjudge.metrics.inference import SIGNED_DIFFERENCE, jackknife_interval
from nuggetjudge.metrics.label_coefficients import cohen_kappa
from nuggetjudge.metrics.ppi import Moments, Sample, estimate, moments
from nuggetjudge.metrics.rank_correlation import kendall_tau
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.views.numbers import MISSING, format_bounds, format_share

from ..pages.corrected import draw
from ..pages.topic import Scored, judge_by_other_topics
from .__main__ import main as study
from .sets import DL23, SUMMHAY, WICE, Item, JudgedSet

SETS = (SUMMHAY, WICE, DL23)
SHOWN = {SUMMHAY.name: (0, 1, 2), WICE.name: (0, 2), DL23.name: (1, 2)}  # questions, by set
FIRST, NEXT = ("gpt-4o", "claude-3-opus"), "gemini-1.5-pro"  # of the cascade
SHARE, FEW, DRAWS = 0.4, 10, 50
MOST_ROWS = 8  # of more judges the best, the middle one and the worst
LABELLED = 0.3  # of each topic, in corrected scores
WANTED = {"sensitivity and specificity .8": "", "kappa .3": "kappa>=.3"}


class Judged(NamedTuple):
    """A set with the labels of each judge, by cell: the lexical baseline and the recorded ones."""

    of: JudgedSet
    items: list[Item]
    by_judge: dict[str, dict[tuple[str, ...], str | None]]
    figures: list[dict[str, Any]]  # of study.json, a row for each judge


def judge_sets(data: Path) -> dict[str, Judged]:
    """The sets that DATA has, judged by the lexical baseline, with the figures of a study."""
    there = [of for of in SETS if of.is_in(data)]
    with tempfile.TemporaryDirectory() as made:
        given = [str(data), "--model", "lexical", "--variants", "plain", "--out", made, "-q"]
        if there:
            with (
                contextlib.redirect_stdout(io.StringIO()),
                contextlib.redirect_stderr(io.StringIO()),
            ):
                study([*given, "--sets", ",".join(of.key for of in there)])
        found = {}
        for of in there:
            items = list(of.items(data))
            path = Path(made) / "parts" / of.key / "plain" / "labels.jsonl"
            labels = [row["label"] for row in map(json.loads, path.read_text().splitlines())]
            by_judge: dict[str, dict[tuple[str, ...], str | None]] = {
                "lexical": {i.cell: label for i, label in zip(items, labels, strict=True)}
            }
            for name in dict.fromkeys(name for item in items for name in item.recorded):
                by_judge[name] = {item.cell: item.recorded.get(name) for item in items}
            others = json.loads((Path(made) / "study.json").read_text())["others"]
            rows = [row for row in others if row["data"] == of.name]
            found[of.name] = Judged(of, items, by_judge, rows)
    return found


def _print_table(columns: Sequence[str], rows: Iterable[Sequence[str]], n_words: int = 1) -> None:
    print(f"| {' | '.join(columns)} |")
    print("|" + "---|" * n_words + "---:|" * (len(columns) - n_words))
    for row in rows:
        print(f"| {' | '.join(row)} |")
    print()


def _shown(value: float | None, low: float | None = None, high: float | None = None) -> str:
    if low is None or high is None:
        return format_share(value)
    return f"{format_share(value)} {format_bounds(low, high)}"


def _bounded(of: Mapping[str, Any] | None, *, signed: bool = False) -> str:
    if of is None or of["low"] is None:
        return MISSING if of is None else format_share(of["value"], signed=signed)
    bounds = format_bounds(of["low"], of["high"], signed=signed)
    return f"{format_share(of['value'], signed=signed)} {bounds}"


def agreement_rows(judged: Judged) -> Iterator[list[str]]:
    """A row for each judge and question, the best first; of many judges some."""
    for question in (judged.of.questions[i] for i in SHOWN[judged.of.name]):
        rows = [
            (row["model"], one)
            for row in judged.figures
            for one in row["questions"]
            if one["question"] == question.text
        ]
        rows.sort(key=lambda row: -(row[1]["kappa"]["value"] or 0.0))
        at = len(rows) // 2
        few = {name for name, _ in (*rows[:3], rows[at], rows[-1])} | {"lexical"}
        for name, one in rows:
            if len(rows) > MOST_ROWS and name not in few:
                continue
            cells = [f"{judged.of.name}, {one['question']}", name, f"{one['n']:,}"]
            less = None if name == "lexical" else one["minus_lexical"]
            cells += [_bounded(one["kappa"]), _bounded(less, signed=True)]
            keys = ("worst_recall", "rarest_recall", "tau_runs", "tau_topics", "yes")
            yield [*cells, *(format_share(one[key]) for key in keys)]


def jury_rows(judged: Judged, path: Path) -> Iterator[list[str]]:
    """What all recorded judges are worth together, by kappa."""
    _, report = make_jury_report(
        [path], Problems(), labels=path, where=None, kind=None, objective="kappa", draws={},
        votes="llm" if judged.of is DL23 else "votes",
    )  # fmt: skip
    worth, n = report["worth"], len(report["members"])
    for method in report["methods"]:
        if method["value"] is None or method["uses"] == "these":
            continue
        cells = [judged.of.name, method["name"], str(n), f"{worth['value']:.1f}"]
        yield [*cells, _bounded(method["value"]), _bounded(method["minus_chosen"], signed=True)]


def cascade_rows(path: Path) -> Iterator[list[str]]:
    """GPT-4o and Claude 3 Opus first, a share of the items to Gemini 1.5 Pro."""
    stored = read_stored(path, [path], Problems(), members=(*FIRST, NEXT))
    points = curve(stored, get_confidences(stored, "calibrated"), [0.0, SHARE], {})
    names = {"confidence": "the least confident", "random": "at random"}
    for point in points:
        if point.way in ("panel", f"random {FIRST[0]}") or (
            point.way == "random" and not point.share
        ):
            continue
        name = names.get(point.way, "all")
        name = name if point.share else "none"
        kappa, quadratic = point.kappa, point.quadratic
        yield [
            name,
            f"{point.share:.0%}",
            _shown(kappa.value, kappa.low, kappa.high),
            _shown(quadratic.value, quadratic.low, quadratic.high) if quadratic else MISSING,
            f"{point.calls:.1f}",
        ]


def few_labels_rows(judged: Judged) -> Iterator[list[str]]:
    """A cut of other topics, and 10 labels of each topic; of one judge, and of all as a jury."""
    scale, items = judged.of.scale, judged.items
    codes = {
        name: np.array([scale.index(labels[i.cell] or scale[0]) for i in items]) / (len(scale) - 1)
        for name, labels in judged.by_judge.items()
    }
    recorded = [codes[name] for name in codes if name != "lexical"]
    shown = {name: codes[name] for name in ("lexical", "claude-3-haiku", NEXT)}
    shown["mean of the 6 recorded judges"] = np.mean(recorded, 0)
    truth = np.array([int(item.label == scale[-1]) for item in items], np.int64)
    topics = np.array([item.ids["topic_id"] for item in items])
    for name, scores in shown.items():
        whole = Scored(scores, truth, topics)
        counts = _count_with_and_without(whole)  # draws, topics, both ways, people, judge
        total = counts.sum(1, keepdims=True)
        kappas = cohen_kappa(np.concatenate([total, total - counts], 1)).mean(0)  # all, less one
        value, *without = kappas[:, 1] - kappas[:, 0]
        moved = jackknife_interval(float(value), np.array(without), SIGNED_DIFFERENCE)
        cells = [name, format_share(judge_by_other_topics(whole))]
        cells += [format_share(float(kappa)) for kappa in kappas[0]]
        yield [*cells, _bounded(asdict(moved), signed=True)]


def _count_with_and_without(whole: Scored) -> np.ndarray:
    """People's answers by the judge's on items that gave no label: fits of others, and FEW labels.

    Returns: (draws, topics, 2, 2, 2) counts.
    """
    names = np.unique(whole.topics)
    counts = np.zeros((DRAWS, len(names), 2, 2, 2))
    for at, topic in enumerate(names):
        rest = whole.at(whole.topics != topic)
        fitted = fit_topics(rest.scores, rest.labels, rest.topics.tolist(), 2)
        own = whole.at(whole.topics == topic)
        for i in range(DRAWS):
            order = np.random.default_rng([i, at]).permutation(len(own.labels))
            few, others = own.at(order[:FEW]), own.at(order[FEW:])
            moved = add_topics(fitted, few.scores, few.labels, few.topics.tolist())
            for way, correction in enumerate((fitted, moved)):
                assert correction.cuts is not None
                yes = {
                    score: correction.position(score, str(topic)) >= correction.cuts[0]
                    for score in set(others.scores.tolist())
                }
                for label, score in zip(others.labels, others.scores.tolist(), strict=True):
                    counts[i, at, way, label, int(yes[score])] += 1
    return counts


def corrected_rows(judged: Judged, seed: int = 0) -> Iterator[list[str]]:
    """The order of the models that wrote the summaries: by a judge, corrected, by labels alone."""
    scale, items = judged.of.scale, judged.items
    gains = {label: i / (len(scale) - 1) for i, label in enumerate(scale)}
    _, topics = np.unique([item.ids["topic_id"] for item in items], return_inverse=True)
    writers, at = np.unique(
        [item.ids["run_id"].rpartition("_")[2] for item in items], return_inverse=True
    )
    cells = Counter(zip(at.tolist(), topics.tolist(), strict=True))
    n_own = Counter(writer for writer, _ in cells)
    weights = np.array([1 / (cells[w, t] * n_own[w]) for w, t in zip(at, topics, strict=True)])
    human = np.array([gains[item.label] for item in items])
    truth = [float(weights[at == w] @ human[at == w]) for w in range(len(writers))]
    sizes = np.bincount(topics)[topics]
    for name, labels in judged.by_judge.items():
        ours = np.array([gains[labels[item.cell] or scale[0]] for item in items])
        plain = [float(weights[at == w] @ ours[at == w]) for w in range(len(writers))]
        rng, found = np.random.default_rng(seed), []
        for _ in range(DRAWS):
            drawn = draw(topics, LABELLED, rng)
            n_drawn = np.bincount(topics, drawn).astype(np.int64)[topics]
            known = np.where(drawn, human, np.nan)
            samples = [
                Sample(
                    ours[on], known[on], weights[on], topics[on], int(topics.max()) + 1,
                    topics[on], n_drawn[on], sizes[on], by_own_topics=True,
                )
                for w in range(len(writers))
                for on in [at == w]
            ]  # fmt: skip
            lam = reduce(add, map(moments, samples), Moments(0.0, 0.0, 0.0)).lam
            found.append([[estimate(one, x).value for one in samples] for x in (lam, 0.0)])
        corrected, alone = zip(*found, strict=True)
        yield [
            name,
            format_share(kendall_tau(truth, plain)),
            format_share(fmean(kendall_tau(truth, one) or 0.0 for one in corrected)),
            format_share(fmean(kendall_tau(truth, one) or 0.0 for one in alone)),
            format_share(float(np.mean(np.array(plain) - truth)), signed=True),
            *(
                format_share(float(np.mean(np.abs(np.array(of) - truth))))
                for of in ([plain], corrected, alone)
            ),
        ]


def certificate_rows(judged: Judged) -> Iterator[list[str]]:
    """Which judges `judge check --certify` passes on the first question, by what is wanted."""
    question, names = judged.of.questions[SHOWN[judged.of.name][0]], judged.by_judge
    yes = {*judged.of.scale[judged.of.scale.index(question.people) :]}
    for what, require in WANTED.items():
        passed = []
        for name, labels in names.items():
            rows = [
                {
                    "topic": item.ids["topic_id"],
                    "human": _say(item.label, yes),
                    "judge": _say(label, yes),
                }
                for item in judged.items
                if (label := labels[item.cell]) in judged.of.scale
            ]
            check = nj.check(rows, "human", "judge", topic="topic", require=require or None)
            passed += [name] if check.is_passed else []
        recorded = [name for name in passed if name != "lexical"]
        cells = [f"{judged.of.name}, {question.text}", what, f"{len(recorded)} of {len(names) - 1}"]
        yield [*cells, "yes" if "lexical" in passed else "no", ", ".join(recorded[:4]) or MISSING]


def _say(label: str | None, yes: set[str]) -> str:
    return "yes" if label in yes else "no"


def confusion_rows(judged: Judged, judge: str) -> Iterator[list[str]]:
    """People's labels (rows) by those of a judge."""
    both = Counter((item.label, judged.by_judge[judge][item.cell]) for item in judged.items)
    for label in judged.of.scale:
        n = sum(both[label, other] for other in judged.of.scale)
        yield [label, *(f"{both[label, o]:,} ({both[label, o] / n:.0%})" for o in judged.of.scale)]


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    sets = judge_sets(data)
    for of in SETS:
        if of.name not in sets:
            print(f"{of.name}: not found in {data}", file=sys.stderr)
    columns: tuple[str, ...] = ("data: question", "judge", "n", "kappa", "minus lexical")
    columns += ("recall of the worst", "of the rarest", "tau runs", "tau topics", "yes")
    rows = (row for judged in sets.values() for row in agreement_rows(judged))
    _print_table(columns, rows, 2)
    columns = ("data", "how labels are made", "judges", "worth", "kappa", "minus the chosen judge")
    juries = (
        row
        for judged in sets.values()
        if judged.of is not WICE
        for row in jury_rows(judged, data / judged.of.name / "pairs.jsonl")
    )
    _print_table(columns, juries, 2)
    if (summaries := sets.get(SUMMHAY.name)) is not None:
        columns = ("asked of Gemini 1.5 Pro", "share", "kappa", "quadratic kappa", "calls an item")
        _print_table(columns, cascade_rows(data / "summhay" / "pairs.jsonl"))
        columns = ("judge", "cut of other topics", "ordinal curve", f"with {FEW} labels a topic")
        columns += ("difference",)
        _print_table(columns, few_labels_rows(summaries))
        columns = ("judge", "tau judged", "tau corrected", "tau labels alone", "bias")
        errors = ("error judged", "error corrected", "error labels alone")
        _print_table((*columns, *errors), corrected_rows(summaries))
    columns = ("data: question", "wanted of lower ends", "recorded judges", "lexical", "which")
    certificates = (row for judged in sets.values() for row in certificate_rows(judged))
    _print_table(columns, certificates, 2)
    if summaries is not None:
        columns = ("people", *(f"judge: {label}" for label in SUMMHAY.scale))
        _print_table(columns, confusion_rows(summaries, "claude-3-haiku"))


if __name__ == "__main__":
    main()
