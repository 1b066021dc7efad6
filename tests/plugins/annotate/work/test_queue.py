"""A queue is a fair draw whose chances are known, with repeats, controls and a shared part."""

import json
import time
from collections import Counter

import pytest
from json_lines import write_rows

from nuggetjudge.plugins.annotate.store.events import Label
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.plugins.annotate.work.disputes import JUDGE, disputes, majority
from nuggetjudge.plugins.annotate.work.plan import GAP, Plan
from nuggetjudge.plugins.annotate.work.queue import make_queue
from nuggetjudge.plugins.annotate.work.queue_files import (
    load_queue,
    queue_path,
    queues_in,
    read_queue,
)
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
    with pytest.raises(InputError, match="has labelled all 32 items"):
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
            "topic_id": f"t{t}", "run_id": "r", "nugget_id": f"n{n}",
            "label": "support" if n % 2 else "not_support",
            "probabilities": {"support": p, "not_support": 1 - p},
        }
        for t in range(12)
        for n, p in enumerate((0.49, 0.99, 0.01, 0.98))
    ]  # fmt: skip
    path = tmp_path / "labels.jsonl"
    write_rows(path, rows)
    return path


def test_what_a_label_would_tell_most_of_is_chosen_beside_a_fair_draw(judged):
    task = read_task([judged], "nuggets", Problems())
    plan = Plan(how="next", n=20, random_share=0.5)
    queue = make_queue(task, "ann", plan)
    by = Counter(entry.chosen_by for entry in firsts(queue))
    assert by["random"] == 10
    assert by["entropy"] == 9
    assert all(e.cell[2] == "n0" for e in firsts(queue) if e.chosen_by == "entropy")
    assert all((e.probability is None) == (e.chosen_by != "random") for e in queue)
    bob = make_queue(task, "bob", plan, others=[queue])
    mine, theirs = ({e.cell for e in q if e.chosen_by == "entropy"} for q in (queue, bob))
    assert not mine & theirs


def test_what_was_chosen_is_drawn_as_often_as_anything_else(judged):
    # Of a topic's 4 nuggets the first is always wanted; growing must not keep it out of the draw.
    task = read_task([judged], "nuggets", Problems())
    drawn = Counter()
    for seed in range(40):
        plan = {"how": "next", "random_share": 0.2, "overlap": 0, "seed": seed}
        short = make_queue(task, "ann", Plan(n=10, **plan))
        assert sum(entry.chosen_by == "entropy" for entry in short) == 8
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


# A queue is made once: a restart, new labels and export find the same one.
def labelled(cells):
    state = State()
    for i, cell in enumerate(cells):
        state.add(Label(id=f"label-{i:>04}", kind="support", cell=cell, label="full"))
    return state


@pytest.mark.parametrize("condition", ["from_scratch", "post_edit"])
def test_a_restart_finds_the_same_queue_though_labels_were_added(tmp_path, task, condition):
    plan = Plan(n=20, condition=condition)
    first = load_queue(tmp_path, task, "ann", plan)
    state = labelled([entry.cell for entry in first[:7]])
    assert load_queue(tmp_path, task, "ann", plan, state) == first
    (stored,) = queues_in(tmp_path)
    assert (stored.made.annotator, stored.made.plan, stored.entries) == ("ann", plan, first)


def test_more_places_come_behind_those_there_are_and_their_chances_grow(tmp_path, task):
    short = load_queue(tmp_path, task, "ann", Plan(n=10))
    long = load_queue(tmp_path, task, "ann", Plan(n=30))
    assert [e.cell for e in long[:10]] == [e.cell for e in short]
    assert len(long) == 30
    for topic, n in Counter(e.cell[0] for e in long if not e.repeat).items():
        assert {e.probability for e in long if e.cell[0] == topic} == {n / SIZES[topic]}
    assert load_queue(tmp_path, task, "ann", Plan(n=10)) == long[:10]
    assert load_queue(tmp_path, task, "ann", Plan(n=30)) == long
    assert {e.cell for e in load_queue(tmp_path, task, "ann", Plan())} == set(task.cells)


def test_people_of_one_folder_share_the_common_part_alone(tmp_path, task):
    queues = [load_queue(tmp_path, task, name, Plan(n=10)) for name in ("ann", "bob", "cat")]
    given = Counter(entry.cell for queue in queues for entry in queue)
    assert sorted(given.values()) == [1] * 27 + [3]


def test_one_person_never_gets_an_item_under_both_conditions(tmp_path, task):
    one = load_queue(tmp_path, task, "ann", Plan(n=12))
    other = load_queue(tmp_path, task, "ann", Plan(n=12, condition="post_edit"))
    more = load_queue(tmp_path, task, "ann", Plan(n=20))
    everything = [{entry.cell for entry in queue} for queue in (more, other)]
    assert {entry.cell for entry in one} <= everything[0]
    assert not everything[0] & everything[1]
    bob = load_queue(tmp_path, task, "bob", Plan(condition="post_edit"))
    assert {entry.cell for entry in bob} == set(task.cells)  # it is nothing to others


def test_a_queue_of_other_results_or_another_plan_is_not_taken(tmp_path, task):
    load_queue(tmp_path, task, "ann", Plan(n=10))
    with pytest.raises(InputError, match=r"ann\.support.*made with --seed 0, not 3; use the"):
        load_queue(tmp_path, task, "ann", Plan(n=10, seed=3))
    with pytest.raises(InputError, match="made with --queue random, not next"):
        load_queue(tmp_path, task, "ann", Plan(n=10, how="next"))
    load_queue(tmp_path, task, "ann", Plan(n=10, random_share=0.1))  # which random ones have not
    path = queue_path(tmp_path, "ann", "support", "from_scratch")
    text = path.read_text("utf-8")
    path.write_text(text.replace('"fingerprint":"f"', '"fingerprint":"g"'), encoding="utf-8")
    with pytest.raises(InputError, match="made for other results; choose another --dir"):
        load_queue(tmp_path, task, "ann", Plan(n=10))
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is no longer in the results"):
        load_queue(tmp_path, made_task({"t9": 40}), "ann", Plan(n=10))


def test_a_line_that_is_no_place_is_named(tmp_path, task):
    load_queue(tmp_path, task, "ann", Plan(n=10))
    path = queue_path(tmp_path, "ann", "support", "from_scratch")
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:3], "{}"]), encoding="utf-8")
    with pytest.raises(InputError, match=r"queue\.jsonl:4: not an entry of a queue"):
        read_queue(path)


@pytest.mark.parametrize("name", ["../ann", "", ".ann", "a b", "a" * 41])
def test_a_name_that_is_none_makes_no_file(tmp_path, task, name):
    with pytest.raises(InputError, match="annotator"):
        load_queue(tmp_path, task, name, Plan())
    assert list(tmp_path.iterdir()) == []


# Whoever decides sees labels without names, in an order that says nothing.
def states(**given):
    """By name, {index of a cell: label}; a tuple is a label and what else the event says."""
    task = made_task()
    by_person = {}
    for name, labels in given.items():
        by_person[name] = State()
        for i, answer in labels.items():
            value, more = answer if isinstance(answer, tuple) else (answer, {})
            event = Label(id=f"{name}-label-{i}", kind="support", cell=task.cells[i], label=value)
            by_person[name].add(event.model_copy(update=more))
    return by_person


def test_items_without_a_majority_are_disputes_and_with_the_judge_those_against_it(task):
    given = states(
        ann={0: "none", 1: "full", 2: "none", 3: "full", 4: "none", 5: None, 6: "none"},
        bob={0: "none", 1: "none", 2: "full", 3: "full", 4: None, 5: None, 6: "full"},
        cat={0: "none", 2: "full", 6: "partial"},
    )
    # 1: full/none; 6: three labels. 2 and 3: most say full, the judge none. 5: nobody can tell.
    assert sorted(one.n for one in disputes(task, given, "dan")) == [1, 6]
    assert sorted(one.n for one in disputes(task, given, "dan", against_judge=True)) == [1, 2, 3, 6]


def test_no_name_is_shown_and_letters_say_nothing_of_who_it_is(task):
    given = states(ann=dict.fromkeys(range(30), "full"), bob=dict.fromkeys(range(30), "none"))
    queue = disputes(task, given, "dan", against_judge=True)
    assert len(queue) == 30
    assert all({"ann", "bob", JUDGE} == set(one.order) for one in queue)
    for one in queue:
        assert [source["letter"] for source in one.hide_names()] == ["A", "B", "C"]
        assert "ann" not in str(one.hide_names())
        assert "@" not in str(one.hide_names())
    first = Counter(one.order[0] for one in queue)
    assert all(first[name] >= 3 for name in ("ann", "bob", JUDGE))  # of 10 each, expected
    assert disputes(task, given, "dan", against_judge=True) == queue
    assert [one.n for one in disputes(task, given, "eve")] != [one.n for one in queue]


def test_the_judge_has_no_voice_unless_it_is_asked_for(task):
    """Its label beside those of people would sway the verdict, which counts as people's."""
    given = states(ann={0: "full", 1: "none"}, bob={0: "none", 1: "full"})
    assert all({*one.order} == {"ann", "bob"} for one in disputes(task, given, "dan"))
    shown = disputes(task, given, "dan", against_judge=True)
    assert all({*one.order} == {"ann", "bob", JUDGE} for one in shown)


def test_a_dispute_keeps_its_number_and_place_when_others_come(task):
    few = disputes(task, states(ann={3: "full", 9: "full"}, bob={3: "none", 9: "none"}), "dan")
    every = dict.fromkeys(range(20), "full")
    many = disputes(task, states(ann=every, bob=dict.fromkeys(every, "none")), "dan")
    numbers = [one.n for one in many]
    assert [n for n in numbers if n in (3, 9)] == [one.n for one in few]


def test_conditions_repeats_controls_and_ones_own_items_are_left_out(task):
    post = {"condition": "post_edit"}
    given = states(
        ann={0: "full", 1: "full", 2: "full", 3: ("full", post), 4: "full"},
        bob={
            0: ("none", post), 1: ("none", {"repeat": 1}),
            2: ("none", post | {"is_control": True}), 3: ("none", post | {"is_control": True}),
            4: "none",
        },
        dan={4: "partial"},
    )  # fmt: skip
    assert disputes(task, given, "dan") == []
    assert disputes(task, given, "dan", condition="post_edit") == []
    assert [one.n for one in disputes(task, given, "eve")] == [4]


def test_a_majority_is_more_than_half_of_those_who_can_tell():
    assert majority(["a", "a", "b"]) == "a"
    assert majority(["a", "b"]) is None
    assert majority(["a", None, None]) == "a"
    assert majority([None]) is None


# Of a large run the first item is there before anybody waits.
RUNS, TOPICS, NUGGETS = 45, 21, 20  # 18,900 cells


@pytest.mark.slow
def test_of_18_900_items_the_first_is_shown_in_time(tmp_path):
    path = tmp_path / "assignments.jsonl"
    labels = ("support", "partial_support", "not_support")
    with path.open("w", encoding="utf-8") as stream:
        for topic in range(TOPICS):
            for run in range(RUNS):
                nuggets = [
                    {"id": f"n{i}", "text": f"fact {i} " * 6, "importance": "vital"}
                    | {"assignment": labels[(run + i) % 3]}
                    for i in range(NUGGETS)
                ]
                row = {"qid": f"t{topic}", "query": "why", "run_id": f"r{run}", "nuggets": nuggets}
                text = f"answer of {run} " * 130
                stream.write(json.dumps(row | {"answer_text": text, "response_length": 390}) + "\n")
    start = time.process_time()
    task = read_task([path], "nuggets", Problems())
    queue = load_queue(tmp_path, task, "ann", Plan())
    assert len(task.cells) == 18_900
    task.expect(entry.cell for entry in queue)
    assert [text.of for text in task.show_texts(queue[0].cell)] == ["question", "answer", "nugget"]
    assert time.process_time() - start < 2 * 2  # 2 s, doubled for load
    start = time.process_time()
    for entry in queue[:500]:
        task.show_texts(entry.cell)
    assert time.process_time() - start < 2 * 0.05
    assert load_queue(tmp_path, task, "ann", Plan()) == queue
