"""The typed rows that all code shares: frozen and checked, with stable ids."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

from .judgements import Evidence, Reason


class Row(BaseModel):
    """A frozen record; an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Explained(Row):
    """A judge's explanation of a label.

    Attributes:
        evidence: the judge's quotes; () if it gave none.
        rationale: the judge's reason; None if it gave none.
    """

    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None

    def get_explanation(self) -> dict[str, Any]:
        """Return the explanation, ready for JSON; {} if the judge gave only a label."""
        fields: dict[str, Any] = {}
        if self.evidence:
            fields["evidence"] = [each.as_row() for each in self.evidence]
        if self.rationale is not None:
            fields["rationale"] = self.rationale
        return fields


class LabelScores(Explained):
    """A judge's scores and explanation of a label. Every field is optional.

    Attributes:
        score: closeness to the best label, in [0, 1].
        probabilities: the probability of each label, in [0, 1].
        outside_probability: the probability outside the labels, before those of the labels were
            scaled to sum to 1.
        votes: the label of each member of a jury; None is a member without a label.
        method: how the label was found, if the judge has several ways: for example by the
            adjudicator of a jury or by a later stage of a cascade.
        confidence: the confidence of the first stage of a cascade.
        superseded: the label of the first stage, if a later stage replaced it.
        parts: the labels of the numbered parts from which code derives the label; None: not judged.
    """

    score: float | None = None
    probabilities: dict[str, float] | None = None
    outside_probability: float | None = None
    votes: dict[str, str | None] | None = None
    method: str | None = None
    confidence: float | None = None
    superseded: str | None = None
    parts: dict[str, str | None] | None = None

    def get_confidence(self) -> dict[str, Any]:
        """Return the judge's confidence, ready for JSON; {} if it gave none."""
        return self._fields("score", "probabilities", "votes", "method")

    def get_staged(self) -> dict[str, Any]:
        """Return the fields of a cascade's first stage, ready for JSON; {} for other judges."""
        return self._fields("confidence", "superseded")

    def as_fields(self) -> dict[str, Any]:
        """Return all values beside the label, ready for JSON; {} if the judge gave only a label."""
        sure = self.get_confidence() | self._fields("outside_probability")
        return sure | self.get_staged() | self._fields("parts") | self.get_explanation()

    def _fields(self, *names: str) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in names}
        return {name: value for name, value in fields.items() if value is not None}


class Topic(Row):
    """An information need.

    Attributes:
        id: the id of the topic.
        text: the query or narrative.
        background: who asks, and why; "" if unknown.
        domain: the subject, by which measures can be averaged; "" if unknown.
        category: the kind of question, by which measures can be averaged; "" if unknown.
        sub_narratives: the parts that a long narrative asks for; () if they are not listed.
    """

    id: str
    text: str
    background: str = ""
    domain: str = ""
    category: str = ""
    sub_narratives: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """Return the question for a judge: the text, and the background if there is one."""
        return f"{self.text}\n{self.background}" if self.background else self.text


class Passage(Row):
    """A retrieved segment of a document.

    Attributes:
        id: the id of the passage.
        text: the text that a judge reads.
        title: the title of the document; "" if it has none.
    """

    id: str
    text: str
    title: str = ""


class Citation(Row):
    """A citation: the passage to which a sentence points.

    Attributes:
        passage_id: the id of the cited passage.
        weight: the run's confidence in the citation; None if the run gives none.
    """

    passage_id: str
    weight: float | None = None


class Sentence(Row):
    """One unit of an answer: a sentence or a heading.

    A heading makes no claim: it is neither judged for support nor counted as uncited.

    Attributes:
        id: the 0-based position in the answer, as in all support files.
        text: the text without citations; "" keeps the position of an empty sentence.
        citations: the passages that the sentence cites, in the order of the run.
        is_heading: whether the sentence is a heading.
    """

    id: int
    text: str
    citations: tuple[Citation, ...] = ()
    is_heading: bool = False

    @property
    def makes_claim(self) -> bool:
        """Return whether the sentence needs support: it has text and is not a heading."""
        return not self.is_heading and bool(self.text.strip())


class Answer(Row):
    """One run's answer to one topic.

    Attributes:
        run_id: the run that answered.
        topic_id: the topic that it answered.
        sentences: the sentences and headings, in order; () for an empty answer.
        references: all passages that the answer names, in order.
        not_given: citations of items that the system never received, such as `[7]` with two
            contexts. They name no passage, so they support nothing.
        failed: why there is no answer, if the system is not the cause; otherwise None.
    """

    run_id: str
    topic_id: str
    sentences: tuple[Sentence, ...]
    references: tuple[str, ...] = ()
    not_given: tuple[str, ...] = ()
    failed: Reason | None = None

    @property
    def text(self) -> str:
        """Return the sentences joined by single spaces, without citations."""
        return " ".join(s.text for s in self.sentences if s.text)


class Ranking(Row):
    """The passages of one topic, best first, in a retrieval run or a candidate list.

    Attributes:
        run_id: the run that ranked the passages.
        topic_id: the topic for which they are ranked.
        passage_ids: the ids of the passages, best first.
        scores: a score for each passage, in the same order; () if the source gives none.
        failed: why there are no passages, if the system is not the cause; otherwise None.
    """

    run_id: str
    topic_id: str
    passage_ids: tuple[str, ...]
    scores: tuple[float, ...] = ()
    failed: Reason | None = None


_AROUND = " \t\r\n\"'`*“”„‘’«»"  # a label as people write it


class Label(StrEnum):
    """A judge's label. Reads its own spelling, and those that differ in case, space or hyphen, are
    in quotation marks, or end in a full stop.

    A label is declared with its meaning: `FULL = "full", "the passage supports every claim"`. The
    prompts, the reply schemas and the guidelines of the labelling app all take it from here.

    Attributes:
        meaning: when to give the label, a phrase without a full stop; "": see the question.
    """

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
        label = str.__new__(cls, value)
        label._value_, label.meaning = value, meaning
        return label

    @classmethod
    def _missing_(cls, value: object) -> Label | None:
        if not isinstance(value, str):
            return None
        written = value.strip().removesuffix(".").strip(_AROUND).removesuffix(".")
        plain = "_".join(written.casefold().replace("-", " ").replace("_", " ").split())
        return next((label for label in cls if label.value == plain), None)


class Importance(Label):
    """How much a good answer needs a nugget (arXiv:2411.09607)."""

    OKAY = "okay", "the answer may include the fact, but it can be good without it"
    VITAL = "vital", "the answer must contain the fact to be good"


class NuggetSource(Row):
    """Words of a passage that state a nugget, and the search that found them.

    Attributes:
        docid: the id of the passage.
        start, end: the place of the words, in code points: `text[start:end]`.
        query: the search query; "" if unknown.
        round: the number of the search, from 1; 0 if the nugget existed before the searches.
    """

    docid: str
    start: int
    end: int
    query: str = ""
    round: int = 0


class Nugget(Row):
    """An atomic fact of a good answer.

    Attributes:
        id: the id of the nugget, for example from `nugget_ids`.
        text: the fact.
        importance: vital or okay; None if the source gave neither.
        sources: the passages that state the fact: their ids, or the words in them.
        sub_narrative: the part of the topic's narrative to which the fact belongs; "" if unknown.
    """

    id: str
    text: str
    importance: Importance | None = None
    sources: tuple[str | NuggetSource, ...] = ()
    sub_narrative: str = ""


class NuggetBank(Row):
    """The nuggets of one topic.

    Attributes:
        topic_id: the topic.
        query: the text of the topic; "" if the source has none.
        nuggets: the nuggets, in the order of their source.
    """

    topic_id: str
    query: str
    nuggets: tuple[Nugget, ...]


class SubQuestion(Row):
    """A question that a report should answer.

    Attributes:
        id: the 0-based column of the question in lists of ratings, as text.
        text: the question.
    """

    id: str
    text: str

    @property
    def column(self) -> int:
        """Return the index of the question in a list of ratings."""
        return int(self.id)


class QuestionSet(Row):
    """The sub-questions of one topic.

    Attributes:
        topic_id: the topic.
        questions: the questions, by column.
        n_columns: the length of a list of ratings, at least 1; some columns may have no question.
    """

    topic_id: str
    questions: tuple[SubQuestion, ...]
    n_columns: int


class KeyPoint(Row):
    """A point that an answer should take from the documents (arXiv:2410.23000).

    Attributes:
        id: the id of the key point, for example from `key_point_ids`.
        text: the point.
        spans: verbatim parts of the documents that state the point; () if unknown.
        sources: the ids of the documents that state the point; () if unknown.
    """

    id: str
    text: str
    spans: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class KeyPointSet(Row):
    """The key points of one topic.

    Attributes:
        topic_id: the topic.
        query: the question of the topic; "" if the source has none.
        key_points: the key points, in the order of their source.
    """

    topic_id: str
    query: str
    key_points: tuple[KeyPoint, ...]


class ScoreRow(Row):
    """One value of one measure, for a topic or as the mean of a run.

    The last three attributes belong to mean rows; they are None in other rows.

    Attributes:
        run_id: the run.
        topic_id: the topic; "all" is the mean of a run.
        measure: the name of the measure.
        value: the value; None if nothing was judged, or for 0/0.
        n: the number of judgements behind the value; None if unknown.
        n_unjudged: the number of missing judgements; None if unknown.
        low, high: the value if the missing judgements count as worst, and as best; None if unknown.
        n_topics: the number of topics in the mean.
        n_answered: the number of answered topics among `n_asked`.
        n_asked: the number of topics on which the measure is defined.
    """

    run_id: str
    topic_id: str
    measure: str
    value: float | None
    n: int | None = None
    n_unjudged: int | None = None
    low: float | None = None
    high: float | None = None
    n_topics: int | None = None
    n_answered: int | None = None
    n_asked: int | None = None


def nugget_ids(texts: Sequence[str]) -> list[str]:
    """Make an id for each nugget text of one topic, independent of their order.

    The id is a hash of the text after NFKC and white-space normalisation, so that two judges
    and a person with the same nugget have the same id. A repeated text gets `-2`, `-3` ... at its
    later positions.

    Args:
        texts: the texts of the nuggets of one topic.

    Returns:
        An id for each text, in the order of the texts.
    """
    return hash_ids("n", texts)


def key_point_ids(texts: Sequence[str]) -> list[str]:
    """Make an id for each key point text of one topic, like `nugget_ids`.

    Args:
        texts: the texts of the key points of one topic.

    Returns:
        An id for each text, in the order of the texts.
    """
    return hash_ids("k", texts)


def hash_ids(prefix: str, texts: Sequence[str]) -> list[str]:
    """See `nugget_ids`; the prefix names the kind of id."""
    seen: dict[str, int] = {}
    ids = []
    for text in texts:
        normal = " ".join(unicodedata.normalize("NFKC", text).split())
        name = prefix + hashlib.blake2b(normal.encode(), digest_size=6).hexdigest()
        seen[name] = seen.get(name, 0) + 1
        ids.append(name if seen[name] == 1 else f"{name}-{seen[name]}")
    return ids
