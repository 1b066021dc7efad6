"""Quotients of arrays, undefined (nan) where there is nothing to divide by."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def ratio(above: ArrayLike, below: ArrayLike) -> Array:
    """Their quotient, nan where `below` is 0 (to rounding: counts are whole, shares in [0, 1]).

    >>> ratio([1, 0], [2, 0]).tolist()
    [0.5, nan]
    """
    one, other = np.broadcast_arrays(np.asarray(above, float), np.asarray(below, float))
    quotient: Array = np.divide(
        one, other, out=np.full(other.shape, np.nan), where=np.abs(other) > 1e-12
    )
    return quotient


def value_of(figure: ArrayLike) -> float | None:
    """A figure in [-1, 1] as a number: None where undefined; rounding may step over by one bit.

    >>> value_of(1 + 1e-15), value_of(ratio(0, 0))
    (1.0, None)
    """
    number = float(np.asarray(figure))
    return None if math.isnan(number) else max(-1.0, min(1.0, number))


def values_of(figures: Mapping[str, Any]) -> dict[str, Any]:
    """The same of figures by name, however nested."""
    return {
        name: values_of(figure) if isinstance(figure, Mapping) else value_of(figure)
        for name, figure in figures.items()
    }
