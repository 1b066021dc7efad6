"""How much of the prompts the prefix cache holds when what is shared comes first, and together.

python -m pytest -s tests/vllm/test_prefix_order.py
"""

import asyncio

import dspy
import pytest

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges.support import JudgeSupport
from nuggetjudge.records.support import CitationSupport

N_PASSAGES, N_SENTENCES = 20, 10  # 200 judgements: each passage is cited by ten sentences
LABELS = {label.value for label in CitationSupport}


class SentenceFirst(dspy.Signature):
    __doc__ = JudgeSupport.__doc__
    sentence: str = dspy.InputField(desc="a sentence of an answer")
    passage: str = dspy.InputField(desc="the cited passage")
    verdict: CitationSupport = dspy.OutputField(desc="how far the passage backs the sentence")


def questions(run):
    """The judgements by passage; each run of the test has texts of its own."""
    return [
        {
            "passage": f"{run}, passage {p}. " + "Wind sheds vortices behind the deck. " * 14,
            "sentence": f"Sentence {s} of answer {p} says that the deck of the bridge sways.",
        }
        for p in range(N_PASSAGES)
        for s in range(N_SENTENCES)
    ]


def by_sentence(asked):
    """The same in the order of sentences: a passage comes again when all others have come."""
    return [asked[i] for s in range(N_SENTENCES) for i in range(s, len(asked), N_SENTENCES)]


def hit_rate(model, prompt, asked):
    """Share of the prompts' tokens that came from the cache; all labels are valid."""

    async def ask():
        backend = open_backend(model.model_copy(update={"concurrency": 8}))
        try:
            replies = await asyncio.gather(*(backend.ask(prompt, inputs) for inputs in asked))
        finally:
            await backend.aclose()
        return replies, backend.budget.usage

    replies, usage = asyncio.run(ask())
    assert len(replies) == usage.requests == 200
    assert {reply.values["verdict"].value for reply in replies} <= LABELS
    return usage.cached_tokens / usage.prompt_tokens


@pytest.mark.parametrize("way", ["server", "in process"])
def test_shared_prefixes_first_and_together_are_found_in_the_cache(way, request, in_process):
    model = in_process
    if way == "server":
        url = request.getfixturevalue("vllm_url")
        model = model.model_copy(
            update={"model": "hosted_vllm/tiny", "engine": None, "vllm": {}, "api_base": url}
        )
    ours, naive = Prompt(JudgeSupport), Prompt(SentenceFirst)
    rates = {
        "passage first, its sentences together": hit_rate(model, ours, questions(f"{way} a")),
        "passage first, sentences scattered": hit_rate(
            model, ours, by_sentence(questions(f"{way} b"))
        ),
        "sentence first": hit_rate(model, naive, questions(f"{way} c")),
    }
    print(f"\nshare of prompt tokens from the prefix cache, 200 support judgements, {way}:")  # noqa: T201
    for order, rate in rates.items():
        print(f"  {rate:6.1%}  {order}")  # noqa: T201
    together, scattered, sentence_first = rates.values()
    assert together > 0.85
    assert together > scattered + 0.2
    assert together > sentence_first + 0.2
