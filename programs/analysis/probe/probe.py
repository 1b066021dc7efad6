"""What the instrument itself moves: the same items judged again with one thing changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ....backends.budget import Usage
from ....backends.errors import EndpointUnusable
from ....judges import ItemJudge
from ....judges.calls import judge_items
from ....judges.table import item_judges
from ....records.labels.items import ItemRow
from ....records.reading.problems import InputError, Problems
from ...config.sections import Config
from ...engine.estimates import Estimate
from ...engine.panel import check_prices
from .asking import Asking, Probing, Report
from .conditions import KINDS, REPEATS, Conditions, Kind, Skipped, backend_of
from .effects import probe_effects
from .figures import Outcome, probe_rows, scale_of
from .items import probe_items, sample_items

LIMIT = 200  # items


@dataclass(frozen=True)
class Options:
    """What is probed: which conditions, on how many items, drawn and put in order by which seed."""

    kinds: tuple[Kind, ...] = KINDS
    limit: int = LIMIT
    seed: int = 0
    repeats: int = REPEATS
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Probed:
    """What a probe found.

    Attributes:
        judge: what makes up the judge and its model.
        rows: one a condition, the base first; see docs/trust/probe.md.
        skipped: conditions that do not apply, with the reason.
        effects: of position, length and names, see `probe_effects`.
        outcomes: by condition, of each of `items` in their order; None: not asked about.
        spent: by condition, what was asked of the model this time.
        limit_reached: the limit on spending that ended the asking, or "".
    """

    judge: dict[str, Any]
    items: list[ItemRow] = field(repr=False)
    rows: list[dict[str, Any]]
    effects: list[dict[str, Any]]
    skipped: list[Skipped]
    outcomes: dict[str, list[Outcome]] = field(repr=False)
    spent: dict[str, Usage]
    limit_reached: str

    @property
    def n_unjudged(self) -> int:
        """Over all conditions."""
        return sum(row["n_unjudged"] for row in self.rows)


def judged_by(config: Config, judge: str, fields: Mapping[str, str]) -> Config:
    """The config with this judge, and the fields of its items, as `judge run items` has them.

    Raises: InputError for a judge that is neither known nor a YAML file.
    """
    if judge not in item_judges() and Path(judge).suffix not in (".yaml", ".yml"):
        known = ", ".join(item_judges())
        raise InputError(f"--judge {judge}: wanted {known}, or a YAML file of a judge of your own")
    update = {"judge": judge, "fields": dict(fields)}
    return config.model_copy(update={"items": config.items.model_copy(update=update)})


@dataclass(frozen=True)
class _Asked:
    judge: ItemJudge
    items: list[ItemRow]
    conditions: Conditions
    outcomes: dict[str, list[Outcome]]
    spent: dict[str, Usage]
    limit_reached: str

    @property
    def skipped(self) -> list[Skipped]:
        return self.conditions.skipped


class ConditionProbing:
    """Judges a sample of items under a base condition and under others; see Probing.

    Args:
        source: what holds the items, see `probe_items`.
        judge: assigner, support or relevance, or the YAML file of a judge of one's own.
        config: its judge and models are asked; `run` says what may be spent, and the cache.

    Raises: InputError for another judge.
    """

    def __init__(
        self,
        source: Path,
        judge: str,
        config: Config,
        problems: Problems,
        options: Options | None = None,
    ) -> None:
        self._options = options or Options()
        config = judged_by(config, judge, self._options.fields)
        self._of = partial(_probing, source, config, self._options)
        self._problems = problems

    def ask(self, report: Report = lambda line: None) -> Probed:
        """Ask, and compare the labels.

        Raises: as Probing; EndpointUnusable when the base condition cannot be asked.
        """
        probing = self._of(self._problems)
        check_prices(probing.config, probing.judges)
        costs, _ = self._of(Problems()).plan()
        asked = probing.ask(report)
        found = (asked.judge, asked.items, asked.conditions.found, asked.outcomes)
        return Probed(
            judge=identity(asked.judge),
            items=asked.items,
            rows=probe_rows(*found, costs, self._options.seed),
            effects=probe_effects(*found),
            skipped=asked.skipped,
            outcomes=asked.outcomes,
            spent=asked.spent,
            limit_reached=asked.limit_reached,
        )

    def plan(self) -> tuple[list[Estimate], list[Skipped]]:
        """What it would ask, for each condition in its order, and which do not apply."""
        return self._of(self._problems).plan()


def _probing(source: Path, config: Config, options: Options, problems: Problems) -> Probing[_Asked]:
    """One condition after the other, so that what each took is known."""

    async def work(now: Asking) -> _Asked:
        judge = now.item_judge(str(now.session.config.items.judge))
        every = probe_items(source, judge, now.session.config, problems)
        items = sample_items(every, judge, options.limit, options.seed)
        kinds, repeats = options.kinds, options.repeats
        conditions = Conditions(judge, items, kinds, seed=options.seed, repeats=repeats)
        given: dict[str, list[Outcome]] = {}
        for condition in conditions.found:
            in_order = [condition.items[i] for i in condition.order]
            what = f"{len(condition.calls):,} calls, {condition.what}"
            try:
                with now.part(condition.name, what):
                    found = await judge_items(
                        condition.judge, in_order, concurrency=now.concurrency
                    )
            except EndpointUnusable as error:
                if condition.kind != "schema":  # a form of reply that this endpoint does not take
                    raise
                conditions.skipped.append(Skipped(condition.name, str(error).split("\n")[0]))
                continue
            outcomes = dict(zip(condition.order, (outcome for outcome, _ in found), strict=True))
            given[condition.name] = [outcomes.get(i) for i in range(len(items))]
        return _Asked(judge, items, conditions, given, now.spent, now.limit_reached)

    return Probing(config, [config.items.name], work)


def identity(judge: ItemJudge) -> dict[str, Any]:
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
