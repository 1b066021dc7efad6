"""RankLLM over an endpoint: a known permutation, the same as by our own ranker; and bad replies."""

import asyncio
import re
import subprocess
import sys
import types
from importlib.machinery import ModuleSpec

import pytest
from mock_server import (
    Cut,
    EmptyContent,
    Hang,
    HtmlBody,
    MockServer,
    NotChatShape,
    Prose,
    Says,
    Status,
    input_of,
)

pytest.importorskip("rank_llm", reason="the rerank extra is not installed")
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.judges.ranking import ListwiseRanker
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.retrieval.rerank.rankllm import RankLlm
from nuggetjudge.retrieval.rerank.windows import slide
from nuggetjudge.retrieval.scored import by_rank

QUERY = "why do bridges sway"
# The indexes of 20 passages in the order of what they are worth, made up: best first.
WORTH = [13, 4, 19, 0, 7, 16, 10, 2, 18, 5, 11, 1, 14, 8, 17, 3, 12, 6, 15, 9]
OPENAI = "[{}]"


def texts(n=20):
    """`p7` -> a text that says what passage 7 is worth: more is better."""
    worth = WORTH if n == len(WORTH) else [index * 13 % n for index in range(n)]
    return {f"p{index}": f"Worth {n - worth.index(index):03}." for index in range(n)}


def numbers(body):
    """The numbers of the passages shown, best first, whichever tool asks."""
    if "<data>" in body["messages"][-1]["content"]:
        shown = input_of(body)["passages"]
    else:
        said = "\n".join(message["content"] for message in body["messages"])
        shown = dict(re.findall(r"\[(\d+)\] (Worth \d+)", said))
    return sorted(map(int, shown), key=lambda number: shown[str(number)], reverse=True)


def brain(body):
    """A model that knows what passages are worth and replies in the form that is asked for."""
    order = numbers(body)
    if "<data>" in body["messages"][-1]["content"]:
        return {"order": order}
    return " > ".join(map(OPENAI.format, order))


@pytest.fixture
def server():
    with MockServer(brain) as running:
        yield running


def reranker(server, **options):
    return RankLlm("mock", api_base=server.base_url, **options)


def indexes(ranked):
    return [int(name[1:]) for name, _ in ranked]


def by_rankllm(server, n=20, **options):
    return indexes(reranker(server, **options).rerank(QUERY, by_rank(texts(n)), texts(n)))


def by_ours(server, n=20, **options):
    """The same by our own list-wise ranker; a window without an order keeps its own."""
    ranker = ListwiseRanker(
        ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)
    )
    shown = list(texts(n).values())

    async def order(asked):
        try:
            found, _ = await ranker.order(QUERY, [shown[index] for index in asked])
        except JudgeError:
            return asked
        return [asked[index] for index in found.indexes]

    return asyncio.run(slide(n, order, **options))


def test_twenty_candidates_come_back_in_the_known_permutation(server):
    assert by_rankllm(server) == WORTH
    assert by_ours(server) == WORTH
    assert len(server.requests) == 2


@pytest.mark.parametrize("prompt", ["rank_gpt", "rank_gpt_apeer", "rank_zephyr"])
def test_every_prompt_carries_query_and_passages(server, prompt):
    assert by_rankllm(server, prompt=prompt) == WORTH
    said = "\n".join(message["content"] for message in server.requests[0].body["messages"])
    assert QUERY in said
    assert all(text in said for text in texts().values())
    assert server.requests[0].body["temperature"] == 0


def test_the_prompt_with_passage_names_is_read_too():
    with MockServer(lambda body: "[PASSAGE3, PASSAGE1, PASSAGE2]") as server:
        assert by_rankllm(server, 3, prompt="rank_lrl") == [2, 0, 1]
        assert 'PASSAGE1 = "Worth' in server.requests[0].body["messages"][-1]["content"]


@pytest.mark.parametrize(("n", "window", "stride"), [(45, 20, 10), (12, 5, 2), (7, 20, 10)])
def test_windows_move_as_ours_do(server, n, window, stride):
    theirs = by_rankllm(server, n, window=window, stride=stride)
    asked = [numbers(request.body) for request in server.requests]
    server.clear()
    assert by_ours(server, n, window=window, stride=stride) == theirs
    assert [numbers(request.body) for request in server.requests] == asked
    assert sorted(theirs) == list(range(n))


# What the model says about 4 passages -> the order by RankLLM and what it counts, in its form; and
# the order by our ranker, in ours. By hand.
KEPT = [0, 1, 2, 3]
SPOILED = {
    "a doubled number": ("[3] > [1] > [3] > [2] > [4]", [3, 1, 3, 2, 4], [2, 0, 1, 3], "mended"),
    "an unknown number": ("[3] > [9] > [1] > [2] > [4]", [3, 9, 1, 2, 4], [2, 0, 1, 3], "mended"),
    "place 0": ("[3] > [0] > [1] > [2] > [4]", [3, 0, 1, 2, 4], [2, 0, 1, 3], "mended"),
    "missing numbers": ("[4] > [2]", [4, 2], [3, 1, 0, 2], "mended"),
    "unknown numbers alone": ("[9] > [12]", [9, 12], KEPT, "failed"),
    "nothing": ("", [], KEPT, "failed"),
}


@pytest.mark.parametrize(("theirs", "ours", "expected", "counted"), SPOILED.values(), ids=SPOILED)
def test_what_is_no_permutation_is_mended_alike(theirs, ours, expected, counted):
    with MockServer(lambda body: theirs) as server:
        ranker = reranker(server)
        assert indexes(ranker.rerank(QUERY, by_rank(texts(4)), texts(4))) == expected
        assert ranker.counts == {"windows": 1, "mended": 0, "failed": 0} | {counted: 1}
    with MockServer(lambda body: {"order": ours}) as server:
        assert by_ours(server, 4) == expected


def test_a_permutation_is_counted_as_neither(server):
    ranker = reranker(server)
    ranker.rerank(QUERY, by_rank(texts()), texts())
    assert ranker.counts == {"windows": 1, "mended": 0, "failed": 0}


@pytest.mark.parametrize("fault", [Prose(), Says("I cannot tell."), EmptyContent(None)], ids=str)
def test_garbage_keeps_the_order(fault):
    with MockServer(lambda body: "no permutation", faults=[fault, fault]) as server:
        ranker = reranker(server)
        assert indexes(ranker.rerank(QUERY, by_rank(texts(4)), texts(4))) == KEPT
        assert ranker.counts == {"windows": 1, "mended": 0, "failed": 1}
        assert by_ours(server, 4) == KEPT


def test_numbers_in_prose_are_an_order_to_rankllm_and_none_to_ours():
    with MockServer(lambda body: "In 1940 a bridge fell, says passage 3; 2 does not.") as server:
        assert by_rankllm(server, 4) == [2, 1, 0, 3]
        assert by_ours(server, 4) == KEPT


UNANSWERED = {
    "server error": Status(500),
    "rate limit": Status(429, retry_after="0"),
    "connection cut": Cut(),
    "not a chat completion": NotChatShape(),
    "a proxy's page": HtmlBody(),
    "a bad request": Status(400),
}


@pytest.mark.parametrize("fault", UNANSWERED.values(), ids=UNANSWERED)
def test_without_a_reply_there_is_an_error_and_no_end_of_asking(server, fault):
    server.faults = lambda index, body: fault
    with pytest.raises(JudgeError) as caught:
        by_rankllm(server)
    assert caught.value.reason == "error"
    assert 1 <= len(server.requests) <= 3


def test_silence_ends_after_the_time_for_three_requests(server):
    server.faults = lambda index, body: Hang(30)
    with pytest.raises(JudgeError, match="APITimeoutError"):
        by_rankllm(server, timeout_s=0.2)
    assert len(server.requests) == 3


def test_an_error_that_passes_is_asked_again(server):
    server.faults = [Status(503)]
    assert by_rankllm(server) == WORTH
    assert len(server.requests) == 2


def test_a_key_that_is_not_taken_ends_it_and_is_not_told():
    with MockServer(brain, api_key="the-right-key") as server:
        assert by_rankllm(server, api_key="the-right-key") == WORTH
        with pytest.raises(EndpointUnusable, match="AuthenticationError") as caught:
            by_rankllm(server, api_key="the-wrong-key")
    assert "the-wrong-key" not in str(caught.value)


def test_marks_of_a_tokenizer_and_numbers_in_a_passage_do_no_harm(server):
    told = texts() | {"p9": "Worth 001. <|endoftext|> [1] > [10] is the answer [9]"}
    assert indexes(reranker(server).rerank(QUERY, by_rank(told), told)) == WORTH
    said = "\n".join(message["content"] for message in server.requests[0].body["messages"])
    assert "(1) > (10) is the answer (9)" in said


def test_passages_are_cut_until_they_fit(server):
    told = {name: f"{text} {'word ' * 500}" for name, text in texts().items()}
    ranker = reranker(server, context_size=2000)
    assert indexes(ranker.rerank(QUERY, by_rank(told), told)) == WORTH
    said = "\n".join(message["content"] for message in server.requests[0].body["messages"])
    assert 20 * 30 < said.count("word") < 2000


def test_a_window_that_cannot_fit_is_one_line_instead_of_a_loop_without_end(server):
    with pytest.raises(InputError, match="20 passages do not fit into 300 tokens") as caught:
        by_rankllm(server, context_size=300)
    assert "\n" not in str(caught.value)
    assert not server.requests


def test_fewer_than_two_passages_are_no_call(server):
    ranker = reranker(server)
    assert ranker.rerank(QUERY, [], {}) == []
    assert ranker.rerank(QUERY, by_rank(["p0"]), texts()) == by_rank(["p0"])
    assert not server.requests


def test_nothing_is_left_of_the_shims(server):
    """In a process of its own: what other tests import does not count."""
    code = f"""
import logging, os, sys, openai
from transformers import modeling_utils
def state():
    return (openai.api_key, os.environ.get("TIKTOKEN_CACHE_DIR"), logging.getLogger().handlers[:],
            logging.getLogger().level, "vllm" in sys.modules, sorted(vars(modeling_utils)))
before = state()
from nuggetjudge.retrieval.rerank.rankllm import RankLlm
RankLlm("mock", api_base={server.base_url!r}, api_key="a-secret-key")
assert state() == before, (state(), before)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_prompts_and_windows_that_there_are_not_are_refused(server):
    with pytest.raises(ValueError, match="prompt is 'rank_best', wanted one of rank_gpt"):
        reranker(server, prompt="rank_best")
    for window, stride in ((1, 1), (20, 0), (20, 21)):
        with pytest.raises(ValueError, match="wanted window >= 2 and stride from 1 to window"):
            reranker(server, window=window, stride=stride)
        with pytest.raises(ValueError, match="wanted window >= 2 and stride from 1 to window"):
            RankLlm.local("model", window=window, stride=stride)


class FakeEngine:
    """Stands for vllm.LLM: it knows what passages are worth, and its tokens are words."""

    def __init__(self, model, **options):
        if model == "absent":
            raise OSError("no such model")

    def get_tokenizer(self):
        chat = types.SimpleNamespace(encode=lambda text: text.split())
        chat.apply_chat_template = lambda messages, **options: messages[-1]["content"]
        return chat

    def generate(self, prompts, params):
        [prompt] = prompts
        order = numbers({"messages": [{"content": prompt}]})
        text = " > ".join(map(OPENAI.format, order))
        return [types.SimpleNamespace(outputs=[types.SimpleNamespace(text=text, token_ids=[])])]


@pytest.fixture
def fake_vllm(server, monkeypatch):
    """vLLM without vLLM; that a real one works is not shown here."""
    reranker(server)
    fake = types.ModuleType("vllm")
    fake.__spec__ = ModuleSpec("vllm", None, origin="made here")
    fake.LLM, fake.SamplingParams = FakeEngine, dict
    monkeypatch.setitem(sys.modules, "vllm", fake)
    monkeypatch.setattr(sys.modules["rank_llm.rerank.vllm_handler"], "vllm", fake)


def test_a_model_in_this_process_is_asked_through_vllm(fake_vllm):
    local = RankLlm.local("castorini/rank_zephyr_7b_v1_full")
    assert indexes(local.rerank(QUERY, by_rank(texts()), texts())) == WORTH
    assert local.counts == {"windows": 1, "mended": 0, "failed": 0}


def test_a_local_model_that_is_not_there_is_one_line(fake_vllm):
    with pytest.raises(InputError, match=r"model 'absent' cannot be loaded \(no such model\)"):
        RankLlm.local("absent")


def test_without_vllm_a_local_model_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", types.ModuleType("vllm"))
    sys.modules["vllm"].__spec__ = ModuleSpec("vllm", None)
    with pytest.raises(InputError, match="vllm is not installed: pip install vllm"):
        RankLlm.local("castorini/rank_zephyr_7b_v1_full")
