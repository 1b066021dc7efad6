import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incomplete_ratings import completions, pools_and_contexts

from nuggetjudge.metrics.coverage import answerable, coverage
from nuggetjudge.metrics.required import certain_part, passage_grades, required_subset

NAN = float("nan")

# As in test_coverage: the counts of arXiv:2506.20051, Table 5, in cells of our own.
TABLE_5 = [
    [2, 4, 0, 1, 2, 3, 0, 0, 2, 0],
    [5, 4, 3, 5, 0, 1, 0, 2, 0, 0],
    [0, 0, 0, 3, 5, 4, 3, 0, 1, 0],
    [0, 5, 3, 0, 0, 0, 0, 0, 0, 2],
    [0, 0, 0, 0, 0, 0, 3, 5, 0, 0],
    [1, 0, 2, 0, 0, 0, 0, 0, 2, 1],
]


# Rows 1 and 2 answer four questions each, three of row 2 are new after row 1, and row 4 adds one.
def test_the_papers_example_needs_three_passages():
    taken = required_subset(TABLE_5, range(6))
    assert taken == [1, 2, 4]
    assert coverage(np.array(TABLE_5)[taken], answerable(TABLE_5)).value == 1.0


# Row 0 answers two questions, and P** each of them as well; row 3 one of its two better.
def test_the_papers_example_has_redundant_passages_of_both_kinds():
    assert passage_grades(TABLE_5, [1, 2, 4]) == [1, 3, 3, 2, 3, 0]


@pytest.mark.parametrize(
    ("order", "taken"), [([0, 1, 2], [0, 2]), ([9, 4, 1], [2, 1]), ([2, 0, 1], [1, 2])]
)
def test_of_passages_that_add_as_much_the_first_in_order_is_taken(order, taken):
    assert required_subset([[5, 0], [4, 0], [0, 3]], order) == taken


# Greedy takes the row of four first and needs three; the other two would do.
def test_the_subset_is_the_greedy_one_and_not_the_smallest():
    pool = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 1, 0, 1, 1, 0]]) * 5
    assert required_subset(pool, range(3)) == [2, 0, 1]


def test_nothing_is_required_where_no_answer_is_known():
    for pool in (np.empty((0, 3)), [[2, 0, NAN]]):
        assert required_subset(pool, range(len(pool))) == []


@given(pools_and_contexts(), st.randoms(use_true_random=False))
def test_the_subset_answers_all_that_is_answerable_and_each_passage_adds_to_it(case, rng):
    pool, _, _ = case
    order = rng.sample(range(len(pool)), len(pool))
    taken = required_subset(pool, order)
    seen: set[int] = set()
    gains = []
    for row in taken:
        new = set(np.flatnonzero(pool[row] >= 3)) - seen
        gains.append(len(new))
        seen |= new
    assert seen == set(np.flatnonzero(answerable(pool) == 1))
    assert all(gains)
    assert gains == sorted(gains, reverse=True)


@given(pools_and_contexts())
def test_what_is_certain_of_the_subset_holds_whatever_the_missing_ratings_say(case):
    pool, _, _ = case
    part = certain_part(pool, range(len(pool)))
    n = len(part.taken)
    for full in completions(pool):
        taken = required_subset(full, range(len(pool)))
        assert tuple(taken[:n]) == part.taken
        assert part.least <= len(taken) - n <= part.most
        assert set(taken[n:]) <= set(part.others)
    if not np.isnan(pool).any():
        assert part.is_whole


def test_a_missing_rating_that_can_change_nothing_leaves_the_subset_certain():
    """Whatever it is, the first passage answers as much or more, and all that can be answered."""
    part = certain_part([[5, 5, 0], [NAN, 0, 0]], [0, 1])
    assert (part.taken, part.is_whole) == ((0,), True)
    assert certain_part([[5, 0, 0], [NAN, 5, 0]], [0, 1]).taken == ()  # 1 first if it answers both
    last = certain_part([[5, 5, 0], [0, 0, NAN]], [0, 1])
    assert (last.taken, last.least, last.most, last.others) == ((0,), 0, 1, (1,))


# Differs: the authors' published tool grades these 3, 1, 1, 1. Row 1 is as good as P** on what it
# answers, and row 3 answers nothing.
def test_grades_follow_the_paper_and_not_the_published_tool():
    pool = [[5, 3, 0], [5, 0, 0], [0, 4, 0], [2, 2, 0]]
    assert passage_grades(pool, [0]) == [3, 1, 2, 0]


@pytest.mark.parametrize(
    ("row", "grade"),
    [
        ([NAN, 0, 0], None),  # 0, or 1 or 2
        ([3, NAN, 0], None),  # 1, or 2 if it is a 5 or P** is below it
        ([4, NAN, 0], 2),  # on the first question P** is a 3, so it is 2 anyhow
        ([0, 5, 0], None),  # 1 if P** is a 5 too
        ([0, 3, 0], 1),  # P** is at least a 4 there, by its other row
        ([3, 0, NAN], None),  # perhaps it answers what P** does not
    ],
)
def test_a_grade_that_missing_ratings_could_change_is_none(row, grade):
    assert passage_grades([[3, NAN, 0], [0, 4, 0], row], [0, 1]) == [3, 3, grade]


@given(pools_and_contexts())
def test_a_grade_is_given_where_every_completion_gives_it_and_only_there(case):
    pool, _, _ = case
    taken = required_subset(pool, range(len(pool)))
    grades = passage_grades(pool, taken)
    rest = [i for i in range(len(pool)) if i not in taken]
    possible = {i: set() for i in rest}
    for full in completions(pool, fill=(0.0, 3.0, 5.0)):
        for i in rest:
            try:
                possible[i].add(passage_grades(full[[*taken, i]], range(len(taken)))[-1])
            except ValueError:  # it answers what P** does not
                possible[i].add(None)
    assert {i: grades[i] for i in taken} == dict.fromkeys(taken, 3)
    assert {i: grades[i] for i in rest} == {
        i: min(values) if len(values) == 1 else None for i, values in possible.items()
    }


@given(pools_and_contexts(missing=False))
def test_a_passage_without_answers_is_0_and_one_with_answers_is_not(case):
    pool, _, _ = case
    grades = passage_grades(pool, required_subset(pool, range(len(pool))))
    assert [grade > 0 for grade in grades] == (pool >= 3).any(axis=1).tolist()


def test_arguments_that_do_not_fit_the_pool_are_named():
    pool = [[5, 0], [0, 5]]
    with pytest.raises(ValueError, match="1 numbers in the order of 2 passages"):
        required_subset(pool, [0])
    with pytest.raises(ValueError, match=r"order\[1\] is 7"):
        required_subset(pool, [7, 7])
    with pytest.raises(ValueError, match=r"required\[1\] is 2"):
        passage_grades(pool, [0, 2])
    with pytest.raises(ValueError, match="row 1 answers question 1, which no required row does"):
        passage_grades(pool, [0])
