"""BM25 by Lucene, with RM3 or Rocchio feedback: the first stage of Pyserini's experiments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..records.reading.problems import InputError
from ..records.rows import Passage
from .corpus import passage_text
from .lucene_index import java_errors, open_searcher, rank_hits, start_java, write_index
from .scored import Ranked, check_queries

_BM25 = "lucene"
BLANK = "".join(map(chr, range(33)))  # Anserini leaves out a passage of only these characters


@dataclass(frozen=True)
class Rm3:
    """Expansion of a query by a relevance model of its first passages (Jaleel et al., TREC 2004).

    Attributes:
        terms, passages: number of expansion terms, and of first passages that give them.
        original_weight: weight of the query itself, in [0, 1].
    """

    terms: int = 10
    passages: int = 10
    original_weight: float = 0.5

    def __post_init__(self) -> None:
        """Raise ValueError for invalid settings."""
        _check(self.terms, self.passages)
        if not 0 <= self.original_weight <= 1:
            raise ValueError(f"original_weight must be in [0, 1], got {self.original_weight}")


@dataclass(frozen=True)
class Rocchio:
    """Expansion of a query by the mean vector of its first passages (Rocchio 1971).

    Attributes:
        terms, passages: number of expansion terms, and of first passages that give them.
        alpha, beta: weights of the query itself and of its expansion.
    """

    terms: int = 10
    passages: int = 10
    alpha: float = 1.0
    beta: float = 0.75

    def __post_init__(self) -> None:
        """Raise ValueError for invalid settings."""
        _check(self.terms, self.passages)
        if self.alpha < 0 or self.beta < 0:
            raise ValueError(f"wanted weights >= 0, got alpha={self.alpha} and beta={self.beta}")


def build_lucene(passages: Iterable[Passage], folder: Path) -> None:
    """Index passages with Lucene's English analysis (Porter stems, 33 stop words).

    Pyserini and Anserini can open the folder too. Texts are not stored.

    Args:
        passages: with unique ids, from `stream_passages`; read once.

    Raises: InputError if Java or Pyserini is missing or the folder cannot be written; ValueError
        if there are no passages.
    """
    flags = ("-collection", "JsonCollection", "-storeDocvectors")  # vectors for feedback
    write_index(map(_row, passages), folder, _BM25, {}, *flags)


class Lucene:
    """Search a Lucene index by BM25, and again with an expanded query if feedback is on.

    Anserini rounds scores to 4 decimals, sorts passages of equal score by id,
    and subtracts a millionth for each equal one before.

    Args:
        index: the folder of an index, ours or made by Pyserini; or, as text, the name of an index
            that Pyserini downloads, such as "msmarco-v2.1-doc-segmented".
        k1, b: of BM25; the defaults are Anserini's.
        rm3, rocchio: expand each query; True for the defaults; not both.

    Raises: InputError if Pyserini, Java or the index is missing or corrupt, or the index has no
        document vectors and feedback is on; ValueError for k1 < 0, b outside [0, 1], or both.

    >>> from tempfile import TemporaryDirectory
    >>> passages = [Passage(id="a", text="red fox"), Passage(id="b", text="dog")]
    >>> with TemporaryDirectory() as folder:
    ...     build_lucene(passages, Path(folder, "index"))
    ...     Lucene(Path(folder, "index")).search(["foxes"], hits=10)
    [[Scored(passage_id='a', score=0.34310001134872437)]]
    """

    def __init__(
        self,
        index: Path | str,
        *,
        k1: float = 0.9,
        b: float = 0.4,
        rm3: Rm3 | bool = False,
        rocchio: Rocchio | bool = False,
    ) -> None:
        if not (k1 >= 0 and 0 <= b <= 1):
            raise ValueError(f"wanted k1 >= 0 and b in [0, 1], got k1={k1} and b={b}")
        if rm3 and rocchio:
            raise ValueError("wanted rm3 or rocchio, got both")
        self._searcher, self._folder, _ = open_searcher("SimpleSearcher", index, _BM25)
        self._searcher.set_bm25(float(k1), float(b))
        if rm3:
            self._feed_back(rm3 if isinstance(rm3, Rm3) else Rm3())
        if rocchio:
            self._feed_back(rocchio if isinstance(rocchio, Rocchio) else Rocchio())

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """Return the best passages of each query; [] for a query without a word of the index.

        Args:
            queries: the texts to search for.
            hits: the maximum number of passages for each query, >= 1.

        Raises: ValueError for a blank query or hits < 1; InputError if the index is corrupt.
        """
        check_queries(queries, hits)
        with java_errors(self._folder):
            return [rank_hits(self._searcher.search(query, hits)) for query in queries]

    def _feed_back(self, how: Rm3 | Rocchio) -> None:
        fields = start_java().autoclass("org.apache.lucene.index.FieldInfos")
        if not fields.getMergedFieldInfos(self._searcher.reader).hasVectors():
            what = "this index has no document vectors, which feedback needs"
            raise InputError(f"{self._folder}: {what}; create one with `judge index`")
        if isinstance(how, Rm3):
            weight = float(how.original_weight)
            self._searcher.set_rm3(None, how.terms, how.passages, weight, False, True)
        else:
            sizes = (how.terms, how.passages) * 2  # of the first passages, and the last (unused)
            weights = (float(how.alpha), float(how.beta), 0.0)
            self._searcher.set_rocchio(None, *sizes, *weights, False, False)


def _check(terms: int, passages: int) -> None:
    if terms < 1 or passages < 1:
        raise ValueError(f"wanted terms and passages >= 1, got {terms} and {passages}")


def _row(passage: Passage) -> dict[str, str] | None:
    text = passage_text(passage)
    return {"id": passage.id, "contents": text} if text.strip(BLANK) else None
