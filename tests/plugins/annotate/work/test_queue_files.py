"""A queue is made once: a restart, new labels and export find the same one."""

from collections import Counter

import pytest

from nuggetjudge.plugins.annotate.store.events import Label
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.plugins.annotate.work.plan import Plan
from nuggetjudge.plugins.annotate.work.queue_files import (
    load_queue,
    queue_path,
    queues_in,
    read_queue,
)
from nuggetjudge.records.reading.problems import InputError

from .conftest import SIZES, made_task


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
    with pytest.raises(InputError, match=r"ann\.support.*made with --seed 0, not 3; give it again"):
        load_queue(tmp_path, task, "ann", Plan(n=10, seed=3))
    with pytest.raises(InputError, match="made with --queue random, not next"):
        load_queue(tmp_path, task, "ann", Plan(n=10, how="next"))
    load_queue(tmp_path, task, "ann", Plan(n=10, random_share=0.1))  # which random ones have not
    path = queue_path(tmp_path, "ann", "support", "from_scratch")
    text = path.read_text("utf-8")
    path.write_text(text.replace('"fingerprint":"f"', '"fingerprint":"g"'), encoding="utf-8")
    with pytest.raises(InputError, match="made for other results; name another --dir"):
        load_queue(tmp_path, task, "ann", Plan(n=10))
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="is not in the results any more"):
        load_queue(tmp_path, made_task({"t9": 40}), "ann", Plan(n=10))


def test_a_line_that_is_no_place_is_named(tmp_path, task):
    load_queue(tmp_path, task, "ann", Plan(n=10))
    path = queue_path(tmp_path, "ann", "support", "from_scratch")
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join([*lines[:3], "{}"]), encoding="utf-8")
    with pytest.raises(InputError, match=r"queue\.jsonl:4: no place of a queue"):
        read_queue(path)


@pytest.mark.parametrize("name", ["../ann", "", ".ann", "a b", "a" * 41])
def test_a_name_that_is_none_makes_no_file(tmp_path, task, name):
    with pytest.raises(InputError, match="annotator"):
        load_queue(tmp_path, task, name, Plan())
    assert list(tmp_path.iterdir()) == []
