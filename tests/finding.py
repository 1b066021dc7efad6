"""An agent for tests, which looks for passages that carry a sentence, and its program."""

from collections.abc import Iterator
from typing import Any

from nuggetjudge.agents import Agent, Limits, Tools
from nuggetjudge.programs.config.base import BUILT_IN
from nuggetjudge.programs.config.pipelines import Bm25Step
from nuggetjudge.programs.engine.stage import Item, acts
from nuggetjudge.programs.protocols.program import Program


class Finder(Agent):
    """Looks for a passage that carries a sentence; asks again where none does."""

    name = "finder"
    inputs = ("topic_id", "sentence")
    default_limits = Limits(calls=9, hits=3)

    def __init__(self, judge_set: Any, corpus: Any) -> None:
        super().__init__(corpus)
        self.support = judge_set["support"]
        self.question_decomposer = judge_set["question_decomposer"]

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        queries = [item["sentence"]]
        for query in queries:
            for name, _ in await tools.search(query, 3):
                given = {"sentence": item["sentence"], "passage": tools.passage(name).text}
                verdict, path = await tools.judge(self.support, given, {"passage": name})
                if verdict.label == "full":
                    tools.end("found", [path])
                    return {"outcome": "found"}
            if len(queries) == 1:
                asked = self.question_decomposer.decompose(item["sentence"])
                made, _ = await tools.ask(
                    "question_decomposer", asked, {}, lambda reply: reply[0].subquestions
                )
                queries += made[0].subquestions[:1]
        return {"outcome": "not_found"}


class Finding(Program):
    """Every sentence of the answers, looked for among the passages."""

    name = "finding"
    judges = ("support", "question_decomposer")
    kind = "support"
    judged = "found.jsonl"
    files = ("found.jsonl",)

    def has_agents(self, config: Any) -> bool:
        return True

    def agent(self, run: Any) -> Agent:
        return Finder(run.judge_set, run.corpus([Bm25Step(step="bm25", hits=3)]))

    async def judge(self, run: Any) -> None:
        agent = self.agent(run)

        def items() -> Iterator[Item]:
            for answer in run.collection.answers():
                for i, sentence in enumerate(answer.sentences):
                    ids = {"topic_id": answer.topic_id, "run_id": answer.run_id, "sentence": i}
                    yield Item(ids, (answer.topic_id, sentence.text))

        stage = acts("finding", self.judges, agent, items)
        async with run.session.judge_stage(stage, run.results) as outcomes:
            ended = (outcomes(item) for item in items())
            run.results.write("found.jsonl", ({"steps": len(each.steps)} for each in ended))

    def score(self, folder: Any, board: Any) -> None:
        return


def registered(monkeypatch: Any) -> None:
    """Have the program in the table for one test."""
    monkeypatch.setitem(BUILT_IN, Finding.name, f"{__name__}:{Finding.__name__}")
