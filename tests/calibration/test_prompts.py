"""The search for a prompt: what it sees, how it asks, and what it changed."""

import contextlib
import dataclasses
import json
import sys
import warnings

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_faults import Status, Truncated
from mock_server import MockServer
from sklearn.metrics import cohen_kappa_score
from stamp_brain import RULE, stamp_brain
from stamped import REASON, Stamped, stamped, stamped_nuggets
from stamped_judge import SMALL, support_judge

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.adapter import JudgeAdapter
from nuggetjudge.backends.budget import Budget, Usage
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.calibration.examples import Example, Examples
from nuggetjudge.calibration.fitting import ItemTarget, fit_and_test
from nuggetjudge.calibration.prompts.asking import Proposals, Stopped, confine_dspy, reserve_calls
from nuggetjudge.calibration.prompts.tasks import (
    RATIONALE,
    get_prompt,
    make_kappa_gains,
    number_labels,
    tasks,
)
from nuggetjudge.calibration.report import diff_prompts
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge
from nuggetjudge.judges.fitted import FittedPrompt


# DSPy's free-text calls, sent through the judges' gateway.
@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


def gateway(server, *, cache=None, budget=None, **settings):
    entry = ModelConfig(model="openai/mock", api_base=server.base_url, **settings)
    return open_backend(entry, cache=cache, budget=budget)


def proposed(lm, question="how?"):
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(), disable_history=True):
        return dspy.Predict("question -> rule")(question=question).rule


def test_a_signature_of_dspy_is_answered_at_temperature_1_without_a_schema(server):
    lm = Proposals(gateway(server, max_tokens=5, logprobs=True)).lm()
    assert proposed(lm) == RULE
    (request,) = server.requests
    assert request.body.keys() == {"model", "messages", "temperature"}
    assert request.body["temperature"] == 1.0


def test_the_same_text_is_asked_once_and_each_rollout_once_more(server, tmp_path):
    with contextlib.closing(ReplyCache(tmp_path)) as cache:
        lm = Proposals(gateway(server, cache=cache)).lm()
        for number in (None, None, 5, 5, 6):
            proposed(lm if number is None else lm.copy(rollout_id=number, temperature=1.0))
    assert len(server.requests) == 3


def test_the_budget_ends_proposals_past_any_except_exception(server):
    lm = Proposals(gateway(server, budget=Budget(max_calls=1))).lm()
    proposed(lm)
    with pytest.raises(Stopped) as stopped, contextlib.suppress(Exception):
        proposed(lm, "and now?")
    assert stopped.value.__cause__ is None
    assert len(server.requests) == 1


def test_a_lost_endpoint_ends_them_with_its_error(server):
    server.faults = [Status(503)] * 9
    with pytest.raises(Stopped) as stopped:
        proposed(Proposals(gateway(server, retries=0)).lm())
    assert "503" in str(stopped.value.__cause__)


def test_a_truncated_proposal_is_an_error_and_is_not_kept(server, tmp_path):
    server.faults = [Truncated()] * 9
    with contextlib.closing(ReplyCache(tmp_path)) as cache:
        lm = Proposals(gateway(server, cache=cache)).lm()
        with pytest.raises(Exception, match="truncated"):
            proposed(lm)
        assert sum(cache.counts().values()) == 0
        server.faults = None
        assert proposed(lm) == RULE


# What an optimiser is kept from.
def test_prints_go_nowhere_and_our_own_warnings_come_afterwards(capfd):
    ours, theirs = "/lib/nuggetjudge/backends/gateway.py", "/lib/dspy/clients/lm.py"
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with confine_dspy(dspy.utils.DummyLM([])):
            print("Average Metric: 3 / 4")  # noqa: T201
            sys.stderr.write("25%")
            warnings.warn_explicit("replies are kept no longer", RuntimeWarning, ours, 1)
            warnings.warn_explicit("old interface", DeprecationWarning, theirs, 1)
            assert seen == []
    assert [str(warning.message) for warning in seen] == ["replies are kept no longer"]
    assert capfd.readouterr() == ("", "")


def test_what_is_kept_back_can_be_spent_afterwards_also_when_the_search_failed():
    usage = Usage(requests=10, prompt_tokens=900, completion_tokens=100, cost=2.0)
    budget = Budget(max_calls=100, max_tokens=5000, max_cost=9.0, usage=usage)

    def search():
        with reserve_calls(budget, 5):
            assert (budget.max_calls, budget.max_tokens, budget.max_cost) == (95, 4500, 8.0)
            budget.reached = "max_calls 95"
            raise KeyError

    with pytest.raises(KeyError):
        search()
    assert budget == Budget(max_calls=100, max_tokens=5000, max_cost=9.0, usage=usage)


# Gains of single labels, against kappa as scikit-learn computes it.
ROUNDING = 1e-9  # labels that are worth the same may differ by the last bits
SCALE = ("none", "partial", "full")
labels = st.lists(st.sampled_from(SCALE), min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1)


def mean_gain(gains, given_labels, truths):
    pairs = zip(given_labels, truths, strict=True)
    return sum(gains.of(given, truth) for given, truth in pairs) / len(truths)


@pytest.mark.parametrize(("is_ordered", "weights"), [(True, "linear"), (False, None)])
def test_the_mean_gain_over_chance_is_kappa_times_the_disagreement_expected(is_ordered, weights):
    truths = ["none"] * 10 + ["partial"] * 6 + ["full"] * 4
    answers = (
        ["none"] * 7 + ["partial"] * 2 + ["full"] + ["none"] * 2 + ["partial"] * 5 + ["full"] * 3
    )
    gains = make_kappa_gains(truths, SCALE, is_ordered=is_ordered)
    kappa = cohen_kappa_score(truths, answers, weights=weights, labels=SCALE)

    def expected(first, second):
        """Mean disagreement of two labels drawn apart, one of each."""
        steps = [abs(SCALE.index(a) - SCALE.index(b)) for a in first for b in second]
        return sum(step / 2 if is_ordered else step > 0 for step in steps) / len(steps)

    share = (mean_gain(gains, answers, truths) - gains.chance) / (gains.perfect - gains.chance)
    assert share == pytest.approx(kappa * expected(truths, answers) / expected(truths, truths))


@given(truths=labels, is_ordered=st.booleans())
def test_the_truth_is_the_best_answer_to_every_item_and_gains_stay_in_0_1(truths, is_ordered):
    gains = make_kappa_gains(truths, SCALE, is_ordered=is_ordered)
    for truth in SCALE:
        row = gains.table[truth]
        assert all(-ROUNDING <= value <= 1 + ROUNDING for value in row.values())
        assert row[truth] >= max(row.values()) - ROUNDING
    assert gains.perfect > gains.chance
    assert mean_gain(gains, truths, truths) == pytest.approx(gains.perfect)


def test_labels_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValueError, match=r"labels\[1\] is 'most', wanted one of none"):
        make_kappa_gains(["none", "most"], SCALE)
    with pytest.raises(ValueError, match="all 2 labels are the same"):
        make_kappa_gains(["none", "none"], SCALE)


# What fitting changed in a prompt, for people.
def test_the_diff_shows_the_new_words_and_each_worked_example():
    judge = SupportJudge("lexical")
    before = judge.judge.signature.instructions
    demo = {"passage": "p\nq", "sentence": "s", "verdict": "full"}
    fitted = FittedPrompt(instructions=f"{before}\n\n{'Mind the dates. ' * 10}", demos=(demo,))
    lines = diff_prompts(judge, {"judge": fitted}).splitlines()
    assert lines[:2] == ["--- support.judge before", "+++ support.judge fitted"]
    added = [line for line in lines[2:] if line.startswith("+")]
    assert not any(line.startswith("-") for line in lines[2:])
    assert sum("Mind the dates." in line for line in added) == 2  # wrapped
    assert added[-5:] == [
        "+worked example 1:", "+  passage: p", "+q", "+  sentence: s", "+  verdict: full",
    ]  # fmt: skip
    assert max(map(len, lines)) <= 101


def test_an_unchanged_prompt_has_no_diff_and_a_foreign_one_is_refused():
    judge = SupportJudge("lexical")
    prompt = get_prompt(judge.judge)
    assert diff_prompts(judge, {"judge": prompt}) == ""
    with pytest.raises(ValueError, match="the support judge asks no question called 'assign'"):
        diff_prompts(judge, {"assign": prompt})


# A search for a prompt sees train and dev; no label, text or item of a test topic reaches it.
ITEMS = stamped(80, topics=8)


@pytest.fixture
def examples():
    """80 labelled items of 8 topics."""
    items = tuple(
        Example({"topic_id": item.topic_id, "item": str(n)}, item.inputs, item.label)
        for n, item in enumerate(ITEMS)
    )
    scale = ("none", "partial", "full")
    return Examples(items, scale, ("topic_id", "item"), {label: label for label in scale})


def of_topics(examples, topics, **changed):
    """The examples with this changed in each item of these topics."""
    items = [
        dataclasses.replace(item, **{name: make(item) for name, make in changed.items()})
        if item.topic_id in topics
        else item
        for item in examples.items
    ]
    return dataclasses.replace(examples, items=tuple(items))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["few-shot", "bootstrap"])
def test_nothing_of_a_test_topic_reaches_the_search(method, server, examples):
    asked = Settings(method=method, resamples=0, options=SMALL[method], concurrency=1)

    def searched(given):
        result = fit_and_test(support_judge(server.base_url), given, asked)
        return result.file.prompts, result.report["optimiser"]

    (split,) = ItemTarget(support_judge(server.base_url), examples, asked).splits()
    prompts, report = searched(examples)
    assert report["n_dev"] == sum(item.topic_id in split.dev for item in examples.items)
    others = {"none": "full", "partial": "none", "full": "partial"}
    labels = {"label": lambda item: others[item.label]}
    for changed in (
        labels,
        {"inputs": lambda item: {name: f"{text} Seen." for name, text in item.inputs.items()}},
    ):
        assert searched(of_topics(examples, split.test, **changed)) == (prompts, report)
    assert searched(of_topics(examples, split.dev, **labels))[1] != report  # this does reach it


# Labelled items as the calls of a judge, and prompts as data.
def test_a_windowed_judge_learns_from_the_windows_that_it_will_judge_in():
    windows = tasks(NuggetAssigner("lexical", window=3), stamped_nuggets(2, 4))
    assert [len(task.labels) for task in windows] == [3, 1, 3, 1]
    first = windows[0]
    assert list(first.inputs) == ["question", "answer", "nuggets"]
    assert list(first.inputs["nuggets"]) == ["1", "2", "3"]
    assert first.example["verdicts"] == first.labels
    assert first.labels["2"] == "support"
    assert first.example[RATIONALE] == dict.fromkeys("123", REASON)
    assert first.example.inputs().keys() == ["question", "answer", "nuggets"]


def test_a_grade_is_a_number_in_a_worked_example_and_text_among_labels():
    item = Stamped("t1", {"question": "why", "passage": "because"}, "2", "")
    (task,) = tasks(RelevanceJudge("lexical"), [item])
    assert task.example["grade"] == 2
    assert RATIONALE not in task.example
    assert task.labels == number_labels(task.example["grade"]) == {"": "2"}


def test_demos_become_json_of_the_asked_fields_alone_and_change_no_byte_of_the_prompt():
    judge = SupportJudge("lexical")
    (task,) = tasks(judge, stamped(1))
    judge.judge.demos = [dspy.Example(augmented=True, **task.example)]
    prompt = get_prompt(judge.judge)
    assert list(prompt.demos[0]) == ["passage", "sentence", "verdict"]
    assert json.loads(prompt.model_dump_json())["demos"] == list(prompt.demos)

    def written(demos):
        return JudgeAdapter().format(judge.judge.signature, demos, task.inputs)

    assert written([dict(demo) for demo in prompt.demos]) == written(judge.judge.demos)
