"""Parts of an item that run side by side: what each may do and read, and how they end."""

import asyncio

import pytest

from nuggetjudge.agents import Agent, Limits, PassageCorpus, Question, Tools, together
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import Jury, SupportJudge
from nuggetjudge.records.judgements import Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import Passage

PASSAGES = [Passage(id=name, text=f"The {name} lies in the harbour.") for name in ("ship", "boat")]


def tools_of(**limits):
    return Tools(PassageCorpus(PASSAGES), Limits(**limits))


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
    asked = [Question({"sentence": "The ship.", "passage": p.text}, {}) for p in PASSAGES]

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
        asyncio.run(Tools(Gone(PASSAGES), Limits()).search("ship"))
