"""Made-up topics, passages, candidates and runs that answer every topic, as files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .texts import pair

SENTENCES = 10  # of one answer, each with one citation
PASSAGES = 20  # of one topic, all of them relevant candidates


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
