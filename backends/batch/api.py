"""Provider batches: requests gather in a file, and replies come hours later at half the price."""

from __future__ import annotations

import asyncio
import hashlib
import math
import secrets
import time
from collections import defaultdict

from ...records.reading.problems import InputError
from ..budget import Budget
from ..cache import ReplyCache
from ..config import ModelConfig
from ..errors import EndpointError, EndpointUnusable
from ..gateway import Completion, Gateway
from ..limits import Limiter
from ..secrecy import secrets_of
from ..spending.sizes import BYTES_PER_TOKEN, Caution
from ..tracing.opening import opened
from .calls import BatchCalls
from .following import Batch, Follower, NeverSent, Request
from .ledger import Batches, Ledger, Sent

# Less than for single requests, for each round may take a day: one reply is a batch by itself.
CAUTION = Caution(few=1, long=2**12, per_byte=1 / BYTES_PER_TOKEN)


def open_batches(
    config: ModelConfig,
    batches: Batches,
    *,
    cache: ReplyCache | None,
    budget: Budget | None = None,
) -> Gateway:
    """The Backend for a model that is asked in batches: limits of rate and of requests do not bind.

    Raises: EndpointUnusable if its key is missing; InputError if its ledger is broken, there is no
        batch API on the way to it, or no cache: what was asked after a reply, a killed run finds
        again by replaying that reply, which is in the cache alone.
    """
    if config.way != "http":
        what = f"run.executor: batch: model {config.model!r} is asked by way of LiteLLM"
        raise InputError(f"{what}; batches need openai/NAME, or hosted_vllm/NAME and api_base")
    if cache is None:
        raise InputError(
            "run.executor: batch: batches need the reply cache, leave out run.cache: false"
        )
    config = config.model_copy(
        update={
            "deadline_s": batches.config.hours * 3600,
            "concurrency": batches.config.at_once * 1000,  # an item may ask several at once
            "rpm": None,
            "tpm": None,
        }
    )
    limiter = Limiter(config, patience=math.inf)  # of a batch many may fail in a row
    transport = BatchTransport(config, batches)
    return opened(config, transport, cache=cache, budget=budget, limiter=limiter, caution=CAUTION)


class BatchTransport:
    """Gathers requests until none has come for a while, and resolves each when its batch is over.

    What the ledger has as sent is waited for, not sent again. A reply is used once: the same
    request, asked again, goes into another batch.
    """

    def __init__(self, config: ModelConfig, batches: Batches) -> None:
        self._config = config
        self._settings = batches.config
        self._secrets = secrets_of(config)
        self._calls = BatchCalls(config, batches.ledger)
        self._ledger = Ledger(batches.ledger)
        self._follower = Follower(config, batches.config, self._calls, self._ledger)
        self._gathered: dict[Request, None] = {}
        self._n_bytes = 0
        self._last_came = 0.0
        self._gathering: asyncio.Task[None] | None = None
        self._free: dict[str, list[Request]] = defaultdict(list)  # sent, and nobody waits for them
        for sent in self._ledger.batches.values():
            batch = Batch(sent, [Request(digest) for digest in sent.requests], is_ours=False)
            for request in batch.requests:
                if request.index in sent.left:
                    self._free[request.digest].append(request)

    async def send(self, body: bytes) -> Completion:
        """The reply from a batch. Raises: EndpointError, EndpointUnusable."""
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        while True:
            waiting = self._free.get(digest)
            request = waiting.pop() if waiting else self._gather(Request(digest, body))
            failure = await self._wait(request)
            if failure is None:
                batch = request.batch
                assert batch is not None
                try:
                    return self._take(batch, request.index)
                except EndpointUnusable:
                    if batch.is_ours:
                        raise  # else the key, say, may have been mended since
            elif not isinstance(failure, NeverSent):
                raise failure.with_traceback(None)

    async def aclose(self) -> None:
        """Let go of connections. Batches that were sent go on at the endpoint."""
        if self._gathering is not None:
            self._gathering.cancel()
            await asyncio.gather(self._gathering, return_exceptions=True)
        await self._follower.aclose()
        await self._calls.aclose()
        self._ledger.close()

    async def _wait(self, request: Request) -> Exception | None:
        """Until its batch is over; what went wrong with it as a whole."""
        batch = request.batch
        if batch is not None and batch.results is not None:
            return None
        if batch is not None and batch.task is None:
            if batch.sent.name not in self._ledger.batches:
                return NeverSent("its batch was dropped a moment ago", retryable=True)
            self._follower.start(batch)
        request.reply = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._config.deadline_s):
                failure = await request.reply
        except BaseException as error:
            self._let_go(request)
            if not isinstance(error, TimeoutError):
                raise
            return self._late(request)
        if failure is not None and request.batch is not None:
            self._let_go(request)
        return failure

    def _late(self, request: Request) -> EndpointError:
        detail = f"no reply within {self._settings.hours:g} h"
        if (batch := request.batch) is not None:
            detail += f"; batch {batch.sent.batch_id} goes on"
            detail += f" ({batch.trouble})" if batch.trouble else ""
        return EndpointError(detail, retryable=True, billed=0)

    def _let_go(self, request: Request) -> None:
        """Nobody waits for it any more; who asks the same takes it up, once it is sent."""
        request.reply = None
        if request.batch is None:
            del self._gathered[request]
            self._n_bytes -= request.size
        elif request.batch.sent.name in self._ledger.batches:
            self._free[request.digest].append(request)

    def _take(self, batch: Batch, index: int) -> Completion:
        results = batch.results
        assert results is not None
        self._ledger.take(batch.sent, index)  # first: a reply must not serve two samples
        try:
            return results.completion(index, self._config, self._secrets)
        finally:
            if not batch.sent.left:
                self._follower.all_taken(results)

    # Requests gather until a batch is full or nothing has come for a while.

    def _gather(self, request: Request) -> Request:
        settings, size = self._settings, request.size
        if self._gathered and self._n_bytes + size > settings.megabytes * 1e6:
            self._submit()
        self._gathered[request] = None
        self._n_bytes += size
        self._last_came = time.monotonic()
        if len(self._gathered) >= settings.requests:
            self._submit()
        elif self._gathering is None:
            self._gathering = asyncio.create_task(self._submit_when_quiet())
        return request

    async def _submit_when_quiet(self) -> None:
        while (wait := self._last_came + self._settings.quiet_s - time.monotonic()) > 0:
            await asyncio.sleep(wait)
        self._gathering = None
        if self._gathered:
            self._submit()

    def _submit(self) -> None:
        requests, self._gathered, self._n_bytes = list(self._gathered), {}, 0
        sent = Sent(secrets.token_hex(12), [request.digest for request in requests])
        self._follower.start(Batch(sent, requests, is_ours=True))
