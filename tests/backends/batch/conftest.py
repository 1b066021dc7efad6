"""Gateways that ask in batches, by a server of batches, with short waits."""

import asyncio
import errno
import os
from types import SimpleNamespace

import pytest
from batch_replies import wait_until
from mock_batches import MockBatches

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.batch.ledger import Batches
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import BatchConfig, ModelConfig
from nuggetjudge.backends.loop import run_sync


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    monkeypatch.setattr(batch_api, "FIRST_WAIT_S", 0.02)
    monkeypatch.setattr(batch_api, "SHOWS_UP_S", 0.2)


@pytest.fixture
def server():
    with MockBatches() as up:
        yield up


@pytest.fixture
def open_batches(server, tmp_path):
    """Opens a gateway that asks in batches; its settings are BatchConfig's, then ModelConfig's.

    Without a cache given, each has an empty one.
    """
    caches = []

    def make(cache=None, budget=None, **settings):
        if cache is None:
            caches.append(cache := ReplyCache(tmp_path / f"replies-{len(caches)}"))
        names = BatchConfig.model_fields
        batch = {"quiet_s": 0.1, "poll_s": 0.05}
        batch |= {name: settings.pop(name) for name in list(settings) if name in names}
        given = {"model": "openai/mock", "api_base": server.base_url, "timeout_s": 5.0} | settings
        batches = Batches(BatchConfig(**batch), tmp_path / "journal" / "batches-x.jsonl")
        entry = ModelConfig(**given)
        return open_backend(entry, cache=cache, budget=budget, batches=batches)

    yield make
    for each in caches:
        each.close()


@pytest.fixture
def ask_all(support):
    """Asks a gateway about so many sentences at once; replies and errors by sentence."""

    def ask(gateway, sentences, *, close=True, replicate=0):
        names = sentences if isinstance(sentences, list) else [f"S{n}." for n in range(sentences)]

        async def go():
            inputs = ({"passage": "It rained.", "sentence": name} for name in names)
            asking = (gateway.ask(support, each, replicate) for each in inputs)
            async with asyncio.timeout(20):
                outcomes = await asyncio.gather(*asking, return_exceptions=True)
            if close:
                await gateway.aclose()
            return dict(zip(names, outcomes, strict=True))

        return run_sync(go())

    return ask


@pytest.fixture
def shown(server, monkeypatch):
    """Changes what a look at a batch shows: `shown(lambda row: row.update(status="odd"))`."""

    def use(change):
        def changed(stored, request):
            it = find(stored, request)
            if stored is not server.batches:
                return it
            row = it.shown()
            change(row)
            return SimpleNamespace(shown=lambda: row)

        find = server._by_id
        monkeypatch.setattr(server, "_by_id", changed)

    return use


@pytest.fixture
def abandon(server, support):
    """Asks, and lets go of everything as a process does that ends, once so much has happened."""

    def go(gateway, sentences, is_so):
        async def run():
            inputs = ({"passage": "It rained.", "sentence": f"S{n}."} for n in range(sentences))
            tasks = [asyncio.create_task(gateway.ask(support, each)) for each in inputs]
            await asyncio.sleep(0)
            await asyncio.to_thread(wait_until, is_so)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await gateway.aclose()

        run_sync(run())

    return go


@pytest.fixture
def disk(monkeypatch, tmp_path):
    """`disk["room"] = 100`: the ledger grows by so many bytes and no further; None: by any."""
    ledger, room = tmp_path / "journal" / "batches-x.jsonl", {"room": None}

    def limited(to, data):
        left = room["room"]
        if left is None or os.fstat(to).st_ino != ledger.stat().st_ino:
            return write(to, data)
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        n_written = write(to, data[:left])
        room["room"] -= n_written
        return n_written

    write = os.write
    monkeypatch.setattr(os, "write", limited)
    return room
