"""Samples as the files of a run: topics, answers, passages, and what answers are held against."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from ...records.writing.files import NewFile
from .fields import Sample

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_CITATION = re.compile(r"\s*\[(\d+)\]")


def write_samples(runs: Mapping[str, Iterable[Sample]], folder: Path) -> dict[str, Path]:
    """Write the samples of each run into a folder, one sample in memory at a time.

    Returns: the files that are not empty, by the names of `data:` in a config.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, dict[str, Any]]] = {}
    for run_id, samples in runs.items():
        for sample in samples:
            for name, key, row in _rows(run_id, sample):
                rows.setdefault(name, {}).setdefault(key, row)
    paths = {name: folder / f"{name}.jsonl" for name in rows}
    for name, path in paths.items():
        with NewFile(path) as file:
            for row in rows[name].values():
                file.write(orjson.dumps(row) + b"\n")
    return paths


def _rows(run_id: str, sample: Sample) -> Iterable[tuple[str, str, dict[str, Any]]]:
    topic, query = sample.topic_id, sample.question
    references = [context.id for context in sample.contexts]
    yield "topics", topic, {"id": topic, "title": query}
    answer = [
        {
            "text": _CITATION.sub("", sentence),
            "citations": [int(n) - 1 for n in _CITATION.findall(sentence)],
        }
        for sentence in _SENTENCE_END.split(sample.answer.strip())
    ]
    answered = {"run_id": run_id, "topic_id": topic, "references": references, "answer": answer}
    yield "runs", f"{run_id} {topic}", answered
    for context in sample.contexts:
        yield "passages", context.id, {"docid": context.id, "text": context.text}
    if references:
        yield "candidates", topic, {"topic_id": topic, "docids": references}
    if sample.nuggets:
        nuggets = [{"text": text, "importance": "vital"} for text in sample.nuggets]
        yield "nuggets", topic, {"qid": topic, "query": query, "nuggets": nuggets}
    if sample.key_points:
        points = list(sample.key_points)
        yield "keypoints", topic, {"qid": topic, "query": query, "key_points": points}
