"""Run the steps of pipelines on the rankings of all topics."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Protocol

from ...backends.budget import Budget
from ...backends.errors import JudgeError
from ...backends.loop import task_group
from ...backends.secrecy import check_keys
from ...metrics.length import token_counter
from ...records.judgements import Reason
from ...records.reading.problems import InputError, Problems
from ...records.relevance import NO_PASSAGES, read_trec_run
from ...records.rows import Passage, Topic
from ...records.topics import read_passages
from ...retrieval.corpus import passage_text
from ...retrieval.encoders import HashingEncoder
from ...retrieval.fusion import check_ranked, fuse_weighted, reciprocal_rank, within_tokens
from ...retrieval.rerank.diversity import Mmr
from ...retrieval.scored import Counted, Ranked, Reranker, Scored, by_rank
from ..config.pipelines import (
    CrossEncoderStep,
    CutStep,
    FirstStage,
    MmrStep,
    MonoT5Step,
    NoneStep,
    OracleStep,
    RandomStep,
    RankLlmStep,
    RerankStep,
    RrfStep,
    RunStep,
    Step,
    WeightedStep,
)
from ..config.sections import Config
from ..engine.session import ProgressBar
from .indexing import Indexed, Indexes
from .judged_steps import JudgedStep, JudgedSteps

Rankings = dict[str, Ranked]  # by topic


class Texts(Protocol):
    """Provides the passages that a step reads."""

    def of(self, ids: set[str]) -> Mapping[str, Passage]:
        """These passages, and perhaps others. Raises: InputError if one of them has no text."""
        ...


class PassageTexts:
    """The passages that a step reads, from files when needed."""

    def __init__(self, files: Sequence[Path], problems: Problems) -> None:
        self._files = files
        self._problems = problems
        self._known: dict[str, Passage] = {}

    def of(self, ids: set[str]) -> Mapping[str, Passage]:
        """These passages, and perhaps others. Raises: InputError if one of them has no text."""
        if not ids <= self._known.keys():
            if not self._files:
                raise InputError("a step reads passages: add passage files (--passages)")
            self._known = {name: each for name, each in self._known.items() if name in ids}
            for path in self._files:
                problems = Problems()
                self._known |= read_passages(path, problems, ids - self._known.keys())
                self._problems.take(problems)
            self._problems.raise_errors()
            if lost := sorted(ids - self._known.keys()):
                what = f"no text of {lost[0]!r} ({len(lost):,} of {len(ids):,} passages)"
                raise InputError(f"{what}; add its file (--passages)")
        return self._known


class RankingSteps:
    """Runs pipelines step by step over all topics; shared steps run once.

    Args:
        judged: None if no step asks a judge.
        required: P** of each topic; None: unknown because ratings are missing.
        texts: provides the passages; None: read the files of the config.
    """

    def __init__(
        self,
        config: Config,
        topics: Mapping[str, Topic],
        indexes: Indexes,
        judged: JudgedSteps | None,
        required: Mapping[str, tuple[str, ...] | None],
        budget: Budget,
        problems: Problems,
        *,
        quiet: bool,
        texts: Texts | None = None,
    ) -> None:
        self._config = config
        self._topics = topics
        self._indexes = indexes
        self._texts = texts or PassageTexts(config.data.passages, problems)
        self._judging = judged
        self._required = required
        self._budget = budget
        self._problems = problems
        self._quiet = quiet
        self._done: dict[tuple[Step, ...], list[Rankings]] = {}
        self._lost: dict[Step, dict[str, Reason]] = {}
        self.seconds: dict[str, float] = {}

    async def run(self, steps: Sequence[Step]) -> Rankings:
        """Return the final ranking of each topic; empty if nothing was found."""
        rankings: list[Rankings] = []
        for n, step in enumerate(steps, 1):
            prefix = tuple(steps[:n])
            if prefix not in self._done:
                self._done[prefix] = await self._time_step(step, rankings)
            rankings = self._done[prefix]
        return rankings[0]

    def find_failed(self, steps: Sequence[Step]) -> dict[str, Reason]:
        """Return topics for which a pipeline could not run all steps, and why."""
        reasons: dict[str, Reason] = {}
        for step in steps:
            reasons |= self._lost.get(step, {})
        return reasons

    def cut_to_nothing(self, steps: Sequence[Step]) -> list[str]:
        """Return topics for which a pipeline found passages and kept none."""
        ends = [self._done[tuple(steps[:n])][-1] for n in range(1, len(steps) + 1)]
        return [
            topic
            for topic in self._topics
            if not ends[-1][topic] and any(end[topic] for end in ends)
        ]

    @property
    def _judged(self) -> JudgedSteps:
        assert self._judging is not None  # a SearchPipeline has no step that asks
        return self._judging

    async def _time_step(self, step: Step, rankings: list[Rankings]) -> list[Rankings]:
        began = asyncio.get_running_loop().time()
        if isinstance(step, FirstStage):
            after = [*rankings, self._retrieve(step)]
        elif isinstance(step, RrfStep | WeightedStep):
            after = [self._fuse(step, rankings)]
        elif isinstance(step, RandomStep):
            after = [self._sample(step, rankings[0])]
        elif isinstance(step, CutStep):
            after = [self._cut(step, rankings[0])]
        else:
            assert isinstance(step, RerankStep)
            before = rankings if step.keep else []
            after = [*before, await self._rerank(step, rankings[0])]
        if step.hits is not None:
            after[-1] = {topic: ranked[: step.hits] for topic, ranked in after[-1].items()}
        for topic, ranked in after[-1].items():
            with _convert_refusal(step, topic):
                check_ranked(ranked)
        took = asyncio.get_running_loop().time() - began
        self.seconds[step.step] = self.seconds.get(step.step, 0.0) + took
        return after

    def _find_open(self) -> dict[str, Reason]:
        """Return topics whose required passages are unknown."""
        return {t: Reason.INCOMPLETE for t in self._topics if self._required[t] is None}

    def _sample(self, step: RandomStep, rankings: Rankings) -> Rankings:
        """Draw passages of each topic, independent of other topics."""
        drawn = {}
        for topic, ranked in rankings.items():
            front = ranked[: step.depth]
            rng = Random(f"{step.seed} {topic}")
            kept = set(rng.sample(range(len(front)), min(step.hits, len(front))))
            drawn[topic] = [each for i, each in enumerate(front) if i in kept]
        return drawn

    def _retrieve(self, step: FirstStage) -> Rankings:
        if isinstance(step, NoneStep):
            return {topic: [Scored(NO_PASSAGES, 1.0)] for topic in self._topics}
        if isinstance(step, OracleStep):
            self._lost[step] = self._find_open()
            return {topic: by_rank(self._required[topic] or ()) for topic in self._topics}
        if isinstance(step, RunStep):
            problems = Problems()
            rankings = read_trec_run(step.path, problems)
            problems.raise_errors()
            self._problems.take(problems)
            self._lost[step] = {
                topic: ranking.failed
                for topic, ranking in rankings.items()
                if ranking.failed is not None and topic in self._topics
            }
            return {
                topic: [
                    Scored(*each)
                    for each in zip(
                        rankings[topic].passage_ids, rankings[topic].scores, strict=True
                    )
                ]
                if topic in rankings
                else []
                for topic in self._topics
            }
        assert isinstance(step, Indexed)
        retriever = self._indexes.open(step)
        queries = [topic.question for topic in self._topics.values()]
        return dict(zip(self._topics, retriever.search(queries, step.hits), strict=True))

    def _fuse(self, step: RrfStep | WeightedStep, rankings: list[Rankings]) -> Rankings:
        def fuse(topic: str) -> Ranked:
            ranked_lists = [ranking[topic] for ranking in rankings]
            with _convert_refusal(step, topic):
                if isinstance(step, RrfStep):
                    return reciprocal_rank(ranked_lists, k=step.k)
                return fuse_weighted(ranked_lists, step.weights, norm=step.norm)

        return {topic: fuse(topic) for topic in self._topics}

    def _cut(self, step: CutStep, rankings: Rankings) -> Rankings:
        cut = dict(rankings)
        if step.required:
            cut = {t: ranked[: len(self._required[t] or ())] for t, ranked in cut.items()}
            self._lost[step] = self._find_open()
        if step.tokens is not None:
            limit, count = step.tokens, token_counter(self._config.coverage.tokenizer)
            texts = {name: each.text for name, each in self._texts.of(_ids(cut)).items()}
            cut = {t: within_tokens(ranked, texts, limit, count) for t, ranked in cut.items()}
        return cut

    async def _rerank(self, step: RerankStep, rankings: Rankings) -> Rankings:
        front = {topic: ranked[: step.depth] for topic, ranked in rankings.items()}
        passages = self._texts.of(_ids(front))
        texts = {name: passage_text(passage) for name, passage in passages.items()}
        rerank = self._reranker(step, texts)
        reranked: Rankings = {}
        waiting = iter(front)
        budget, asks = self._budget, isinstance(step, JudgedStep)
        with ProgressBar(
            step.step,
            len(front),
            budget.usage,
            quiet=self._quiet,
            in_flight=budget.describe_in_flight if asks else None,
        ) as bar:

            async def work() -> None:
                for topic in waiting:
                    ranked = front[topic]
                    if len(ranked) > 1:
                        with _convert_refusal(step, topic):
                            ranked = await rerank(self._topics[topic], ranked)
                            check_ranked(ranked)
                    if rest := rankings[topic][len(front[topic]) :]:
                        ranked = by_rank(each.passage_id for each in [*ranked, *rest])
                    reranked[topic] = ranked
                    bar.step()
                    await asyncio.sleep(0)  # allows Ctrl-C

            n = self._config.run.concurrency if asks else 1
            async with task_group() as group:
                for _ in range(min(n, len(front))):
                    group.create_task(work())
        return {topic: reranked[topic] for topic in rankings}

    def _reranker(
        self, step: RerankStep, texts: Mapping[str, str]
    ) -> Callable[[Topic, Ranked], Awaitable[Ranked]]:
        if isinstance(step, JudgedStep):
            return lambda topic, ranked: self._judged.rerank(step, topic, ranked, texts)
        local = self._local(step)

        async def rerank(topic: Topic, ranked: Ranked) -> Ranked:
            try:
                return await asyncio.to_thread(local.rerank, topic.question, ranked, texts)
            except JudgeError:
                self._judged.asked[step.step] += 1
                self._judged.failed[step.step] += 1
                return ranked
            finally:
                if isinstance(local, Counted):
                    self._judged.take(step.step, local.counts)

        return rerank

    def _local(self, step: RerankStep) -> Reranker:
        if isinstance(step, MmrStep):
            words = step.encoder == "words"
            encoder = HashingEncoder() if words else self._indexes.encoders.dense(step.encoder)
            return Mmr(encoder, weight=step.weight, hits=step.hits, relevance=step.relevance)
        if isinstance(step, CrossEncoderStep):
            from ...retrieval.rerank.pointwise import CrossEncoderReranker

            return CrossEncoderReranker(step.model)
        if isinstance(step, MonoT5Step):
            from ...retrieval.rerank.pointwise import MonoT5

            return MonoT5(step.model)
        assert isinstance(step, RankLlmStep)
        return make_rankllm(self._config, step)


@contextmanager
def _convert_refusal(step: Step, topic: str) -> Iterator[None]:
    """Raise errors of a step on a topic as InputError."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        raise InputError(f"{step.step}: topic {topic!r}: {error}") from error


def _ids(rankings: Rankings) -> set[str]:
    return {each.passage_id for ranked in rankings.values() for each in ranked}


def make_rankllm(config: Config, step: RankLlmStep) -> Reranker:
    """Make RankLLM with the model of `judges.rankllm`: an endpoint, or vLLM in this process."""
    from ...retrieval.rerank.rankllm import CONTEXT_SIZE, RankLlm

    alias, model = config.get_model("rankllm")
    size = model.context_length or CONTEXT_SIZE
    if model.way == "vllm":
        window, stride = step.window, step.stride
        return RankLlm.local(
            model.model, first=step.first, window=window, stride=stride, context_size=size
        )
    if model.way != "http":
        what = "needs an OpenAI-compatible endpoint or engine: vllm, but"
        raise InputError(f"rankllm {what} models.{alias} is {model.model!r}")
    check_keys([model])
    key = model.api_key()
    from ...backends.http import announce_proxy  # with aiohttp

    announce_proxy(model)
    return RankLlm(
        model.wire_name,
        api_base=model.base_url or "",
        api_key=None if key is None else key.get_secret_value(),
        window=step.window,
        stride=step.stride,
        context_size=size,
        timeout_s=model.timeout_s,
    )
