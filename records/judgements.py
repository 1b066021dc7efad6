"""How a judgement ends: `Judged` with its values, or `Unjudged` with the reason."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple


class Reason(StrEnum):
    """Why there is no judgement."""

    ABSTAINED = "abstained"  # the judge said that it cannot tell
    REFUSED = "refused"  # the model or its content filter declined
    TRUNCATED = "truncated"  # the reply ended at its length limit
    UNPARSEABLE = "unparseable"  # the reply is not what was asked for
    INCOMPLETE = "incomplete"  # the reply leaves out something that was asked
    UNGROUNDED = "ungrounded"  # no quote that was wanted stands in the judged text
    ERROR = "error"  # no reply: network, server, deadline
    BUDGET = "budget"  # not asked: a limit on calls, tokens or money was reached
    QUORUM = "quorum"  # too few members of a jury judged
    STEPS = "steps"  # an agent used up its steps, calls or reading before it was done
    TOOL = "tool"  # a tool of an agent failed, so that nothing can rest on what it would have found
    NO_PASSAGE = "no_passage"  # not asked: the text to judge against is not in the data


NOT_MADE = "not_made"  # field of an answer or item that could not be made: the reason


# Named tuples, not pydantic: one of each is made for every call of a large run.
class Provenance(NamedTuple):
    """Where one reply came from. Tokens are 0 where the endpoint reports none."""

    model: str = ""  # the model that answered, as the endpoint names it
    finish_reason: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0  # requests sent for this reply; 0 when it came from the cache
    cache_hit: bool = False


class Judged(NamedTuple):
    """A judgement that arrived: the judge's output fields by name, JSON-ready.

    `steps`: what an agent did to come to it, as trace.jsonl has it. `failed`: keys in the reply
    cache, in hex, of the questions that got no valid reply, such as those of a jury's member.
    """

    values: dict[str, Any]
    provenance: tuple[Provenance, ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    failed: tuple[str, ...] = ()


class Unjudged(NamedTuple):
    """A judgement that did not arrive; never counted as any label. For the rest see Judged."""

    reason: Reason
    detail: str
    raw: str = ""
    provenance: tuple[Provenance, ...] = ()
    steps: tuple[dict[str, Any], ...] = ()
    failed: tuple[str, ...] = ()


Outcome = Judged | Unjudged
