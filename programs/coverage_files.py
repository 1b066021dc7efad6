"""The files of coverage in a results folder: written at the end of a run, read to score again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ..records.fields import Line, read_lines
from ..records.problems import InputError, Problems
from ..records.qrels import write_diversity_qrels, write_qrels
from ..records.questions import question_set_row, read_question_sets
from ..records.ratings import rating_row, read_ratings, reference_id
from .coverage_scores import CoverageData, CoverageSettings, TopicView, settings_of
from .manifest import config_of, read_manifest
from .results import Results

QUESTIONS, RATINGS = "questions.jsonl", "ratings.jsonl"
POOLS, CONTEXTS, RANKS = "pools.jsonl", "contexts.jsonl", "ranks.jsonl"
REPORTS = "rated_reports.jsonl"


def write_coverage(data: CoverageData, settings: CoverageSettings, results: Results) -> None:
    """Write all files but the scores."""
    views = {topic: TopicView(data, topic, settings) for topic in data.questions}
    with results.open(QUESTIONS) as rows:
        for questions in data.questions.values():
            rows.write(question_set_row(questions))
    with results.open(RATINGS) as rows:
        for topic_id in data.questions:
            for name, ratings in data.ratings.get(topic_id, {}).items():
                rows.write(rating_row(topic_id, name, ratings))
    with results.open(POOLS) as rows:
        for topic_id, view in views.items():
            tokens = [data.tokens.get(name) for name in view.pool]
            pool = {"topic_id": topic_id, "docids": view.pool, "tokens": tokens}
            rows.write({**pool, "required": view.required})
    with results.open(CONTEXTS) as rows:
        for run_id, topic_id, ids in _contexts(data):
            context = {"run_id": run_id, "topic_id": topic_id, "docids": ids}
            rows.write({**context, "tokens": [data.tokens.get(name) for name in ids]})
    with results.open(REPORTS) as rows:
        for topic_id, name in _references(data):
            rows.write({"topic_id": topic_id, "docid": name, "tokens": data.tokens.get(name)})
        for run_id, answers in sorted(data.answers.items()):
            for topic_id, report in answers.items():
                row = {"run_id": run_id, "topic_id": topic_id, "docid": report}
                rows.write({**row, "tokens": None if report is None else data.tokens[report]})
    with results.open(RANKS) as rows:
        for run_id, topic_id, ids in _contexts(data):
            for step in views[topic_id].steps(ids):
                rows.write({"run_id": run_id, "topic_id": topic_id, **step})
    grades = {topic_id: view.grades() for topic_id, view in views.items()}
    write_qrels(results.part("qrels.txt"), grades)
    by_question = {topic_id: view.answers() for topic_id, view in views.items()}
    write_diversity_qrels(results.part("diversity_qrels.txt"), by_question)
    _count(views, grades, results)


def read_coverage(folder: Path, problems: Problems) -> tuple[CoverageData, CoverageSettings]:
    """What a run of the coverage program left, and the settings it was scored with.

    Raises: InputError if the folder holds no such run, or a broken file.
    """
    config = config_of(folder)
    if not (folder / POOLS).is_file():
        raise InputError(f"{folder}: no {POOLS} in it, so it is no run of the coverage program")
    questions = read_question_sets(folder / QUESTIONS, problems)
    data = CoverageData(questions, read_ratings(folder / RATINGS, problems, questions))
    for line in read_lines(folder / POOLS, problems):
        data.pools[str(line.id("topic_id"))] = _ids(line, data.tokens)
    for line in read_lines(folder / CONTEXTS, problems):
        rankings = data.contexts.setdefault(str(line.id("run_id")), {})
        if ids := _ids(line, data.tokens):
            rankings[str(line.id("topic_id"))] = ids
    data.answers.update((run_id, {}) for run_id in read_manifest(folder)["data"]["run_ids"])
    for line in read_lines(folder / REPORTS, problems):
        name, n_tokens = line.optional_id("docid"), line.row.get("tokens")
        if name is not None and isinstance(n_tokens, int):
            data.tokens[name] = n_tokens
        if (run_id := line.optional_id("run_id")) is not None:
            data.answers.setdefault(run_id, {})[str(line.id("topic_id"))] = name
    problems.raise_errors()
    return data, settings_of(config.coverage)


def _ids(line: Line, tokens: dict[str, int]) -> tuple[str, ...]:
    """The passages of a row, whose token counts are noted."""
    ids, counts = line.array("docids") or [], line.array("tokens") or []
    if len(ids) != len(counts):
        line.error("bad_field", f"{len(ids)} docids and {len(counts)} tokens, wanted as many")
    tokens.update((str(name), n) for name, n in zip(ids, counts, strict=False) if n is not None)
    return tuple(map(str, ids))


def _contexts(data: CoverageData) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """All runs on all topics; nothing where a run has no ranking."""
    for run_id, rankings in sorted(data.contexts.items()):
        for topic_id in data.questions:
            yield run_id, topic_id, rankings.get(topic_id, ())


def _references(data: CoverageData) -> Iterator[tuple[str, str]]:
    for topic_id in data.questions:
        if reference_id(topic_id) in data.ratings.get(topic_id, {}):
            yield topic_id, reference_id(topic_id)


def _count(
    views: Mapping[str, TopicView], grades: Mapping[str, Mapping[str, Any]], results: Results
) -> None:
    """What a reader should know beside the scores."""
    questions = sum(view.answerable.size for view in views.values())
    results.count("sub-questions", questions)
    results.count("answerable sub-questions", sum(view.n_answerable for view in views.values()))
    results.count("passages in the pools", sum(len(view.pool) for view in views.values()))
    results.count("required passages", sum(len(view.required) for view in views.values()))
    open_ = sum(len(view.pool) - len(grades[topic]) for topic, view in views.items())
    for what, n in (
        ("topics without an answerable question", sum(not v.n_answerable for v in views.values())),
        ("passages of unknown grade (not in qrels.txt)", open_),
    ):
        if n:
            results.count(what, n)
