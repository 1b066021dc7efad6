"""Corrected scores of a few items, counted by hand: what a label stands for, and who is warned."""

import pytest

from nuggetjudge.metrics.ppi import estimate
from nuggetjudge.programs.protocols.judged_items import equal_items
from nuggetjudge.programs.scoring.corrected_measure import Correction, find_labelled

GAINS = {"bad": 0.0, "good": 1.0}
LETTERS = {"b": "bad", "g": "good", "-": None}


def data(judged, human, **parts):
    """One run's items by topic, a letter each: bad, good or none."""
    cells = [(f"t{t}", "a", f"i{i}") for t, of in enumerate(judged) for i in range(len(of))]
    labels = [LETTERS[letter] for letter in "".join(judged)]
    rows = [(cell, "a", label, None) for cell, label in zip(cells, labels, strict=True)]
    topics = sorted({cell[0] for cell in cells})
    names = ("topic_id", "run_id", "item")
    items = equal_items(rows, "other", tuple(GAINS), names, {"good": GAINS}, topics)
    people = [LETTERS[letter] for letter in "".join(human)]
    return find_labelled(items, people, items.measures[0], **parts)


def test_a_label_counts_in_the_judges_errors_as_the_items_that_it_stands_for():
    of = data(judged=["ggbb", "bbbb"], human=["ggbb", "gb--"])
    # Of 2 good items the judge found both; 1 that stands for 2 it missed.
    assert of.rates.sensitivity == pytest.approx(2 / 4)


def test_what_a_cascade_kept_and_what_it_left_are_drawn_each_by_itself():
    of = data(judged=["gggg--"] * 2, human=["gg--bb"] * 2, in_parts=True)
    assert estimate(of.sample("a"), lam=0.0).value == pytest.approx(4 / 6)


def test_an_item_that_was_not_judged_leaves_the_judges_score_of_its_topic():
    assert data(judged=["g-", "bb"], human=["gg", "bb"]).judged_score("a") == pytest.approx(1 / 2)


@pytest.mark.parametrize(("n_good", "is_doubted"), [(4, True), (5, False)])
def test_a_score_of_fewer_than_five_labels_that_differ_is_doubted(n_good, is_doubted):
    human = [("g" if topic < n_good else "b") + "bbb-" for topic in range(6)]
    of = data(judged=["gbbbb"] * 6, human=human)
    (score,) = Correction({}, None, None, 0.95).measure(of).scores
    said = f"only {n_good} of 24 labels differ from the others"
    assert (said in score.warnings) is is_doubted


def test_a_run_whose_labels_all_say_the_same_is_not_corrected():
    of = data(judged=["gbbbb"] * 6, human=["gggg-"] * 6)
    (score,) = Correction({}, None, None, 0.95).measure(of).scores
    assert (score.corrected, score.reason) == (
        None,
        "by people, all 24 labelled items earn the same",
    )
