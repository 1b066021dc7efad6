"""Judge battles: each in both orders, in rounds if the design depends on earlier results."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ....programs.engine.stage import Item, labels, make_rows
from ....programs.inputs import Collection as Data
from ....programs.protocols.program import Run
from ....records.judgements import Reason
from ..settings import ArenaConfig
from .battles import (
    BATTLE_GAINS,
    VERDICT_SCALE,
    Battle,
    BattleLabel,
    BattleVerdict,
    battle_label,
    join_orders,
    swap_sides,
)
from .design import Field, Meeting, uncertain

if TYPE_CHECKING:
    from ....judges import ItemJudge

STAGE, JUDGE = "battles", "battle"


def make_field(collection: Data) -> Field:
    """Return the possible meetings. An answer without text counts as no answer."""
    answered = {(a.run_id, a.topic_id) for a in collection.answers() if a.text.strip()}
    cells = {(run, topic) for topic in collection.topics for run in collection.run_ids}
    absent = cells - answered - collection.failed.keys()
    return Field(list(collection.topics), collection.run_ids, absent=absent)


async def judge_battles(run: Run) -> list[Battle]:
    """Judge all battles of the design, topic by topic."""
    config, field = run.config.section(ArenaConfig), make_field(run.collection)
    battles: dict[Meeting, Battle] = {}
    most = config.battles
    if config.design == "active":
        while batch := _next(field, battles, config.round, most, config.seed):
            battles |= await _ask_battles(run, batch)
    elif config.design == "seeded":
        battles = await _ask_battles(run, field.at_random(config.seed)[:most])
    else:
        battles = await _ask_battles(run, list(islice(field.in_turn(config.seed), most)))
    return [battles[meeting] for meeting in in_topic_order(battles, field.topics)]


def in_topic_order(meetings: Collection[Meeting], topics: Sequence[str]) -> list[Meeting]:
    """Return meetings topic by topic, so that prompts with the same texts are asked together."""
    positions = {topic: at for at, topic in enumerate(topics)}
    return sorted(meetings, key=lambda meeting: (positions[meeting.topic_id], meeting))


def _next(
    field: Field, battles: Mapping[Meeting, Battle], round: int, most: int | None, seed: int
) -> list[Meeting]:
    """The next round of the active design; the first round is balanced."""
    n = round if most is None else min(round, most - len(battles))
    if not battles:
        return list(islice(field.in_turn(seed), n))
    gains = {meeting: get_score(battle) for meeting, battle in battles.items()}
    return uncertain(field, gains, n, seed)


def get_score(battle: Battle) -> float | None:
    """Return the result of `run_id` in a battle: 1, 0.5 or 0; None: not judged."""
    return None if battle.label is None else BATTLE_GAINS[battle.label]


async def _ask_battles(run: Run, meetings: Collection[Meeting]) -> dict[Meeting, Battle]:
    """Ask about these battles in both orders; battles with a missing answer are not asked."""
    by_topic: dict[str, list[Meeting]] = {}
    for meeting in in_topic_order(meetings, list(run.collection.topics)):
        by_topic.setdefault(meeting.topic_id, []).append(meeting)
    judge: ItemJudge = run.judge_set[JUDGE]
    criteria = judge.optional_inputs(
        {"criteria": "\n".join(run.config.section(ArenaConfig).criteria)}
    )

    def battles() -> Iterator[tuple[Meeting, list[Item], BattleLabel | None]]:
        for topic_id, of_topic in by_topic.items():
            texts = _texts(run.collection, topic_id)
            question = run.collection.topics[topic_id].question
            for meeting in of_topic:
                both = list(_orders(meeting, texts, question, criteria))
                is_win = meeting.run_id in texts
                yield meeting, both, None if both else "win" if is_win else "loss"

    def items() -> Iterator[Item]:
        return (item for _, both, _ in battles() for item in both)

    by_meeting = {}
    stage = labels(STAGE, run.judge_set, JUDGE, items, total=2 * len(meetings))
    async with run.session.judge_stage(stage, run.results) as outcome:
        for meeting, both, forfeit in battles():
            verdicts = [make_rows(outcome(item), 1)[0] for item in both]
            by_meeting[meeting] = _battle(meeting, verdicts, forfeit)
    return by_meeting


def _texts(collection: Data, topic_id: str) -> dict[str, str | Reason]:
    """Run -> its answer to a topic, or why nuggetjudge failed to make it; no entry: no answer."""
    texts: dict[str, str | Reason] = {
        run: why for (run, topic), why in collection.failed.items() if topic == topic_id
    }
    for answer, _ in collection.read_cited_answers(topic_id):
        if answer.text.strip():
            texts[answer.run_id] = answer.text
    return texts


def _orders(
    meeting: Meeting,
    texts: Mapping[str, str | Reason],
    question: str,
    criteria: Mapping[str, str],
) -> Iterator[Item]:
    """Both orders of a battle; none if a run has no answer. The ids name the first run."""
    topic_id, run_id, opponent_id = meeting
    if run_id not in texts or opponent_id not in texts:
        return
    for first, second in ((run_id, opponent_id), (opponent_id, run_id)):
        ids = {"topic_id": topic_id, "run_id": first, "opponent_id": second}
        answers = (texts[first], texts[second])
        if lost := [why for why in answers if isinstance(why, Reason)]:
            what = f"an answer to it was not made ({lost[0]})"
            yield Item(ids, None, missing=what, reason=lost[0])
        else:
            yield Item(ids, (question, *answers, *criteria.values()))


def _battle(
    meeting: Meeting, verdicts: Sequence[Mapping[str, Any]], forfeit: BattleLabel | None
) -> Battle:
    """The result of a battle; `forfeit`: the result of a battle that was not asked."""
    ids = meeting._asdict()
    if not verdicts:
        return Battle(**ids, label=forfeit, is_forfeit=True)
    first, second = _verdict(verdicts[0], is_first=True), _verdict(verdicts[1], is_first=False)
    return Battle(**ids, label=join_orders(first.label, second.label), first=first, second=second)


def _verdict(row: Mapping[str, Any], *, is_first: bool) -> BattleVerdict:
    """The verdict on answers A and B, from the view of the run that is shown first or second."""
    fields = {name: value for name, value in row.items() if name not in ("unjudged", "label")}
    label = battle_label(row["label"], VERDICT_SCALE)
    if not is_first:
        label = label and swap_sides(label)
        if "score" in fields:
            fields["score"] = 1 - fields["score"]
    chances = fields.get("probabilities")
    if chances is not None:
        fields["probabilities"] = {_of_run(name, is_first): p for name, p in chances.items()}
    if (votes := fields.get("votes")) is not None:
        fields["votes"] = {who: v and _of_run(v, is_first) for who, v in votes.items()}
    return BattleVerdict.model_validate({"label": label, **fields})


def _of_run(name: str, is_first: bool) -> str:
    label = battle_label(name, VERDICT_SCALE) or name
    return label if is_first else swap_sides(label)
