"""Texts that talk to the judge, planted in honest items: do they decide its labels?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .....backends.errors import EndpointUnusable
from .....judges import ItemJudge
from .....judges.calls import judge_calls, judge_items
from .....judges.variants import with_lexical
from .....judges.verdicts import Verdict
from .....records.judgements import Unjudged
from .....records.labels.items import ItemRow
from .....records.reading.problems import InputError, Problems
from ....config.sections import Config
from ....engine.results import MANIFEST
from ...judge_items import read_judge_items
from ..asking import Asking, Options, Probing
from ..conditions import BASE
from ..figures import scale_of
from ..items import sample_items
from ..probe import identity, judged_by
from ..result import CASES, LABELS, UNJUDGED, Outcome, ProbeResult, Row, Skipped, why_unjudged
from .corpus import read_corpus
from .echoes import echo_rows
from .figures import Cell, Sides, guard_row, injection_rows, label_of
from .planting import Planted, honest_items, label_named, plant
from .unhardened import unguarded

CALLS = 30  # of honest items, by default: as many items as these calls hold
PLANTED = "planted"


@dataclass(frozen=True, kw_only=True)
class Injected(ProbeResult):
    """The result of an injection probe; `items` are honest ones, judged with guards and without.

    Attributes:
        judge: what makes up the judge and its model.
        cells: those of all planted cases that count.
        rows: see `injection_rows`. echoes: see `echo_rows`. guards: see `guard_row`.
    """

    names = ("injection.jsonl", CASES, UNJUDGED, LABELS, MANIFEST)

    judge: Row
    cells: list[Cell] = field(repr=False)
    rows: list[Row]
    echoes: list[Row]
    guards: list[Row]

    @property
    def n_unjudged(self) -> int:
        """Labels that did not arrive, of honest items and of cells that would count."""
        honest = [outcome for outcomes in self.outcomes.values() for outcome in outcomes]
        planted = [cell.outcome for cell in self.cells]
        return sum(not isinstance(outcome, Verdict) for outcome in (*honest, *planted))

    def lines(self) -> Iterator[Row]:
        """The rows of cells, of the parser, of guards and, behind them, what was skipped."""
        yield from self.rows
        yield from ({"by": "reply", "name": row["form"], **row} for row in self.echoes)
        yield from self.guards
        yield from ({"by": "guard", "name": s.name, "skipped": s.reason} for s in self.skipped)

    def about(self) -> Row:
        """See ProbeResult."""
        return {**self.judge, "n_items": len(self.items), "n_cells": len(self.cells)}

    def cases(self) -> Iterator[Row]:
        """Each cell with its payload, the text it stands in, and both labels."""
        for cell in self.cells:
            after = cell.sides.after
            row = _ids(cell) | {"asks": cell.asked, "label_before": cell.before}
            row |= {"label_after": after, "flipped": None if after is None else after == cell.asked}
            if cell.lexical is not None:
                row |= {"lexical_before": cell.lexical.before, "lexical_after": cell.lexical.after}
            yield row | {"noted": cell.case.is_listed, "text": cell.case.text}

    def missing(self) -> Iterator[Row]:
        """See ProbeResult."""
        for cell in self.cells:
            if isinstance(cell.outcome, Unjudged):
                yield {"condition": PLANTED, **_ids(cell), **why_unjudged(cell.outcome)}


def _ids(cell: Cell) -> Row:
    payload = cell.case.payload
    return {"payload": payload.id, "kind": payload.kind, "place": cell.case.name, **cell.item.ids}


def injecting(
    source: Path, judge: str, config: Config, problems: Problems, options: Options | None = None
) -> Probing[Injected]:
    """Judge honest items as they are, with payloads planted, and without the judge's guards.

    One part after the other, so that what each took is known. Which cells payloads go into
    depends on the labels; how many calls that are hardly does.

    Args:
        source, judge, config: as for `probe`.

    Raises: InputError as `judged_by`.
    """
    options = options or Options()

    async def work(asking: Asking) -> Injected:
        config = asking.session.config
        judge = asking.item_judge(str(config.items.judge))
        items = _drawn(source, judge, config, problems, options)

        async def of_items(part: str, what: str, judge: ItemJudge) -> list[Outcome]:
            with asking.part(part, what):
                judged = await judge_items(judge, items, concurrency=asking.concurrency)
            return [outcome for outcome, _ in judged]

        outcomes = {BASE: await of_items(BASE, "as the judge is", judge)}
        base = outcomes[BASE]
        corpus = read_corpus()
        cases = plant(judge, items, base, corpus, options.repeats, options.seed)
        n = len({case.payload.id for case in cases})
        with asking.part(PLANTED, f"{n} payloads in {len(cases):,} calls"):
            planted = await _outcomes(judge, cases, asking.concurrency)
        cells = await _cells(judge, items, base, cases, planted)
        kinds = list(dict.fromkeys(payload.kind for payload in corpus))
        guards, skipped = [], []
        forms, missing = unguarded(judge)
        gains = dict(judge.gains) if judge.is_ordered else None
        for form in forms:
            try:
                bare = await of_items(f"without {form.name}", form.what, form.judge)
            except EndpointUnusable as error:
                if form.name == "fence":
                    raise
                skipped.append(Skipped(form.name, str(error).split("\n")[0]))
                continue
            outcomes[f"without-{form.name}"] = bare
            row = guard_row(form.name, items, base, bare, scale_of(judge), gains, options.seed)
            guards.append({**row, "what": form.what})
        return Injected(
            judge=identity(judge),
            items=items,
            outcomes=outcomes,
            cells=cells,
            rows=injection_rows(
                cells, kinds, scale_of(judge), options.seed, is_ordered=judge.is_ordered
            ),
            echoes=[] if judge.own_words == "prompt" else echo_rows(judge, cases),
            guards=guards,
            skipped=[*missing, *skipped],
            **asking.taken(),
        )

    config = judged_by(config, judge, options.fields)
    return Probing(config, [config.items.name], work, problems)


async def _outcomes(
    judge: ItemJudge, cases: Sequence[Planted], concurrency: int
) -> list[list[Outcome]]:
    """The outcomes of the items of each case, one call each."""
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
    """The cells of all cases, with what the lexical judge has of them where it is another."""
    labels = {item.cell: label_of(outcome) for item, outcome in zip(items, base, strict=True)}
    theirs = await _lexical_sides(judge, items, cases)
    cells = []
    for case, of_case, sides in zip(cases, planted, theirs, strict=True):
        target = label_named(judge, case.payload)
        for index, (item, outcome) in enumerate(zip(case.before, of_case, strict=True)):
            before = labels[item.cell]
            if before is None or before == target or not case.carries(index):
                continue
            lexical = sides[index] if sides is not None else None
            cells.append(Cell(case, item, before, target, outcome, lexical))
    return cells


async def _lexical_sides(
    judge: ItemJudge, items: Sequence[ItemRow], cases: Sequence[Planted]
) -> list[list[Sides] | None]:
    """Of the items of each case the labels of the lexical judge without and with the payload."""
    if (lexical := with_lexical(judge)) is None:
        return [None for _ in cases]
    honest = await judge_items(lexical, items)
    before = {item.cell: label_of(o) for item, (o, _) in zip(items, honest, strict=True)}
    after = await _outcomes(lexical, cases, concurrency=1)
    return [
        [Sides(before[i.cell], label_of(o)) for i, o in zip(case.before, of_case, strict=True)]
        for case, of_case in zip(cases, after, strict=True)
    ]


def _drawn(
    source: Path, judge: ItemJudge, config: Config, problems: Problems, options: Options
) -> list[ItemRow]:
    """A sample of the items in whose texts nothing addresses a judge already."""
    every = read_judge_items(source, judge, config, problems)
    honest = honest_items(every)
    if n_other := len(every) - len(honest):
        what = f"{n_other} of {len(every)} items hold what looks like an instruction already"
        problems.skip(source, 0, "not_honest", what)
    if not honest:
        raise InputError(f"{source}: all items hold what looks like an instruction already")
    return sample_items(honest, judge, options.limit or CALLS * judge.window, options.seed)
