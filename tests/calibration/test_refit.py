"""A judge that was fitted before is not tested on the topics that it was fitted to."""

import pytest
from graded_labels import support_rows, write_jsonl

from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.calibration.fitting import fit_and_test
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.judges import SupportJudge
from nuggetjudge.judges.fitted import FittedPrompt
from nuggetjudge.records.reading.problems import InputError, Problems


@pytest.fixture
def judge():
    return SupportJudge(model="lexical")


@pytest.fixture
def examples(tmp_path, judge):
    path = write_jsonl(tmp_path / "labels.jsonl", support_rows(n_items=12))
    return read_examples(path, judge, Problems())


def fit(judge, examples, **settings):
    settings = {"method": "threshold", "resamples": 0, "topic_labels": 0, **settings}
    return fit_and_test(judge, examples, Settings(**settings))


def test_a_judge_file_names_the_topics_whose_labels_are_in_it(judge, examples):
    result = fit(judge, examples)
    (split,) = result.report["topics"]
    assert set(result.file.fitted_on) == {*split["train"], *split["dev"]}
    assert not set(result.file.fitted_on) & set(split["test"])
    with_labels = fit(judge, examples, method="topic", topic_labels=3)
    assert set(with_labels.file.fitted_on) == set(examples.topics)
    assert set(fit(judge, examples, folds=3).file.fitted_on) == set(examples.topics)


def test_the_same_split_again_is_fine_and_another_is_refused(judge, examples):
    before = judge.fitted(fit(judge, examples).file)
    fit(before, examples)
    for other in ({"seed": 1}, {"folds": 3}):
        with pytest.raises(InputError, match=r"fitted to labels of .* which would be tested on"):
            fit(before, examples, **other)


def test_demos_of_an_earlier_fit_keep_their_topics_in_the_next_file(judge, examples):
    first = fit(judge, examples)
    prompt = FittedPrompt(instructions="Go by the passage.")
    file = first.file.model_copy(update={"prompts": {"judge": prompt}, "fitted_on": ("other",)})
    again = fit(judge.fitted(file), examples)
    assert again.file.prompts == {"judge": prompt}
    assert set(again.file.fitted_on) == {*first.file.fitted_on, "other"}
