"""Made-up results of any size, judged without a model, and their page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ..processes import cpu_s, peak_mb
from ..texts import pair, window

SENTENCES = 12  # of an answer, 300 words or so
_TEXTS = re.compile(r'<script type="text/plain"[^>]*>([^<]*)</script>')


def main(step: str, home: str, sizes: Sequence[int] = (), n_unjudged: int = 0) -> dict[str, float]:
    """Take one step in this process: the results, or their page and what it took."""
    folder = Path(home)
    if step == "results":
        write_results(folder, *sizes, n_unjudged=n_unjudged)
        return {}
    from nuggetjudge.plugins.report.page import write_report
    from nuggetjudge.plugins.report.source import Source
    from nuggetjudge.records import Problems

    began = cpu_s()
    write_report(Source([folder / "results"], Problems()), folder / "report.html")
    spent = {"cpu_s": cpu_s() - began, "peak_mb": peak_mb()}
    text = (folder / "report.html").read_text(encoding="utf-8")
    n_texts = sum(len(embedded) for embedded in _TEXTS.findall(text))
    return spent | {"texts_mb": n_texts / 1e6, "beside_mb": (len(text) - n_texts) / 1e6}


def write_results(
    home: Path, n_runs: int, n_topics: int, n_nuggets: int, *, n_unjudged: int = 0
) -> None:
    """Topics, banks and answers, and `results/` of the lexical judge over them.

    Args:
        n_unjudged: rows of a list of judgements that did not arrive, which no run has.
    """
    import nuggetjudge as nj

    (home / "runs").mkdir(parents=True)
    topics = ({"topic_id": f"{t}", "query": window(t)[0]} for t in range(n_topics))
    _lines(home / "topics.jsonl", topics)
    _lines(home / "nuggets.jsonl", (_bank(t, n_nuggets) for t in range(n_topics)))
    for r in range(n_runs):
        answers = (_answer(r, t, n_runs, n_nuggets) for t in range(n_topics))
        _lines(home / f"runs/run{r:02}.jsonl", answers)
    nj.run(
        program="nuggets",
        topics=home / "topics.jsonl",
        nuggets=home / "nuggets.jsonl",
        runs=[str(home / "runs")],
        model="lexical",
        out=home / "results",
    )
    if n_unjudged:
        rows = (_missing(i, n_runs, n_topics) for i in range(n_unjudged))
        _lines(home / "results/unjudged.jsonl", rows)
        _forget_digests(home / "results/manifest.json")


def _forget_digests(path: Path) -> None:
    """Take the digests of result files out of a manifest, as one of them was changed."""
    manifest = json.loads(path.read_text(encoding="utf-8"))
    del manifest["files"]
    path.write_text(json.dumps(manifest), encoding="utf-8")


def _nuggets(topic: int, n: int) -> list[str]:
    return [text for part in range(n // 10 + 1) for text in window(topic * 50 + part)[2]][:n]


def _bank(topic: int, n: int) -> dict[str, Any]:
    nuggets = [
        {"text": text, "importance": ("vital", "okay")[i % 2]}
        for i, text in enumerate(_nuggets(topic, n))
    ]
    return {"query": window(topic)[0], "qid": f"{topic}", "nuggets": nuggets}


def _answer(run: int, topic: int, n_runs: int, n_nuggets: int) -> dict[str, Any]:
    first = (topic * n_runs + run) * SENTENCES
    sentences = [pair(first + i)[0].replace("\n", " ") for i in range(SENTENCES)]
    facts = _nuggets(topic, n_nuggets)
    for i in range(2 + run * 7 % 10):  # some runs state more of the facts
        sentences[i] += f" {facts[(i * 3 + run + topic) % n_nuggets]}."
    return {
        "run_id": f"run{run:02}",
        "topic_id": f"{topic}",
        "topic": window(topic)[0],
        "references": [],
        "response_length": sum(len(text.split()) for text in sentences),
        "answer": [{"text": text, "citations": []} for text in sentences],
    }


def _missing(i: int, n_runs: int, n_topics: int) -> dict[str, Any]:
    reason = ("timeout", "parse", "http_500", "length")[i % 4]
    return {
        "stage": "assign",
        "topic_id": f"{i // 7 % n_topics}",
        "run_id": f"run{i % n_runs:02}",
        "nugget": f"n{i:07}",
        "n": 1,
        "reason": reason,
        "detail": f"{reason} after {i % 97} s",
        "raw": f"reply {i % 1000}",
    }


def _lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
