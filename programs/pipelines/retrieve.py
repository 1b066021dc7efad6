"""`judge retrieve`: run pipelines over passages and write TREC runs."""

from __future__ import annotations

import importlib.metadata
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from ...backends.budget import Budget
from ...records.judgements import Reason
from ...records.questions import Ratings, read_question_sets, read_ratings
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, Problems, raise_at
from ...records.relevance import NO_PASSAGES, write_trec_run
from ...records.rows import QuestionSet, Ranking, Topic
from ...records.topics import read_topics
from ...records.writing import remove, rename, write_file
from ...retrieval.scored import Ranked
from ..config.base import JudgeName
from ..config.pipelines import (
    CoverageStep,
    CutStep,
    ListwiseStep,
    OracleStep,
    RankLlmStep,
    RunStep,
    SetwiseStep,
    Step,
    deep_enough,
    expand_samples,
    make_name,
    too_shallow,
)
from ..config.sections import Config
from ..engine.dry_run import estimate_calls
from ..engine.folders import check_writable_file, check_writable_folder
from ..engine.judge_set import JudgeSet, make_budget
from ..engine.manifest import input_hashes, make_fingerprint, this_time
from ..engine.results import MANIFEST
from ..engine.session import Session, run_session
from ..engine.spending import Estimate
from .indexing import Encoders, Indexes
from .judged_steps import JudgedSteps
from .ranking_steps import Rankings, RankingSteps
from .required import find_required

PROGRAM = "retrieve"  # name in the manifest
RUN_FILES = (".run", ".trec", ".txt")  # suffixes of files; other names are folders
MANIFEST_END = ".manifest.json"  # suffix of the manifest of a single run


@dataclass(frozen=True)
class RunFiles:
    """The files of runs by name, and the manifest; `gone`: earlier runs to remove.

    Files are replaced after all runs are written.
    """

    runs: Mapping[str, Path]
    manifest: Path
    gone: tuple[Path, ...] = ()

    def publish(
        self,
        rankings: Mapping[str, Mapping[str, Ranked]],
        lost: Mapping[str, Mapping[str, Reason]],
        manifest: Any,
    ) -> None:
        """Write the rankings of each run and the manifest; remove earlier runs.

        Args:
            lost: by run, the topics whose ranking could not be made, and why.

        Raises: InputError for a path that cannot be written, or ids and scores that do not fit a
            TREC run.
        """
        text = orjson.dumps(manifest, option=orjson.OPT_INDENT_2)
        parts = {
            path: path.with_name(path.name + ".part")
            for path in (*self.runs.values(), self.manifest)
        }
        try:
            for name, path in self.runs.items():
                _write_run(parts[path], name, rankings[name], lost[name])
            write_file(parts[self.manifest], text)
            for path in (self.manifest, *self.gone):  # the old manifest describes the earlier runs
                remove(path)
            for path, part in parts.items():
                rename(part, path)
        finally:
            for part in parts.values():
                with suppress(OSError):
                    part.unlink()


def run_files(out: Path, names: Iterable[str], inputs: Iterable[Path]) -> RunFiles:
    """Return the files of runs: `out` (.run, .trec, .txt) for one run, or a folder.

    Raises: InputError for several runs and one file, a path that cannot be written, an input file
        as output, and a manifest of another program.
    """
    names = list(names)
    if out.name.endswith(".gz"):
        raise InputError(f"{out}: runs cannot be compressed, wanted {', '.join(RUN_FILES)}")
    if is_file := out.name.endswith(RUN_FILES):
        if len(names) > 1:
            what = f"{len(names)} pipelines, wanted a folder for their runs"
            raise InputError(f"{out}: {what}")
        runs, manifest = {names[0]: out}, out.with_name(out.name + MANIFEST_END)
    else:
        check_writable_folder(out)
        runs, manifest = {name: out / f"{name}.run" for name in names}, out / MANIFEST
    for path in (*runs.values(), manifest):
        check_writable_file(path)
    before = _list_runs(manifest)
    gone = () if is_file else tuple(out / f"{name}.run" for name in before if name not in names)
    changed = {path.resolve() for path in (*runs.values(), manifest, *gone)}
    for path in inputs:
        if path.resolve() in changed:
            what = "is an input of this run, which would replace or remove it"
            raise InputError(f"{path}: {what}; name another --out")
    return RunFiles(runs, manifest, gone)


def _list_runs(path: Path) -> list[str]:
    """Return the names of runs in a manifest; none without a manifest.

    Raises: InputError for a manifest that `judge retrieve` did not write.
    """
    if not path.exists():
        return []
    try:
        manifest = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or manifest.get("program") != PROGRAM:
        what = "was not written by judge retrieve, which would replace it"
        raise InputError(f"{path}: {what}; name another --out")
    runs = manifest.get("runs")
    return [name for name in runs if Path(name).name == name] if isinstance(runs, dict) else []


def _write_run(
    path: Path, name: str, rankings: Mapping[str, Ranked], lost: Mapping[str, Reason]
) -> None:
    rows = (
        Ranking(
            run_id=name,
            topic_id=topic,
            passage_ids=tuple(each.passage_id for each in ranked),
            scores=tuple(each.score for each in ranked),
            failed=lost.get(topic),
        )
        for topic, ranked in rankings.items()
    )
    with raise_at(name):
        write_trec_run(path, rows)


NOT_COUNTED = "Not counted: calls of rankllm, which asks its model directly.\n"


def retrieve(
    config: Config,
    out: Path,
    *,
    quiet: bool = True,
    judge_set: JudgeSet | None = None,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Run the pipelines of a config and write a TREC run for each.

    The reply cache keeps replies of models: a run that is started again asks nothing twice.

    Args:
        config: uses `retrieve` or `pipelines`, `data`, models and judges.
        out: a file for one pipeline (.run, .trec or .txt), or a folder for `<name>.run` files.
        quiet: draw no progress bar.
        judge_set: the judges to ask; None: open the judges of the config.
        budget: a budget shared with other programs; None: the budget of the config.

    Returns: the manifest, which is written beside the file or into the folder: settings, inputs,
        and for each run the topics with passages and the number of passages. If a limit was
        reached, `limit_reached` names it; then no run is written, and existing files stay.
    Raises: InputError for bad input; EndpointUnusable if no request can succeed. No run is written
        then either.
    """
    config = config.with_steps(deep_enough)
    pipelines = read_pipelines(config)
    run_paths = [step.path for step in _steps(pipelines) if isinstance(step, RunStep)]
    inputs = {**input_hashes(config), **{str(path): hash_file(path) for path in run_paths}}
    files = run_files(out, pipelines, map(Path, inputs))
    problems = Problems()
    topics = _topics(config, problems)
    questions, ratings = _questions_and_ratings(config, pipelines, problems)
    problems.raise_errors()
    required = find_required(config, topics) if _needs_required(pipelines) else {}
    budget = budget or make_budget(config)
    before = replace(budget.usage)
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work,
        closing(Encoders(config.run.cache)) as encoders,
    ):
        data = config.data
        indexes = Indexes(data.passages, data.index, Path(work), problems, encoders, quiet=quiet)

        async def judge(session: Session) -> _Retrieved:
            judged = JudgedSteps(session.judge_set, questions, ratings)
            steps = RankingSteps(
                config, topics, indexes, judged, required, budget, problems, quiet=quiet
            )
            return await _run_pipelines(pipelines, steps, judged, session)

        found = run_session(
            config.here(),
            find_judges(pipelines),
            judge,
            retry=False,
            quiet=quiet,
            budget=budget,
            judge_set=judge_set,
        )
    written = {} if budget.reached else files.runs
    by_step = {step: round(seconds, 3) for step, seconds in found.steps.seconds.items()}
    manifest = {
        "program": PROGRAM,
        "fingerprint": make_fingerprint(config, inputs),
        "version": importlib.metadata.version("nuggetjudge"),
        "config": config.model_dump(mode="json", by_alias=True),
        "inputs": inputs,
        "judges": found.identities,
        "runs": found.count_runs(pipelines, written),
        "problems": problems.counts(),
        **_calls(found.judged, pipelines),
        "limit_reached": budget.reached or None,
        "this_time": this_time(budget.usage, before, began) | {"seconds_by_step": by_step},
    }
    if written:
        files.publish(found.rankings, found.lost, manifest)
    return manifest


class _Retrieved(NamedTuple):
    """The pipelines of a run, their rankings, and why some could not be made."""

    judged: JudgedSteps
    steps: RankingSteps
    rankings: dict[str, Rankings]
    lost: dict[str, dict[str, Reason]]
    identities: dict[str, Any]

    def count_runs(
        self, pipelines: Mapping[str, Sequence[Step]], written: Mapping[str, Path]
    ) -> dict[str, Any]:
        """Return the counts of each run, for the manifest; `written` has their files."""
        return {
            name: _counts(
                written.get(name),
                of_run,
                self.steps.cut_to_nothing(pipelines[name]),
                self.lost[name],
            )
            for name, of_run in self.rankings.items()
        }


async def _run_pipelines(
    pipelines: Mapping[str, Sequence[Step]],
    steps: RankingSteps,
    judged: JudgedSteps,
    session: Session,
) -> _Retrieved:
    """Run the pipelines one by one; a topic without a ranking gets an empty one."""
    rankings = {name: await steps.run(pipeline) for name, pipeline in pipelines.items()}
    lost = {name: steps.find_failed(pipeline) for name, pipeline in pipelines.items()}
    for name, ranked in rankings.items():
        rankings[name] = ranked | {topic: [] for topic in lost[name]}
    return _Retrieved(judged, steps, rankings, lost, session.judge_set.identities())


def plan_retrieve(config: Config) -> list[Estimate]:
    """Estimate the calls of a config's pipelines; see `estimate_calls`.

    Everything except models runs, also first stages. RankLLM asks its model directly, so it is not
    run or counted; see `asks_by_itself`.
    """
    here = find_judges(read_pipelines(config))
    return estimate_calls(
        config, lambda alone, judge_set: retrieve(alone, alone.run.out, judge_set=judge_set), here
    )


def asks_by_itself(config: Config) -> bool:
    """Return whether a step asks a model directly, so that a dry run cannot count its calls."""
    return any(isinstance(step, RankLlmStep) for step in _steps(read_pipelines(config)))


def read_pipelines(config: Config) -> dict[str, tuple[Step, ...]]:
    """Return the pipelines of a config by run name. Raises: InputError if there is none."""
    named: dict[str, tuple[Step, ...]] = dict(config.pipelines)
    if config.retrieve:
        name = make_name(config.retrieve)
        if name in named:
            raise InputError(f"pipelines.{name}: retrieve: has the same run name; rename it")
        named[name] = config.retrieve
    pipelines: dict[str, tuple[Step, ...]] = {}
    for name, steps in named.items():
        for run_id, expanded in expand_samples(name, steps).items():
            if run_id in pipelines or (run_id != name and run_id in named):
                raise InputError(
                    f"pipelines.{name}: its sample {run_id} has the name of another run; rename it"
                )
            pipelines[run_id] = expanded
    if not pipelines:
        raise InputError("no pipeline: add one (--pipeline, retrieve: or pipelines:)")
    for name in pipelines:
        if not name or name.split() != [name] or "/" in name:
            raise InputError(f"pipelines: {name!r} names a run and a file, wanted no space or /")
    return pipelines


def find_judges(pipelines: Mapping[str, Sequence[Step]]) -> list[JudgeName]:
    """Return the judges that pipelines may ask."""
    judges: dict[JudgeName, None] = {}
    for step in _steps(pipelines):
        if isinstance(step, ListwiseStep):
            judges["listwise"] = None
        elif isinstance(step, SetwiseStep):
            judges["setwise"] = None
        elif isinstance(step, CoverageStep):
            judges["answerability"] = None
            if step.questions == "made":
                judges["question_decomposer"] = None
    return list(judges)


def _topics(config: Config, problems: Problems) -> dict[str, Topic]:
    if config.data.topics is None:
        raise InputError("no topics: add a file (data.topics, --topics)")
    topics = read_topics(config.data.topics, problems)
    problems.raise_errors()
    for topic_id in topics:
        if topic_id.split() != [topic_id]:
            raise InputError(f"{config.data.topics}: topic {topic_id!r}, wanted no white space")
    return dict(list(topics.items())[: config.run.limit])


def _questions_and_ratings(
    config: Config, pipelines: Mapping[str, Sequence[Step]], problems: Problems
) -> tuple[dict[str, QuestionSet], Ratings]:
    """Read sub-questions and ratings. Raises: InputError if a step lacks them."""
    if config.data.questions is None:
        if config.data.ratings:
            what = "their questions are missing; add them (data.questions)"
            raise InputError(f"{config.data.ratings[0]}: {what}")
        for step in _steps(pipelines):
            if isinstance(step, CoverageStep) and step.questions == "given":
                what = "add the given sub-questions (data.questions)"
                raise InputError(f"coverage: no questions; {what}")
        return {}, {}
    questions = read_question_sets(config.data.questions, problems)
    ratings: Ratings = {}
    for path in config.data.ratings:
        for topic, of_topic in read_ratings(path, problems, questions).items():
            ratings.setdefault(topic, {}).update(of_topic)
    return questions, ratings


def _needs_required(pipelines: Mapping[str, Sequence[Step]]) -> bool:
    """Return whether a step needs the required passages of each topic."""
    return any(
        isinstance(step, OracleStep) or (isinstance(step, CutStep) and step.required)
        for step in _steps(pipelines)
    )


def _calls(judged: JudgedSteps, pipelines: Mapping[str, Sequence[Step]]) -> dict[str, Any]:
    return {
        "counts": dict(judged.counts) | _shallow(pipelines),
        "asked": dict(judged.asked),
        "failed": dict(judged.failed),
        "share_missing": judged.failed.total() / max(1, judged.asked.total()),
    }


def _counts(
    path: Path | None,
    rankings: Rankings,
    cut_to_nothing: list[str],
    lost: Mapping[str, Reason],
) -> dict[str, Any]:
    sizes = [len(ranked) for ranked in rankings.values()]
    empty = [topic for topic, ranked in rankings.items() if not ranked and topic not in lost]
    return {
        "file": str(path) if path else None,
        "topics": sum(map(bool, sizes)),
        "topics_without_passages": [topic for topic in empty if topic not in cut_to_nothing],
        "topics_cut_to_nothing": [topic for topic in cut_to_nothing if topic not in lost],
        "failed_topics": dict(lost),
        "passages": sum(
            each.passage_id != NO_PASSAGES for ranked in rankings.values() for each in ranked
        ),
    }


def _shallow(pipelines: Mapping[str, Sequence[Step]]) -> dict[str, int]:
    """Return notes on steps that get fewer passages than they would keep."""
    return {
        f"passages per topic, at most, reach {step.step} {step.hits} of {name}": n
        for name, steps in pipelines.items()
        for step, n in too_shallow(steps)
    }


def _steps(pipelines: Mapping[str, Sequence[Step]]) -> list[Step]:
    return [step for steps in pipelines.values() for step in steps]
