"""`judge retrieve`: contexts for topics, found in passages by pipelines, as TREC runs."""

from __future__ import annotations

import importlib.metadata
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from ..backends.budget import Budget
from ..backends.loop import run_sync
from ..records.problems import InputError, Problems
from ..records.questions import read_question_sets
from ..records.ratings import Ratings, read_ratings
from ..records.rows import QuestionSet, Ranking, Topic
from ..records.runs import write_trec_run
from ..records.topics import read_topics
from .collection import RETRIEVAL_FILES, Collection
from .config import Config, JudgeName
from .coverage import add_pools
from .coverage_inputs import read_coverage_inputs
from .coverage_topic import CoverageData, TopicView
from .indexing import Indexes
from .judged_steps import JudgedSteps
from .manifest import fingerprint_of, input_hashes
from .panel import Panel
from .pipeline import CoverageStep, ListwiseStep, RunStep, SetwiseStep, Step, name_of
from .ranking_steps import PassageTexts, Rankings, RankingSteps
from .session import budget_of, check_prices, open_cache
from .writing import check_writable, writing

MANIFEST_END = ".manifest.json"  # behind the name of what was written


def retrieve(
    config: Config,
    out: Path,
    *,
    quiet: bool = True,
    panel: Panel | None = None,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Run the pipelines of a config and write a TREC run of each.

    Replies of models are kept in the reply cache: started again after a kill, nothing that was
    answered is asked again.

    Args:
        config: `retrieve` or `pipelines`, `data`, models and judges are used.
        out: a file for one pipeline (.run, .trec or .txt), or a folder: `<name>.run` of each.
        quiet: draw no progress bar.
        panel: the judges to ask; None: those of the config.
        budget: shared with other programs; None: that of the config.

    Returns: the manifest, which is written beside the file, or into the folder: settings, inputs,
        and of each run how many topics have passages and how many were found.
    Raises: InputError for bad input; EndpointUnusable when no request can succeed. No run is
        written then.
    """
    pipelines = pipelines_of(config)
    files = _files(out, pipelines)
    check_writable(out)
    inputs = {**input_hashes(config), **_run_hashes(pipelines)}
    problems = Problems()
    topics = _topics(config, problems)
    judges = judges_of(pipelines)
    check_prices(config, judges)
    cache = open_cache(config, judges)
    budget = budget or budget_of(config)
    before = replace(budget.usage)
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
            panel = panel or Panel(config.here(), cache=cache, budget=budget)
            indexes = Indexes(
                config.data.passages, config.data.index, Path(work), problems, quiet=quiet
            )
            judged = JudgedSteps(panel, *_given(config, problems))
            problems.raise_errors()
            steps = RankingSteps(
                config,
                topics,
                indexes,
                PassageTexts(config.data.passages, problems),
                judged,
                lambda: _required(config, topics),
                budget.usage,
                quiet=quiet,
            )
            found = run_sync(_all(panel, steps, pipelines))
    finally:
        if cache is not None:
            cache.close()
    for name, path in files.items():
        _write(path, name, found[name])
    spent = budget.usage.since(before)
    manifest = {
        "program": "retrieve",
        "fingerprint": fingerprint_of(config, inputs),
        "version": importlib.metadata.version("nuggetjudge"),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": inputs,
        "judges": panel.identities(),
        "runs": {name: _counts(files[name], rankings) for name, rankings in found.items()},
        "problems": problems.counts(),
        "counts": dict(judged.counts),
        "asked": dict(judged.asked),
        "failed": dict(judged.failed),
        "share_missing": judged.failed.total() / max(1, judged.asked.total()),
        "limit_reached": budget.reached or None,
        "this_time": {
            "requests": spent.requests,
            "cache_hits": spent.cache_hits,
            "tokens": spent.tokens,
            "cost": spent.known_cost,
            "seconds": round(time.monotonic() - began, 3),
            "seconds_by_step": {step: round(s, 3) for step, s in steps.seconds.items()},
        },
    }
    beside = _manifest_of(out, files)
    with writing(beside):
        beside.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))
    return manifest


def pipelines_of(config: Config) -> dict[str, tuple[Step, ...]]:
    """The pipelines of a config by the names of their runs. Raises: InputError if it has none."""
    found: dict[str, tuple[Step, ...]] = dict(config.pipelines)
    if config.retrieve:
        name = name_of(config.retrieve)
        if name in found:
            raise InputError(f"pipelines.{name}: has the name that retrieve: gives its run")
        found[name] = config.retrieve
    if not found:
        raise InputError("no pipeline: name one (--pipeline, retrieve: or pipelines:)")
    for name in found:
        if not name or name.split() != [name] or "/" in name:
            raise InputError(f"pipelines: {name!r} names a run and a file, wanted no space or /")
    return found


def judges_of(pipelines: Mapping[str, Sequence[Step]]) -> list[JudgeName]:
    """The judges that pipelines may ask."""
    found: dict[JudgeName, None] = {}
    for step in (step for steps in pipelines.values() for step in steps):
        if isinstance(step, ListwiseStep):
            found["listwise"] = None
        elif isinstance(step, SetwiseStep):
            found["setwise"] = None
        elif isinstance(step, CoverageStep):
            found["answerability"] = None
            if step.questions == "made":
                found["question_decomposer"] = None
    return list(found)


async def _all(
    panel: Panel, steps: RankingSteps, pipelines: Mapping[str, Sequence[Step]]
) -> dict[str, Rankings]:
    try:
        return {name: await steps.run(pipeline) for name, pipeline in pipelines.items()}
    finally:
        await panel.aclose()


def _topics(config: Config, problems: Problems) -> dict[str, Topic]:
    if config.data.topics is None:
        raise InputError("no topics: name a file of them (data.topics, --topics)")
    topics = read_topics(config.data.topics, problems)
    problems.raise_errors()
    for topic_id in topics:
        if topic_id.split() != [topic_id]:
            raise InputError(f"{config.data.topics}: topic {topic_id!r}, wanted no white space")
    return dict(list(topics.items())[: config.run.limit])


def _given(config: Config, problems: Problems) -> tuple[dict[str, QuestionSet], Ratings]:
    """The sub-questions and ratings that the data has."""
    if config.data.questions is None:
        return {}, {}
    questions = read_question_sets(config.data.questions, problems)
    ratings: Ratings = {}
    for path in config.data.ratings:
        for topic, given in read_ratings(path, problems, questions).items():
            ratings.setdefault(topic, {}).update(given)
    return questions, ratings


def _required(config: Config, topics: Mapping[str, Topic]) -> dict[str, int]:
    """The size of Z* of each topic. Raises: InputError if the data does not say it."""
    if config.data.questions is None or not config.data.ratings:
        what = "rated sub-questions say how many (data.questions and data.ratings)"
        raise InputError(f"as many passages as required: {what}")
    problems = Problems()
    inputs = read_coverage_inputs(config.data, config.coverage, [], dict(topics), problems)
    problems.raise_errors()
    questions = inputs.questions or {}
    if lost := [topic for topic in topics if topic not in questions]:
        raise InputError(f"{config.data.questions}: no sub-questions of topic {lost[0]!r}")
    data = CoverageData(
        {topic: questions[topic] for topic in topics},
        {topic: dict(inputs.ratings.get(topic, {})) for topic in topics},
    )
    add_pools(data, Collection(dict(topics), [], coverage=inputs))
    return {topic: len(TopicView(data, topic, config.coverage).required) for topic in topics}


def _files(out: Path, names: Iterable[str]) -> dict[str, Path]:
    if not out.name.endswith(RETRIEVAL_FILES):
        return {name: out / f"{name}.run" for name in names}
    if len(names := list(names)) > 1:
        raise InputError(f"{out}: {len(names)} pipelines, wanted a folder to write their runs to")
    return {names[0]: out}


def _manifest_of(out: Path, files: Mapping[str, Path]) -> Path:
    is_file = out in files.values()
    return out.with_name(out.name + MANIFEST_END) if is_file else out / "manifest.json"


def _write(path: Path, name: str, rankings: Rankings) -> None:
    rows = (
        Ranking(
            run_id=name,
            topic_id=topic,
            passage_ids=tuple(each.passage_id for each in ranked),
            scores=tuple(each.score for each in ranked),
        )
        for topic, ranked in rankings.items()
    )
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        write_trec_run(part, rows)
        part.replace(path)


def _counts(path: Path, rankings: Rankings) -> dict[str, Any]:
    sizes = [len(ranked) for ranked in rankings.values()]
    return {
        "file": str(path),
        "topics": sum(map(bool, sizes)),
        "topics_without_passages": [topic for topic, ranked in rankings.items() if not ranked],
        "passages": sum(sizes),
    }


def _run_hashes(pipelines: Mapping[str, Sequence[Step]]) -> dict[str, str]:
    import hashlib

    found = {}
    for step in (step for steps in pipelines.values() for step in steps):
        if isinstance(step, RunStep):
            try:
                found[str(step.path)] = hashlib.sha256(step.path.read_bytes()).hexdigest()
            except OSError as error:
                raise InputError(f"{step.path}: cannot be read ({error.strerror})") from None
    return found
