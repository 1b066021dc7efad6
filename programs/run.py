"""`nuggetjudge.run`: one or more programs over one load of the data, into a results folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ..backends.budget import Budget, price_of
from ..backends.cache import ReplyCache
from ..backends.loop import run_sync
from ..metrics import NUGGET_MEASURES
from ..metrics.tokens import token_counter
from ..records.nuggets import bank_row
from ..records.problems import InputError
from ..records.rows import NuggetBank, QuestionSet, ScoreRow
from ..records.scores import write_scores
from .collection import Collection, load_collection
from .config import Config, JudgeName
from .config_file import load_config
from .coverage import (
    CoverageTexts,
    QuestionStage,
    RatingStage,
    Text,
    add_contexts,
    add_pools,
    add_tokens,
    inputs_of,
)
from .coverage_files import write_coverage
from .coverage_inputs import CoverageInputs
from .coverage_scores import CoverageData, coverage_rows, settings_of
from .engine import Stage, run_stage
from .estimates import Estimate
from .expected import EXPECTED_NUGGET_MEASURES
from .items import ItemCollection, ItemStage, load_items
from .journal import Journal
from .manifest import check_folder, fingerprint_of, input_hashes, is_finished, manifest_of
from .nuggets import AssignStage, BankStage
from .panel import Panel
from .plan import check_data, estimate, judges_of
from .progress import ProgressBar
from .ranking import ranking_rows
from .relevance import RelevanceStage
from .result import Result
from .results import Results
from .scoreboard import LENGTH, Scoreboard
from .support import SupportStage

S = TypeVar("S", bound=Stage)


def run(
    config: str | Path | Config | None = None, *, quiet: bool = True, **settings: Any
) -> Result:
    """Judge runs and write a results folder.

    Args:
        config: a YAML file or a Config; None: everything is in `settings`.
        quiet: draw no progress bar.
        settings: `program`; `model`, the name of a model or of an entry under `models:`, or a
            whole entry as a dict; the names of `data:` (topics, runs, passages, candidates,
            qrels, nuggets, items, questions, ratings, retrieval, ...), of `items:` (judge,
            fields) and of `run:` (out, concurrency, max_cost, limit, ...), or any dotted name
            as `**{"support.citations": "all"}`.

    Returns: scores, judgements and counts, read back from the folder.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        judged until then is in the folder's journal, and the same call goes on from there.
    """
    if isinstance(config, Config):
        if settings:
            raise ValueError("give settings or a Config, not both")
        return judge_collection(config, quiet=quiet)
    path = Path(config) if config is not None else None
    model = settings.pop("model", None)
    if isinstance(model, dict):  # a whole entry, instead of the name of one or of a model
        settings["models.default"], model = model, None
    return judge_collection(load_config(path, dotted(settings), model=model), quiet=quiet)


def dotted(settings: dict[str, Any]) -> dict[str, Any]:
    """Flat settings (`topics`, `out`) under their names in the config."""
    from .config import DataConfig, ItemsConfig, RunSection

    found: dict[str, Any] = {}
    for name, value in settings.items():
        if name in DataConfig.model_fields:
            found[f"data.{name}"] = value
        elif name in ItemsConfig.model_fields:
            found[f"items.{name}"] = str(value) if isinstance(value, Path) else value
        elif name in RunSection.model_fields:
            found[f"run.{name}"] = value
        else:
            found[name] = value
    return found


def judge_collection(config: Config, *, quiet: bool = True) -> Result:
    """Run a checked config. See `run`."""
    inputs = input_hashes(config)
    collection = load_data(config)
    check_data(config, collection)
    cache = open_cache(config)
    budget = Budget(config.run.max_calls, config.run.max_tokens, config.run.max_cost)
    try:
        panel = Panel(config, cache=cache, budget=budget)
        session = _Session(config, inputs, collection, panel, quiet)
        run_sync(session.judge(budget))
    finally:
        if cache is not None:
            cache.close()
    return Result(config.run.out)


def plan(config: Config) -> list[Estimate]:
    """What a run would ask, for `--dry-run`; asks nothing and writes nothing."""
    collection = load_data(config)
    check_data(config, collection)
    offline = config.model_copy(update={"run": config.run.model_copy(update={"offline": True})})
    return estimate(config, collection, Panel(offline, cache=None, budget=Budget()))


def load_data(config: Config) -> Collection:
    """What the programs of a config judge. Raises: InputError with all that is wrong with it."""
    if "items" in config.program:
        return load_items(config)
    coverage = config.coverage if "coverage" in config.program else None
    return load_collection(config.data, config.run.limit, coverage)


def open_cache(config: Config) -> ReplyCache | None:
    """The reply cache that a config names; None where nothing would be kept in it."""
    ways = {config.model_of(name)[1].way for name in judges_of(config)}
    if config.run.cache is False or not ways & {"http", "litellm"}:
        return None
    folder = config.run.cache if isinstance(config.run.cache, Path) else None
    return ReplyCache(folder)


class _Session:
    """One run: its stages in order, each finished before the next needs it."""

    def __init__(
        self,
        config: Config,
        inputs: Mapping[str, str],
        collection: Collection,
        panel: Panel,
        quiet: bool,
    ) -> None:
        self._config = config
        self._inputs = inputs
        self._collection = collection
        self._panel = panel
        self._quiet = quiet

    async def judge(self, budget: Budget) -> None:
        """All programs; the results folder is complete when this returns."""
        began = time.monotonic()
        self._usage = budget.usage
        self._check_prices()
        folder = self._config.run.out
        check_folder(self._config)
        fingerprint = fingerprint_of(self._config, self._inputs)
        # A finished run that is started again asks for what is missing; a killed one goes on.
        self._retry = is_finished(folder, fingerprint)
        board = Scoreboard(self._collection.topics)
        try:
            with Results(folder) as results:
                await self._programs(results, board)
                results.list_problems(self._collection.problems)
                rows = chain(self._more_rows, board.rows())
                scores = results.part("scores.jsonl"), results.part("scores.eval.txt")
                write_scores(*scores, rows)
                self._check_inputs()
                manifest = manifest_of(
                    config=self._config,
                    inputs=self._inputs,
                    collection=self._collection,
                    results=results,
                    judges=self._panel.identities(),
                    budget=budget,
                    fingerprint=fingerprint,
                    seconds=time.monotonic() - began,
                )
                results.publish(manifest)
        finally:
            await self._panel.aclose()

    def _check_inputs(self) -> None:
        """The files were read more than once; what came of it holds only if they stayed as is."""
        now = input_hashes(self._config)
        for path in dict.fromkeys((*self._inputs, *now)):
            if now.get(path) != self._inputs.get(path):
                raise InputError(f"{path}: changed while the run went on; start it again")

    async def _programs(self, results: Results, board: Scoreboard) -> None:
        programs = self._config.program
        self._more_rows: list[ScoreRow] = []
        if isinstance(self._collection, ItemCollection):
            await self._items(self._collection, results)
            return
        board.ensure_runs(self._collection.run_ids)
        grades, unjudged = self._collection.qrels, list[str]()
        if "relevance" in programs or self._must_grade():
            relevance = await self._stage(
                RelevanceStage(self._collection, self._panel.relevance), ("relevance",)
            )
            judged = relevance[0].finish(relevance[1], results)
            relevance[1].close()
            if "relevance" in programs:
                self._more_rows += ranking_rows(judged, self._collection.candidates)
            if self._must_grade():
                grades = {
                    topic: {name: grade for name, grade in given.items() if grade is not None}
                    for topic, given in judged.items()
                }
                unjudged = [topic for topic, given in judged.items() if None in given.values()]
        if "nuggets" in programs:
            banks = await self._banks(grades, unjudged, results)
            await self._assignments(banks, results, board)
        if "support" in programs:
            stage = SupportStage(
                self._collection, self._panel.support, self._config.support.citations
            )
            support, journal = await self._stage(stage, ("support",))
            support.finish(journal, results, board)
            journal.close()
        if "coverage" in programs:
            await self._coverage(results)

    async def _items(self, collection: ItemCollection, results: Results) -> None:
        name = self._config.items.name
        judge = self._panel.item_judge(self._config.items.judge or "")
        stage, journal = await self._stage(ItemStage(collection, judge), (name,))
        self._more_rows += stage.finish(journal, results).rows(collection.topics)
        journal.close()

    async def _coverage(self, results: Results) -> None:
        config, topics = self._config.coverage, self._collection.topics
        inputs, settings = inputs_of(self._collection), settings_of(config)
        questions = await self._questions(inputs, results)
        ratings = {topic: dict(inputs.ratings.get(topic, {})) for topic in questions}
        data = CoverageData(questions, ratings)
        texts = CoverageTexts(self._collection, data)
        await self._ratings("pool", texts.of_pools, data, results)
        add_pools(data, inputs)
        add_contexts(data, inputs, settings)
        await self._ratings("ratings", texts.of_systems, data, results)
        add_pools(data, inputs)  # where nothing says which they are, all that were rated
        add_tokens(data, self._collection, token_counter(config.tokenizer))
        write_coverage(data, settings, results)
        self._more_rows += coverage_rows(data, settings, list(topics))

    async def _questions(self, inputs: CoverageInputs, results: Results) -> dict[str, QuestionSet]:
        """The sub-questions that were given, or new ones from the reference reports."""
        topics = self._collection.topics
        if inputs.questions is None:
            maker = QuestionStage(self._collection, self._panel.subquestions)
            stage, journal = await self._stage(maker, ("subquestions",))
            found = stage.finish(journal, results)
            journal.close()
        else:
            found = {
                topic: inputs.questions[topic] for topic in topics if topic in inputs.questions
            }
        for topic in topics:
            if topic not in found:
                what = f"topic {topic!r} has no sub-questions, it is left out of coverage"
                where = self._config.data.questions or self._config.data.reference or "questions"
                self._collection.problems.skip(where, 0, "no_questions", what)
        return found

    async def _ratings(
        self, name: str, texts: Callable[[], Iterable[Text]], data: CoverageData, results: Results
    ) -> None:
        judge, zero = self._panel.answerability, self._config.coverage.paper_zero
        rating = RatingStage(name, texts, data.questions, data.ratings, judge, paper_zero=zero)
        stage, journal = await self._stage(rating, ("answerability",))
        stage.finish(journal, results)
        journal.close()

    async def _banks(
        self, grades: Mapping[str, Mapping[str, int]], unjudged: Sequence[str], results: Results
    ) -> dict[str, NuggetBank | None]:
        """The nuggets that were given, or new ones from the candidates with these grades."""
        topics = self._collection.topics
        if self._collection.banks is not None:
            given = {t: bank for t, bank in self._collection.banks.items() if t in topics}
            with results.open("nuggets.jsonl") as rows:
                for bank in given.values():
                    rows.write(bank_row(bank))
            return dict(given)
        numbers = self._config.nuggets
        nuggetizer, importance = self._panel.nuggetizer, self._panel.importance
        stage, journal = await self._stage(
            BankStage(self._collection, grades, nuggetizer, importance, numbers, unjudged),
            ("nuggetizer", "importance"),
            settings={"keep": numbers.keep},
        )
        banks = stage.finish(journal, results)
        journal.close()
        return banks

    async def _assignments(
        self, banks: dict[str, NuggetBank | None], results: Results, board: Scoreboard
    ) -> None:
        without = [topic for topic in self._collection.topics if topic not in banks]
        results.topics_without_nuggets = without
        board.leave_out((*NUGGET_MEASURES, *EXPECTED_NUGGET_MEASURES, LENGTH), without)
        for topic in without:
            what = f"topic {topic!r} has no nuggets, it is left out of the nugget scores"
            where = self._config.data.nuggets or self._config.data.candidates or "nuggets"
            self._collection.problems.skip(where, 0, "no_nuggets", what)
        stage, journal = await self._stage(
            AssignStage(self._collection, banks, self._panel.assigner), ("assigner",)
        )
        stage.finish(journal, results, board)
        journal.close()

    async def _stage(
        self, stage: S, judges: Sequence[JudgeName], settings: Any = None
    ) -> tuple[S, Journal]:
        offline = self._config.run.offline  # replays the cache alone, not an earlier journal
        name = "offline" if offline else self._panel.fingerprint(judges, settings)
        path = self._config.run.out / "journal" / f"{stage.name}-{name}.jsonl"
        if offline:
            path.unlink(missing_ok=True)
        journal = Journal(path, retry=self._retry)
        try:
            with ProgressBar(stage.name, stage.total(), self._usage, quiet=self._quiet) as bar:
                await run_stage(
                    stage, journal, concurrency=self._config.run.concurrency, progress=bar
                )
        except BaseException:
            journal.close()
            raise
        return stage, journal

    def _must_grade(self) -> bool:
        """Whether nuggets are to be made and nobody graded the candidates."""
        return (
            "nuggets" in self._config.program
            and self._collection.banks is None
            and not self._collection.qrels
        )

    def _check_prices(self) -> None:
        if self._config.run.max_cost is None:
            return
        for judge in judges_of(self._config):
            alias, model = self._config.model_of(judge)
            if price_of(model) is None:
                raise InputError(
                    f"max_cost: the price of model {model.model!r} is not known; "
                    f"set models.{alias}.price, or use max_tokens"
                )
