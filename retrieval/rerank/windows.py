"""Orders long rankings a few passages at a time: by sliding windows, or with a heap of sets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from ..defaults import SET_SIZE, STRIDE, TOP, WINDOW

Order = Callable[[Sequence[int]], Awaitable[Sequence[int]]]  # positions -> the same, best first
Best = Callable[[Sequence[int]], Awaitable[int]]  # positions -> the best of them


async def slide(n: int, order: Order, *, window: int = WINDOW, stride: int = STRIDE) -> list[int]:
    """Reorder n candidates window by window, from the back to the front.

    Each window includes the best `window - stride` of the previous one, so one pass brings that
    many to the top. The last window starts at the front, and may be shorter.

    Args:
        n: candidates, best first; their positions are 0 to n - 1.
        order: orders one window. If it fails, it may return its input.
        window: candidates in one call, >= 2.
        stride: how far the window moves, 1 to `window`.

    Returns: all n positions in their new order.
    Raises: ValueError for a bad argument, or if `order` returns positions that it did not get.
    Source: arXiv:2304.09542 (RankGPT), sliding windows.
    """
    if n < 0 or window < 2 or not 1 <= stride <= window:
        wanted = "wanted n >= 0, window >= 2 and stride from 1 to window"
        raise ValueError(f"{wanted}, got {n}, {window} and {stride}")
    positions = list(range(n))
    end = n
    while end > 1:
        start = max(0, end - window)
        window_positions = positions[start:end]
        if sorted(reordered := list(await order(window_positions))) != sorted(window_positions):
            raise ValueError(
                f"order() turned {window_positions} into {reordered}, wanted the same positions"
            )
        positions[start:end] = reordered
        end = end - stride if start else 0
    return positions


async def setwise_top(n: int, best: Best, *, top: int = TOP, size: int = SET_SIZE) -> list[int]:
    """Find the best `top` of n candidates by heap sort, where one call finds the best of a set.

    Each parent in the heap has `size - 1` children; the heap starts in the order of the candidates.

    Args:
        n: candidates, best first; their positions are 0 to n - 1.
        best: picks one of 2 to `size` positions. If it fails, it may return the smallest, which
            is the candidate that came first.
        top: number of candidates to find, >= 1.
        size: candidates in one call, >= 2.

    Returns: all n positions: the best `top` in order, then the others in their old order.
    Raises: ValueError for a bad argument, or if `best` returns a position that it did not get.
    Source: arXiv:2310.09497 (Setwise), heap sort.
    """
    if n < 0 or top < 1 or size < 2:
        raise ValueError(f"wanted n >= 0, top >= 1 and size >= 2, got {n}, {top} and {size}")
    heap = list(range(n))
    n_children = size - 1
    for parent in range((n - 2) // n_children, -1, -1):
        await _sink(heap, parent, best, n_children)
    best_first: list[int] = []
    while heap and len(best_first) < top:
        best_first.append(heap[0])
        last = heap.pop()
        if heap and len(best_first) < top:
            heap[0] = last
            await _sink(heap, 0, best, n_children)
    taken = set(best_first)
    return best_first + [position for position in range(n) if position not in taken]


async def _sink(heap: list[int], parent: int, best: Best, n_children: int) -> None:
    """Move the candidate at `parent` down until it is better than its children."""
    while first := range(len(heap))[parent * n_children + 1 : (parent + 1) * n_children + 1]:
        spots = [parent, *first]
        candidates = [heap[spot] for spot in spots]
        if (winner := await best(candidates)) not in candidates:
            raise ValueError(f"best() chose {winner}, wanted one of {candidates}")
        if (spot := spots[candidates.index(winner)]) == parent:
            return
        heap[parent], heap[spot] = heap[spot], heap[parent]
        parent = spot
