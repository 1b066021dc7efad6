"""Searches for nuggets and answers, measured: the tables of docs/benchmarks/nugget-search.md.

    python -m benchmarks.pages.nugget_search DATA

DATA holds rag24_e2e (topics.tsv, passages.jsonl, candidates.jsonl, qrels_nist.txt and
nuggets_nist.jsonl, the lists that people edited) and crux_duc (queries.jsonl, passages.jsonl,
human_t1.jsonl, human_t2.jsonl). The lexical judges answer.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pydantic import TypeAdapter

from nuggetjudge.agents import Limits
from nuggetjudge.agents.nugget_searcher import NuggetSearcher
from nuggetjudge.agents.researcher import Researcher
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import NuggetImportance, Nuggetizer
from nuggetjudge.judges.lexical.keypoints import STATED, measure_stated
from nuggetjudge.programs.config.pipelines import SearchPipeline
from nuggetjudge.programs.config.sections import Config, NuggetsConfig
from nuggetjudge.programs.pipelines.searching import PipelineCorpus
from nuggetjudge.records.documents import read_candidates
from nuggetjudge.records.judgements import Judged
from nuggetjudge.records.nuggets import read_nugget_banks
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.relevance import read_qrels
from nuggetjudge.records.topics import read_topics

NUMBERS = NuggetsConfig()
ETA = 3  # grade from which a passage answers


@dataclass
class Made:
    """The list of one topic: `texts` after the cut, and what it took."""

    texts: list[str]
    calls: int
    passages: list[str]
    stop: str = "–"


def corpus(folder: Path, steps: str) -> PipelineCorpus:
    """The passages of a set, searched by these steps."""
    data = {"data": {"passages": [str(folder / "passages.jsonl")]}, "run": {"cache": False}}
    pipeline = TypeAdapter(SearchPipeline).validate_python(steps)
    return PipelineCorpus(Config.model_validate(data), pipeline)


async def kept_nuggets(question: str, texts: Sequence[str]) -> list[str]:
    """The nuggets that a bank keeps, vital ones first."""
    labels, _ = await NuggetImportance("lexical").label(question, texts)
    rated = sorted(zip(texts, labels, strict=True), key=lambda pair: str(pair[1]) != "vital")
    return [text for text, _ in rated[: NUMBERS.keep]]


async def windows(question: str, texts: Sequence[str], ids: list[str], window: int = 10) -> Made:
    """A list as it is made without a search."""
    nuggets, _, calls = await Nuggetizer("lexical", window=window).create(question, texts)
    return Made(await kept_nuggets(question, nuggets), len(calls), ids)


async def found(searcher: NuggetSearcher, question: str, start: Sequence[str] = ()) -> Made:
    """A list that was searched for."""
    outcome = await searcher.outcome(topic_id="", question=question, start=start)
    assert isinstance(outcome, Judged)  # the lexical judges fail on nothing
    made = outcome.values["made"]
    texts = await kept_nuggets(question, [nugget["text"] for nugget in made["nuggets"]])
    return Made(texts, made["calls"], made["read"], made["stop"])


async def lists(folder: Path) -> dict[str, dict[str, Made]]:
    """For each way of making lists those of all topics."""
    problems = Problems()
    topics = read_topics(folder / "topics.tsv", problems)
    ranked = read_candidates(folder / "candidates.jsonl", problems).rankings
    grades = read_qrels(folder / "qrels_nist.txt", problems)
    steps = "bm25 50, mmr 10"
    searched, deep = corpus(folder, steps), corpus(folder, "bm25 200")
    searcher = NuggetSearcher(searched, model="lexical")
    by_way: dict[str, dict[str, Made]] = {}
    for name, topic in topics.items():

        def texts(ids: Sequence[str]) -> list[str]:
            passages = (searched.passage(i) for i in ids)
            return [passage.text for passage in passages if passage is not None]

        of_topic = grades.get(name, {})
        relevant = [
            i
            for i in ranked[name].passage_ids
            if of_topic.get(i, 0) >= NUMBERS.min_grade and searched.passage(i) is not None
        ]
        question = topic.question
        today = await windows(question, texts(relevant), relevant)
        seeds, _, _ = await Nuggetizer("lexical").create(question, texts(relevant))
        search = await found(searcher, question)
        started = await found(searcher, question, seeds)
        best = [i for i, _ in (await deep.search(question))[: search.calls]]
        rows = {
            "windows, candidates that people graded relevant": today,
            "search": search,
            "windows, the passages that the search read": await windows(
                question, texts(search.passages), search.passages
            ),
            "windows of one passage, as many calls as the search": await windows(
                question, texts(best), best, window=1
            ),
            "search, start: window": started,
        }
        for way, made in rows.items():
            by_way.setdefault(way, {})[name] = made
    return by_way


def shares(made: Sequence[str], wanted: Sequence[str], vital: Sequence[str]) -> list[float]:
    """Vital nuggets found, those found where each states the other, and precision."""

    def is_in(text: str, others: Sequence[str], *, both: bool = False) -> bool:
        pairs = ((measure_stated(text, o), measure_stated(o, text)) for o in others)
        return any((min(pair) if both else pair[0]) >= STATED for pair in pairs)

    stated_in_one = [is_in(text, made) for text in vital]
    both = [is_in(text, made, both=True) for text in vital]
    right = [is_in(text, wanted) for text in made]
    return [fmean(each) if each else 0.0 for each in (stated_in_one, both, right)]


def search_table(folder: Path) -> None:
    """Print what each way finds of the lists of people."""
    banks = read_nugget_banks(folder / "nuggets_nist.jsonl", Problems())
    print("| nuggets made by | calls | passages | nuggets | vital found | both ways | precision |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    ends: dict[str, list[str]] = {}
    for way, made in run_sync(lists(folder)).items():
        rows = []
        for name, of_topic in made.items():
            nuggets = banks[name].nuggets
            vital = [n.text for n in nuggets if n.importance == "vital"]
            sizes = [of_topic.calls, len(of_topic.passages), len(of_topic.texts)]
            rows.append([*sizes, *shares(of_topic.texts, [n.text for n in nuggets], vital)])
        calls, read, n, *figures = (fmean(column) for column in zip(*rows, strict=True))
        shown = " | ".join(f"{value:.3f}" for value in figures)
        print(f"| {way} | {calls:.1f} | {read:.1f} | {n:.1f} | {shown} |")
        ends[way] = [of_topic.stop for of_topic in made.values()]
    print("\n| searches that started from | topics | saturated | rounds | calls |")
    print("|---|---:|---:|---:|---:|")
    for start, way in (("nothing", "search"), ("windows", "search, start: window")):
        counts = [ends[way].count(why) for why in ("nothing_new", "rounds", "calls")]
        print(f"| {start} | {len(ends[way])} | {' | '.join(map(str, counts))} |")


def answerable(folder: Path) -> tuple[dict[Any, bool], Mapping[str, dict[Any, bool]]]:
    """By topic and question: whether a passage answers, as the agent and as others say."""

    def rows(name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (folder / name).open(encoding="utf-8")]

    t1: dict[Any, bool] = {}
    for row in rows("human_t1.jsonl"):
        key = row["qid"], row["question_idx"]
        t1[key] = t1.get(key, False) or bool(row["majority"])
    t2: dict[Any, bool] = {}
    for row in rows("human_t2.jsonl"):
        key = row["qid"], row["question_idx"]
        ratings = [row[name] for name in ("a1", "a2", "a3") if row.get(name) is not None]
        t2[key] = t2.get(key, False) or fmean(ratings) >= ETA
    queries = {row["qid"]: row for row in rows("queries.jsonl")}
    removed = {(t, i): False for t, row in queries.items() for i in row.get("nulled_in_t1") or ()}
    researcher = Researcher(corpus(folder, "bm25 5"), Limits(calls=1000), model="lexical")
    answers: dict[Any, bool] = {}
    for topic in sorted({topic for topic, _ in (*t1, *t2)}):
        questions = queries[topic]["sub_questions"]
        texts = [each["text"] for each in questions]
        outcome = run_sync(researcher.outcome(topic_id=topic, question="", questions=texts))
        assert isinstance(outcome, Judged)
        made = outcome.values["made"]["questions"]
        for question, of_question in zip(questions, made, strict=True):
            answers[topic, question["idx"]] = of_question["answered_by"] is not None
    people = {
        "a report answers it (T1, majority of 3)": t1,
        "a passage is rated 3 or more (T2)": t2,
        "removed by the authors, as no passage answers it": removed,
    }
    return answers, people


def research_table(folder: Path) -> None:
    """Print how often the agent and people find a question answerable."""
    by_agent, people = answerable(folder)
    print("\n| people say | questions | yes | the agent says yes | both the same |")
    print("|---|---:|---:|---:|---:|")
    for name, labels in people.items():
        both = [(labels[key], by_agent[key]) for key in labels if key in by_agent]
        yes, agent_yes = sum(label for label, _ in both), sum(answer for _, answer in both)
        same = sum(label == answer for label, answer in both)
        print(f"| {name} | {len(both)} | {yes} | {agent_yes} | {same} |")


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folders of data")
    data = parser.parse_args(arguments).data
    for name, table in (("rag24_e2e", search_table), ("crux_duc", research_table)):
        if (data / name).is_dir():
            table(data / name)
        else:
            print(f"{name}: not found in {data}", file=sys.stderr)


if __name__ == "__main__":
    main()
