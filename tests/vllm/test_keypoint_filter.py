"""The key point filter against a real vLLM server: probabilities of yes and no, and samples."""

import asyncio
import json
import math

import pytest

from nuggetjudge.backends import http
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import KeyPointFilter, SupportJudge

MASKED = -9999.0  # what the server writes for a token that the schema forbids
QUESTION = "Why do bridges sway in wind?"
POINTS = [
    "Vortices push the deck.", "Wind sheds vortices behind a deck.", "Bees eat honey in winter.",
    "The bridge opened in 1940.", "Cables are made of steel wire.",
    "Resonance makes small pushes add up.", "A moon of Saturn has geysers.",
    "The deck was too light and too slender.", "Dampers take energy out of the motion.",
    "Bread rises because of yeast.", "Its towers stood 130 metres tall.",
    "Flutter feeds energy from wind to deck.",
]  # fmt: skip


@pytest.fixture
def replies(monkeypatch):
    """What the server said, in full: a list that grows with every request."""
    said = []
    read = http.read_completion

    def kept(raw, secrets):
        said.append(json.loads(raw)["choices"][0])
        return read(raw, secrets)

    monkeypatch.setattr(http, "read_completion", kept)
    return said


def tiny(url, **settings):
    return ModelConfig(model="hosted_vllm/tiny", api_base=url, max_tokens=60, **settings)


def verdicts(judge):
    """(the verdict, requests it took) for each of POINTS."""

    async def judged():
        asked = (judge.verdict(question=QUESTION, key_point=point) for point in POINTS)
        return [(verdict, call.attempts) for verdict, call in await asyncio.gather(*asked)]

    return asyncio.run(judged())


def label_row(reply):
    """The alternatives of the token in which the label begins, {text: log-probability}."""
    label = json.loads(reply["message"]["content"])["verdict"]
    told = ""
    for row in reply["logprobs"]["content"]:
        if told.endswith('"') and row["token"] and label.startswith(row["token"]):
            return {other["token"]: other["logprob"] for other in row["top_logprobs"]}
        told += row["token"]
    raise AssertionError(f"no token begins the label: {reply}")


def mass(row, label):
    """The probability of the tokens that begin this label."""
    return math.fsum(math.exp(p) for token, p in row.items() if token and label.startswith(token))


@pytest.mark.parametrize("schema", ["json_schema", "none"])
def test_the_score_is_the_share_of_the_tokens_that_begin_yes(vllm_url, replies, schema):
    model = tiny(vllm_url, schema=schema, logprobs=True, concurrency=1)
    found = verdicts(KeyPointFilter(model, threshold=0.5))
    assert len(replies) == len(POINTS)
    for (verdict, attempts), reply in zip(found, replies, strict=True):
        row = label_row(reply)
        yes, no = mass(row, "yes"), mass(row, "no")
        assert (verdict.method, attempts) == ("logprobs", 1)
        assert verdict.score == pytest.approx(yes / (yes + no), abs=1e-6)
        assert verdict.probabilities == pytest.approx({"yes": verdict.score, "no": no / (yes + no)})
        assert verdict.label == ("yes" if verdict.score >= 0.5 else "no")
        assert sum(math.exp(p) > 0.01 for token, p in row.items() if "yes".startswith(token)) > 1
        if schema == "json_schema":
            assert MASKED in row.values()
            assert yes + no == pytest.approx(1, abs=1e-4)
        else:
            assert MASKED not in row.values()
            assert 0.5 < yes + no < 0.9
    assert {verdict.label for verdict, _ in found} == {"yes", "no"}


def test_masked_and_unmasked_replies_give_the_same_score(vllm_url):
    scores = [
        [v.score for v, _ in verdicts(KeyPointFilter(tiny(vllm_url, schema=how, logprobs=True)))]
        for how in ("json_schema", "none")
    ]
    assert scores[0] == pytest.approx(scores[1], abs=0.01)  # bfloat16
    assert len({round(score, 2) for score in scores[0]}) > 3


def test_the_share_of_yes_among_samples_is_near_the_probability(vllm_url, replies):
    point = {"question": QUESTION, "key_point": POINTS[0]}
    told = KeyPointFilter(tiny(vllm_url, logprobs=True))(**point).score
    n = 200
    found = KeyPointFilter(tiny(vllm_url, concurrency=8), samples=n)(**point)
    assert (found.method, len(replies)) == ("samples", 1 + n)
    assert found.score == pytest.approx(told, abs=4 * math.sqrt(told * (1 - told) / n))


def test_support_labels_of_an_untaught_model_are_valid_and_have_probabilities(vllm_url):
    judge = SupportJudge(model=tiny(vllm_url, logprobs=True))
    found = [judge(sentence=a, passage=b) for a in POINTS[:5] for b in POINTS[5:9]]
    assert len(found) == 20
    for verdict in found:
        assert verdict.probabilities.keys() == {"full", "partial", "none"}
        assert math.fsum(verdict.probabilities.values()) == pytest.approx(1)
        assert verdict.verdict.value in verdict.probabilities
