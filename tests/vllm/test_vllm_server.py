"""vLLM's server as docs/backends.md starts it: its entry works, and its flags reach the server."""

import asyncio
import json
from urllib.request import Request, urlopen

import pytest
from vllm_docs import shown_entry

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import SupportJudge

THINKING = {"chat_template_kwargs": {"enable_thinking": True}}  # as Qwen3's template reads it


def test_the_shown_entry_is_a_model_that_can_be_asked(vllm_url):
    entry = shown_entry() | {"model": "hosted_vllm/tiny", "api_base": vllm_url}
    judge = SupportJudge(model=ModelConfig(**entry, max_tokens=60))
    found = judge(sentence="Decks sway.", passage="Wind pushes the deck.")
    assert found.verdict.value in ("full", "partial", "none")
    assert found.probabilities.keys() == {"full", "partial", "none"}


def test_replies_tell_their_cached_tokens_and_any_number_of_alternatives(vllm_url):
    model = ModelConfig(model="hosted_vllm/tiny", api_base=vllm_url, max_tokens=60, logprobs=200)

    async def ask():
        backend = open_backend(model)
        judge = SupportJudge(backend=backend)
        for sentence in ("Decks sway.", "Decks sway a lot."):
            await judge.verdict(sentence=sentence, passage="Wind pushes the deck. " * 9)
        await backend.aclose()
        return backend.budget.usage

    usage = asyncio.run(ask())
    assert usage.cached_tokens > 0.4 * usage.prompt_tokens


def test_what_a_model_thinks_first_stands_beside_a_reply_that_keeps_to_its_schema(vllm_url):
    entry = shown_entry() | {"model": "hosted_vllm/tiny", "api_base": vllm_url}
    judge = SupportJudge(model=ModelConfig(**entry, max_tokens=60, extra_body=THINKING))
    for sentence in ("Decks sway.", "Towers sway.", "Bees make honey."):
        found = judge(sentence=sentence, passage="Wind pushes the deck.")
        assert found.verdict.value in ("full", "partial", "none")
        assert sum(found.probabilities.values()) == pytest.approx(1)
    asked = {"model": "tiny", "messages": [{"role": "user", "content": "Say."}], "max_tokens": 60}
    asked |= THINKING
    schema = {"type": "object", "properties": {"verdict": {"enum": ["yes"]}}}
    schema |= {"required": ["verdict"], "additionalProperties": False}
    asked["response_format"] = {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": schema},
    }
    body, kind = json.dumps(asked).encode(), {"Content-Type": "application/json"}
    with urlopen(Request(f"{vllm_url}/chat/completions", body, kind)) as reply:
        said = json.load(reply)["choices"][0]["message"]
    assert said["content"] == '{"verdict":"yes"}'
    assert "hm" in said["reasoning"]
