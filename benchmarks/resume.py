"""CPU of starting a run again whose judgements are all in its journal.

A first run of the support program asks the mock endpoint; then `nuggetjudge.run` with the same
settings, in a fresh process, reads and checks the inputs, finds every judgement in the journal,
and writes the same results. It must ask nothing.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from .processes import cpu_s, light_server, measure, peak_mb
from .tables import Bound, Report
from .texts import pair

RUNS, SENTENCES = 50, 10  # sentences of one answer, each with one citation
PASSAGES = 20  # of one topic
# For 100,000 judgements. What a run costs however small it is counts more in the smoke size.
MOST_CPU_S, MOST_CPU_S_SMOKE = 3.0, 10.0
RESULTS = ("support.jsonl", "scores.jsonl", "unjudged.jsonl", "problems.jsonl")


def bench(is_smoke: bool) -> Report:
    """One first run, then rounds of the resumed one, each in a process of its own."""
    n_topics, n_rounds = (10, 2) if is_smoke else (200, 5)
    n = n_topics * RUNS * SENTENCES
    with tempfile.TemporaryDirectory() as name, light_server() as server:
        folder = Path(name)
        _write_collection(folder, n_topics)
        first = measure("resume", folder=name, url=server.url)
        results = _digests(folder)
        resumed = [measure("resume", folder=name, url=server.url) for _ in range(n_rounds)]
        n_asked = server.stats()["requests"]
        is_same = _digests(folder) == results
    if n_asked != n or first["n_judged"] != n or not is_same:
        raise AssertionError(f"{n_asked} requests for {n} judgements, same results: {is_same}")
    scale = 100_000 / n
    cpu = median(found["run_s"] for found in resumed)
    return Report(
        f"resume: {n:,} finished judgements, median of {n_rounds} rounds",
        [
            ("part", "CPU s", "CPU us each", "lowest-highest s", "peak MB"),
            _row("first run, asking", [first], "run_s", n),
            _row("resumed run", resumed, "run_s", n),
            _row("the same with start-up and imports", resumed, "process_s", n),
        ],
        [
            Bound(
                "resumed run, for 100,000 judgements",
                cpu * scale,
                MOST_CPU_S_SMOKE if is_smoke else MOST_CPU_S,
                "CPU s",
            )
        ],
        ["The resumed run asked nothing and wrote the same bytes.", ""],
    )


def main(folder: str, url: str) -> dict[str, float]:
    """Run the support program on the collection in this process."""
    from nuggetjudge.programs.run import run

    imported = cpu_s()
    base = Path(folder)
    result = run(
        program="support",
        topics=str(base / "topics.tsv"),
        runs=str(base / "runs"),
        passages=str(base / "passages.jsonl"),
        model={"model": "hosted_vllm/light", "api_base": url},
        out=str(base / "results"),
        cache=str(base / "replies"),
        concurrency=64,
    )
    ended = cpu_s()
    return {
        "run_s": ended - imported,
        "process_s": ended,
        "peak_mb": peak_mb(),
        "n_judged": result.n_judged,
    }


def _row(name: str, rounds: list[dict[str, float]], part: str, n: int) -> tuple[str, ...]:
    cpu = [found[part] for found in rounds]
    peak = median(found["peak_mb"] for found in rounds)
    spread = f"{min(cpu):.2f}-{max(cpu):.2f}"
    return (name, f"{median(cpu):.2f}", f"{median(cpu) / n * 1e6:.1f}", spread, f"{peak:.0f}")


def _write_collection(folder: Path, n_topics: int) -> None:
    """RUNS runs that answer every topic; sentences and passages all differ."""
    with (folder / "topics.tsv").open("w") as topics:
        for topic in range(n_topics):
            topics.write(f"{topic}\tquestion {topic}\n")
    with (folder / "passages.jsonl").open("w") as passages:
        for number in range(n_topics * PASSAGES):
            row = {"docid": f"d{number}", "text": pair(number)[1]}
            passages.write(json.dumps(row) + "\n")
    (folder / "runs").mkdir()
    for run in range(RUNS):
        with (folder / "runs" / f"run{run:02}.jsonl").open("w") as answers:
            for topic in range(n_topics):
                answers.write(json.dumps(_answer(run, topic)) + "\n")


def _answer(run: int, topic: int) -> dict[str, Any]:
    first = (topic * RUNS + run) * SENTENCES
    texts = [pair(first + i)[0].replace("\n", " ") for i in range(SENTENCES)]
    return {
        "run_id": f"run{run:02}",
        "topic_id": str(topic),
        "topic": f"question {topic}",
        "references": [f"d{topic * PASSAGES + i}" for i in range(PASSAGES)],
        "response_length": sum(len(text.split()) for text in texts),
        "answer": [
            {"text": text, "citations": [(run + i) % PASSAGES]} for i, text in enumerate(texts)
        ],
    }


def _digests(folder: Path) -> list[str]:
    files = [folder / "results" / name for name in RESULTS]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
