"""Citation support: how far passages support the sentences that cite them, or could cite them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from pydantic import ConfigDict, ValidationError

from ..metrics.answer_scores import SUPPORT as GAINS
from .kinds import Kind, Labelled
from .reading.fields import Line, Where, as_int, read_lines, show
from .reading.problems import Problems
from .reading.settings import plain_error
from .rows import Label, LabelScores, Row

SupportLabel = Literal["full", "partial", "none"]

_SPELLINGS: dict[str, SupportLabel | None] = {
    "2": "full",
    "full": "full",
    "full_support": "full",
    "1": "partial",
    "partial": "partial",
    "partial_support": "partial",
    "0": "none",
    "none": "none",
    "no": "none",
    "no_support": "none",
    "-1": None,
}


class CitationSupport(Label):
    """How much of a sentence its cited passage supports (arXiv:2504.15205)."""

    NONE = "none", "the passage supports no claim of the sentence, or the sentence makes no claim"
    PARTIAL = (
        "partial",
        "the passage supports at least one claim of the sentence, and at least one claim is "
        "missing from the passage or contradicted by it",
    )
    FULL = "full", "the sentence makes a claim, and the passage supports every claim of it"


class SupportCitation(LabelScores):
    """A citation of a sentence, with its label.

    Attributes:
        passage_id: the cited passage.
        rank: the 0-based index of the citation in its sentence.
        label: whether the passage supports the sentence: full, partial or none; None: not judged.
        score: closeness to the best label, in [0, 1]; None if the judge gave none.
        probabilities, outside_probability: the probability of each label, and the probability
            outside the labels before they were scaled; None if the judge gave none.
        evidence, rationale: the judge's quotes and reason; () and None if it gave none.
        votes, method: the label of each member of a jury, and how the label was found; None for
            other judges.
        confidence, superseded: the confidence and the replaced label of a cascade's first stage;
            None for other judges.
        parts: the labels of the numbered parts from which code derives the label; None for others.
    """

    passage_id: str
    rank: int
    label: SupportLabel | None


class SupportSentence(Row):
    """A sentence with its labelled citations.

    Attributes:
        id: the 0-based position of the sentence in the answer.
        text: the sentence.
        citations: its citations, first citation first; () for a sentence without citations.
    """

    id: int
    text: str
    citations: tuple[SupportCitation, ...] = ()


class SupportLabels(Row):
    """The support labels of one answer. A sentence without citations has no support.

    Attributes:
        run_id: the run that answered.
        topic_id: the topic.
        sentences: the sentences of the answer, in order.
    """

    run_id: str
    topic_id: str
    sentences: tuple[SupportSentence, ...]


def read_support(
    path: Path, problems: Problems, where: Where | None = None
) -> Iterator[SupportLabels]:
    """Read support labels lazily, one answer at a time, in file order.

    Accepts RAGDoll's `support_assignments.jsonl`; any JSONL whose `sentences` have `text` and
    `citations` of `docid` (or `reference`) and `label` (or `support`); and our `support.jsonl`,
    one line per citation, with the lines of one answer together. Labels are 2, 1, 0, -1
    as numbers or text, or full, partial, none; -1 and null are not judged. Any other label is
    not judged either and is listed as `label`. Ranks are indexes of the list, except in
    `support.jsonl`, which names them. A sentence with empty text counts as a sentence.

    Errors reported: no run, topic or sentences, a field of the wrong type, an answer twice, a
    sentence or rank twice in an answer.

    Args:
        path: the file with the support labels.
        problems: collects the faults of the file, by line.
        where: use only rows whose top-level fields have one of these values; None: all rows.

    Returns:
        An iterator over the labels of each answer.

    Raises: InputError if the file cannot be read.
    """
    for _, labels in support_with_lines(read_lines(path, problems, where)):
        yield labels


def support_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, SupportLabels]]:
    """The labels in these objects, like `read_support`, each with its answer's first object."""
    seen: dict[tuple[str, str], int] = {}
    group: _Group | None = None
    for line in lines:
        run_id, topic_id = line.id("run_id"), line.id("topic_id", "narrative_id", "qid")
        if run_id is None or topic_id is None:
            continue
        is_nested = "sentences" in line.row or "sentence" not in line.row
        if group and (is_nested or group.key != (run_id, topic_id)):
            yield group.first, group.labels()
            group = None
        if group is None:
            if (first := seen.get((run_id, topic_id))) is not None:
                what = f"run {run_id!r}, topic {topic_id!r} is already in line {first}"
                line.error("duplicate_support", f"{what}; wanted all its lines together")
                continue
            seen[run_id, topic_id] = line.number
            if not is_nested:
                group = _Group(line, run_id, topic_id)
        if group:
            group.add(line)
        elif (items := line.objects("sentences")) is not None:
            yield line, _make_labels(run_id, topic_id, _sentences(items))
    if group:
        yield group.first, group.labels()


def support_row(
    run_id: str,
    topic_id: str,
    sentence: int,
    *,
    citation: str | None,
    rank: int | None,
    label: SupportLabel | None,
    label_scores: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    """Write a line of `support.jsonl`; a sentence without citations has neither citation nor rank.

    `weight` is the gain of the label: 1, 0.5, 0, or null if not judged.
    """
    return {
        "run_id": run_id,
        "topic_id": topic_id,
        "sentence": sentence,
        "citation": citation,
        "rank": rank,
        "label": label,
        "weight": None if label is None else GAINS[label],
        **label_scores,
    }


def support_label(written: object) -> tuple[SupportLabel | None, bool]:
    """The label that a file means, and whether its spelling is known."""
    if written is None:
        return None, True
    return _read_label(written if isinstance(written, str) else str(as_int(written) or written))


@lru_cache(maxsize=256)  # a file has a few labels, each in many lines
def _read_label(written: str) -> tuple[SupportLabel | None, bool]:
    number = as_int(written)
    name = str(number) if number is not None else written.strip().lower().replace(" ", "_")
    return _SPELLINGS.get(name), name in _SPELLINGS


def _make_labels(run_id: str, topic_id: str, sentences: list[dict[str, Any]]) -> SupportLabels:
    """All rows by one validation, in two thirds of the time of one validation for each."""
    fields = {"run_id": run_id, "topic_id": topic_id, "sentences": sentences}
    return SupportLabels.model_validate(fields)


def _sentences(items: list[Line]) -> list[dict[str, Any]]:
    """The fields of each sentence."""
    sentences: dict[int, dict[str, Any]] = {}
    for position, item in enumerate(items):
        written = item.first("sentenceID", "sentence_id") or ("sentenceID", position)
        if (number := as_int(written[1])) is None:
            item.bad(written[0], written[1], "a whole number")
            continue
        if number in sentences:
            what = f"{item.name(written[0])} is {number}, as in an earlier sentence; wanted once"
            item.error("duplicate_sentence", what)
            continue
        text = item.optional_text("text", "sentence")
        if not text.strip():
            item.keep("empty_sentence", f"{item.name('text')} is empty; counted as a sentence")
        has_citations = item.row.get("citations") is not None
        cited = item.objects("citations") if has_citations else None
        citations = []
        for rank, citation in enumerate(cited or []):
            passage_id = citation.id("docid", "reference", "passage_id", "citation")
            if passage_id is not None:
                label = _label(citation, "label", "support")
                named = {"passage_id": passage_id, "rank": rank, "label": label}
                citations.append(named | citation.read_label_scores())
        sentences[number] = {"id": number, "text": text, "citations": citations}
    return [*sentences.values()]


def _label(item: Line, *fields: str) -> SupportLabel | None:
    field = next((f for f in fields if f in item.row), None)
    label, is_known = support_label(item.row[field]) if field else (None, False)
    if not is_known:
        got = show(item.row[field]) if field else "missing"
        what = (
            f"{item.name(field or fields[0])} is {got}, wanted full, partial, none or 2, 1, 0, -1"
        )
        item.keep("label", f"{what}; not judged")
    return label


class _Group:
    """The lines of one answer in `support.jsonl`."""

    def __init__(self, first: Line, run_id: str, topic_id: str) -> None:
        self.first = first
        self.key = (run_id, topic_id)
        self.texts: dict[int, str] = {}
        self.citations: dict[int, dict[int, dict[str, Any]]] = {}  # fields by sentence and rank
        self.uncited: set[int] = set()

    def add(self, line: Line) -> None:
        if (number := as_int(line.row.get("sentence"))) is None:
            line.bad("sentence", line.row.get("sentence"), "a 0-based position")
            return
        ranked = self.citations.setdefault(number, {})
        self.texts[number] = line.optional_text("text") or self.texts.get(number, "")
        passage_id = line.optional_id("citation")
        if number in self.uncited or (passage_id is None and ranked):
            what = f"sentence {number} has another line; wanted a single line if 'citation' is null"
            line.error("duplicate_sentence", what)
        elif passage_id is None:
            self.uncited.add(number)
            if line.row.get("label") not in (None, "none"):
                line.bad("label", line.row["label"], "no label if 'citation' is null")
        else:
            written = line.row.get("rank")
            rank = len(ranked) if written is None else as_int(written)
            if rank is None or rank in ranked:
                line.bad("rank", written, f"a whole number, once in sentence {number}")
                return
            label = _label(line, "label")
            named = {"passage_id": passage_id, "rank": rank, "label": label}
            ranked[rank] = named | line.read_label_scores()

    def labels(self) -> SupportLabels:
        sentences = [
            {
                "id": number,
                "text": self.texts[number],
                "citations": [ranked[rank] for rank in sorted(ranked)],
            }
            for number, ranked in sorted(self.citations.items())
        ]
        return _make_labels(*self.key, sentences)


def _read_labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, answer in support_with_lines(lines):
        for sentence in answer.sentences:
            for citation in sentence.citations:
                cell = (answer.topic_id, answer.run_id, str(sentence.id), citation.passage_id)
                yield line, cell, citation.label, citation.get_confidence()


SUPPORT_KIND = Kind(
    name="support",
    key=("topic_id", "run_id", "sentence_id", "passage_id"),
    scale=CitationSupport,
    gains=GAINS,
    many="citations",
    length_of=("sentence", "sentence"),
    judge="support",
    columns={  # of RAGDoll's support/metrics.py
        "weighted_precision_first_citation": "support_precision",
        "weighted_recall_first_citation": "support_recall",
        "weighted_precision_all_judged_citations": "support_precision_all",
        "weighted_recall_all_judged_citations": "support_recall_all",
        "hard_precision": "support_precision_hard",
        "hard_recall": "support_recall_hard",
    },
    rows="support",
    read=_read_labelled,
    files={
        "support": lambda row: (
            isinstance(row.get("sentences"), list) or row.keys() >= {"sentence", "citation"}
        ),
        "support_judgments": lambda row: row.keys() >= {"support_label", "citation"},
    },
    spell=lambda written, scale: support_label(written),
)

FoundOutcome = Literal[
    "cited_ok",
    "wrong_citation",
    "uncited_supported",
    "partly_supported",
    "contradicted",
    "conflict",
    "not_found",
]
OUTCOMES: tuple[FoundOutcome, ...] = get_args(FoundOutcome)
NOT_SOUGHT = "not_sought"


class Suggestion(LabelScores):
    """A passage for a sentence: where it was found, and the label of the support judge.

    `scope`: `reply`, the answer's own references, or `corpus`; `rank`: its position there, from 1;
    `query`: the written query that found it, None: the sentence itself.
    """

    passage_id: str
    scope: Literal["reply", "corpus"]
    rank: int
    query: str | None = None
    label: SupportLabel


class Contradicting(LabelScores):
    """A passage that contradicts a sentence, with quotes from both."""

    passage_id: str
    label: Literal["contradicts"] = "contradicts"


class ClaimSource(Row):
    """A claim of a sentence and the passage that supports it, or None."""

    claim: str
    passage_id: str | None


class SentenceEvidence(Row):
    """The results for one sentence; a line of `evidence.jsonl`.

    Attributes:
        sentence: its 0-based position. citation, label: the citation that was judged first;
            None: it cites nothing, or the citation was not judged.
        outcome: None: unknown, see unjudged.jsonl; `not_sought`: its label needed no search.
        shown: whether the suggestion is used: its score reaches the cut-off.
        best: passages that support most of it. claims: if it was split.
        queries: the written queries. calls: the calls of its search.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    run_id: str
    topic_id: str
    sentence: int
    citation: str | None = None
    label: SupportLabel | None = None
    outcome: FoundOutcome | Literal["not_sought"] | None
    suggestion: Suggestion | None = None
    shown: bool = False
    best: tuple[str, ...] = ()
    contradiction: Contradicting | None = None
    claims: tuple[ClaimSource, ...] = ()
    queries: tuple[str, ...] = ()
    calls: int = 0

    @property
    def repaired(self) -> str | None:
        """The passage that should be cited first; None: no change."""
        replaces = self.outcome in ("wrong_citation", "uncited_supported") and self.shown
        return self.suggestion.passage_id if replaces and self.suggestion else None

    def as_row(self) -> dict[str, Any]:
        """Ready for JSON; empty fields are left out, except the first ones."""
        row = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        first = ("run_id", "topic_id", "sentence", "citation", "label", "outcome")
        head: dict[str, Any] = {name: getattr(self, name) for name in first}
        for name, part in (("suggestion", self.suggestion), ("contradiction", self.contradiction)):
            if part is not None:
                row[name] = {
                    **part.model_dump(mode="json", exclude={*LabelScores.model_fields}),
                    **part.as_fields(),
                }
        if self.claims:
            row["claims"] = [claim.model_dump() for claim in self.claims]
        return head | row


def read_sentence_evidence(
    path: Path, problems: Problems, where: Where | None = None
) -> Iterator[SentenceEvidence]:
    """Read `evidence.jsonl` lazily, in file order.

    Errors reported: a field that is missing, unknown or of another type, a sentence twice.
    """
    return sentence_evidence(read_lines(path, problems, where))


def sentence_evidence(lines: Iterable[Line]) -> Iterator[SentenceEvidence]:
    """The results in these objects, as in `read_sentence_evidence`."""
    seen: dict[tuple[str, str, int], int] = {}
    for line in lines:
        try:
            row = SentenceEvidence.model_validate(line.row)
        except ValidationError as error:
            at, what = plain_error(error.errors(include_url=False)[0])
            line.error("bad_evidence", f"{'.'.join(at)}: {what}".removeprefix(": "))
            continue
        key = (row.run_id, row.topic_id, row.sentence)
        if (first := seen.setdefault(key, line.number)) != line.number:
            what = f"run {row.run_id!r}, topic {row.topic_id!r}, sentence {row.sentence}"
            line.error("duplicate_evidence", f"{what} is already in line {first}, wanted once")
            continue
        yield row
