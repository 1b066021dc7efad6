"""What the documentation says to start vLLM's server with is what judging wants of the engine."""

import json
from itertools import pairwise

from vllm_docs import shown_command, shown_entry

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.vllm_engine import JUDGING


def test_the_shown_server_gets_what_the_engine_in_process_gets():
    words = shown_command()
    given = dict(pairwise(words))
    assert words[:2] == ["vllm", "serve"]
    assert all(word.strip() for word in words)
    assert "--enable-prefix-caching" in words
    assert {
        "enable_prefix_caching": True,
        "generation_config": given["--generation-config"],
        "max_logprobs": int(given["--max-logprobs"]),
        "structured_outputs_config": json.loads(given["--structured-outputs-config"]),
    } == JUDGING
    assert "--enable-prompt-tokens-details" in words  # else no reply tells its cached tokens
    assert given["--host"] == "127.0.0.1"
    assert "--reasoning-parser" in given


def test_the_shown_entry_is_a_model_of_that_server():
    given = dict(pairwise(shown_command()))
    config = ModelConfig(**shown_entry())
    assert config.way == "http"
    assert config.wire_name == given["serve"]
    assert config.base_url == f"http://{given['--host']}:{given['--port']}/v1"
    assert config.logprobs
