"""Whoever decides sees labels without names, in an order that says nothing."""

from collections import Counter

from nuggetjudge.plugins.annotate.store.events import Label
from nuggetjudge.plugins.annotate.store.state import State
from nuggetjudge.plugins.annotate.work.disputes import JUDGE, disputes, majority

from .conftest import made_task


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
            0: ("none", post),
            1: ("none", {"repeat": 1}),
            2: ("none", post | {"is_control": True}),
            3: ("none", post | {"is_control": True}),
            4: "none",
        },
        dan={4: "partial"},
    )
    assert disputes(task, given, "dan") == []
    assert disputes(task, given, "dan", condition="post_edit") == []
    assert [one.n for one in disputes(task, given, "eve")] == [4]


def test_a_majority_is_more_than_half_of_those_who_can_tell():
    assert majority(["a", "a", "b"]) == "a"
    assert majority(["a", "b"]) is None
    assert majority(["a", None, None]) == "a"
    assert majority([None]) is None
