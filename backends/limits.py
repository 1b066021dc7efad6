"""Limits for one endpoint: requests in flight and per minute, pauses, and when to give up."""

from __future__ import annotations

import asyncio
import math
import time

from aiolimiter import AsyncLimiter

from ..records.judgements import Reason
from .config import ModelConfig
from .errors import EndpointFailed, EndpointLost, EndpointUnusable, JudgeError, JudgeOutputError

BURST_S = 10.0  # after a quiet time, the tokens of this many seconds may be sent together
FEW = 5  # judgements without any reply after which a run ends, if no other succeeded
MANY = 20  # judgements without a readable reply after which a run ends, if no other succeeded
PATIENCE = 10  # judgements in a row lost to errors, after all retries, before giving up


class Probation:
    """Tests with the first judgements whether a model gives any judgement at all.

    It ends with the first judgement. Until then, FEW judgements without a reply, after all
    retries, or MANY without a readable reply end the run, as soon as no judgement in progress may
    still succeed. Meanwhile at most FEW judgements are retried at a time; others that failed
    once wait for them.

    Attributes:
        is_over: the model gave a judgement; read before each request.
    """

    def __init__(self, config: ModelConfig, *, is_over: bool = False) -> None:
        self.is_over = is_over
        self._config = config
        self._n_failed = self._n_spoiled = 0
        self._last: JudgeError | None = None
        self._under_way: set[int] = set()  # ids of judgements
        self._retried: set[int] = set()
        self._news = asyncio.Event()

    async def admit(self, judgement: object, *, is_first: bool) -> None:
        """Wait until a judgement may send its first request, or another one.

        Raises: EndpointUnusable if the model gives no judgement.
        """
        me = id(judgement)
        while not (self.is_over or self._may_go(me, is_first=is_first)):
            self._under_way.discard(me)
            if self._is_enough and not self._under_way:
                self._wake()
                raise self._hopeless()
            await self._news.wait()
        self._under_way.add(me)
        if not is_first:
            self._retried.add(me)

    def note_success(self) -> None:
        """Note that the model gave a judgement."""
        if not self.is_over:
            self.is_over = True
            self._wake()

    def note_failure(self, error: JudgeError) -> None:
        """Note that a judgement failed. An error that concerns one question only does not count."""
        if self.is_over:
            return
        if isinstance(error, EndpointFailed):
            self._n_failed, self._last = self._n_failed + 1, error
        elif isinstance(error, JudgeOutputError):
            self._n_failed = 0  # the endpoint answers
            if error.reason is not Reason.REFUSED:
                self._n_spoiled, self._last = self._n_spoiled + 1, error

    def left(self, judgement: object) -> None:
        """Note that a judgement has ended, with or without success."""
        if not self.is_over:
            self._under_way.discard(id(judgement))
            self._retried.discard(id(judgement))
            self._wake()

    @property
    def _is_enough(self) -> bool:
        return self._n_failed >= FEW or self._n_spoiled >= MANY

    def _may_go(self, me: int, *, is_first: bool) -> bool:
        if me in self._retried:
            return True
        n_tried = len(self._retried) + self._n_failed
        return not self._is_enough and (is_first or n_tried < FEW)

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _hopeless(self) -> EndpointUnusable:
        name, last = self._config.model, self._last
        if self._n_failed >= FEW:
            what = f"none of the first {self._n_failed} judgements of {name!r} got a reply"
            hint = ""  # the error already ends with it
        else:
            what = f"none of the first {self._n_spoiled} replies of {name!r} was a valid judgement"
            hint = "Set the model's schema to one that the endpoint supports; see `judge doctor`"
            if last is not None and last.reason is Reason.TRUNCATED:
                hint = "Raise the model's max_tokens, or reduce its thinking"
                if "repeats itself" in last.detail:
                    hint = "A larger max_tokens does not help: choose a larger model"
        return EndpointUnusable(f"{what}; the last: {last}\n{hint}".rstrip())


class Limiter:
    """Limits concurrency, requests and tokens a minute of one model.

    Call `await limiter.enter(tokens)` before each request, and `limiter.leave()` after it.
    `pause(seconds)` delays all requests, as a 429 demands. After PATIENCE failed judgements in a
    row, this run sends no further request: if a server died, the remaining judgements do not
    each cost all retries.
    """

    def __init__(self, config: ModelConfig, *, patience: float = PATIENCE) -> None:
        self._slots = asyncio.Semaphore(config.concurrency)
        self._requests = AsyncLimiter(1, 60 / config.rpm) if config.rpm else None
        burst = (config.tpm or 0.0) * BURST_S / 60
        self._tokens = AsyncLimiter(burst, BURST_S) if config.tpm else None
        self._open_at = 0.0
        self._lost_in_a_row = 0
        self._patience = patience
        self.probation = Probation(config, is_over=patience == math.inf)

    async def enter(self, tokens: int) -> None:
        """Wait for a free slot, the rates and any pause.

        Raises: EndpointLost if the endpoint was given up.
        """
        await self._slots.acquire()
        try:
            self._check_patience()
            if self._requests is not None:
                await self._requests.acquire()
            if self._tokens is not None:
                await self._take(self._tokens, tokens)
            if self._open_at:
                while (wait := self._open_at - time.monotonic()) > 0:
                    await asyncio.sleep(wait)
                self._check_patience()
        except BaseException:
            self._slots.release()
            raise

    def leave(self) -> None:
        """Give the slot back."""
        self._slots.release()

    def pause(self, seconds: float) -> None:
        """Hold all requests back for this many seconds."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)

    def judgement_ended(self, *, lost: bool) -> None:
        """Note whether the endpoint answered, to give up on a dead one."""
        self._lost_in_a_row = self._lost_in_a_row + 1 if lost else 0

    def _check_patience(self) -> None:
        if self._lost_in_a_row >= self._patience:
            detail = f"not sent: this endpoint failed for {self._patience} judgements in a row"
            raise EndpointLost(Reason.ERROR, detail)

    @staticmethod
    async def _take(bucket: AsyncLimiter, tokens: float) -> None:
        """Take tokens in parts, because a request may be larger than a burst."""
        while tokens > 0:
            part = min(tokens, bucket.max_rate)
            await bucket.acquire(part)
            tokens -= part
