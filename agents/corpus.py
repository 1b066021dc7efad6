"""The passages that an agent searches, with a fingerprint of passages and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Protocol

import orjson

from ..records.rows import Passage
from ..retrieval.bm25 import Bm25
from ..retrieval.scored import Ranked


class Corpus(Protocol):
    """Passages that can be searched and read. The same query always gives the same ranking.

    Attributes:
        fingerprint: 12 hex digits that identify the passages, the index and the settings of the
            search. It is part of an agent's identity: with another corpus, items are judged anew.
    """

    @property
    def fingerprint(self) -> str: ...

    async def search(self, query: str) -> Ranked:
        """Find the passages for a query, best first; [] if nothing matches.

        Args:
            query: the text to search for.

        Raises: any error; it ends the item as `Unjudged(tool)`.
        """
        ...

    def passage(self, passage_id: str) -> Passage | None:
        """Return a passage by its id, or None."""
        ...


class PassageCorpus:
    """Passages in memory, searched by BM25 (see `retrieval.bm25.Bm25`).

    Args:
        passages: each with a different id.
        hits: the largest number of hits of a search.

    Raises: ValueError for no passages, or two texts under one id.

    >>> corpus = PassageCorpus([Passage(id="a", text="A ship in harbour.")])
    >>> corpus.passage("a").text
    'A ship in harbour.'
    """

    def __init__(self, passages: Iterable[Passage], *, hits: int = 20) -> None:
        self._passages: dict[str, Passage] = {}
        for passage in passages:
            if self._passages.setdefault(passage.id, passage).text != passage.text:
                raise ValueError(f"passage {passage.id!r} has two texts")
        self._bm25 = Bm25.build(self._passages.values())
        self._hits = hits
        rows = [[each.id, each.title, each.text] for each in self._passages.values()]
        about = orjson.dumps([rows, self._bm25.k1, self._bm25.b, hits])
        self.fingerprint = hashlib.sha256(about).hexdigest()[:12]

    async def search(self, query: str) -> Ranked:
        """See Corpus. A blank query finds nothing."""
        return self._bm25.search([query], self._hits)[0] if query.strip() else []

    def passage(self, passage_id: str) -> Passage | None:
        """See Corpus."""
        return self._passages.get(passage_id)
