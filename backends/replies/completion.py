"""A reply from an endpoint, its fields for a prompt, and the items that depend on it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from ...records.judgements import Provenance, Reason
from ..errors import JudgeOutputError
from .logprobs import Token
from .text import drop_thoughts, find_loop

if TYPE_CHECKING:
    from ..prompt import Prompt


_KEY_DIGITS = 16


class RecordedReply(NamedTuple):
    """One reply: its key in the reply cache (16 hex digits of it), its size and its source.

    The tokens belong to the reply itself, cached or not: 0 if they were not counted.
    """

    key: str
    prompt_tokens: int
    completion_tokens: int
    provenance: Provenance


_RECORDED: ContextVar[list[RecordedReply] | None] = ContextVar("recorded_replies", default=None)
# The inputs of the items in the current call, and a function that gives an item's ids by index.
NAMED: ContextVar[tuple[Sequence[Mapping[str, Any]], Callable[[int], Mapping[str, Any]]] | None]
NAMED = ContextVar("named_items", default=None)
_FAILED: ContextVar[set[bytes] | None] = ContextVar("failed_questions", default=None)


def name_items(
    items: Sequence[Mapping[str, Any]], get_ids: Callable[[int], Mapping[str, Any]]
) -> None:
    """Set the items that the next questions are about, see NAMED."""
    NAMED.set((items, get_ids))


@contextmanager
def collect_replies() -> Iterator[list[RecordedReply]]:
    """Collect the replies that arrive inside, in tasks started inside too; in no fixed order."""
    replies: list[RecordedReply] = []
    token = _RECORDED.set(replies)
    try:
        yield replies
    finally:
        _RECORDED.reset(token)


def record(key: bytes, prompt_tokens: int, completion_tokens: int, where: Provenance) -> None:
    """Record that a reply arrived. Code that asks a model calls it once for each question."""
    if (records := _RECORDED.get()) is not None:
        records.append(
            RecordedReply(key.hex()[:_KEY_DIGITS], prompt_tokens, completion_tokens, where)
        )


@contextmanager
def collect_failures() -> Iterator[set[bytes]]:
    """Collect the keys of questions inside, and in tasks started inside, without a valid reply."""
    failed: set[bytes] = set()
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


def record_failure(key: bytes) -> None:
    """Record that a question got no valid reply. Code that asks a model calls it."""
    if (failed := _FAILED.get()) is not None:
        failed.add(key)


def record_reply(key: bytes, reply: Reply) -> Reply:
    """Record a reply that has arrived; its tokens are those of its latest request."""
    where = reply.provenance
    record(key, where.prompt_tokens, where.completion_tokens, where)
    return reply


def record_answer(
    prompt: Prompt,
    inputs: Mapping[str, Any],
    replicate: int,
    where: Provenance,
    tokens: tuple[int, int] = (0, 0),
) -> None:
    """Record an answer that no reply cache holds: its key follows from the question.

    Args:
        tokens: of prompt and reply, if they were measured.
    """
    if _RECORDED.get() is not None:
        question = orjson.dumps(
            [prompt.prompt_hash(), inputs, replicate],
            default=str,
            option=orjson.OPT_SORT_KEYS,
        )
        record(hashlib.sha256(question).digest(), *tokens, where)


MAX_REPEATED = 2_000  # characters of an unreadable reply that are shown to its model again
_NOTHING = "(no reply)"  # some endpoints reject an empty message


class Completion(NamedTuple):
    """One reply from an endpoint; `tokens` if it reported log-probabilities."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    model: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    tokens: Sequence[Token] = ()


class Reply(NamedTuple):
    """A judgement's checked values by output field, and their source.

    `scores` (lexical baseline) and `probabilities` (of the labels, from log-probabilities) are
    by output field too; both are empty if the model gives labels only. `outside`, in the same
    form: the probability on no label, unless negligible.
    """

    values: dict[str, Any]
    provenance: Provenance
    scores: dict[str, Any] = {}  # noqa: RUF012  never modified
    probabilities: dict[str, Any] = {}  # noqa: RUF012
    outside: dict[str, Any] = {}  # noqa: RUF012

    def at(self, field: str, key: str | None) -> tuple[Any, float | None, Any]:
        """Label, score and probabilities of a field, or of one key of a map; None: unknown."""
        label, score = self.values.get(field), self.scores.get(field)
        chances = self.probabilities.get(field)
        if key is not None:  # called for each label of a large run, so without a loop
            label = None if label is None else label.get(key)
            score = None if score is None else score.get(key)
            chances = None if chances is None else chances.get(key)
        return label, score, chances

    def get_outside(self, field: str, key: str | None) -> float | None:
        """The probability on no label, for a field or for one key of a map."""
        outside = self.outside.get(field)
        share: float | None = outside if key is None or outside is None else outside.get(key)
        return share


class Reader(Protocol):
    """Reads a reply to one question: a Prompt."""

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]: ...


DECIDED = "decided"  # finish reason of a decision model, which writes no text


def read_values(
    completion: Completion, prompt: Reader, inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """Read the output fields of a reply. Raises: JudgeOutputError."""
    text = completion.text
    if completion.refusal:
        raise JudgeOutputError(Reason.REFUSED, completion.refusal[:200], text or completion.refusal)
    if completion.finish_reason == "content_filter":
        raise JudgeOutputError(Reason.REFUSED, "stopped by the endpoint's content filter", text)
    if completion.finish_reason == "length":
        what = "the reply ended at its length limit (the model's max_tokens, or the context)"
        if loop := find_loop(text):
            what = f"the reply repeats the same text up to its length limit: {loop[:80]!r}"
        raise JudgeOutputError(Reason.TRUNCATED, what, text)
    # Our code writes the labels of a decision model, so they cannot be copied from the text.
    return prompt.parse(text, None if completion.finish_reason == DECIDED else inputs)


def pack_reply(completion: Completion) -> bytes:
    """Pack a reply for the cache."""
    return orjson.dumps(tuple(completion))


def write_complaint(completion: Completion, complaint: str) -> list[dict[str, str]]:
    """Messages that continue after an unreadable reply: the reply, and its fault.

    The reply is repeated without thoughts, and only to the length of a judgement.
    """
    answer = drop_thoughts(completion.text)
    if len(answer) > MAX_REPEATED:
        answer = answer[:MAX_REPEATED] + " [...]"
    what = f"Your reply could not be used: {complaint}."
    wanted = "Answer again, in exactly the form that was asked for, and write nothing else."
    return [
        {"role": "assistant", "content": answer or _NOTHING},
        {"role": "user", "content": f"{what} {wanted}"},
    ]
