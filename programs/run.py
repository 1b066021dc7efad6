"""`nuggetjudge.run`: one or more programs over one load of the data, into a results folder."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ..backends.budget import Budget
from ..backends.loop import run_sync
from ..metrics import NUGGET_MEASURES
from ..records.nuggets import bank_row
from ..records.reading.problems import InputError
from ..records.rows import NuggetBank, ScoreRow
from ..records.scores import write_scores
from .config.reading import load_config
from .config.sections import Config
from .engine.estimates import Estimate
from .engine.manifest import (
    check_folder,
    data_of,
    fingerprint_of,
    input_hashes,
    is_finished,
    manifest_of,
)
from .engine.panel import Panel
from .engine.result import Result
from .engine.results import Results
from .engine.session import Session, budget_of, check_prices, open_cache
from .inputs.collection import Collection, load_collection
from .pipelines.closed_loop import closed_loop, is_closed_loop, rehearse
from .plan import check_data, estimate, judges_of
from .protocols.coverage.judging import judge_coverage
from .protocols.expected import EXPECTED_NUGGET_MEASURES
from .protocols.items import ItemCollection, ItemStage, load_items
from .protocols.keypoints.judging import judge_keypoints
from .protocols.nuggets import AssignStage, BankStage
from .protocols.ranking import ranking_rows
from .protocols.relevance import RelevanceStage
from .protocols.scoreboard import LENGTH, Scoreboard
from .protocols.support import SupportStage


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
    from .config.sections import DataConfig, ItemsConfig, RunSection

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
    budget = budget_of(config)
    if is_closed_loop(config):
        load_data(config)  # raises what is wrong with the files before anything is spent
        check_folder(config)
        config = closed_loop(config, budget, quiet=quiet)
    inputs = input_hashes(config)
    collection = load_data(config)
    check_data(config, collection)
    judges = judges_of(config)
    check_prices(config, judges)
    check_folder(config)
    # A finished run that is started again asks for what is missing; a killed one goes on.
    retry = is_finished(config.run.out, fingerprint_of(config, inputs))
    cache = open_cache(config, judges)
    try:
        asks = config.run.executor != "ray"
        panel = Panel(config, cache=cache, budget=budget, asks=asks)
        session = Session(config, panel, budget, retry=retry, quiet=quiet)
        run_sync(_Run(session, inputs, collection).judge())
    finally:
        if cache is not None:
            cache.close()
    return Result(config.run.out)


def plan(config: Config) -> list[Estimate]:
    """What a run would ask, for `--dry-run`; asks nothing and writes nothing.

    Where the config makes its contexts or answers, a rehearsal without a model does: what is
    asked about its answers is as uncertain as they are.
    """
    if is_closed_loop(config):
        with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
            rehearsed, estimates = rehearse(config, Path(work))
            return estimates + _plan(rehearsed)
    return _plan(config)


def _plan(config: Config) -> list[Estimate]:
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


class _Run:
    """One run: its stages in order, each finished before the next needs it."""

    def __init__(self, session: Session, inputs: Mapping[str, str], collection: Collection) -> None:
        self._session = session
        self._config = session.config
        self._panel = session.panel
        self._inputs = inputs
        self._collection = collection

    async def judge(self) -> None:
        """All programs; the results folder is complete when this returns."""
        began = time.monotonic()
        board = Scoreboard(self._collection.topics)
        try:
            with Results(self._config.run.out) as results:
                rows = await self._programs(results, board)
                results.list_problems(self._collection.problems)
                scores = results.part("scores.jsonl"), results.part("scores.eval.txt")
                write_scores(*scores, chain(rows, board.rows()))
                self._check_inputs()
                manifest = manifest_of(
                    config=self._config,
                    inputs=self._inputs,
                    data=data_of(self._collection),
                    problems=self._collection.problems,
                    results=results,
                    judges=self._panel.identities(),
                    budget=self._session.budget,
                    usage=self._session.budget.usage,
                    seconds=time.monotonic() - began,
                )
                results.publish(manifest)
        finally:
            await self._session.aclose()

    def _check_inputs(self) -> None:
        """The files were read more than once; what came of it holds only if they stayed as is."""
        now = input_hashes(self._config)
        for path in dict.fromkeys((*self._inputs, *now)):
            if now.get(path) != self._inputs.get(path):
                raise InputError(f"{path}: changed while the run went on; start it again")

    async def _programs(self, results: Results, board: Scoreboard) -> list[ScoreRow]:
        """Judge everything; the rows of scores that are not on the board."""
        programs = self._config.program
        if isinstance(self._collection, ItemCollection):
            return await self._items(self._collection, results)
        rows: list[ScoreRow] = []
        board.ensure_runs(self._collection.run_ids)
        grades, unjudged = self._collection.qrels, list[str]()
        if "relevance" in programs or self._must_grade():
            relevance = RelevanceStage(self._collection, self._panel.relevance)
            journal = await self._session.journaled(relevance, ("relevance",))
            judged = relevance.finish(journal, results)
            journal.close()
            if "relevance" in programs:
                rows += ranking_rows(judged, self._collection.candidates)
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
            citations = self._config.support.citations
            support = SupportStage(self._collection, self._panel.support, citations)
            journal = await self._session.journaled(support, ("support",))
            support.finish(journal, results, board)
            journal.close()
        if "coverage" in programs:
            rows += await judge_coverage(self._session, self._collection, results)
        if "keypoints" in programs:
            await judge_keypoints(self._session, self._collection, results, board)
        return rows

    async def _items(self, collection: ItemCollection, results: Results) -> list[ScoreRow]:
        name = self._config.items.name
        judge = self._panel.item_judge(self._config.items.judge or "")
        stage = ItemStage(collection, judge)
        journal = await self._session.journaled(stage, (name,))
        rows = list(stage.finish(journal, results).rows(collection.topics))
        journal.close()
        return rows

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
        stage = BankStage(self._collection, grades, nuggetizer, importance, numbers, unjudged)
        journal = await self._session.journaled(
            stage, ("nuggetizer", "importance"), settings={"keep": numbers.keep}
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
        stage = AssignStage(self._collection, banks, self._panel.assigner)
        journal = await self._session.journaled(stage, ("assigner",))
        stage.finish(journal, results, board)
        journal.close()

    def _must_grade(self) -> bool:
        """Whether nuggets are to be made and nobody graded the candidates."""
        return (
            "nuggets" in self._config.program
            and self._collection.banks is None
            and not self._collection.qrels
        )
