"""The path that a run takes for each judgement, from its texts to the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.progress import ProgressBar
from nuggetjudge.programs.engine.stage import Item, Tally, run_stage
from nuggetjudge.records.judgements import Judged

from .texts import pair, window

Kind = Literal["support", "assign"]


class _Numbered:
    """Made-up items by number."""

    name = "numbered"

    def __init__(self, judge: Any, numbers: range) -> None:
        self._judge = judge
        self._numbers = numbers

    def total(self) -> int:
        """How many items."""
        return len(self._numbers)


class SupportPairs(_Numbered):
    """A sentence and a passage each, judged as the support program judges citations."""

    def items(self) -> Iterator[Item]:
        """Lazily, as programs make theirs."""
        for number in self._numbers:
            yield Item((str(number),), pair(number))

    async def judge(self, item: Item) -> Judged:
        """One label."""
        sentence, passage = item.payload
        verdict, call = await self._judge.verdict(sentence=sentence, passage=passage)
        return Judged(verdict.as_row(), (call,))


class NuggetWindows(_Numbered):
    """An answer and ten nuggets each, judged as the nuggets program assigns them."""

    def items(self) -> Iterator[Item]:
        """Lazily, as programs make theirs."""
        for number in self._numbers:
            yield Item((str(number),), window(number))

    async def judge(self, item: Item) -> Judged:
        """Ten labels."""
        question, answer, nuggets = item.payload
        asked = [{"question": question, "answer": answer, "nugget": text} for text in nuggets]
        verdicts, call = await self._judge.verdicts(asked)
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))


class Client:
    """A judge behind a Gateway with its cache and journal on disk in `folder`.

    Args:
        settings: of the model, as `timeout_s`.
    """

    def __init__(
        self, url: str, folder: Path, concurrency: int, kind: Kind = "support", **settings: Any
    ) -> None:
        known = {"model": "hosted_vllm/light", "api_base": url, "concurrency": concurrency}
        config = ModelConfig(**known | settings)
        self.cache = ReplyCache(folder / "replies")
        self.gateway = Gateway(config, HttpTransport(config), cache=self.cache)
        judge = SupportJudge if kind == "support" else NuggetAssigner
        self._judge = judge(backend=self.gateway)
        self._stage = SupportPairs if kind == "support" else NuggetWindows
        self._folder = folder
        self._concurrency = concurrency

    async def judge(self, numbers: range) -> Tally:
        """Ask for these items; every reply is in the cache's database when this returns."""
        journal = Journal(self._folder / f"journal-{numbers.start}.jsonl")
        stage = self._stage(self._judge, numbers)
        with ProgressBar(stage.name, stage.total(), self.gateway.budget.usage, quiet=True) as bar:
            tally = await run_stage(stage, journal, concurrency=self._concurrency, progress=bar)
        journal.close()
        self.cache.flush()
        if tally.judged != len(numbers):
            raise AssertionError(f"{tally.judged} of {len(numbers)} judged: {tally.unjudged}")
        return tally

    async def aclose(self) -> None:
        """Let go of connections and files."""
        await self.gateway.aclose()
        self.cache.close()
