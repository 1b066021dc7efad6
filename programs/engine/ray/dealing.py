"""Deals what is left of a stage to several workers, equal questions to the same one."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator

from ..stage import Item, Pending

MOST_BOUND = 1000  # items that wait for one worker while others go on


class Deal:
    """Items for workers 0, 1, ..., lazily; those with equal payloads all go to the same one.

    Such items are asked the same: one worker shares a call among them, or has its reply in the
    cache. Holds an entry of about 100 bytes for each payload.

    Attributes:
        refused: by worker, items that its part of the budget did not do for; not dealt again.
    """

    def __init__(self, left: Iterator[Pending | None]) -> None:
        self.refused: defaultdict[int, list[Pending]] = defaultdict(list)
        self._left = left
        self._is_at_end = False
        self._free: deque[Pending] = deque()
        self._bound: defaultdict[int, deque[Pending]] = defaultdict(deque)
        self._worker_of: dict[int, int] = {}  # by digest of the payload
        self._gone: set[int] = set()

    def look(self) -> bool:
        """Whether it is known if there is anything to deal; call it again until it is."""
        if not self._free and (pending := self._next()) is not None:
            self._free.append(pending)
        return bool(self._free) or self._is_at_end

    @property
    def is_over(self) -> bool:
        """Whether everything was dealt, and nothing was given back."""
        waiting = [self._free, *self._bound.values(), *self.refused.values()]
        return self._is_at_end and not any(waiting)

    @property
    def refused_any(self) -> bool:
        """Whether there are refused items, for which others have to end first."""
        return any(self.refused.values())

    def has_more(self, worker: int) -> bool:
        """Whether `take` may still find something for a worker."""
        goes_on = not self._is_at_end and not self._is_crowded
        return goes_on or bool(self._free or self._bound[worker])

    def take(self, worker: int, most: int) -> list[Pending]:
        """Up to `most` items for a worker."""
        self._gone.discard(worker)
        own, taken = self._bound[worker], list[Pending]()
        while len(taken) < most:
            if own:
                taken.append(own.popleft())
                continue
            pending = self._free.popleft() if self._free else self._next()
            if pending is None:
                break
            self._bound[self._owner(pending, worker)].append(pending)
        return taken

    def give_back(self, worker: int, items: list[Pending]) -> None:
        """For others to take: these items and all that wait for a worker that is gone."""
        self._gone.add(worker)
        self._free.extend(items)
        self._free.extend(self._bound.pop(worker, ()))

    @property
    def _is_crowded(self) -> bool:
        return any(len(items) >= MOST_BOUND for items in self._bound.values())

    def _next(self) -> Pending | None:
        if self._is_at_end or self._is_crowded:
            return None
        try:
            return next(self._left)
        except StopIteration:
            self._is_at_end = True
            return None

    def _owner(self, pending: Pending, worker: int) -> int:
        """Who was given this payload; `worker` if nobody was, or who was is gone."""
        payload = Item({}, pending.item.payload).digest()
        owner = self._worker_of.get(payload)
        if owner is None or owner in self._gone:
            owner = self._worker_of[payload] = worker
        return owner
