"""Scores of labelled items that are made by hand: whose items count, and how far bounds go."""

import pytest

from nuggetjudge.programs.protocols.judged_items import ItemScale, LabelledItem, item_rows

SCALE = ItemScale(
    judge="tone",
    inputs=("text",),
    key=("run_id", "topic_id", "item"),
    labels=("rude", "kind"),
    is_ordered=True,
    gains={"rude": 0.25, "kind": 1.0},
    measure="tone",
)


def item(run, topic, number, label):
    return LabelledItem((run, topic, number), label, None)


def scored(items, topics):
    return {(r.run_id, r.topic_id, r.measure): r for r in item_rows(items, SCALE, topics)}


def test_an_item_that_was_not_judged_earns_at_worst_what_the_worst_label_does():
    row = scored([item("a", "t1", "1", "kind"), item("a", "t1", "2", None)], ["t1"])
    assert row["a", "all", "tone"].value == 1.0
    assert row["a", "all", "tone"].low == pytest.approx((1 + 0.25) / 2)
    assert row["a", "all", "tone"].high == 1.0


# A sample of items: that a run has none of a topic says nothing about the run.
def test_a_run_is_scored_over_the_topics_that_it_has_items_of():
    items = [
        item("a", "t1", "1", "kind"),
        item("b", "t1", "1", "kind"),
        item("b", "t2", "1", "rude"),
    ]
    row = scored(items, ["t1", "t2"])["a", "all", "tone"]
    assert (row.value, row.low, row.high) == (1.0, 1.0, 1.0)
    assert (row.n_topics, row.n_answered, row.n_asked) == (1, 1, 2)
    assert scored(items, ["t1", "t2"])["b", "all", "tone"].value == pytest.approx((1 + 0.25) / 2)


def test_a_run_whose_items_are_all_of_other_topics_has_no_score():
    items = [item("a", "t1", "1", "kind"), item("b", "beyond", "1", "kind")]
    assert {run for run, _, _ in scored(items, ["t1"])} == {"a"}
