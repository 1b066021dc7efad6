"""The keypoints program: which key points an answer states, and which of its claims state one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....judges import ClaimExtractor, ClaimJudge, EntailmentJudge
from ....judges.claim import numbered
from ....metrics import KEY_POINT_MEASURES, count_words
from ....records.judgements import Judged
from ....records.key_points import (
    Claim,
    ClaimSet,
    Entailment,
    claims_row,
    entailment_row,
    key_point_set_row,
)
from ....records.rows import Answer, KeyPoint, KeyPointSet
from ...engine.journal import Journal
from ...engine.results import Results
from ...engine.session import Session
from ...engine.stage import Item
from ...inputs.collection import Collection
from ..scoreboard import Scoreboard
from .making import make_key_points
from .scores import KeyPointCell, add_scores, group_rows

Sets = Mapping[str, KeyPointSet | None]  # by topic; None: they could not be made


async def judge_keypoints(
    session: Session, collection: Collection, results: Results, board: Scoreboard
) -> None:
    """Have key points made where none are given, look for them in answers, note all scores."""
    config = session.config.keypoints
    sets = collection.key_points
    if sets is None:
        found = await make_key_points(session, collection, results)
    else:
        found = {topic: sets[topic] for topic in collection.topics if topic in sets}
    with results.open("keypoints.jsonl") as rows:
        for points in filter(None, found.values()):
            rows.write(key_point_set_row(points))
    found = {t: points for t, points in found.items() if points is None or points.key_points}
    results.topics_without_key_points = [t for t in collection.topics if t not in found]
    _leave_out(session, collection, results.topics_without_key_points, board)
    entailed = EntailStage(collection, found, session.panel.entailment)
    journal = await session.journaled(entailed, ("entailment",))
    cells = entailed.finish(journal, results)
    journal.close()
    if config.precision:
        claims = await _claims(session, collection, found, results)
        for cell in cells:
            cell.claims = claims.get((cell.topic_id, cell.run_id))
            cell.is_precise = True
    add_scores(cells, board)
    with results.open("groups.jsonl") as rows:
        n_points = {t: len(points.key_points) for t, points in found.items() if points}
        scored = [collection.topics[topic] for topic in found]
        for row in group_rows(cells, scored, n_points):
            rows.write(row)


class EntailStage:
    """One item per answer and key point, or window of key points; answers without text need none.

    Source: arXiv:2410.23000 asks about one key point at a time.
    """

    name = "entailments"

    def __init__(self, collection: Collection, sets: Sets, judge: EntailmentJudge) -> None:
        self._collection = collection
        self._sets = sets
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Answers topic by topic, so that calls about one answer follow each other."""
        for answer, windows in self._windows():
            for window in windows:
                ids = ",".join(point.id for point in window)
                payload = (answer.text, [point.text for point in window])
                yield Item((answer.topic_id, answer.run_id, ids), payload)

    def total(self) -> int:
        """Number of items."""
        n_answers, size = self._collection.n_with_text, self._judge.window
        sets = (points for points in self._sets.values() if points is not None)
        return sum(n_answers[s.topic_id] * -(-len(s.key_points) // size) for s in sets)

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        return self._judge.asked(_asked(item))

    async def judge(self, item: Item) -> Judged:
        """The labels of one window, in order."""
        verdicts, call = await self._judge.verdicts(_asked(item), item.ids[0])
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))

    def finish(self, journal: Journal, results: Results) -> list[KeyPointCell]:
        """Write entailments.jsonl; one cell for each answer, in order."""
        number = 0
        cells: list[KeyPointCell] = []
        with results.open("entailments.jsonl") as rows:
            for answer, windows in self._windows():
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                length = count_words(answer.text)
                labels: list[str | None] = []
                cell = KeyPointCell(answer.topic_id, answer.run_id, labels, length=length)
                cells.append(cell)
                points = self._sets[answer.topic_id]
                if points is None:
                    cell.labels = None
                    results.cells_without_key_points.append((answer.run_id, answer.topic_id))
                    continue
                for window in windows:
                    outcome = journal.outcome(number)
                    number += 1
                    place = {"key_points": [point.id for point in window]}
                    results.judged(self.name, ids, outcome, n=len(window), place=place)
                    judged = outcome.values["verdicts"] if isinstance(outcome, Judged) else None
                    for point, found in zip(window, judged or [{}] * len(window), strict=True):
                        rows.write(_row(ids, point, found))
                        labels.append(found.get("label"))
                        if found.get("is_quoted") is False:
                            results.count("quotes that do not stand in the answer")
                if not answer.text.strip():
                    results.count("answers without text (state no key point)")
                    for point in points.key_points:
                        rows.write(_row(ids, point, {"label": "neutral"}))
                        labels.append("neutral")
        return cells

    def _windows(self) -> Iterator[tuple[Answer, list[tuple[KeyPoint, ...]]]]:
        size = self._judge.window
        for answer in self._collection.answers():
            if answer.topic_id in self._sets:
                points = self._sets[answer.topic_id]
                has_text = bool(answer.text.strip())
                looked_for = points.key_points if points is not None and has_text else ()
                starts = range(0, len(looked_for), size)
                yield answer, [looked_for[start : start + size] for start in starts]


class ClaimStage:
    """One item per answer with text: what it claims."""

    name = "claims"

    def __init__(self, collection: Collection, sets: Sets, judge: ClaimExtractor) -> None:
        self._collection = collection
        self._sets = sets
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Answers topic by topic."""
        for answer in self._answers():
            if answer.text.strip():
                yield Item((answer.topic_id, answer.run_id), (answer.text,))

    def total(self) -> int:
        """Number of items."""
        n_answers = self._collection.n_with_text
        return sum(n_answers[t] for t, points in self._sets.items() if points is not None)

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        return {"answer": item.payload[0]}

    async def judge(self, item: Item) -> Judged:
        """The claims of one answer."""
        claims, calls = await self._judge.extract(item.payload[0])
        return Judged({"claims": claims}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> dict[tuple[str, str], list[str] | None]:
        """By (topic, run) the claims: [] without text, None where they are missing."""
        number = 0
        found: dict[tuple[str, str], list[str] | None] = {}
        for answer in self._answers():
            cell = (answer.topic_id, answer.run_id)
            found[cell] = []
            if answer.text.strip():
                outcome = journal.outcome(number)
                number += 1
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                results.judged(self.name, ids, outcome)
                found[cell] = outcome.values["claims"] if isinstance(outcome, Judged) else None
        return found

    def _answers(self) -> Iterator[Answer]:
        for answer in self._collection.answers():
            if self._sets.get(answer.topic_id) is not None:
                yield answer


class PreciseStage:
    """One item per answer and window of its claims: which of them state a key point?"""

    name = "precision"

    def __init__(
        self,
        claims: Mapping[tuple[str, str], Sequence[str] | None],
        sets: Sets,
        judge: ClaimJudge,
    ) -> None:
        self._claims = claims
        self._judge = judge
        self._points = {
            topic: numbered([point.text for point in points.key_points])
            for topic, points in sets.items()
            if points is not None
        }

    def items(self) -> Iterator[Item]:
        """Answers in their order."""
        for (topic_id, run_id), start, window in self._windows():
            yield Item((topic_id, run_id, str(start)), (self._points[topic_id], list(window)))

    def total(self) -> int:
        """Number of items."""
        return sum(1 for _ in self._windows())

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        return self._judge.asked(self._asked(item))

    async def judge(self, item: Item) -> Judged:
        """The labels of one window, in order."""
        verdicts, call = await self._judge.verdicts(self._asked(item), item.ids[0])
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))

    def finish(self, journal: Journal, results: Results) -> dict[tuple[str, str], ClaimSet]:
        """Write claims.jsonl; the claims of each answer with their labels."""
        labels: dict[tuple[str, str], list[Any]] = {cell: [] for cell in self._claims}
        for number, (cell, start, window) in enumerate(self._windows()):
            outcome = journal.outcome(number)
            ids = {"topic_id": cell[0], "run_id": cell[1]}
            results.judged(self.name, ids, outcome, n=len(window), place={"claim": start})
            judged = outcome.values["verdicts"] if isinstance(outcome, Judged) else None
            labels[cell] += [v["label"] for v in judged] if judged else [None] * len(window)
        found: dict[tuple[str, str], ClaimSet] = {}
        with results.open("claims.jsonl") as rows:
            for cell, texts in self._claims.items():
                claims = None
                if texts is not None:
                    pairs = zip(texts, labels[cell], strict=True)
                    claims = tuple(Claim(text=text, label=label) for text, label in pairs)
                found[cell] = ClaimSet(topic_id=cell[0], run_id=cell[1], claims=claims)
                rows.write(claims_row(found[cell]))
        return found

    def _asked(self, item: Item) -> list[dict[str, str]]:
        points, claims = item.payload
        return [{"key_points": points, "claim": claim} for claim in claims]

    def _windows(self) -> Iterator[tuple[tuple[str, str], int, Sequence[str]]]:
        size = self._judge.window
        for cell, texts in self._claims.items():
            if self._points[cell[0]]:
                for start in range(0, len(texts or ()), size):
                    yield cell, start, (texts or ())[start : start + size]


async def _claims(
    session: Session, collection: Collection, sets: Sets, results: Results
) -> dict[tuple[str, str], ClaimSet]:
    """What each answer claims, and which of it states a key point."""
    claims = ClaimStage(collection, sets, session.panel.claim_extractor)
    journal = await session.journaled(claims, ("claim_extractor",))
    found = claims.finish(journal, results)
    journal.close()
    precise = PreciseStage(found, sets, session.panel.claim)
    journal = await session.journaled(precise, ("claim",))
    judged = precise.finish(journal, results)
    journal.close()
    return judged


def _leave_out(
    session: Session, collection: Collection, topics: Sequence[str], board: Scoreboard
) -> None:
    """Topics without key points mean nothing to these scores."""
    board.leave_out(KEY_POINT_MEASURES, topics)
    where = session.config.data.keypoints or session.config.data.documents or "key points"
    for topic in topics:
        what = f"topic {topic!r} has no key points, it is left out of their scores"
        collection.problems.skip(where, 0, "no_key_points", what)


def _asked(item: Item) -> list[dict[str, str]]:
    response, texts = item.payload
    return [{"key_point": text, "response": response} for text in texts]


def _row(ids: Mapping[str, str], point: KeyPoint, found: Mapping[str, Any]) -> dict[str, Any]:
    label = {"label": None, **found}
    return entailment_row(Entailment(**ids, key_point_id=point.id, **label))
