"""A queue is a fair draw whose chances are known, with repeats, controls and a shared part."""

import json
from collections import Counter

import pytest

from nuggetjudge.plugins.annotate.store.events import Label
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.plugins.annotate.work.plan import GAP, Plan
from nuggetjudge.plugins.annotate.work.queue import make_queue
from nuggetjudge.plugins.annotate.work.task import read_task
from nuggetjudge.records.reading.problems import InputError, Problems

from .conftest import SIZES, made_task

DRAWS = 150


def firsts(queue):
    return [entry for entry in queue if not entry.repeat]


def cells(queue):
    return {entry.cell for entry in queue}


def label(cell, value="none", n=0, **more):
    return Label(id=f"label-{n:>04}-{hash(cell)}", kind="support", cell=cell, label=value, **more)


def state_of(*events):
    state = State()
    for event in events:
        state.add(event)
    return state


def test_each_item_is_given_as_often_as_its_probability_says(task):
    # ann draws 9 of 32 (10 places, too few for a repeat), bob 9 others but for the shared 3.
    plan = {"n": 10, "overlap": 0.3}
    given, expected = Counter(), Counter()
    for seed in range(DRAWS):
        ann = make_queue(task, "ann", Plan(seed=seed, **plan))
        bob = make_queue(task, "bob", Plan(seed=seed, **plan), others=[ann])
        by_topic = {entry.cell[0]: entry.probability for entry in bob}
        assert all(
            p == Counter(cell[0] for cell in cells(bob))[t] / SIZES[t] for t, p in by_topic.items()
        )
        given.update(cells(bob))
        for cell in task.cells:
            expected[cell] += by_topic.get(cell[0], 0.0)
    for cell in task.cells:
        p = expected[cell] / DRAWS
        assert abs(given[cell] / DRAWS - p) < 4.5 * (p * (1 - p) / DRAWS) ** 0.5 + 1e-9
    assert given.total() == pytest.approx(sum(expected.values()))


def test_a_queue_that_grows_is_as_fair_as_one_that_was_long_from_the_start(task):
    given, expected = Counter(), Counter()
    for seed in range(DRAWS):
        short = make_queue(task, "ann", Plan(n=8, seed=seed))
        long = make_queue(task, "ann", Plan(n=10, seed=seed), earlier=short)
        assert [entry.cell for entry in long[:8]] == [entry.cell for entry in short]
        by_topic = {entry.cell[0]: entry.probability for entry in long}
        given.update(cells(long))
        expected.update({cell: by_topic.get(cell[0], 0.0) for cell in task.cells})
    for cell in task.cells:
        p = expected[cell] / DRAWS
        assert abs(given[cell] / DRAWS - p) < 4.5 * (p * (1 - p) / DRAWS) ** 0.5 + 1e-9


def test_all_get_the_shared_items_first_and_different_ones_after(task):
    plan = Plan(n=15, overlap=0.2)
    ann = make_queue(task, "ann", plan)
    bob = make_queue(task, "bob", plan, others=[ann])
    shared = {entry.cell for entry in ann[:3]}
    assert shared == {entry.cell for entry in firsts(bob)[:3]} == cells(ann) & cells(bob)
    assert {entry.cell for entry in ann if entry.is_shared} == shared
    assert len(cells(ann) | cells(bob)) == 2 * 14 - 3  # and a repeat each
    assert [e.cell for e in ann[3:]] != [e.cell for e in bob[3:]]


def test_topics_take_turns_so_that_a_queue_left_early_has_all_of_them():
    queue = make_queue(made_task({"t1": 50, "t2": 50, "t3": 50}), "ann", Plan(overlap=0))
    entries = firsts(queue)
    for start in range(0, 150, 30):
        topics = [entry.cell[0] for entry in entries[start : start + 30]]
        assert Counter(topics) == {"t1": 10, "t2": 10, "t3": 10}
        assert len(set(topics[:10])) == 1  # and are not mixed


def test_one_in_twenty_comes_again_ten_places_later_at_least():
    for seed in range(20):
        queue = make_queue(made_task({"t1": 60, "t2": 60}), "ann", Plan(n=100, seed=seed))
        assert len(queue) == 100
        again = [(at, entry) for at, entry in enumerate(queue) if entry.repeat]
        assert len(again) == 5
        for at, entry in again:
            first = next(i for i, e in enumerate(queue) if e.cell == entry.cell and not e.repeat)
            assert at - first >= GAP
            assert entry.repeat == 1
        assert len(cells(queue)) == 95


@pytest.mark.parametrize(("n", "n_items"), [(1, 1), (10, 10), (12, 12), (32, 32), (500, 34)])
def test_n_bounds_the_places(task, n, n_items):
    assert len(make_queue(task, "ann", Plan(n=n))) == n_items
    assert len(cells(make_queue(task, "ann", Plan(n=n)))) <= 32


def test_without_n_everything_is_asked_with_probability_one(task):
    queue = make_queue(task, "ann", Plan())
    assert cells(queue) == set(task.cells)
    assert {entry.probability for entry in queue} == {1.0}


def test_post_edited_items_show_the_judges_label_and_one_in_twenty_another(task):
    sizes = {"t1": 100, "t2": 100}
    queue = make_queue(made_task(sizes), "ann", Plan(condition="post_edit"))
    controls = [entry for entry in queue if entry.is_control]
    assert len(controls) == 10
    assert {entry.shown for entry in controls} == {"partial", "full"}
    assert {entry.shown for entry in queue if not entry.is_control} == {"none"}
    again = {entry.cell for entry in queue if entry.repeat}
    assert not again & {entry.cell for entry in controls}
    plain = make_queue(made_task(sizes), "ann", Plan())
    assert {(entry.shown, entry.is_control) for entry in plain} == {(None, False)}


def test_what_a_person_labelled_or_has_under_the_other_condition_is_not_asked(task):
    labelled = state_of(*(label(cell, n=i) for i, cell in enumerate(task.cells[:5])))
    barred = list(task.cells[5:9])
    queue = make_queue(task, "ann", Plan(), state=labelled, barred=barred)
    assert cells(queue) == set(task.cells[9:])
    everything = state_of(*(label(cell, n=i) for i, cell in enumerate(task.cells)))
    with pytest.raises(InputError, match="all 32 items are labelled"):
        make_queue(task, "ann", Plan(), state=everything)


def test_another_seed_name_kind_or_condition_is_another_order(task):
    orders = [
        tuple(entry.cell for entry in firsts(make_queue(task, name, Plan(**plan))))
        for name, plan in (
            ("ann", {}),
            ("bob", {}),
            ("ann", {"seed": 1}),
            ("ann", {"condition": "post_edit"}),
        )
    ]
    assert len(set(orders)) == len(orders)
    assert orders[0] == tuple(entry.cell for entry in firsts(make_queue(task, "ann", Plan())))


@pytest.fixture
def judged(tmp_path):
    """12 topics x 4 nuggets; the judge is nearly undecided on the first nugget of each."""
    rows = [
        {
            "topic_id": f"t{t}",
            "run_id": "r",
            "nugget_id": f"n{n}",
            "label": "support" if n % 2 else "not_support",
            "probabilities": {"support": p, "not_support": 1 - p},
        }
        for t in range(12)
        for n, p in enumerate((0.49, 0.99, 0.01, 0.98))
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_what_a_label_would_tell_most_of_is_chosen_beside_a_fair_draw(judged):
    task = read_task([judged], "nuggets", Problems())
    plan = Plan(how="next", n=20, random_share=0.5)
    queue = make_queue(task, "ann", plan)
    by = Counter(entry.chosen_by for entry in firsts(queue))
    assert by["random"] == 10
    assert by["margin"] == 9
    assert all(e.cell[2] == "n0" for e in firsts(queue) if e.chosen_by == "margin")
    assert all((e.probability is None) == (e.chosen_by != "random") for e in queue)
    bob = make_queue(task, "bob", plan, others=[queue])
    mine, theirs = ({e.cell for e in q if e.chosen_by == "margin"} for q in (queue, bob))
    assert not mine & theirs


def test_what_was_chosen_is_drawn_as_often_as_anything_else(judged):
    # Of a topic's 4 nuggets the first is always wanted; growing must not keep it out of the draw.
    task = read_task([judged], "nuggets", Problems())
    drawn = Counter()
    for seed in range(40):
        plan = {"how": "next", "random_share": 0.2, "overlap": 0, "seed": seed}
        short = make_queue(task, "ann", Plan(n=10, **plan))
        assert sum(entry.chosen_by == "margin" for entry in short) == 8
        long = make_queue(task, "ann", Plan(n=40, **plan), earlier=short)
        drawn.update(e.cell[2] for e in firsts(long) if e.chosen_by == "random")
    rate = drawn["n0"] / drawn.total()
    assert abs(rate - 0.25) < 4.5 * (0.25 * 0.75 / drawn.total()) ** 0.5


@pytest.mark.parametrize(
    ("plan", "what"),
    [
        ({"n": 0}, "--n 0"),
        ({"overlap": 1.5}, "--overlap 1.5: wanted 0 to 1"),
        ({"random_share": -1}, "--random-share -1"),
        ({"seed": -1}, "--seed -1"),
    ],
)
def test_a_plan_out_of_range_is_refused_in_words(task, plan, what):
    with pytest.raises(InputError, match=what):
        make_queue(task, "ann", Plan(**plan))
