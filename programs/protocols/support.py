"""The support program: does each cited passage carry the sentence that cites it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from ...judges import SupportJudge
from ...records.judgements import Judged, Reason, Unjudged
from ...records.rows import Answer, Sentence
from ...records.support import SupportLabel, support_row
from ..engine.journal import Journal
from ..engine.results import Results
from ..engine.stage import Item
from ..inputs.collection import Collection
from .expected import add_expected_support
from .scoreboard import Scoreboard, citation_values


class SupportStage:
    """One item per answer, sentence and judged citation.

    Headings and sentences without text make no claim and are left out, counted. A sentence
    without citations is `none` without a call. A citation whose passage has no text in the
    data ends as `Unjudged(no_passage)`, never as `none`.

    Source: arXiv:2504.15205; the first citation counts there.
    """

    name = "support"

    def __init__(
        self,
        collection: Collection,
        judge: SupportJudge,
        citations: Literal["first", "all"] | int = "first",
    ) -> None:
        self._collection = collection
        self._judge = judge
        self._most: int | None  # citations of a sentence that are judged; None: all
        if citations == "first":
            self._most = 1
        else:
            self._most = None if citations == "all" else citations

    def items(self) -> Iterator[Item]:
        """Answers topic by topic, sentence by sentence."""
        for answer, passages in self._collection.cited_answers():
            for sentence in _claims(answer):
                for rank, citation in enumerate(sentence.citations[: self._most]):
                    if (passage := passages.get(citation.passage_id)) is not None:
                        ids = (answer.topic_id, answer.run_id, str(sentence.id), str(rank))
                        yield Item(ids, (sentence.text, passage.text))

    def total(self) -> int:
        """Number of items; where reports carry documents of their own, at most that many."""
        held = self._collection.passages
        inline = bool(self._collection.files_with_documents)
        return sum(
            n
            for (rank, passage_id), n in self._collection.cited.items()
            if (self._most is None or rank < self._most) and (inline or passage_id in held)
        )

    async def judge(self, item: Item) -> Judged:
        """One label."""
        sentence, passage = item.payload
        verdict, call = await self._judge.verdict(item.ids[0], sentence=sentence, passage=passage)
        return Judged(verdict.as_row(), (call,))

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        sentence, passage = item.payload
        return {"passage": passage, "sentence": sentence}

    def finish(self, journal: Journal, results: Results, board: Scoreboard) -> None:
        """Write support.jsonl and note each answer's scores."""
        number, is_expected = 0, False
        with results.open("support.jsonl") as rows:
            for answer, passages in self._collection.cited_answers():
                ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                labels: list[list[SupportLabel | None]] = []  # of each sentence
                for sentence in self._counted_claims(answer, results):
                    at = (answer.run_id, answer.topic_id, sentence.id)
                    labels.append([])
                    if not sentence.citations:
                        rows.write(support_row(*at, citation=None, rank=None, label="none"))
                    for rank, citation in enumerate(sentence.citations[: self._most]):
                        name = citation.passage_id
                        if name in passages:
                            outcome = journal.outcome(number)
                            number += 1
                        else:
                            outcome = _no_passage(name)
                        place = {"sentence": sentence.id, "citation": name}
                        results.judged(self.name, ids, outcome, place=place)
                        found = dict(outcome.values) if isinstance(outcome, Judged) else {}
                        label = found.pop("label", None)
                        is_expected |= "probabilities" in found
                        labels[-1].append(label)
                        rows.write(
                            support_row(*at, citation=name, rank=rank, label=label, leaning=found)
                        )
                values = citation_values(labels, all_citations=self._most != 1)
                board.add(answer.run_id, answer.topic_id, values)
        if is_expected:
            path = results.unpublished("support.jsonl")
            add_expected_support(path, board, all_citations=self._most != 1)

    def _counted_claims(self, answer: Answer, results: Results) -> Iterator[Sentence]:
        for sentence in answer.sentences:
            if sentence.is_heading or not sentence.text.strip():
                kind = "headings" if sentence.is_heading else "sentences without text"
                results.count(f"{kind} (make no claim)")
                if sentence.citations:
                    results.count(f"citations of {kind} (not asked)", len(sentence.citations))
            else:
                results.count("sentences judged for support")
                if not sentence.citations:
                    results.count("sentences without citation (no support)")
                if self._most is not None and len(sentence.citations) > self._most:
                    more = len(sentence.citations) - self._most
                    results.count(f"citations after the first {self._most} (not asked)", more)
                yield sentence


def _claims(answer: Answer) -> Iterator[Sentence]:
    return (sentence for sentence in answer.sentences if sentence.makes_claim)


def _no_passage(name: str) -> Unjudged:
    detail = f"passage {name} has no text in the data"
    return Unjudged(Reason.NO_PASSAGE, detail)
