"""Which payloads are planted where: into cells whose label is not what the payload asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle, islice

from .....judges import ItemJudge
from .....judges.calls import calls
from .....judges.verdicts import Verdict
from .....records.labels.items import ItemRow
from ....engine.rehearsal import least_reply
from ....inputs.hostile import looks_like_an_instruction
from ..figures import scale_of
from ..items import in_turns, topic_of, with_text
from ..result import Outcome
from .corpus import Payload, as_reply, fields_for, label_asked


@dataclass(frozen=True)
class Planted:
    """One payload in one call: the items of the call, one of their inputs changed.

    Attributes:
        name: the input that it stands in.
        filled: the payload as it is planted.
        items: of the call with the payload. before: as they were.
        target: the position in the call of the item it was meant for. An input that the items share
            is the same text in all of them, one that is listed is that of the target alone.
        is_shared: which of these it is.
    """

    payload: Payload
    name: str
    filled: str = field(repr=False)
    items: list[ItemRow] = field(repr=False)
    before: list[ItemRow] = field(repr=False)
    target: int
    is_shared: bool

    def carries(self, index: int) -> bool:
        """Whether the item at this position of the call has the payload in its texts."""
        return self.is_shared or index == self.target

    @property
    def text(self) -> str:
        """The text with the payload."""
        return self.items[self.target].inputs[self.name]

    @cached_property
    def is_listed(self) -> bool:
        """Whether a run would list the text as `instruction_like`."""
        return looks_like_an_instruction(self.text)


def plant(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    outcomes: Sequence[Outcome],
    corpus: Sequence[Payload],
    repeats: int,
    seed: int,
) -> list[Planted]:
    """Each payload in at most `repeats` calls, its inputs in turn, over all topics.

    A payload goes only into items that were judged and have another label than it asks for. They
    take turns in one order, topic by topic, so that all are used about equally often.

    Args:
        outcomes: of each item, without a payload.
    """
    call_of = {index: group for group in calls(judge, items) for index in group}
    candidates = {asks: _movable(judge, items, outcomes, asks, seed) for asks in ("best", "worst")}
    queues = {asks: cycle(of) for asks, of in candidates.items()}
    cases: list[Planted] = []
    turns: dict[tuple[str, ...], int] = {}  # of the inputs, by the inputs there are
    for payload in corpus:
        if not (names := fields_for(judge, payload)):
            continue
        for at in islice(queues[payload.asks], min(repeats, len(candidates[payload.asks]))):
            turn = turns[tuple(names)] = turns.get(tuple(names), -1) + 1
            group = [items[index] for index in call_of[at]]
            target = call_of[at].index(at)
            cases.append(_planted(judge, payload, names[turn % len(names)], group, target))
    return cases


def honest_items(items: Sequence[ItemRow]) -> list[ItemRow]:
    """The items in whose texts nothing looks like an instruction already."""
    return [item for item in items if not any(map(looks_like_an_instruction, item.inputs.values()))]


def label_named(judge: ItemJudge, payload: Payload) -> str:
    """The label that a payload asks for, as the judge's verdicts have it."""
    return scale_of(judge)[-1 if payload.asks == "best" else 0]


def _planted(
    judge: ItemJudge, payload: Payload, name: str, group: list[ItemRow], target: int
) -> Planted:
    label = label_asked(judge, payload.asks)
    prompt = judge.prompt(judge.predictor)
    schema = prompt.schema(prompt.shape(judge.call_inputs([item.inputs for item in group])))
    reply = as_reply(schema, judge.output, label, least_reply(schema))
    filled = payload.filled(judge.output, label, reply)
    text = payload.planted(filled, group[target].inputs[name])
    is_shared = name != judge.listed
    changed = [
        with_text(item, name, text) if is_shared or index == target else item
        for index, item in enumerate(group)
    ]
    return Planted(payload, name, filled, changed, group, target, is_shared)


def _movable(
    judge: ItemJudge, items: Sequence[ItemRow], outcomes: Sequence[Outcome], asks: str, seed: int
) -> list[int]:
    """Places of the items that can be moved to what is asked for: topics take turns."""
    wanted = scale_of(judge)[-1 if asks == "best" else 0]
    topics = [
        topic_of(item) if isinstance(outcome, Verdict) and outcome.label != wanted else None
        for item, outcome in zip(items, outcomes, strict=True)
    ]
    return in_turns(topics, seed)
