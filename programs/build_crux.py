"""`judge build crux`: a collection for coverage, made from multi-document summaries."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..backends.budget import Budget
from ..backends.loop import run_sync
from ..records.judgements import Judged, Provenance, Unjudged
from ..records.problems import InputError, Problems
from ..records.ratings import Ratings, reference_id
from ..records.rows import QuestionSet
from ..records.summaries import Summary
from .build_plan import JUDGES, build_config, load_summaries
from .build_statistics import BuiltTopic
from .built import DATASHEET, PROGRAM, LeftOut, write_collection
from .config import Config, JudgeName
from .coverage import RatingStage, question_set
from .coverage_texts import Text
from .datasheet import datasheet
from .engine import Item
from .manifest import fingerprint_of, input_hashes, is_finished, manifest_of
from .panel import Panel
from .results import Results
from .session import Session, check_prices, open_cache


def build_crux(path: Path, config: Config, *, quiet: bool = True) -> dict[str, Any]:
    """Make a collection from summaries, in `config.run.out`.

    From each summary come a request, sub-questions (`coverage.n`) and, of its documents,
    standalone passages; each passage and the summary itself are rated for each question. A topic
    of which one of the first three is missing is left out; a rating that is missing stays so.

    Args:
        path: JSONL of `id`, `documents` and `summary`; records/summaries.py.
        config: models, judges, coverage and run are used, program and data are not.
        quiet: draw no progress bar.

    Returns: the manifest that was written.
    Raises: InputError for bad input, EndpointUnusable when no request can succeed; what was
        made until then is in the folder's journal, and the same call goes on from there.
    Source: arXiv:2506.20051, section 3.
    """
    config = build_config(path, config)
    inputs = input_hashes(config)
    problems = Problems()
    summaries = load_summaries(path, config.run.limit, problems)
    check_prices(config, JUDGES)
    # A finished build that is started again asks for what is missing; a killed one goes on.
    retry = is_finished(config.run.out, fingerprint_of(config, inputs), PROGRAM)
    cache = open_cache(config, JUDGES)
    budget = Budget(config.run.max_calls, config.run.max_tokens, config.run.max_cost)
    try:
        panel = Panel(config, cache=cache, budget=budget)
        session = Session(config, panel, budget, retry=retry, quiet=quiet)
        return run_sync(_Build(session, inputs, summaries, problems).build())
    finally:
        if cache is not None:
            cache.close()


Maker = Callable[..., Awaitable[tuple[Any, Sequence[Provenance]]]]


@dataclass
class MakingStage:
    """One item per text from which a judge makes other texts: requests, questions, passages.

    Attributes:
        make: takes the payload of an item; returns what was made, and its calls.
    """

    name: str
    make: Maker
    all_items: Sequence[Item]

    def items(self) -> Iterator[Item]:
        """Topics in order."""
        return iter(self.all_items)

    def total(self) -> int:
        """Number of items."""
        return len(self.all_items)

    async def judge(self, item: Item) -> Judged:
        """What one item gives, under `made`."""
        made, calls = await self.make(*item.payload)
        return Judged({"made": made}, tuple(calls))


class _Build:
    """One build: requests, questions and passages, then the ratings of the whole topics."""

    def __init__(
        self,
        session: Session,
        inputs: Mapping[str, str],
        summaries: Sequence[Summary],
        problems: Problems,
    ) -> None:
        self._session = session
        self._config = session.config
        self._panel = session.panel
        self._inputs = inputs
        self._summaries = summaries
        self._problems = problems
        self._left_out: dict[str, LeftOut] = {}

    async def build(self) -> dict[str, Any]:
        """The whole; the folder is complete when this returns."""
        began = time.monotonic()
        try:
            with Results(self._config.run.out) as results:
                topics = await self._topics(results)
                ratings = await self._ratings(topics, results)
                if input_hashes(self._config) != self._inputs:
                    raise InputError("an input changed while the build went on; start it again")
                statistics = write_collection(topics, ratings, self._config.coverage, results)
                results.list_problems(self._problems)
                seconds = time.monotonic() - began
                manifest = self._manifest(topics, statistics, results, seconds)
                text = datasheet(manifest)
                results.part(DATASHEET).write_text(text, encoding="utf-8")
                results.publish(manifest)
                return manifest
        finally:
            await self._panel.aclose()

    async def _topics(self, results: Results) -> list[BuiltTopic]:
        """The topics of which everything was made."""
        panel, n = self._panel, self._config.coverage.n
        writer = panel.request

        async def request(report: str) -> tuple[str, list[Provenance]]:
            text, call = await writer.write(report)
            return text, [call]

        items = [Item((s.id,), (s.summary,)) for s in self._whole()]
        requests = await self._made("request", MakingStage("requests", request, items), results)
        items = [Item((s.id,), (s.summary, n)) for s in self._whole()]
        asking = MakingStage("questions", panel.subquestions.generate, items)
        questions = await self._made("subquestions", asking, results)
        items = [
            Item((s.id, str(place)), (text,))
            for s in self._whole()
            for place, text in enumerate(s.documents)
        ]
        splitting = MakingStage("passages", panel.decontextualizer.split, items)
        passages = await self._made("decontextualizer", splitting, results)
        topics = []
        for summary in self._whole():
            asked = question_set(summary.id, questions[summary.id,])
            if missing := n - len(asked.questions):
                results.count("questions fewer than asked for", missing)
            texts = [passages[summary.id, str(i)] for i in range(len(summary.documents))]
            topics.append(BuiltTopic(summary, requests[summary.id,], asked, _named(summary, texts)))
        return topics

    async def _ratings(self, topics: Sequence[BuiltTopic], results: Results) -> Ratings:
        """Of each passage of a topic, in order, and of its reference report."""
        ratings: Ratings = {}
        questions: dict[str, QuestionSet] = {topic.id: topic.questions for topic in topics}

        def texts() -> Iterable[Text]:
            for topic in topics:
                for name, text in topic.passages.items():
                    yield Text(topic.id, name, text)
                yield Text(topic.id, reference_id(topic.id), topic.summary.summary)

        stage = RatingStage("ratings", texts, questions, ratings, self._panel.answerability)
        journal = await self._session.journaled(stage, ("answerability",))
        stage.finish(journal, results)
        journal.close()
        return ratings

    def _manifest(
        self,
        topics: Sequence[BuiltTopic],
        statistics: dict[str, Any],
        results: Results,
        seconds: float,
    ) -> dict[str, Any]:
        data = {
            "topic_ids": [topic.id for topic in topics],
            "topics": len(topics),
            "passages": sum(len(topic.passages) for topic in topics),
        }
        found = manifest_of(
            config=self._config,
            inputs=self._inputs,
            data=data,
            problems=self._problems,
            results=results,
            judges=self._panel.identities(),
            budget=self._session.budget,
            seconds=seconds,
        )
        left_out = [row._asdict() for row in self._left_out.values()]
        return {"program": PROGRAM, **found, "statistics": statistics, "left_out": left_out}

    def _whole(self) -> list[Summary]:
        return [summary for summary in self._summaries if summary.id not in self._left_out]

    async def _made(
        self, judge: JudgeName, stage: MakingStage, results: Results
    ) -> dict[tuple[str, ...], Any]:
        """What was made by the ids of its item; a topic that lacks something is left out."""
        journal = await self._session.journaled(stage, (judge,))
        made: dict[tuple[str, ...], Any] = {}
        for number, item in enumerate(stage.items()):
            outcome = journal.outcome(number)
            ids = dict(zip(("topic_id", "document"), item.ids, strict=False))
            results.judged(stage.name, ids, outcome)
            if isinstance(outcome, Unjudged):
                reason = LeftOut(item.ids[0], stage.name, str(outcome.reason))
                self._left_out.setdefault(item.ids[0], reason)
            else:
                made[item.ids] = outcome.values["made"]
        journal.close()
        return made


def _named(summary: Summary, texts: Sequence[Sequence[str]]) -> dict[str, str]:
    """The passages of each document under `<topic>:<document>#<n>`; n runs over the topic."""
    found: dict[str, str] = {}
    for place, passages in enumerate(texts):
        for text in passages:
            found[f"{summary.id}:{place}#{len(found)}"] = text
    return found
