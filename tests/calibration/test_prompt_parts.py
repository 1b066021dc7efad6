"""Which items a prompt search is given, and what becomes of an earlier correction."""

import pytest
from graded_labels import support_rows, write_jsonl

from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.calibration.fitting import fit_and_test
from nuggetjudge.calibration.prompts import optimisers
from nuggetjudge.calibration.prompts.tasks import get_prompt
from nuggetjudge.calibration.settings import Settings
from nuggetjudge.judges import SupportJudge
from nuggetjudge.judges.fitted import FittedPrompt
from nuggetjudge.records.reading.problems import Problems


@pytest.fixture
def judge():
    return SupportJudge(model="lexical")


@pytest.fixture
def examples(tmp_path, judge):
    path = write_jsonl(tmp_path / "labels.jsonl", support_rows(n_items=12))
    return read_examples(path, judge, Problems())


@pytest.fixture
def searched(monkeypatch):
    """Puts a search in the optimisers' stead: notes the topics it is given, finds `prompt`."""
    seen = {}

    def install(prompt):
        def search(judge, train, dev, **options):
            seen.update(train={item.topic_id for item in train}, n_train=len(train))
            seen.update(dev={item.topic_id for item in dev}, n_dev=len(dev), **options)
            return optimisers.Optimised({judge.predictor: prompt}, 0.5, 0.6, 0.4, 1.0, 9, 2, "", 9)

        monkeypatch.setattr(optimisers, "optimise", search)
        return seen

    return install


def prompt_fit(judge, examples):
    return fit_and_test(judge, examples, Settings(method="few-shot", resamples=0))


def test_a_search_sees_train_and_dev_and_no_item_of_test(judge, examples, searched):
    seen = searched(FittedPrompt(instructions="Look."))
    result = prompt_fit(judge, examples)
    (split,) = result.report["topics"]
    assert seen["train"] == set(split["train"])
    assert seen["dev"] == set(split["dev"])
    assert seen["train"] | seen["dev"] | set(split["test"]) == set(examples.topics)
    assert seen["n_train"] + seen["n_dev"] + result.report["n_test"] == len(examples.items)
    assert seen["keep_calls"] == result.report["n_test"]  # one call an item, to test what is found


def test_a_correction_goes_with_the_prompt_whose_scores_it_was_fitted_to(judge, examples, searched):
    earlier = fit_and_test(judge, examples, Settings(method="threshold", resamples=0))
    fitted = judge.fitted(earlier.file)
    assert fitted.correction is not None
    searched(FittedPrompt(instructions="Look."))
    new = prompt_fit(fitted, examples)
    assert new.file.correction is None
    assert new.report["optimiser"]["correction_dropped"] is True
    searched(get_prompt(getattr(fitted, fitted.predictor)))
    same = prompt_fit(fitted, examples)
    assert same.file.correction == fitted.correction
    assert same.report["optimiser"]["correction_dropped"] is False
