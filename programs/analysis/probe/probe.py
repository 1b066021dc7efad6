"""What the instrument itself moves: the same items judged again with one thing changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from ....backends.budget import Budget, Usage
from ....backends.errors import EndpointUnusable
from ....judges import ItemJudge
from ....judges.calls import judge_items
from ....judges.table import item_judges
from ....records.labels.items import ItemRow
from ....records.reading.problems import InputError, Problems
from ...config.sections import Config
from ...engine.estimates import Estimate
from ...engine.panel import Panel, budget_of, check_prices
from ...engine.rehearsal import rehearse
from ...engine.session import Session, run_session
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


def probe(
    source: Path,
    judge: str,
    config: Config,
    problems: Problems,
    options: Options | None = None,
    *,
    report: Callable[[str], None] = lambda line: None,
) -> Probed:
    """Judge a sample of items under a base condition and under others, and compare the labels.

    Args:
        source: what holds the items, see `probe_items`.
        judge: assigner, support or relevance, or the YAML file of a judge of one's own.
        config: its judge and models are asked; `run` says what may be spent, and the cache.
        report: gets a line on each condition before it is asked.

    Raises: InputError for a source without items, or a limit in dollars without a price;
        EndpointUnusable when the base condition cannot be asked.
    """
    options = options or Options()
    config = judged_by(config, judge, options.fields)
    check_prices(config, [config.items.name])
    costs, _ = plan_probe(source, judge, config, Problems(), options)
    asked = _asked(source, config, problems, options, budget_of(config), report)
    return Probed(
        judge=identity(asked.judge),
        items=asked.items,
        rows=probe_rows(
            asked.judge, asked.items, asked.conditions.found, asked.outcomes, costs, options.seed
        ),
        effects=probe_effects(asked.judge, asked.items, asked.conditions.found, asked.outcomes),
        skipped=asked.conditions.skipped,
        outcomes=asked.outcomes,
        spent=asked.spent,
        limit_reached=asked.budget.reached,
    )


def plan_probe(
    source: Path, judge: str, config: Config, problems: Problems, options: Options | None = None
) -> tuple[list[Estimate], list[Skipped]]:
    """What a probe would ask, for each condition in its order; see `rehearse`."""
    options = options or Options()
    config = judged_by(config, judge, options.fields)
    skipped: list[Skipped] = []

    def ask(alone: Config, panel: Panel) -> None:
        asked = _asked(source, alone, problems, options, Budget(), lambda line: None, panel)
        skipped.extend(asked.conditions.skipped)

    return rehearse(config.here(), ask), skipped


def judged_by(config: Config, judge: str, fields: Mapping[str, str]) -> Config:
    """The config with this judge, and the fields of its items, as `judge run items` has them.

    Raises: InputError for a judge that is neither known nor a YAML file.
    """
    if judge not in item_judges() and Path(judge).suffix not in (".yaml", ".yml"):
        known = ", ".join(item_judges())
        raise InputError(f"--judge {judge}: wanted {known}, or a YAML file of a judge of your own")
    update = {"judge": judge, "fields": dict(fields)}
    return config.model_copy(update={"items": config.items.model_copy(update=update)})


@dataclass
class _Asked:
    judge: ItemJudge
    items: list[ItemRow]
    conditions: Conditions
    budget: Budget
    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    spent: dict[str, Usage] = field(default_factory=dict)


def _asked(
    source: Path,
    config: Config,
    problems: Problems,
    options: Options,
    budget: Budget,
    report: Callable[[str], None],
    panel: Panel | None = None,
) -> _Asked:
    """One condition after the other, so that what each took is known."""

    async def work(session: Session) -> _Asked:
        judge = session.panel.item_judge(str(config.items.judge))
        if not judge.predictor:
            raise InputError(f"{judge.name}: asks several judges, wanted one; probe each by itself")
        every = probe_items(source, judge, config, problems)
        items = sample_items(every, judge, options.limit, options.seed)
        kinds, repeats = options.kinds, options.repeats
        conditions = Conditions(judge, items, kinds, seed=options.seed, repeats=repeats)
        asked = _Asked(judge, items, conditions, budget)
        for condition in conditions.found:
            report(f"{condition.name}: {len(condition.calls):,} calls, {condition.what}")
            session.panel.part = condition.name
            before = replace(budget.usage)
            in_order = [condition.items[i] for i in condition.order]
            concurrency = config.run.concurrency
            try:
                found = await judge_items(condition.judge, in_order, concurrency=concurrency)
            except EndpointUnusable as error:
                if condition.kind != "schema":  # a form of reply that this endpoint does not take
                    raise
                conditions.skipped.append(Skipped(condition.name, str(error).split("\n")[0]))
                continue
            outcomes = dict(zip(condition.order, (outcome for outcome, _ in found), strict=True))
            asked.outcomes[condition.name] = [outcomes.get(i) for i in range(len(items))]
            asked.spent[condition.name] = _spent(before, budget.usage)
        return asked

    names = [config.items.name]
    return run_session(
        config.here(), names, work, retry=False, quiet=True, budget=budget, panel=panel
    )


def _spent(before: Usage, after: Usage) -> Usage:
    start, end = asdict(before), asdict(after)
    return Usage(**{name: end[name] - start[name] for name in end})


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
