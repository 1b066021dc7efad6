"""What an endpoint's error says it does not take, in the words of several servers."""

import pytest

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import find_refused_part, read_error

BASE = {"model": "openai/m", "api_base": "http://127.0.0.1:1/v1"}


@pytest.mark.parametrize(
    ("message", "part"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
        ("`temperature` is deprecated for this model.", "temperature"),
        ("temperature is not supported with this model", "temperature"),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead.",
            "max_tokens",
        ),
        ("max_completion_tokens: Extra inputs are not permitted", "max_completion_tokens"),
        ('{"detail":[{"type":"extra_forbidden","loc":["body","seed"]}]} not allowed', "seed"),
        ("Invalid value for 'top_logprobs': must be at most 5.", "top_logprobs"),
        ("logprobs is not supported", "logprobs"),
        ("'response_format' of type 'json_schema' is not supported here.", "response_format"),
        ("System role not supported", "system"),
        ("The model doesn't support system messages", "system"),
        ("Invalid request.", ""),
        ("The prompt is too long, and temperature is not supported", ""),
        ("The passage says that the temperature rose.", ""),
        ("Overloaded", ""),
    ],
)
def test_an_errors_words_name_the_part_that_is_refused(message, part):
    assert find_refused_part(message) == part


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (b'{"error":{"message":"m","code":"c","param":"p"}}', ("c", "m", "p")),
        (b'{"error":{"message":"m","type":"t","code":null}}', ("t", "m", "")),
        (b'{"error":{"message":"m","param":3}}', ("", "m", "")),
        (b'{"error":"m"}', ("", '{"error":"m"}', "")),
        (b"<html>", ("", "<html>", "")),
    ],
)
def test_errors_of_any_shape_are_read(raw, error):
    assert read_error(raw) == error


def test_what_a_request_calls_things_is_part_of_a_judges_identity_only_where_it_is_said():
    """So journals of before are found by what they were."""
    plain = ModelConfig(**BASE).identity()
    assert not {"max_tokens_name", "system_role"} & plain.keys()
    assert (
        ModelConfig(**BASE, system_role="system", max_tokens_name="max_tokens").identity() == plain
    )
    assert ModelConfig(**BASE, system_role="user").identity() == {**plain, "system_role": "user"}
