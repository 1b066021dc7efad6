"""How far suggested citations can be trusted: the tables of docs/agents.md.

    python -m benchmarks.pages.evidence DATA

DATA holds rag24_support, rag24_e2e and rag24_relevance. The lexical judge looks for evidence where
NIST's assessors said none, or nothing is cited. suggestions.csv beside this file has the labels
that one reader gave 100 of its suggestions, drawn at random; it has ids and no texts.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import nuggetjudge
from nuggetjudge.programs.analysis.evidence.precision import labelled_suggestions, precision_rows
from nuggetjudge.programs.analysis.evidence.refinding import refound
from nuggetjudge.records.labels.labels import read_labels
from nuggetjudge.records.reading.problems import Problems

SHEET = Path(__file__).with_name("suggestions.csv")
RESAMPLES = 1000


def results_in(data: Path, folder: Path) -> Path:
    """Results of the evidence program on the judged answers, in a folder that is filled."""
    people = data / "rag24_support" / "answers.jsonl"
    passages, queries = {}, {}
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
    nuggetjudge.run(
        program="evidence",
        model="lexical",
        topics=folder / "topics.jsonl",
        runs=[str(folder / "runs.jsonl")],
        passages=[folder / "passages.jsonl"],
        out=folder / "results",
        cache=False,
        **{"evidence.labels": people},
    )
    return folder / "results"


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pages.evidence")
    parser.add_argument("data", type=Path)
    given = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as made:
        folder = results_in(given.data, Path(made))
        sheet = read_labels(SHEET, Problems()).cells
        read = labelled_suggestions(folder / "evidence.jsonl", sheet)
        print("| suggestions | n | full | 95% | full or partial | 95% |\n|---|---|---|---|---|---|")
        for row in precision_rows(read, resamples=RESAMPLES, seed=0):
            shares = (_share(row["full"]), _share(row["partly"]))
            print(f"| {row['chosen']} | {row['n']} | {shares[0]} | {shares[1]} |")
        people = read_labels(given.data / "rag24_support" / "answers.jsonl", Problems()).cells
        found = refound(folder, people, resamples=RESAMPLES)
    print("\n| confirmed citation | n | share | 95% |\n|---|---|---|---|")
    for row in (*found.search, *found.swaps):
        print(f"| {row['what']} | {row['n']:,} | {_share(row)} |")


def _answer(row: dict) -> dict:
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


def _rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _write(path: Path, rows: Sequence[dict]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _share(row: dict) -> str:
    return f"{row['value']:.3f} | [{row['low']:.3f}, {row['high']:.3f}]"


if __name__ == "__main__":
    main()
