"""BM25 embedded against Lucene's, on real judged passages: the table of docs/benchmarks/bm25.md.

    python -m benchmarks.pages.bm25 DATA

DATA holds the folders crux_duc and rag24_e2e, laid out as docs/benchmarks/bm25.md says; one that is
missing is left out of the table. Needs the `lucene` extra.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import ir_measures
from ir_measures import R, nDCG

from nuggetjudge.metrics.rank_correlation import kendall_tau
from nuggetjudge.programs.protocols.coverage.topic import TopicView
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.relevance import read_qrels
from nuggetjudge.records.rows import Passage
from nuggetjudge.records.topics import read_topics
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.corpus import passage_text, stream_passages
from nuggetjudge.retrieval.defaults import K1, B
from nuggetjudge.retrieval.english import terms
from nuggetjudge.retrieval.lucene import Lucene, build_lucene
from nuggetjudge.retrieval.scored import Ranked, Retriever, best_first

from .crux_duc import SETTINGS, read_duc

HITS, TOP = 100, 10
N_TIMED = 5  # searches of all queries, after one that is not timed
COLUMNS = ["collection", "BM25", "nDCG@10", "recall@100", "shared", "tau", "index, s", "search, ms"]


@dataclass(frozen=True)
class Collection:
    """Passages, queries by topic, and the grades of passages that are there; others are 0."""

    name: str
    passages: Sequence[Passage]
    queries: dict[str, str]
    qrels: dict[str, dict[str, int]]


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        ndcg, recall: means over topics, in [0, 1]; grade 1 is relevant.
        n_shared: of Lucene's first 10, mean over topics.
        tau: Kendall's tau-b with Lucene of the passages that both found, mean over topics.
        index_s: of the whole collection. search_ms: of one query.
    """

    system: str
    ndcg: float
    recall: float
    n_shared: float
    tau: float
    index_s: float
    search_ms: float


class RoundedBm25:
    """BM25 with the lengths of passages as Lucene keeps them, in plain Python."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self._counts = {p.id: Counter(terms(passage_text(p))) for p in passages}
        self._n_holding = Counter(term for counts in self._counts.values() for term in counts)
        lengths = {name: counts.total() for name, counts in self._counts.items() if counts}
        self._n_passages = len(lengths)  # Lucene does not count those without a term
        mean = fmean(lengths.values())
        self._damping = {
            name: K1 * (1 - B + B * encoded_length(length) / mean)
            for name, length in lengths.items()
        }

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """The best passages of each query, best first, equal scores by id as Anserini has them."""
        return [self._search(query, hits) for query in queries]

    def _search(self, query: str, hits: int) -> Ranked:
        scores: dict[str, float] = {}
        for name in sorted(self._damping):
            counts, damping = self._counts[name], self._damping[name]
            matches = [term for term in terms(query) if term in counts]
            if matches:
                parts = (self._rarity(t) * counts[t] / (counts[t] + damping) for t in matches)
                scores[name] = round(math.fsum(parts), 4)
        return best_first(scores, hits)

    def _rarity(self, term: str) -> float:
        n = self._n_holding[term]
        return math.log1p((self._n_passages - n + 0.5) / (n + 0.5))


def encoded_length(length: int) -> int:
    """The length that Lucene's norm of one byte stands for: four leading bits of what exceeds 24.

    Source: org.apache.lucene.util.SmallFloat, intToByte4.

    >>> encoded_length(39), encoded_length(57), encoded_length(119)
    (39, 56, 112)
    """
    above = length - 24
    shift = max(above.bit_length() - 4, 0) if above > 0 else 0
    return length if not shift else 24 + (above >> shift << shift)


def crux_duc(folder: Path) -> Collection:
    """The passages of all topics together; a request is the query; grades by our rule, 0 to 3."""
    duc = read_duc(folder)
    return Collection(
        name="crux_duc",
        passages=_passages(folder),
        queries={topic: row["request"] for topic, row in duc.queries.items()},
        qrels={topic: TopicView(duc.data, topic, SETTINGS).grades() for topic in duc.queries},
    )


def rag24_e2e(folder: Path) -> Collection:
    """TREC RAG 2024: the grades of NIST, of the passages whose text is there alone."""
    problems = Problems()
    topics = read_topics(folder / "topics.tsv", problems)
    qrels = read_qrels(folder / "qrels_nist.txt", problems)
    problems.raise_errors()
    passages = _passages(folder)
    ids = {passage.id for passage in passages}
    return Collection(
        name="rag24_e2e",
        passages=passages,
        queries={name: topic.text for name, topic in topics.items()},
        qrels={
            topic: {name: grade for name, grade in qrels[topic].items() if name in ids}
            for topic in topics
        },
    )


COLLECTIONS: dict[str, Callable[[Path], Collection]] = {
    "crux_duc": crux_duc,
    "rag24_e2e": rag24_e2e,
}


def measure(collection: Collection, work: Path) -> list[Row]:
    """The rows of a collection; indexes are made in `work`."""

    def embedded() -> Retriever:
        Bm25.build(collection.passages).save(work / "bm25")
        return Bm25.open(work / "bm25")

    def lucene() -> Retriever:
        build_lucene(collection.passages, work / "lucene")
        return Lucene(work / "lucene")

    systems: dict[str, Callable[[], Retriever]] = {
        "Lucene": lucene,
        "embedded": embedded,
        "embedded formula, Lucene's lengths": lambda: RoundedBm25(collection.passages),
    }
    rows, of_lucene = [], None
    for name, make in systems.items():
        row, ranked = _row(name, make, collection, of_lucene)
        of_lucene = of_lucene or ranked
        rows.append(row)
    return rows


def _row(
    name: str,
    make: Callable[[], Retriever],
    collection: Collection,
    of_lucene: dict[str, Ranked] | None,
) -> tuple[Row, dict[str, Ranked]]:
    """One line, and the ranking of each topic."""
    start = time.perf_counter()
    retriever = make()
    index_s = time.perf_counter() - start
    queries = list(collection.queries.values())
    rankings = dict(zip(collection.queries, retriever.search(queries, HITS), strict=True))
    start = time.perf_counter()
    for _ in range(N_TIMED):
        retriever.search(queries, HITS)
    search_s = (time.perf_counter() - start) / (N_TIMED * len(queries))
    means = ir_measures.calc_aggregate(
        [nDCG @ TOP, R @ HITS],
        [
            ir_measures.Qrel(t, p, g)
            for t, grades in collection.qrels.items()
            for p, g in grades.items()
        ],
        [
            ir_measures.ScoredDoc(topic, one.passage_id, -rank)  # by rank: scores may be equal
            for topic, ranked in rankings.items()
            for rank, one in enumerate(ranked)
        ],
    )
    reference = of_lucene or rankings
    taus = [
        tau for topic in rankings if (tau := _tau(reference[topic], rankings[topic])) is not None
    ]
    row = Row(
        system=name,
        ndcg=means[nDCG @ TOP],
        recall=means[R @ HITS],
        n_shared=fmean(_n_shared(reference[topic], rankings[topic]) for topic in rankings),
        tau=fmean(taus),
        index_s=index_s,
        search_ms=1000 * search_s,
    )
    return row, rankings


def _n_shared(one: Ranked, other: Ranked) -> int:
    tops = [{passage.passage_id for passage in ranked[:TOP]} for ranked in (one, other)]
    return len(tops[0] & tops[1])


def _tau(one: Ranked, other: Ranked) -> float | None:
    """Tau-b of the ranks of the passages that both found."""
    ranks = {passage.passage_id: rank for rank, passage in enumerate(other)}
    both = [
        (rank, ranks[passage.passage_id])
        for rank, passage in enumerate(one)
        if passage.passage_id in ranks
    ]
    return kendall_tau([first for first, _ in both], [second for _, second in both])


def shown(collection: Collection, row: Row) -> str:
    """A line of the table."""
    n_passages, n_topics = len(collection.passages), len(collection.queries)
    cells = [
        f"{collection.name}: {n_passages:,} passages, {n_topics} topics",
        row.system,
        f"{row.ndcg:.4f}",
        f"{row.recall:.4f}",
        f"{row.n_shared:.2f}",
        f"{row.tau:.4f}",
        f"{row.index_s:.1f}",
        f"{row.search_ms:.1f}",
    ]
    return _line(cells)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _passages(folder: Path) -> list[Passage]:
    return list(stream_passages([folder / "passages.jsonl"], Problems()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("data", type=Path)
    data = parser.parse_args(arguments).data
    print(_line(COLUMNS))
    print(_line("---" if column < 2 else "---:" for column in range(len(COLUMNS))))
    for name, read in COLLECTIONS.items():
        if not (data / name).is_dir():
            print(f"{name}: not found in {data}", file=sys.stderr)
            continue
        collection = read(data / name)
        with tempfile.TemporaryDirectory() as work:
            for row in measure(collection, Path(work)):
                print(shown(collection, row))


if __name__ == "__main__":
    main()
