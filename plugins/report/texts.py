"""Texts of answers with their judgements: packed by topic, opened on demand."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Any, Literal

from ...programs.analysis.answers.views import AnswerView, Judged, read_answer_views
from ...programs.analysis.tables.words import count
from ...records.judgements import Evidence
from .packing import json_text
from .source import Source

Span = tuple[int, int, int]  # sentence, start, end in code points
OF_ANSWER = ("answer", "response", "context", "report")  # the names that judges use for an answer
OF_PASSAGE = ("passage",)


def in_answer(evidence: Evidence, sentences: Sequence[str], at: int | None = None) -> list[Span]:
    """The quoted parts of sentences; [] if the quote is not in them.

    Args:
        evidence: the quote with its offsets in the whole text (sentences joined by spaces) or in
            one sentence; if the offsets are of another text, the quote is searched for.
        at: the sentence that the judgement is about.
    """
    if evidence.is_quoted is False:
        return []
    if evidence.of == "sentence" and at is not None and at < len(sentences):
        offsets = in_text(evidence, sentences[at])
        return [] if offsets is None else [(at, *offsets)]
    if evidence.of not in OF_ANSWER:
        return []
    offsets = in_text(evidence, " ".join(text for text in sentences if text))
    if offsets is None:
        return []
    start, end = offsets
    spans, offset = [], 0
    for number, text in enumerate(sentences):
        if not text:
            continue
        low, high = max(start - offset, 0), min(end - offset, len(text))
        if low < high:
            spans.append((number, low, high))
        offset += len(text) + 1
    return spans


def in_text(evidence: Evidence, text: str) -> tuple[int, int] | None:
    """Start and end of the quote in a text, in code points; None if it is not in the text."""
    if evidence.is_quoted is False:
        return None
    if evidence.start is not None and evidence.end is not None and evidence.stands_in(text):
        return evidence.start, evidence.end
    start = text.find(evidence.quote) if evidence.quote else -1
    return None if start < 0 else (start, start + len(evidence.quote))


HowMuch = Literal["all", "evidence", "none"]


@dataclass(frozen=True)
class TopicTexts:
    """The answers of one folder to one topic, packed: base64 of gzipped JSON.

    Attributes:
        how: all texts, or only the sentences with judgements.
    """

    topic: str
    packed: str
    how: HowMuch
    n_answers: int


@dataclass(frozen=True)
class Wanted:
    """Which texts of answers a report has.

    Attributes:
        how: include at most this much.
        max_mb: megabytes for packed texts. Each topic gets an equal part of the room that is
            left. If that is not enough, its texts are cut to their evidence, then left out.
    """

    how: HowMuch = "all"
    max_mb: float = 25.0


@dataclass
class CutTexts:
    """How many answers lack part of their text on the page.

    Attributes:
        is_short: whether there was not enough room.
    """

    n_answers: int = 0
    is_short: bool = False
    by_how: Counter[HowMuch] = field(default_factory=Counter)

    def count(self, how: HowMuch, n_answers: int, wanted: HowMuch) -> None:
        """Count answers with this much text on the page."""
        self.n_answers += n_answers
        self.is_short |= how != wanted
        if how != "all":
            self.by_how[how] += n_answers

    def as_json(self) -> dict[str, int]:
        """For the page: `answers`, `evidence` (cut to their evidence), `none` (without text)."""
        return {"answers": self.n_answers} | {str(how): n for how, n in self.by_how.items()}

    def __str__(self) -> str:
        cut, none = self.by_how["evidence"], self.by_how["none"]
        parts = [f"{cut:,} are cut to their evidence"] if cut else []
        parts += [f"{none:,} are left out"] if none else []
        return f"texts of {count(self.n_answers, 'answer')}: {', '.join(parts) or 'all complete'}"


def pack_texts(source: Source, wanted: Wanted, cut: CutTexts) -> Iterator[TopicTexts]:
    """The texts of all topics, one in memory at a time; `cut` counts the cut texts."""
    room = wanted.max_mb * 1_000_000
    if wanted.how == "none":
        return
    n_left = sum(len(result.manifest["data"].get("topic_ids", ())) for result in source.results)
    for path in source.paths:
        name_of = partial(source.name_run, path)
        people = [side.one for side in source.sides if side.other == path] if source.labels else []
        answers = read_answer_views(path, source.problems, labels=people)
        for topic, group in groupby(answers, key=lambda answer: answer.topic_id):
            of_topic = list(group)
            one = _fitting(topic, of_topic, wanted.how, room / max(n_left, 1), name_of)
            n_left -= 1
            cut.count(one.how if one is not None else "none", len(of_topic), wanted.how)
            if one is not None:
                room -= len(one.packed)
                yield one


def _fitting(
    topic: str,
    answers: Sequence[AnswerView],
    how: HowMuch,
    room: float,
    name_of: Callable[[str], str],
) -> TopicTexts | None:
    levels: tuple[HowMuch, ...] = ("all", "evidence") if how == "all" else ("evidence",)
    for level in levels:
        text = pack_json(topic_json(answers, name_of, is_whole=level == "all"))
        if len(text) <= room:
            return TopicTexts(topic, text, level, len(answers))
    return None


def pack_json(data: Any) -> str:
    """JSON as gzip as base64, the same bytes each time."""
    return pack_text(json_text(data))


def pack_text(text: str) -> str:
    """A text as gzip as base64, the same bytes each time."""
    return base64.b64encode(gzip.compress(text.encode(), compresslevel=6, mtime=0)).decode()


def topic_json(
    answers: Sequence[AnswerView], name_of: Callable[[str], str], *, is_whole: bool
) -> dict[str, Any]:
    """The answers to a topic as `answer.js` draws them; shared texts are stored once."""
    items: dict[str, list[Any]] = {}
    passages: dict[str, list[str]] = {}
    by_run = {}
    for answer in answers:
        texts = [sentence.text for sentence in answer.sentences]
        judged = [_pack_judgement(one, texts, items, passages, is_whole) for one in answer.judged]
        about = {one.sentence for one in answer.judged}
        about |= {
            span[0] for row in judged for quoted in row.get("evidence", ()) for span in quoted[2]
        }
        by_run[name_of(answer.run_id)] = {
            "length": answer.length,
            "failed": answer.failed,
            "scores": [
                [row.measure, row.value, row.n, row.n_unjudged] for row in answer.score_rows
            ],
            "sentences": [
                [one.text if is_whole or at in about else None, list(one.citations)]
                for at, one in enumerate(answer.sentences)
            ],
            "judged": judged,
        }
    question = next((answer.question for answer in answers if answer.question), "")
    return {"question": question, "items": items, "passages": passages, "answers": by_run}


def _pack_judgement(
    one: Judged,
    texts: Sequence[str],
    items: dict[str, list[Any]],
    passages: dict[str, list[str]],
    is_whole: bool,
) -> dict[str, Any]:
    """One judgement without its empty fields."""
    program = "claims" if one.unit == "claim" else one.program
    if one.sentence is None and one.text:
        weight = [] if one.weight is None else [one.weight]
        items.setdefault(f"{program} {one.item}", [one.text, one.importance or "", *weight])
    if one.docid is not None and one.passage is not None and is_whole:
        passages.setdefault(one.docid, [one.title, one.passage])
    row: Mapping[str, Any] = {
        "program": program,
        "item": one.item,
        "label": one.label,
        "score": one.score,
        "sentence": one.sentence,
        "docid": one.docid,
        "evidence": [_quote_json(each, one, texts) for each in one.evidence],
        "reasoning": one.reasoning,
        "unjudged": one.unjudged,
        "detail": one.detail,
        "raw": one.raw,
        "people": [list(label) for label in one.people],
    }
    return {name: value for name, value in row.items() if value not in (None, "", [])}


def _quote_json(evidence: Any, one: Judged, texts: Sequence[str]) -> list[Any]:
    """[of, quote, parts of sentences, offsets in the passage, is_quoted]."""
    in_passage = None
    if evidence.of in OF_PASSAGE and one.passage is not None:
        in_passage = in_text(evidence, one.passage)
    spans = in_answer(evidence, texts, one.sentence) if evidence.of not in OF_PASSAGE else []
    of = "answer" if evidence.of in OF_ANSWER else evidence.of
    return [of, evidence.quote, spans, in_passage, evidence.is_quoted]
