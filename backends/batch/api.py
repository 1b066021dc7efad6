"""Provider batches: requests gather in a file; replies come hours later at half the price."""

from __future__ import annotations

import asyncio
import hashlib
import math
import secrets
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from ...records.reading.problems import InputError
from ...records.writing import temporary
from ..budget import BYTES_PER_TOKEN, Budget, Caution
from ..cache import ReplyCache
from ..config import BatchConfig, ModelConfig
from ..errors import EndpointError, EndpointUnusable
from ..gateway import MAX_RETRY_AFTER_S, Completion, Gateway
from ..limits import Limiter
from ..secrecy import find_secrets
from ..tracing import open_gateway
from .calls import ENDPOINT, OVER, YIELD_EVERY, BatchCalls, Results
from .ledger import Batches, Ledger, Sent

FIRST_WAIT_S = 2.0  # between two checks of a batch or tries of a call; then 1.5 times as long
TRIES = 10  # to send a file or to create a batch, before its requests count as failed
SHOWS_UP_S = 10.0  # a batch that is not listed after this time was never created
AROUND = 150  # upper bound: bytes of a line in addition to the request
MAX_BATCH_BYTES = 200_000_000  # of a batch's file: OpenAI's limit
FILES = ("output_file_id", "error_file_id")

T = TypeVar("T")


class NeverSent(EndpointError):
    """The endpoint holds no part of this batch: its requests go into another."""


@dataclass(eq=False)
class Request:
    """One line of a batch. `reply` is set while a caller waits for it."""

    digest: str
    body: bytes = b""  # until it is sent
    batch: Batch | None = None
    index: int = 0
    reply: asyncio.Future[Exception | None] | None = None

    @property
    def size(self) -> int:
        """Upper bound of the bytes in a batch's file."""
        return len(self.body) + AROUND

    def line(self) -> bytes:
        """The request as a line of a batch's file."""
        return b'{"custom_id":"%d-%s","method":"POST","url":"%s","body":%s}\n' % (
            self.index,
            self.digest.encode(),
            ENDPOINT.encode(),
            self.body,
        )


@dataclass(eq=False)
class Batch:
    """Requests that were sent together. `is_ours`: sent by this process, not by an earlier one.

    `trouble`: the last error when the endpoint was asked about the batch.
    """

    sent: Sent
    requests: list[Request]
    is_ours: bool
    task: asyncio.Task[None] | None = None
    results: Results | None = None
    trouble: str = ""

    def __post_init__(self) -> None:
        for index, request in enumerate(self.requests):
            request.batch, request.index = self, index


class Follower:
    """Follows each batch to its end in a task, and wakes the callers that wait for its replies."""

    def __init__(
        self, config: ModelConfig, settings: BatchConfig, calls: BatchCalls, ledger: Ledger
    ) -> None:
        self._config = config
        self._longest_wait_s = settings.poll_s
        self._secrets = find_secrets(config)
        self._calls = calls
        self._ledger = ledger
        self._running: set[asyncio.Task[None]] = set()
        self._without_room: set[asyncio.Task[None]] = set()  # wait until another batch ends
        self._n_over = 0
        self._open: set[Results] = set()

    def start(self, batch: Batch) -> None:
        """Send a batch, or continue one that was sent before."""
        batch.task = asyncio.create_task(self._follow(batch))
        self._running.add(batch.task)
        batch.task.add_done_callback(self._running.discard)

    async def aclose(self) -> None:
        """Stop following batches and drop their results; the batches continue at the endpoint."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for results in self._open:
            results.close()

    def all_taken(self, results: Results) -> None:
        """Drop results that no caller will ask for."""
        self._open.discard(results)
        results.close()

    async def _follow(self, batch: Batch) -> None:
        failure: Exception | None = None
        try:
            await self._see_through(batch)
        except Exception as error:  # a full disk too: the waiting callers must learn of it
            failure = error
            if not batch.sent.file_id:
                with suppress(InputError):
                    self._ledger.drop(batch.sent)
        finally:
            batch.task = None
        for number, request in enumerate(batch.requests):
            if request.reply is not None and not request.reply.done():
                request.reply.set_result(failure)
                if number % YIELD_EVERY == 0:
                    await asyncio.sleep(0)

    async def _see_through(self, batch: Batch) -> None:
        sent, n_over = batch.sent, self._n_over
        if sent.name not in self._ledger.batches:
            self._ledger.plan(sent)
            with temporary(), tempfile.TemporaryFile() as lines:
                for request in batch.requests:
                    lines.write(request.line())
                    request.body = b""
                upload = self._patiently(batch, lambda: self._calls.upload(sent, lines), TRIES)
                self._ledger.note_upload(sent, await upload)
        if not sent.file_id:
            raise NeverSent("a killed run had not sent it", retryable=True)
        if not sent.batch_id:
            make = self._patiently(batch, lambda: self._create_batch(sent), TRIES)
            self._ledger.note_batch(sent, await make)
        wait = min(FIRST_WAIT_S, self._longest_wait_s)
        while not _is_over(state := await self._patiently(batch, lambda: self._calls.look(sent))):
            await asyncio.sleep(wait)
            wait = min(wait * 1.5, self._longest_wait_s)
        if state["status"] == "failed":
            await self._raise_failure(batch, state, had_room_since=self._n_over > n_over)
        self._n_over += 1
        batch.results = await self._patiently(batch, lambda: self._fetch(sent, state))

    async def _create_batch(self, sent: Sent) -> str:
        """The id of the batch that was created before, or of a new one."""
        if sent.asked_at:
            until = time.monotonic() + SHOWS_UP_S  # not from asked_at: a clock can be set back
            while True:
                is_late = time.monotonic() > until
                if (batch_id := await self._calls.find(sent)) is not None:
                    return batch_id
                if is_late:
                    break
                await asyncio.sleep(min(FIRST_WAIT_S, self._longest_wait_s))
        self._ledger.note_request(sent, time.time())
        try:
            return await self._calls.make(sent)
        except EndpointUnusable:
            self._ledger.drop(sent)
            raise

    async def _raise_failure(
        self, batch: Batch, state: dict[str, Any], *, had_room_since: bool
    ) -> None:
        """Raise the error of a batch that the endpoint rejected; none of its items was judged."""
        self._ledger.drop(batch.sent)
        code, message = _reason(state.get("errors"))
        reason = ": ".join(filter(None, (code, message or "no reason given")))
        what = f"batch {batch.sent.batch_id} failed: {self._secrets.blank(reason)[:300]}"
        if not (code or message):
            raise EndpointError(what, retryable=True)
        if code != "token_limit_exceeded":
            raise EndpointUnusable(what)
        if not had_room_since:
            await self._wait_for_room(batch, what)
        raise NeverSent(what, retryable=True)

    async def _wait_for_room(self, batch: Batch, what: str) -> None:
        assert batch.task is not None
        others = self._running - self._without_room - {batch.task}
        if not others:
            hint = "Lower run.batch.requests, or wait until other batches of this account end"
            raise EndpointUnusable(f"{what}\n{hint}")
        self._without_room.add(batch.task)
        try:
            await asyncio.wait(others, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._without_room.discard(batch.task)

    async def _fetch(self, sent: Sent, state: dict[str, Any]) -> Results:
        """Download the results of a finished batch."""
        results = Results(sent.batch_id, state["status"])
        try:
            for kind in FILES:
                if state.get(kind):
                    await self._calls.download(state[kind], results.file)
            await results.sort(sent.requests)
        except BaseException:
            results.close()
            raise
        self._open.add(results)
        return results

    async def _patiently(
        self, batch: Batch, call: Callable[[], Awaitable[T]], tries: float = math.inf
    ) -> T:
        """Try a call until it succeeds; without `tries`, as long as a caller may be waiting."""
        wait = min(FIRST_WAIT_S, self._longest_wait_s)
        while True:
            try:
                done = await call()
            except EndpointError as error:
                tries -= 1
                if tries <= 0:
                    raise
                batch.trouble = str(error)
                retry_after_s = min(error.retry_after_s or 0.0, MAX_RETRY_AFTER_S)
            else:
                batch.trouble = ""
                return done
            await asyncio.sleep(max(wait, retry_after_s))
            wait = min(wait * 1.5, self._longest_wait_s)


def _is_over(state: dict[str, Any]) -> bool:
    """Whether it has ended. A completed batch may name its files a moment after its end."""
    counts = state.get("request_counts")
    n_completed = counts.get("completed") if isinstance(counts, dict) else 0
    if state["status"] == "completed" and n_completed:
        return any(state.get(kind) for kind in FILES)
    return state["status"] in OVER


def _reason(errors: Any) -> tuple[str, str]:
    """Code and message of a failed batch, in whatever form they come; "" if there are none."""
    entry = errors.get("data") if isinstance(errors, dict) else errors
    if isinstance(entry, list):
        entry = entry[0] if entry else None
    if isinstance(entry, dict):
        return str(entry.get("code") or ""), str(entry.get("message") or "")
    return "", str(entry or "")


# Fewer than for single requests, because each round may take a day: one reply is one batch.
CAUTION = Caution(few=1, long=2**12, per_byte=1 / BYTES_PER_TOKEN)


def open_batches(
    config: ModelConfig,
    batches: Batches,
    *,
    cache: ReplyCache | None,
    budget: Budget | None = None,
) -> Gateway:
    """Open the Backend for a model that is asked in batches. Rate and request limits do not apply.

    Raises: EndpointUnusable if the key is missing; InputError if the ledger is broken, the model
        has no batch API, or the cache is off: a killed run replays cached replies to find its later
        questions.
    """
    if config.way != "http":
        what = f"run.executor: batch: model {config.model!r} is called through LiteLLM"
        raise InputError(f"{what}; batches need openai/NAME, or hosted_vllm/NAME and api_base")
    if cache is None:
        raise InputError(
            "run.executor: batch: batches need the reply cache. Remove run.cache: false"
        )
    config = config.model_copy(
        update={
            "deadline_s": batches.config.hours * 3600,
            "concurrency": batches.config.at_once * 1000,  # an item may ask several questions
            "rpm": None,
            "tpm": None,
        }
    )
    limiter = Limiter(config, patience=math.inf)  # many requests of a batch may fail in a row
    transport = BatchTransport(config, batches)
    return open_gateway(
        config, transport, cache=cache, budget=budget, limiter=limiter, caution=CAUTION
    )


class BatchTransport:
    """Gathers requests until no new one arrives, and answers each when its batch is over.

    Requests that the ledger lists as sent are awaited, not sent again. A reply is used once: the
    same request, asked again, goes into another batch.
    """

    def __init__(self, config: ModelConfig, batches: Batches) -> None:
        self._config = config
        self._settings = batches.config
        self._secrets = find_secrets(config)
        self._calls = BatchCalls(config, batches.ledger)
        self._ledger = Ledger(batches.ledger)
        self._follower = Follower(config, batches.config, self._calls, self._ledger)
        self._gathered: dict[Request, None] = {}
        self._n_bytes = 0
        self._last_came = 0.0
        self._gathering: asyncio.Task[None] | None = None
        self._free: dict[str, list[Request]] = defaultdict(list)  # sent, without a waiting caller
        for sent in self._ledger.batches.values():
            batch = Batch(sent, [Request(digest) for digest in sent.requests], is_ours=False)
            for request in batch.requests:
                if request.index in sent.left:
                    self._free[request.digest].append(request)

    async def send(self, body: bytes) -> Completion:
        """Return the reply from a batch. Raises: EndpointError, EndpointUnusable."""
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
                        raise  # otherwise the key, for example, may be correct now
            elif not isinstance(failure, NeverSent):
                raise failure.with_traceback(None)

    async def aclose(self) -> None:
        """Close connections. Batches that were sent continue at the endpoint."""
        if self._gathering is not None:
            self._gathering.cancel()
            await asyncio.gather(self._gathering, return_exceptions=True)
        await self._follower.aclose()
        await self._calls.aclose()
        self._ledger.close()

    async def _wait(self, request: Request) -> Exception | None:
        """Wait until the batch is over. Returns: the error of the batch as a whole, or None."""
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
            detail += f"; batch {batch.sent.batch_id} is still running"
            detail += f" ({batch.trouble})" if batch.trouble else ""
        return EndpointError(detail, retryable=True, billed=0)

    def _let_go(self, request: Request) -> None:
        """No caller waits for it now. Once sent, an equal request takes its reply."""
        request.reply = None
        if request.batch is None:
            del self._gathered[request]
            self._n_bytes -= request.size
        elif request.batch.sent.name in self._ledger.batches:
            self._free[request.digest].append(request)

    def _take(self, batch: Batch, index: int) -> Completion:
        results = batch.results
        assert results is not None
        self._ledger.take(batch.sent, index)  # first, because a reply must not serve two samples
        try:
            return results.completion(index, self._config, self._secrets)
        finally:
            if not batch.sent.left:
                self._follower.all_taken(results)

    # Requests gather until a batch is full or no new one arrives for a while.

    def _gather(self, request: Request) -> Request:
        settings, size = self._settings, request.size
        if self._gathered and self._n_bytes + size > MAX_BATCH_BYTES:
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
