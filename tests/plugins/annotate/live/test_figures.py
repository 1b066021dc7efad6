"""What the coordinator sees is what the commands print of the same labels, and more."""

import csv

import pytest

from nuggetjudge.metrics.label_agreement import cohen_kappas
from nuggetjudge.plugins.annotate.live.figures import figures
from nuggetjudge.plugins.annotate.live.random_labels import random_labels
from nuggetjudge.plugins.annotate.live.settings import LiveSettings
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.programs.scoring.corrected import correct_scores
from nuggetjudge.records.reading.problems import Problems

ASKED = LiveSettings("nuggets")


def by_name(shown):
    return {(one["run"], one["measure"]): one for one in shown["measures"]}


def file_of(folder, labels, names=("topic_id", "run_id", "nugget_id")):
    path = folder / "human.csv"
    with path.open("w", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow([*names, "label"])
        rows.writerows([*cell, label] for cell, label in labels.items())
    return path


def test_corrected_scores_are_those_of_judge_score(world, tmp_path):
    state = world.labelled(120)
    by_measure = by_name(figures(world.judged(), {"ann": state}, ASKED))
    labels = file_of(tmp_path, {cell: world.human[cell] for cell in world.order[:120]})
    printed = correct_scores(world.path, labels, Problems(), half_width=0.05)
    assert len(printed.scores) == 18
    for score in printed.scores:
        live = by_measure[score.run_id, score.measure]
        assert live["judged"] == score.judged
        assert live["corrected"] == score.corrected.value
        bounds = score.corrected.of_these
        assert live["fixed"] == (bounds.low, bounds.high)
        still = max(score.needed.of_these - score.n_labels, 0)
        assert live["needed"]["of_these"] == pytest.approx(still * 120 / score.n_labels, abs=1)


def test_the_mean_of_all_runs_has_the_narrowest_interval(world):
    state = world.labelled(120)
    by_measure = by_name(figures(world.judged(), {"ann": state}, ASKED))
    runs = [by_measure[run, "A"] for run in ("one", "two", "three")]
    every = by_measure["all", "A"]
    assert every["judged"] == pytest.approx(sum(one["judged"] for one in runs) / 3)
    assert every["n_labels"] == sum(one["n_labels"] for one in runs) == 120
    for name in ("sequence", "fixed"):
        widths = [one[name][1] - one[name][0] for one in (every, *runs)]
        assert widths[0] < min(widths[1:])
        assert every["sequence"][0] < every["fixed"][0] < every["fixed"][1] < every["sequence"][1]


def test_with_all_labels_both_intervals_are_the_score_by_people(world):
    state = world.labelled(len(world.order))
    by_measure = by_name(figures(world.judged(), {"ann": state}, ASKED))
    gains = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}
    for run in ("one", "two", "three"):
        own = [gains[label] for cell, label in world.human.items() if cell[1] == run]
        truth = sum(own) / len(own)  # all topics have as many nuggets
        assert by_measure[run, "A"]["corrected"] == pytest.approx(truth)
        assert by_measure[run, "A"]["sequence"] == pytest.approx((truth, truth))
        assert by_measure[run, "A"]["needed"]["of_these"] == 0


def test_a_sequence_stands_before_scores_can_be_corrected(world):
    row = by_name(figures(world.judged(), {"ann": world.labelled(15)}, ASKED))["one", "A"]
    assert row["corrected"] is None
    assert "labels, wanted 20 or more" in row["reason"]
    assert 0 <= row["sequence"][0] < row["sequence"][1] <= 1


def test_labels_that_were_no_draw_are_counted_and_left_out(world):
    state = world.labelled(60)
    before = figures(world.judged(), {"ann": state}, ASKED)
    for n, cell in enumerate(world.order[60:90]):
        wrong = "support" if world.human[cell] == "not_support" else "not_support"
        if n < 15:
            world.label(state, cell, wrong, chosen_by="margin", probability=None)
        elif n < 20:
            world.label(state, cell, wrong, repeat=1)
        elif n < 25:
            world.label(state, cell, wrong, is_control=True, shown=wrong)
        else:
            world.label(state, cell, wrong, condition="post_edit", shown=wrong)
    after = figures(world.judged(), {"ann": state}, ASKED)
    assert after["measures"] == before["measures"]
    assert after["agreement"] == before["agreement"]
    assert (before["n_not_random"], after["n_not_random"]) == (0, 15)


def test_who_cannot_tell_scores_nothing_but_widens_the_sequence(world):
    decided, open_ones = world.labelled(120), State()
    for n, cell in enumerate(world.order[:120]):
        world.label(open_ones, cell, None if n % 10 == 0 else ..., at=n)
    full, partial = (
        by_name(figures(world.judged(), {"ann": state}, ASKED))["all", "A"]
        for state in (decided, open_ones)
    )
    assert (full["n_labels"], partial["n_labels"]) == (120, 108)
    widths = [one["sequence"][1] - one["sequence"][0] for one in (full, partial)]
    assert widths[1] > widths[0] + 0.5 * 12 / len(world.order)


def test_what_is_skipped_keeps_its_place_in_the_draw(world):
    state = State()
    one, other, third = world.order[:3]
    world.skip(state, one, at=1)
    world.label(state, other, at=2)
    world.skip(state, third, at=3)
    world.label(state, one, at=4)
    given = random_labels({"ann": state}, "nuggets", "from_scratch")
    assert list(given.labels) == [one, other, third]
    assert given.labels[one] == world.human[one]
    assert given.labels[third] is None


def test_of_two_people_the_first_counts_until_there_is_a_verdict(world):
    ann, bob = State(), State()
    cell = world.order[0]
    world.label(bob, cell, "not_support", at=5)
    world.label(ann, cell, "support", at=9)
    states = {"ann": ann, "bob": bob}
    given = random_labels(states, "nuggets", "from_scratch")
    assert (given.labels, given.n_disputed) == ({cell: "not_support"}, 1)
    world.verdict(bob, cell, "support", condition="post_edit")
    assert random_labels(states, "nuggets", "from_scratch") == given  # of other labels
    world.verdict(ann, cell, "partial_support")
    given = random_labels(states, "nuggets", "from_scratch")
    assert (given.labels, given.n_disputed) == ({cell: "partial_support"}, 0)


def test_kappa_stands_beside_the_ceiling(world):
    ann, bob = State(), State()
    for n, cell in enumerate(world.order[:80]):
        world.label(ann, cell)
        if n < 40:
            world.label(bob, cell, "support" if n % 8 == 0 else ...)
    judged = world.judged()
    agreement = figures(judged, {"ann": ann, "bob": bob}, ASKED)["agreement"]
    people = [world.human[cell] for cell in world.order[:80]]
    judge = [judged.items.labels[judged.index[cell]] for cell in world.order[:80]]
    others = ["support" if n % 8 == 0 else label for n, label in enumerate(people[:40])]
    for name, pair, n in (("kappa", (people, judge), 80), ("ceiling", (people[:40], others), 40)):
        exact = cohen_kappas(*pair, judged.items.scale)["quadratic"]
        assert agreement[name]["value"] == pytest.approx(exact)
        assert agreement[name]["n"] == n
        assert agreement[name]["lo"] < exact < agreement[name]["hi"]


def test_alone_there_is_no_ceiling(world):
    agreement = figures(world.judged(), {"ann": world.labelled(30)}, ASKED)["agreement"]
    assert agreement["ceiling"] == {"value": None, "lo": None, "hi": None, "n": 0}


def test_speed_is_of_the_time_that_people_were_at_it(world):
    ann, bob = world.labelled(10), State()
    world.label(bob, world.order[10], active_ms=12_000)
    world.label(bob, world.order[11], None, active_ms=0)
    shown = figures(world.judged(), {"ann": ann, "bob": bob}, ASKED)
    assert [one["per_hour"] for one in shown["people"]] == [600.0, 300.0]
    assert [one["cannot_tell"] for one in shown["people"]] == [0, 1]
    assert shown["cost"]["seconds_per_label"] == pytest.approx(72 / 11)


def test_without_labels_or_scores_it_says_why():
    shown = figures(None, {"ann": State()}, LiveSettings("bank"))
    assert (shown["measures"], shown["reason"]) == ([], "labels of bank do not give a score")


def test_before_the_first_label_it_says_so(world):
    shown = figures(world.judged(), {"ann": State()}, ASKED)
    assert shown["measures"] == []
    assert shown["reason"] == "no randomly drawn item has a label yet"
