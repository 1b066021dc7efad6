"""An agent that finds one planted passage among its own, and what became of it."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from typing import Any

from .....agents import Agent, Corpus
from .....judges.base import Judge
from .....records.judgements import Judged, Outcome
from .....records.rows import Passage
from .....retrieval.scored import Ranked
from ....inputs.hostile import looks_like_an_instruction
from ..injection.unhardened import unfenced
from .payloads import WORD, Payload


@dataclass(frozen=True)
class Target:
    """An agent and the items that it is probed with.

    Attributes:
        items: its inputs, of each. ids: what names each.
        result: how it ended, as text, of what it made.
        best, worst: ends that a payload asks for: the best, or the worst where that was honest.
        finish: the reply of a model that would make it end so.
    """

    agent: Agent
    items: Sequence[Mapping[str, Any]] = field(repr=False)
    ids: Sequence[Mapping[str, Any]] = field(repr=False)
    result: Callable[[Mapping[str, Any]], str]
    best: str
    worst: str
    finish: Callable[[str], dict[str, Any]]

    @property
    def topics(self) -> list[str]:
        """The topic of each item; "" where it has none."""
        return [str(ids.get("topic_id", "")) for ids in self.ids]

    def ended(self, outcome: Outcome) -> str | None:
        """How the agent ended; None: not judged."""
        return self.result(outcome.values["made"]) if isinstance(outcome, Judged) else None


@dataclass(frozen=True)
class Planted:
    """One payload in one passage that the agent looks at for one item.

    Attributes:
        item: its index. filled: the payload as it is planted. text: the passage with it.
        asked: the end that it asks for; "" where it asks for none.
        before: how the agent ended without it.
    """

    payload: Payload
    item: int
    passage_id: str
    filled: str = field(repr=False)
    text: str = field(repr=False)
    asked: str
    before: str

    @property
    def is_listed(self) -> bool:
        """Whether a run would list the text as `instruction_like`."""
        return looks_like_an_instruction(self.text)


class PlantedCorpus:
    """A corpus with another text in one passage; searches find what they found."""

    def __init__(self, corpus: Corpus, passage_id: str, text: str) -> None:
        self._corpus, self._planted, self._text = corpus, passage_id, text
        about = f"{corpus.fingerprint} {passage_id} {text}".encode("utf-8", "surrogatepass")
        self.fingerprint = hashlib.sha256(about).hexdigest()[:12]

    async def search(self, query: str) -> Ranked:
        """See agents.Corpus."""
        return await self._corpus.search(query)

    def passage(self, passage_id: str) -> Passage | None:
        """See agents.Corpus."""
        original = self._corpus.passage(passage_id)
        if original is None or passage_id != self._planted:
            return original
        return original.model_copy(update={"text": self._text})


def plant(
    target: Target, outcomes: Sequence[Outcome], payloads: Sequence[Payload], repeats: int
) -> list[Planted]:
    """Each payload for at most `repeats` items, in turn, behind the first passage looked at.

    An item takes part where it was judged and a passage was looked at; honest queries that hold
    the planted word leave it out.

    Args:
        outcomes: of each item, without a payload.
    """
    corpus = target.agent.corpus
    assert corpus is not None
    candidates = []
    for index, outcome in enumerate(outcomes):
        seen = looked_at(outcome.steps)
        if target.ended(outcome) is not None and seen and not steered(outcome):
            candidates.append((index, seen[0]))
    planted, turns = [], cycle(candidates)
    for payload in payloads:
        for index, passage_id in islice(turns, min(repeats, len(candidates))):
            before = target.ended(outcomes[index])
            assert before is not None
            label = target.worst if before == target.best else target.best
            filled = payload.filled(label, target.finish(label), passage_id)
            passage = corpus.passage(passage_id)
            assert passage is not None  # it was shown to a judge
            text = f"{passage.text}\n{filled}"
            wanted = label if payload.asks == "finish" else ""
            planted.append(Planted(payload, index, passage_id, filled, text, wanted, before))
    return planted


def with_planted(agent: Agent, planted: Planted) -> Agent:
    """The agent, finding the planted passage."""
    twin = copy.copy(agent)
    assert agent.corpus is not None
    twin.corpus = PlantedCorpus(agent.corpus, planted.passage_id, planted.text)
    return twin


def without_fence(agent: Agent) -> Agent:
    """The agent with the data of all its judges as plain text. Only to measure what that moves."""
    twin = copy.copy(agent)
    for name, part in vars(agent).items():
        if isinstance(part, Judge):
            setattr(twin, name, unfenced(part))
    return twin


def looked_at(steps: Sequence[Mapping[str, Any]]) -> list[str]:
    """The passages that were read or shown to a judge, in order."""
    passage_ids = []
    for step in steps:
        about = step.get("args" if step["kind"] == "tool" else "in") or {}
        if step["kind"] in ("tool", "call") and isinstance(about.get("passage"), str):
            passage_ids.append(about["passage"])
    return passage_ids


def steered(outcome: Outcome) -> bool:
    """Whether a query of the agent holds the planted word."""
    queries = (
        step["args"]["query"]
        for step in outcome.steps
        if step["kind"] == "tool" and step["name"] == "search"
    )
    return any(WORD in query.casefold() for query in queries)
