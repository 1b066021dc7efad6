"""Key points kept by the probability of yes: from tokens, from samples, or by words."""

import asyncio
import json
import math

import dspy
import pytest
from mock_server import MockServer, Prose, Refusal, Reply, Supports

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.backends.gateway import Completion, Gateway
from nuggetjudge.backends.replies.logprobs import read_tokens
from nuggetjudge.judges import KeyPointFilter

ASKED = {"question": "Why do bridges sway in wind?", "key_point": "Vortices push the deck."}
MASKED = -9999.0


def judged(judge):
    """The verdict on ASKED, and where it came from."""
    return asyncio.run(judge.verdict(**ASKED))


# --- from log-probabilities


class TokenTransport:
    """A transport whose model says `{"verdict": "` + these tokens; each (text, alternatives)."""

    def __init__(self, *tokens):
        self.bodies = []
        pieces = ['{"', "verdict", '":', *tokens]
        texts = [token if isinstance(token, str) else token[0] for token in pieces]
        rows = []
        for token in pieces:
            text, others = (token, {token: 0.0}) if isinstance(token, str) else token
            top = [{"token": other, "logprob": p} for other, p in others.items()]
            rows.append({"token": text, "logprob": others.get(text, MASKED), "top_logprobs": top})
        self.completion = Completion("".join(texts), tokens=read_tokens({"content": rows}))

    async def send(self, body):
        self.bodies.append(json.loads(body))
        return self.completion

    async def aclose(self):
        pass


def with_tokens(*tokens, **options):
    """What the filter makes of a reply of these tokens, and the requests that it took."""
    transport = TokenTransport(*tokens)
    config = ModelConfig(model="hosted_vllm/m", api_base="http://127.0.0.1:1/v1", logprobs=True)
    verdict, call = judged(KeyPointFilter(backend=Gateway(config, transport), **options))
    assert call.attempts == len(transport.bodies)
    return verdict, transport.bodies


def ln(**chances):
    return {name.replace("_", " "): math.log(p) for name, p in chances.items()}


YES_3_TO_1 = {
    "alternatives unmasked": ("yes", ln(yes=0.6, no=0.2, maybe=0.1, Sure=0.05)),
    "a small mass on other words": ("no", ln(no=0.2, yes=0.6, the=0.2)),
    "masked as vLLM's server writes it": ("yes", ln(yes=0.75, no=0.25) | {"may": MASKED}),
    "masked as vLLM's engine has it": ("yes", ln(yes=0.75, no=0.25) | {"may": -math.inf}),
    "a tenth not listed": ("yes", ln(yes=0.675, no=0.225)),
    "beginnings of labels": ("yes", ln(yes=0.5, y=0.1, no=0.15, n=0.05, maybe=0.2)),
    "other spellings": ("Yes", ln(Yes=0.4, yes=0.1, YES=0.1, No=0.1, no=0.1)),
}


@pytest.mark.parametrize("token", YES_3_TO_1.values(), ids=YES_3_TO_1)
def test_the_score_is_the_share_of_yes_among_yes_and_no(token):
    verdict, bodies = with_tokens(' "', token, '"}')
    assert verdict.method == "logprobs"
    assert verdict.score == pytest.approx(0.75)
    assert verdict.probabilities == pytest.approx({"no": 0.25, "yes": 0.75})
    assert verdict.label == "yes"
    assert len(bodies) == 1
    assert (bodies[0]["logprobs"], bodies[0]["temperature"]) == (True, 0.0)


def test_labels_may_be_cut_into_tokens():
    cut = [("y", ln(y=0.6, n=0.2, x=0.2)), "es", '"}']
    assert with_tokens(' "', *cut)[0].score == pytest.approx(0.75)
    quote_inside = [(' "y', {' "y': math.log(0.6), ' "no': math.log(0.2)}), "es", '"', "}"]
    assert with_tokens(*quote_inside)[0].score == pytest.approx(0.75)
    spaced = [
        (" ", {" ": 0.0}),
        ('"', {'"': 0.0}),
        (" y", {" y": math.log(0.6), " n": math.log(0.2)}),
    ]
    assert with_tokens(*spaced, "es", '"}')[0].score == pytest.approx(0.75)


@pytest.mark.parametrize(
    ("p_yes", "threshold", "label"),
    [(0.75, 0.7, "yes"), (0.65, 0.7, "no"), (0.65, 0.6, "yes"), (0.5, 0.5, "yes"), (0.0, 0, "yes")],
)
def test_a_point_is_kept_from_the_threshold_on_whatever_the_reply_says(p_yes, threshold, label):
    chances = {"yes": math.log(p_yes) if p_yes else MASKED, "no": math.log(1 - p_yes)}
    for reply in ("yes", "no"):
        verdict, _ = with_tokens(' "', (reply, chances), '"}', threshold=threshold)
        assert (verdict.label, verdict.score) == (label, pytest.approx(p_yes))


NOTHING_KNOWN = {
    "no mass on labels": ("yes", ln(yes=1e-8, maybe=1.0)),
    "no alternatives": ("yes", {}),
    "all masked": ("yes", {"yes": MASKED, "no": MASKED}),
}


@pytest.mark.parametrize("token", NOTHING_KNOWN.values(), ids=NOTHING_KNOWN)
def test_a_reply_that_tells_no_probabilities_is_followed_by_samples(token):
    verdict, bodies = with_tokens(' "', token, '"}')
    assert (verdict.label, verdict.score, verdict.method) == ("yes", 1.0, "samples")
    assert verdict.probabilities is None
    assert [body["temperature"] for body in bodies] == [0.0] + [1.0] * 5
    assert ["logprobs" in body for body in bodies] == [True] + [False] * 5


@pytest.mark.parametrize("schema", ["json_schema", "none"])
def test_masked_and_unmasked_tokens_of_a_server_give_the_same(schema):
    """With a schema the mock masks all but labels with -9999, without one it lists other words."""
    reply = Reply('{"verdict": "no"}', probabilities={"yes": 0.8, "no": 0.2})
    with MockServer(lambda body: reply) as server:
        model = ModelConfig(
            model="openai/mock", api_base=server.base_url, logprobs=True, schema=schema
        )
        prediction = KeyPointFilter(model)(**ASKED)
        assert len(server.requests) == 1
    assert (prediction.verdict, prediction.method) == ("yes", "logprobs")
    assert prediction.score == pytest.approx(0.8, abs=0.005)  # unmasked, a little is on other words


# --- from samples


class Torn:
    """A model that says yes to `n_yes` of its requests, then no."""

    def __init__(self, n_yes):
        self.n_yes = n_yes

    def __call__(self, body):
        self.n_yes -= 1
        return {"verdict": "yes" if self.n_yes >= 0 else "no"}


@pytest.mark.parametrize(
    ("n_yes", "label"), [(5, "yes"), (4, "yes"), (3, "no"), (0, "no")]
)  # from 0.7 of 5 on
def test_without_log_probabilities_the_score_is_the_share_of_yes_among_samples(n_yes, label):
    with MockServer(Torn(n_yes)) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, seed=7, max_tokens=50)
        judge = KeyPointFilter(model)
        assert judge.method == "samples"
        prediction = judge(**ASKED)
        bodies = [request.body for request in server.requests]
    assert (prediction.verdict, prediction.score, prediction.method) == (
        label, n_yes / 5, "samples",
    )  # fmt: skip
    assert prediction.probabilities is None
    assert [body["temperature"] for body in bodies] == [1.0] * 5
    assert not any("seed" in body or "logprobs" in body for body in bodies)
    assert {body["max_tokens"] for body in bodies} == {50}


def test_the_number_of_samples_can_be_chosen():
    with MockServer(Torn(7)) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url)
        assert KeyPointFilter(model, samples=10)(**ASKED).verdict == "yes"  # 0.7
        assert len(server.requests) == 10


def test_where_the_model_takes_no_temperature_none_is_sent():
    with MockServer(Torn(5)) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, temperature=None)
        KeyPointFilter(model, samples=2)(**ASKED)
        assert [("temperature" in request.body) for request in server.requests] == [False] * 2


def test_samples_are_kept_and_those_of_another_replicate_are_others(tmp_path):
    with MockServer(Torn(5)) as server:
        config = ModelConfig(model="openai/mock", api_base=server.base_url)
        for _ in range(2):
            cache = ReplyCache(tmp_path / "cache")
            judge = KeyPointFilter(backend=open_backend(config, cache=cache), samples=3)
            verdict, call = judged(judge)
            assert verdict.score == 1.0
            cache.close()
        assert len(server.requests) == 3
        assert (call.cache_hit, call.attempts) == (True, 0)
        cache = ReplyCache(tmp_path / "cache")
        judge = KeyPointFilter(backend=open_backend(config, cache=cache), samples=3)
        judge.replicate = 1
        assert judged(judge)[0].score == pytest.approx(2 / 3)
        cache.close()
    assert len(server.requests) == 6


def test_the_tokens_of_all_samples_are_counted():
    with MockServer(Torn(5)) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url)
        _, one = judged(KeyPointFilter(model, samples=1))
        _, four = judged(KeyPointFilter(model, samples=4))
    assert one.prompt_tokens > 0
    for name in ("prompt_tokens", "completion_tokens", "attempts"):
        assert getattr(four, name) == 4 * getattr(one, name)


@pytest.mark.parametrize(("fault", "reason"), [(Refusal(), "refused"), (Prose(), "unparseable")])
def test_a_sample_that_fails_is_no_no(fault, reason):
    with MockServer(Torn(5), faults=[None, None, fault]) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0)
        with pytest.raises(JudgeError) as caught:
            KeyPointFilter(model)(**ASKED)
    assert caught.value.reason == reason


def test_an_endpoint_that_refuses_log_probabilities_is_not_sampled_behind_your_back():
    with MockServer(Torn(5), supports=Supports(logprobs=False)) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, logprobs=True)
        with pytest.raises(EndpointUnusable, match="Set the model's logprobs to false"):
            KeyPointFilter(model)(**ASKED)
        assert len(server.requests) == 1


def test_dspys_own_lm_is_sampled_too():
    with MockServer(Torn(3)) as server:
        lm = dspy.LM("openai/mock", api_base=server.base_url, api_key="x", cache=False)
        with dspy.context(lm=lm):
            prediction = KeyPointFilter(samples=4)(**ASKED)
        temperatures = [request.body["temperature"] for request in server.requests]
    assert (prediction.score, prediction.method) == (0.75, "samples")
    assert temperatures == [1.0] * 4


# --- the baseline


@pytest.mark.parametrize(
    ("key_point", "score", "verdict"),
    [
        ("Vortices push the deck.", 0.0, "no"),
        ("The deck of a bridge is heavy.", 1 / 1.4, "yes"),
        ("Bridges sway when it blows.", 2 / 2.4, "yes"),
        ("Why, and how?", 0.0, "no"),  # words that only ask
    ],
)
def test_the_baseline_keeps_what_shares_a_word_with_the_question(key_point, score, verdict):
    judge = KeyPointFilter("lexical")
    prediction = judge(question=ASKED["question"], key_point=key_point)
    assert (prediction.verdict, prediction.score) == (verdict, pytest.approx(score))
    assert (prediction.method, judge.method, prediction.probabilities) == (
        "lexical", "lexical", None,
    )  # fmt: skip


def test_with_a_higher_threshold_the_baseline_wants_two_words():
    judge = KeyPointFilter("lexical", threshold=0.8)
    assert judge(question="Why do bridges sway?", key_point="A bridge is heavy.").verdict == "no"
    assert judge(question="Why do bridges sway?", key_point="A bridge sways.").verdict == "yes"


def test_it_takes_one_point_a_call():
    with pytest.raises(ValueError, match="wanted 1 item in a call, got 2"):
        asyncio.run(KeyPointFilter("lexical").verdicts([ASKED, ASKED]))
