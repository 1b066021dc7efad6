"""A made-up collection of any size, and the configs of all programs over it."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .kinds import KEY

KEY_VARIABLE = "STORM_KEY"
ENVIRONMENT = {KEY_VARIABLE: KEY}
RUNS, PASSAGES, SENTENCES, FACTS, QUESTIONS = 3, 4, 4, 6, 3  # of a topic, the last two at most
WORDS = ("tide", "bridge", "wind", "harbour", "leaf", "strike", "ferry", "mud", "gate", "moon")
OWN_JUDGE = """\
name: holds
question: |
  Does the claim hold by the source?
  yes: it does. partly: some of it. no: it does not.
inputs:
  claim: a sentence
  source: a text
labels: {no: 0, partly: 0.5, yes: 1}
measure: held
lexical: {look_for: claim, in: source, cuts: [0.4, 0.5]}
"""


@dataclass(frozen=True)
class Job:
    """One command of the storm.

    Attributes:
        is_fixed: what is judged follows from the input alone, so that each judgement has its
            counterpart in the run without faults.
    """

    name: str
    config: Mapping[str, Any]
    is_fixed: bool = True


def write_world(folder: Path, n_topics: int) -> None:
    """Topics, passages, runs, nuggets, documents, rankings, reports, items and a judge."""
    chance = random.Random(n_topics)
    topics = [f"t{number}" for number in range(n_topics)]
    facts = {topic: [_fact(chance, topic, i) for i in range(FACTS)] for topic in topics}
    texts = {
        (topic, i): " ".join(chance.sample(facts[topic], 3)) for topic in topics
        for i in range(PASSAGES)
    }  # fmt: skip
    rows: dict[str, list[Any]] = {
        "topics": [{"id": t, "title": f"what is known of {t} {WORDS[i % 10]}"}
                   for i, t in enumerate(topics)],
        "passages": [{"docid": f"{t}p{i}", "text": text} for (t, i), text in texts.items()],
        "documents": [{"topic_id": t, "docid": f"{t}p{i}", "text": text}
                      for (t, i), text in texts.items() if i < 2],
        "candidates": [{"topic_id": t, "docids": [f"{t}p{i}" for i in range(PASSAGES)]}
                       for t in topics],
        "nuggets": [{"qid": t, "query": t, "nuggets": [
            {"text": fact, "importance": ("vital", "okay")[i % 2]}
            for i, fact in enumerate(facts[t])]} for t in topics],
        "reports": [{"id": t, "report": " ".join(facts[t][:QUESTIONS])} for t in topics],
        "questions": [{"id": t, "subquestions": [f"Is it so that {f[:-1]}?"
                       for f in facts[t][:QUESTIONS]]} for t in topics],
        "items": [{"topic_id": t, "run_id": f"run{run}", "sentence_id": str(i), "claim": fact,
                   "source": texts[t, run]} for t in topics for run in range(RUNS)
                  for i, fact in enumerate(facts[t])],
    }  # fmt: skip
    for run in range(RUNS):
        rows[f"run{run}"] = [_report(chance, f"run{run}", t, facts[t]) for t in topics]
    for name, of_name in rows.items():
        text = "".join(json.dumps(row) + "\n" for row in of_name)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    ranks = [f"{t} Q0 {t}p{i} {i + 1} {9 - i} bm25\n" for t in topics for i in range(3)]
    (folder / "bm25.run").write_text("".join(ranks), encoding="utf-8")
    pool = [f"{t} 0 {t}p{i} 1\n" for t in topics for i in range(PASSAGES)]
    (folder / "pool.txt").write_text("".join(pool), encoding="utf-8")
    (folder / "holds.yaml").write_text(OWN_JUDGE, encoding="utf-8")


def _fact(chance: random.Random, topic: str, number: int) -> str:
    words = " ".join(chance.sample(WORDS, 3))
    return f"Fact {number} of {topic} says {words} {chance.randrange(1000)}."


def _report(chance: random.Random, run_id: str, topic: str, facts: list[str]) -> dict[str, Any]:
    sentences = [
        {"text": text, "citations": chance.sample(range(PASSAGES), 2)}
        for text in chance.sample(facts, SENTENCES)
    ]
    references = [f"{topic}p{i}" for i in range(PASSAGES)]
    row = {"run_id": run_id, "topic_id": topic, "topic": topic, "references": references}
    return row | {"response_length": 40, "answer": sentences}


def jobs() -> list[Job]:
    """All programs, each with what it makes and with what is given."""
    answers = {"topics": "topics.jsonl", "runs": [f"run{run}.jsonl" for run in range(RUNS)]}
    passages = {"passages": ["passages.jsonl"]}
    read = {**answers, **passages}
    given, ranked = {"nuggets": "nuggets.jsonl"}, {"candidates": "candidates.jsonl"}
    documents, questions = {"documents": "documents.jsonl"}, {"questions": "questions.jsonl"}
    contexts = {"retrieval": ["bm25.run"], "reference": "reports.jsonl"}
    every = {"support": {"citations": "all"}}
    windows = {"judges": {"assigner": {"window": 3}, "answerability": {"window": 2}}}
    once = {"keypoints": {"samples": 1}}  # each sample sends the same request again
    loop = {"pipelines": {"plain": ["bm25 3"], "ordered": ["bm25 3", "listwise"]}}
    plain = {"pipelines": {"plain": ["bm25 3"]}, "run": {"allow_missing": 1.0}}
    topics = {"topics": "topics.jsonl", **passages}
    generate = {"generate": {"k": 3}}

    def job(
        name: str, program: str, data: dict[str, Any], is_fixed: bool = True, **more: Any
    ) -> Job:
        return Job(name, {"program": program.split(), "data": data, **more}, is_fixed)

    return [
        job("support, nuggets given", "support nuggets", {**read, **given}, **every, **windows),
        job("relevance", "relevance", {**topics, **ranked}),
        job("nuggets made", "nuggets", {**read, **ranked}, False, **windows),
        job("key points made", "keypoints", {**answers, **documents}, False, **once),
        job("coverage, questions given", "coverage", {**read, **contexts, **questions},
            coverage={"k": 2}, **windows),
        job("coverage, questions made", "coverage", {**read, **contexts, "pool": "pool.txt"},
            False, coverage={"k": "required", "n": QUESTIONS}, **windows),
        job("items of an own judge", "items", {"items": "items.jsonl"},
            items={"judge": "holds.yaml"}),
        job("closed loop", "support nuggets", {**topics, **given}, False,
            **loop, **generate, **windows),
        job("closed loop, some missing", "support nuggets", {**topics, **given}, False,
            **plain, **generate, **windows),
    ]  # fmt: skip


def write_config(path: Path, job: Job, base_url: str, timeout_s: float) -> None:
    """The job's config file (JSON is YAML), with the endpoint that answers."""
    model = {
        "model": "hosted_vllm/mock", "api_base": base_url, "endpoint": "storm",
        "api_key_env": KEY_VARIABLE, "timeout_s": timeout_s, "retries": 1, "reasks": 1,
        "concurrency": 64,
    }  # fmt: skip
    config = {**job.config, "models": {"default": model}}
    config["run"] = {**job.config.get("run", {}), "concurrency": 64}
    path.write_text(json.dumps(config), encoding="utf-8")
