"""Small numbers packed into few bits each, as base64; web/pack.js takes them out again."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np

MOST_BITS = 8


def bits_for(n_codes: int) -> int:
    """Bits that tell this many codes apart, 1 to 8.

    >>> [bits_for(n) for n in (1, 2, 4, 5, 8, 9)]
    [1, 1, 2, 3, 3, 4]
    """
    return max(1, (n_codes - 1).bit_length())


def pack(codes: bytes | bytearray | Sequence[int], bits: int) -> str:
    """Base64 of the codes, one after the other, the lowest bit first.

    Args:
        codes: numbers from 0 to 2**bits - 1. bits: of each, 1 to 8.

    Raises: ValueError for a code that does not fit.

    >>> pack([1, 2, 3, 0], bits=2)  # 0b00111001
    'OQ=='
    """
    numbers = np.frombuffer(bytes(codes), dtype=np.uint8)
    if not 1 <= bits <= MOST_BITS or (numbers >> bits).any():
        raise ValueError(f"{max(codes, default=0)} does not fit into {bits} bits, of at most 8")
    spread = np.unpackbits(numbers[:, None], axis=1, bitorder="little")[:, :bits]
    return base64.b64encode(np.packbits(spread, bitorder="little").tobytes()).decode()


def unpack(text: str, bits: int, n: int) -> list[int]:
    """The first n codes that were packed.

    >>> unpack("OQ==", bits=2, n=4)
    [1, 2, 3, 0]
    """
    spread = np.unpackbits(
        np.frombuffer(base64.b64decode(text), dtype=np.uint8), bitorder="little", count=n * bits
    ).reshape(n, bits)
    return [int(code) for code in np.packbits(spread, axis=1, bitorder="little")[:, 0]]
