"""The path that a run takes for each support judgement, from a pair of texts to the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.judges import SupportJudge
from nuggetjudge.programs.engine import Item, Tally, run_stage
from nuggetjudge.programs.journal import Journal
from nuggetjudge.programs.progress import ProgressBar
from nuggetjudge.records.judgements import Judged

from .texts import pair


class SupportPairs:
    """Made-up pairs by number, judged as the support program judges citations."""

    name = "support"

    def __init__(self, judge: SupportJudge, numbers: range) -> None:
        self._judge = judge
        self._numbers = numbers

    def items(self) -> Iterator[Item]:
        """Lazily, as programs make theirs."""
        for number in self._numbers:
            yield Item((str(number),), pair(number))

    def total(self) -> int:
        """How many pairs."""
        return len(self._numbers)

    async def judge(self, item: Item) -> Judged:
        """One label."""
        sentence, passage = item.payload
        verdict, call = await self._judge.verdict(sentence=sentence, passage=passage)
        return Judged(verdict.as_row(), (call,))


class Client:
    """A judge behind a Gateway with its cache and journal on disk in `folder`."""

    def __init__(self, url: str, folder: Path, concurrency: int) -> None:
        config = ModelConfig(model="hosted_vllm/light", api_base=url, concurrency=concurrency)
        self.cache = ReplyCache(folder / "replies")
        self.gateway = Gateway(config, HttpTransport(config), cache=self.cache)
        self._judge = SupportJudge(backend=self.gateway)
        self._folder = folder
        self._concurrency = concurrency

    async def judge(self, numbers: range) -> Tally:
        """Ask for these pairs; every reply is in the cache's database when this returns."""
        journal = Journal(self._folder / f"journal-{numbers.start}.jsonl")
        stage = SupportPairs(self._judge, numbers)
        with ProgressBar(stage.name, stage.total(), self.gateway.budget.usage, quiet=True) as bar:
            tally = await run_stage(stage, journal, concurrency=self._concurrency, progress=bar)
        journal.close()
        self.cache.flush()
        return tally

    async def aclose(self) -> None:
        """Let go of connections and files."""
        await self.gateway.aclose()
        self.cache.close()
