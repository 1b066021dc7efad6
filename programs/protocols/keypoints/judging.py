"""What is asked of answers: which key points they state, and which of their claims state one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import StrictStr

from ....metrics import count_words
from ....records.key_points import Claim, ClaimSet, Entailment, claims_row, entailment_row
from ....records.rows import Answer, KeyPoint, KeyPointSet
from ...engine.stage import Item, labels, makes, rows_of
from ..points import Look, looked_for
from ..program import Run

Sets = Mapping[str, KeyPointSet | None]  # by topic; None: they could not be made
AnswerId = tuple[str, str]  # topic and run
LOOK = Look[KeyPoint](
    "entailments", "entailment", "key_points", lambda question, answer, texts: (texts, answer)
)


async def entailed(run: Run, sets: Sets) -> tuple[list[tuple[str, str]], dict[AnswerId, int]]:
    """Look for the key points in all answers, one by one or a window in a call.

    Returns: (run, topic) of the answers whose key points could not be made; the words of each
        answer.
    Source: arXiv:2410.23000 asks about one key point at a time.
    """
    points = {
        t: None if point_set is None else point_set.key_points for t, point_set in sets.items()
    }
    unmade: list[tuple[str, str]] = []
    lengths: dict[AnswerId, int] = {}
    count_name = "answers without text (state no key point)"
    async with looked_for(run, points, [LOOK], "neutral", count_name) as answers:
        with run.results.open("entailments.jsonl") as rows:
            for answer, verdicts in answers:
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                lengths[answer.topic_id, answer.run_id] = count_words(answer.text)
                if verdicts is None:
                    unmade.append((answer.run_id, answer.topic_id))
                for point, verdict in zip(
                    points[answer.topic_id] or (), verdicts or (), strict=True
                ):
                    rows.write(_row(ids, point, verdict))
    return unmade, lengths


async def claims_of(run: Run, sets: Sets) -> None:
    """Write claims.jsonl: what each answer claims, and which of it states a key point."""
    claims = await _claims(run, sets)
    verdicts = await _precise(run, sets, claims)
    with run.results.open("claims.jsonl") as rows:
        for (topic_id, run_id), texts in claims.items():
            of_answer = None
            if texts is not None:
                pairs = zip(texts, verdicts[topic_id, run_id], strict=True)
                of_answer = tuple(_claim(text, verdict) for text, verdict in pairs)
            rows.write(claims_row(ClaimSet(topic_id=topic_id, run_id=run_id, claims=of_answer)))


async def _claims(run: Run, sets: Sets) -> dict[AnswerId, list[str] | None]:
    """By answer its claims: [] without text, None where they are missing."""

    def answers() -> Iterator[Answer]:
        for answer in run.collection.answers():
            if sets.get(answer.topic_id) is not None:
                yield answer

    def items() -> Iterator[Item]:
        for answer in answers():
            if answer.text.strip():
                yield Item({"topic_id": answer.topic_id, "run_id": answer.run_id}, (answer.text,))

    n_with_text = run.collection.n_with_text
    total = sum(n_with_text[t] for t, points in sets.items() if points is not None)
    extract = run.panel["claim_extractor"].extract
    stage = makes("claims", ("claim_extractor",), extract, items, made=list[StrictStr], total=total)
    claims: dict[AnswerId, list[str] | None] = {(a.topic_id, a.run_id): [] for a in answers()}
    for ids, made in await run.session.made(stage, run.results):
        claims[ids["topic_id"], ids["run_id"]] = made
    return claims


async def _precise(
    run: Run, sets: Sets, claims: Mapping[AnswerId, Sequence[str] | None]
) -> dict[AnswerId, list[dict[str, Any]]]:
    """By answer the verdicts on its claims, `yes` where one states a key point."""
    from ....judges.keypoints import numbered  # with which DSPy comes

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

    verdicts: dict[AnswerId, list[dict[str, Any]]] = {answer: [] for answer in claims}
    stage = labels("precision", run.panel, "claim", items)
    async with run.session.judged(stage, run.results) as outcome:
        for item in items():
            of_answer = verdicts[item.ids["topic_id"], item.ids["run_id"]]
            of_answer += rows_of(outcome(item), item.n)
    return verdicts


def _claim(text: str, verdict: Mapping[str, Any]) -> Claim:
    fields = {name: verdict[name] for name in ("label", "evidence", "rationale") if name in verdict}
    return Claim(text=text, **fields)


def _row(ids: Mapping[str, str], point: KeyPoint, verdict: Mapping[str, Any]) -> dict[str, Any]:
    return entailment_row(Entailment(**ids, key_point_id=point.id, **verdict))
