"""Tasks that end together, with one error instead of a group of them."""

import asyncio

import pytest

from nuggetjudge.backends.loop import each_of, task_group


async def fail(error):
    raise error


async def wait(ended):
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)


def test_the_first_error_is_raised_as_it_is_and_the_others_are_cancelled():
    ended = []

    async def go():
        async with task_group() as group:
            group.create_task(wait(ended))
            await asyncio.sleep(0)
            group.create_task(fail(KeyError("first")))
            group.create_task(fail(ValueError("second")))

    with pytest.raises(KeyError, match="first") as raised:
        asyncio.run(go())
    assert raised.value.__suppress_context__  # no group is shown with it
    assert ended == [True]


def test_an_error_between_the_tasks_cancels_them_too():
    ended = []

    async def go():
        async with task_group() as group:
            group.create_task(wait(ended))
            await asyncio.sleep(0)
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(go())
    assert ended == [True]


def test_who_is_cancelled_from_outside_ends_as_cancelled():
    async def go():
        async with task_group() as group:
            group.create_task(wait([]))

    async def cancel():
        task = asyncio.create_task(go())
        await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


def test_what_comes_of_each_job_stands_in_their_order_and_no_more_are_under_way_than_may_be():
    under_way, most = set(), []

    async def work(job):
        under_way.add(job)
        most.append(len(under_way))
        for _ in range(5 - job):  # the first takes longest
            await asyncio.sleep(0)
        under_way.remove(job)
        return job * 10

    assert asyncio.run(each_of([0, 1, 2, 3, 4], work, 2)) == [0, 10, 20, 30, 40]
    assert max(most) == 2
    assert asyncio.run(each_of([], work, 2)) == []
