"""Sliding windows and set-wise heap sort: what is shown together, and what comes out."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.retrieval.rerank.windows import setwise_top, slide


class Perfect:
    """Orders and picks by known relevance, and keeps what it was shown."""

    def __init__(self, relevance):
        self.relevance = relevance
        self.shown = []

    async def order(self, indices):
        self.shown.append(list(indices))
        return sorted(indices, key=lambda index: -self.relevance[index])

    async def best(self, indices):
        self.shown.append(list(indices))
        return max(indices, key=lambda index: self.relevance[index])


def slid(relevance, **options):
    judge = Perfect(relevance)
    return asyncio.run(slide(len(relevance), judge.order, **options)), judge.shown


def picked(relevance, **options):
    judge = Perfect(relevance)
    return asyncio.run(setwise_top(len(relevance), judge.best, **options)), judge.shown


relevances = st.permutations(range(30)).map(lambda order: order[: 1 + order[0]])


def test_windows_run_from_the_back_and_carry_the_best_along():
    # By hand, windows of 4 that move by 2 over 7 candidates, the last of which is the best.
    order, shown = slid([3, 2, 1, 0, 4, 5, 6], window=4, stride=2)
    assert shown == [[3, 4, 5, 6], [1, 2, 6, 5], [0, 6, 5]]
    assert order == [6, 5, 0, 1, 2, 4, 3]


def test_one_window_orders_all_when_they_fit():
    order, shown = slid([1, 5, 3])
    assert (order, len(shown)) == ([1, 2, 0], 1)


@given(relevances, st.integers(2, 12), st.data())
def test_a_pass_brings_the_best_that_a_window_carries_to_the_top(relevance, window, data):
    stride = data.draw(st.integers(1, window))
    order, shown = slid(relevance, window=window, stride=stride)
    assert sorted(order) == list(range(len(relevance)))
    carried = window - stride if len(relevance) > window else len(relevance)
    best = sorted(range(len(relevance)), key=lambda index: -relevance[index])
    assert order[:carried] == best[:carried]
    assert all(2 <= len(indices) <= window for indices in shown)


def test_a_failed_window_may_return_what_it_got():
    async def order(indices):
        return list(indices) if 6 in indices and 3 in indices else sorted(indices, reverse=True)

    result = asyncio.run(slide(7, order, window=4, stride=2))
    assert result == [4, 3, 0, 2, 1, 5, 6]  # the windows: 3 4 5 6 (failed), 1 2 3 4, 0 4 3


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_is_asked_about_fewer_than_two(n):
    assert slid(list(range(n))) == (list(range(n)), [])
    assert picked(list(range(n))) == (list(range(n)), [])


@pytest.mark.parametrize("wrong", [[0, 1], [0, 1, 1], [0, 1, 3], [0, 1, 2, 2]])
def test_other_places_than_asked_are_refused(wrong):
    async def order(indices):
        return wrong

    with pytest.raises(ValueError, match="wanted the same positions"):
        asyncio.run(slide(3, order))

    async def best(indices):
        return 7

    with pytest.raises(ValueError, match="chose 7, wanted one of"):
        asyncio.run(setwise_top(3, best))


@pytest.mark.parametrize("options", [{"window": 1}, {"stride": 0}, {"stride": 21}], ids=str)
def test_windows_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match="wanted n >= 0, window >= 2"):
        slid([1, 2], **options)


@pytest.mark.parametrize("options", [{"top": 0}, {"size": 1}], ids=str)
def test_sets_that_cannot_be_are_refused(options):
    with pytest.raises(ValueError, match="wanted n >= 0, top >= 1 and size >= 2"):
        picked([1, 2], **options)


def test_the_heap_is_built_from_its_last_parent_down():
    # By hand, sets of 3: a parent and two children. Building: 4 rises over 1, then over 0, and 1
    # over 0 below it. Taking 4 puts 0 on top: 1 rises over it, then 3.
    order, shown = picked([0, 3, 2, 1, 4], top=2, size=3)
    assert shown == [[1, 3, 4], [0, 4, 2], [0, 3, 1], [0, 1, 2], [0, 3]]
    assert order == [4, 1, 0, 2, 3]


@given(relevances, st.integers(1, 12), st.integers(2, 6))
def test_the_top_is_the_best_in_order_and_the_others_stay_as_they_stood(relevance, top, size):
    order, shown = picked(relevance, top=top, size=size)
    best = sorted(range(len(relevance)), key=lambda index: -relevance[index])[:top]
    rest = [index for index in range(len(relevance)) if index not in best]
    assert order == best + rest
    assert all(2 <= len(indices) <= size for indices in shown)
    assert all(len(set(indices)) == len(indices) for indices in shown)


def test_where_every_set_fails_the_order_stays():
    async def smallest(indices):
        return min(indices)

    assert asyncio.run(setwise_top(50, smallest)) == list(range(50))
