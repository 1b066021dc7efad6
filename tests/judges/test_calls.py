"""Items in calls: which go together, how many at once, and what becomes of a failed one."""

import asyncio
from typing import NamedTuple

import pytest
from mock_faults import Refusal
from mock_server import MockServer, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.judges import NuggetAssigner, SupportJudge, Verdict
from nuggetjudge.judges.items import answers, calls, judge_items
from nuggetjudge.records.judgements import Reason, Unjudged

SEEN = {"a": "support", "b": "partial_support"}


class Asked(NamedTuple):
    ids: dict[str, str]
    inputs: dict[str, str]


def nugget(topic, answer, text, **ids):
    inputs = {"question": f"why {topic}", "answer": answer, "nugget": text}
    return Asked({"topic_id": topic, **ids}, inputs)


def claim(sentence):
    return Asked({"topic_id": "t1"}, {"sentence": sentence, "passage": "thus"})


def judged(judge, items, **options):
    return asyncio.run(judge_items(judge, items, **options))


def test_items_that_share_all_but_the_listed_input_go_together_up_to_the_window():
    judge = NuggetAssigner(model="lexical", window=3)
    items = [nugget("t1", "x", str(i)) for i in range(4)]
    items.insert(1, nugget("t1", "y", "0"))  # another answer
    items.insert(3, nugget("t2", "x", "0"))  # another topic
    assert calls(judge, items) == [[0, 2, 4], [5], [1], [3]]


def test_the_same_texts_of_two_topics_are_two_calls():
    """A fitted judge may shift them differently."""
    judge = NuggetAssigner(model="lexical")
    inputs = {"question": "why", "answer": "x", "nugget": "n"}
    items = [Asked({"topic_id": topic}, inputs) for topic in ("t1", "t2")]
    assert calls(judge, items) == [[0], [1]]


def test_equal_answers_of_two_runs_are_asked_about_apart_as_a_run_of_either_does():
    judge = NuggetAssigner(model="lexical", window=2)
    named = [
        nugget("t1", "x", f"fact {i}", run_id=run, nugget_id=f"n{i}")
        for run in ("a", "b") for i in range(3)
    ]  # fmt: skip
    assert calls(judge, named) == [[0, 1], [2], [3, 4], [5]]
    without = [Asked({n: v for n, v in ids.items() if n != "nugget_id"}, i) for ids, i in named]
    assert calls(judge, without) == calls(judge, named)


def test_every_id_but_that_of_the_nugget_tells_answers_apart_whatever_the_order_of_ids():
    judge = NuggetAssigner(model="lexical")
    pairs = [("p1", "1"), ("p2", "1"), ("p1", "2"), ("p2", "2")]
    items = [nugget("t1", "x", n, passage_id=p, nugget_id=n) for p, n in pairs]
    items[2] = Asked(dict(reversed(items[2].ids.items())), items[2].inputs)
    assert calls(judge, items) == answers(judge, items) == [[0, 2], [1, 3]]


def test_answers_are_not_cut_at_the_window_and_items_may_come_as_a_stream():
    judge = NuggetAssigner(model="lexical", window=2)
    items = [nugget("t1", answer, n) for n in "123" for answer in "xy"]
    assert answers(judge, iter(items)) == [[0, 2, 4], [1, 3, 5]]
    assert calls(judge, iter(items)) == [[0, 2], [4], [1, 3], [5]]
    assert answers(SupportJudge(model="lexical"), iter([claim("s"), claim("s")])) == [[0], [1]]


def test_a_judge_without_a_window_takes_one_item_a_call_equal_ones_too():
    assert calls(SupportJudge(model="lexical"), [claim("s"), claim("s")]) == [[0], [1]]
    assert calls(SupportJudge(model="lexical"), []) == []


@pytest.fixture
def served():
    """A server that finds the nuggets of SEEN, and judges that it answers for."""

    def brain(body):
        asked = input_of(body)
        if "nuggets" not in asked:
            return {"verdict": "full" if "f" in asked["sentence"] else "none"}
        return {"verdicts": {i: SEEN.get(n, "not_support") for i, n in asked["nuggets"].items()}}

    with MockServer(brain=brain, latency_s=0.02) as server:
        config = ModelConfig(
            model="hosted_vllm/mock", api_base=server.base_url, reasks=0, retries=0
        )
        yield server, config


def test_each_item_gets_its_own_verdict_and_the_first_of_a_call_its_provenance(served):
    server, config = served
    items = [nugget("t1", answer, text) for text in "abc" for answer in "xy"]
    outcomes = judged(NuggetAssigner(model=config, window=2), items)
    labels = [
        "support",
        "support",
        "partial_support",
        "partial_support",
        "not_support",
        "not_support",
    ]
    assert [verdict.label for verdict, _ in outcomes] == labels
    assert [call is not None for _, call in outcomes] == [True, True, False, False, True, True]
    assert len(server.requests) == 4


def test_so_many_calls_are_under_way_at_once(served):
    server, config = served
    items = [claim(f"s{i}") for i in range(24)]
    judged(SupportJudge(model=config), items, concurrency=4)
    assert server.max_in_flight == 4


def test_a_failed_call_leaves_its_items_unjudged_and_the_others_judged(served):
    server, config = served
    server.faults = lambda _, body: Refusal() if "bad" in input_of(body)["sentence"] else None
    outcomes = judged(SupportJudge(model=config), [claim("f"), claim("bad"), claim("n")])
    first, second, third = (outcome for outcome, _ in outcomes)
    assert (first.label, third.label) == ("full", "none")
    assert isinstance(second, Unjudged)
    assert second.reason == Reason.REFUSED


def test_a_failed_window_is_unjudged_whole(served):
    server, config = served
    server.faults = [Refusal()]
    items = [nugget("t1", "x", text) for text in "abc"]
    outcomes = judged(NuggetAssigner(model=config, window=2), items, concurrency=1)
    assert [isinstance(outcome, Verdict) for outcome, _ in outcomes] == [False, False, True]


def test_an_endpoint_that_cannot_answer_ends_it_all(served):
    server, config = served
    server.api_key = "sk-other"
    with pytest.raises(EndpointUnusable):
        judged(SupportJudge(model=config), [claim(f"s{i}") for i in range(50)], concurrency=4)
    assert len(server.requests) <= 8
