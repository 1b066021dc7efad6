"""What an answer misses: facts of its contexts or of a reference, said as text."""

import pytest
from mock_server import MockServer, Refusal, input_of

import nuggetjudge as nj
from nuggetjudge.records.reading.problems import InputError

SAMPLE = {
    "question": "what makes the tides",
    "answer": "The moon makes the tides.",
    "contexts": ["The moon makes the tides.", "Boats wait."],
    "reference": "The moon makes the tides. They come twice a day.",
}
FACTS = {"the moon makes tides": "vital", "tides come twice a day": "vital", "boats wait": "okay"}
LABELS = {"the moon makes tides": "support", "tides come twice a day": "not_support"}


@pytest.fixture
def served():
    """A server that finds FACTS in any passage, and its model."""

    def brain(body):
        asked = input_of(body)
        if "passages" in asked:
            return {"updated": list(FACTS)}
        if "answer" in asked:
            found = asked["nuggets"].items()
            return {"verdicts": {i: LABELS.get(text, "partial_support") for i, text in found}}
        return {"importance": {i: FACTS[text] for i, text in asked["nuggets"].items()}}

    with MockServer(brain) as server:
        yield server, {"model": "openai/mock", "api_base": server.base_url, "reasks": 0}


def passages_read(server):
    inputs = (input_of(request.body) for request in server.requests)
    return [text for asked in inputs for text in asked.get("passages", {}).values()]


@pytest.mark.parametrize(
    ("facts", "read"),
    [("contexts", SAMPLE["contexts"]), ("reference", [SAMPLE["reference"]])],
)
def test_the_missing_facts_are_said_in_words(served, facts, read):
    server, model = served
    result = nj.completeness([SAMPLE], facts, model=model, cache=False)
    assert str(result.missing()).splitlines()[:6] == [
        "what makes the tides",
        "Your answer misses 1 of 3 facts:",
        "- tides come twice a day",
        "Your answer states only in part 1 of 3 facts:",
        "- boats wait (worthwhile, not essential)",
        "",
    ]
    assert passages_read(server) == read
    assert len(server.requests) == 3  # facts, their importance, the answer; no relevance


def test_a_fact_that_could_not_be_judged_is_neither_stated_nor_missed(served):
    server, model = served

    def refuse(number, body):
        return Refusal() if {"nuggets", "answer"} <= input_of(body).keys() else None

    server.faults = refuse
    result = nj.completeness([SAMPLE], model=model, cache=False, allow_missing=1.0)
    text = str(result.missing())
    assert "3 facts could not be judged." in text
    assert "misses" not in text


def test_an_answer_that_states_everything_is_told_so(served):
    model = served[1]
    nuggets = ["the moon makes tides"]
    result = nj.completeness([{**SAMPLE, "nuggets": nuggets}], model=model, cache=False)
    assert "Your answer states the only fact." in str(result.missing())


def test_several_systems_are_named():
    systems = {"old": [SAMPLE], "new": [{**SAMPLE, "answer": "They come twice a day."}]}
    text = str(nj.completeness(systems, "reference", model="lexical").missing())
    assert "old misses 1 of 2 facts:\n- They come twice a day" in text
    assert "new misses 1 of 2 facts:\n- The moon makes the tides" in text


def test_samples_without_a_reference_are_an_error_that_names_the_field():
    bare = {name: text for name, text in SAMPLE.items() if name != "reference"}
    with pytest.raises(InputError, match="no sample has a reference"):
        nj.completeness([bare], "reference", model="lexical")


def test_facts_of_something_else_are_an_error():
    with pytest.raises(InputError, match="wanted 'contexts' or 'reference'"):
        nj.completeness([SAMPLE], "answer", model="lexical")


def test_results_without_facts_say_so():
    result = nj.evaluate([SAMPLE], "faithfulness", model="lexical")
    assert str(result.missing()).startswith("No facts were judged")
