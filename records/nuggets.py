"""Nugget banks: the atomic facts that answers to a topic are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from .instruments.sub_narratives import sub_narrative_of_nugget
from .reading.fields import Line, as_id, as_int, read_lines, show
from .reading.problems import Problems
from .rows import Importance, Nugget, NuggetBank, NuggetSource, nugget_ids

TOPIC_FIELDS = ("qid", "query_id", "topic_id")
QUERY_FIELDS = ("query", "title_query", "narrative", "title")


def read_nugget_banks(path: Path, problems: Problems) -> dict[str, NuggetBank]:
    """Read banks by topic: nuggetizer's create layout, its envelope, auto-judge NuggetBank v3.

    Of a v3 bank the claims are read; its questions are another kind of nugget and are skipped
    with their number. A nugget keeps its own `id`, or is named by its text (`nugget_ids`).
    The sub-narrative of a nugget (`mapped_sub_narrative`, TREC RAG 2025) is kept with it.
    An importance other than vital or okay becomes None, listed as `importance`.

    Errors reported: no topic, no nuggets field, a topic twice, an id twice in a bank. An empty
    nugget is skipped; a text that occurs twice is kept and mentioned.
    """
    banks: dict[str, NuggetBank] = {}
    for line in read_lines(path, problems):
        topic_id = line.id(*TOPIC_FIELDS)
        is_v3 = "nuggets" not in line.row and (
            "claim_bank" in line.row or "nugget_bank" in line.row
        )
        items = list(_claims(line)) if is_v3 else line.objects("nuggets")
        if topic_id is None or items is None:
            continue
        query = line.optional_text(*QUERY_FIELDS)
        if not query.strip():
            line.keep("no_query", f"the bank of topic {topic_id!r} has no query text")
        if topic_id in banks:
            line.error("duplicate_bank", f"topic {topic_id!r} has a bank already, wanted one")
            continue
        nuggets = tuple(nugget for nugget, _ in read_nuggets(items))
        if not nuggets:
            line.keep("empty_bank", f"the bank of topic {topic_id!r} has no nuggets")
        banks[topic_id] = NuggetBank(topic_id=topic_id, query=query, nuggets=nuggets)
    return banks


def read_nuggets(items: list[Line]) -> list[tuple[Nugget, Line]]:
    """The nuggets of one list, each with the object it stands in; the empty ones are skipped."""
    texts = []
    for item in items:
        text = item.text("text", "claim")
        if text is None:
            continue
        if text.strip():
            texts.append((text, item))
        else:
            item.skip("empty_nugget", f"{item.name('text')} is empty, wanted a fact")
    named = []
    ids: dict[str, str] = {}
    for (text, item), hashed in zip(texts, nugget_ids([t for t, _ in texts]), strict=True):
        own_id = item.optional_id("id", "nugget_id")
        if own_id is None and "-" in hashed:
            item.keep("duplicate_nugget", f"{item.name('text')} has the text of a nugget before it")
        name = own_id or hashed
        if ids.setdefault(name, item.prefix) != item.prefix:
            item.error("duplicate_id", f"{item.name('id')} is {name!r}, which {ids[name]} has too")
            continue
        nugget = Nugget(
            id=name,
            text=text,
            importance=_importance(item),
            sources=_sources(item),
            sub_narrative=sub_narrative_of_nugget(item),
        )
        named.append((nugget, item))
    return named


def nugget_row(nugget: Nugget) -> dict[str, Any]:
    """A nugget in nuggetizer's layout, with our `id`; sources, sub-narrative if it has some."""
    importance = nugget.importance.value if nugget.importance else None
    row = {"id": nugget.id, "text": nugget.text, "importance": importance}
    if nugget.sub_narrative:
        row["mapped_sub_narrative"] = nugget.sub_narrative
    sources = [each if isinstance(each, str) else each.model_dump() for each in nugget.sources]
    return {**row, "sources": sources} if sources else row


def bank_row(bank: NuggetBank) -> dict[str, Any]:
    """A bank in nuggetizer's create layout, each nugget with our `id`."""
    nuggets = [nugget_row(nugget) for nugget in bank.nuggets]
    return {"query": bank.query, "qid": bank.topic_id, "nuggets": nuggets}


def v3_row(bank: NuggetBank) -> dict[str, Any]:
    """A bank as auto-judge tools keep it (NuggetBank v3): a claim for each nugget, by its text.

    Of two nuggets with one text, the key of the second has its id behind it.
    """
    claims: dict[str, Any] = {}
    for nugget in bank.nuggets:
        key = nugget.text if nugget.text not in claims else f"{nugget.text} [{nugget.id}]"
        claim: dict[str, Any] = {
            "claim": nugget.text, "claim_id": nugget.id, "query_id": bank.topic_id
        }  # fmt: skip
        if nugget.importance is not None:
            claim["importance"] = nugget.importance.value
        if nugget.sources:
            names = (one if isinstance(one, str) else one.docid for one in nugget.sources)
            claim["references"] = [{"doc_id": name} for name in dict.fromkeys(names)]
        claims[key] = claim
    about = {"query_id": bank.topic_id, "title_query": bank.query, "format_version": "v3"}
    return {**about, "nugget_bank": {}, "claim_bank": claims}


def _claims(line: Line) -> Iterator[Line]:
    questions = line.row.get("nugget_bank")
    if isinstance(questions, Mapping) and questions:
        what = f"{len(questions)} question nuggets in nugget_bank; only claims are read"
        line.skip("question_nuggets", what)
    claims = line.child("claim_bank")
    for text, claim in claims.row.items() if claims else ():
        if claims and not isinstance(claim, Mapping):
            claims.bad(text, claim, "an object")
        else:
            written = claim.get("claim")  # its key is another where two claims have one text
            text = written if isinstance(written, str) else text
            row = {"text": text, "id": claim.get("claim_id"), **claim}
            yield replace(line, row=row, prefix=f"claim_bank[{show(text)}].")


def _importance(item: Line) -> Importance | None:
    written = item.row.get("importance")
    if isinstance(written, str) and written.strip().lower() in list(Importance):
        return Importance(written.strip().lower())
    what = f"{item.name('importance')} is {show(written)}, wanted vital or okay"
    item.keep("importance", f"{what}; not counted as either")
    return None


def _sources(item: Line) -> tuple[str | NuggetSource, ...]:
    """Passages from `sources`, or from the `references` of a v3 claim.

    One with `start` and `end` is a NuggetSource, any other its id.
    """
    field, written = item.first("sources", "references") or ("", [])
    if not isinstance(written, list):
        item.keep("bad_sources", f"{item.name(field)} is {show(written)}, wanted a list of ids")
        return ()
    sources: list[str | NuggetSource] = []
    for source in written:
        is_object = isinstance(source, Mapping)
        name = as_id(source.get("doc_id", source.get("docid")) if is_object else source)
        if name is None:
            item.keep("bad_sources", f"{item.name(field)} has {show(source)}, wanted an id")
        elif is_object and not source.keys().isdisjoint(("start", "end")):
            sources.append(_placed(item, field, name, source))
        else:
            sources.append(name)
    return tuple(sources)


def _placed(item: Line, field: str, name: str, source: Mapping[str, Any]) -> str | NuggetSource:
    """The words of a source; its id alone where they cannot be any."""
    start, end, number = (as_int(source.get(key)) for key in ("start", "end", "round"))
    query = source.get("query", "")
    if start is None or end is None or not 0 <= start < end or not isinstance(query, str):
        what = f"{item.name(field)} has {show(source)}, wanted 0 <= start < end and a text as query"
        item.keep("bad_sources", f"{what}; its id is used")
        return name
    return NuggetSource(docid=name, start=start, end=end, query=query, round=number or 0)
