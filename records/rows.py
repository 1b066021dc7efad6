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
    """A judge's explanation of a label, if it gave one.

    `evidence`: its quotes; `rationale`: its reason.
    """

    evidence: tuple[Evidence, ...] = ()
    rationale: str | None = None

    def get_explanation(self) -> dict[str, Any]:
        """The explanation, ready for JSON; empty if the judge gave only a label."""
        fields: dict[str, Any] = {}
        if self.evidence:
            fields["evidence"] = [each.as_row() for each in self.evidence]
        if self.rationale is not None:
            fields["rationale"] = self.rationale
        return fields


class LabelScores(Explained):
    """A judge's scores and explanation of a label, if it gave them.

    `score` in [0, 1]: closeness to the best label; `probabilities`: of each label;
    `outside_probability`: the probability outside the labels, before the others were scaled to sum
    to 1; `votes`: of a jury, the label of each member, None for no label; `method`: the source of a
    label of a jury or cascade, if it is the adjudicator or a later stage; `confidence`: of a
    cascade, the confidence of its first stage; `superseded`: the first stage's label, if a later
    stage replaced it; `parts`: of a label that code derives from parts, their labels by number,
    None: not judged.
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
        """The judge's confidence, ready for JSON; empty if it gave none."""
        return self._fields("score", "probabilities", "votes", "method")

    def get_staged(self) -> dict[str, Any]:
        """The fields of a cascade's first stage, ready for JSON; empty for other judges."""
        return self._fields("confidence", "superseded")

    def as_fields(self) -> dict[str, Any]:
        """All values beside a label, ready for JSON; empty if the judge gave only a label."""
        sure = self.get_confidence() | self._fields("outside_probability")
        return sure | self.get_staged() | self._fields("parts") | self.get_explanation()

    def _fields(self, *names: str) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in names}
        return {name: value for name, value in fields.items() if value is not None}


class Topic(Row):
    """An information need. `text`: the query or narrative; `background`: who asks and why.

    `domain` (its subject) and `category` (its kind of question) group topics.
    `sub_narratives`: the parts that a long narrative asks for, if they were listed.
    """

    id: str
    text: str
    background: str = ""
    domain: str = ""
    category: str = ""
    sub_narratives: tuple[str, ...] = ()

    @property
    def question(self) -> str:
        """The question for a judge: the text and, if there is any, the background."""
        return f"{self.text}\n{self.background}" if self.background else self.text


class Passage(Row):
    """A retrieved segment of a document."""

    id: str
    text: str
    title: str = ""


class Citation(Row):
    """A sentence's pointer to a passage; `weight`: the run's confidence, if any."""

    passage_id: str
    weight: float | None = None


class Sentence(Row):
    """One unit of an answer. `id` is its 0-based position, as in all support files.

    A heading makes no claim: it is neither judged for support nor counted as uncited.
    """

    id: int
    text: str
    citations: tuple[Citation, ...] = ()
    is_heading: bool = False

    @property
    def makes_claim(self) -> bool:
        """Whether it makes a claim that needs support: it has text and is not a heading."""
        return not self.is_heading and bool(self.text.strip())


class Answer(Row):
    """One run's answer to one topic; `references` are all passages that it names, in order.

    `not_given`: citations of items that its system never received, such as `[7]` with two contexts:
    no passage has such a name, so they support nothing. `failed`: why there is no answer, if the
    system is not the cause.
    """

    run_id: str
    topic_id: str
    sentences: tuple[Sentence, ...]
    references: tuple[str, ...] = ()
    not_given: tuple[str, ...] = ()
    failed: Reason | None = None

    @property
    def text(self) -> str:
        """The sentences joined by single spaces, without citations."""
        return " ".join(s.text for s in self.sentences if s.text)


class Ranking(Row):
    """Passages of one topic, best first: a topic of a retrieval run or of a candidate list.

    `failed`: why there are no passages, if the system is not the cause.
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
        docid: of the passage. start, end: code points of its text, `text[start:end]`.
        query: the search query; "": unknown.
        round: of the searches, from 1; 0: the nugget existed before them.
    """

    docid: str
    start: int
    end: int
    query: str = ""
    round: int = 0


class Nugget(Row):
    """An atomic fact of a good answer. `importance` None: the source gave no usable value.

    `sources`: its passages, as ids or with the words that state it. `sub_narrative`: the part of
    the topic's narrative that it belongs to, if the source names it.
    """

    id: str
    text: str
    importance: Importance | None = None
    sources: tuple[str | NuggetSource, ...] = ()
    sub_narrative: str = ""


class NuggetBank(Row):
    """The nuggets of one topic, in the order of their importance."""

    topic_id: str
    query: str
    nuggets: tuple[Nugget, ...]


class SubQuestion(Row):
    """A question that a report answers. `id`: its 0-based column in lists of ratings, as text."""

    id: str
    text: str

    @property
    def column(self) -> int:
        """Its index in a list of ratings."""
        return int(self.id)


class QuestionSet(Row):
    """The sub-questions of one topic; lists of ratings have `n_columns` entries, some unused."""

    topic_id: str
    questions: tuple[SubQuestion, ...]
    n_columns: int


class KeyPoint(Row):
    """A point that an answer should take from the documents (arXiv:2410.23000).

    `spans` are verbatim parts of the documents that state it, `sources` their passage ids.
    """

    id: str
    text: str
    spans: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


class KeyPointSet(Row):
    """The key points of one topic, whose question is `query`."""

    topic_id: str
    query: str
    key_points: tuple[KeyPoint, ...]


class ScoreRow(Row):
    """One value of one measure. `topic_id` "all": the mean of a run.

    `n` judgements are behind the value, `n_unjudged` are missing; if they count as worst and as
    best, the value is `low` and `high`. `value` None: nothing was judged, or 0/0.
    On mean rows only: `n_topics`, the number of topics in the mean; `n_answered` of `n_asked`,
    the number of answered topics among those on which the measure is defined.
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
    """
    return hash_ids("n", texts)


def key_point_ids(texts: Sequence[str]) -> list[str]:
    """Make an id for each key point text of one topic, like `nugget_ids`."""
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
