"""The path of each judgement in a run, from its texts to the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.judges import NuggetAssigner, SupportJudge
from nuggetjudge.programs.config.base import JudgeName
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.session import ProgressBar
from nuggetjudge.programs.engine.stage import Item, Stage, Tally, Work, labels, run_here

from .texts import pair, window

Kind = Literal["support", "assign"]


def numbered(kind: Kind, judge: Any, numbers: range) -> Stage:
    """A stage of made-up items, one for each number, judged as programs have theirs judged."""

    def items() -> Iterator[Item]:
        for number in numbers:
            if kind == "support":
                sentence, passage = pair(number)
                texts: dict[str, Any] = {"sentence": sentence, "passage": passage}
            else:
                question, answer, nuggets = window(number)
                texts = {"question": question, "answer": answer, "nugget": list(nuggets)}
            payload = tuple([texts[name] for name in judge.inputs])
            yield Item({"number": number}, payload)

    name: JudgeName = "support" if kind == "support" else "assigner"
    judge_set: Any = {name: judge}  # a judge by its name, as a JudgeSet gives it
    return labels("numbered", judge_set, name, items, total=len(numbers))


class Client:
    """A judge behind a Gateway with its cache and journal on disk in `folder`.

    Args:
        settings: of the model, as `timeout_s`.
    """

    def __init__(
        self, url: str, folder: Path, concurrency: int, kind: Kind = "support", **settings: Any
    ) -> None:
        defaults = {"model": "hosted_vllm/light", "api_base": url, "concurrency": concurrency}
        config = ModelConfig(**defaults | settings)
        self.cache = ReplyCache(folder / "replies")
        self.gateway = Gateway(config, HttpTransport(config), cache=self.cache)
        judge = SupportJudge if kind == "support" else NuggetAssigner
        self._judge = judge(backend=self.gateway)
        self._kind = kind
        self._folder = folder
        self._concurrency = concurrency

    async def judge(self, numbers: range) -> Tally:
        """Ask for these items; every reply is in the cache's database when this returns."""
        journal = Journal(self._folder / f"journal-{numbers.start}.jsonl")
        stage = numbered(self._kind, self._judge, numbers)
        with ProgressBar(stage.name, stage.total, self.gateway.budget.usage, quiet=True) as bar:
            work = Work(stage, journal, bar)
            await run_here(work, self._concurrency)
        tally = work.tally
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
