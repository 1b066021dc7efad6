"""Make nugget banks with an agent that searches the passages (`nuggets.method: search`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import StrictStr

from ...records.judgements import Judged, Outcome, Provenance, Unjudged
from ...records.nuggets import read_nugget_banks
from ...records.reading.fields import as_int, read_lines
from ...records.reading.problems import InputError, Problems
from ...records.rows import Importance, Nugget, NuggetBank, NuggetSource, nugget_ids
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.journal import Count, make_list_type, make_object_type
from ..engine.stage import Item, acts, makes
from ..inputs import Collection
from .program import Run

if TYPE_CHECKING:
    from ...agents.nugget_searcher import NuggetSearcher

SEARCHES, POOL = "nugget_search.jsonl", "pool.jsonl"
JUDGES: tuple[JudgeName, ...] = (
    "question_decomposer",
    "nugget_proposer",
    "support",
    "entailment",
    "gap_writer",
)
SOURCE = make_object_type(
    {"docid": StrictStr, "start": Count, "end": Count, "query": StrictStr, "round": Count}
)
MADE = make_object_type(
    {
        "nuggets": make_list_type(
            make_object_type({"text": StrictStr, "sources": make_list_type(SOURCE)})
        ),
        "stop": Literal["nothing_new", "rounds", "calls", "most"],
        "new": list[Count],
        "started": Count,
        "ungrounded": Count,
        "merged": Count,
        "facets": make_list_type(make_object_type({"question": StrictStr, "nuggets": Count})),
        "read": list[StrictStr],
        "calls": int,  # a jury may exceed the limit, which is checked before each question
    }
)
_ENDED = {
    "rounds": "the last round still found nuggets",
    "calls": "the limit of calls was reached",
    "most": "the list was full",
}
Passages = Mapping[str, Sequence[str]]  # texts by topic
Start = Mapping[str, Outcome | Sequence[str]]  # nuggets by topic, or the reason why there are none


def check_search(config: Config, collection: Collection) -> None:
    """Raise InputError if there is nothing to search or to start from."""
    if config.data.nuggets is not None:
        what = "makes nuggets, but data.nuggets gives them; use one of them"
        raise InputError(f"nuggets.method: search {what} (nuggets.start takes a bank)")
    if not config.data.passages:
        what = "searches passages: add passage files (data.passages, --passages)"
        raise InputError(f"nuggets.method: search {what}")
    if config.nuggets.start == "window" and not collection.candidates:
        what = "makes nuggets from candidates: add a file (data.candidates, --candidates)"
        raise InputError(f"nuggets.start: window {what}")


async def search_banks(run: Run, passages: Passages) -> dict[str, NuggetBank | None]:
    """A bank for each topic; None where a judgement or search is missing.

    Args:
        passages: the relevant candidates, for `nuggets.start: window`.
    """
    topics, results = run.collection.topics, run.results
    start = await _start(run, passages)

    def items() -> Iterator[Item]:
        for topic in topics.values():
            ids, starting = {"topic_id": topic.id}, start.get(topic.id, ())
            if isinstance(starting, Unjudged):
                yield Item(ids, None, 1, f"start of the search: {starting.detail}", starting.reason)
            else:
                yield Item(ids, (topic.id, topic.question, starting))

    stage = acts("search", JUDGES, _searcher(run), items, made=MADE, total=len(topics))
    made_items = await run.session.make_stage(stage, results)
    found = {ids["topic_id"]: made for ids, made in made_items if made is not None}
    with results.open(SEARCHES) as rows, results.open(POOL) as pool:
        for topic_id, made in found.items():
            if made["ungrounded"]:
                results.count("nuggets that no passage supports", made["ungrounded"])
            fields = {name: made[name] for name in made if name not in ("nuggets", "read")}
            row = {"topic_id": topic_id, **fields}
            rows.write({**row, "nuggets": len(made["nuggets"]), "read": len(made["read"])})
            pool.write({"topic_id": topic_id, "docids": _relevant(made)})
    return await _rate(run, found)


def _searcher(run: Run) -> NuggetSearcher:
    from ...agents import Limits
    from ...agents.nugget_searcher import NuggetSearcher, SearchSettings

    search = run.config.nugget_search
    settings = SearchSettings(rounds=search.rounds)
    judges = {name: run.judge_set[name] for name in JUDGES}
    corpus = run.corpus(search.pipeline)
    return NuggetSearcher(corpus, Limits(calls=search.calls), judges=judges, settings=settings)


def _relevant(made: Mapping[str, Any]) -> list[str]:
    """Return the passages with a nugget, in reading order."""
    carry = {source["docid"] for nugget in made["nuggets"] for source in nugget["sources"]}
    return [docid for docid in dict.fromkeys((*made["read"], *sorted(carry))) if docid in carry]


async def _start(run: Run, passages: Passages) -> Start:
    """Return the nuggets at the start of searches, by topic."""
    setting = run.config.nuggets.start
    if isinstance(setting, Path):
        banks = read_nugget_banks(setting, run.collection.problems)
        run.collection.problems.raise_errors()
        return {topic: [n.text for n in bank.nuggets] for topic, bank in banks.items()}
    if setting == "none":
        return {}
    nuggetizer, topics = run.judge_set["nuggetizer"], run.collection.topics

    async def make(question: str, texts: list[str]) -> tuple[list[str], list[Provenance]]:
        nuggets, _, calls = await nuggetizer.create(question, texts)
        return nuggets, calls

    def items() -> Iterator[Item]:
        for topic_id, texts in passages.items():
            yield Item({"topic_id": topic_id}, (topics[topic_id].question, list(texts)))

    by_topic: dict[str, Outcome | Sequence[str]] = {}
    stage = makes("start", ("nuggetizer",), make, items, made=list[StrictStr])
    async with run.session.judge_stage(stage, run.results) as outcome:
        for item in items():
            made, topic_id = outcome(item), item.ids["topic_id"]
            by_topic[topic_id] = made.values["made"] if isinstance(made, Judged) else made
    return by_topic


async def _rate(run: Run, found: Mapping[str, Any]) -> dict[str, NuggetBank | None]:
    """Rate, sort and cut the nuggets."""
    topics, importance = run.collection.topics, run.judge_set["importance"]
    keep = run.config.nuggets.keep

    async def rate(question: str, texts: list[str]) -> tuple[list[str], list[Provenance]]:
        labels, calls = await importance.label(question, texts)
        return [label.value for label in labels], calls

    def items() -> Iterator[Item]:
        for topic_id, made in found.items():
            texts = [nugget["text"] for nugget in made["nuggets"]]
            yield Item({"topic_id": topic_id}, (topics[topic_id].question, texts))

    banks: dict[str, NuggetBank | None] = dict.fromkeys(topics)
    labels = list[Literal["vital", "okay"]]
    stage = makes("nuggets", ("importance",), rate, items, made=labels, misfit=_other_number)
    for ids, rated in await run.session.make_stage(stage, run.results):
        if rated is not None:
            topic = topics[ids["topic_id"]]
            both = zip(found[topic.id]["nuggets"], rated, strict=True)
            kept = sorted(both, key=lambda pair: pair[1] != "vital")[:keep]
            nuggets = tuple(_nuggets(kept))
            banks[topic.id] = NuggetBank(topic_id=topic.id, query=topic.text, nuggets=nuggets)
    return banks


def _other_number(item: Item, made: Sequence[str]) -> str:
    wanted = len((item.payload or ((), ()))[1])
    return "" if len(made) == wanted else f"made: {len(made)} labels, wanted {wanted}"


def _nuggets(kept: Sequence[tuple[Mapping[str, Any], str]]) -> Iterator[Nugget]:
    ids = nugget_ids([nugget["text"] for nugget, _ in kept])
    for name, (nugget, label) in zip(ids, kept, strict=True):
        sources = tuple(NuggetSource(**source) for source in nugget["sources"])
        yield Nugget(id=name, text=nugget["text"], importance=Importance(label), sources=sources)


def find_searches(folder: Path) -> Path | None:
    """Return the file with the results of searches in a folder; None if there is none."""
    paths = (folder / SEARCHES, folder / "hunt.jsonl")  # its name in earlier versions
    return next((path for path in paths if path.is_file()), None)


def summarize_searches(folder: Path) -> list[str]:
    """Summarise the searches of a results folder: saturated topics, and new nuggets by round.

    [] without searches.
    """
    path, problems = find_searches(folder), Problems()
    if path is None:
        return []
    ended: Counter[str] = Counter()
    new: list[Sequence[int]] = []
    for line in read_lines(path, problems):
        ended[str(line.row.get("stop"))] += 1
        new.append([as_int(n) or 0 for n in line.array("new") or ()])
    problems.raise_errors()
    if not ended:
        return []
    summary = f"{ended['nothing_new']:,} of {ended.total():,} topics saturated"
    others = (f"{n:,}: {_ENDED.get(why, why)}" for why, n in ended.items() if why != "nothing_new")
    by_round = " + ".join(f"{sum(of_round):,}" for of_round in zip_longest(*new, fillvalue=0))
    summary = "; ".join([summary, *others])
    return [summary, f"New verified nuggets by round: {by_round or 'none'}"]
