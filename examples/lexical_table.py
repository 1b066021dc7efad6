"""How far the lexical judge agrees with people: the table of docs/lexical.md.

    python examples/lexical_table.py DATA

DATA holds folders of judged data, laid out as docs/lexical.md says; those that are missing are
left out of the table. Kappa is Cohen's, unweighted, of one label against the others.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetjudge.judges import Nuggetizer, lexical
from nuggetjudge.metrics.agreement import agreement

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


def measure(row: Row, data: Path) -> Measured | None:
    """The agreement of one row; None where its data is absent."""
    if not (data / row.name.split()[0]).is_dir():
        return None
    people, judge = zip(*row.pairs(data / row.name.split()[0]), strict=True)
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


_NUGGET = f"words >= {lexical.NUGGET_FULL:.2f}"
_SENTENCE = f"words and pairs >= {lexical.SENTENCE_FULL:.2f}"
_CUTS = [f"question words >= {cut:.2f}" for cut in lexical.RELEVANCE_CUTS]
_SHARE = f"first {lexical.VITAL_SHARE:.0%} of a list"
ROWS = (
    Row("rag24_nuggets", "nugget: support or not", _NUGGET, _trec_nuggets),
    Row("ikat24_nugget_match", "nugget: matched or not", _NUGGET, _ikat),
    Row("rag24_support from scratch", "citation: full or not", _SENTENCE, _trec_support),
    Row("attributionbench", "claim: attributable or not", _SENTENCE, _attribution),
    Row("expertqa_support", "claim: complete or not", _SENTENCE, _expertqa),
    Row("rag24_relevance", "passage: grade >= 1", _CUTS[0], _graded(1)),
    Row("rag24_relevance", "passage: grade >= 2", _CUTS[1], _graded(2)),
    Row("dl23_llmjudge", "passage: grade >= 1", _CUTS[0], _graded(1)),
    Row("dl23_llmjudge", "passage: grade >= 2", _CUTS[1], _graded(2)),
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


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args().data
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


if __name__ == "__main__":
    main()
