"""An agent in ReAct of DSPy: the same tools, and no answer where one is made of a failure."""

import asyncio
import copy
from typing import Any

import dspy
import pytest
from dspy.utils import DummyLM
from mock_server import MockServer

from nuggetjudge.agents import EvidenceByReact, OwnAgent, PassageCorpus
from nuggetjudge.agents.react.in_dspy import ReactInDspy
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import EvidencePlanner, OwnJudgeDefinition, OwnPlanner, SupportJudge
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.rows import Passage

SENTENCE = "Gusts of wind move the decks of long bridges."
DEFINITION = OwnJudgeDefinition(
    name="checked",
    question="Is the claim carried by the passages? yes or no.",
    inputs={"claim": "a statement"},
    labels=["no", "yes"],
    tools=["search", "judge"],
    steps=3,
)
SEARCH = ("search", {"query": "wind decks"})
JUDGE = ("judge", {"passages": ["deck"], "statement": SENTENCE})
FINISH: tuple[str, dict[str, Any]] = ("finish", {})


class Broken(PassageCorpus):
    async def search(self, query: str) -> Any:
        raise OSError("the index is gone")


def react(corpus: type[PassageCorpus] = PassageCorpus, model: Any = None) -> ReactInDspy:
    passages = corpus([Passage(id="deck", text=SENTENCE), Passage(id="ship", text="A ship.")])
    return OwnAgent(OwnPlanner(DEFINITION, model), SupportJudge("lexical"), passages).as_dspy()


def replies(*turns: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    steps = [{"next_thought": "so", "next_tool_name": n, "next_tool_args": a} for n, a in turns]
    return [*steps, {"reasoning": "so it is", "label": "yes"}]


def outcome(module: ReactInDspy, *turns: tuple[str, dict[str, Any]]) -> Any:
    with dspy.context(lm=DummyLM(replies(*turns))):
        return module(claim=SENTENCE)


def test_react_uses_the_agents_tools_whose_findings_are_those_of_the_agent() -> None:
    module = react()
    prediction = outcome(module, SEARCH, JUDGE, FINISH)
    assert prediction.label == "yes"
    assert prediction.trajectory["observation_0"] == ["deck"]
    assert prediction.trajectory["observation_1"] == [{"passage": "deck", "label": "full"}]
    assert [name for name, _ in module.named_predictors()] == [
        "react.react",
        "react.extract.predict",
    ]
    assert outcome(copy.deepcopy(module), SEARCH, FINISH).label == "yes"

    async def notebook() -> Any:
        with dspy.context(lm=DummyLM(replies(SEARCH, FINISH))):
            return await module.acall(claim=SENTENCE)

    assert asyncio.run(notebook()).label == "yes"


def test_used_up_turns_are_no_answer_though_react_extracts_one() -> None:
    with pytest.raises(JudgeError) as lost:
        outcome(react(), SEARCH, JUDGE, SEARCH)
    assert lost.value.reason is Reason.STEPS


def test_a_search_that_fails_is_no_answer_though_react_extracts_one() -> None:
    with pytest.raises(JudgeError) as lost:
        outcome(react(Broken), SEARCH, FINISH)
    assert lost.value.reason is Reason.TOOL


def test_a_passage_that_no_search_found_is_not_judged() -> None:
    prediction = outcome(react(), JUDGE, FINISH)
    assert prediction.trajectory["observation_0"].startswith("This action is not possible")


def test_a_reply_that_is_no_turn_is_no_answer() -> None:
    lm = DummyLM([{"next_thought": "so"}] * 2)
    with dspy.context(lm=lm), pytest.raises(JudgeError) as lost:
        react()(claim=SENTENCE)
    assert lost.value.reason is Reason.UNPARSEABLE


def test_the_agents_own_model_answers_and_that_for_evidence_suggests_a_passage() -> None:
    turns = iter([("search", '{"query": "wind decks"}'), ("finish", "{}")])

    def brain(body: dict[str, Any]) -> str:
        if "next_tool_name" not in body["messages"][0]["content"]:
            fields = {"reasoning": "so", "suggestion": "deck"}
        else:
            name, args = next(turns)
            fields = {"next_thought": "so", "next_tool_name": name, "next_tool_args": args}
        content = "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in fields.items())
        return f"{content}[[ ## completed ## ]]"

    with MockServer(brain) as server:
        config = ModelConfig(model="openai/mock", api_base=server.base_url)
        corpus = PassageCorpus([Passage(id="deck", text=SENTENCE)])
        agent = EvidenceByReact(EvidencePlanner(config), SupportJudge("lexical"), corpus)
        assert agent.as_dspy()(sentence=SENTENCE, references=[]).suggestion == "deck"
        assert len(server.requests) == 3
