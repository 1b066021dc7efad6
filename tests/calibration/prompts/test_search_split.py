"""A search for a prompt sees train and dev; no label, text or item of a test topic reaches it."""

import dataclasses

import pytest
from mock_server import MockServer
from stamp_brain import stamp_brain
from stamped import stamped
from stamped_judge import SMALL, support_judge

from nuggetjudge.calibration.examples import Example, Examples
from nuggetjudge.calibration.fitting import ItemTarget, fit_and_test
from nuggetjudge.calibration.settings import Settings

ITEMS = stamped(80, topics=8)


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


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
