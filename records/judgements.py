"""The end of a judgement: `Judged` or `Unjudged`, and the quotes that are its evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

HASH_CHARS = 16  # hex digits: 64 bits distinguish the texts of a collection


class Evidence(BaseModel):
    """A quote for a label, and whether it was found in the judged text.

    Attributes:
        of: the input of the judge that is quoted, such as `passage`.
        quote: the words. If their place is known, exactly `text[start:end]`, with `?` for half
            a surrogate pair, which UTF-8 cannot hold.
        start, end: code points from the start of that text; None: the place is unknown.
        sha256: the first 16 hex digits of the hash of the whole text in UTF-8.
        is_quoted: whether they were found, white space aside; None: not checked.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    of: str = ""
    quote: str
    start: int | None = Field(default=None, ge=0)
    end: int | None = Field(default=None, ge=0)
    sha256: str | None = None
    is_quoted: bool | None = None

    @model_validator(mode="before")
    @classmethod
    def _place_quote(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and fields.get("start") is not None:
            return {"is_quoted": True, **fields}
        return fields

    @model_validator(mode="after")
    def _check(self) -> Evidence:
        if (self.start is None) != (self.end is None):
            raise ValueError("wanted both start and end, or neither")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"start is {self.start} and end {self.end}, wanted start before end")
        if self.start is not None and not self.is_quoted:
            raise ValueError("with start and end, is_quoted must be true")
        return self

    def as_row(self) -> dict[str, Any]:
        """Return the quote, ready for JSON: with its place if known, otherwise with `is_quoted`."""
        row: dict[str, Any] = {"of": self.of, "quote": self.quote}
        if self.start is None:
            return {**row, "is_quoted": self.is_quoted}
        return {**row, "start": self.start, "end": self.end, "sha256": self.sha256}

    def stands_in(self, text: str) -> bool:
        """Return whether this is the quoted text, with the words at their place.

        Args:
            text: the whole text in which the words should be.
        """
        is_it = self.start is not None and self.sha256 == text_hash(text)
        return is_it and _writable(text[self.start : self.end]) == self.quote


def make_quote(of: str, text: str, start: int, end: int) -> Evidence:
    """Make the evidence `text[start:end]`."""
    return Evidence.model_construct(
        of=of,
        quote=_writable(text[start:end]),
        start=start,
        end=end,
        sha256=text_hash(text),
        is_quoted=True,
    )


def make_unfound_quote(of: str, words: str) -> Evidence:
    """Make evidence with words that are not in the text that they should quote."""
    return Evidence(of=of, quote=_writable(words), is_quoted=False)


def read_evidence(
    written: Any, *, of: str = "", is_quoted: bool | None = None
) -> tuple[Evidence, ...] | None:
    """Read the evidence in a field of a row; None if the field holds something else.

    Args:
        written: a list of objects from `as_row`; in older files a text.
        of, is_quoted: the known properties of a text.
    """
    if isinstance(written, str):
        return (Evidence(of=of, quote=written, is_quoted=is_quoted),) if written.strip() else ()
    if not isinstance(written, list):
        return None
    try:
        return tuple(Evidence.model_validate(part, strict=True) for part in written)
    except ValidationError:
        return None


def is_evidence(written: Any) -> bool:
    """Return whether a field is meant as evidence: a list of objects with quotes."""
    return isinstance(written, list) and all(
        isinstance(part, dict) and "of" in part and "quote" in part for part in written
    )


def all_quoted(evidence: Iterable[Evidence]) -> bool | None:
    """Whether all quotes were found; None without evidence, or if nothing was checked."""
    marks = [each.is_quoted for each in evidence]
    if False in marks:
        return False
    return True if marks and None not in marks else None


def wrong_quotes(row: Mapping[str, Any]) -> int:
    """Count the quotes of a row, in the form of `as_row`, that are not in the judged text."""
    return sum(part.get("is_quoted") is False for part in row.get("evidence", ()))


@lru_cache(maxsize=4096)
def text_hash(text: str) -> str:
    """Hash a text: the start of its SHA-256.

    >>> text_hash("")
    'e3b0c44298fc1c14'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:HASH_CHARS]


def _writable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


class Reason(StrEnum):
    """Why there is no judgement."""

    ABSTAINED = "abstained"  # the judge said that it cannot decide
    REFUSED = "refused"  # the model or its content filter declined
    TRUNCATED = "truncated"  # the reply ended at its length limit
    UNPARSEABLE = "unparseable"  # the reply does not have the requested form
    INCOMPLETE = "incomplete"  # the reply leaves out something that was requested
    UNGROUNDED = "ungrounded"  # no required quote is in the judged text
    ERROR = "error"  # no reply: network, server, deadline
    BUDGET = "budget"  # not asked: a limit on calls, tokens or money was reached
    QUORUM = "quorum"  # too few members of a jury judged
    STEPS = "steps"  # an agent used up its steps, calls or reading before it was done
    TOOL = "tool"  # a tool of an agent failed, so its result is missing
    NO_PASSAGE = "no_passage"  # not asked: the text to judge against is not in the data


FAILED = "failed"  # field with the reason why an answer or item could not be made
OLD_FAILED = "not_made"  # its name in files of earlier versions


def read_failure(value: object) -> Reason | None:
    """Read the reason in a field `failed`; None if the field is empty or false.

    >>> read_failure("refused"), read_failure(True), read_failure(False)
    (<Reason.REFUSED: 'refused'>, <Reason.ERROR: 'error'>, None)

    Raises: ValueError for any other value.
    """
    if value is True:
        return Reason.ERROR
    return None if value in (None, "", False) else Reason(str(value))


# Named tuples instead of pydantic: one of each is created for every call of a large run.
class Provenance(NamedTuple):
    """The source of one reply.

    Attributes:
        model: the model that answered, as the endpoint names it; "" if unknown.
        finish_reason: why the model stopped, as the endpoint names it; "" if unknown.
        prompt_tokens: tokens of the prompt; 0 if the endpoint reports none.
        cached_tokens: tokens of the prompt that the endpoint had in its cache.
        completion_tokens: tokens of the reply; 0 if the endpoint reports none.
        attempts: requests sent for this reply; 0 if it came from the cache of replies.
        cache_hit: whether the reply came from the cache of replies.
    """

    model: str = ""  # the model that answered, as the endpoint names it
    finish_reason: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0  # requests sent for this reply; 0 when it came from the cache
    cache_hit: bool = False


class Judged(NamedTuple):
    """A successful judgement.

    Attributes:
        values: the judge's output fields by name, ready for JSON.
        provenance: the source of each reply behind the judgement.
        steps: the steps of an agent, in the form of trace.jsonl; () for other judges.
        failed: keys in the reply cache, in hex, of questions without a valid reply, for example of
            one jury member.
    """

    values: dict[str, Any]
    provenance: tuple[Provenance, ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    failed: tuple[str, ...] = ()


class Unjudged(NamedTuple):
    """A failed judgement; it never counts as any label.

    Attributes:
        reason: why the judgement failed.
        detail: the failure in words.
        raw: the reply that could not be used; "" if there was none.
        provenance: the source of each reply behind the judgement.
        steps: the steps of an agent, in the form of trace.jsonl; () for other judges.
        failed: keys in the reply cache, in hex, of questions without a valid reply.
    """

    reason: Reason
    detail: str
    raw: str = ""
    provenance: tuple[Provenance, ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    failed: tuple[str, ...] = ()


Outcome = Judged | Unjudged
