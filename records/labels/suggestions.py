"""What was found for the sentences of answers: outcomes, and passages that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import ConfigDict, ValidationError

from ..reading.choosing import Where
from ..reading.fields import Line, read_lines
from ..reading.problems import Problems
from ..reading.yaml_text import plain_error
from ..rows import Leaning, Row
from ..support import SupportLabel

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


class Suggestion(Leaning):
    """A passage for a sentence: where it was found, and the label of the support judge.

    `scope`: `reply`, the answer's own references, or `corpus`; `rank`: its position there, from 1;
    `query`: the written query that found it, None: the sentence itself.
    """

    passage_id: str
    scope: Literal["reply", "corpus"]
    rank: int
    query: str | None = None
    label: SupportLabel


class Contradicting(Leaning):
    """A passage that contradicts a sentence, with words of both."""

    passage_id: str
    label: Literal["contradicts"] = "contradicts"


class ClaimSource(Row):
    """A claim of a sentence and the passage that carries it; None: none does."""

    claim: str
    passage_id: str | None


class SentenceEvidence(Row):
    """What was found for one sentence; a line of `evidence.jsonl`.

    Attributes:
        sentence: its 0-based position. citation, label: of the citation that was judged first;
            None: it cites nothing, or that was not judged.
        outcome: None: not known, see unjudged.jsonl; `not_sought`: its label was fine.
        shown: whether the suggestion is used: its score reaches the cut-off.
        best: passages that carry most of it. claims: where it was split.
        queries: that were written. calls: that its search made.
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
        """The passage that should be cited in the first place; None: nothing is to change."""
        replaces = self.outcome in ("wrong_citation", "uncited_supported") and self.shown
        return self.suggestion.passage_id if replaces and self.suggestion else None

    def as_row(self) -> dict[str, Any]:
        """Ready for JSON; what is empty stands there for the first fields alone."""
        row = self.model_dump(mode="json", exclude_none=True, exclude_defaults=True)
        first = ("run_id", "topic_id", "sentence", "citation", "label", "outcome")
        head: dict[str, Any] = {name: getattr(self, name) for name in first}
        for name, part in (("suggestion", self.suggestion), ("contradiction", self.contradiction)):
            if part is not None:
                row[name] = {
                    **part.model_dump(mode="json", exclude={*Leaning.model_fields}),
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
    """What was found, in these objects, as `read_sentence_evidence`."""
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
            line.error("duplicate_evidence", f"{what} is in line {first} already, wanted once")
            continue
        yield row
