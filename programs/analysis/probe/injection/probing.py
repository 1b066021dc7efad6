"""Texts that talk to the judge, planted in honest items: do they decide its labels?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .....backends.budget import Usage
from .....backends.errors import EndpointUnusable
from .....judges import ItemJudge
from .....judges.calls import judge_calls, judge_items
from .....judges.variants import with_lexical
from .....judges.verdicts import Verdict
from .....records.labels.items import ItemRow
from .....records.reading.problems import InputError, Problems
from ....config.sections import Config
from ..asking import Asking, Probing
from ..conditions import BASE, Skipped
from ..figures import Outcome, scale_of
from ..items import probe_items, sample_items
from ..probe import identity, judged_by
from .corpus import read_corpus
from .echoes import echo_rows
from .figures import Cell, Sides, guard_row, injection_rows, label_of
from .planting import Planted, asked_for, honest_items, plant
from .unhardened import unguarded

CALLS = 30  # of honest items, by default: as many items as these calls hold
REPEATS = 3  # calls that each payload is planted in
PLANTED = "planted"


@dataclass(frozen=True)
class Options:
    """What is planted: in how many items at most, each payload how often, drawn by which seed.

    `limit` None: as many items as CALLS calls of the judge hold.
    """

    limit: int | None = None
    repeats: int = REPEATS
    seed: int = 0
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Injected:
    """What an injection probe found.

    Attributes:
        judge: what makes up the judge and its model.
        items: the honest ones. outcomes: of each of them, by condition: as the judge is, and
            without each guard.
        cases: what was planted. cells: those of all cases that count.
        rows: see `injection_rows`. echoes: see `echo_rows`. guards: see `guard_row`.
        skipped: guards that this judge does not have.
        spent: what was asked of the model this time, by part of the work.
    """

    judge: dict[str, Any]
    items: list[ItemRow] = field(repr=False)
    outcomes: dict[str, list[Outcome]] = field(repr=False)
    cases: list[Planted] = field(repr=False)
    cells: list[Cell] = field(repr=False)
    rows: list[dict[str, Any]]
    echoes: list[dict[str, Any]]
    guards: list[dict[str, Any]]
    skipped: list[Skipped]
    spent: dict[str, Usage]
    limit_reached: str

    @property
    def n_unjudged(self) -> int:
        """Labels that did not arrive, of honest items and of cells that would count."""
        honest = [outcome for outcomes in self.outcomes.values() for outcome in outcomes]
        planted = [cell.outcome for cell in self.cells]
        return sum(not isinstance(outcome, Verdict) for outcome in (*honest, *planted))


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
                found = await judge_items(judge, items, concurrency=asking.concurrency)
            return [outcome for outcome, _ in found]

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
            cases=cases,
            cells=cells,
            rows=injection_rows(
                cells, kinds, scale_of(judge), options.seed, is_ordered=judge.is_ordered
            ),
            echoes=[] if judge.own_words == "prompt" else echo_rows(judge, cases),
            guards=guards,
            skipped=[*missing, *skipped],
            spent=asking.spent,
            limit_reached=asking.limit_reached,
        )

    config = judged_by(config, judge, options.fields)
    return Probing(config, [config.items.name], work)


async def _outcomes(
    judge: ItemJudge, cases: Sequence[Planted], concurrency: int
) -> list[list[Outcome]]:
    """What the judge says of each case, one call each."""
    items = [item for case in cases for item in case.items]
    places = iter(range(len(items)))
    together = [[next(places) for _ in case.items] for case in cases]
    found = await judge_calls(judge, items, together, concurrency=concurrency)
    return [[found[place][0] for place in call] for call in together]


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
    found = []
    for case, of_case, sides in zip(cases, planted, theirs, strict=True):
        asked = asked_for(judge, case.payload)
        for place, (item, outcome) in enumerate(zip(case.before, of_case, strict=True)):
            before = labels[item.cell]
            if before is None or before == asked or not case.carries(place):
                continue
            lexical = sides[place] if sides is not None else None
            found.append(Cell(case, item, before, asked, outcome, lexical))
    return found


async def _lexical_sides(
    judge: ItemJudge, items: Sequence[ItemRow], cases: Sequence[Planted]
) -> list[list[Sides] | None]:
    """Of the items of each case what the lexical judge says without and with the payload."""
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
    every = probe_items(source, judge, config, problems)
    honest = honest_items(every)
    if n_other := len(every) - len(honest):
        what = f"{n_other} of {len(every)} items hold what looks like an instruction already"
        problems.skip(source, 0, "not_honest", what)
    if not honest:
        raise InputError(f"{source}: all items hold what looks like an instruction already")
    return sample_items(honest, judge, options.limit or CALLS * judge.window, options.seed)
