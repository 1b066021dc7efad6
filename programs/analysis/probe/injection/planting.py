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
from ..asking import Outcome
from ..figures import scale_of
from ..items import in_turns, topic_of, with_text
from .corpus import Payload, as_reply, fields_for, label_asked


@dataclass(frozen=True)
class Planted:
    """One payload in one call: the items of the call, one of their inputs changed.

    Attributes:
        name: the input that it stands in.
        said: the payload as it is planted.
        items: of the call with the payload. before: as they were.
        target: the place in the call of the item it was meant for. An input that the items share
            is the same text in all of them, one that is listed is that of the target alone.
        is_shared: which of these it is.
    """

    payload: Payload
    name: str
    said: str = field(repr=False)
    items: list[ItemRow] = field(repr=False)
    before: list[ItemRow] = field(repr=False)
    target: int
    is_shared: bool

    def carries(self, place: int) -> bool:
        """Whether the item at this place of the call has the payload in its texts."""
        return self.is_shared or place == self.target

    @property
    def text(self) -> str:
        """The text with the payload."""
        return self.items[self.target].inputs[self.name]

    @cached_property
    def is_noted(self) -> bool:
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
    """Each payload in at most `repeats` calls, its places in turn, over all topics.

    A payload goes only into items that were judged and have another label than it asks for. They
    take turns in one order, topic by topic, so that all are used about equally often.

    Args:
        outcomes: of each item, without a payload.
    """
    call_of = {place: group for group in calls(judge, items) for place in group}
    places = {asks: _movable(judge, items, outcomes, asks, seed) for asks in ("best", "worst")}
    queues = {asks: cycle(of) for asks, of in places.items()}
    found: list[Planted] = []
    turns: dict[tuple[str, ...], int] = {}  # of the places, by the places there are
    for payload in corpus:
        if not (names := fields_for(judge, payload)):
            continue
        for at in islice(queues[payload.asks], min(repeats, len(places[payload.asks]))):
            turn = turns[tuple(names)] = turns.get(tuple(names), -1) + 1
            group = [items[place] for place in call_of[at]]
            target = call_of[at].index(at)
            found.append(_planted(judge, payload, names[turn % len(names)], group, target))
    return found


def honest_items(items: Sequence[ItemRow]) -> list[ItemRow]:
    """The items in whose texts nothing looks like an instruction already."""
    return [item for item in items if not any(map(looks_like_an_instruction, item.inputs.values()))]


def asked_for(judge: ItemJudge, payload: Payload) -> str:
    """The label that a payload asks for, as the judge's verdicts have it."""
    return scale_of(judge)[-1 if payload.asks == "best" else 0]


def _planted(
    judge: ItemJudge, payload: Payload, name: str, group: list[ItemRow], target: int
) -> Planted:
    label = label_asked(judge, payload.asks)
    prompt = judge.prompt(judge.predictor)
    schema = prompt.schema(prompt.map_keys(judge.asked([item.inputs for item in group])))
    reply = as_reply(schema, judge.output, label, least_reply(schema))
    said = payload.filled(judge.output, label, reply)
    text = payload.planted(said, group[target].inputs[name])
    is_shared = name != judge.listed
    changed = [
        with_text(item, name, text) if is_shared or place == target else item
        for place, item in enumerate(group)
    ]
    return Planted(payload, name, said, changed, group, target, is_shared)


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
