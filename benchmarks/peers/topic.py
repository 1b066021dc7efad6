"""Requests and input tokens of one topic: the table of docs/benchmarks/decision-models.md.

    python -m benchmarks.peers.topic DATA

A topic with 20 segments, 3 answers and 30 nuggets, of DATA's rag24_e2e and rag24_nuggets. A token
is 4 characters for all, as in a dry run. Ours is what a dry run counts. RAGDoll's and nuggetizer's
are computed from their sources (castorini/RAGDoll, commit 1f06719; castorini/nuggetizer, commit
d00dc3e): both make nuggets, weigh them and assign them in windows of 10, by the same templates (but
for a space), of which `ragdoll` has the lengths; RAGDoll also asks once about each segment, while
nuggetizer takes judged ones. Retries, replies and what RAGDoll's agent adds are left out. Prices
are those of LiteLLM's table, for input.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from nuggetjudge.backends.budget import CHARS_PER_TOKEN, compute_cost, get_price
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.programs.config.sections import Config
from nuggetjudge.programs.engine.dry_run import estimate_calls
from nuggetjudge.programs.engine.judge_set import JudgeSet

from ..study.sets import lines
from .ragdoll import FIXED, list_numbered, windows

LLM, DECISION = "openai/gpt-4o", "typesafe/jev-1.13.0"  # nuggetizer's default; a pinned one
N_SEGMENTS, N_ANSWERS, N_NUGGETS = 20, 3, 30


@dataclass(frozen=True)
class Topic:
    """What is judged of one topic."""

    question: str
    segments: Sequence[str]
    answers: Sequence[str]
    nuggets: Sequence[str]


class Count(NamedTuple):
    """Requests, and the tokens of their prompts."""

    requests: int
    tokens: int


STEPS = {  # judge: what it does
    "relevance": f"grade {N_SEGMENTS} segments",
    "nuggetizer": f"make nuggets of {N_SEGMENTS} segments",
    "importance": f"weigh {N_NUGGETS} nuggets",
    "assigner": f"assign {N_NUGGETS} nuggets in {N_ANSWERS} answers",
}
Counts = Mapping[str, Count]  # by judge


def count_ours(topic: Topic, model: str) -> Counts:
    """What a dry run counts; an LLM makes the nuggets where a decision model judges."""
    judges: dict[str, Any] = {"nuggetizer": {"model": "maker"}}
    models = {"default": {"model": model}, "maker": {"model": LLM}}
    config = Config.model_validate({"program": ["nuggets"], "models": models, "judges": judges})

    def ask(_: Config, judges: JudgeSet) -> None:
        for segment in topic.segments:
            judges["relevance"](question=topic.question, passage=segment)
        judges["nuggetizer"](question=topic.question, passages=list(topic.segments))
        judges["importance"](question=topic.question, nuggets=list(topic.nuggets))
        for answer in topic.answers:
            judges["assigner"](question=topic.question, answer=answer, nuggets=list(topic.nuggets))

    estimates = {one.judge: one for one in estimate_calls(config, ask)}
    return {name: Count(estimates[name].calls, estimates[name].prompt_tokens) for name in STEPS}


def count_ragdoll(topic: Topic) -> Counts:
    """A request a segment, then windows of 10; the nuggets so far are in each that makes more."""
    question, made = len(topic.question), f"{list(topic.nuggets)}{N_NUGGETS}"
    prompts = {
        "relevance": [FIXED["relevance"] + question + len(text) for text in topic.segments],
        "nuggetizer": [
            FIXED["create"] + 2 * question + len(list_numbered(window)) + len(made if i else "[]0")
            + len(str(N_NUGGETS))
            for i, window in enumerate(windows(topic.segments))
        ],
        "importance": [
            FIXED["importance"] + question + len(str(list(window))) + len(str(len(window)))
            for window in windows(topic.nuggets)
        ],
        "assigner": [
            FIXED["assign"] + question + len(answer) + len(str(list(window)))
            + len(str(len(window)))
            for answer in topic.answers
            for window in windows(topic.nuggets)
        ],
    }  # fmt: skip
    return {
        name: Count(len(sizes), sum(size // CHARS_PER_TOKEN for size in sizes))
        for name, sizes in prompts.items()
    }


def count_nuggetizer(topic: Topic) -> Counts:
    """As RAGDoll, which has its templates, without grades of segments."""
    return {name: n for name, n in count_ragdoll(topic).items() if name != "relevance"}


def read_topic(data: Path) -> Topic:
    """The first topic with enough segments and answers; nuggets of the next ones fill its list.

    Raises: FileNotFoundError if DATA has no such sets.
    """
    texts = {row["docid"]: row["text"] for row in lines(data / "rag24_e2e" / "passages.jsonl")}
    pools = {
        row["topic_id"]: [texts[one] for one in row["docids"] if one in texts]
        for row in lines(data / "rag24_e2e" / "candidates.jsonl")
    }
    by_topic: dict[str, list[dict[str, Any]]] = {}
    for row in lines(data / "rag24_nuggets" / "nugget_assignments.jsonl"):
        by_topic.setdefault(row["qid"], []).append(row)
    chosen = next(
        name
        for name, rows in by_topic.items()
        if len(rows) >= N_ANSWERS and len(pools.get(name, ())) >= N_SEGMENTS
    )
    rows = by_topic.pop(chosen)
    others = (one[0] for one in by_topic.values())
    nuggets = [nugget["text"] for row in chain(rows[:1], others) for nugget in row["nuggets"]]
    return Topic(
        rows[0]["query"],
        pools[chosen][:N_SEGMENTS],
        [row["answer_text"] for row in rows[:N_ANSWERS]],
        nuggets[:N_NUGGETS],
    )


def compute_dollars(counts: Counts, model: str) -> float:
    """What the prompts cost; those that make nuggets are the LLM's in any case."""
    total = 0.0
    for name, count in counts.items():
        price = get_price(ModelConfig(model=LLM if name == "nuggetizer" else model))
        assert price is not None, f"LiteLLM's table has no price of {model}"
        total += compute_cost(price, count.tokens, 0, 0)
    return total


def make_rows(topic: Topic) -> list[list[str]]:
    """The table: a row a step, then totals: with nuggetizer's steps, without and with making."""
    by_tool: dict[str, tuple[Counts, str]] = {
        f"decision model ({DECISION})": (count_ours(topic, DECISION), DECISION),
        f"LLM with windows ({LLM})": (count_ours(topic, LLM), LLM),
        f"RAGDoll ({LLM})": (count_ragdoll(topic), LLM),
        f"nuggetizer ({LLM})": (count_nuggetizer(topic), LLM),
    }
    rows = [["requests / input tokens", *by_tool]]
    for name, what in STEPS.items():
        cells = [_cell(counts.get(name)) for counts, _ in by_tool.values()]
        rows.append([what, *cells])
    sums = {
        "weigh and assign": ["importance", "assigner"],
        "grade, weigh and assign": ["relevance", "importance", "assigner"],
        "all four": list(STEPS),
    }
    for what, names in sums.items():
        parts = [
            ({name: counts[name] for name in names}, model) if {*names} <= counts.keys() else None
            for counts, model in by_tool.values()
        ]
        rows.append([what, *(_total(*part) if part else "–" for part in parts)])
    return rows


def _cell(count: Count | None) -> str:
    return f"{count.requests:,} / {count.tokens:,}" if count else "–"


def _total(counts: Counts, model: str) -> str:
    requests, tokens = map(sum, zip(*counts.values(), strict=True))
    return f"{requests:,} / {tokens:,}, ${compute_dollars(counts, model):.4f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers.topic")
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    try:
        topic = read_topic(parser.parse_args(arguments).data)
    except FileNotFoundError as error:
        print(f"{error.filename}: not found", file=sys.stderr)
        return
    head, *rows = make_rows(topic)
    for cells in (head, ["---", *["---:"] * (len(head) - 1)], *rows):
        print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
