"""How hard one endpoint is driven: in flight, per minute, pauses it asks for, and giving it up."""

from __future__ import annotations

import asyncio
import time

from aiolimiter import AsyncLimiter

from ..records.judgements import Reason
from .config import ModelConfig
from .errors import EndpointLost

BURST_S = 10.0  # so many seconds' worth of tokens may go out at once after a quiet time
PATIENCE = 10  # judgements lost in a row, to errors and after all retries, before giving up


class Limiter:
    """A gate before each request: `await limiter.enter(tokens)`, then always `limiter.leave()`.

    `pause(s)` closes it for all requests, as a 429 asks. After PATIENCE judgements in a row were
    lost to errors the gate stays shut for the rest of the run, so that a server that died does
    not cost every remaining judgement its retries.
    """

    def __init__(self, config: ModelConfig, *, patience: float = PATIENCE) -> None:
        self._slots = asyncio.Semaphore(config.concurrency)
        self._requests = AsyncLimiter(1, 60 / config.rpm) if config.rpm else None
        burst = (config.tpm or 0.0) * BURST_S / 60
        self._tokens = AsyncLimiter(burst, BURST_S) if config.tpm else None
        self._open_at = 0.0
        self._lost_in_a_row = 0
        self._patience = patience

    async def enter(self, tokens: int) -> None:
        """Wait for a free slot, the rates and any pause.

        Raises: EndpointLost when the endpoint was given up.
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
        """Let no request through for this long."""
        self._open_at = max(self._open_at, time.monotonic() + seconds)

    def judgement_ended(self, *, lost: bool) -> None:
        """Tell whether the endpoint answered at all, for giving up on a dead one."""
        self._lost_in_a_row = self._lost_in_a_row + 1 if lost else 0

    def _check_patience(self) -> None:
        if self._lost_in_a_row >= self._patience:
            detail = f"not asked: {self._patience} judgements in a row were lost at this endpoint"
            raise EndpointLost(Reason.ERROR, detail)

    @staticmethod
    async def _take(bucket: AsyncLimiter, tokens: float) -> None:
        """In parts, as a request may be larger than a burst."""
        while tokens > 0:
            part = min(tokens, bucket.max_rate)
            await bucket.acquire(part)
            tokens -= part
