"""How far the lexical judge agrees with people: the table of docs/benchmarks/lexical-judge.md.

    python -m benchmarks.pages.lexical DATA

DATA holds folders of judged data (docs/benchmarks/data.md); those that are missing are
left out of the table. Kappa is Cohen's, unweighted, of one label against the others.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from nuggetjudge.calibration.threshold import fit_cuts
from nuggetjudge.judges import Nuggetizer
from nuggetjudge.judges.lexical import overlap as lexical
from nuggetjudge.judges.lexical.contradiction import judge_groundedness
from nuggetjudge.judges.lexical.keypoints import STATED, judge_point, measure_stated
from nuggetjudge.judges.lexical.questions import ANSWER_CUTS, answer_overlap, grade_answer
from nuggetjudge.metrics.label_agreement import agreement
from nuggetjudge.metrics.rank_correlation import spearman

from ..study import sets
from ..study.sets import ANNOTATORS, ETA, JudgedSet, lines

Inputs = dict[str, str]
Pairs = Iterator[tuple[bool, bool]]  # (people said so, the lexical judge said so)


@dataclass(frozen=True)
class Row:
    """One line of the table: `pairs(folder)` yields the labels to compare."""

    name: str
    question: str
    cut: str
    pairs: Callable[[Path], Pairs]


@dataclass(frozen=True)
class Measured:
    """n pairs and their kappa, in [-1, 1]."""

    n: int
    kappa: float


@functools.cache
def measure(row: Row, data: Path) -> Measured | None:
    """The agreement of one row; None where its data is absent."""
    if not (data / row.name.split()[0]).is_dir():
        return None
    return _measured(row.pairs(data / row.name.split()[0]))


def _measured(pairs: Pairs) -> Measured:
    people, judge = zip(*pairs, strict=True)
    labels = {True: "yes", False: "no"}
    figures = agreement([labels[x] for x in people], [labels[x] for x in judge], ["no", "yes"])
    kappa = figures.cohen_kappa["unweighted"]
    assert kappa is not None, "every set here has both labels"
    return Measured(figures.n, kappa)


def _pairs(of: JudgedSet, question: int = 0) -> Callable[[Path], Pairs]:
    """What people and the lexical judge say to one question of a judged set."""
    judged_question, baseline = of.questions[question], _TWINS[of.judge, of.settings.get("grades")]

    def pairs(folder: Path) -> Pairs:
        people = set(of.scale[of.scale.index(judged_question.people) :])
        for item in of.read(folder):
            yield item.label in people, baseline(item.inputs, judged_question.judge)

    return pairs


def _row(of: JudgedSet, cut: str, question: int = 0) -> Row:
    return Row(of.name, of.questions[question].text, cut, _pairs(of, question))


def _assigned(inputs: Inputs, least: str) -> bool:
    judge_inputs = {"answer": inputs["answer"], "nuggets": {"1": inputs["nugget"]}}
    return bool(lexical.assign_nuggets(judge_inputs)["verdicts"]["1"] == least)


def _matched(inputs: Inputs, least: str) -> bool:
    judge_inputs = {"answer": inputs["answer"], "nuggets": {"1": inputs["nugget"]}}
    return bool(lexical.match_nuggets(judge_inputs)["verdicts"]["1"] == least)


def _supported(inputs: Inputs, least: str) -> bool:
    return bool(lexical.judge_support(inputs)["verdict"] == least)


def _grounded(inputs: Inputs, least: str) -> bool:
    judge_inputs = {"context": inputs["context"], "statements": {"1": inputs["statement"]}}
    return bool(judge_groundedness(judge_inputs)["verdicts"]["1"] == least)


def _stated(inputs: Inputs, least: str) -> bool:
    return bool(judge_point(inputs)["verdict"] == least)


def _relevant(inputs: Inputs, least: str) -> bool:
    return bool(lexical.judge_relevance(inputs)["grade"] >= int(least))


def _answering(inputs: Inputs, least: str) -> bool:
    return bool(grade_answer(inputs)["grade"] >= int(least))


def _report_labels(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """People's label of a question and a report, and the text of the report."""
    reports = {row["report_id"]: row["text"] for row in lines(folder / "reports.jsonl")}
    for row in lines(folder / "human_t1.jsonl"):
        yield row, reports[row["report_id"]]


def _answers(question: str, text: str) -> bool:
    return _answering({"question": question, "context": text}, ETA)


def _vital(folder: Path) -> Pairs:
    for row in lines(folder / "nuggets_nist.jsonl"):
        nuggets = sorted(row["nuggets"], key=lambda nugget: nugget["text"])  # not vital first
        inputs = {
            "question": row.get("query") or row["narrative"],
            "nuggets": {str(i): nugget["text"] for i, nugget in enumerate(nuggets)},
        }
        rated = lexical.rate_importance(inputs)["importance"].values()
        for nugget, importance in zip(nuggets, rated, strict=True):
            yield nugget["importance"] == "vital", importance == "vital"


_ANSWER = f"overlap >= {ANSWER_CUTS[int(ETA) - 1]:.2f}"
_NUGGET = f"words >= {lexical.NUGGET_FULL:.2f}"
_POINT = f"overlap >= {STATED:.2f}"
_SENTENCE = f"words and pairs >= {lexical.SENTENCE_FULL:.2f}"
_STATEMENT = f"{_SENTENCE}, no contradiction"
_CUTS = [f"question words >= {cut:.2f}" for cut in lexical.RELEVANCE_CUTS]
_SHARE = f"first {lexical.VITAL_SHARE:.0%} of a list"
_TWINS: dict[tuple[str, int | None], Callable[[Inputs, str], bool]] = {
    ("assigner", None): _assigned,
    ("assigner", 2): _matched,
    ("support", None): _supported,
    ("groundedness", None): _grounded,
    ("entailment", None): _stated,
    ("relevance", None): _relevant,
    ("answerability", None): _answering,
}
ROWS = (
    _row(sets.TREC_NUGGETS, _NUGGET),
    _row(sets.SUMMHAY, _NUGGET),
    _row(sets.IKAT_NUGGETS, _NUGGET),
    _row(sets.IKAT_POINTS, _POINT),
    _row(sets.IKAT_BY_NAME, _POINT),
    _row(sets.TREC_SUPPORT, _SENTENCE),
    _row(sets.WICE, _SENTENCE),
    _row(sets.ATTRIBUTION, _SENTENCE),
    _row(sets.EXPERTQA, _SENTENCE),
    *(_row(of, _STATEMENT) for of in sets.GROUNDED),
    *(_row(of, _CUTS[i], i) for of in (sets.TREC_RELEVANCE, sets.DL23) for i in range(2)),
    _row(sets.CRUX_REPORTS, _ANSWER),
    _row(sets.CRUX_PASSAGES, _ANSWER),
    _row(sets.CRUX_BY_MODEL, _ANSWER),
    Row("rag24_e2e", "nugget: vital or okay", _SHARE, _vital),
    Row("rag25_nuggets", "nugget: vital or okay", _SHARE, _vital),
)


def covered(data: Path) -> tuple[int, dict[float, float]] | None:
    """How much of the human lists the lexical nuggetizer finds; None where its data is absent.

    Returns: n human nuggets, and the share of them of whose content words at least a half (0.5),
        or as many as full support takes, stand in one nugget of the automatic list.
    """
    folder = data / "rag24_e2e"
    if not folder.is_dir():
        return None
    passages = {row["docid"]: row["text"] for row in lines(folder / "passages.jsonl")}
    ranked = {row["topic_id"]: row["docids"] for row in lines(folder / "candidates.jsonl")}
    qrels = [line.split() for line in (folder / "qrels_nist.txt").read_text().splitlines()]
    relevant = {(topic, name) for topic, _, name, grade in qrels if int(grade) >= 1}
    best: list[float] = []
    for row in lines(folder / "nuggets_nist.jsonl"):
        names = [name for name in ranked[row["qid"]] if (row["qid"], name) in relevant]
        texts = [passages[name] for name in names if name in passages]
        made = Nuggetizer("lexical")(question=row["query"], passages=texts).nuggets
        available = [lexical.content_words(text) for text in made]
        needed = [lexical.content_words(nugget["text"]) for nugget in row["nuggets"]]
        best += [max((lexical.recall(n, h) for h in available), default=0.0) for n in needed]
    cuts = (0.5, lexical.NUGGET_FULL)
    return len(best), {cut: sum(share >= cut for share in best) / len(best) for cut in cuts}


@functools.cache
def held_out(data: Path) -> Measured | None:
    """Task 1 of crux_duc, each topic with the cut that is best on the others; None: no data."""
    if not (folder := data / "crux_duc").is_dir():
        return None
    return _with_cuts_of_others(
        (row["qid"], row["majority"], answer_overlap(row["question"], report, {}))
        for row, report in _report_labels(folder)
    )


def held_out_points(data: Path) -> Measured | None:
    """Key points of ikat24_nugget_match in the same way."""
    if not (folder := data / "ikat24_nugget_match").is_dir():
        return None
    return _with_cuts_of_others(
        (row["turn_id"], row["matched"], measure_stated(row["nugget"], row["response"]))
        for row in lines(folder / "pairs.jsonl")
    )


def _with_cuts_of_others(scored: Iterable[tuple[str, int, float]]) -> Measured:
    """Of items with topic, label and overlap: the agreement at cuts that other topics chose."""
    rows = list(scored)
    pairs: list[tuple[bool, bool]] = []
    for topic in dict.fromkeys(row[0] for row in rows):
        _, labels, overlaps = zip(*(row for row in rows if row[0] != topic), strict=True)
        ((cut,), _) = fit_cuts(overlaps, labels, 2)
        pairs += [(label == 1, overlap >= cut) for name, label, overlap in rows if name == topic]
    return _measured(iter(pairs))


@functools.cache
def coverage(data: Path) -> tuple[int, dict[str, float | None]] | None:
    """How lexical coverage orders the reports of crux_duc; None where its data is absent.

    Coverage is the share of its questions that a report answers, in [0, 1].

    Returns: n reports, and the Spearman correlation with the coverage that each annotator found.
    """
    if not (folder := data / "crux_duc").is_dir():
        return None
    by_report: dict[str, list[list[float]]] = {}
    for row, report in _report_labels(folder):
        people = [float(row[name]) for name in ANNOTATORS]
        by_report.setdefault(row["report_id"], []).append(
            [_answers(row["question"], report), *people]
        )
    shares = [[fmean(column) for column in zip(*rows, strict=True)] for rows in by_report.values()]
    ours, *theirs = zip(*shares, strict=True)
    correlations = (spearman(people, ours) for people in theirs)
    return len(by_report), dict(zip(ANNOTATORS, correlations, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    print("| data | question | says yes at | n | kappa |\n|---|---|---|---:|---:|")
    for row in ROWS:
        measured = measure(row, data)
        if measured is None:
            print(f"{row.name}: not found in {data}", file=sys.stderr)
        else:
            cells = (row.name, row.question, row.cut, f"{measured.n:,}", f"{measured.kappa:.3f}")
            print("| " + " | ".join(cells) + " |")
    if (lists := covered(data)) is not None:
        n, shares = lists
        by_cut = ", ".join(f"{share:.1%} at >= {cut:g}" for cut, share in shares.items())
        print(
            f"\nrag24_e2e: of {n} human nuggets, one automatic nugget holds the words of {by_cut}"
        )
    if (measured := held_out(data)) is not None:
        print(f"\ncrux_duc task 1: {measured.kappa:.3f} with each topic's cut chosen on the others")
    if (reports := coverage(data)) is not None:
        n, by_annotator = reports
        text = ", ".join(f"{rho:.3f} ({name})" for name, rho in by_annotator.items())
        print(f"crux_duc task 1: Spearman of lexical and human coverage of {n} reports: {text}")
    if (measured := held_out_points(data)) is not None:
        text = "with each topic's cut chosen on the others"
        print(f"\nikat24_nugget_match key points: {measured.kappa:.3f} {text}")


if __name__ == "__main__":
    main()
