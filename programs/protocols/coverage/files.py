"""The texts that coverage rates, and its files in a results folder: written, and read to score."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import ValidationError

from ....metrics.length import token_counter
from ....records.judgements import FAILED, OLD_FAILED
from ....records.questions import (
    answer_id,
    question_set_row,
    rating_row,
    read_question_sets,
    read_ratings,
    reference_id,
)
from ....records.reading.fields import Line, as_id, read_lines
from ....records.reading.problems import InputError
from ....records.reading.settings import plain_error
from ....records.relevance import write_diversity_qrels, write_qrels
from ...config.sections import CoverageConfig
from ...engine.results import MANIFEST, Results
from ...inputs import Collection, CoverageInputs
from ..program import Folder
from .topic import CoverageData, TopicView


class Text(NamedTuple):
    """Something that is rated: a passage, or a report under its own id. `text` None: unknown."""

    topic_id: str
    id: str
    text: str | None


class CoverageTexts:
    """Which texts are rated: first those of the pools, then contexts and reports."""

    def __init__(self, collection: Collection, data: CoverageData) -> None:
        self._collection = collection
        self._inputs = get_inputs(collection)
        self._data = data

    def of_pools(self) -> Iterator[Text]:
        """The passages of the pools, and the reference reports."""
        for topic_id in self._collection.topics:
            pool = self._inputs.select_judged(topic_id, self._data.pools.get(topic_id, ()))
            yield from self._passages(topic_id, pool)
            if (report := self._inputs.reports.get(topic_id)) is not None:
                yield Text(topic_id, reference_id(topic_id), report)

    def of_systems(self) -> Iterator[Text]:
        """The passages of all contexts, each once, and the answers that have text."""
        for topic_id in self._collection.topics:
            names = dict.fromkeys(
                name
                for rankings in self._data.rankings.values()
                for name in self._inputs.select_judged(topic_id, rankings.get(topic_id, ()))
            )
            pool = set(self._data.pools.get(topic_id, ()))
            yield from self._passages(topic_id, (name for name in names if name not in pool))
        for answer in self._collection.answers():
            if answer.text.strip():
                name = answer_id(answer.topic_id, answer.run_id)
                yield Text(answer.topic_id, name, answer.text)

    def _passages(self, topic_id: str, names: Iterable[str]) -> Iterator[Text]:
        for name in names:
            passage = self._collection.passages.get(name)
            yield Text(topic_id, name, None if passage is None else passage.text)


def get_inputs(collection: Collection) -> CoverageInputs:
    """What was read for coverage. Raises: ValueError if nothing was."""
    if collection.coverage is None:
        raise ValueError("the collection was loaded without the inputs of coverage")
    return collection.coverage


def make_token_counter(settings: CoverageConfig) -> Callable[[str], int]:
    """What counts tokens. Raises: InputError if there is no such tokenizer."""
    try:
        return token_counter(settings.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None


def add_tokens(data: CoverageData, collection: Collection, count: Callable[[str], int]) -> None:
    """Count the tokens of every text whose length matters and that is there."""
    names = {name for pool in data.pools.values() for name in pool}
    names.update(n for of in data.rankings.values() for ids in of.values() for n in ids)
    passages = collection.passages
    data.tokens.update((name, count(passages[name].text)) for name in names if name in passages)
    for topic_id, report in get_inputs(collection).reports.items():
        data.tokens[reference_id(topic_id)] = count(report)
    data.reports.update((run_id, {}) for run_id in collection.run_ids)
    for answer in collection.answers():
        name = answer_id(answer.topic_id, answer.run_id)
        has_text = bool(answer.text.strip())
        data.reports[answer.run_id][answer.topic_id] = name if has_text else None
        data.tokens[name] = count(answer.text)


QUESTIONS, RATINGS = "questions.jsonl", "ratings.jsonl"
POOLS, CONTEXTS, RANKS = "pools.jsonl", "contexts.jsonl", "ranks.jsonl"
WHY = "rating_evidence.jsonl"  # what the judge quotes for ratings, where it says why
REPORTS = "rated_reports.jsonl"
UNASKED = "topics_without_questions"  # in the manifest: those whose questions could not be made


def write_coverage(data: CoverageData, settings: CoverageConfig, results: Results) -> None:
    """Write all files but the scores."""
    views = {topic: TopicView(data, topic, settings) for topic in data.questions}
    grades = write_ratings(data, views, results)
    with results.open(POOLS) as rows:
        for topic_id, view in views.items():
            pool = {"topic_id": topic_id, "passage_ids": view.pool, "required": view.required}
            rows.write({**pool, "tokens": [data.tokens.get(name) for name in view.pool]})
    with results.open(CONTEXTS) as rows:
        for run_id, topic_id, ids in _contexts(data):
            context = {"run_id": run_id, "topic_id": topic_id, "passage_ids": ids}
            tokens = None if ids is None else [data.tokens.get(name) for name in ids]
            lost = {FAILED: True} if (run_id, topic_id) in data.no_context else {}
            rows.write({**context, "tokens": tokens, **lost})
    with results.open(REPORTS) as rows:
        for topic_id in data.questions:
            if (name := reference_id(topic_id)) in data.ratings.get(topic_id, {}):
                reference = {"topic_id": topic_id, "report_id": name}
                rows.write({**reference, "tokens": data.tokens.get(name)})
        for run_id, reports in sorted(data.reports.items()):
            for topic_id, report in reports.items():
                row = {"run_id": run_id, "topic_id": topic_id, "report_id": report}
                rows.write({**row, "tokens": None if report is None else data.tokens[report]})
    with results.open(RANKS) as rows:
        for run_id, topic_id, ids in _contexts(data):
            for step in views[topic_id].steps(ids or ()) if topic_id in views else ():
                rows.write({"run_id": run_id, "topic_id": topic_id, **step})
    _count(views, grades, results)


def write_ratings(
    data: CoverageData, views: Mapping[str, TopicView], results: Results
) -> dict[str, dict[str, int]]:
    """Write the questions, the ratings and both kinds of qrels; returns the passages' grades."""
    with results.open(QUESTIONS) as rows:
        for questions in data.questions.values():
            rows.write(question_set_row(questions))
    with results.open(RATINGS) as rows:
        for topic_id in data.questions:
            for name, ratings in data.ratings.get(topic_id, {}).items():
                rows.write(rating_row(topic_id, name, ratings))
    grades = {topic_id: view.grades() for topic_id, view in views.items()}
    write_qrels(results.part("qrels.txt"), grades)
    by_question = {topic_id: view.by_question() for topic_id, view in views.items()}
    write_diversity_qrels(results.part("diversity_qrels.txt"), by_question)
    return grades


def read_coverage(folder: Folder) -> tuple[CoverageData, CoverageConfig]:
    """What a run of the coverage program left, and the settings it was scored with.

    Raises: InputError if the folder holds no such run, or a broken file.
    """
    problems = folder.problems
    if (pools := folder.file(POOLS)) is None:
        what = f"has no {POOLS}, so it is not a folder of the coverage task"
        raise InputError(f"{folder.path}: {what}")
    unasked = list(folder.notes.get(UNASKED, ()))
    path, questions = folder.need(QUESTIONS), {}
    if path.stat().st_size or not unasked:  # it is empty where all of them failed
        questions = read_question_sets(path, problems)
    data = CoverageData(questions, read_ratings(folder.need(RATINGS), problems, questions))
    for line in read_lines(pools, problems):
        data.pools[str(line.id("topic_id"))] = _ids(line, data.tokens)
    for line in read_lines(folder.need(CONTEXTS), problems):
        run_id, topic_id = str(line.id("run_id")), str(line.id("topic_id"))
        rankings = data.rankings.setdefault(run_id, {})
        if line.row.get("passage_ids") is not None:
            rankings[topic_id] = _ids(line, data.tokens)
        elif line.row.get(FAILED) or line.row.get(OLD_FAILED):
            data.no_context.add((run_id, topic_id))
    data.unasked = unasked
    data.no_report = set(folder.failed)
    data.reports.update((run_id, {}) for run_id in folder.data.get("run_ids", ()))
    for line in read_lines(folder.need(REPORTS), problems):
        if (name := line.optional_id("report_id")) is not None:
            _count_tokens(line, "tokens", name, line.row.get("tokens"), data.tokens)
        if (answered := line.optional_id("run_id")) is not None:
            data.reports.setdefault(answered, {})[str(line.id("topic_id"))] = name
    problems.raise_errors()
    return data, _settings(folder)


def _settings(folder: Folder) -> CoverageConfig:
    """The settings of the run. Raises: InputError for what this version cannot read."""
    try:
        return CoverageConfig.model_validate(folder.notes["config"].get("coverage"))
    except ValidationError as error:
        at, what = plain_error(error.errors(include_url=False)[0])
        where = f"{folder.path / MANIFEST}: config.coverage"
        raise InputError(f"{'.'.join((where, *at))}: {what}") from None


def _ids(line: Line, tokens: dict[str, int]) -> tuple[str, ...]:
    """The passages of a row, whose token counts are recorded."""
    ids, counts = line.array("passage_ids") or [], line.array("tokens") or []
    if len(ids) != len(counts):
        line.error("bad_field", f"{len(ids)} passage_ids and {len(counts)} tokens, wanted as many")
    for index, (name, n_tokens) in enumerate(zip(ids, counts, strict=False)):
        if as_id(name) is None:
            line.bad(f"passage_ids[{index}]", name, "an id (text or whole number)")
        _count_tokens(line, f"tokens[{index}]", str(name), n_tokens, tokens)
    return tuple(map(str, ids))


def _count_tokens(line: Line, field: str, name: str, value: Any, tokens: dict[str, int]) -> None:
    """Record the tokens of a text; null where they are not known."""
    if type(value) is int and value >= 0:
        tokens[name] = value
    elif value is not None:
        line.bad(field, value, "a number of tokens or null")


def _contexts(data: CoverageData) -> Iterator[tuple[str, str, tuple[str, ...] | None]]:
    """All runs on all topics; None where a run has no ranking."""
    for run_id, rankings in sorted(data.rankings.items()):
        for topic_id in data.topics:
            yield run_id, topic_id, rankings.get(topic_id)


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
        ("topics without a pool", sum(not view.pool for view in views.values())),
        (
            "topics without an answerable question",
            sum(bool(v.pool) and not (v.answerable != 0).any() for v in views.values()),
        ),
        ("passages of unknown grade (not in qrels.txt)", open_),
    ):
        if n:
            results.count(what, n)
