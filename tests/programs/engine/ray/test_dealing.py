"""Items are dealt lazily, each once, and equal questions to one worker."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.programs.engine.ray.dealing import MOST_BOUND, Deal
from nuggetjudge.programs.engine.stage import Item, Pending


def pending(number, text):
    return Pending(number, number, Item((str(number),), (text,)))


def dealt(deal, turns):
    """(worker, item) pairs, as workers take turns to take so many."""
    pairs = []
    while not deal.is_over:
        for worker, most in turns:
            pairs += [(worker, each) for each in deal.take(worker, most)]
    return pairs


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(1, 4), min_size=1, max_size=4))
def test_each_item_is_dealt_once_and_equal_payloads_to_one_worker(texts, sizes):
    left = iter([each for n, text in enumerate(texts) for each in (None, pending(n, text))])
    pairs = dealt(Deal(left), list(enumerate(sizes)))
    assert Counter(each.number for _, each in pairs) == Counter(range(len(texts)))
    owners = {(each.item.payload, worker) for worker, each in pairs}
    assert len(owners) == len(set(texts))


def test_items_are_taken_as_they_are_needed():
    left = (pending(n, n) for n in range(10**9))
    deal = Deal(left)
    assert [len(deal.take(worker, 3)) for worker in (0, 1)] == [3, 3]
    assert next(left).number == 6


def test_few_items_wait_for_one_worker_though_all_are_its_own():
    left = (pending(n, "the same") for n in range(10**9))
    deal = Deal(left)
    deal.take(0, 1)
    assert deal.take(1, 5) == []
    assert not deal.has_more(1)
    assert deal.has_more(0)
    assert next(left).number == MOST_BOUND + 1


def test_others_take_what_a_worker_that_is_gone_held_and_what_waited_for_it():
    deal = Deal(iter([pending(0, "a"), pending(1, "a"), pending(2, "b"), pending(3, "a")]))
    taken = deal.take(0, 1)
    assert [each.number for each in deal.take(1, 1)] == [2]
    deal.give_back(0, taken)
    assert {each.number for each in deal.take(1, 5)} == {0, 1, 3}
    assert deal.take(1, 5) == []
    assert deal.is_over
