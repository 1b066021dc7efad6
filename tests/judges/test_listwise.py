"""Orders from a reply: a permutation as it is, anything else mended and counted, or no order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import Cut, MockServer, Prose, Refusal, Says, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.ranking import ListwiseRanker, Order, SetwiseRanker, permutation
from nuggetjudge.retrieval.rerank.windows import setwise_top, slide

QUESTION = "Why did the dam break?"
PASSAGES = [
    "Bees sing in June.", "The dam broke in 1911.", "Why the dam did break: clay.",
    "Dams are old.",
]  # fmt: skip


def ranker_at(server, **settings):
    settings = {"retries": 0, "reasks": 0, **settings}
    return ListwiseRanker(ModelConfig(model="openai/mock", api_base=server.base_url, **settings))


def ordered(*numbers):
    with MockServer(lambda body: {"order": list(numbers)}) as server:
        return ranker_at(server)(question=QUESTION, passages=PASSAGES).order


def test_a_permutation_is_taken_as_it_is():
    order = ordered(3, 2, 4, 1)
    assert order == Order((2, 1, 3, 0))
    assert not order.is_mended


# Reply -> order, mentions doubled, numbers unknown, passages lost; each by hand.
MENDED = {
    "one lost": ((3, 2, 4), Order((2, 1, 3, 0), lost=1)),
    "one twice": ((3, 2, 3, 4, 1), Order((2, 1, 3, 0), doubled=1)),
    "one thrice": ((3, 3, 2, 4, 3, 1), Order((2, 1, 3, 0), doubled=2)),
    "unknown ones": ((0, 3, 5, 2, -1, 4, 1), Order((2, 1, 3, 0), unknown=3)),
    "all at once": ((4, 9, 4), Order((3, 0, 1, 2), doubled=1, unknown=1, lost=3)),
    "an unknown one twice": ((9, 9, 1, 2, 3, 4), Order((0, 1, 2, 3), unknown=2)),
}


@pytest.mark.parametrize(("numbers", "expected"), MENDED.values(), ids=MENDED.keys())
def test_what_is_no_permutation_is_mended_and_counted(numbers, expected):
    order = ordered(*numbers)
    assert order == expected
    assert order.is_mended


@given(st.integers(1, 25), st.lists(st.integers(-3, 30), min_size=1, max_size=60))
def test_every_passage_is_in_the_order_once_and_the_counts_add_up(n, numbers):
    if not any(1 <= number <= n for number in numbers):
        with pytest.raises(JudgeError):
            permutation(numbers, n)
        return
    order = permutation(numbers, n)
    assert sorted(order.indexes) == list(range(n))
    assert len(numbers) == n - order.lost + order.doubled + order.unknown


UNREAD = {
    "prose": (Prose(), "unparseable"),
    "a permutation in RankGPT's form": (Says("[2] > [1] > [4] > [3]"), "unparseable"),
    "words for numbers": (Says('{"order": ["two", "one"]}'), "unparseable"),
    "no list": (Says('{"order": 3}'), "unparseable"),
    "an empty list": (Says('{"order": []}'), "unparseable"),
    "unknown numbers alone": (Says('{"order": [0, 5, 77]}'), "unparseable"),
    "no field": (Says("{}"), "incomplete"),
    "truncated": (Truncated(), "truncated"),
    "refused": (Refusal(), "refused"),
    "connection cut": (Cut(), "error"),
}


@pytest.mark.parametrize(("fault", "reason"), UNREAD.values(), ids=UNREAD.keys())
def test_what_cannot_be_read_is_no_order(fault, reason):
    with MockServer(lambda body: {"order": [1, 2, 3, 4]}, faults=[fault]) as server:
        with pytest.raises(JudgeError) as caught:
            ranker_at(server)(question=QUESTION, passages=PASSAGES)
        assert caught.value.reason == reason


def test_passages_go_out_by_number_from_one():
    with MockServer(lambda body: {"order": [1, 2, 3, 4]}) as server:
        ranker_at(server)(question=QUESTION, passages=PASSAGES)
        asked = input_of(server.requests[0].body)
    assert asked["passages"] == dict(zip("1234", PASSAGES, strict=True))


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_passages_have_no_order(n):
    with pytest.raises(ValueError, match=f"wanted 2 or more passages to put in order, got {n}"):
        ListwiseRanker("lexical")(question=QUESTION, passages=PASSAGES[:n])


def test_the_lexical_baseline_goes_by_the_words_of_the_question_and_then_by_place():
    # Content words of the question: dam, break. Shares: 0, 1/2 (dam), 1, 1/2 (dams), by hand.
    order = ListwiseRanker("lexical")(question=QUESTION, passages=PASSAGES).order
    assert order == Order((2, 1, 3, 0))


def test_a_window_without_an_order_keeps_its_own_and_the_others_count():
    texts = [f"passage {relevance}" for relevance in (3, 2, 1, 0, 4, 5, 6)]

    def by_relevance(body):
        passages = input_of(body)["passages"]
        best_first = sorted(passages, key=lambda n: passages[n], reverse=True)
        return {"order": [int(n) for n in best_first]}

    failed = []
    with MockServer(by_relevance, faults=[Prose()]) as server:
        ranker = ranker_at(server)

        async def order(indexes):
            try:
                ordering, _ = await ranker.order(QUESTION, [texts[index] for index in indexes])
            except JudgeError as error:
                failed.append(error.reason)
                return indexes
            return [indexes[index] for index in ordering.indexes]

        ranked = asyncio.run(slide(len(texts), order, window=4, stride=2))
    assert failed == ["unparseable"]
    # By hand: 3 4 5 6 keep their order; 1 2 3 4 become 4 1 2 3; 0 4 1 become 4 0 1.
    assert ranked == [4, 0, 1, 2, 3, 5, 6]


# The best of a set: one number of those given, or no judgement.
SETWISE_PASSAGES = ["Bees sing in June.", "The dam broke in 1911.", "Why the dam did break: clay."]


def setwise_ranker_at(server):
    settings = {"retries": 0, "reasks": 0}
    return SetwiseRanker(ModelConfig(model="openai/mock", api_base=server.base_url, **settings))


@pytest.mark.parametrize(("number", "index"), [(1, 0), (3, 2)])
def test_the_number_given_names_a_place_from_zero(number, index):
    with MockServer(lambda body: {"best": number}) as server:
        assert setwise_ranker_at(server)(question=QUESTION, passages=SETWISE_PASSAGES).best == index
        assert input_of(server.requests[0].body)["passages"] == {
            str(n): text for n, text in enumerate(SETWISE_PASSAGES, 1)
        }


@pytest.mark.parametrize(
    "reply", ['{"best": 0}', '{"best": 4}', '{"best": -1}', '{"best": "2"}', '{"best": [2]}', "2"]
)
def test_what_names_no_passage_is_no_judgement(reply):
    with MockServer(faults=[Says(reply)]) as server:
        with pytest.raises(JudgeError) as caught:
            setwise_ranker_at(server)(question=QUESTION, passages=SETWISE_PASSAGES)
        assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_passages_are_no_choice(n):
    with pytest.raises(ValueError, match=f"wanted 2 or more passages to choose from, got {n}"):
        SetwiseRanker("lexical")(question=QUESTION, passages=SETWISE_PASSAGES[:n])


def test_the_lexical_baseline_takes_the_passage_with_most_words_of_the_question():
    # Content words of the question: dam, break. Shares: 0, 1/2, 1, by hand.
    judge = SetwiseRanker("lexical")
    assert judge(question=QUESTION, passages=SETWISE_PASSAGES).best == 2
    assert judge(question=QUESTION, passages=["Bees.", "The dam.", "A dam."]).best == 1


def test_a_model_finds_the_best_ten_of_fifty_where_one_reply_is_prose():
    texts = [f"passage {n * 7 % 50:02}" for n in range(50)]  # 7 and 50 share no factor

    def pick(body):
        passages = input_of(body)["passages"]
        return {"best": int(max(passages, key=lambda n: passages[n]))}

    with MockServer(pick, faults=[Prose()]) as server:
        ranker = setwise_ranker_at(server)
        failed = []

        async def best(indexes):
            try:
                chosen, _ = await ranker.best(QUESTION, [texts[index] for index in indexes])
            except JudgeError:
                failed.append(indexes)
                return min(indexes)
            return indexes[chosen]

        top = asyncio.run(setwise_top(50, best))
    assert len(failed) == 1
    # The failed set is the first, of the places 16 and 49: passage 43 stays below passage 12. As
    # the last of the heap it is moved to the top once 49 is taken, and finds its place.
    assert [texts[index][-2:] for index in top[:10]] == [f"{n}" for n in range(49, 39, -1)]
