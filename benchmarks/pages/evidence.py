"""How far suggested citations can be trusted: the tables of docs/benchmarks/suggestions.md.

    python -m benchmarks.pages.evidence DATA

DATA holds rag24_support, rag24_e2e and rag24_relevance. The lexical judge looks for evidence where
NIST's assessors said none, or nothing is cited; suggestions of it were read (suggested.py). What
the assessors said is full is searched again, and exchanged for other passages.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nuggetjudge
from nuggetjudge.metrics.inference import Interval
from nuggetjudge.plugins.lab.evidence import refound
from nuggetjudge.programs.protocols.evidence import LEXICAL_LEAST, LEXICAL_WORDS
from nuggetjudge.records.kinds import Cell
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.support import read_sentence_evidence

from .suggested import CUTS, DRAWS, PARTLY, precision, scored, sheet_labels

Row = dict[str, Any]
RESAMPLES = 1000
NEAR = "any other"  # a planted passage of the topic
FAR = "one with at most a quarter of the words"


def results_in(data: Path, folder: Path) -> Path:
    """Results of the evidence program on the judged answers, in a folder that is filled."""
    people = data / "rag24_support" / "answers.jsonl"
    passages: dict[str, str] = {}
    queries: dict[str, str] = {}
    for name in ("rag24_support", "rag24_e2e"):
        for row in _rows(data / name / "passages.jsonl"):
            passages.setdefault(row["docid"], row["text"])
    for row in _rows(data / "rag24_relevance" / "pairs.jsonl"):
        passages.setdefault(row["docid"], row["passage"])
        queries[row["qid"]] = row["query"]
    answers = [_answer(row) for row in _rows(people)]
    topics = {row["topic_id"]: queries.get(row["topic_id"], row["topic_id"]) for row in answers}
    _write(folder / "topics.jsonl", [{"id": t, "title": topics[t]} for t in sorted(topics)])
    _write(folder / "runs.jsonl", answers)
    texts = [{"docid": name, "text": passages[name]} for name in sorted(passages)]
    _write(folder / "passages.jsonl", texts)
    settings: dict[str, Any] = {"evidence.labels": people}
    nuggetjudge.run(
        program="evidence",
        model="lexical",
        topics=folder / "topics.jsonl",
        runs=[str(folder / "runs.jsonl")],
        passages=[folder / "passages.jsonl"],
        out=folder / "results",
        cache=False,
        **settings,
    )
    return folder / "results"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages.evidence")
    parser.add_argument("data", type=Path)
    data = parser.parse_args(argv).data
    with tempfile.TemporaryDirectory() as made:
        folder = results_in(data, Path(made))
        _print_read(folder)
        people = read_labels(data / "rag24_support" / "answers.jsonl", Problems()).cells
        figures = refound(folder, people, resamples=RESAMPLES)
        pools = topic_passages(data)
        print("\n| confirmed citation | n | share | 95% |\n|---|---|---|---|")
        for row in figures.search:
            print(f"| {row['what']} | {row['n']:,} | {_share(row)} |")
        tasks = [(FAR, "its references, then all", figures.swaps)]
        for where, scope in (("its references, then all", None), ("all at once", ("corpus",))):
            again = refound(
                folder, people, pools=pools, most_shared=None, scope=scope, resamples=RESAMPLES
            )
            tasks.append((NEAR, where, again.swaps))
    columns = ("planted", "searched", "n", "flagged", "of these: a passage suggested")
    _head(*columns, "the right one suggested", "the right one in the best 3")
    for what, where, rows in tasks:
        cells = [f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" for row in rows]
        print(f"| {what} | {where} | {rows[0]['n']:,} | {' | '.join(cells)} |")


def topic_passages(data: Path) -> dict[str, list[str]]:
    """The ids of what was retrieved, judged or cited for each topic."""
    by_topic: defaultdict[str, set[str]] = defaultdict(set)
    for row in _rows(data / "rag24_support" / "pairs.jsonl"):
        by_topic[row["topic_id"]].add(row["docid"])
    for row in _rows(data / "rag24_e2e" / "candidates.jsonl"):
        by_topic[row["topic_id"]].update(row["docids"])
    for row in _rows(data / "rag24_relevance" / "pairs.jsonl"):
        by_topic[row["qid"]].add(row["docid"])
    return {topic_id: sorted(names) for topic_id, names in by_topic.items()}


def texts_in(folder: Path) -> tuple[dict[Cell, str], dict[str, str]]:
    """Sentences, by topic, run and number, and passages of a folder that `results_in` filled."""
    sentences: dict[Cell, str] = {
        (row["topic_id"], row["run_id"], str(number)): sentence["text"]
        for row in _rows(folder / "runs.jsonl")
        for number, sentence in enumerate(row["answer"])
    }
    return sentences, {row["docid"]: row["text"] for row in _rows(folder / "passages.jsonl")}


def suggested_scores(evidence: Path, sentences: Mapping[Cell, str]) -> list[float]:
    """The scores of all suggestions for sentences that are long enough for the lexical judge."""
    problems = Problems()
    scores = [
        row.suggestion.score
        for row in read_sentence_evidence(evidence, problems)
        if row.suggestion is not None
        and row.suggestion.label == "full"
        and row.suggestion.score is not None
        and len(sentences[row.topic_id, row.run_id, str(row.sentence)].split()) >= LEXICAL_WORDS
    ]
    problems.raise_errors()
    return scores


def _print_read(folder: Path) -> None:
    sentences, passages = texts_in(folder.parent)
    scores = suggested_scores(folder / "evidence.jsonl", sentences)
    read = {
        name: scored(sheet_labels(sheets), sentences, passages) for name, sheets in DRAWS.items()
    }
    columns = [name for sheets in list(DRAWS)[1:] for name in (f"n of {sheets}", "full")]
    _head("suggestions that were read", "n", "full", "full or partial", *columns)
    for cut in CUTS:
        n, full = precision(read["all"], scores, cut, resamples=RESAMPLES)
        partly = precision(read["all"], scores, cut, PARTLY, resamples=RESAMPLES)[1]
        cells = [str(n), _interval(full), _interval(partly)]
        for name in list(DRAWS)[1:]:
            n, full = precision(read[name], scores, cut, resamples=RESAMPLES)
            cells += [str(n), _interval(full)]
        used = " (used)" if cut == LEXICAL_LEAST else ""
        print(f"| score >= {cut:.2f}{used} | {' | '.join(cells)} |")
    short = [each for each in read["all"] if each.words < LEXICAL_WORDS]
    n_full = sum(each.label == "full" for each in short)
    print(f"\n{len(short)} were of sentences of fewer than {LEXICAL_WORDS} words: {n_full} full")
    first, others = (sheet_labels(sheets) for sheets in list(DRAWS.values())[1:])
    twice = first.keys() & others.keys()
    alike = sum(first[cell] == others[cell] for cell in twice)
    print(f"{len(twice)} were read by both readers: {alike} with the same label")


def _head(*cells: str) -> None:
    print(f"\n| {' | '.join(cells)} |\n{'|---' * len(cells)}|")


def _interval(of: Interval) -> str:
    return f"{of.value:.3f} [{of.low:.3f}, {of.high:.3f}]"


def _answer(row: Row) -> Row:
    cited = [c["docid"] for sentence in row["sentences"] for c in sentence["citations"]]
    references = list(dict.fromkeys(cited))
    sentences = [
        {
            "text": sentence["text"],
            "citations": [references.index(c["docid"]) for c in sentence["citations"]],
        }
        for sentence in row["sentences"]
    ]
    ids = {name: row[name] for name in ("run_id", "topic_id")}
    return {**ids, "references": references, "answer": sentences}


def _rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _share(row: Row) -> str:
    return f"{row['value']:.3f} | [{row['low']:.3f}, {row['high']:.3f}]"


if __name__ == "__main__":
    main()
