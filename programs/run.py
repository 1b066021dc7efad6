"""Run one or more tasks on one load of the data, and write a results folder."""

from __future__ import annotations

import time
from collections.abc import Collection as Names
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..backends.budget import Budget
from ..backends.config import ModelConfig
from ..records.judgements import Reason
from ..records.reading.problems import InputError, Problems
from ..records.scores import write_scores
from .config.base import JudgeName, program_names
from .config.sections import Config
from .engine.folders import check_replaced, write_started
from .engine.judge_set import (
    JudgeSet,
    check_decisions,
    check_judges,
    check_models,
    make_budget,
)
from .engine.manifest import (
    KEY,
    check_not_input,
    describe_data,
    independence,
    input_hashes,
    is_finished,
    make_fingerprint,
    make_manifest,
)
from .engine.results import ALWAYS, Results, list_published
from .engine.session import Session, run_session
from .engine.spending import Estimate, Forecast
from .inputs import Collection
from .protocols.program import Folder, Program, Run
from .protocols.scoreboard import Scoreboard
from .protocols.table import choose, program_files
from .scoring.result import Result

if TYPE_CHECKING:
    from ..agents import Corpus
    from .config.pipelines import AnyStep


def judge_collection(
    config: Config,
    *,
    quiet: bool = True,
    budget: Budget | None = None,
    judge_set: JudgeSet | None = None,
    expected: Forecast | None = None,
    asks: bool = True,
) -> Result:
    """Judge the data of a checked config, and write the results folder.

    Args:
        config: all settings.
        quiet: draw no progress bar.
        budget: a budget shared with other work; None: the budget of the config.
        judge_set: judges that are already open; None: open the judges of the config.
        expected: the estimate of what agents will ask, for the manifest.
        asks: False: send no request; items that the folder's journals lack are unjudged.

    Returns: the folder, its scores and its manifest.
    Raises: InputError for bad input, and for a folder with results that would be lost.
    """
    programs = choose_programs(config)
    judges = [name for program in programs for name in program.list_judges(config)]
    budget = budget if budget is not None else make_budget(config)
    if config.has_pipelines:
        from .pipelines.closed_loop import run_closed_loop  # includes retrieval and reranking

        if judge_set is None:
            check_judges(config, judges)
            check_models(config, judges)
        load_data(config)  # raises errors in files before anything is spent
        _check_folder(config)
        config = run_closed_loop(config, budget, quiet=quiet, judge_set=judge_set)
    inputs = input_hashes(config)
    collection = load_data(config)
    for program in programs:
        program.check(config, collection)
    _check_folder(config, describe_data(collection))
    before = replace(budget.usage)  # spending of the pipelines
    # A finished run asks for missing judgements; a killed run continues.
    retry = is_finished(config.run.out, make_fingerprint(config, inputs))

    async def judge(session: Session) -> None:
        session.spending.add("pipelines", "", before)
        n_problems = len(collection.problems)
        while not await _judge(session, programs, inputs, collection, expected):
            del collection.problems.rows[n_problems:]  # they are found again

    run_session(
        config,
        judges,
        judge,
        retry=retry,
        quiet=quiet,
        budget=budget,
        judge_set=judge_set,
        asks=asks,
    )
    return Result(config.run.out)


def check_collection(config: Config, to: Config) -> None:
    """Raise InputError for everything that stops a run. Sends no request.

    Args:
        config: the config with the present paths of the data.
        to: the config with the paths of the data at the time of judging.
    """
    collection = load_data(config)
    for program in choose_programs(config):
        program.check(config, collection)
    _check_folder(to, describe_data(collection))


def plan(config: Config) -> list[Estimate]:
    """Estimate what a run would ask, by judge; see `forecast`."""
    return list(forecast(config).judges)


def forecast(config: Config) -> Forecast:
    """Estimate what a run would ask, for `--dry-run`, by running it without a model.

    Sends no request and leaves no file. See `estimate_calls`.
    """
    from .engine.dry_run import forecast_calls

    check_not_input(config, _list_files(config))
    check_decisions(config, [j for one in choose_programs(config) for j in one.list_judges(config)])
    here: Names[JudgeName] = ()
    if config.has_pipelines:
        from .pipelines.retrieve import find_judges, read_pipelines

        here = find_judges(read_pipelines(config))
    return forecast_calls(
        config, lambda alone, judge_set: judge_collection(alone, judge_set=judge_set), here
    )


def forecast_if_limited(config: Config) -> Forecast | None:
    """Estimate a run if its agents have a spending limit; otherwise return None."""
    run = config.run
    if run.offline or (run.max_calls, run.max_tokens, run.max_cost) == (None, None, None):
        return None
    if not any(program.has_agents(config) for program in choose_programs(config)):
        return None
    return forecast(config)


def choose_programs(config: Config) -> list[Program]:
    """Return the tasks of a run, in order. Raises: InputError if there are none."""
    if not config.program:
        raise InputError(f"no task: set program: to one of {', '.join(program_names())}")
    return choose(config.program)


def models_asked(config: Config) -> list[tuple[str, ModelConfig]]:
    """Return the entries of `models:` that a run may ask, with names, once per judge."""
    judges = [name for program in choose_programs(config) for name in program.list_judges(config)]
    return [entry for name in judges for entry in config.get_models(name)]


NO_MODEL = "No model named: the lexical judge answers (word overlap, no LLM)."


def names_no_model(config: Config) -> bool:
    """Return whether a judge is lexical because no model is named for it; see NO_MODEL."""
    return any(alias not in config.models for alias, _ in models_asked(config))


def load_data(config: Config) -> Collection:
    """Load the data that the tasks of a config judge. Raises: InputError with all errors."""
    programs = choose_programs(config)
    for one in programs:
        if type(one).load is not Program.load and len(programs) > 1:
            raise InputError(f"program: {one.name} has its own data; run it alone")
    return programs[0].load(config)


def _check_folder(config: Config, data: Mapping[str, Any] | None = None) -> None:
    """Raise InputError if the run would overwrite an input or other results."""
    if config.run.out.is_file():
        raise InputError(f"--out {config.run.out}: is a file, wanted a folder")
    check_not_input(config, _list_files(config))
    check_replaced(config, data)


def _list_files(config: Config) -> list[str]:
    """List the files that a run writes into its folder or replaces there."""
    return [*program_files(config.program), *ALWAYS, *list_published(config.run.out)]


async def _judge(
    session: Session,
    programs: Sequence[Program],
    inputs: Mapping[str, str],
    collection: Collection,
    expected: Forecast | None,
) -> bool:
    """Run all tasks and complete the results folder; return False if they must run again."""
    began, config = time.monotonic(), session.config
    with Results(config.run.out, program_files(config.program)) as results:
        write_started(config, inputs)
        run = Run(session, collection, results, corpus=lambda steps: _open_corpus(config, steps))
        _count_failed(collection, results)
        for program in programs:
            results.notes |= program.notes
            await program.judge(run)
        if await session.starts_again():
            return False
        board = Scoreboard(collection.topics)
        board.ensure_runs(collection.run_ids)
        board.mark_failed(collection.failed)
        folder = Folder(results.folder, Problems(), notes=run.notes(), is_written=False)
        for program in programs:
            program.score(folder, board)
        folder.problems.raise_errors()
        write_scores(results.part("scores.jsonl"), results.part("scores.eval.txt"), board.rows())
        if dependence := independence(
            config.data, collection, [m for _, m in models_asked(config)]
        ):
            results.notes[KEY] = dependence
        data, problems = describe_data(collection), collection.problems
        if expected is not None:
            results.notes["forecast"] = expected.rows()
        manifest = make_manifest(session, results, inputs, data, problems, began=began)
        results.publish(manifest)
    return True


def _open_corpus(config: Config, steps: Sequence[AnyStep]) -> Corpus:
    from .pipelines.searching import PipelineCorpus

    return PipelineCorpus(config, steps)


def _count_failed(collection: Collection, results: Results) -> None:
    """Count answers, contexts and candidates that nuggetjudge itself failed to make."""

    def name_lost(lost: Mapping[tuple[str, str], Reason]) -> list[tuple[dict[str, str], Reason]]:
        return [({"topic_id": t, "run_id": run}, why) for (run, t), why in lost.items()]

    results.count_failed("answers", name_lost(collection.failed), collection.n_answers)
    lost = [({"topic_id": t}, why) for t, why in collection.failed_candidates.items()]
    results.count_failed("candidates", lost, len(collection.candidates) - len(lost))
    if (contexts := collection.coverage) is not None:
        n_made = sum(map(len, contexts.rankings.values()))
        results.count_failed("contexts", name_lost(contexts.failed), n_made)
