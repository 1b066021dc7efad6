"""Items of an agent with the outcome that people gave them, and what they say of passages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import orjson
from pydantic import TypeAdapter, ValidationError

from ...agents import Agent
from ...judges.items import ItemJudge
from ...records.reading.fields import Line, read_lines, show
from ...records.reading.problems import InputError, Problems

OUTCOME = "outcome"  # of what an agent made, and of a row: the label in the end


@dataclass(frozen=True)
class AgentExample:
    """An item whose outcome people know.

    Attributes:
        topic_id: its topic. inputs: of the agent; those that are null in the file are left out.
        outcome: what the agent is to come to.
        passages: by passage id, the label that people gave it for this item.
        quotes: by passage id, the words that they went by.
    """

    topic_id: str
    inputs: dict[str, Any]
    outcome: str
    passages: Mapping[str, str] = field(default_factory=dict)
    quotes: Mapping[str, Sequence[str]] = field(default_factory=dict)


class AgentExamples(NamedTuple):
    """All examples of a file."""

    items: tuple[AgentExample, ...]

    @property
    def topics(self) -> tuple[str, ...]:
        """Their topics, sorted."""
        return tuple(sorted({item.topic_id for item in self.items}))

    def of(self, topics: Iterable[str]) -> list[AgentExample]:
        """Those of these topics, in their order."""
        chosen = set(topics)
        return [item for item in self.items if item.topic_id in chosen]


def read_agent_examples(
    path: Path, agent: Agent, problems: Problems, *, limit: int | None = None, seed: int = 0
) -> AgentExamples:
    """The examples of a JSONL file: `topic_id`, the agent's inputs, `outcome`; see docs/formats.md.

    Args:
        limit: at most so many, drawn at random.

    Raises: InputError with every line that lacks something, and for fewer than 3 topics.
    """
    labels = _labels_of(agent)
    read = [_example(line, agent, labels) for line in read_lines(path, problems)]
    problems.raise_errors()
    items = [each for each in read if each is not None]
    if limit is not None and limit < len(items):
        order = np.random.default_rng(seed).permutation(len(items))[:limit]
        items = [items[i] for i in sorted(order)]
    examples = AgentExamples(tuple(items))
    if len(examples.topics) < 3:
        what = "wanted examples of 3 topics or more: to train, to choose and to test on"
        raise InputError(f"{path}: {what}, got {len(examples.topics)}")
    return examples


def _check_input(line: Line, name: str, kind: Any) -> None:
    try:
        TypeAdapter(kind).validate_json(orjson.dumps(line.row[name]))
    except (ValidationError, TypeError):
        wanted = "a text" if kind is str else str(kind)
        line.bad(name, line.row[name], f"{wanted} or null")


def _labels_of(agent: Agent) -> list[str]:
    """The labels that its judges give to passages, each once; []: it has no such judge."""
    judges = [judge for judge in vars(agent).values() if isinstance(judge, ItemJudge)]
    return list(dict.fromkeys(label for judge in judges for label in judge.scale))


def _example(line: Line, agent: Agent, labels: Sequence[str]) -> AgentExample | None:
    topic, outcome = line.id("topic_id"), line.text(OUTCOME)
    if outcome is not None and agent.outcomes and outcome not in agent.outcomes:
        line.bad(OUTCOME, outcome, f"one of {', '.join(agent.outcomes)}")
    for name in agent.inputs:
        if name not in line.row:
            what = f"field {line.name(name)!r} is missing, an input of {agent.name} (or null)"
            line.error("missing", what)
        elif name != "topic_id" and line.row[name] is not None:
            _check_input(line, name, agent.input_types.get(name, str))
    passages, quotes = line.row.get("passages") or {}, line.row.get("quotes") or {}
    if not (isinstance(passages, dict) and all(type(v) in (str, int) for v in passages.values())):
        line.error("passages", f"passages is {show(passages)}, wanted passage id -> label")
        return None
    if not (isinstance(quotes, dict) and all(isinstance(v, list) for v in quotes.values())):
        line.error("quotes", f"quotes is {show(quotes)}, wanted passage id -> list of texts")
        return None
    if topic is None or outcome is None:
        return None
    inputs = {n: line.row[n] for n in agent.inputs if line.row.get(n) is not None}
    of_people = {name: str(label) for name, label in passages.items()}
    for name, label in of_people.items():
        if labels and label not in labels:
            line.bad(f"passages.{name}", label, f"one of {', '.join(labels)}")
    return AgentExample(topic, inputs, outcome, of_people, quotes)
