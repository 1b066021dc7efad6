"""Items in calls: which go together, how many at once, and what becomes of a failed one."""

import asyncio
import inspect
import itertools
from collections.abc import Mapping
from typing import NamedTuple

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
    default_brain,
    input_of,
)

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.judges import (
    ItemJudge,
    NuggetAssigner,
    NuggetImportance,
    Nuggetizer,
    RelevanceJudge,
    SupportJudge,
    Verdict,
)
from nuggetjudge.judges.items import answers, calls, judge_items
from nuggetjudge.judges.verdicts import Listed
from nuggetjudge.records.judgements import Reason, Unjudged

SEEN = {"a": "support", "b": "partial_support"}


class Asked(NamedTuple):
    ids: dict[str, str]
    inputs: dict[str, str]


def nugget(topic, answer, text, **ids):
    inputs = {"question": f"why {topic}", "answer": answer, "nugget": text}
    return Asked({"topic_id": topic, **ids}, inputs)


def claim(sentence):
    return Asked({"topic_id": "t1"}, {"sentence": sentence, "passage": "thus"})


def judged(judge, items, **options):
    return asyncio.run(judge_items(judge, items, **options))


def test_items_that_share_all_but_the_listed_input_go_together_up_to_the_window():
    judge = NuggetAssigner(model="lexical", window=3)
    items = [nugget("t1", "x", str(i)) for i in range(4)]
    items.insert(1, nugget("t1", "y", "0"))  # another answer
    items.insert(3, nugget("t2", "x", "0"))  # another topic
    assert calls(judge, items) == [[0, 2, 4], [5], [1], [3]]


def test_the_same_texts_of_two_topics_are_two_calls():
    """A fitted judge may shift them differently."""
    judge = NuggetAssigner(model="lexical")
    inputs = {"question": "why", "answer": "x", "nugget": "n"}
    items = [Asked({"topic_id": topic}, inputs) for topic in ("t1", "t2")]
    assert calls(judge, items) == [[0], [1]]


def test_equal_answers_of_two_runs_are_asked_about_apart_as_a_run_of_either_does():
    judge = NuggetAssigner(model="lexical", window=2)
    named = [
        nugget("t1", "x", f"fact {i}", run_id=run, nugget_id=f"n{i}")
        for run in ("a", "b") for i in range(3)
    ]  # fmt: skip
    assert calls(judge, named) == [[0, 1], [2], [3, 4], [5]]
    without = [Asked({n: v for n, v in ids.items() if n != "nugget_id"}, i) for ids, i in named]
    assert calls(judge, without) == calls(judge, named)


def test_every_id_but_that_of_the_nugget_tells_answers_apart_whatever_the_order_of_ids():
    judge = NuggetAssigner(model="lexical")
    pairs = [("p1", "1"), ("p2", "1"), ("p1", "2"), ("p2", "2")]
    items = [nugget("t1", "x", n, passage_id=p, nugget_id=n) for p, n in pairs]
    items[2] = Asked(dict(reversed(items[2].ids.items())), items[2].inputs)
    assert calls(judge, items) == answers(judge, items) == [[0, 2], [1, 3]]


def test_answers_are_not_cut_at_the_window_and_items_may_come_as_a_stream():
    judge = NuggetAssigner(model="lexical", window=2)
    items = [nugget("t1", answer, n) for n in "123" for answer in "xy"]
    assert answers(judge, iter(items)) == [[0, 2, 4], [1, 3, 5]]
    assert calls(judge, iter(items)) == [[0, 2], [4], [1, 3], [5]]
    assert answers(SupportJudge(model="lexical"), iter([claim("s"), claim("s")])) == [[0], [1]]


def test_a_judge_without_a_window_takes_one_item_a_call_equal_ones_too():
    assert calls(SupportJudge(model="lexical"), [claim("s"), claim("s")]) == [[0], [1]]
    assert calls(SupportJudge(model="lexical"), []) == []


@pytest.fixture
def served():
    """A server that finds the nuggets of SEEN, and judges that it answers for."""

    def brain(body):
        asked = input_of(body)
        if "nuggets" not in asked:
            return {"verdict": "full" if "f" in asked["sentence"] else "none"}
        return {"verdicts": {i: SEEN.get(n, "not_support") for i, n in asked["nuggets"].items()}}

    with MockServer(brain=brain, latency_s=0.02) as server:
        config = ModelConfig(
            model="hosted_vllm/mock", api_base=server.base_url, reasks=0, retries=0
        )
        yield server, config


def test_each_item_gets_its_own_verdict_and_the_first_of_a_call_its_provenance(served):
    server, config = served
    items = [nugget("t1", answer, text) for text in "abc" for answer in "xy"]
    outcomes = judged(NuggetAssigner(model=config, window=2), items)
    labels = [
        "support", "support", "partial_support", "partial_support", "not_support", "not_support",
    ]  # fmt: skip
    assert [verdict.label for verdict, _ in outcomes] == labels
    assert [call is not None for _, call in outcomes] == [True, True, False, False, True, True]
    assert len(server.requests) == 4


def test_so_many_calls_are_under_way_at_once(served):
    server, config = served
    items = [claim(f"s{i}") for i in range(24)]
    judged(SupportJudge(model=config), items, concurrency=4)
    assert server.max_in_flight == 4


def test_a_failed_call_leaves_its_items_unjudged_and_the_others_judged(served):
    server, config = served
    server.faults = lambda _, body: Refusal() if "bad" in input_of(body)["sentence"] else None
    outcomes = judged(SupportJudge(model=config), [claim("f"), claim("bad"), claim("n")])
    first, second, third = (outcome for outcome, _ in outcomes)
    assert (first.label, third.label) == ("full", "none")
    assert isinstance(second, Unjudged)
    assert second.reason == Reason.REFUSED


def test_a_failed_window_is_unjudged_whole(served):
    server, config = served
    server.faults = [Refusal()]
    items = [nugget("t1", "x", text) for text in "abc"]
    outcomes = judged(NuggetAssigner(model=config, window=2), items, concurrency=1)
    assert [isinstance(outcome, Verdict) for outcome, _ in outcomes] == [False, False, True]


def test_an_endpoint_that_cannot_answer_ends_it_all(served):
    server, config = served
    server.api_key = "sk-other"
    with pytest.raises(EndpointUnusable):
        judged(SupportJudge(model=config), [claim(f"s{i}") for i in range(50)], concurrency=4)
    assert len(server.requests) <= 8


# Judges of items: how many go into a call, and which inputs they share.
FACTS = ["Tides turn turbines.", "Silt wears them down.", "Kelp bends."]
ANSWER = "Tides turn turbines."


def items(*facts):
    return [{"question": "why", "answer": ANSWER, "nugget": fact} for fact in facts]


def test_a_call_takes_as_many_items_as_the_window_has_and_no_more():
    judge = NuggetAssigner(model="lexical", window=2)
    verdicts, _ = asyncio.run(judge.verdicts(items(*FACTS[:2])))
    assert [verdict.label for verdict in verdicts] == ["support", "not_support"]
    with pytest.raises(ValueError, match="wanted 1 to 2 items in a call, got 3"):
        asyncio.run(judge.verdicts(items(*FACTS)))
    with pytest.raises(ValueError, match="wanted 1 to 2 items in a call, got 0"):
        asyncio.run(judge.verdicts([]))


def test_items_of_one_answer_are_asked_as_those_that_a_list_holds_and_can_be_taken_apart():
    judge, each = NuggetAssigner(model="lexical"), items(*FACTS)
    of_one = Listed({"question": "why", "answer": ANSWER, "nugget": FACTS}, "nugget", FACTS)
    assert list(of_one) == each
    assert list(of_one[1:]) == each[1:]
    for given, wanted in ((of_one, each), (of_one[1:], each[1:])):
        assert list(judge.call_inputs(given).items()) == list(judge.call_inputs(wanted).items())
        assert asyncio.run(judge.verdicts(given)) == asyncio.run(judge.verdicts(wanted))
    assert of_one.shared["nugget"] == FACTS  # no call takes the inputs of the next away


def test_a_judge_of_one_item_a_call_refuses_two():
    pair = {"sentence": ANSWER, "passage": ANSWER}
    with pytest.raises(ValueError, match="wanted 1 to 1 items in a call, got 2"):
        asyncio.run(SupportJudge(model="lexical").verdicts([pair, pair]))


class IsShort(ItemJudge):
    """As docs/extending.md has them: without a decide() of its own."""

    name, kind, key = "short", "other", ("topic_id",)
    inputs, optional, scale = ("question", "answer"), ("title",), ("no", "yes")
    gains: Mapping[str, float] = {"no": 0.0, "yes": 1.0}
    predictor, output = "judge", "verdict"

    def __init__(self, *args, listed=None, **options):
        super().__init__(*args, **options)
        signature = "question, answer -> verdict: Literal['no', 'yes']"
        if listed is not None:
            self.listed, self.window = listed, 2
            signature = "question, answers: dict[str, str] -> verdict: dict[str, str]"
        self.seen = []
        title = dspy.InputField(desc="of the page", default="")
        self.judge = dspy.Predict(dspy.Signature(signature).prepend("title", title, str))
        self.baselines = {"judge": self.rule}

    def rule(self, asked):
        self.seen.append(sorted(asked))
        return {"verdict": "yes" if self.listed is None else {"1": "yes"}}


@pytest.mark.parametrize("listed", [None, "answer"])
def test_a_judge_of_another_package_is_called_by_its_inputs(listed):
    judge = IsShort("lexical", listed=listed)
    assert judge(question="why", answer=ANSWER).label == "yes"
    judge(question="why", answer=ANSWER, title="Tides")
    judge(question="why", answer=ANSWER, title=" ")
    answer = "answer" if listed is None else "answers"
    plain = [answer, "question"]
    assert judge.seen == [plain, [*plain, "title"], plain]
    assert list(inspect.signature(judge).parameters) == ["question", "answer", "title"]
    with pytest.raises(ValueError, match="wanted the inputs question, answer, got question, text"):
        judge(question="why", text=ANSWER)


def test_any_number_of_items_is_judged_window_by_window_in_order():
    judge = NuggetAssigner(model="lexical", window=2)
    verdicts = asyncio.run(judge.in_windows(items(FACTS[1], FACTS[0], FACTS[2], FACTS[0])))
    assert [v.label for v in verdicts] == ["not_support", "support", "not_support", "support"]


def test_the_items_of_a_call_share_all_inputs_but_the_numbered_one():
    asked = NuggetAssigner(model="lexical").call_inputs(items(*FACTS[:2]))
    assert asked == {
        "question": "why", "answer": ANSWER, "nuggets": {"1": FACTS[0], "2": FACTS[1]},
    }  # fmt: skip


# A reply that is no judgement is an error with its reason, never a label.
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
    "nuggetizer", "query_writer", "subquestion_generator", "request_writer", "decontextualizer",
    "keypoint_extractor", "keypoint_merger", "claim_extractor", "nugget_proposer", "gap_writer",
    "question_evolver", "answer_writer", "answer_writer_unaided", "document_shortener",
)  # fmt: skip
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


# What one topic costs: requests and prompt characters, counted by the server.
# The same work took the reference tool 14 requests and 55,570 characters when measured.
MAX_REQUESTS, MAX_CHARACTERS = 11, 55_570
QUESTION = "why do long bridges sway in strong wind and how is it prevented"
WORDS = ("wind", "deck", "sway", "the", "of", "bridge", "moves", "a", "tower", "when", "load")


def text(length, start):
    words = itertools.islice(itertools.cycle(WORDS), start, start + length)
    return " ".join(words)[: length - 1] + "."


def thirty_nuggets(body):
    if "passages" not in input_of(body):
        return default_brain(body)
    return {"updated": [f"fact {i} on what makes a long bridge sway in wind" for i in range(30)]}


def test_one_topic_with_three_answers_stays_within_its_budget(capsys):
    segments = [text(940, i) for i in range(20)]
    answers = [text(2035, i) for i in range(3)]
    assert {len(s) for s in segments} == {940}
    assert {len(a) for a in answers} == {2035}
    with MockServer(thirty_nuggets) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url)
        nuggets = Nuggetizer(model)(question=QUESTION, passages=segments).nuggets
        assert len(nuggets) == 30
        rated = NuggetImportance(model)(question=QUESTION, nuggets=nuggets).importance
        ranked = sorted(zip(nuggets, rated, strict=True), key=lambda pair: pair[1] != "vital")
        kept = [nugget for nugget, _ in ranked[:20]]
        assign = NuggetAssigner(model)
        for answer in answers:
            labels = assign(question=QUESTION, answer=answer, nuggets=kept).verdicts
            assert len(labels) == 20
        first, second = (input_of(request.body) for request in server.requests[:2])
        messages = [m for r in server.requests for m in r.body["messages"]]
        n_requests = len(server.requests)
    n_characters = sum(len(message["content"]) for message in messages)
    with capsys.disabled():
        print(f"\n{n_requests} requests, {n_characters:,} prompt characters for one topic")  # noqa: T201
    # As in the paper: the question before the passages and after them, then the list so far.
    assert list(first) == ["limit", "question", "passages", "asked", "nuggets"]
    assert first["asked"] == second["asked"] == QUESTION
    assert (first["limit"], len(second["nuggets"])) == (30, 30)
    assert n_requests <= MAX_REQUESTS
    assert n_characters <= MAX_CHARACTERS
