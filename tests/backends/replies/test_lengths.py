"""A reply cannot grow without end: schemas bound texts and lists, requests the whole reply."""

import json

import pytest
from mock_server import MockServer, Reply, Supports

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointRefused, JudgeOutputError
from nuggetjudge.backends.prompt import Wire
from nuggetjudge.backends.replies.text import find_loop
from nuggetjudge.judges import AnswerWriter, SupportJudge
from nuggetjudge.programs.doctor import examine

CITED = {"sentence": "It rained.", "passage": "Rain fell all day."}
WHY = {"reasoning": "Rain is rain.", "passage_quotes": ["Rain fell"], "sentence_quotes": []}
REFUSALS = [
    False,
    "The provided JSON schema contains features not supported by xgrammar.",
    "failed to parse grammar: number of repetitions exceeds sane defaults",
]


def says(values):
    return lambda body: values


def test_reasons_longer_than_the_schema_allows_are_read_where_nothing_held_them_to_it(model_server):
    model_server.brain = says({**WHY, "reasoning": "So. " * 500, "verdict": "full"})
    model = ModelConfig(model="openai/mock", api_base=model_server.base_url, schema="none")
    judge = SupportJudge(model=model).explaining(evidence=True, reasoning=True)
    assert judge(**CITED).label == "full"


@pytest.mark.parametrize("refusal", REFUSALS)
def test_an_endpoint_that_knows_no_lengths_is_asked_without_them_from_its_first_refusal_on(
    refusal, open_gateway, cache
):
    brain = says({**WHY, "verdict": "full"})
    with MockServer(brain=brain, supports=Supports(lengths=refusal)) as server:
        gateway = open_gateway(server, cache=cache)
        judge = SupportJudge(backend=gateway).explaining(evidence=True, reasoning=True)
        assert [judge(**CITED | {"sentence": text}).label for text in "ab"] == ["full", "full"]
        sent = [json.dumps(r.body["response_format"]) for r in server.requests]
        assert ["maxLength" in each for each in sent] == [True, False, False]
        cache.flush()
        again = SupportJudge(backend=open_gateway(server, cache=cache, offline=True))
        assert again.explaining(evidence=True, reasoning=True)(**CITED | {"sentence": "a"}).label


def test_doctor_tells_the_setting_for_it():
    with MockServer(brain=says({"verdict": "full"}), supports=Supports(lengths=False)) as server:
        model = ModelConfig(model="hosted_vllm/mock", api_base=server.base_url)
        report = examine("m", model)
        assert report.advice == ["models.m.schema: plain_json_schema"]
        again = examine("m", model.model_copy(update={"reply_schema": "plain_json_schema"}))
        assert again.is_ready


# --- how much a request allows


def test_an_own_server_is_told_what_the_longest_reply_takes_and_a_provider_is_not(
    model_server, open_gateway, ask
):
    model_server.brain = says({"verdict": "full"})
    ask(open_gateway(model="hosted_vllm/mock"))
    ask(open_gateway(model="hosted_vllm/mock", max_tokens=77))
    ask(open_gateway(), "another")
    limits = [received.body.get("max_tokens") for received in model_server.requests]
    assert 100 <= limits[0] <= 200
    assert limits[1:] == [77, None]


def test_longer_replies_have_more_room():
    limits, own = [], ModelConfig(model="hosted_vllm/m", api_base="http://127.0.0.1:1/v1")
    for judge, question, inputs in (
        (SupportJudge(own), "judge", CITED),
        (SupportJudge(own).explaining(reasoning=True), "judge", CITED),
        (AnswerWriter("lexical"), "compose", {"words": 400}),
    ):
        prompt = judge.prompt(question)
        limits.append(Wire(own, prompt, prompt.shape(inputs)).limit)
    assert limits == sorted(set(limits))
    assert limits[-1] <= 8_192


def test_a_model_that_thinks_past_the_limit_is_asked_without_it(open_gateway, ask):
    thoughts = "".join(f"Step {i} follows from step {i - 1}. " for i in range(40))

    def thinks(body):
        return Reply(f'<think>{thoughts}</think>{{"verdict": "full"}}')

    with MockServer(brain=thinks) as server:
        gateway = open_gateway(server, model="hosted_vllm/mock")
        for text in "ab":
            assert ask(gateway, text).values == {"verdict": "full"}
        limits = [received.body.get("max_tokens") for received in server.requests]
        assert limits[0] is not None
        assert limits[1:] == [None, None]


def test_an_endpoint_that_refuses_the_limit_without_naming_it_is_asked_without_it(
    open_gateway, ask
):
    supports = Supports(max_tokens=False, is_vague=True)
    with MockServer(brain=says({"verdict": "full"}), supports=supports) as server:
        gateway = open_gateway(server, model="hosted_vllm/mock")
        for text in "ab":
            assert ask(gateway, text).values == {"verdict": "full"}
        limits = [received.body.get("max_tokens") for received in server.requests]
        assert limits[0] is not None
        assert limits[1:] == [None, None]


def test_a_refusal_with_another_cause_is_not_taken_for_one_of_the_limit(open_gateway, ask):
    supports = Supports(temperature=False, is_vague=True)
    with MockServer(brain=says({"verdict": "full"}), supports=supports) as server:
        gateway = open_gateway(server, model="hosted_vllm/mock")
        with pytest.raises(EndpointRefused):
            ask(gateway)
        limits = [received.body.get("max_tokens") for received in server.requests]
        assert [limit is None for limit in limits] == [False, True]
        assert not gateway.left_out


# --- a reply that repeats itself


def test_a_reply_that_repeats_itself_is_called_that_and_not_asked_again(open_gateway, ask):
    with MockServer(brain=lambda body: Reply("The bridge sways. " * 200)) as server:
        with pytest.raises(JudgeOutputError, match=r"repeats itself.*sways") as caught:
            ask(open_gateway(server, model="hosted_vllm/mock"))
        assert "max_tokens" not in caught.value.detail
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ('["a", "b", ' + '"The deck moves.", ' * 9 + '"The de', "The deck moves."),
        ("x" * 500, "x"),
        ("{" + " " * 500, "white space"),
        ("".join(f"Fact {i} is new. " for i in range(99)), ""),
        ("no no no", ""),
        ("", ""),
    ],
)
def test_what_is_repeated_is_found_at_the_end_of_a_reply(text, loop):
    assert find_loop(text) == loop
