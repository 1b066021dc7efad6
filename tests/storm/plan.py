"""Which request meets which fault: by seed, request and how often it came, not by who was first."""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence

from mock_faults import Fault
from mock_replies import Body

from .kinds import JUDGED, STOPPED, Kind

MAX_STOPS = 2  # ends of a whole run, which would else hardly come to an end


class Plan:
    """Faults for a mock server: `server.faults = Plan(seed, KINDS, 0.3)`.

    Args:
        share: of the requests, or where faults are `stubborn`, of the questions.
        stubborn: a question that meets a fault meets it each time, or (half of them) only first.

    Attributes: met: by request what it met each time, "" for a sound reply, and when. stopped_at:
        when a whole run was ended; in seconds of the monotonic clock, both. in_flight_s: before a
        stop, in which a reply may not have been read.
    """

    def __init__(
        self, seed: int, kinds: Sequence[Kind], share: float, *, stubborn: bool = False
    ) -> None:
        self.seed, self.share, self.stubborn = seed, share, stubborn
        self.kinds = {kind.name: kind for kind in kinds}
        self.met: defaultdict[bytes, list[tuple[str, float]]] = defaultdict(list)
        self.stopped_at: list[float] = []
        self.in_flight_s = 0.5
        self.is_over = False  # from now on every reply is sound

    def __call__(self, index: int, body: Body) -> Fault | None:
        text = json.dumps(body, sort_keys=True)
        digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
        times = len(self.met[digest])
        kind, chance = self._drawn(digest, times, body)
        self.met[digest].append((kind.name if kind else "", time.monotonic()))
        return kind.make(chance) if kind else None

    def _drawn(self, digest: bytes, times: int, body: Body) -> tuple[Kind | None, random.Random]:
        turn = 0 if self.stubborn else times
        chance = random.Random(f"{self.seed}:{digest.hex()}:{turn}")
        is_met, is_first_only = chance.random() < self.share, chance.random() < 0.5
        if self.is_over or not is_met or (self.stubborn and is_first_only and times):
            return None, chance
        kinds = [kind for kind in self.kinds.values() if kind.fits(body)]
        if len(self.stopped_at) >= MAX_STOPS or times:
            kinds = [kind for kind in kinds if kind.ends != STOPPED]
        if not kinds:
            return None, chance
        kind = chance.choice(kinds)
        if kind.ends == STOPPED:
            self.stopped_at.append(time.monotonic())
        return kind, chance

    @property
    def n_faults(self) -> int:
        """Requests that met one."""
        return sum(bool(name) for met in self.met.values() for name, _ in met)

    def asked_again(self) -> int:
        """Requests that came once more though their judgement had arrived.

        Not those whose reply was on its way when a whole run was ended.
        """
        good = ("", *(name for name, kind in self.kinds.items() if kind.ends == JUDGED))
        return sum(
            name in good and not any(stop - at < self.in_flight_s for stop in self.stopped_at)
            for met in self.met.values()
            for name, at in met[:-1]
        )
