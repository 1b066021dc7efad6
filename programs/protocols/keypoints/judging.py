"""What is asked of answers: which key points they state, and which of their claims state one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import StrictStr

from ....metrics import count_words
from ....records.judgements import Judged
from ....records.key_points import Claim, ClaimSet, Entailment, claims_row, entailment_row
from ....records.rows import Answer, KeyPoint, KeyPointSet
from ...engine.stage import Item, labels, makes, rows_of
from ..program import Run

Sets = Mapping[str, KeyPointSet | None]  # by topic; None: they could not be made
AnswerId = tuple[str, str]  # topic and run


async def entailed(run: Run, sets: Sets) -> tuple[list[tuple[str, str]], dict[AnswerId, int]]:
    """Look for the key points in all answers, one by one or a window in a call.

    Returns: (run, topic) of the answers whose key points could not be made; the words of each
        answer.
    Source: arXiv:2410.23000 asks about one key point at a time.
    """
    collection, results = run.collection, run.results
    size = run.panel["entailment"].window

    def answers() -> Iterator[tuple[Answer, list[tuple[Sequence[KeyPoint], Item]]]]:
        """Topic by topic, so that calls about one answer follow each other."""
        for answer in collection.answers():
            if answer.topic_id in sets:
                yield answer, _windows(answer, sets[answer.topic_id], size)

    def items() -> Iterator[Item]:
        return (item for _, windows in answers() for _, item in windows)

    known = (points for points in sets.values() if points is not None)
    total = sum(collection.n_with_text[s.topic_id] * -(-len(s.key_points) // size) for s in known)
    stage = labels("entailments", run.panel, "entailment", items, total=total)
    unmade: list[tuple[str, str]] = []
    lengths: dict[AnswerId, int] = {}
    async with run.session.judged(stage, results) as outcome:
        with results.open("entailments.jsonl") as rows:
            for answer, windows in answers():
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                lengths[answer.topic_id, answer.run_id] = count_words(answer.text)
                if (points := sets[answer.topic_id]) is None:
                    unmade.append((answer.run_id, answer.topic_id))
                    continue
                for window, item in windows:
                    found = rows_of(outcome(item), item.n)
                    for point, verdict in zip(window, found, strict=True):
                        rows.write(_row(ids, point, verdict))
                if not answer.text.strip():
                    results.count("answers without text (state no key point)")
                    for point in points.key_points:
                        rows.write(_row(ids, point, {"label": "neutral"}))
    return unmade, lengths


async def claims_of(run: Run, sets: Sets) -> None:
    """Write claims.jsonl: what each answer claims, and which of it states a key point."""
    claims = await _claims(run, sets)
    found = await _precise(run, sets, claims)
    with run.results.open("claims.jsonl") as rows:
        for (topic_id, run_id), texts in claims.items():
            of_answer = None
            if texts is not None:
                pairs = zip(texts, found[topic_id, run_id], strict=True)
                of_answer = tuple(_claim(text, verdict) for text, verdict in pairs)
            rows.write(claims_row(ClaimSet(topic_id=topic_id, run_id=run_id, claims=of_answer)))


async def _claims(run: Run, sets: Sets) -> dict[AnswerId, list[str] | None]:
    """By answer its claims: [] without text, None where they are missing."""

    def answers() -> Iterator[Answer]:
        for answer in run.collection.answers():
            if sets.get(answer.topic_id) is not None:
                yield answer

    def item_of(answer: Answer) -> Item:
        return Item({"topic_id": answer.topic_id, "run_id": answer.run_id}, (answer.text,))

    def items() -> Iterator[Item]:
        return (item_of(answer) for answer in answers() if answer.text.strip())

    n_with_text = run.collection.n_with_text
    total = sum(n_with_text[t] for t, points in sets.items() if points is not None)
    extract = run.panel["claim_extractor"].extract
    stage = makes("claims", ("claim_extractor",), extract, items, made=list[StrictStr], total=total)
    found: dict[AnswerId, list[str] | None] = {}
    async with run.session.judged(stage, run.results) as outcome:
        for answer in answers():
            found[answer.topic_id, answer.run_id] = []
            if answer.text.strip():
                made = outcome(item_of(answer))
                texts = made.values["made"] if isinstance(made, Judged) else None
                found[answer.topic_id, answer.run_id] = texts
    return found


async def _precise(
    run: Run, sets: Sets, claims: Mapping[AnswerId, Sequence[str] | None]
) -> dict[AnswerId, list[dict[str, Any]]]:
    """By answer the verdicts on its claims, `yes` where one states a key point."""
    from ....judges.claim import numbered  # with which DSPy comes

    size = run.panel["claim"].window
    listed = {
        topic: numbered([point.text for point in points.key_points])
        for topic, points in sets.items()
        if points is not None
    }

    def items() -> Iterator[Item]:
        for (topic_id, run_id), texts in claims.items():
            for start in range(0, len(texts or ()) if listed[topic_id] else 0, size):
                window = list((texts or ())[start : start + size])
                ids = {"topic_id": topic_id, "run_id": run_id, "claim": start}
                yield Item(ids, (listed[topic_id], window), len(window))

    found: dict[AnswerId, list[dict[str, Any]]] = {answer: [] for answer in claims}
    stage = labels("precision", run.panel, "claim", items)
    async with run.session.judged(stage, run.results) as outcome:
        for item in items():
            of_answer = found[item.ids["topic_id"], item.ids["run_id"]]
            of_answer += rows_of(outcome(item), item.n)
    return found


def _windows(
    answer: Answer, points: KeyPointSet | None, size: int
) -> list[tuple[Sequence[KeyPoint], Item]]:
    """The key points that are asked about together; of an answer without text none."""
    wanted = points.key_points if points is not None and answer.text.strip() else ()
    found: list[tuple[Sequence[KeyPoint], Item]] = []
    for start in range(0, len(wanted), size):
        window = wanted[start : start + size]
        ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
        named = {**ids, "key_points": [point.id for point in window]}
        payload = ([point.text for point in window], answer.text)
        found.append((window, Item(named, payload, len(window))))
    return found


def _claim(text: str, verdict: Mapping[str, Any]) -> Claim:
    known = {name: verdict[name] for name in ("label", "evidence", "rationale") if name in verdict}
    return Claim(text=text, **known)


def _row(ids: Mapping[str, str], point: KeyPoint, verdict: Mapping[str, Any]) -> dict[str, Any]:
    return entailment_row(Entailment(**ids, key_point_id=point.id, **verdict))
