"""Made-up sentences and passages, all different, as long as those of TREC RAG 2024.

In TREC RAG 2024, the median judged sentence has 157 characters and the median passage 1,092. More
than half of the passages have a character outside Latin-1, so that Python stores them in wider
units. This module also writes collections of such texts to files.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from pathlib import Path
from typing import Any

SENTENCES = 10  # of one answer, each with one citation
PASSAGES = 20  # of one topic, all of them relevant candidates
SENTENCE_CHARS, PASSAGE_CHARS = 157, 1092
ANSWER_CHARS, NUGGET_CHARS = 1900, 56

_PROSE = """harbour lantern bridge granite meadow copper signal winter orchard timber valley engine
anchor ribbon saddle canyon marble thunder velvet compass kettle barley magnet pebble quarry
rudder sparrow tunnel walnut copper cable delta ferry glacier hollow island jetty lattice mortar
the a of and to in is was for on with as by that from at which are were has after before over
carries measures turns holds rises falls crosses joins warms dries bends settles drifts spreads
slowly often mostly seldom again nearly early deep narrow broad steep hollow brittle damp"""
_MARKS = (". ", ". ", ", ", ", ", "; ", " (", ") ", ' "', '" ', "\n", " 1987 ", " 3.5 % ")
_WIDE = ("’", "–", "“", "”", "…")


def pair(number: int) -> tuple[str, str]:
    """The sentence and the passage with this number; other numbers have others."""
    return (
        f"Claim {number}: {_cut(number * 7919, SENTENCE_CHARS)}",
        f"Segment {number}: {_cut(number * 104_729, PASSAGE_CHARS)}",
    )


def window(number: int) -> tuple[str, str, list[str]]:
    """A question, an answer of 300 words or so, and ten nuggets, all of this number."""
    return (
        f"question {number}",
        f"Answer {number}: {_cut(number * 7919, ANSWER_CHARS)}",
        [_cut(number * 10_007 + i * 1_009, NUGGET_CHARS) for i in range(10)],
    )


def _cut(offset: int, size: int) -> str:
    text = _text()
    start = offset % (len(text) - size)
    return text[start : start + size]


@lru_cache(maxsize=1)
def _text() -> str:
    rng = random.Random(0)
    parts: list[str] = []
    for word in rng.choices(_PROSE.split(), k=120_000):
        draw = rng.random()
        mark = rng.choice(_MARKS) if draw < 0.12 else rng.choice(_WIDE) if draw > 0.995 else " "
        parts += (word, mark)
    return "".join(parts)


def write_collection(folder: Path, n_topics: int, n_runs: int) -> None:
    """Write topics.tsv, passages.jsonl, candidates.jsonl, qrels.txt and runs/; no text is twice."""
    names = [[f"d{topic * PASSAGES + i}" for i in range(PASSAGES)] for topic in range(n_topics)]
    with (folder / "topics.tsv").open("w") as topics:
        for topic in range(n_topics):
            topics.write(f"{topic}\tquestion {topic}\n")
    with (folder / "passages.jsonl").open("w") as passages:
        for number in range(n_topics * PASSAGES):
            passages.write(_line({"docid": f"d{number}", "text": pair(number)[1]}))
    with (folder / "candidates.jsonl").open("w") as candidates:
        for topic, ids in enumerate(names):
            candidates.write(_line({"topic_id": str(topic), "docids": ids}))
    with (folder / "qrels.txt").open("w") as qrels:
        for topic, ids in enumerate(names):
            qrels.writelines(f"{topic} 0 {name} 1\n" for name in ids)
    (folder / "runs").mkdir()
    for run in range(n_runs):
        with (folder / "runs" / f"run{run:03}.jsonl").open("w") as answers:
            for topic, ids in enumerate(names):
                answers.write(_line(_answer(run, topic, n_runs, ids)))


def _answer(run: int, topic: int, n_runs: int, ids: list[str]) -> dict[str, Any]:
    first = (topic * n_runs + run) * SENTENCES
    texts = [pair(first + i)[0].replace("\n", " ") for i in range(SENTENCES)]
    return {
        "run_id": f"run{run:03}",
        "topic_id": str(topic),
        "topic": f"question {topic}",
        "references": ids,
        "response_length": sum(len(text.split()) for text in texts),
        "answer": [
            {"text": text, "citations": [(run + i) % PASSAGES]} for i, text in enumerate(texts)
        ],
    }


def _line(row: dict[str, Any]) -> str:
    return json.dumps(row) + "\n"
