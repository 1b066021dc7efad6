"""The model server that other tests use behaves as real ones do, and each fault is what it says."""

import asyncio
import http.client
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from email.utils import parsedate_to_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import aiohttp
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mock_server import (
    BadJson,
    ContentFilter,
    Cut,
    EmptyContent,
    ExtraKey,
    Fenced,
    Hang,
    HtmlBody,
    MockServer,
    NotChatShape,
    OneShort,
    OtherLabel,
    OtherSpelling,
    Prose,
    QuotedString,
    Refusal,
    Reply,
    Says,
    Status,
    Supports,
    Truncated,
    default_brain,
    http_date,
    input_of,
    mock_process,
)
from pydantic import BaseModel, Field

LIGHT_SERVER = Path(__file__).resolve().parent.parent / "benchmarks" / "light_server.py"
LABELS = ["support", "partial_support", "not_support"]
VERDICTS = {"verdicts": {"n1": "partial_support", "n2": "support", "n3": "not_support"}}


class Finding(BaseModel):
    text: str = Field(max_length=12)
    grade: int = Field(ge=0, le=3)
    label: Literal["full", "partial", "none"]
    source: str | None
    parent: "Finding | None" = None


class Findings(BaseModel):
    findings: list[Finding] = Field(min_length=2, max_length=4)
    by_id: dict[str, Literal["yes", "no"]]
    share: float = Field(ge=0, le=1)
    is_final: bool


def json_schema(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema, **more}}


def verdict_schema(labels: list[str] = LABELS) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"verdict": {"enum": labels}},
        "required": ["verdict"],
        "additionalProperties": False,
    }


def call(server: MockServer, *, key: str | None = None, path: str = "", **body: Any) -> Any:
    """(status, headers, body) of one POST; `body` is parsed if it is JSON, else text."""
    asked = {"model": "mock", "messages": [{"role": "user", "content": "Is it?"}]} | body
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    url = server.base_url + (path or "/chat/completions")
    request = urllib.request.Request(url, json.dumps(asked).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            status, told, raw = response.status, response.headers, response.read()
    except urllib.error.HTTPError as error:
        with error:
            status, told, raw = error.code, error.headers, error.read()
    return status, told, json.loads(raw) if "json" in told["Content-Type"] else raw.decode()


def say(server: MockServer, **body: Any) -> str | None:
    status, _, made = call(server, **body)
    assert status == 200, made
    return made["choices"][0]["message"]["content"]


def choice_after(fault: Any, **body: Any) -> dict[str, Any]:
    with MockServer(brain=lambda _: VERDICTS, faults=[fault]) as server:
        return call(server, **body)[2]["choices"][0]


def error_of(server: MockServer, **body: Any) -> tuple[int, str | None, str | None]:
    status, _, made = call(server, **body)
    assert set(made["error"]) == {"message", "type", "param", "code"}
    return status, made["error"]["param"], made["error"]["code"]


# --- what it says


def test_reply_has_the_fields_of_a_chat_completion(model_server):
    before = int(time.time())
    _, _, made = call(model_server)
    assert made["object"] == "chat.completion"
    assert made["model"] == "mock"
    assert made["id"].startswith("chatcmpl-")
    assert before <= made["created"] <= time.time()
    assert isinstance(made["system_fingerprint"], str)
    (choice,) = made["choices"]
    assert (choice["index"], choice["finish_reason"], choice["logprobs"]) == (0, "stop", None)
    assert choice["message"]["role"] == "assistant"
    assert choice["message"]["refusal"] is None


def test_default_reply_is_valid_for_the_schema_asked_for(model_server):
    form = json_schema(Findings.model_json_schema())
    for i in range(40):
        messages = [{"role": "user", "content": f"report {i}"}]
        Findings.model_validate_json(say(model_server, messages=messages, response_format=form))


scalars = st.one_of(
    st.builds(lambda labels: {"enum": labels}, st.lists(st.text(), min_size=1, unique=True)),
    st.builds(
        lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span},
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(
        lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span},
        st.integers(0, 90),
        st.integers(0, 9),
    ),
    st.sampled_from([{"type": "boolean"}, {"type": ["string", "null"]}, {"const": "a"}, {}]),
    st.just({"type": "number", "exclusiveMinimum": 0, "maximum": 1}),
)
schemas = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.builds(
            lambda items, low, span: {
                "type": "array",
                "items": items,
                "minItems": low,
                "maxItems": low + span,
            },
            inner,
            st.integers(0, 3),
            st.integers(0, 3),
        ),
        st.builds(
            lambda parts: {
                "type": "object",
                "properties": parts,
                "required": list(parts),
                "additionalProperties": False,
            },
            st.dictionaries(st.text(), inner, max_size=4),
        ),
        st.builds(lambda part: {"type": "object", "additionalProperties": part}, inner),
        st.builds(lambda part: {"anyOf": [part, {"type": "null"}]}, inner),
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(schema=schemas, prompt=st.text())
def test_default_reply_passes_another_schema_validator(schema, prompt):
    jsonschema = pytest.importorskip("jsonschema")
    body = {
        "messages": [{"role": "user", "content": prompt}],
        "response_format": json_schema(schema),
    }
    jsonschema.validate(json.loads(default_brain(body).content), schema)


def test_equal_prompts_get_equal_replies_and_others_differ(model_server):
    form = json_schema(Findings.model_json_schema())

    def ask(text: str) -> str | None:
        return say(model_server, messages=[{"role": "user", "content": text}], response_format=form)

    replies = [ask(f"report {i}") for i in range(5)]
    assert replies == [ask(f"report {i}") for i in range(5)]
    assert len(set(replies)) == 5


def test_without_a_schema_the_reply_is_prose_around_a_json_object(model_server):
    prose = say(model_server)
    assert prose is not None
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(prose)
    fenced = prose.split("```json\n")[1].split("\n```")[0]
    assert isinstance(json.loads(fenced), dict)


def test_json_object_mode_gives_an_object_and_nothing_around_it(model_server):
    content = say(model_server, response_format={"type": "json_object"})
    assert isinstance(json.loads(content), dict)


def test_guided_parameters_have_no_effect_and_structured_outputs_have(model_server):
    assert say(model_server, guided_choice=["yes", "no"]) == say(model_server)
    assert say(model_server, structured_outputs={"choice": ["yes", "no"]}) in ("yes", "no")
    limited = say(model_server, structured_outputs={"json": verdict_schema()})
    assert json.loads(limited)["verdict"] in LABELS


def test_a_brain_answers_by_the_data_in_the_last_user_message():
    prompt = 'Judge it.\n<data>\n{"sentence": "a </data> b", "n": 3}\n</data>\nReply in JSON.'
    messages = [
        {"role": "user", "content": '<data>\n{"n": 1}\n</data>'},
        {"role": "assistant", "content": "{}"},
        {"role": "user", "content": [{"type": "text", "text": prompt}]},
    ]
    with MockServer(brain=lambda body: {"n": input_of(body)["n"] * 2}) as server:
        assert say(server, messages=messages) == '{"n": 6}'
    assert input_of({"messages": messages})["sentence"] == "a </data> b"


@pytest.mark.parametrize("text", ["no block", "<data>{}</data>", "<data>\n[1]\n</data>"])
def test_a_message_without_a_data_object_is_an_error(text):
    with pytest.raises(ValueError, match="data"):
        input_of({"messages": [{"role": "user", "content": text}]})


def test_an_exception_in_the_brain_answers_500_and_fails_the_test():
    def broken(body: Any) -> str:
        raise KeyError("sentence")

    with pytest.raises(KeyError, match="sentence"), MockServer(brain=broken) as server:
        assert call(server)[0] == 500


def test_usage_counts_four_characters_a_token_and_cached_blocks():
    messages = [
        {"role": "system", "content": "s" * 320},  # 80 tokens: two blocks of 32
        {"role": "user", "content": "u" * 102},
    ]
    with MockServer(brain=lambda _: "r" * 10) as server:
        assert call(server, messages=messages)[2]["usage"] == {
            "prompt_tokens": 106,
            "completion_tokens": 3,
            "total_tokens": 109,
            "prompt_tokens_details": {"cached_tokens": 64},
        }
        server.supports = Supports(usage=False)
        assert "usage" not in call(server)[2]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_a_token_limit_cuts_the_reply_with_finish_reason_length(name):
    with MockServer(brain=lambda _: "0123456789") as server:
        for limit, content, finish in ((2, "01234567", "length"), (3, "0123456789", "stop")):
            choice = call(server, **{name: limit})[2]["choices"][0]
            assert (choice["message"]["content"], choice["finish_reason"]) == (content, finish)


def test_n_choices_are_counted_in_the_usage():
    with MockServer(brain=lambda _: "four") as server:
        made = call(server, n=3)[2]
    assert [choice["index"] for choice in made["choices"]] == [0, 1, 2]
    assert made["usage"]["completion_tokens"] == 3


# --- log probabilities


def logprobs(reply: Reply, schema: dict[str, Any] | None = None, n: int = 8) -> list[Any]:
    form = {"response_format": json_schema(schema)} if schema else {}
    with MockServer(brain=lambda _: reply) as server:
        made = call(server, logprobs=True, top_logprobs=n, **form)[2]
    return made["choices"][0]["logprobs"]["content"]


def test_logprob_tokens_spell_the_content_and_their_bytes():
    content = '{"verdict": "partial_support", "why": "naïve λ"}'
    tokens = logprobs(Reply(content), verdict_schema())
    assert "".join(token["token"] for token in tokens) == content
    assert all(bytes(token["bytes"]).decode() == token["token"] for token in tokens)
    assert all(len(token["top_logprobs"]) == 8 for token in tokens)
    for token in tokens:
        tops = [top["logprob"] for top in token["top_logprobs"]]
        assert tops == sorted(tops, reverse=True)


def test_label_probabilities_come_back_when_first_tokens_are_summed_by_prefix():
    asked = {"yes": 0.7, "no": 0.3}
    tokens = logprobs(Reply('{"verdict": "yes"}', probabilities=asked), verdict_schema(list(asked)))
    (place,) = [token for token in tokens if token["token"] == "yes"]
    found = dict.fromkeys(asked, 0.0)
    for top in place["top_logprobs"]:
        for label in asked:
            if label.startswith(top["token"]):
                found[label] += math.exp(top["logprob"])
    assert found == pytest.approx(asked)
    # Reading the whole label alone loses what its first letter holds.
    whole = {top["token"]: math.exp(top["logprob"]) for top in place["top_logprobs"]}
    assert whole["yes"] == pytest.approx(0.63)
    assert whole["y"] == pytest.approx(0.07)


def test_a_grammar_masks_all_other_tokens_and_plain_text_does_not():
    probabilities = {"yes": 0.7, "no": 0.3}
    masked = logprobs(Reply('{"verdict": "no"}', probabilities=probabilities), verdict_schema())
    assert [top["logprob"] for top in masked[0]["top_logprobs"]].count(-9999.0) == 7
    plain = logprobs(Reply("no", probabilities=probabilities))
    assert all(top["logprob"] > -9999.0 for top in plain[0]["top_logprobs"])
    assert math.exp(plain[0]["logprob"]) == pytest.approx(0.27)


def test_grades_share_their_probability_at_the_digit():
    schema = {"type": "object", "properties": {"grade": {"type": "integer"}}}
    schema["properties"]["grade"] |= {"minimum": 0, "maximum": 3}
    tokens = logprobs(Reply('{"grade": 2}'), schema)
    (place,) = [token for token in tokens if token["token"] == "2"]
    real = [top for top in place["top_logprobs"] if top["logprob"] > -9999.0]
    assert {top["token"] for top in real} == {"0", "1", "2", "3"}
    assert sum(math.exp(top["logprob"]) for top in real) == pytest.approx(1.0)


# --- what it refuses


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"messages": []}, "messages", None),
        ({"messages": ["hello"]}, "messages[0].role", None),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content", None),
        ({"model": None}, "model", None),
        ({"max_tokens": 0}, "max_tokens", "invalid_value"),
        ({"max_tokens": "9"}, "max_tokens", "invalid_type"),
        ({"temperature": 3}, "temperature", "invalid_value"),
        ({"top_logprobs": 3}, "top_logprobs", None),
        ({"logprobs": True, "top_logprobs": 21}, "top_logprobs", "invalid_value"),
        ({"stream": True}, "stream", "unsupported_parameter"),
        ({"response_format": {"type": "xml"}}, "response_format.type", None),
        ({"response_format": {"type": "json_schema"}}, "response_format.json_schema", None),
    ],
)
def test_a_bad_body_is_refused_with_400_naming_the_parameter(model_server, body, param, code):
    assert error_of(model_server, **body) == (400, param, code)


def test_a_body_that_is_no_json_is_refused_with_400(model_server):
    request = urllib.request.Request(model_server.base_url + "/chat/completions", b"{oops")
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(request)
    with caught.value as error:
        assert error.code == 400
    assert model_server.requests[0].body == {}


@pytest.mark.parametrize("given", [None, "wrong"])
def test_a_wrong_or_missing_key_is_401_and_the_right_one_is_not(given):
    with MockServer(api_key="right") as server:
        assert error_of(server, key=given) == (401, None, "invalid_api_key")
        assert call(server, key="right")[0] == 200
        assert server.requests[1].headers["authorization"] == "Bearer right"


def test_an_unknown_model_is_404_and_the_list_names_those_that_are_known():
    with MockServer(model_names=("small", "large"), context_length=2048) as server:
        assert error_of(server, model="mock") == (404, "model", "model_not_found")
        assert call(server, model="large")[2]["model"] == "large"
        with urllib.request.urlopen(server.base_url + "/models") as response:
            listed = json.load(response)["data"]
        with urllib.request.urlopen(server.base_url.removesuffix("/v1") + "/health") as response:
            assert response.status == 200
    assert [(row["id"], row["max_model_len"]) for row in listed] == [
        ("small", 2048),
        ("large", 2048),
    ]


def test_a_server_without_a_feature_says_which_one():
    form = json_schema(verdict_schema())
    with MockServer(supports=Supports(schema=False, json_object=False, logprobs=False)) as server:
        assert error_of(server, response_format=form)[:2] == (400, "response_format")
        body = {"response_format": {"type": "json_object"}}
        assert error_of(server, **body)[:2] == (400, "response_format")
        assert error_of(server, logprobs=True)[:2] == (400, "logprobs")
        assert call(server)[0] == 200


def test_context_length_covers_prompt_and_reply():
    messages = [{"role": "user", "content": "x" * 400}]
    with MockServer(context_length=120) as server:
        assert call(server, messages=messages, max_tokens=20)[0] == 200
        too_long = error_of(server, messages=messages, max_tokens=21)
    assert too_long == (400, "messages", "context_length_exceeded")


def test_openai_rules_refuse_open_objects_in_strict_mode_only():
    closed, optional = verdict_schema(), verdict_schema() | {"required": []}
    table = {"type": "object", "additionalProperties": {"enum": LABELS}}
    nested = {
        "type": "object",
        "properties": {"verdicts": table},
        "required": ["verdicts"],
        "additionalProperties": False,
    }
    with MockServer(supports=Supports(openai_rules=True)) as server:
        assert call(server, response_format=json_schema(closed, strict=True))[0] == 200
        for schema in (optional, table, nested):
            denied = error_of(server, response_format=json_schema(schema, strict=True))
            assert denied == (400, "response_format", "invalid_json_schema")
            assert call(server, response_format=json_schema(schema))[0] == 200
        asked = {"response_format": {"type": "json_object"}}
        assert error_of(server, **asked)[:2] == (400, "messages")
        assert call(server, messages=[{"role": "user", "content": "As JSON."}], **asked)[0] == 200
    with MockServer() as server:
        assert call(server, response_format=json_schema(nested, strict=True))[0] == 200


def test_text_completions_answer_too(model_server):
    status, _, made = call(model_server, path="/completions", prompt="Is it?", max_tokens=2)
    assert (status, made["object"]) == (200, "text_completion")
    assert len(made["choices"][0]["text"]) == 8
    assert error_of(model_server, path="/completions", messages=None)[:2] == (400, "messages")


def test_the_official_client_raises_its_own_error_for_each_refusal():
    openai = pytest.importorskip("openai")
    faults = [None, None, Status(429, retry_after="1"), Status(500), None]
    with MockServer(api_key="k", faults=faults, context_length=50) as server:
        wrong, right = (
            openai.OpenAI(base_url=server.base_url, api_key=key, max_retries=0)
            for key in ("x", "k")
        )
        hello: list[Any] = [{"role": "user", "content": "hello"}]
        for client, model, error in (
            (wrong, "mock", openai.AuthenticationError),
            (right, "other", openai.NotFoundError),
            (right, "mock", openai.RateLimitError),
            (right, "mock", openai.InternalServerError),
        ):
            with pytest.raises(error):
                client.chat.completions.create(model=model, messages=hello)
        made = right.chat.completions.create(
            model="mock", messages=hello, logprobs=True, top_logprobs=2
        )
        assert made.choices[0].logprobs.content[0].top_logprobs[0].logprob < 0
        assert made.usage.prompt_tokens == 2
        with pytest.raises(openai.BadRequestError) as caught:
            right.chat.completions.create(model="mock", messages=hello * 100)
        assert caught.value.code == "context_length_exceeded"
        wrong.close()
        right.close()


# --- what goes wrong


@pytest.mark.parametrize("code", [400, 401, 403, 404, 429, 500, 503, 529])
def test_status_fault_has_an_error_body_and_is_used_up_once(code):
    with MockServer(faults=[Status(code), None]) as server:
        status, headers, made = call(server)
        assert (status, headers["Retry-After"]) == (code, None)
        assert "message" in made["error"]
        assert call(server)[0] == 200
        server.clear()
        assert call(server)[0] == 200
        assert [received.index for received in server.requests] == [0]


def test_status_fault_carries_retry_after_and_its_own_body():
    date = http_date(60)
    faults = [Status(429, "1", body={"detail": "slow down"}), Status(503, date, body="busy")]
    with MockServer(faults=faults) as server:
        status, headers, made = call(server)
        assert (status, headers["Retry-After"], made) == (429, "1", {"detail": "slow down"})
        status, headers, made = call(server)
        assert (status, made) == (503, "busy")
    in_s = parsedate_to_datetime(headers["Retry-After"]).timestamp() - time.time()
    assert 55 < in_s < 61


def test_faults_by_a_function_of_index_and_body():
    def rule(index: int, body: dict[str, Any]) -> Status | None:
        return Status(500 + index) if body["messages"][0]["content"] == "hard" else None

    with MockServer(faults=rule) as server:
        texts = ("easy", "hard", "easy", "hard")
        found = [call(server, messages=[{"role": "user", "content": t}])[0] for t in texts]
    assert found == [200, 501, 200, 503]


def test_hang_answers_after_its_time_and_ends_when_the_client_leaves():
    with MockServer(faults=[Hang(0.2), Hang(60)]) as server:
        started = time.monotonic()
        assert call(server)[0] == 200
        assert time.monotonic() - started >= 0.2
        host = server.base_url.removeprefix("http://").removesuffix("/v1")
        connection = http.client.HTTPConnection(host, timeout=0.1)
        connection.request("POST", "/v1/chat/completions", b"{}")
        with pytest.raises(TimeoutError):
            connection.getresponse()
        connection.close()
        wait_until(lambda: server.requests[1].status == 499)
        assert not server.requests[1].finished
    assert time.monotonic() - started < 10


def wait_until(holds: Any, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "still not so"
        time.sleep(0.01)


def test_a_hanging_request_does_not_hold_up_the_end_of_the_server():
    with MockServer(faults=[Hang(60)]) as server:
        caller = threading.Thread(target=ignore_errors, args=(server,))
        caller.start()
        wait_until(lambda: server.requests)
        started = time.monotonic()
    caller.join()
    assert time.monotonic() - started < 5


def ignore_errors(server: MockServer) -> None:
    with pytest.raises((ConnectionError, http.client.HTTPException, urllib.error.URLError)):
        call(server)


def test_cut_before_the_reply_sends_nothing():
    with MockServer(faults=[Cut()]) as server:
        with pytest.raises(http.client.RemoteDisconnected):
            call(server)
        assert [received.finished for received in server.requests] == [False]
        assert call(server)[0] == 200


def test_cut_in_the_body_sends_half_of_what_the_header_promised():
    with MockServer(faults=[Cut(in_body=True)]) as server:
        with pytest.raises(http.client.IncompleteRead) as caught:
            call(server)
        assert caught.value.partial.startswith(b'{"id": "chatcmpl-')
        assert server.n_finished == 0


@pytest.mark.parametrize(
    ("fault", "content", "finish"),
    [
        (EmptyContent(), "", "stop"),
        (EmptyContent(None), None, "stop"),
        (ContentFilter(), "", "content_filter"),
        (Says("[1, 2]", "length"), "[1, 2]", "length"),
        (Prose("Hard to say."), "Hard to say.", "stop"),
    ],
)
def test_content_faults_replace_what_was_said(fault, content, finish):
    choice = choice_after(fault)
    assert (choice["message"]["content"], choice["finish_reason"]) == (content, finish)


def test_refusal_has_no_content():
    choice = choice_after(Refusal("No."))
    assert choice["message"] == {"role": "assistant", "content": None, "refusal": "No."}
    assert choice["finish_reason"] == "stop"


@pytest.mark.parametrize(
    ("fault", "finish"), [(Truncated(), "length"), (BadJson(), "stop"), (Fenced(), "stop")]
)
def test_spoiled_json_does_not_parse_as_it_is(fault, finish):
    choice = choice_after(fault)
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(choice["message"]["content"])
    assert choice["finish_reason"] == finish


def test_fenced_holds_the_right_json():
    content = choice_after(Fenced())["message"]["content"]
    assert json.loads(content.split("```json\n")[1].split("\n```")[0]) == VERDICTS


def content_after(fault: Any, said: Any, **body: Any) -> Any:
    with MockServer(brain=lambda _: said, faults=[fault]) as server:
        return json.loads(say(server, **body) or "")


@pytest.mark.parametrize(
    ("said", "left"),
    [
        (
            {"ask": "x", "rows": {"a": 1, "b": 2}, "t": [1, 2]},
            {"ask": "x", "rows": {"a": 1}, "t": [1, 2]},
        ),
        ({"rows": [{"a": 1}, {"b": 2}]}, {"rows": [{"a": 1}]}),
        (["a", "b", "c"], ["a", "b"]),
        ({"verdict": "full"}, {}),
    ],
)
def test_one_short_drops_the_last_of_the_first_map_or_list(said, left):
    assert content_after(OneShort(), said) == left


def test_extra_key_adds_one_that_was_not_asked_for():
    assert content_after(ExtraKey("n9"), VERDICTS) == {
        "verdicts": VERDICTS["verdicts"] | {"n9": "not_support"}
    }
    assert content_after(ExtraKey(), {"labels": ["a", "b"]}) == {"labels": ["a", "b", "b"]}
    assert content_after(ExtraKey("more"), {"verdict": "full"}) == {
        "verdict": "full",
        "more": "full",
    }


def test_other_spellings_touch_labels_only():
    said = {"why": "support", "verdict": "partial_support", "note": "Read it twice."}
    form = json_schema(verdict_schema(["partial_support", "not_support"]))
    for fault, label in (
        (OtherSpelling(), "Partial Support"),
        (OtherSpelling("upper"), "PARTIAL_SUPPORT"),
        (OtherLabel("maybe"), "maybe"),
    ):
        assert content_after(fault, said, response_format=form) == said | {"verdict": label}


def test_quoted_string_holds_the_inner_value_as_json_text():
    quoted = content_after(QuotedString(), VERDICTS)["verdicts"]
    assert json.loads(quoted) == VERDICTS["verdicts"]
    whole = content_after(QuotedString(), {"verdict": "full"})
    assert json.loads(whole) == {"verdict": "full"}


def test_html_and_other_shapes_come_with_status_200():
    with MockServer(faults=[HtmlBody(), NotChatShape(), NotChatShape({"choices": []})]) as server:
        status, headers, page = call(server)
        assert (status, headers.get_content_type()) == (200, "text/html")
        assert "<html>" in page
        assert call(server)[2] == {"status": "ok"}
        assert call(server)[2] == {"choices": []}


# --- what it counts


async def ask_all(url: str, n: int, at_once: int) -> list[int]:
    connector = aiohttp.TCPConnector(limit=at_once)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask(i: int) -> int:
            body = {"model": "mock", "messages": [{"role": "user", "content": f"{i}"}]}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                await response.read()
                return response.status

        return await asyncio.gather(*(ask(i) for i in range(n)))


def test_requests_in_flight_are_counted_and_run_at_once():
    with MockServer(latency_s=0.25) as server:
        started = time.monotonic()
        assert asyncio.run(ask_all(server.base_url, 300, 100)) == [200] * 300
        took_s = time.monotonic() - started
        assert server.n_finished == 300
        assert 50 < server.max_in_flight <= 100
        assert took_s < 20
        assert sorted(r.body["messages"][0]["content"] for r in server.requests) == sorted(
            map(str, range(300))
        )


def test_latency_by_a_function_turns_replies_around():
    done = []

    async def ask(url: str, name: str) -> None:
        await ask_all(url, 1, 1)
        done.append(name)

    async def both(url: str) -> None:
        first = asyncio.create_task(ask(url, "first"))
        await asyncio.sleep(0.1)
        await asyncio.gather(first, ask(url, "second"))

    with MockServer(latency_s=lambda index, body: 0.8 if index == 0 else 0.0) as server:
        asyncio.run(both(server.base_url))
    assert done == ["second", "first"]


def test_a_closed_server_refuses_connections_and_its_port_can_open_again():
    with MockServer() as first:
        assert call(first)[0] == 200
    with pytest.raises(urllib.error.URLError, match="refused"):
        call(first)
    with MockServer(port=first.port) as again:
        assert again.base_url == first.base_url
        assert call(again)[0] == 200


def test_a_port_in_use_is_an_error_at_once(model_server):
    with pytest.raises(OSError, match="address already in use"), MockServer(port=model_server.port):
        pass


def test_as_a_process_it_logs_one_line_per_finished_request_and_no_key(tmp_path):
    log = tmp_path / "finished.jsonl"
    body = {"model": "judge", "messages": [{"role": "user", "content": "naïve"}]}
    head = {"Authorization": "Bearer secret-key"}
    with mock_process("--log", str(log), "--latency-ms", "50", "--model", "judge") as url:
        started = time.monotonic()
        for _ in range(2):
            request = urllib.request.Request(
                url + "/chat/completions", json.dumps(body).encode(), head
            )
            urllib.request.urlopen(request).close()
        assert time.monotonic() - started >= 0.1
        wait_until(lambda: log.read_text().count("\n") == 2)
    rows = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(row["index"], row["status"], row["body"]) for row in rows] == [
        (0, 200, body),
        (1, 200, body),
    ]
    assert rows[0]["key"] == rows[1]["key"]
    assert "secret-key" not in log.read_text()


# --- the light server of the benchmarks


@pytest.fixture
def light_server(request: pytest.FixtureRequest) -> Any:
    command = [sys.executable, str(LIGHT_SERVER), *getattr(request, "param", [])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(5) == 0


def stats(url: str) -> dict[str, Any]:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as response:
        return json.load(response)


@pytest.mark.parametrize(
    "light_server", [["--content", '{"n": 1}', "--latency-ms", "200"]], indirect=True
)
def test_light_server_answers_every_post_alike_and_counts_those_in_flight(light_server):
    started = time.monotonic()
    assert asyncio.run(ask_all(light_server, 60, 30)) == [200] * 60
    assert time.monotonic() - started >= 0.4
    counts = stats(light_server)
    assert counts["requests"] == 60
    assert 15 < counts["max_in_flight"] <= 30
    request = urllib.request.Request(light_server + "/chat/completions", b"{}")
    with urllib.request.urlopen(request) as response:
        assert json.load(response)["choices"][0]["message"]["content"] == '{"n": 1}'


def test_light_server_takes_requests_in_any_cut_of_the_stream(light_server):
    host, port = light_server.removeprefix("http://").removesuffix("/v1").split(":")
    body = b'{"text": "' + b"x" * 3000 + b'\\r\\n\\r\\n"}'
    one = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nCONTENT-LENGTH: %d\r\n\r\n" % len(body)
    stream = (one + body) * 3  # three requests in a row, cut at awkward places
    cuts = [
        0,
        10,
        len(one) - 2,
        len(one) + 5,
        len(one) + len(body) + 1,
        len(stream) - 1,
        len(stream),
    ]
    with socket.create_connection((host, int(port)), timeout=5) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in pairwise(cuts):
            connection.sendall(stream[start:end])
            time.sleep(0.02)
        received = b""
        while received.count(b"chatcmpl-") < 3:
            received += connection.recv(65536)
    assert received.count(b"HTTP/1.1 200 OK") == 3
    assert stats(light_server)["requests"] == 3
