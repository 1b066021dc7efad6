"""A program with an agent, for tests: does the collection say what a topic asks for?

The agent searches, judges side by side, has the
question taken apart, and goes on with each part side by side.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mock_replies import Body, Reply, as_json, input_of, schema_of

from nuggetjudge.agents import Agent, Limits, Question, Tools, together
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.programs.config.base import BUILT_IN
from nuggetjudge.programs.config.pipelines import Bm25Step
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.stage import Item, acts
from nuggetjudge.programs.protocols import table
from nuggetjudge.programs.protocols.program import Program
from nuggetjudge.programs.run import judge_collection
from nuggetjudge.records.judgements import Judged, Unjudged

DEMO = Path(__file__).resolve().parents[1] / "tests" / "collection"
FILE = "sought.jsonl"
MODEL = {"retries": 0, "price": {"input": 2, "output": 8}}


class Seeker(Agent):
    """Looks for passages that carry a question."""

    name, inputs = "seeker", ("question",)
    default_limits = Limits(calls=20)

    def __init__(self, corpus: Any, support: Any, writer: Any) -> None:
        super().__init__(corpus)
        self.support, self.writer = support, writer

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        passages = await self._full(tools, item["question"], 3, at_once=True)
        asked = self.writer.decompose(item["question"])
        split, _ = await tools.ask("question_decomposer", asked, {}, lambda s: s[0].subquestions)
        parts = [tools.part("plan", f"part {i}") for i in range(len(split[0].subquestions))]
        both = zip(parts, split[0].subquestions, strict=True)
        for more in await together([self._full(part, question, 2) for part, question in both]):
            passages += more
        tools.end("found" if passages else "not_found", [path for _, path in passages])
        return {
            "outcome": "found" if passages else "not_found",
            "ids": [name for name, _ in passages],
        }

    async def _full(
        self, tools: Tools, question: str, hits: int, *, at_once: bool = False
    ) -> list[tuple[str, str]]:
        ranked = await tools.search(question, hits)
        texts = {name: tools.passage(name).text for name, _ in ranked}
        questions = [
            Question({"sentence": question, "passage": text}, {"passage": name})
            for name, text in texts.items()
        ]
        windows = [questions] if at_once else [[question] for question in questions]
        judged = [one for each in windows for one in await tools.judge_each(self.support, each)]
        if judged and all(isinstance(verdict, Unjudged) for verdict, _ in judged):
            verdict = judged[0][0]
            raise JudgeError(verdict.reason, verdict.detail)
        return [
            (name, path)
            for name, (verdict, path) in zip(texts, judged, strict=True)
            if not isinstance(verdict, Unjudged) and verdict.label == "full"
        ]


class Seek(Program):
    """Has the agent work on each topic."""

    name, judges = "seek", ("support", "question_decomposer")
    kind, judged, files = "seek", FILE, (FILE,)

    async def judge(self, run: Any) -> None:
        agent = Seeker(
            run.corpus([Bm25Step(step="bm25", hits=20)]),
            *(run.judge_set[name] for name in self.judges),
        )

        def items() -> Any:
            for topic in run.collection.topics.values():
                yield Item({"topic_id": topic.id}, (topic.question,))

        stage = acts("seek", self.judges, agent, items)
        async with run.session.judge_stage(stage, run.results) as outcome:
            with run.results.open(FILE) as rows:
                for item in items():
                    ended = outcome(item)
                    made = ended.values["made"] if isinstance(ended, Judged) else {"outcome": None}
                    rows.write({**item.ids, **made})

    def score(self, folder: Any, board: Any) -> None:
        folder.need(FILE)


def with_seek() -> None:
    """Have this process know the program."""
    BUILT_IN["seek"] = f"{__name__}:Seek"
    table.program.cache_clear()


def seek(out: Path, url: str | None = None, **settings: Any) -> Any:
    """Run it on the demo, by a model at this address, or without one."""
    given: dict[str, Any] = {"program": ["seek"], "run.out": out}
    given |= {"data.topics": DEMO / "topics.tsv", "data.passages": [DEMO / "passages.jsonl"]}
    given |= settings
    if url is not None:
        given["models.default"] = {"model": "hosted_vllm/mock", "api_base": url, **MODEL}
    return judge_collection(load_config(None, given))


def brain(body: Body) -> Reply | str:
    """Labels and questions that follow from what is asked; on some no judgement at all."""
    data = input_of(body)
    if "sentence" not in data:
        words = data["question"].split()
        half = len(words) // 2
        parts = [" ".join(words[:half]), " ".join(words[half:])]
        return as_json({"kind": "complex", "subquestions": parts})
    number = hashlib.sha256(as_json(data).encode()).digest()[0]
    if number % 7 == 0:
        return Reply(None, refusal="not this one")
    return as_json(
        {next(iter(schema_of(body)["properties"])): ("none", "partial", "full")[number % 3]}
    )


def files_of(folder: Path) -> dict[str, bytes]:
    """The files that two equal runs share."""
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
    }


@pytest.fixture(name="with_seek")
def add_seek(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(BUILT_IN, "seek", "seeking:Seek")
    table.program.cache_clear()
    yield
    table.program.cache_clear()
