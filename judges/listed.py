"""The items of one call, which share every input but the listed one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload


class Listed(Sequence[dict[str, Any]]):
    """Items that differ in one input: each is made when it is looked at, for a call needs none.

    Args:
        shared: the inputs of all; what it holds under `name` does not matter.
        name: the input in which they differ.
        texts: what each has there, in their order.
    """

    __slots__ = ("name", "shared", "texts")

    def __init__(self, shared: dict[str, Any], name: str, texts: list[Any]) -> None:
        self.shared, self.name, self.texts = shared, name, texts

    def __len__(self) -> int:
        return len(self.texts)

    @overload
    def __getitem__(self, offset: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, offset: slice) -> Listed: ...
    def __getitem__(self, offset: int | slice) -> dict[str, Any] | Listed:
        if isinstance(offset, slice):
            return Listed(self.shared, self.name, self.texts[offset])
        return {**self.shared, self.name: self.texts[offset]}
