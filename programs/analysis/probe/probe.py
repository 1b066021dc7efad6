"""What the instrument itself moves: the same items judged again with one thing changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from ....backends.errors import EndpointUnusable
from ....judges import ItemJudge
from ....judges.calls import judge_items
from ....judges.table import item_judges
from ....records.reading.problems import InputError, Problems
from ...config.sections import Config
from ...engine.results import MANIFEST
from ..judge_items import read_judge_items
from .asking import Asking, Options, Probing
from .conditions import Condition, backend_of, conditions_of
from .effects import probe_effects
from .figures import probe_rows, scale_of
from .items import sample_items
from .result import LABELS, UNJUDGED, Outcome, ProbeResult, Row, Skipped

LIMIT = 200  # items


@dataclass(frozen=True, kw_only=True)
class Probed(ProbeResult):
    """The result of a probe of conditions; `outcomes` of those that were asked.

    Attributes:
        item_judge: as it is. conditions: all that apply, the base first.
        seed: of the intervals.
    """

    names = ("probe.jsonl", UNJUDGED, LABELS, MANIFEST)

    item_judge: ItemJudge = field(repr=False)
    conditions: Sequence[Condition] = field(repr=False)
    seed: int

    @cached_property
    def judge(self) -> Row:
        """What makes up the judge and its model."""
        return identity(self.item_judge)

    @cached_property
    def rows(self) -> list[Row]:
        """One a condition, the base first; see docs/trust/probe.md."""
        parts = (self.item_judge, self.items, self.conditions, self.outcomes)
        return probe_rows(*parts, self.costs, self.seed)

    @cached_property
    def effects(self) -> list[Row]:
        """Of position, length and names, see `probe_effects`."""
        return probe_effects(self.item_judge, self.items, self.conditions, self.outcomes)

    @property
    def n_unjudged(self) -> int:
        """Over all conditions."""
        return sum(row["n_unjudged"] for row in self.rows)

    def lines(self) -> list[Row]:
        """The rows and, behind them, effects and what was skipped."""
        skipped = [{"condition": each.name, "skipped": each.reason} for each in self.skipped]
        return [*self.rows, *self.effects, *skipped]

    def about(self) -> Row:
        """See ProbeResult."""
        return {**self.judge, "n_items": len(self.items)}


def judged_by(config: Config, judge: str, fields: Mapping[str, str]) -> Config:
    """The config with this judge, and the fields of its items, as `judge run items` has them.

    Raises: InputError for a judge that is neither known nor a YAML file.
    """
    if judge not in item_judges() and Path(judge).suffix not in (".yaml", ".yml"):
        names = ", ".join(item_judges())
        raise InputError(f"--judge {judge}: wanted {names}, or a YAML file of a judge of your own")
    update = {"judge": judge, "fields": dict(fields)}
    return config.model_copy(update={"items": config.items.model_copy(update=update)})


def probing_conditions(
    source: Path, judge: str, config: Config, problems: Problems, options: Options | None = None
) -> Probing[Probed]:
    """Judge a sample of items under a base condition and then under others, one after the other.

    Args:
        source: what holds the items, see `read_judge_items`.
        judge: assigner, support or relevance, or the YAML file of a judge of one's own.
        config: its judge and models are asked; `run` says what may be spent, and the cache.

    Raises: InputError for another judge.
    """
    options = options or Options()

    async def work(now: Asking) -> Probed:
        judge = now.item_judge(str(now.session.config.items.judge))
        every = read_judge_items(source, judge, now.session.config, now.problems)
        items = sample_items(every, judge, options.limit or LIMIT, options.seed)
        conditions, skipped = conditions_of(judge, items, options)
        outcomes_of: dict[str, list[Outcome]] = {}
        for one in conditions:
            in_order = [one.items[i] for i in one.order]
            try:
                with now.part(one.name, f"{len(one.calls):,} calls, {one.what}"):
                    judged = await judge_items(one.judge, in_order, concurrency=now.concurrency)
            except EndpointUnusable as error:
                if one.kind != "schema":  # a form of reply that this endpoint does not take
                    raise
                skipped.append(Skipped(one.name, str(error).split("\n")[0]))
                continue
            outcomes = dict(zip(one.order, (outcome for outcome, _ in judged), strict=True))
            outcomes_of[one.name] = [outcomes.get(i) for i in range(len(items))]
        return Probed(
            item_judge=judge,
            items=items,
            conditions=conditions,
            outcomes=outcomes_of,
            seed=options.seed,
            skipped=skipped,
            **now.taken(),
        )

    config = judged_by(config, judge, options.fields)
    return Probing(config, [config.items.name], work, problems, has_costs=True)


def identity(judge: ItemJudge) -> Row:
    """All that could change a judgement of the base condition."""
    correction = judge.correction
    return {
        "judge": judge.name,
        "kind": judge.kind,
        "version": judge.version,
        "scale": list(scale_of(judge)),
        "prompts": {name: prompt.prompt_hash() for name, prompt in judge.prompts().items()},
        "window": judge.window if judge.listed else None,
        "correction": correction.model_dump(mode="json") if correction is not None else None,
        "model": backend_of(judge).config.identity(),
    }
