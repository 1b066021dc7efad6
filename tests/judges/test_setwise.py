"""The best of a set: one number of those given, or no judgement."""

import asyncio

import pytest
from mock_server import MockServer, Prose, Says, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges.ranking import SetwiseRanker
from nuggetjudge.retrieval.rerank.windows import setwise_top

QUESTION = "Why did the dam break?"
PASSAGES = ["Bees sing in June.", "The dam broke in 1911.", "Why the dam did break: clay."]


def ranker_at(server):
    settings = {"retries": 0, "reasks": 0}
    return SetwiseRanker(ModelConfig(model="openai/mock", api_base=server.base_url, **settings))


@pytest.mark.parametrize(("number", "index"), [(1, 0), (3, 2)])
def test_the_number_given_names_a_place_from_zero(number, index):
    with MockServer(lambda body: {"best": number}) as server:
        assert ranker_at(server)(question=QUESTION, passages=PASSAGES).best == index
        assert input_of(server.requests[0].body)["passages"] == {
            str(n): text for n, text in enumerate(PASSAGES, 1)
        }


@pytest.mark.parametrize(
    "reply", ['{"best": 0}', '{"best": 4}', '{"best": -1}', '{"best": "2"}', '{"best": [2]}', "2"]
)
def test_what_names_no_passage_is_no_judgement(reply):
    with MockServer(faults=[Says(reply)]) as server:
        with pytest.raises(JudgeError) as caught:
            ranker_at(server)(question=QUESTION, passages=PASSAGES)
        assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_passages_are_no_choice(n):
    with pytest.raises(ValueError, match=f"wanted 2 or more passages to choose from, got {n}"):
        SetwiseRanker("lexical")(question=QUESTION, passages=PASSAGES[:n])


def test_the_lexical_baseline_takes_the_passage_with_most_words_of_the_question():
    # Content words of the question: dam, break. Shares: 0, 1/2, 1, by hand.
    judge = SetwiseRanker("lexical")
    assert judge(question=QUESTION, passages=PASSAGES).best == 2
    assert judge(question=QUESTION, passages=["Bees.", "The dam.", "A dam."]).best == 1


def test_a_model_finds_the_best_ten_of_fifty_where_one_reply_is_prose():
    texts = [f"passage {n * 7 % 50:02}" for n in range(50)]  # 7 and 50 share no factor

    def pick(body):
        passages = input_of(body)["passages"]
        return {"best": int(max(passages, key=lambda n: passages[n]))}

    with MockServer(pick, faults=[Prose()]) as server:
        ranker = ranker_at(server)
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
