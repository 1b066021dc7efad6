"""Worked examples of judges that make lists: they obey the rules they teach, and can go away."""

import re

import pytest

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import (
    ClaimExtractor,
    JudgeFile,
    KeyPointExtractor,
    KeyPointMerger,
    Nuggetizer,
    SubQuestionGenerator,
)
from nuggetjudge.judges.fitted import FittedPrompt
from nuggetjudge.judges.makers import lists as examples

PREDICTORS = {
    Nuggetizer: "update",
    SubQuestionGenerator: "write",
    KeyPointExtractor: "find",
    KeyPointMerger: "join",
    ClaimExtractor: "split",
}
VAGUE = re.compile(r"\b(he|she|it|they|its|their|this|that (year|town|ship))\b", re.IGNORECASE)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


@pytest.mark.parametrize(("kind", "predictor"), PREDICTORS.items())
def test_an_example_goes_first_unless_it_is_turned_off(kind, predictor):
    roles = [m["role"] for m in kind("lexical").prompt(predictor).fixed]
    assert roles == ["system", "user", "assistant"]
    assert [m["role"] for m in kind("lexical", example=False).prompt(predictor).fixed] == ["system"]


@pytest.mark.parametrize(("kind", "predictor"), PREDICTORS.items())
def test_the_reply_of_an_example_is_one_that_the_judge_would_take(kind, predictor):
    (example,) = getattr(kind("lexical"), predictor).demos
    prompt = kind("lexical").prompt(predictor)
    inputs = {name: example[name] for name in prompt.input_names}
    reply = kind("lexical").prompt(predictor).fixed[-1]["content"]
    assert prompt.parse(reply, inputs)


@pytest.mark.parametrize("kind", [Nuggetizer, SubQuestionGenerator, KeyPointExtractor])
def test_the_examples_of_a_fitted_judge_replace_its_own(kind):
    prompt = FittedPrompt(instructions="List it all.")
    state = JudgeFile(
        judge=kind.name, version=kind.version, model="any", prompts={kind.predictor: prompt}
    )
    assert getattr(kind("lexical").fitted(state), kind.predictor).demos == []


def test_each_nugget_is_a_statement_of_at_most_12_words_that_names_its_subject():
    shown = examples.NUGGETS
    assert len(shown["updated"]) <= shown["limit"]
    assert set(shown["nuggets"]) <= set(shown["updated"])  # only the irrelevant is removed
    told = words(" ".join(shown["passages"].values()))
    for nugget in shown["updated"]:
        assert 1 <= len(nugget.split()) <= 12
        assert not nugget.endswith("?")
        assert "Ostrel Canal" in nugget
        assert len(words(nugget) - told) <= 3, nugget  # grammar alone is new


def test_a_fact_that_the_question_does_not_ask_for_is_in_the_passages_and_not_in_the_list():
    shown = examples.NUGGETS
    assert "roses" in " ".join(shown["passages"].values())
    assert "roses" not in " ".join(shown["updated"])


def test_each_span_is_one_excerpt_copied_exactly_and_what_is_apart_has_two():
    shown = examples.KEY_POINTS
    for point in shown["points"]:
        assert point["spans"]
        assert all(span in shown["document"] for span in point["spans"])
        assert not VAGUE.search(point["text"])
    first, second = shown["points"][-1]["spans"]
    assert f"{first} {second}" not in shown["document"]


def test_merged_points_have_each_number_once_and_keep_a_contradiction_apart():
    shown = examples.MERGED_POINTS
    numbers = [n for group in shown["merged"] for n in group["members"]]
    assert sorted(map(str, numbers)) == sorted(shown["points"])
    assert [2] in [group["members"] for group in shown["merged"]]


def test_each_sub_question_is_self_contained_and_none_is_known():
    shown = examples.SUBQUESTIONS
    assert len(shown["questions"]) == shown["wanted"]
    assert not {*shown["questions"]} & {*shown["known"]}
    for question in shown["questions"]:
        assert re.search(r"Marrin Star|Coldhaven", question)
        assert not re.search(r"\b(he|she|they|the report|the company)\b", question)


def sent(body):
    """The settings of requests that two judges' models got."""
    return {name: body.get(name) for name in ("temperature", "top_p")}


@pytest.mark.parametrize(
    ("entry", "wanted"),
    [
        ({}, {"temperature": 0.7, "top_p": 0.95}),
        ({"top_p": 0.5}, {"temperature": 0.7, "top_p": 0.5}),
        ({"temperature": 0}, {"temperature": 0.0, "top_p": None}),
        ({"temperature": None}, {"temperature": None, "top_p": None}),
    ],
)
def test_crux_generates_texts_by_the_papers_sampling_unless_the_model_has_a_temperature(
    entry, wanted, baseline_server
):
    """arXiv:2506.20051, appendix A.1: .7 and .95 for texts, 0 for ratings."""
    model = ModelConfig(model="openai/mock", api_base=baseline_server.base_url, **entry)
    SubQuestionGenerator(model)(report="Rain fell on Ada Quill. A dam broke in 1911.", n=1)
    assert [sent(request.body) for request in baseline_server.requests] == [wanted]


def test_what_is_not_of_crux_keeps_the_temperature_of_its_model(model, baseline_server):
    Nuggetizer(model)(question="Why?", passages=["Rain fell."])
    assert baseline_server.requests[0].body["temperature"] == 0


def test_a_text_that_was_sampled_comes_from_the_cache_the_next_time(baseline_server, tmp_path):
    config = ModelConfig(model="openai/mock", api_base=baseline_server.base_url)
    report = "Rain fell on Port Merrow. Ada Quill saw a dam break in 1911."
    for _ in range(2):
        cache = ReplyCache(tmp_path / "cache")
        SubQuestionGenerator(backend=open_backend(config, cache=cache))(report=report, n=1)
        cache.close()
    assert len(baseline_server.requests) == 1
