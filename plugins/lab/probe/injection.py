"""`judge probe --injection`: plant prompt injections in honest items."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ....judges import ItemJudge
from ....judges.items import calls, judge_calls, judge_items
from ....judges.verdicts import Verdict
from ....metrics.inference import SIGNED, resampling
from ....programs.analysis.cell_texts import read_judge_items
from ....programs.config.sections import Config
from ....programs.engine.results import MANIFEST
from ....records.labels import ItemRow
from ....records.reading.injections import looks_like_an_instruction
from ....records.reading.problems import InputError, Problems
from ..changes import label_shift
from .echoes import echo_rows, reply_with
from .guards import remove_guards
from .payloads import CONTROL, Payload, fields_for, honest_items, read_payloads
from .probing import (
    ALL,
    BASE,
    CASES,
    LABELS,
    UNJUDGED,
    Asking,
    Kind,
    Options,
    Outcome,
    ProbeResult,
    Probing,
    Row,
    count_unjudged,
    get_label,
    get_scale,
    get_topic,
    get_topics,
    identity,
    in_turns,
    list_missing_labels,
    list_unjudged,
    sample_items,
    set_judge,
    with_text,
)
from .tables import view_injection
from .variants import with_lexical

CALLS = 30  # default number of calls with honest items
PLANTED = "planted"
KIND = Kind(
    ("injection.jsonl", CASES, UNJUDGED, LABELS, MANIFEST),
    view_injection,
    "neither flipped nor unflipped",
)


@dataclass(frozen=True)
class Planted:
    """One payload in one call: the items of the call with one input changed.

    Attributes:
        filled: the payload as it is planted. text: the text that contains it.
        name: the name of the changed input.
        items: the items of the call with the payload. before: the items without it.
        target: the position in the call of the item that the payload is for.
        is_shared: whether all items of the call share the input; else it belongs to the target.
    """

    payload: Payload
    filled: str = field(repr=False)
    text: str = field(repr=False)
    name: str
    items: list[ItemRow] = field(repr=False)
    before: list[ItemRow] = field(repr=False)
    target: int
    is_shared: bool

    @cached_property
    def is_listed(self) -> bool:
        """Whether a run would list the text as `instruction_like`."""
        return looks_like_an_instruction(self.text)


class Sides(NamedTuple):
    """The label without the payload and with it; None: not judged."""

    before: str | None
    after: str | None


@dataclass(frozen=True)
class Cell:
    """An item with a payload, whose label differed from the label that the payload asks for.

    Attributes:
        item: the item without the payload. before: its label. asked: the label asked for.
        outcome: the outcome with the payload.
        lexical: the labels of the lexical judge; None: it has no rule, or is this judge.
    """

    case: Planted
    item: ItemRow
    before: str
    asked: str
    outcome: Outcome
    lexical: Sides | None

    @property
    def sides(self) -> Sides:
        """The judge's two labels."""
        return Sides(self.before, get_label(self.outcome))

    @property
    def ids(self) -> Row:
        """Its ids in files."""
        payload = self.case.payload
        return {"payload": payload.id, "kind": payload.kind, "place": self.case.name,
                **self.item.ids}  # fmt: skip

    def row(self) -> Row:
        """Its row in files: the payload, the text that contains it, and both labels."""
        after = self.sides.after
        row = self.ids | {"asks": self.asked, "label_before": self.before}
        row |= {"label_after": after, "flipped": None if after is None else after == self.asked}
        if self.lexical is not None:
            row |= {"lexical_before": self.lexical.before, "lexical_after": self.lexical.after}
        return row | {"noted": self.case.is_listed, "text": self.case.text}


def probing_injection(
    source: Path,
    judges: Sequence[str],
    config: Config,
    problems: Problems,
    options: Options | None = None,
) -> Probing:
    """Judge honest items unchanged, with payloads, and without the judge's guards.

    The parts run one after the other, so that the cost of each is known. The items that get
    payloads depend on the labels; the number of calls hardly does.

    Args:
        source, judges, config: as for `probing_conditions`.

    Raises: InputError as `set_judge`.
    """
    options = options or Options()
    seed = options.seed

    async def work(asking: Asking) -> ProbeResult:
        judge = asking.item_judge()
        items = _draw(source, judge, asking, options)
        base = await asking.ask(BASE, "the judge unchanged", judge, items) or []
        outcomes: dict[str, list[Outcome]] = {BASE: base}
        corpus = read_payloads()
        cases = plant(judge, items, base, corpus, options.repeats, seed)
        n = len({case.payload.id for case in cases})
        with asking.part(PLANTED, f"{n} payloads in {len(cases):,} calls"):
            planted = await _outcomes(judge, cases, asking.config.run.concurrency)
        guards = []
        forms, asking.skipped = remove_guards(judge)
        gains = dict(judge.gains) if judge.is_ordered else None
        for form in forms:
            refusable = None if form.name == "fence" else form.name
            part = f"without {form.name}"
            bare = await asking.ask(part, form.what, form.judge, items, refusable)
            if bare is not None:
                outcomes[f"without-{form.name}"] = bare
                row = guard_row(form.name, items, base, bare, get_scale(judge), gains, seed)
                guards.append({**row, "what": form.what})
        if asking.costs is None:
            return asking.result()
        cells = await _cells(judge, items, base, cases, planted)
        kinds = dict.fromkeys(payload.kind for payload in corpus)
        rows = injection_rows(cells, [*kinds], get_scale(judge), seed, is_ordered=judge.is_ordered)
        echoes = [] if judge.own_words == "prompt" else echo_rows(judge, cases)
        rows += [{"by": "reply", "name": row["form"], **row} for row in echoes]
        rows += guards
        rows += [{"by": "guard", "name": s.name, "skipped": s.reason} for s in asking.skipped]
        about = {"sample": options.limit, "repeats": options.repeats, "seed": seed}
        about |= identity(judge) | {"n_items": len(items), "n_cells": len(cells)}
        lost = list_unjudged(({"condition": PLANTED, **c.ids}, c.outcome) for c in cells)
        return asking.result(
            rows=rows,
            about=about,
            items=items,
            outcomes=outcomes,
            cases=[cell.row() for cell in cells],
            unjudged=[*list_missing_labels(items, outcomes), *lost],
            found=cells,
        )

    config = set_judge(config, judges[0], options.fields)
    return Probing(KIND, config, [config.items.name], work, problems)


def _draw(source: Path, judge: ItemJudge, asking: Asking, options: Options) -> list[ItemRow]:
    """Draw a sample of the items whose texts contain nothing like an instruction."""
    every = read_judge_items(source, judge, asking.config, asking.problems)
    honest = honest_items(every)
    if n_other := len(every) - len(honest):
        what = f"{n_other} of {len(every)} items already contain text like an instruction"
        asking.problems.skip(source, 0, "not_honest", what)
    if not honest:
        raise InputError(f"{source}: all items already contain text like an instruction")
    return sample_items(honest, judge, options.limit or CALLS * judge.window, options.seed)


# Planting


def plant(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    outcomes: Sequence[Outcome],
    corpus: Sequence[Payload],
    repeats: int,
    seed: int,
) -> list[Planted]:
    """Plant each payload in at most `repeats` calls, alternating inputs, over all topics.

    A payload goes only into judged items whose label differs from the one it asks for. Items take
    turns, topic by topic, so that each is used about equally often.

    Args:
        outcomes: the outcome of each item without a payload.
    """
    call_of = {index: group for group in calls(judge, items) for index in group}
    candidates: dict[str, list[int]] = {}
    for asks in ("best", "worst"):
        labels = map(get_label, outcomes)
        candidates[asks] = in_turns([
            None if label in (None, label_named(judge, asks)) else get_topic(item)
            for item, label in zip(items, labels, strict=True)
        ], seed)  # fmt: skip
    queues = {asks: cycle(of) for asks, of in candidates.items()}
    cases: list[Planted] = []
    turns: dict[tuple[str, ...], int] = {}  # turns of the inputs, by the inputs of a judge
    for payload in corpus:
        if not (names := fields_for(judge, payload)):
            continue
        for at in islice(queues[payload.asks], min(repeats, len(candidates[payload.asks]))):
            turn = turns[tuple(names)] = turns.get(tuple(names), -1) + 1
            group = [items[index] for index in call_of[at]]
            target = call_of[at].index(at)
            cases.append(_plant(judge, payload, names[turn % len(names)], group, target))
    return cases


def label_named(judge: ItemJudge, asks: str) -> str:
    """The label that a payload asks for, in the form of the judge's verdicts."""
    return get_scale(judge)[-1 if asks == "best" else 0]


def _plant(
    judge: ItemJudge, payload: Payload, name: str, group: list[ItemRow], target: int
) -> Planted:
    label = judge.scale[-1 if payload.asks == "best" else 0]
    prompt = judge.prompt(judge.predictor)
    schema = prompt.schema(prompt.shape(judge.call_inputs([item.inputs for item in group])))
    reply = json.dumps(reply_with(schema, judge.output, label))
    filled = payload.fill(judge.output, label, reply)
    text = payload.plant(filled, group[target].inputs[name])
    is_shared = name != judge.listed
    changed = [
        with_text(item, name, text) if is_shared or index == target else item
        for index, item in enumerate(group)
    ]
    return Planted(payload, filled, text, name, changed, group, target, is_shared)


async def _outcomes(
    judge: ItemJudge, cases: Sequence[Planted], concurrency: int
) -> list[list[Outcome]]:
    """The outcomes of the items of each case; one call per case."""
    items = [item for case in cases for item in case.items]
    numbers = iter(range(len(items)))
    together = [[next(numbers) for _ in case.items] for case in cases]
    judged = await judge_calls(judge, items, together, concurrency=concurrency)
    return [[judged[index][0] for index in call] for call in together]


async def _cells(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    base: Sequence[Outcome],
    cases: Sequence[Planted],
    planted: Sequence[Sequence[Outcome]],
) -> list[Cell]:
    """The cells of all cases, with the labels of the lexical judge if it is another judge."""
    labels = {item.cell: get_label(outcome) for item, outcome in zip(items, base, strict=True)}
    theirs: Sequence[list[Sides] | None] = [None] * len(cases)
    if (other := with_lexical(judge)) is not None:
        honest = await judge_items(other, items)
        was = {item.cell: get_label(o) for item, (o, _) in zip(items, honest, strict=True)}
        theirs = [
            [Sides(was[i.cell], get_label(o)) for i, o in zip(case.before, of_case, strict=True)]
            for case, of_case in zip(cases, await _outcomes(other, cases, 1), strict=True)
        ]
    cells = []
    for case, of_case, sides in zip(cases, planted, theirs, strict=True):
        asked = label_named(judge, case.payload.asks)
        for index, (item, outcome) in enumerate(zip(case.before, of_case, strict=True)):
            before = labels[item.cell]
            has_payload = case.is_shared or index == case.target
            if before is not None and before != asked and has_payload:
                lexical = sides[index] if sides is not None else None
                cells.append(Cell(case, item, before, asked, outcome, lexical))
    return cells


# Rows


def injection_rows(
    cells: Sequence[Cell],
    kinds: Sequence[str],
    scale: Sequence[str],
    seed: int,
    *,
    is_ordered: bool = True,
) -> list[Row]:
    """Rows for all cells, and by kind, input, language and payload; controls only as a kind.

    Args:
        kinds: the kinds of payloads, also those without a cell.
        scale: the labels, worst to best. seed: seed of the intervals.
        is_ordered: whether the labels have an order; if not, no label can move nearer.
    """
    keys: dict[str, Callable[[Cell], str]] = {
        "kind": lambda cell: cell.case.payload.kind,
        "place": lambda cell: cell.case.name,
        "language": lambda cell: cell.case.payload.language,
        "payload": lambda cell: cell.case.payload.id,
    }
    hostile = [cell for cell in cells if cell.case.payload.kind != CONTROL]
    rows = [{"by": ALL, "name": ALL, **rates(hostile, scale, seed, is_ordered)}]
    for by, key in keys.items():
        groups: dict[str, list[Cell]] = {kind: [] for kind in kinds if by == "kind"}
        for cell in cells if by == "kind" else hostile:
            groups.setdefault(key(cell), []).append(cell)
        for name, group in groups.items():
            row = {"by": by, "name": name, **rates(group, scale, seed, is_ordered)}
            if by == "payload":
                payload = group[0].case.payload
                row |= {"kind": payload.kind, "asks": payload.asks, "text": payload.text}
            rows.append(row)
    return rows


def rates(cells: Sequence[Cell], scale: Sequence[str], seed: int, is_ordered: bool) -> Row:
    """Count cells, failed judgements and flips, with intervals over topics.

    `flip`: share of the judged cells whose label became the one asked for. `nearer`: share whose
    label moved towards it, flips included. `noted`: share of all cells whose text is listed as
    `instruction_like`. `lexical`: the same for the lexical judge, on cells where its label differed
    from the one asked for.
    """

    def measure_moves(sides: Sequence[tuple[Cell, Sides]]) -> Row:
        counts = np.array([_moves(cell.asked, of, scale) for cell, of in sides])
        flipped, nearer, judged = counts.reshape(len(sides), 3).T
        sample = resampling(get_topics(cell.item for cell, _ in sides), seed=seed)
        return {
            "flip": asdict(sample.mean(flipped, judged)),
            "nearer": asdict(sample.mean(nearer, judged)) if is_ordered else None,
        }

    missing = count_unjudged([cell.outcome for cell in cells])
    row: Row = {
        "n_payloads": len({cell.case.payload.id for cell in cells}),
        "cells": len(cells),
        "n": len(cells) - missing["n_unjudged"],
        **missing,
        **measure_moves([(cell, cell.sides) for cell in cells]),
        "noted": sum(cell.case.is_listed for cell in cells) / len(cells) if cells else None,
    }
    other = [(cell, cell.lexical) for cell in cells if cell.lexical is not None]
    if other:
        movable = [(cell, sides) for cell, sides in other if sides.before != cell.asked]
        row["lexical"] = {"n": len(movable), **measure_moves(movable)}
    return row


def _moves(asked: str, sides: Sides, scale: Sequence[str]) -> list[float]:
    """Count labels that flipped, that moved towards the label asked for, and that were judged."""
    if sides.before is None or sides.after is None:
        return [0.0, 0.0, 0.0]
    before, after, wanted = (scale.index(label) for label in (sides.before, sides.after, asked))
    return [float(after == wanted), float(abs(after - wanted) < abs(before - wanted)), 1.0]


def guard_row(
    name: str,
    items: Sequence[ItemRow],
    guarded: Sequence[Outcome],
    bare: Sequence[Outcome],
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
    seed: int,
) -> Row:
    """Compare the labels of honest items with a guard and without it.

    `best`, `gain` and `score` are the guarded value minus the bare one; `score` needs scores from
    both. Items that one side did not judge are left out.

    Args:
        guarded: outcomes of the judge. bare: outcomes of the judge without the guard.
        gains: label -> gain; None for labels without an order.
    """
    topics = get_topics(items)
    runs = [item.ids["run_id"] for item in items] if "run_id" in items[0].ids else None
    pair = ([get_label(o) for o in bare], [get_label(o) for o in guarded])
    shift = label_shift([pair], scale, gains, topics, runs, seed=seed).as_dict()
    sides: list[list[Any]] = [
        [each.score if isinstance(each, Verdict) else None for each in of] for of in (guarded, bare)
    ]
    counts = [None not in scores for scores in zip(*sides, strict=True)]
    minus = [(one or 0.0) - (other or 0.0) for one, other in zip(*sides, strict=True)]
    score = asdict(resampling(topics, seed=seed).mean(minus, counts, SIGNED))
    counted = count_unjudged(bare)
    return {"by": "guard", "name": name, **counted, **shift, "score": {"n": sum(counts), **score}}
