"""A judge fitted on some topics and tested on others: what reaches the fit, and what is said."""

import dataclasses
import random

import pytest
from graded_labels import LABELS, support_rows
from hypothesis import given
from hypothesis import strategies as st
from json_lines import write_rows
from sklearn.metrics import accuracy_score, cohen_kappa_score

from nuggetjudge.calibration.examples import read_examples
from nuggetjudge.calibration.fitting import fit_and_test
from nuggetjudge.calibration.prompts import optimisers
from nuggetjudge.calibration.prompts.tasks import get_prompt
from nuggetjudge.calibration.settings import Settings, split_folds, split_topics
from nuggetjudge.judges import SupportJudge
from nuggetjudge.judges.fitted import FittedPrompt, JudgeFile
from nuggetjudge.records.reading.problems import InputError, Problems

METHODS = ("threshold", "ordinal", "isotonic", "platt", "topic")
LEAN = {"t00": -0.25, "t01": 0.25, "t02": 0.0, "t03": -0.25, "t04": 0.25, "t05": 0.2}
AS_TWO = {"none": "no", "partial": "no", "full": "yes"}


@pytest.fixture
def judge():
    return SupportJudge(model="lexical")


@pytest.fixture
def examples(tmp_path, judge):
    """Reads 72 labelled items of 6 topics that differ in what people want."""

    def read(scale=None, n_items=12):
        path = write_rows(tmp_path / "labels.jsonl", support_rows(n_items=n_items, lean=LEAN))
        return read_examples(path, judge, Problems(), scale=scale)

    return read


def settings(method="threshold", **given):
    return Settings(**{"method": method, "resamples": 0, "topic_labels": 0} | given)


def topics_tested(result):
    return {topic for split in result.report["topics"] for topic in split["test"]}


def relabelled(examples, topics, change):
    """The examples with the labels of these topics put through `change(labels) -> labels`."""
    indices = [i for i, item in enumerate(examples.items) if item.topic_id in topics]
    items = list(examples.items)
    changed = change([items[i].label for i in indices], examples.scale)
    for i, label in zip(indices, changed, strict=True):
        items[i] = dataclasses.replace(items[i], label=label)
    return dataclasses.replace(examples, items=tuple(items))


def all_but_one_of_each_topic_left_out(examples, topics):
    seen, kept = set(), []
    for item in examples.items:
        if item.topic_id not in topics or item.topic_id not in seen:
            kept.append(item)
        seen.add(item.topic_id)
    return dataclasses.replace(examples, items=tuple(kept))


CHANGES = {
    "turned round": lambda labels, scale: [scale[-1 - scale.index(label)] for label in labels],
    "shuffled": lambda labels, scale: random.Random(1).sample(labels, len(labels)),
    "all the best": lambda labels, scale: [scale[-1]] * len(labels),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1])
def test_no_label_of_a_test_topic_reaches_the_fit(judge, examples, method, seed):
    read = examples(AS_TWO if method == "platt" else None)
    result = fit_and_test(judge, read, settings(method, seed=seed))
    topics = topics_tested(result)
    assert len(topics) == 2
    others = [relabelled(read, topics, change) for change in CHANGES.values()]
    others.append(all_but_one_of_each_topic_left_out(read, topics))
    reports = []
    for other in others:
        again = fit_and_test(judge, other, settings(method, seed=seed))
        assert topics_tested(again) == topics
        assert again.file.correction == result.file.correction
        assert again.file.words == result.file.words
        reports.append(again.report["figures"])
    assert result.report["figures"] not in (reports[0], reports[2])
    of_train = relabelled(read, sorted(set(read.topics) - topics)[:2], CHANGES["all the best"])
    assert fit_and_test(judge, of_train, settings(method, seed=seed)).file != result.file


def test_texts_of_test_topics_do_not_weigh_the_words(judge, examples):
    read = examples()
    result = fit_and_test(judge, read, settings())
    topics = topics_tested(result)
    items = [
        dataclasses.replace(
            item, inputs={name: f"{text} zyx" for name, text in item.inputs.items()}
        )
        if item.topic_id in topics
        else item
        for item in read.items
    ]
    again = fit_and_test(judge, dataclasses.replace(read, items=tuple(items)), settings())
    assert again.file.words == result.file.words


def test_in_folds_each_topic_is_judged_by_a_fit_to_the_others(judge, examples):
    """The labels of one topic turned round change what is said of the others, not of itself."""
    read = examples()
    result = fit_and_test(judge, read, settings(folds=6))
    assert result.report["n_test"] == len(read.items) == 72
    assert [len(split["test"]) for split in result.report["topics"]] == [1] * 6
    whole = fit_and_test(judge, read, settings(folds=3)).file
    assert whole.correction == result.file.correction  # the file is fitted to all labels


@pytest.mark.slow
@pytest.mark.parametrize("folds", [None, 3])
def test_labels_given_to_a_topic_are_not_measured_and_those_measured_are_not_given(
    judge, examples, folds
):
    """One test label after the other is turned: each moves the fit or the figures, never both."""
    read, asked = examples(n_items=8), settings("topic", topic_labels=3, folds=folds)
    result = fit_and_test(judge, read, asked)
    topics = topics_tested(result)
    moved = {"shifts": 0, "figures": 0}
    for index, item in enumerate(read.items):
        if item.topic_id not in topics or (folds and item.topic_id != "t00"):
            continue
        verdict = judge(**item.inputs).verdict  # turned to or from it, accuracy before must move
        label = verdict if item.label != verdict else LABELS[LABELS.index(verdict) - 1]
        items = [
            *read.items[:index], dataclasses.replace(item, label=label), *read.items[index + 1 :],
        ]  # fmt: skip
        again = fit_and_test(judge, dataclasses.replace(read, items=tuple(items)), asked)
        old, new = (f.report["figures"]["accuracy"]["before"]["value"] for f in (result, again))
        if folds is None:
            shift = result.file.correction.topics != again.file.correction.topics
            assert shift == (old == new)
        moved["figures" if old != new else "shifts"] += 1
    n_topics = 1 if folds else len(topics)
    assert moved == {"shifts": 3 * n_topics, "figures": 5 * n_topics}
    assert result.report["n_test"] == 5 * len(topics)


def test_at_most_half_of_a_topic_is_given_away(judge, examples):
    result = fit_and_test(judge, examples(), settings("topic", topic_labels=1000, folds=6))
    assert result.report["n_test"] == 36


def test_the_figures_are_those_of_the_file_on_the_test_topics(judge, examples):
    read = examples()
    result = fit_and_test(judge, read, settings(resamples=50))
    test = [item for item in read.items if item.topic_id in topics_tested(result)]
    fitted = judge.copy_with_fit(JudgeFile.model_validate_json(result.file.text()))
    truth = [item.label for item in test]
    for side, by in (("before", judge), ("after", fitted)):
        given = [str(by(**item.inputs).verdict) for item in test]
        figures = {name: row[side]["value"] for name, row in result.report["figures"].items()}
        assert figures["accuracy"] == pytest.approx(accuracy_score(truth, given))
        assert figures["kappa"] == pytest.approx(cohen_kappa_score(truth, given))
    assert result.report["n_test"] == len(test)
    assert result.report["verdict"] == result.report["figures"]["linear"]["verdict"]


def test_probabilities_are_measured_on_the_test_topics(judge, examples):
    result = fit_and_test(judge, examples(n_items=40), settings("ordinal"))
    scores = result.report["probabilities"]
    assert scores.keys() == {"after"}  # the lexical judge has none of its own
    assert scores["after"]["n"] == result.report["n_test"] == 80
    assert {row["label"] for row in scores["after"]["reliability"]} == {"partial or better", "full"}
    rows = [row for row in scores["after"]["reliability"] if row["label"] == "full"]
    assert sum(row["n"] for row in rows) == 80


def test_a_judge_fitted_before_is_what_before_means_and_its_correction_is_replaced(judge, examples):
    read = examples()
    first = fit_and_test(judge, read, settings("threshold"))
    again = fit_and_test(judge.copy_with_fit(first.file), read, settings("threshold"))
    figures = again.report["figures"]["kappa"]
    assert figures["before"]["value"] == first.report["figures"]["kappa"]["after"]["value"]
    assert figures["difference"]["value"] == 0
    assert again.file.correction == first.file.correction


def test_labels_whose_order_among_the_judges_is_unknown_have_no_before(judge, examples):
    read = examples({"none": "a", "partial": "b", "full": "c"})
    assert read.judge_labels == {"none": "a", "partial": "b", "full": "c"}
    blind = dataclasses.replace(read, judge_labels=None)
    figure = fit_and_test(judge, blind, settings()).report["figures"]["kappa"]
    assert figure["before"] is figure["difference"] is None
    assert figure["after"]["value"] is not None


@pytest.mark.parametrize(
    ("objective", "figure"),
    [
        (None, "linear"),
        ("kappa", "kappa"),
        ("quadratic", "quadratic"),
        ("accuracy", "accuracy"),
        ("macro_f1", "macro_f1"),
        ("one_vs_rest:full", "best_vs_rest"),
        ("one_vs_rest:partial", "kappa"),
    ],
)
def test_the_verdict_goes_by_the_objective(judge, examples, objective, figure):
    report = fit_and_test(judge, examples(), settings(objective=objective)).report
    assert report["main_figure"] == figure
    two = fit_and_test(judge, examples(AS_TWO), settings(objective="linear")).report
    assert two["main_figure"] == "kappa"


REFUSED = {
    "a method": ({"method": "magic"}, "method 'magic': wanted one of threshold"),
    "a method, nearly": ({"method": "treshold"}, "did you mean threshold?"),
    "an objective": ({"objective": "magic"}, "unknown objective 'magic', wanted one of kappa"),
    "an objective's label": ({"objective": "one_vs_rest:7"}, "wanted one of none, partial, full"),
    "platt for three": ({"method": "platt"}, "needs two labels, got 3; use method ordinal"),
    "folds": ({"folds": 7}, "wanted 2 to 6 folds"),
    "folds of prompts": ({"method": "bootstrap", "folds": 2}, "folds are for methods that fit"),
    "options": ({"options": {"bsize": 3}}, "options are for methods that change prompts"),
    "a level": ({"level": 1.5}, "0 < level < 1"),
    "resamples": ({"resamples": -1}, "0 <= resamples <= 100,000"),
    "a seed": ({"seed": -1}, "topic_labels and seed of 0 or more"),
    "labels of topics": ({"method": "topic", "topic_labels": -1}, "topic_labels and seed of 0"),
    "shares": ({"shares": (0.5, 0.5, 0.0)}, "wanted shares of train, dev and test"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "what"), REFUSED.values(), ids=REFUSED)
def test_settings_that_cannot_be_are_refused_before_anyone_is_asked(judge, examples, given, what):
    def nobody(*args, **options):
        raise AssertionError("the judge was asked")

    judge.verdicts = nobody
    with pytest.raises(InputError, match=what):
        fit_and_test(judge, examples(), settings(**given))


def test_a_prompt_is_not_searched_for_labels_that_it_cannot_give(judge, examples):
    def nobody(*args, **options):
        raise AssertionError("the judge was asked")

    judge.verdicts = nobody
    other_names = examples(AS_TWO)
    no_telling = dataclasses.replace(examples(), judge_labels=None)
    for read, scale in ((other_names, "no, yes"), (no_telling, "none, partial, full")):
        what = f"a prompt gives the labels none, partial, full, .* the scale {scale}"
        with pytest.raises(InputError, match=what):
            fit_and_test(judge, read, settings("few-shot"))


# A judge that was fitted before is not tested on the topics that it was fitted to.
@pytest.fixture
def refit_examples(tmp_path, judge):
    path = write_rows(tmp_path / "labels.jsonl", support_rows(n_items=12))
    return read_examples(path, judge, Problems())


def fit(judge, refit_examples, **settings):
    settings = {"method": "threshold", "resamples": 0, "topic_labels": 0, **settings}
    return fit_and_test(judge, refit_examples, Settings(**settings))


def test_a_judge_file_names_the_topics_whose_labels_are_in_it(judge, refit_examples):
    result = fit(judge, refit_examples)
    (split,) = result.report["topics"]
    assert set(result.file.fitted_on) == {*split["train"], *split["dev"]}
    assert not set(result.file.fitted_on) & set(split["test"])
    with_labels = fit(judge, refit_examples, method="topic", topic_labels=3)
    assert set(with_labels.file.fitted_on) == set(refit_examples.topics)
    assert set(fit(judge, refit_examples, folds=3).file.fitted_on) == set(refit_examples.topics)


def test_the_same_split_again_is_fine_and_another_is_refused(judge, refit_examples):
    before = judge.copy_with_fit(fit(judge, refit_examples).file)
    fit(before, refit_examples)
    for other in ({"seed": 1}, {"folds": 3}):
        with pytest.raises(InputError, match=r"fitted to labels of .* which would be tested on"):
            fit(before, refit_examples, **other)


def test_demos_of_an_earlier_fit_keep_their_topics_in_the_next_file(judge, refit_examples):
    first = fit(judge, refit_examples)
    prompt = FittedPrompt(instructions="Go by the passage.")
    file = first.file.model_copy(update={"prompts": {"judge": prompt}, "fitted_on": ("other",)})
    again = fit(judge.copy_with_fit(file), refit_examples)
    assert again.file.prompts == {"judge": prompt}
    assert set(again.file.fitted_on) == {*first.file.fitted_on, "other"}


# Topics drawn into train, dev and test: no topic in two, none left out, the same each time.
TOPICS = [f"t{i}" for i in range(10)]
NAMES = st.lists(st.text(min_size=1), min_size=2, max_size=30, unique=True)


@given(NAMES, st.sampled_from([(0.4, 0.2, 0.4), (0.8, 0, 0.2), (0.05, 0.9, 0.05)]), st.integers(0))
def test_each_topic_is_in_one_part_and_train_and_test_have_some(topics, shares, seed):
    split = split_topics(topics, shares=shares, seed=seed)
    assert sorted([*split.train, *split.dev, *split.test]) == sorted(topics)
    assert split.train
    assert split.test
    assert bool(split.dev) == (shares[1] > 0 and len(topics) > 2)


def test_neither_order_nor_repetition_changes_the_split_and_the_seed_does():
    split = split_topics(TOPICS, seed=3)
    assert split_topics(TOPICS[::-1] * 2, seed=3) == split
    assert any(split_topics(TOPICS, seed=seed) != split for seed in range(3))


@given(NAMES, st.integers(2, 40), st.integers(0))
def test_folds_test_each_topic_once_by_all_others(topics, n_folds, seed):
    if n_folds > len(topics):
        with pytest.raises(ValueError, match=f"wanted 2 to {len(topics)} folds"):
            split_folds(topics, n_folds, seed=seed)
        return
    folds = split_folds(topics, n_folds, seed=seed)
    assert len(folds) == n_folds
    assert sorted(topic for fold in folds for topic in fold.test) == sorted(topics)
    assert all(sorted([*fold.train, *fold.test]) == sorted(topics) for fold in folds)
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5, 0), (0, 0.5, 0.5), (0.5, 0.1, 0.1), (1.2, -0.4, 0.2)]
)
def test_shares_that_leave_nothing_or_do_not_sum_to_one_are_refused(shares):
    with pytest.raises(ValueError, match="wanted shares"):
        split_topics(TOPICS, shares=shares)


# Which items a prompt search is given, and what becomes of an earlier correction.
@pytest.fixture
def prompt_parts_examples(tmp_path, judge):
    path = write_rows(tmp_path / "labels.jsonl", support_rows(n_items=12))
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


def prompt_fit(judge, prompt_parts_examples):
    return fit_and_test(judge, prompt_parts_examples, Settings(method="few-shot", resamples=0))


def test_a_search_sees_train_and_dev_and_no_item_of_test(judge, prompt_parts_examples, searched):
    seen = searched(FittedPrompt(instructions="Look."))
    result = prompt_fit(judge, prompt_parts_examples)
    (split,) = result.report["topics"]
    assert seen["train"] == set(split["train"])
    assert seen["dev"] == set(split["dev"])
    assert seen["train"] | seen["dev"] | set(split["test"]) == set(prompt_parts_examples.topics)
    assert seen["n_train"] + seen["n_dev"] + result.report["n_test"] == len(
        prompt_parts_examples.items
    )
    assert seen["keep_calls"] == result.report["n_test"]  # one call an item, to test what is found


def test_a_correction_goes_with_the_prompt_whose_scores_it_was_fitted_to(
    judge, prompt_parts_examples, searched
):
    earlier = fit_and_test(judge, prompt_parts_examples, Settings(method="threshold", resamples=0))
    fitted = judge.copy_with_fit(earlier.file)
    assert fitted.correction is not None
    searched(FittedPrompt(instructions="Look."))
    new = prompt_fit(fitted, prompt_parts_examples)
    assert new.file.correction is None
    assert new.report["optimiser"]["correction_dropped"] is True
    searched(get_prompt(getattr(fitted, fitted.predictor)))
    same = prompt_fit(fitted, prompt_parts_examples)
    assert same.file.correction == fitted.correction
    assert same.report["optimiser"]["correction_dropped"] is False
