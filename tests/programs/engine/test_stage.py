"""The engine holds few items at once, reads them lazily, and keeps what is finished."""

import asyncio
import hashlib
import itertools
from types import SimpleNamespace

import pytest

from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.judges import Verdict
from nuggetjudge.programs.engine.journal import Journal
from nuggetjudge.programs.engine.stage import (
    Item,
    Stage,
    Work,
    find_unjudged,
    labels,
    make_rows,
    run_here,
)
from nuggetjudge.records.judgements import Judged, Reason, Unjudged


class Counted:
    """n items; it notes how many are held at once, and judges them as it is asked to."""

    def __init__(self, n, judging=None):
        self.n, self.judging = n, judging
        self.taken = self.judged = self.in_flight = self.most_in_flight = 0

    def items(self):
        for i in range(self.n):
            self.taken += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
            yield Item({"number": str(i)}, (f"text {i}",))

    async def ask(self, item):
        try:
            await (self.judging(int(item.ids["number"])) if self.judging else asyncio.sleep(0))
            self.judged += 1
            return Judged({"label": item.ids["number"]})
        finally:
            self.in_flight -= 1


@pytest.fixture
def journal(tmp_path):
    kept = Journal(tmp_path / "journal.jsonl")
    yield kept
    kept.close()


async def judged(counted, journal, concurrency=4):
    work = Work(Stage("counted", (), counted.items, counted.ask), journal)
    await run_here(work, concurrency)
    return work.tally


def run(counted, journal, concurrency=4):
    return asyncio.run(judged(counted, journal, concurrency))


@pytest.mark.parametrize("concurrency", [1, 3, 64])
def test_no_more_items_than_workers_are_held(concurrency, journal):
    stage = Counted(500)
    tally = run(stage, journal, concurrency)
    assert (tally.items, tally.judged, tally.resumed) == (500, 500, 0)
    assert stage.most_in_flight <= concurrency


def test_items_are_taken_as_they_are_needed(journal):
    async def stop_at_ten(i):
        await asyncio.sleep(0)
        if i == 10:
            raise EndpointUnusable("wrong key")

    stage = Counted(10**9, stop_at_ten)
    with pytest.raises(EndpointUnusable, match="wrong key"):
        run(stage, journal)
    assert stage.taken <= 10 + 2 * 4


def test_an_unusable_endpoint_ends_the_run_and_keeps_what_is_finished(journal):
    async def late(i):
        if i == 7:
            raise EndpointUnusable("wrong key")
        await asyncio.sleep(0 if i < 7 else 60)

    with pytest.raises(EndpointUnusable):
        run(Counted(20, late), journal)
    assert [journal.outcome(i) for i in range(7)] == [Judged({"label": str(i)}) for i in range(7)]
    assert all(isinstance(journal.outcome(i), Unjudged) for i in range(7, 20))


def test_a_judge_error_is_an_outcome_and_the_others_go_on(journal):
    async def odd(i):
        if i % 2:
            raise JudgeError(Reason.REFUSED, f"not {i}", "raw reply")

    tally = run(Counted(10, odd), journal)
    assert (tally.judged, tally.unjudged) == (5, {"refused": 5})
    assert journal.outcome(3) == Unjudged(Reason.REFUSED, "not 3", "raw reply")


def test_a_bug_in_a_stage_is_raised_and_not_counted_as_unjudged(journal):
    async def broken(i):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run(Counted(10, broken), journal)


def test_a_second_run_judges_only_what_is_missing(tmp_path, journal):
    async def some(i):
        if i % 3 == 0:
            raise JudgeError(Reason.ERROR, "no reply")

    run(Counted(30, some), journal)
    again = Journal(tmp_path / "journal.jsonl")
    stage = Counted(30)
    tally = run(stage, again)
    assert (tally.resumed, tally.judged, stage.judged) == (20, 10, 10)
    assert [again.outcome(i) for i in range(30)] == [Judged({"label": str(i)}) for i in range(30)]
    again.close()


def test_cancelling_keeps_what_is_finished(journal):
    async def main():
        async def slow(i):
            await asyncio.sleep(0 if i < 5 else 60)

        task = asyncio.create_task(judged(Counted(50, slow), journal, concurrency=2))
        while isinstance(journal.outcome(4), Unjudged):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(asyncio.wait_for(main(), 10))
    assert all(isinstance(journal.outcome(i), Judged) for i in range(5))


def test_judgements_without_waiting_leave_room_for_cancelling(journal):
    async def main():
        async def at_once(i):
            return

        endless = Counted(10**9, at_once)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(judged(endless, journal, concurrency=8), 0.2)
        return endless.judged

    assert asyncio.run(main()) > 0


def test_the_digest_of_an_item_tells_ids_and_texts_apart():
    several = itertools.product(("", "x", "x, x"), repeat=4)
    items = [Item({"topic_id": a, "run_id": b}, (c, d)) for a, b, c, d in several]
    assert len({item.digest() for item in items}) == len(items)
    odd = Item({"topic_id": "\ud800"}, ())
    assert odd.digest() == Item({"topic_id": "\ud800"}, ()).digest()
    # The same in every process, or journals would not be found again: SHA-256, by hand.
    text = b'[{"topic_id":"t"},["text"]]'
    digest = int.from_bytes(hashlib.sha256(text).digest()[:8], "big")
    assert Item({"topic_id": "t"}, ("text",)).digest() == digest < 2**64


def test_an_item_without_its_text_is_not_asked_about(journal):
    counted = Counted(3)
    items = [Item({"number": "0"}, None, missing="passage p"), *counted.items()]
    work = Work(Stage("counted", (), lambda: iter(items), counted.ask), journal)
    asyncio.run(run_here(work, 2))
    assert (work.tally.items, counted.judged) == (3, 3)
    assert isinstance(journal.outcome(0), Unjudged)
    assert journal.outcome(1) == Judged({"label": "0"})


@pytest.mark.parametrize("n_lost", [1, 2])
def test_a_window_of_which_one_label_lacks_its_evidence_keeps_the_others(n_lost):
    lost = Unjudged(Reason.UNGROUNDED, "no quote", "raw")

    async def judged(items, topic_id):
        return ([lost] * 2 + [Verdict("yes")])[2 - n_lost :][:2], ()

    judge = SimpleNamespace(
        judged=judged, inputs=("text",), optional=(), correction=None, scale=("no", "yes")
    )
    stage = labels("some", {"support": judge}, "support", lambda: iter(()))
    outcome = asyncio.run(stage.ask(Item({"n": ["1", "2"]}, (["a", "b"],), 2)))
    if n_lost == 2:
        assert outcome == lost
    else:
        assert [row["label"] for row in make_rows(outcome, 2)] == [None, "yes"]
        assert find_unjudged(outcome) == {0: lost}
