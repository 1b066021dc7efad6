"""What is dealt to Ray workers, and what they may spend."""

import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget, Seen, Usage
from nuggetjudge.plugins.ray.sharing import MAX_BOUND, Deal, Leases
from nuggetjudge.programs.engine.stage import Item, Pending
from nuggetjudge.records.judgements import Reason, Unjudged
from nuggetjudge.records.reading.problems import InputError


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
    assert next(left).number == MAX_BOUND + 1


def test_others_take_what_a_worker_that_is_gone_held_and_what_waited_for_it():
    deal = Deal(iter([pending(0, "a"), pending(1, "a"), pending(2, "b"), pending(3, "a")]))
    taken = deal.take(0, 1)
    assert [each.number for each in deal.take(1, 1)] == [2]
    deal.give_back(0, taken)
    assert {each.number for each in deal.take(1, 5)} == {0, 1, 3}
    assert deal.take(1, 5) == []
    assert deal.is_over


ENDS = st.sampled_from(["goes on", "is idle", "dies"])
STEPS = st.lists(st.tuples(st.integers(0, 2), st.floats(0, 1), ENDS), max_size=40)


def spent(requests, dollars=0.0):
    counted = {"max_calls": requests, "max_tokens": 0, "max_cost": dollars}
    return Usage(requests=requests, cost=dollars), counted, {}


def claimed(tokens):
    return Usage(), {"max_calls": 0, "max_tokens": tokens, "max_cost": 0.0}, {}


@given(st.integers(1, 50), STEPS)
def test_workers_that_keep_to_their_leases_keep_to_the_budget(most, steps):
    budget = Budget(max_calls=most)
    leases = Leases(budget)
    open_leases = [leases.open() for _ in range(3)]
    unreported = 0
    for worker, part, end in steps:
        lease = open_leases[worker]
        limit = leases.grant(lease, 1 / 3)["max_calls"]
        so_far = lease.usage.requests
        sent = int(part * (limit - so_far))
        if end == "dies":
            unreported += sent
            leases.bury(lease)
            open_leases[worker] = leases.open()
            continue
        leases.report(lease, *spent(so_far + sent))
        if end == "is idle":
            leases.settle(lease)
    assert budget.usage.requests + unreported <= most


def test_what_an_idle_worker_has_left_is_for_another():
    leases = Leases(Budget(max_calls=10, max_cost=1.0))
    first, second = leases.open(), leases.open()
    assert leases.grant(first, 0.5) == {"max_calls": 5, "max_cost": 0.5}
    leases.report(first, *spent(2, 0.1))
    assert leases.grant(second, 1.0) == {"max_calls": 5, "max_cost": 0.5}
    leases.settle(first)
    assert leases.grant(second, 1.0) == {"max_calls": 8, "max_cost": pytest.approx(0.9)}


def test_what_a_worker_that_died_was_granted_is_spent():
    leases = Leases(Budget(max_calls=10, max_cost=1.0))
    first, second = leases.open(), leases.open()
    leases.grant(first, 0.5)
    leases.report(first, *spent(2, 0.1))
    leases.bury(first)
    assert leases.grant(second, 0.5) == {"max_calls": 2, "max_cost": 0.25}  # half of what is left
    assert leases.grant(second, 1.0) == {"max_calls": 5, "max_cost": 0.5}


def test_a_refusal_names_the_limit_of_the_run_and_not_of_the_lease():
    budget = Budget(max_calls=10, max_cost=2.5)
    leases = Leases(budget)
    refused = Unjudged(Reason.BUDGET, "max_cost 0.25 reached, not asked")
    assert leases.refusal(refused).detail == "max_cost 2.5 reached, not asked"
    assert budget.reached == "max_cost 2.5"
    assert leases.is_reached


def test_what_was_granted_stands_until_a_worker_is_idle():
    leases = Leases(Budget(max_tokens=100))
    first, second = leases.open(), leases.open()
    assert leases.grant(first, 0.5) == {"max_tokens": 50}
    leases.report(second, *claimed(40))
    assert leases.grant(first, 0.1) == {"max_tokens": 50}  # it may be there already
    leases.settle(first)
    assert leases.grant(second, 1.0) == {"max_tokens": 100}


def test_what_a_worker_claims_beyond_the_limit_is_no_grant():
    leases = Leases(Budget(max_tokens=100))
    lease, other = leases.open(), leases.open()
    leases.report(other, *claimed(30))
    leases.settle(other)
    leases.grant(lease, 1.0)
    leases.report(lease, *claimed(900))
    assert leases.grant(lease, 1.0) == {"max_tokens": 70}


def test_what_one_worker_saw_the_others_know():
    leases = Leases(Budget(max_tokens=100))
    for longest in (50, 30):
        seen = {"model judge": Seen(n=longest, longest=longest, densest=0.3)}
        leases.report(leases.open(), *spent(1)[:2], seen)
    assert leases.seen == {"model judge": Seen(n=50, longest=50, densest=0.3)}


# A run that is to be judged elsewhere, where the means for it are missing.
DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"


def test_without_ray_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.actor", None)
    with pytest.raises(InputError, match=r"pip install '.\[ray\]'"):
        nj.run(DEMO, out=tmp_path / "out", executor="ray")


def test_offline_nothing_is_started_elsewhere(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.actor", None)
    with MockServer() as server:
        given = {
            "program": ["support"],
            "models.default": {"model": "openai/mock", "api_base": server.base_url},
            "cache": tmp_path / "cache",
        }
        asked = nj.run(DEMO, out=tmp_path / "asked", **given)
    again = nj.run(DEMO, out=tmp_path / "again", executor="ray", offline=True, **given)
    assert again.is_complete
    assert again.n_judged == asked.n_judged
