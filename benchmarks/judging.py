"""The path that a run takes for each judgement, from its texts to the journal."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.progress import ProgressBar
from nuggetjudge.programs.engine.stage import Item, Tally, Work, labels, run_here

from .texts import pair, window

Kind = Literal["support", "assign"]


def support_pairs(numbers: range) -> Iterator[Item]:
    """A sentence and a passage each, as the support program has them."""
    for number in numbers:
        yield Item({"number": str(number)}, pair(number))


def nugget_windows(numbers: range) -> Iterator[Item]:
    """An answer and ten nuggets each, as the nuggets program has them."""
    for number in numbers:
        yield Item({"number": str(number)}, window(number), 10)


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
        self._name = "support" if kind == "support" else "assigner"
        self._panel = {self._name: judge(backend=self.gateway)}
        self._items = support_pairs if kind == "support" else nugget_windows
        self._folder = folder
        self._concurrency = concurrency

    async def judge(self, numbers: range) -> Tally:
        """Ask for these items; every reply is in the cache's database when this returns."""
        journal = Journal(self._folder / f"journal-{numbers.start}.jsonl")
        panel: Any = self._panel  # a judge by its name, as a Panel gives it
        items = partial(self._items, numbers)
        stage = labels("numbered", panel, self._name, items, total=len(numbers))
        with ProgressBar(stage.name, stage.total, self.gateway.budget.usage, quiet=True) as bar:
            work = Work(stage, journal, bar)
            await run_here(work, self._concurrency)
        journal.close()
        tally = work.tally
        self.cache.flush()
        if tally.judged != len(numbers):
            raise AssertionError(f"{tally.judged} of {len(numbers)} judged: {tally.unjudged}")
        return tally

    async def aclose(self) -> None:
        """Let go of connections and files."""
        await self.gateway.aclose()
        self.cache.close()
