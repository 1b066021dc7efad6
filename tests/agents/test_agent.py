"""An agent acts by its tools alone: what it did stands in its trace, the same each time."""

import asyncio
from typing import Any

import dspy
import pytest

from nuggetjudge.agents import Agent, Limits, PassageCorpus, Question, Tools, together
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.replies.completion import record
from nuggetjudge.judges import Jury, QuestionDecomposer, SupportJudge
from nuggetjudge.records.judgements import Judged, Provenance, Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import Passage

PASSAGES = [
    Passage(id="deck", text="Gusts of wind move the decks of long bridges."),
    Passage(id="ship", text="A ship lies in the harbour."),
    Passage(id="rain", text="Rain fell on the harbour for a week."),
]
SENTENCE = "Gusts of wind move the decks of long bridges."


class Finder(Agent):
    """Looks for a passage that carries a sentence."""

    name = "finder"
    inputs = ("sentence", "hits")

    def __init__(self, corpus: Any, limits: Limits | None = None) -> None:
        super().__init__(corpus, limits)
        self.support = SupportJudge("lexical")

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        hits = await tools.search(item["sentence"], item["hits"])
        asked = [
            Question(
                {"sentence": item["sentence"], "passage": tools.passage(name).text},
                {"passage": name},
            )
            for name, _ in hits
        ]
        judged = await tools.judge_each(self.support, asked)
        for (name, _), (verdict, path) in zip(hits, judged, strict=True):
            if not isinstance(verdict, Unjudged) and verdict.label == "full":
                tools.end("found", [path])
                return {"outcome": "found", "passage": name}
        tools.end("not_found", [path for _, path in judged])
        return {"outcome": "not_found", "passage": None}


def outcome_of(agent: Agent, **item: Any) -> Judged | Unjudged:
    return run_sync(agent.outcome(**item))


def test_the_trace_says_what_was_searched_judged_and_decided_by_which_step() -> None:
    corpus = PassageCorpus(PASSAGES)
    outcome = outcome_of(Finder(corpus), sentence=SENTENCE, hits=2)
    assert isinstance(outcome, Judged)
    assert outcome.values["made"] == {"outcome": "found", "passage": "deck"}
    agent, search, call, end = outcome.steps
    assert (agent["path"], agent["kind"], agent["name"]) == ("0", "agent", "finder")
    assert search["args"] == {"query": SENTENCE, "hits": 2}
    assert search["index"] == corpus.fingerprint
    assert [name for name, _ in search["out"]] == ["deck"]
    assert (call["name"], call["in"], call["out"]["label"]) == (
        "support",
        {"passage": "deck"},
        "full",
    )
    assert len(call["replies"]) == 1
    assert call["tokens"] == [0, 0]
    assert (end["kind"], end["name"], end["because"]) == ("end", "found", [call["path"]])
    assert len(outcome.provenance) == 1  # one call was made


def test_the_same_item_leaves_the_same_trace_and_another_corpus_is_another_agent() -> None:
    one, same = Finder(PassageCorpus(PASSAGES)), Finder(PassageCorpus(PASSAGES))
    item = {"sentence": "The harbour had rain and a ship.", "hits": 3}
    assert outcome_of(one, **item) == outcome_of(same, **item)
    assert one.identity() == same.identity()
    changed = [*PASSAGES[:2], Passage(id="rain", text="Rain fell.")]
    assert Finder(PassageCorpus(changed)).identity() != one.identity()
    assert Finder(PassageCorpus(PASSAGES), Limits(calls=1)).identity() != one.identity()


def test_a_limit_ends_the_item_without_an_outcome_before_anything_is_asked() -> None:
    agent = Finder(PassageCorpus(PASSAGES), Limits(calls=1))
    outcome = outcome_of(agent, sentence="The harbour had rain and a ship.", hits=3)
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.STEPS
    assert [step["kind"] for step in outcome.steps] == ["agent", "tool", "end"]
    assert outcome.steps[-1]["reason"] == "steps"
    assert not outcome.provenance


def test_a_jury_never_asks_past_the_limit_and_gives_back_what_it_did_not_ask() -> None:
    async def spent(calls: int) -> Tools:
        members = {name: SupportJudge("lexical") for name in "ab"}
        jury = Jury(members, adjudicator=SupportJudge("lexical"))  # who is not asked: they agree
        tools = Tools(None, Limits(calls=calls))
        await tools.judge(jury, {"sentence": SENTENCE, "passage": SENTENCE}, {})
        return tools

    assert run_sync(spent(3)).n_calls_left == 1
    with pytest.raises(JudgeError) as over:
        run_sync(spent(2))
    assert over.value.reason is Reason.STEPS


class Broken(PassageCorpus):
    async def search(self, query: str) -> Any:
        raise OSError("the index is gone")


def test_a_search_that_fails_is_no_empty_ranking() -> None:
    outcome = outcome_of(Finder(Broken(PASSAGES)), sentence=SENTENCE, hits=2)
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.TOOL
    assert "the index is gone" in outcome.detail
    nowhere = outcome_of(Finder(PassageCorpus(PASSAGES)), sentence="Zebra", hits=2)
    assert isinstance(nowhere, Judged)
    assert nowhere.steps[1]["out"] == []


def test_only_what_was_found_or_is_known_can_be_read_and_only_so_much() -> None:
    async def read() -> None:
        tools = Tools(PassageCorpus(PASSAGES), Limits(read=30), readable=["ship"])
        assert tools.read("ship", 2, 4) == "ship"
        with pytest.raises(JudgeError) as refused:
            tools.read("deck")
        assert refused.value.reason is Reason.UNPARSEABLE
        await tools.search("decks")
        with pytest.raises(JudgeError) as refused:
            tools.read("deck")
        assert refused.value.reason is Reason.STEPS
        last = tools.trace.steps()[-1]
        assert last["args"]["passage"] == "deck"
        assert last["out"] == {"unjudged": "steps"}

    asyncio.run(read())


def test_parts_that_run_side_by_side_have_paths_that_do_not_depend_on_which_ends_first() -> None:
    async def paths(delays: list[float]) -> list[str]:
        tools = Tools(PassageCorpus(PASSAGES), Limits())
        parts = [tools.part("plan", f"claim {i}") for i in range(2)]

        async def work(part: Tools, delay: float) -> None:
            await asyncio.sleep(delay)
            await part.search("harbour")

        await asyncio.gather(*(work(*each) for each in zip(parts, delays, strict=True)))
        tools.end("done")
        return [step["path"] for step in tools.trace.steps()]

    forth, back = asyncio.run(paths([0, 0.01])), asyncio.run(paths([0.01, 0]))
    assert forth == back == ["0.0", "0.0.0", "0.1", "0.1.0", "0.2"]


def test_a_judge_that_writes_is_a_step_and_its_failure_too() -> None:
    async def refuse() -> list[str]:
        raise JudgeError(Reason.REFUSED, "no")

    async def work() -> Tools:
        tools, writer = Tools(None, Limits(calls=1)), QuestionDecomposer("lexical")
        with pytest.raises(JudgeError) as failed:
            await tools.ask("writer", refuse(), {"topic": "t"}, list)
        assert failed.value.reason is Reason.REFUSED
        with pytest.raises(JudgeError) as over:
            await tools.ask("question_decomposer", writer.decompose("Why?"), {}, list)
        assert over.value.reason is Reason.STEPS
        return tools

    steps = run_sync(work()).trace.steps()
    assert [(step["name"], step["out"]) for step in steps] == [("writer", {"unjudged": "refused"})]


def test_a_writer_that_asks_twice_has_had_two_calls() -> None:
    async def twice() -> list[str]:
        for key in (b"one", b"two"):
            record(key, 0, 0, Provenance())
        return []

    async def work() -> None:
        tools = Tools(None, Limits(calls=2))
        await tools.ask("writer", twice(), {}, list)
        with pytest.raises(JudgeError) as over:
            await tools.ask("writer", twice(), {}, list)
        assert over.value.reason is Reason.STEPS

    run_sync(work())


def test_an_agent_is_a_module_that_is_called_and_whose_predictors_dspy_finds() -> None:
    agent = Finder(PassageCorpus(PASSAGES))
    prediction = agent(sentence=SENTENCE, hits=1)
    assert isinstance(prediction, dspy.Prediction)
    assert prediction.outcome == "found"
    assert prediction.trace[0]["name"] == "finder"
    assert [name for name, _ in agent.named_predictors()] == ["support.judge"]
    with pytest.raises(ValueError, match="question"):
        agent(question="Why?")
    with pytest.raises(JudgeError):
        Finder(None)(sentence=SENTENCE, hits=1)


# Parts of an item that run side by side: what each may do and read, and how they end.
PARTS_PASSAGES = [
    Passage(id=name, text=f"The {name} lies in the harbour.") for name in ("ship", "boat")
]


def tools_of(**limits):
    return Tools(PassageCorpus(PARTS_PASSAGES), Limits(**limits))


def test_parts_share_what_is_left_when_the_first_is_used_and_give_back_the_rest():
    tools = tools_of(calls=8, read=10)
    tools._spent.call(1)
    one, two, three = (tools.part("plan", str(i)) for i in range(3))
    assert [part.n_calls_left for part in (two, one, three)] == [2, 3, 2]  # 7 left
    two._spent.call(2)
    with pytest.raises(JudgeError, match="limit of 2 calls"):
        two._spent.call(1)
    assert tools.n_calls_left == 5
    later = tools.part("plan", "later")
    inner = [later.part("plan", str(i)) for i in range(2)]
    assert [part.n_calls_left for part in inner] == [3, 2]


def test_a_part_reads_what_was_found_before_it_was_made_and_the_whole_what_its_parts_found():
    async def work():
        tools = tools_of()
        await tools.search("ship", 1)
        one, two = tools.part("plan", "1"), tools.part("plan", "2")
        await one.search("boat", 1)
        assert two.read("ship")
        with pytest.raises(JudgeError, match="not found by a search"):
            two.read("boat")  # else it would depend on who is first
        assert tools.part("plan", "3").read("boat") == tools.read("boat")

    asyncio.run(work())


def test_all_parts_end_where_one_fails_and_the_first_in_order_is_told():
    ended = []

    async def work(number, seconds):
        await asyncio.sleep(seconds)
        ended.append(number)
        if number:
            raise JudgeError(Reason.REFUSED, f"part {number}")
        return number

    with pytest.raises(JudgeError, match="part 1"):
        asyncio.run(together([work(0, 0.02), work(1, 0.01), work(2, 0)]))
    assert ended == [2, 1, 0]
    assert asyncio.run(together([work(0, 0.01), work(0, 0)])) == [0, 0]


def test_a_jury_counts_as_its_members_and_is_not_asked_where_they_are_too_many():
    jury = Jury({"one": SupportJudge("lexical"), "two": SupportJudge("lexical")})
    asked = [Question({"sentence": "The ship.", "passage": p.text}, {}) for p in PARTS_PASSAGES]

    async def work(calls):
        tools = tools_of(calls=calls)
        await tools.judge_each(jury, asked)
        return tools.n_calls_left

    assert run_sync(work(5)) == 1
    with pytest.raises(JudgeError) as over:
        run_sync(work(3))
    assert over.value.reason is Reason.STEPS


class Tolerant(Agent):
    """Goes on without what a judge does not say."""

    name, inputs = "tolerant", ()

    async def act(self, tools, **item):
        async def refuse():
            raise JudgeError(item["reason"], "no room")

        with pytest.raises(JudgeError):
            await tools.ask("writer", refuse(), {}, str)
        tools.end("done")
        return {"made": "without it"}


def test_what_an_agent_makes_without_what_the_budget_had_no_room_for_is_no_outcome():
    outcome = run_sync(Tolerant().outcome(reason=Reason.BUDGET))
    assert isinstance(outcome, Unjudged)
    assert outcome.reason is Reason.BUDGET
    assert [step["name"] for step in outcome.steps] == ["tolerant", "writer", "unjudged"]
    assert not isinstance(run_sync(Tolerant().outcome(reason=Reason.REFUSED)), Unjudged)


def test_an_index_that_cannot_be_opened_ends_the_run_and_not_each_item():
    class Gone(PassageCorpus):
        async def search(self, query):
            raise InputError("index: made from other passages")

    with pytest.raises(InputError, match="other passages"):
        asyncio.run(Tools(Gone(PARTS_PASSAGES), Limits()).search("ship"))
