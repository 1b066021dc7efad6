"""How far the lexical judge agrees with people: the table of docs/lexical.md.

    python -m benchmarks.pages.lexical DATA

DATA holds folders of judged data, laid out as docs/lexical.md says; those that are missing are
left out of the table. Kappa is Cohen's, unweighted, of one label against the others.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import functools
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from nuggetjudge.calibration.threshold import fit_cuts
from nuggetjudge.judges import Nuggetizer
from nuggetjudge.judges.lexical import nuggets_and_citations as lexical
from nuggetjudge.judges.lexical.answers import ANSWER_CUTS, answer_overlap, grade_answer
from nuggetjudge.judges.lexical.entailment import STATED, judge_point, stated
from nuggetjudge.metrics.agreement.pairs import agreement
from nuggetjudge.metrics.order.correlation import spearman

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
    found = agreement([labels[x] for x in people], [labels[x] for x in judge], ["no", "yes"])
    kappa = found.cohen_kappa["unweighted"]
    assert kappa is not None, "every set here has both labels"
    return Measured(found.n, kappa)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _trec_nuggets(folder: Path) -> Pairs:
    for row in _lines(folder / "nugget_assignments.jsonl"):
        texts = {str(i): nugget["text"] for i, nugget in enumerate(row["nuggets"])}
        asked = {"answer": row["answer_text"], "nuggets": texts}
        verdicts = lexical.assign_nuggets(asked)["verdicts"]
        for nugget, verdict in zip(row["nuggets"], verdicts.values(), strict=True):
            yield nugget["assignment"] == "support", verdict == "support"


def _trec_support(folder: Path) -> Pairs:
    passages = {row["docid"]: row["text"] for row in _lines(folder / "passages.jsonl")}
    for row in _lines(folder / "pairs.jsonl"):
        if row["condition"].startswith("from_scratch"):
            yield row["label"] == 2, _full(row["sentence"], passages[row["docid"]])


def _ikat(folder: Path) -> Pairs:
    for row in _lines(folder / "pairs.jsonl"):
        asked = {"answer": row["response"], "nuggets": {"1": row["nugget"]}}
        yield row["matched"] == 1, lexical.match_nuggets(asked)["verdicts"]["1"] == "support"


def _key_points(*, by_name: bool = False) -> Callable[[Path], Pairs]:
    """`by_name`: only of runs that the data knows by their names, and does not infer."""

    def pairs(folder: Path) -> Pairs:
        for row in _lines(folder / "pairs.jsonl"):
            if row["run_mapping"] == "by_name" or not by_name:
                asked = {"key_point": row["nugget"], "response": row["response"]}
                yield row["matched"] == 1, judge_point(asked)["verdict"] == "yes"

    return pairs


def _attribution(folder: Path) -> Pairs:
    for row in _lines(folder / "claims.jsonl"):
        yield row["label"] == 1, _full(row["claim"], "\n".join(row["references"]))


def _expertqa(folder: Path) -> Pairs:
    for row in _lines(folder / "claims.jsonl"):
        evidence = "\n".join(part["text"] for part in row["evidence"])
        yield row["full"] == 1, _full(row["claim"], evidence)


def _graded(least: int) -> Callable[[Path], Pairs]:
    def pairs(folder: Path) -> Pairs:
        for row in _lines(folder / "pairs.jsonl"):
            asked = {"question": row["query"], "passage": row["passage"]}
            grade = lexical.judge_relevance(asked)["grade"]
            yield row["relevance"] >= least, grade >= least

    return pairs


def _answered(folder: Path) -> Pairs:
    for row, report in _report_labels(folder):
        yield row["majority"] == 1, _answers(row["question"], report)


def _rated(folder: Path) -> Pairs:
    texts = {row["docid"]: row["text"] for row in _lines(folder / "passages.jsonl")}
    for row in _lines(folder / "human_t2.jsonl"):
        if row["passage_available"]:
            ratings = [row[name] for name in ANNOTATORS if row.get(name) is not None]
            yield fmean(ratings) >= ETA, _answers(row["question"], texts[row["docid"]])


def _rated_by_a_model(folder: Path) -> Pairs:
    texts = {row["docid"]: row["text"] for row in _lines(folder / "passages.jsonl")}
    asked = {row["qid"]: row["sub_questions"] for row in _lines(folder / "queries.jsonl")}
    for row in _lines(folder / "llm_ratings.jsonl"):
        for question in asked[row["qid"]] if row["own_topic"] else ():
            text = texts[row["docid"]]
            yield row["ratings"][question["idx"]] >= ETA, _answers(question["text"], text)


def _report_labels(folder: Path) -> Iterator[tuple[dict[str, Any], str]]:
    """What people said of a question and a report, and the report."""
    reports = {row["report_id"]: row["text"] for row in _lines(folder / "reports.jsonl")}
    for row in _lines(folder / "human_t1.jsonl"):
        yield row, reports[row["report_id"]]


def _answers(question: str, text: str) -> bool:
    return bool(grade_answer({"question": question, "context": text})["grade"] >= ETA)


def _vital(folder: Path) -> Pairs:
    for row in _lines(folder / "nuggets_nist.jsonl"):
        nuggets = sorted(row["nuggets"], key=lambda nugget: nugget["text"])  # not vital first
        asked = {
            "question": row.get("query") or row["narrative"],
            "nuggets": {str(i): nugget["text"] for i, nugget in enumerate(nuggets)},
        }
        rated = lexical.rate_importance(asked)["importance"].values()
        for nugget, importance in zip(nuggets, rated, strict=True):
            yield nugget["importance"] == "vital", importance == "vital"


def _full(sentence: str, passage: str) -> bool:
    asked = {"sentence": sentence, "passage": passage}
    return bool(lexical.judge_support(asked)["verdict"] == "full")


ETA = 3  # the grade from which a text answers a question, arXiv:2506.20051
ANNOTATORS = ("a1", "a2", "a3")
_ANSWER = f"overlap >= {ANSWER_CUTS[ETA - 1]:.2f}"
_NUGGET = f"words >= {lexical.NUGGET_FULL:.2f}"
_POINT = f"overlap >= {STATED:.2f}"
_SENTENCE = f"words and pairs >= {lexical.SENTENCE_FULL:.2f}"
_CUTS = [f"question words >= {cut:.2f}" for cut in lexical.RELEVANCE_CUTS]
_SHARE = f"first {lexical.VITAL_SHARE:.0%} of a list"
ROWS = (
    Row("rag24_nuggets", "nugget: support or not", _NUGGET, _trec_nuggets),
    Row("ikat24_nugget_match", "nugget: matched or not", _NUGGET, _ikat),
    Row("ikat24_nugget_match", "key point: stated or not", _POINT, _key_points()),
    Row("ikat24_nugget_match by name", "the same", _POINT, _key_points(by_name=True)),
    Row("rag24_support from scratch", "citation: full or not", _SENTENCE, _trec_support),
    Row("attributionbench", "claim: attributable or not", _SENTENCE, _attribution),
    Row("expertqa_support", "claim: complete or not", _SENTENCE, _expertqa),
    Row("rag24_relevance", "passage: grade >= 1", _CUTS[0], _graded(1)),
    Row("rag24_relevance", "passage: grade >= 2", _CUTS[1], _graded(2)),
    Row("dl23_llmjudge", "passage: grade >= 1", _CUTS[0], _graded(1)),
    Row("dl23_llmjudge", "passage: grade >= 2", _CUTS[1], _graded(2)),
    Row("crux_duc task 1", "report: answers the question", _ANSWER, _answered),
    Row("crux_duc task 2", "passage: grade >= 3", _ANSWER, _rated),
    Row("crux_duc by a model", "passage: grade >= 3", _ANSWER, _rated_by_a_model),
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
    passages = {row["docid"]: row["text"] for row in _lines(folder / "passages.jsonl")}
    ranked = {row["topic_id"]: row["docids"] for row in _lines(folder / "candidates.jsonl")}
    qrels = [line.split() for line in (folder / "qrels_nist.txt").read_text().splitlines()]
    relevant = {(topic, name) for topic, _, name, grade in qrels if int(grade) >= 1}
    best: list[float] = []
    for row in _lines(folder / "nuggets_nist.jsonl"):
        names = [name for name in ranked[row["qid"]] if (row["qid"], name) in relevant]
        texts = [passages[name] for name in names if name in passages]
        made = Nuggetizer("lexical")(question=row["query"], passages=texts).nuggets
        held = [lexical.content_words(text) for text in made]
        needed = [lexical.content_words(nugget["text"]) for nugget in row["nuggets"]]
        best += [max((lexical.recall(n, h) for h in held), default=0.0) for n in needed]
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
        (row["turn_id"], row["matched"], stated(row["nugget"], row["response"]))
        for row in _lines(folder / "pairs.jsonl")
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
    found: dict[str, list[list[float]]] = {}
    for row, report in _report_labels(folder):
        people = [float(row[name]) for name in ANNOTATORS]
        found.setdefault(row["report_id"], []).append([_answers(row["question"], report), *people])
    shares = [[fmean(column) for column in zip(*rows, strict=True)] for rows in found.values()]
    ours, *theirs = zip(*shares, strict=True)
    correlations = (spearman(people, ours) for people in theirs)
    return len(found), dict(zip(ANNOTATORS, correlations, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    print("| data | question | says yes at | n | kappa |\n|---|---|---|---:|---:|")
    for row in ROWS:
        found = measure(row, data)
        if found is None:
            print(f"{row.name}: not found in {data}", file=sys.stderr)
        else:
            cells = (row.name, row.question, row.cut, f"{found.n:,}", f"{found.kappa:.3f}")
            print("| " + " | ".join(cells) + " |")
    if (lists := covered(data)) is not None:
        n, shares = lists
        found_at = ", ".join(f"{share:.1%} at >= {cut:g}" for cut, share in shares.items())
        print(
            f"\nrag24_e2e: of {n} human nuggets, one automatic nugget holds the words of {found_at}"
        )
    if (found := held_out(data)) is not None:
        print(f"\ncrux_duc task 1: {found.kappa:.3f} with each topic's cut chosen on the others")
    if (reports := coverage(data)) is not None:
        n, by_annotator = reports
        told = ", ".join(f"{rho:.3f} ({name})" for name, rho in by_annotator.items())
        print(f"crux_duc task 1: Spearman of lexical and human coverage of {n} reports: {told}")
    if (found := held_out_points(data)) is not None:
        told = "with each topic's cut chosen on the others"
        print(f"\nikat24_nugget_match key points: {found.kappa:.3f} {told}")


if __name__ == "__main__":
    main()
