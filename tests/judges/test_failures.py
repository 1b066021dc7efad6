"""A reply that is no judgement is an error with its reason, never a label."""

import dspy
import pytest
from mock_server import (
    BadJson,
    ContentFilter,
    Cut,
    EmptyContent,
    Fenced,
    MockServer,
    OneShort,
    OtherLabel,
    OtherSpelling,
    Prose,
    QuotedString,
    Refusal,
    Says,
    Status,
    Truncated,
)

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.judges import NuggetAssigner, NuggetImportance, Nuggetizer, RelevanceJudge

SPOILED = {
    "empty": (EmptyContent(), "unparseable"),
    "null": (EmptyContent(None), "unparseable"),
    "prose": (Prose(), "unparseable"),
    "broken JSON": (BadJson(), "unparseable"),
    "no field": (Says("{}"), "incomplete"),
    "refusal": (Refusal(), "refused"),
    "content filter": (ContentFilter(), "refused"),
    "truncated": (Truncated(), "truncated"),
    "server error": (Status(500), "error"),
    "connection cut": (Cut(), "error"),
}


def failure(make, asked, server, **settings):
    model = ModelConfig(
        model="openai/mock", api_base=server.base_url, retries=0, reasks=0, **settings
    )
    with pytest.raises(JudgeError) as caught:
        make(model)(**asked)
    return caught.value


@pytest.mark.parametrize(("fault", "reason"), SPOILED.values(), ids=SPOILED.keys())
def test_every_judge_names_the_reason(case, model_server, fault, reason):
    model_server.faults = lambda index, body: fault
    assert failure(case.make, case.asked, model_server).reason == reason
    assert len(model_server.requests) == 1


WRITERS = (
    "nuggetizer",
    "query_writer",
    "subquestion_generator",
    "request_writer",
    "decontextualizer",
    "keypoint_extractor",
    "keypoint_merger",
    "claim_extractor",
    "nugget_proposer",
    "gap_writer",
    "question_evolver",
    "answer_writer",
)
WINDOWED = {"question": "q", "nuggets": ["wind", "deck"]}


@pytest.mark.parametrize(
    ("fault", "reason"),
    [(OneShort(), "incomplete"), (OtherLabel(), "unparseable"), (QuotedString(), "unparseable")],
    ids=["one label short", "a label not offered", "a quoted map"],
)
@pytest.mark.parametrize(
    ("make", "more"), [(NuggetAssigner, {"answer": "a"}), (NuggetImportance, {})]
)
def test_labels_of_a_window_are_neither_filled_in_nor_guessed(
    model_server, make, more, fault, reason
):
    model_server.faults = lambda index, body: fault
    error = failure(make, WINDOWED | more, model_server)
    assert error.reason == reason
    assert error.raw  # kept, so that it can be read


def test_a_failed_window_fails_the_call_instead_of_shortening_it(model_server):
    model_server.faults = [None, Prose()]
    asked = {"question": "q", "answer": "a", "nuggets": [f"fact {i}" for i in range(11)]}
    assert failure(NuggetAssigner, asked, model_server).reason == "unparseable"
    assert len(model_server.requests) == 2


@pytest.mark.parametrize("grade", ["4", "-1", "2.5", '"good"', "null"])
def test_a_grade_off_the_scale_is_no_grade(grade):
    asked = {"question": "q", "passage": "p"}
    with MockServer(lambda body: f'{{"grade": {grade}}}') as server:
        assert failure(RelevanceJudge, asked, server).reason == "unparseable"


@pytest.mark.parametrize("fault", [Fenced(), OtherSpelling("title"), OtherSpelling("upper")])
def test_a_right_reply_in_other_clothes_counts(case, baseline_server, model, fault):
    if case.name in WRITERS and fault.name in ("title", "upper"):
        pytest.skip("its reply holds no labels")
    expected = case.make("lexical")(**case.asked)[case.field]
    baseline_server.faults = [fault]
    assert case.make(model)(**case.asked)[case.field] == expected


def test_a_spoiled_reply_is_asked_for_once_more(case, baseline_server, model):
    baseline_server.faults = [Prose()]
    expected = case.make("lexical")(**case.asked)[case.field]
    assert case.make(model)(**case.asked)[case.field] == expected
    assert len(baseline_server.requests) == 2


def test_a_wrong_key_is_no_judgement_that_failed_but_an_endpoint_that_cannot_be_used(model_server):
    model_server.faults = lambda index, body: Status(401)
    model = ModelConfig(model="openai/mock", api_base=model_server.base_url)
    with pytest.raises(EndpointUnusable):
        RelevanceJudge(model)(question="q", passage="p")
    assert len(model_server.requests) == 1


def failure_of_dspys_own_lm(case, server, fault):
    server.faults = lambda index, body: fault
    lm = dspy.LM("openai/mock", api_base=server.base_url, api_key="x", cache=False, num_retries=0)
    with dspy.context(lm=lm), pytest.raises(JudgeError) as caught:
        case.make()(**case.asked)
    return caught.value.reason


@pytest.mark.slow
def test_a_reply_to_dspys_own_lm_without_the_fields_is_incomplete(case, baseline_server):
    assert failure_of_dspys_own_lm(case, baseline_server, Says("{}")) == "incomplete"


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [(Prose(), "unparseable"), (EmptyContent(None), "unparseable"), (Status(500), "error")],
    ids=["prose", "null", "server error"],
)
def test_failures_of_dspys_own_lm_have_the_same_reasons(case, baseline_server, fault, reason):
    assert failure_of_dspys_own_lm(case, baseline_server, fault) == reason


def test_nuggets_beyond_the_longest_list_are_cut_and_counted():
    listed = [f"fact {i}" for i in range(5)]
    with MockServer(lambda body: {"updated": [*listed, " fact 0 ", ""]}) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url)
        prediction = Nuggetizer(model, limit=3)(question="q", passages=["p"])
    assert prediction.nuggets == listed[:3]
    assert prediction.n_cut == 2
