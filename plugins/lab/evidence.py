"""`judge evidence`: check suggested citations with labels of people."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from ...agents import Corpus
from ...backends.loop import run_each
from ...judges.items import ItemJudge
from ...judges.lexical.overlap import content_words, recall
from ...metrics.inference import Draws, Interval, resampling
from ...programs.analysis.tables.words import get_interval, write_share
from ...programs.config.sections import Config
from ...programs.engine.folders import find_inputs
from ...programs.engine.session import Session, run_session
from ...programs.inputs import load_collection
from ...programs.pipelines.searching import PipelineCorpus
from ...programs.protocols.evidence import SUPPORT, EvidenceSearch, evidence_agent
from ...records.judgements import Judged
from ...records.kinds import Cell
from ...records.reading.problems import Problems
from ...records.rows import Answer, Passage, Sentence
from ...records.support import read_sentence_evidence
from ...views.table import Column, Kind, View
from .columns import Fields, estimate, make_table, show
from .probe.planting import MAX_SHARED, MIN_WORDS

CUTS = (0.5, 0.6, 0.7, 0.8)  # of scores
RANKS = (1, 3, 5, 10, 20)
DEEP = max(RANKS)


class Read(NamedTuple):
    """A suggestion that people labelled; `score` None: its judge gives no scores."""

    topic_id: str
    label: str
    score: float | None
    shown: bool


def find_labelled_suggestions(evidence: Path, labels: Mapping[Cell, str]) -> list[Read]:
    """Find the full-support suggestions in evidence.jsonl that have a label.

    Args:
        labels: (topic, run, sentence, passage) -> support label.

    Raises: InputError for a broken file.
    """
    problems, labelled = Problems(), []
    for row in read_sentence_evidence(evidence, problems):
        suggestion = row.suggestion
        if suggestion is not None and suggestion.label == "full":
            cell = (row.topic_id, row.run_id, str(row.sentence), suggestion.passage_id)
            if cell in labels:
                labelled.append(Read(row.topic_id, labels[cell], suggestion.score, row.shown))
    problems.raise_errors()
    return labelled


def precision_rows(read: Sequence[Read], **draws: Unpack[Draws]) -> list[dict[str, Any]]:
    """Precision of the suggestions that the run uses, of all, and above each score.

    Returns: rows of `chosen`, `n`, `full` (share with full support) and `partly` (share with at
        least partial support), each share with its interval over topics.
    """
    chosen = {"used": [each for each in read if each.shown], "all": read}
    for cut in CUTS:
        above = [each for each in read if each.score is not None and each.score >= cut]
        chosen[f"score >= {cut:.2f}"] = above
    labels = {"full": {"full"}, "partly": {"full", "partial"}}
    rows = []
    for name, of in chosen.items():
        topics = [each.topic_id for each in of]
        shares = {
            each: asdict(share([one.label in wanted for one in of], topics, **draws))
            for each, wanted in labels.items()
        }
        rows.append({"chosen": name, "n": len(of), **shares})
    return rows


def share(
    hits: Sequence[bool],
    topics: Sequence[str],
    weights: Sequence[float] | None = None,
    **draws: Unpack[Draws],
) -> Interval:
    """The share of hits, with optional weights, and its interval over topics.

    >>> share([True, False], ["a", "b"], [3.0, 1.0], resamples=0).value
    0.75
    """
    return resampling(topics, **draws).mean(hits, [1.0] * len(hits) if weights is None else weights)


@dataclass(frozen=True)
class Carried:
    """A sentence with a passage that people labelled full support.

    `others`: the other passages that its answer cites.
    """

    topic_id: str
    run_id: str
    sentence: Sentence
    passage: Passage
    others: tuple[str, ...]


@dataclass(frozen=True)
class Refound:
    """The results as rows, each with its n; shares have an interval over topics."""

    search: list[dict[str, Any]]
    swaps: list[dict[str, Any]]
    counts: dict[str, int]


def refound(
    folder: Path,
    labels: Mapping[Cell, str],
    *,
    sample: int | None = None,
    pools: Mapping[str, Sequence[str]] | None = None,
    most_shared: float | None = MAX_SHARED,
    scope: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    quiet: bool = True,
) -> Refound:
    """Search again for citations that people labelled full, and repair planted swaps.

    A swap replaces the citation by another passage of the topic that shares at most a quarter of
    the sentence's content words, as in `judge probe --faults`. The right passage is removed from
    the answer's references, unless another sentence cites it.

    Args:
        folder: results of the evidence task; its config has the passages, the search and the judge.
        labels: (topic, run, sentence, passage) -> support label.
        sample: most sentences, drawn by seed; None: all.
        pools: topic -> ids of passages to draw swaps from; None: passages with labels.
        most_shared: share in [0, 1] of the sentence's content words that a swap may have; None:
            any, and short sentences are used too.
        scope: where to search for the repair, see `Plan.scopes`; None: as in the config.

    Raises: InputError for a folder that cannot be used; see also `run_session`.
    """
    config = find_inputs(folder).check("the search cannot be repeated without it")
    if scope is not None:
        searched = config.evidence.model_copy(update={"scope": tuple(scope)})
        config = config.model_copy(update={"evidence": searched})
    corpus = PipelineCorpus(config, config.evidence.pipeline)
    citations = list(_find_supported(config, corpus, labels))
    if sample is not None and sample < len(citations):
        drawn = np.random.default_rng(seed).choice(len(citations), sample, replace=False)
        citations = [citations[index] for index in sorted(drawn)]
    judges = EvidenceSearch().list_judges(config)
    pools = _pools(labels) if pools is None else pools

    draws: Draws = {"resamples": resamples, "seed": seed}

    async def work(session: Session) -> Refound:
        ranks = await _ranks(corpus, citations)
        planted = _plant_faults(corpus, citations, pools, most_shared, seed)
        counts = {"citations that people confirmed": len(citations), "swaps planted": len(planted)}
        swaps = await _repair(session, corpus, planted)
        topics = [each.topic_id for each in citations]
        hits_by_rank = {
            most: [(topic, rank <= most) for topic, rank in zip(topics, ranks, strict=True)]
            for most in RANKS
        }
        search = [_figure(f"in the top {most}", hits, draws) for most, hits in hits_by_rank.items()]
        return Refound(search, _swap_rows(swaps, draws), counts)

    return run_session(config, judges, work, retry=False, quiet=quiet)


def _find_supported(
    config: Config, corpus: Corpus, labels: Mapping[Cell, str]
) -> Iterator[Carried]:
    """The first citation of each sentence that people labelled full, if its text is known."""
    for answer in load_collection(config.data, config.run.limit).answers():
        for sentence in answer.sentences:
            for name in [c.passage_id for c in sentence.citations[:1]]:
                cell = (answer.topic_id, answer.run_id, str(sentence.id), name)
                passage = corpus.passage(name) if labels.get(cell) == "full" else None
                if passage is not None and sentence.makes_claim:
                    others = _others(answer, sentence, name)
                    yield Carried(answer.topic_id, answer.run_id, sentence, passage, others)


def _others(answer: Answer, sentence: Sentence, cited: str) -> tuple[str, ...]:
    elsewhere = {c.passage_id for s in answer.sentences if s is not sentence for c in s.citations}
    own = (c.passage_id for c in sentence.citations)
    names = dict.fromkeys((*answer.references, *own, *elsewhere))
    return tuple(name for name in names if name != cited or name in elsewhere)


def _pools(labels: Mapping[Cell, str]) -> dict[str, list[str]]:
    """The labelled passages of each topic."""
    pools: dict[str, set[str]] = {}
    for topic_id, _, _, passage_id in labels:
        pools.setdefault(topic_id, set()).add(passage_id)
    return {topic_id: sorted(names) for topic_id, names in pools.items()}


async def _ranks(corpus: Corpus, citations: Sequence[Carried]) -> list[float]:
    """The rank at which a search with the sentence finds the passage; inf: not found."""
    ranks: list[float] = []
    for each in citations:
        hits = [name for name, _ in (await corpus.search(each.sentence.text))[:DEEP]]
        name = each.passage.id
        ranks.append(hits.index(name) + 1 if name in hits else float("inf"))
        await asyncio.sleep(0)
    return ranks


@dataclass(frozen=True)
class _Swap:
    topic_id: str
    flagged: bool | None  # None: not judged
    exactly: bool | None = None
    in_best: bool | None = None
    anything: bool | None = None


def _plant_faults(
    corpus: Corpus,
    citations: Sequence[Carried],
    pools: Mapping[str, Sequence[str]],
    most_shared: float | None,
    seed: int,
) -> list[tuple[Carried, Passage]]:
    rng = np.random.default_rng(seed)
    planted = []
    for each in citations:
        names = _free(each, corpus, pools.get(each.topic_id, ()), most_shared)
        if names:
            planted.append((each, names[int(rng.integers(len(names)))]))
    return planted


async def _repair(
    session: Session, corpus: Corpus, planted: Sequence[tuple[Carried, Passage]]
) -> list[_Swap]:
    agent = evidence_agent(session.config, session.judge_set, corpus)
    support: ItemJudge = session.judge_set[SUPPORT]

    async def one(swapped: tuple[Carried, Passage]) -> _Swap:
        each, swap = swapped
        inputs = {"sentence": each.sentence.text, "passage": swap.text}
        shown = support.optional_inputs({"title": swap.title})
        judged, _ = await support.judge_items([{**inputs, **shown}], each.topic_id)
        label = getattr(judged[0], "label", None)
        if label is None or label == "full":
            return _Swap(each.topic_id, None if label is None else False)
        outcome = await agent.outcome(
            topic_id=each.topic_id,
            question="",
            sentence=each.sentence.text,
            cited=swap.id,
            label=label,
            references=list(each.others),
            documents={},
        )
        if not isinstance(outcome, Judged):
            return _Swap(each.topic_id, True)
        made = outcome.values["made"]
        suggestion, name = made["suggestion"], each.passage.id
        is_full = suggestion is not None and suggestion["label"] == "full"
        is_it = is_full and suggestion["passage_id"] == name
        return _Swap(each.topic_id, True, is_it, name in made["best"], is_full)

    return await run_each(planted, one, session.config.run.concurrency)


def _free(
    each: Carried, corpus: Corpus, pool: Sequence[str], most_shared: float | None
) -> list[Passage]:
    passages = (corpus.passage(name) for name in pool)
    others = [p for p in passages if p is not None and p.text != each.passage.text]
    if most_shared is None:
        return others
    needed = content_words(each.sentence.text)
    if len(needed) < MIN_WORDS:
        return []
    return [p for p in others if recall(needed, content_words(p.text)) <= most_shared]


def _swap_rows(swaps: Sequence[_Swap], draws: Draws) -> list[dict[str, Any]]:
    """The share of swaps that were flagged, and the shares of flagged swaps that were repaired."""
    flagged = [each for each in swaps if each.flagged]
    return [
        _figure(what, [(each.topic_id, getattr(each, name)) for each in of], draws)
        for what, of, name in (
            ("flagged", swaps, "flagged"),
            ("flagged, a passage suggested", flagged, "anything"),
            ("flagged, the right one suggested", flagged, "exactly"),
            ("flagged, the right one in the top 3", flagged, "in_best"),
        )
    ]


def _figure(what: str, results: Sequence[tuple[str, bool | None]], draws: Draws) -> dict[str, Any]:
    """The share of hits among (topic, hit); None: not judged."""
    judged = [(topic, hit) for topic, hit in results if hit is not None]
    interval = share([hit for _, hit in judged], [topic for topic, _ in judged], **draws)
    counts = {"n": len(judged), "n_unjudged": len(results) - len(judged)}
    return {"what": what, **counts, **asdict(interval)}


def evidence_view(
    precision: Sequence[Fields], search: Sequence[Fields], swaps: Sequence[Fields]
) -> View:
    """The view of `judge evidence`; each of the tables may be empty."""
    tables = []
    if precision:
        columns = [
            (Column("chosen", Kind.TEXT, "suggestions"), lambda row: row["chosen"]),
            show("n", Kind.COUNT),
            *estimate("full", "full support"),
            *estimate("partly", "full or partial", optional=(0, 1)),
        ]
        first, *others = precision
        tables.append(make_table("", columns, [{**first, "leads": True}, *others]))
    for title, rows in (("confirmed citations", search), ("planted swaps", swaps)):
        columns = [
            show("what", Kind.TEXT, title),
            show("n", Kind.COUNT),
            show("share", Kind.SHARE, path="value"),
            (Column("interval", Kind.INTERVAL), get_interval),
            (Column("unjudged", Kind.COUNT), lambda row: row.get("n_unjudged", 0)),
        ]
        tables += [make_table("", columns, rows)] if rows else []
    return View(_write_verdict(precision, search), tables, ["Intervals are over topics."])


def _write_verdict(precision: Sequence[Fields], search: Sequence[Fields]) -> str:
    """Say how often suggestions support their sentence, and how often confirmed ones are found."""
    parts = []
    if precision and precision[0]["n"]:
        used = precision[0]
        n = write_share(used["full"], used["n"], "labelled suggestions")
        parts.append(f"{n} that the run uses fully support their sentence")
    if search and search[0]["n"]:
        found = search[0]
        n = write_share(found, found["n"], "confirmed citations")
        parts.append(f"the search finds {n} again")
    if not parts:
        return "No label belongs to a suggestion that the run uses."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."
