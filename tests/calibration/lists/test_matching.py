"""Which items two lists share; what a judge did not say is not counted against a list."""

import pytest
from mock_server import MockServer, Status, input_of
from stamp_brain import stamp_brain
from stamped import fact

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.calibration.list_examples import ListExample
from nuggetjudge.calibration.lists import Match, Matcher
from nuggetjudge.judges import EntailmentJudge, NuggetAssigner, RelevanceJudge, SupportJudge
from nuggetjudge.records.reading.problems import InputError

A, B, C = (fact(0, n) for n in range(3))
EXAMPLE = ListExample({"topic_id": "t"}, {"question": "Why?", "passages": ["x"]}, (A, B))


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


def backend(server, budget=None, **settings):
    entry = ModelConfig(model="openai/mock", api_base=server.base_url, **settings)
    return open_backend(entry, budget=budget)


def match(matcher, made, example=EXAMPLE):
    return run_sync(matcher.match(example, made))


def test_words_alone_match_an_item_with_one_that_says_as_much():
    assert match(Matcher(), [f"It is {B}", C]) == Match((True, False), (False, True))
    assert match(Matcher(), []) == Match((), (False, False))


def test_a_judge_is_asked_about_each_item_with_the_other_list_as_its_text(server):
    result = match(Matcher(EntailmentJudge(backend=backend(server))), [B, C])
    assert result == Match((True, False), (False, True), n_calls=4)
    asked = [input_of(request.body) for request in server.requests]
    assert {tuple(data.values()) for data in asked} == {
        (f"{A}\n{B}", B), (f"{A}\n{B}", C), (f"{B}\n{C}", A), (f"{B}\n{C}", B),
    }  # fmt: skip


def test_a_match_that_failed_is_not_judged_and_never_no_match(server):
    server.faults = lambda index, body: Status(400) if input_of(body)["key_point"] == C else None
    result = match(Matcher(EntailmentJudge(backend=backend(server, retries=0))), [B, C])
    assert (result.made, result.wanted) == ((True, None), (False, True))
    assert result.unjudged.total() == 1


def test_where_the_budget_is_gone_the_rest_is_not_judged(server):
    judge = EntailmentJudge(backend=backend(server, Budget(1), concurrency=1))
    result = match(Matcher(judge), [B, C])
    assert result.unjudged == {"budget": 3}
    assert [*result.made, *result.wanted].count(None) == 3


def test_a_judge_that_looks_for_nothing_in_a_text_cannot_match():
    with pytest.raises(InputError, match="--match relevance: the relevance judge does not look"):
        Matcher(RelevanceJudge("lexical"))
    Matcher(SupportJudge("lexical")).check(EXAMPLE)
    without = ListExample({"topic_id": "t"}, {"report": "x", "n": 3}, (A,))
    with pytest.raises(InputError, match="asked with a question, which these lists do not have"):
        Matcher(NuggetAssigner("lexical")).check(without)
