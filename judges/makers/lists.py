"""A judge that makes a list of texts: what loading, measuring and fitting need to know of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

from ..base import Judge

ListKind = Literal["nuggets", "questions", "key_points", "claims"]
Inputs = Mapping[str, Any]
Spans = Mapping[str, Sequence[str]]


class ListMaker(Judge):
    """A judge whose result is a list that can be compared with one that people made.

    Attributes:
        kind: the files that lists of people stand in.
        made_from: the inputs of a list, the arguments of `made`.
        predictor, output: the question asked, and the field of the reply that holds the list.
    """

    kind: ClassVar[ListKind]
    made_from: ClassVar[tuple[str, ...]]
    predictor: ClassVar[str]
    output: ClassVar[str]

    async def made(self, **inputs: Any) -> list[str]:
        """The texts of the list, by as many calls as it takes. Raises: JudgeError."""
        raise TypeError(f"{type(self).__name__} must define made()")

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """One call whose right reply is a list of people, ready for JSON: a worked example.

        Args:
            inputs: by `made_from`. texts: the list. spans: of a text, where they are known, the
                verbatim words of the inputs that state it.
        """
        raise TypeError(f"{type(self).__name__} must define example()")
