"""The figures of a check equal those of other implementations and of published files."""

import json
import random
from dataclasses import replace

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score, precision_recall_fscore_support
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

import nuggetjudge as nj
from nuggetjudge.plugins.check.measure import count_needed
from nuggetjudge.plugins.check.verdict import Finding, Outcome, write_verdict

GRADES = ("none", "partial", "full")
# data/summhay/README.md: kappa with people, three labels.
SUMMHAY = {
    "gemini-1.5-pro": 0.518,
    "gpt-4o-9shot": 0.481,
    "gpt-4o": 0.476,
    "claude-3-opus": 0.439,
    "gpt-3.5": 0.317,
    "claude-3-haiku": 0.174,
}


def pairs(n=400, seed=3, labels=GRADES, right=0.7):
    rng = random.Random(seed)
    rows = []
    for i in range(n):
        truth = rng.choice(labels)
        said = truth if rng.random() < right else rng.choice(labels)
        rows.append({"human": truth, "judge": said, "topic": f"t{i % 20}"})
    return rows


@pytest.mark.parametrize("model", SUMMHAY)
def test_recorded_judges_have_their_published_kappas(model, shared_data):
    path = shared_data / "summhay" / "pairs.jsonl"
    found = nj.check(path, human="label", judge=f"votes.{model}")
    assert round(found["cohen_kappa"]["unweighted"], 3) == SUMMHAY[model]
    assert (found["n"], found["clusters"]) == (789, {"by": "topic_id", "n": 19})


def test_kappa_recall_and_precision_equal_those_of_scikit_learn():
    rows = pairs()
    found = nj.check(rows, "human", "judge")
    truth, judge = ([row[side] for row in rows] for side in ("human", "judge"))
    assert found["scale"] == list(GRADES)
    for name, weights in (("unweighted", None), ("linear", "linear"), ("quadratic", "quadratic")):
        expected = cohen_kappa_score(truth, judge, labels=GRADES, weights=weights)
        assert found["cohen_kappa"][name] == pytest.approx(expected)
    precision, recall, _, n = precision_recall_fscore_support(truth, judge, labels=GRADES)
    for i, label in enumerate(GRADES):
        assert found["precision"][label]["value"] == pytest.approx(precision[i])
        assert found["recall"][label]["value"] == pytest.approx(recall[i])
        assert found["recall"][label]["n"] == n[i]


def test_by_row_the_interval_of_kappa_is_near_that_of_statsmodels():
    rows = pairs(n=900)
    found = nj.check(rows, "human", "judge", topic="none")
    expected = cohens_kappa(np.array(found["confusion"]))
    row = found["intervals"]["cohen_kappa"]["unweighted"]
    assert (row["low"], row["high"]) == pytest.approx(
        (expected.kappa_low, expected.kappa_upp), abs=0.01
    )
    assert found["clusters"]["by"] is None


def test_the_lower_end_of_sensitivity_is_as_careful_as_wilsons_by_row():
    rows = [{"human": "yes", "judge": "yes" if i < 85 else "no"} for i in range(100)]
    rows += [{"human": "no", "judge": "no" if i < 290 else "yes"} for i in range(300)]
    found = nj.check(rows, "human", "judge")
    for name, right, n in (("sensitivity", 85, 100), ("specificity", 290, 300)):
        low, high = proportion_confint(right, n, method="wilson")
        assert found[name]["low"] == pytest.approx(low, abs=0.02)
        assert found[name]["low"] <= low + 0.002
        assert found[name]["high"] == pytest.approx(high, abs=0.02)


def test_five_items_that_are_all_right_say_little_however_many_others_there_are():
    rows = [{"human": "yes", "judge": "yes"}] * 5 + [{"human": "no", "judge": "no"}] * 500
    found = nj.check(rows, "human", "judge")
    low, _ = proportion_confint(5, 5, method="beta")  # Clopper and Pearson
    assert found["sensitivity"]["low"] == pytest.approx(low)
    assert found["outcome"] == "not enough labels"
    assert "Only 5 items are labelled yes; label about 17 in all" in found["verdict"]


def test_the_number_of_labels_that_would_tell_does_tell():
    low, high = proportion_confint(36, 40, method="wilson")
    n = count_needed({"value": 0.9, "low": low, "high": high, "n": 40}, 0.8, 0.95)
    assert proportion_confint(round(0.9 * n), n, method="wilson")[0] == pytest.approx(0.8, abs=0.02)


def test_people_are_compared_with_each_other_as_krippendorff_does():
    rng = random.Random(5)
    rows = []
    for _ in range(150):
        truth = rng.randrange(1, 6)
        marks = {
            who: None if rng.random() < 0.2 else min(5, max(1, truth + rng.choice((-1, 0, 0, 1))))
            for who in ("ann", "bob", "cy")
        }
        rows.append({**marks, "judge": min(5, max(1, truth + rng.choice((-1, 0, 0, 1))))})
    found = nj.check(rows, human=["ann", "bob", "cy"], judge="judge")
    marks = [[row[who] or np.nan for row in rows] for who in ("ann", "bob", "cy")]
    expected = krippendorff.alpha(np.array(marks, float), level_of_measurement="ordinal")
    assert found["annotators"]["among"]["alpha"]["ordinal"] == pytest.approx(expected)
    assert "Two people agree on" in found["sentence"]


def test_annotators_as_rows_are_those_as_columns():
    wide, rng = [], random.Random(6)
    for i in range(60):
        truth = rng.choice(("yes", "no"))
        said = {who: truth if rng.random() < 0.9 else "no" for who in ("ann", "bob", "cy")}
        wide.append({"item": f"i{i}", **said, "judge": truth})
    long = [
        {"item": row["item"], "annotator": who, "label": row[who], "judge": row["judge"]}
        for row in wide for who in ("ann", "bob", "cy")
    ]  # fmt: skip
    one = nj.check(wide, human=["ann", "bob", "cy"], judge="judge")
    other = nj.check(long)
    assert other["n_items"] == 60
    same = ("n", "confusion", "annotators", "recall", "rates", "n_no_majority")
    assert {name: one[name] for name in same} == {name: other[name] for name in same}


def test_topics_that_differ_make_intervals_wider_than_rows_do():
    rows = [
        {"human": "yes", "judge": "no" if t < 5 else "yes", "topic": t}
        for t in range(20) for _ in range(20)
    ] + [{"human": "no", "judge": "no", "topic": t} for t in range(20)]  # fmt: skip
    by_topic, by_row = (nj.check(rows, "human", "judge", topic=of) for of in ("topic", "none"))
    widths = [f["sensitivity"]["high"] - f["sensitivity"]["low"] for f in (by_topic, by_row)]
    assert by_topic["sensitivity"]["value"] == by_row["sensitivity"]["value"] == 0.75
    assert widths[0] > 3 * widths[1]


def test_a_rate_is_corrected_by_the_labels_of_some_items():
    """Of 1,000 items 40% are yes; the judge says yes to a quarter of the others, too."""
    rng = random.Random(1)
    rows = []
    for i in range(1000):
        truth = "yes" if i % 5 < 2 else "no"
        said = "yes" if truth == "yes" or rng.random() < 0.25 else "no"
        rows.append({"human": truth if rng.random() < 0.3 else "", "judge": said})
    rate = nj.check(rows, "human", "judge")["rates"]["yes"]
    assert rate["judge"] == pytest.approx(0.55, abs=0.02)
    assert rate["corrected"]["value"] == pytest.approx(0.4, abs=0.03)
    assert rate["corrected"]["low"] < 0.4 < rate["corrected"]["high"] < rate["judge"]
    assert rate["n"] == 1000
    assert rate["n_labels"] == sum(row["human"] != "" for row in rows)


def test_none_is_a_label_where_the_others_are_of_its_scale_and_else_no_label():
    grades = nj.check(pairs(), "human", "judge")
    assert grades["truth_counts"]["none"] > 100
    assert any("none is read as a label" in note for note in grades["notes"])
    answers = [{**row, "human": "none" if i == 0 else row["human"]}
               for i, row in enumerate(pairs(labels=("no", "yes")))]  # fmt: skip
    assert nj.check(answers, "human", "judge")["n_unlabelled"] == 1
    asked = nj.check(pairs(), "human", "judge", missing=["none"])
    assert asked["n_unlabelled"] == grades["truth_counts"]["none"]


def test_a_rate_whose_items_are_all_labelled_is_that_of_people():
    rate = nj.check(pairs(), "human", "judge")["rates"]["full"]
    assert rate["corrected"]["value"] == pytest.approx(rate["people"])
    assert rate["difference"]["value"] == pytest.approx(rate["judge"] - rate["people"])


def group_rows(n, wrong, system, topics=10):
    return [
        {
            "human": "yes",
            "judge": "no" if i < wrong else "yes",
            "system": system,
            "topic": i % topics,
        }
        for i in range(n)
    ]


def test_a_group_that_is_judged_worse_is_named_and_a_handful_of_items_is_not():
    rows = group_rows(200, 10, "good") + group_rows(100, 40, "bad") + group_rows(4, 4, "tiny")
    rows += [{"human": "no", "judge": "no", "system": "good", "topic": t} for t in range(10)]
    found = nj.check(rows, "human", "judge", topic="topic", by="system")
    (by,) = found["by"]
    groups = {group["group"]: group for group in by["groups"]}
    assert groups["bad"]["accuracy_minus_rest"]["high"] < 0
    assert groups["tiny"]["accuracy_minus_rest"]["low"] is None
    assert "Judged significantly worse than the rest: bad." in str(found)


def test_ten_items_of_a_group_that_are_all_right_are_not_taken_for_better():
    """Drawn again they never change, which is no proof: .85 to the tenth is .2."""
    rows = group_rows(200, 30, "most") + group_rows(10, 0, "few")
    rows += [{"human": "no", "judge": "no", "system": "most", "topic": t} for t in range(10)]
    found = nj.check(rows, "human", "judge", topic="topic", by="system")
    few = next(g for g in found["by"][0]["groups"] if g["group"] == "few")
    assert few["accuracy_minus_rest"]["low"] < 0 < few["accuracy_minus_rest"]["value"]


def test_repeated_judgements_say_how_noisy_the_judge_is():
    rows = [
        {"item": i, "repeat": k, "human": "yes" if i % 2 else "no",
         "judge": "yes" if i % 2 or (i == 0 and k == 2) else "no"}
        for i in range(20) for k in range(3)
    ]  # fmt: skip
    found = nj.check(rows, "human", "judge", item="item", repeat="repeat")
    assert (found["n"], found["accuracy"]) == (20, 1.0)  # the label of most repeats
    assert (found["repeats"]["n_flaky"], found["repeats"]["n_judgements"]) == (1, 60)
    assert found["repeats"]["same"]["value"] == pytest.approx((19 + 1 / 3) / 20)


@pytest.mark.slow
def test_many_rows_take_little_memory(monkeypatch):
    """Without topics, 30,000 rows are drawn in 2,000 groups: the interval is as wide."""
    rows = pairs(n=30_000, labels=("no", "yes"))
    found = nj.check(rows, "human", "judge", topic="none")
    (low, high), n = (proportion_confint(
        round(found["accuracy"] * 30_000), 30_000), found["clusters"]["n"])  # fmt: skip
    row = found["intervals"]["accuracy"]
    assert n == 2000
    assert row["high"] - row["low"] == pytest.approx(high - low, rel=0.1)


def test_json_has_the_figures_and_no_nan():
    found = nj.check(pairs(labels=("no", "yes")), "human", "judge", by="topic")
    json.dumps(found, allow_nan=False)
    assert found["sensitivity"] == found["recall"]["yes"]
    assert found["specificity"] == found["recall"]["no"]


# A judge that is right on each of n items has a lower end of .8 from .8 ** n <= .025 on: n = 17.
def test_few_items_of_a_label_are_said_with_the_number_for_a_first_answer():
    figures = 0.8, 0.5, 0.003, 0.9997, 4
    few = Finding("recall>=.8", "recall of none", *figures, Outcome.OPEN, 2504, "none")
    assert write_verdict([few]) == (
        "Only 4 items are labelled none; label about 17 in all for a first answer."
    )
    more = replace(few, n=40)
    assert "lies between 0.3% and 100.0%" in write_verdict([more])
