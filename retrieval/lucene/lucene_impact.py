"""Learned sparse retrieval by Lucene: an inverted index of the weights that a model gives terms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from ...records.rows import Passage
from ..corpus import in_batches, passage_text
from ..scored import Ranked, Scored, check_queries
from ..splade import SparseEncoder
from .anserini import java_errors, open_searcher, ranked_hits, write_index
from .java import start_java

KIND = "lucene-impact"
SCALE = 100  # Lucene keeps whole numbers; hundredths, as in Anserini's own SPLADE indexes
BATCH = 256  # passages encoded at once


class TermEncoder(SparseEncoder, Protocol):
    """A sparse encoder that can name its terms; `splade.SpladeEncoder` is one."""

    def term_weights(self, row: Any) -> dict[str, float]:
        """The terms of one row (1, n_terms), without white space, and their weights."""
        ...


def build_impact(
    passages: Iterable[Passage], encoder: TermEncoder, folder: Path, *, scale: int = SCALE
) -> None:
    """Index the term weights of passages, each kept as round(weight * scale).

    Args:
        passages: with ids that occur once, as `stream_passages` gives them; read once.

    Raises: InputError if Java or Pyserini is missing or the folder cannot be written; ValueError
        if there are no passages, scale < 1 or a term has white space in it.
    """
    if scale < 1:
        raise ValueError(f"scale must be 1 or more, got {scale}")
    settings = {"encoder": encoder.name, "scale": scale}
    flags = ("-collection", "JsonVectorCollection", "-impact", "-pretokenized")
    write_index(_rows(passages, encoder, scale), folder, KIND, settings, *flags)


class LuceneImpact:
    """Search an index of term weights; the score is the sum of products of the rounded weights.

    It holds the index on disk and looks at the terms of a query alone, which `Splade` does not:
    the choice for large collections.

    Differs: pyserini's LuceneImpactSearcher ignores terms that all passages have.

    Args:
        index: the folder of an index that `build_impact` made; or, as text, the name of an impact
            index that Pyserini downloads, such as "msmarco-v1-passage.splade-v3".
        encoder: of the queries, the one that the index was made with.

    Raises: InputError if Pyserini, Java or the index is missing or corrupt, or the index was made
        with another encoder.

    Example:
        encoder = SpladeEncoder("naver/splade-v3")
        build_impact(stream_passages([Path("p.jsonl")], problems), encoder, Path("index"))
        [ranked] = LuceneImpact(Path("index"), encoder).search(["why do cats purr?"], 10)
    """

    def __init__(self, index: Path | str, encoder: TermEncoder) -> None:
        wanted = {"encoder": encoder.name}
        opened = open_searcher("SimpleImpactSearcher", index, KIND, wanted)
        self._searcher, self._folder, settings = opened
        self._scale: int = settings.get("scale", SCALE)
        self._encoder = encoder

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """The best `hits` passages of each query, best first. See Retriever.search."""
        check_queries(queries, hits)
        rows = self._encoder.queries(queries)
        with java_errors(self._folder):
            return [self._ask(self._impacts(rows[[i]]), hits) for i in range(len(queries))]

    def _impacts(self, row: Any) -> dict[str, int]:
        return _impacts(self._encoder.term_weights(row), self._scale)

    def _ask(self, impacts: dict[str, int], hits: int) -> Ranked:
        query = start_java().autoclass("java.util.HashMap")()
        for term, impact in impacts.items():
            query.put(term, impact)
        ranked = ranked_hits(self._searcher.search(query, hits))
        return [Scored(name, score / self._scale**2) for name, score in ranked]


def _rows(
    passages: Iterable[Passage], encoder: TermEncoder, scale: int
) -> Iterator[dict[str, Any] | None]:
    for some in in_batches(passages, BATCH):
        rows = encoder.passages([passage_text(passage) for passage in some])
        for position, passage in enumerate(some):
            impacts = _impacts(encoder.term_weights(rows[[position]]), scale)
            yield {"id": passage.id, "contents": "", "vector": impacts} if impacts else None


def _impacts(weights: dict[str, float], scale: int) -> dict[str, int]:
    """Weights as whole numbers; those that round to 0 are left out."""
    for term in weights:
        if term.split() != [term]:
            raise ValueError(f"term {term!r} has white space in it or is empty")
    return {term: n for term, weight in weights.items() if (n := round(weight * scale)) > 0}
