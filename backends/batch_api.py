"""Provider batches: requests gather in a file, and replies come hours later at half the price."""

from __future__ import annotations

import asyncio
import hashlib
import math
import secrets
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, TypeVar

import orjson

from ..records.problems import InputError
from .batch_calls import ENDPOINT, BatchCalls
from .batch_ledger import Batches, Ledger, Sent
from .budget import Budget
from .cache import ReplyCache
from .config import ModelConfig
from .errors import EndpointError, EndpointUnusable
from .gateway import Completion, Gateway
from .http import failure_of, loaded, read_completion
from .limits import Limiter
from .secrecy import secrets_of

FIRST_WAIT_S = 2.0  # between two looks at a batch, or two tries of a call; then half as much more
TRIES = 10  # of one call, before its requests count as failed
SHOWS_UP_S = 10.0  # a batch that was asked for is listed after so long, or was never made
AROUND = 150  # bytes of a line of a batch beside the request, at most
BREATH = 64  # replies between two looks at Ctrl-C
OVER = ("completed", "failed", "expired", "cancelled")

T = TypeVar("T")


def open_batches(
    config: ModelConfig,
    batches: Batches,
    *,
    cache: ReplyCache | None = None,
    budget: Budget | None = None,
) -> Gateway:
    """The Backend for a model that is asked in batches: limits of rate and of requests do not bind.

    Raises: EndpointUnusable if its key is missing; InputError if its ledger is broken or there is
        no batch API on the way to it.
    """
    if config.way != "http":
        what = f"run.executor: batch: model {config.model!r} is asked by way of LiteLLM"
        raise InputError(f"{what}; batches need openai/NAME, or hosted_vllm/NAME and api_base")
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
    return Gateway(config, transport, cache=cache, budget=budget, limiter=limiter)


@dataclass(eq=False)
class _Request:
    """One line of a batch. `reply` is set while somebody waits for it."""

    digest: str
    body: bytes = b""  # until it is sent
    batch: _Batch | None = None
    place: int = 0
    reply: asyncio.Future[Exception | None] | None = None


@dataclass(eq=False)
class _Batch:
    """Requests that were sent together, and their results: lines of a file that this one names."""

    sent: Sent
    requests: list[_Request]
    task: asyncio.Task[None] | None = None
    results: IO[bytes] | None = None
    starts: dict[int, int] = field(default_factory=dict)  # of results, by the request's place
    missing: EndpointError | None = None  # what became of requests without a result


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
        self._gathered: dict[_Request, None] = {}
        self._n_bytes = 0
        self._last_came = 0.0
        self._gathering: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[None]] = set()
        self._open: set[IO[bytes]] = set()
        self._free: dict[str, list[_Request]] = defaultdict(list)  # sent, and nobody waits for them
        for sent in self._ledger.batches.values():
            for request in _placed(sent, [_Request(digest) for digest in sent.requests]).requests:
                if request.place in sent.left:
                    self._free[request.digest].append(request)

    async def send(self, body: bytes) -> Completion:
        """The reply from a batch. Raises: EndpointError, EndpointUnusable."""
        digest = hashlib.blake2b(body, digest_size=16).hexdigest()
        while True:
            waiting = self._free.get(digest)
            request = waiting.pop() if waiting else self._gather(_Request(digest, body))
            failure = await self._wait(request)
            if failure is None:
                return self._take(request)
            if not isinstance(failure, _NeverSent):
                raise failure.with_traceback(None)

    async def aclose(self) -> None:
        """Let go of connections. Batches that were sent go on at the endpoint."""
        tasks = [*self._running, *([self._gathering] if self._gathering else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._calls.aclose()
        for results in self._open:
            results.close()
        self._ledger.close()

    async def _wait(self, request: _Request) -> Exception | None:
        """Until its batch is over; what went wrong with it as a whole."""
        batch = request.batch
        if batch is not None and batch.results is not None:
            return None
        if batch is not None and batch.task is None:
            if batch.sent.name not in self._ledger.batches:
                return _NeverSent("its batch was dropped a moment ago", retryable=True)
            self._run(batch)
        request.reply = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._config.deadline_s):
                failure = await request.reply
        except BaseException as error:
            self._let_go(request)
            if not isinstance(error, TimeoutError):
                raise
            where = request.batch.sent.batch_id if request.batch else ""
            told = f"no reply within {self._settings.hours:g} h; batch {where} goes on"
            return EndpointError(told, retryable=True)
        if failure is not None and request.batch is not None:
            self._let_go(request)
        return failure

    def _let_go(self, request: _Request) -> None:
        """Nobody waits for it any more; who asks the same takes it up, once it is sent."""
        request.reply = None
        if request.batch is None:
            del self._gathered[request]
            self._n_bytes -= _size(request)
        elif request.batch.sent.name in self._ledger.batches:
            self._free[request.digest].append(request)

    def _take(self, request: _Request) -> Completion:
        batch, place = request.batch, request.place
        assert batch is not None
        assert batch.results is not None
        self._ledger.take(batch.sent, place)  # first: a reply must not serve two samples
        try:
            return self._read(batch, place)
        finally:
            if not batch.sent.left:
                self._open.discard(batch.results)
                batch.results.close()

    def _read(self, batch: _Batch, place: int) -> Completion:
        assert batch.results is not None
        if place not in batch.starts:
            assert batch.missing is not None
            raise batch.missing.with_traceback(None)
        batch.results.seek(batch.starts[place])
        row = loaded(batch.results.readline())
        response, error = row.get("response"), row.get("error")
        if isinstance(response, dict) and isinstance(status := response.get("status_code"), int):
            raw = orjson.dumps(response.get("body"))
            if status == 200:
                return read_completion(raw, self._secrets)
            raise failure_of(self._config, self._secrets, status, raw)
        raise self._lost(batch, error if isinstance(error, dict) else {})

    def _lost(self, batch: _Batch, error: dict[str, Any]) -> EndpointError:
        code = str(error.get("code") or "")
        said = self._secrets.blank(str(error.get("message") or code or "no reply and no error"))
        what = f"batch {batch.sent.batch_id}: {said[:300]}"
        return EndpointError(what, retryable=code != "batch_cancelled")

    # Requests gather until a batch is full or nothing has come for a while.

    def _gather(self, request: _Request) -> _Request:
        settings, size = self._settings, _size(request)
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
        digests = [request.digest for request in requests]
        self._run(_placed(Sent(secrets.token_hex(12), digests), requests))

    # What becomes of a batch.

    def _run(self, batch: _Batch) -> None:
        batch.task = asyncio.create_task(self._follow(batch))
        self._running.add(batch.task)
        batch.task.add_done_callback(self._running.discard)

    async def _follow(self, batch: _Batch) -> None:
        """See a batch to its end, and wake those who wait for its replies."""
        failure: Exception | None = None
        try:
            await self._see_through(batch)
        except Exception as error:  # a full disk too: it must reach those who wait
            failure = error
            if not batch.sent.file_id:
                self._ledger.drop(batch.sent)
        finally:
            batch.task = None
        for number, request in enumerate(batch.requests):
            if request.reply is not None and not request.reply.done():
                request.reply.set_result(failure)
                if number % BREATH == 0:
                    await asyncio.sleep(0)

    async def _see_through(self, batch: _Batch) -> None:
        sent = batch.sent
        if sent.name not in self._ledger.batches:
            self._ledger.plan(sent)
            with tempfile.TemporaryFile() as lines:
                for request in batch.requests:
                    lines.write(_line(request))
                    request.body = b""
                file_id = await self._patiently(lambda: self._calls.upload(sent.name, lines))
            self._ledger.uploaded(sent, file_id)
        if not sent.file_id:
            raise _NeverSent("a killed run had not sent it", retryable=True)
        if not sent.batch_id:
            self._ledger.made(sent, await self._patiently(lambda: self._made(sent)))
        wait = min(FIRST_WAIT_S, self._settings.poll_s)
        while True:
            found = await self._patiently(lambda: self._calls.look(sent.batch_id))
            if found.get("status") in OVER:
                break
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, self._settings.poll_s)
        if found["status"] == "failed":
            await self._failed(batch, found)
        await self._patiently(lambda: self._fetch(batch, found))

    async def _made(self, sent: Sent) -> str:
        """The batch's id: of the one that was made before, or of a new one."""
        if sent.asked_at:
            while True:
                is_late = time.time() > sent.asked_at + SHOWS_UP_S
                if (found := await self._calls.find(sent.name, sent.file_id)) is not None:
                    return found
                if is_late:
                    break
                await asyncio.sleep(min(FIRST_WAIT_S, self._settings.poll_s))
        self._ledger.asked(sent, time.time())
        try:
            return await self._calls.make(sent.name, sent.file_id)
        except EndpointUnusable:
            self._ledger.drop(sent)
            raise

    async def _failed(self, batch: _Batch, found: dict[str, Any]) -> None:
        """Raise what a batch means that the endpoint did not take; nothing of it was judged."""
        self._ledger.drop(batch.sent)
        errors = (found.get("errors") or {}).get("data") or [{}]
        code = str(errors[0].get("code") or "")
        said = self._secrets.blank(f"{code}: {errors[0].get('message') or 'no reason given'}")
        what = f"batch {batch.sent.batch_id} failed: {said[:300]}"
        if not errors[0]:
            raise EndpointError(what, retryable=True)
        if code != "token_limit_exceeded":
            raise EndpointUnusable(what)
        others = [task for task in self._running if task is not batch.task]
        if not others:
            raise EndpointUnusable(f"{what}\nLower run.batch.requests, so that a batch is smaller")
        await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        raise _NeverSent(what, retryable=True)

    async def _fetch(self, batch: _Batch, found: dict[str, Any]) -> None:
        """Download the results of a batch that is over."""
        results = tempfile.TemporaryFile()  # noqa: SIM115  closed when all of it was taken
        starts: dict[int, int] = {}
        try:
            for kind in ("output_file_id", "error_file_id"):
                if found.get(kind):
                    await self._calls.download(found[kind], results)
            results.seek(0)
            start = 0
            for number, line in enumerate(results):
                if (place := _place(line, batch.sent.requests)) is not None:
                    starts[place] = start
                start += len(line)
                if number % BREATH == 0:
                    await asyncio.sleep(0)
        except BaseException:
            results.close()
            raise
        status = str(found["status"])
        said = {"code": f"batch_{status}", "message": f"{status}, with no result for this request"}
        batch.missing = self._lost(batch, said)
        batch.results, batch.starts = results, starts
        self._open.add(results)

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        """Try a call until it succeeds, TRIES times at most."""
        wait = min(FIRST_WAIT_S, self._settings.poll_s)
        for _ in range(TRIES - 1):
            try:
                return await call()
            except EndpointError:
                await asyncio.sleep(wait)
            wait = min(wait * 1.5, self._settings.poll_s)
        return await call()


class _NeverSent(EndpointError):
    """The endpoint has nothing of this batch: its requests go into another."""


def _placed(sent: Sent, requests: list[_Request]) -> _Batch:
    batch = _Batch(sent, requests)
    for place, request in enumerate(requests):
        request.batch, request.place = batch, place
    return batch


def _place(line: bytes, requests: Sequence[str]) -> int | None:
    """Which request a line of results is about; None if it is none of these."""
    try:
        place, digest = orjson.loads(line)["custom_id"].split("-")
        return int(place) if requests[int(place)] == digest else None
    except (ValueError, LookupError, TypeError, AttributeError):
        return None


def _size(request: _Request) -> int:
    return len(request.body) + AROUND


def _line(request: _Request) -> bytes:
    return b'{"custom_id":"%d-%s","method":"POST","url":"%s","body":%s}\n' % (
        request.place,
        request.digest.encode(),
        ENDPOINT.encode(),
        request.body,
    )
