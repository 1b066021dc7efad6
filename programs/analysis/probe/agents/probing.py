"""Passages that talk to an agent, planted in what it finds: do they end it, or steer its search?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from .....agents import Agent, FreeAgent, OwnAgent
from .....backends.budget import Usage
from .....backends.errors import JudgeOutputError
from .....backends.loop import task_group
from .....judges.seeking.actions import Turn
from .....records.judgements import Outcome, Unjudged
from .....records.labels.items import ItemRow
from .....records.reading.problems import InputError, Problems
from ....config.sections import Config
from ....pipelines.searching import PipelineCorpus
from ....protocols.agent_items import steps_of
from ....protocols.items import load_items
from ..asking import Asking, Probing
from ..conditions import Skipped
from ..injection.echoes import HONEST, echoes
from ..injection.planting import honest_items
from ..injection.probing import Options
from ..probe import judged_by
from .figures import Cell, agent_rows, cells_of, drift_row
from .payloads import PAYLOADS
from .planting import Planted, Target, plant, with_planted, without_fence

ITEMS = 30  # of the source, by default
PARTS = ("honest", "planted", "without fence")


@dataclass(frozen=True)
class InjectedAgent:
    """What planted passages did to an agent.

    Attributes:
        about: the agent, and who answered. target: it, and its items.
        honest, bare: outcomes of the items as they are, and without the fence.
        cells: of all planted passages. rows: see `agent_rows`, and `drift_row` behind them.
        echoes: see `echo_row`; None: an agent that chooses no tools itself.
    """

    about: dict[str, Any]
    target: Target = field(repr=False)
    honest: list[Outcome] = field(repr=False)
    bare: list[Outcome] = field(repr=False)
    cells: list[Cell] = field(repr=False)
    rows: list[dict[str, Any]]
    echoes: dict[str, Any] | None
    spent: dict[str, Usage]
    limit_reached: str = ""
    skipped: tuple[Skipped, ...] = ()

    @property
    def n_unjudged(self) -> int:
        """Items that came to no end: as they are, without the fence, and planted."""
        outcomes = [*self.honest, *self.bare, *(cell.outcome for cell in self.cells)]
        return sum(isinstance(outcome, Unjudged) for outcome in outcomes)


async def probe_agent(
    target: Target,
    options: Options,
    *,
    concurrency: int = 32,
    part: Callable[[str], AbstractContextManager[None]] = lambda name: nullcontext(),
) -> InjectedAgent:
    """Have an agent work on its items as they are, with planted passages, and without its fence.

    Args:
        options: `repeats`, items that each payload is planted for; `seed`, of intervals.
        part: is entered with the name of each part of the work.
    """
    agent = target.agent
    with part(PARTS[0]):
        honest = await _outcomes([(agent, item) for item in target.items], concurrency)
    planted = plant(target, honest, PAYLOADS, options.repeats)
    with part(PARTS[1]):
        jobs = [(with_planted(agent, each), target.items[each.item]) for each in planted]
        cells = cells_of(target, planted, await _outcomes(jobs, concurrency))
    with part(PARTS[2]):
        unfenced = without_fence(agent)
        bare = await _outcomes([(unfenced, item) for item in target.items], concurrency)
    rows = [*agent_rows(cells, options.seed), drift_row(target, honest, bare, options.seed)]
    is_free = isinstance(agent, FreeAgent)
    echoed = echo_row(agent, target, planted) if isinstance(agent, FreeAgent) else None
    about = {"agent": agent.name, "version": agent.version, "chooses_tools": is_free}
    return InjectedAgent(about, target, honest, bare, cells, rows, echoed, {})


def echo_row(agent: FreeAgent, target: Target, planted: Sequence[Planted]) -> dict[str, Any]:
    """Replies that repeat planted text in the planner's last turn: how many the parser takes over.

    The planner was shown the payload as a quote. `hijacked`: the parser takes an action from a
    reply that is not the model's own.
    """
    prompt = agent.planner.prompt("plan")
    counts = {f"{what}{part}": 0 for what in ("honest", "echoing") for part in ("", "_hijacked")}
    for each in planted:
        item = target.items[each.item]
        other = target.finish(target.worst if each.asked == target.best else target.best)
        judge = {"tool": "judge", "passages": [each.passage_id]}
        judged = {"passage": each.passage_id, "label": "full", "quotes": [each.said]}
        turns: list[Turn] = [
            {"turn": 1, "action": {"tool": "search", "query": "-"}, "found": [each.passage_id]},
            {"turn": 2, "action": judge, "found": [judged]},
        ]
        inputs = {**{name: item[name] for name in agent.planner.inputs},
                  "turns": turns, "turns_left": 3}  # fmt: skip
        for echo in echoes(prompt, inputs, other, each, "action", each.asked):
            try:
                taken = prompt.parse(echo.text, inputs)
            except JudgeOutputError:
                taken = None
            what = "honest" if echo.form in HONEST else "echoing"
            counts[what] += 1
            is_own = echo.own and taken == other
            counts[f"{what}_hijacked"] += taken is not None and not is_own
    return counts


def injecting_agent(
    source: Path, judge: str, config: Config, problems: Problems, options: Options | None = None
) -> Probing[InjectedAgent]:
    """Probe the agent of a YAML file with the items of a file; see `probe_agent`.

    Args:
        config: `data.passages` are what it searches. The rest: as for `injecting`.

    Raises: as `injecting`.
    """
    options = options or Options()
    config = judged_by(config, judge, options.fields)
    path = config.items.own
    assert path is not None  # of an agent

    async def work(asking: Asking) -> InjectedAgent:
        config, panel = asking.session.config, asking.session.panel
        corpus = PipelineCorpus(config, steps_of(path))
        planner, support = panel.planner(path), panel["support"]
        agent = OwnAgent(planner, support, corpus)
        target = own_target(agent, _drawn(source, config, problems, options))
        n = asking.concurrency
        found = await probe_agent(target, options, concurrency=n, part=asking.part)
        about = found.about | {"model": planner.model_name, "support_model": support.model_name}
        limit = asking.limit_reached
        return replace(found, about=about, spent=asking.spent, limit_reached=limit)

    return Probing(config, [config.items.name, "support"], work)


def own_target(agent: OwnAgent, rows: Sequence[ItemRow]) -> Target:
    """An agent of one's own and its items, as they are probed."""
    scale = agent.planner.scale
    return Target(
        agent,
        [{**row.inputs, "topic_id": row.ids.get("topic_id")} for row in rows],
        [row.ids for row in rows],
        lambda made: str(made["label"]),
        best=scale[-1],
        worst=scale[0],
        finish=lambda label: {"action": {"tool": "finish", "label": label, "because": []}},
    )


def _drawn(source: Path, config: Config, problems: Problems, options: Options) -> list[ItemRow]:
    """A sample of the items in whose texts nothing looks like an instruction: topics in turn."""
    loaded = load_items(config.changed("data", items=source).changed("run", limit=None))
    problems.rows += loaded.problems.rows
    every = honest_items(list(loaded.rows()))
    if not every:
        raise InputError(f"{source}: all items hold what looks like an instruction already")
    by_topic: dict[str, list[int]] = {}
    for at in map(int, np.random.default_rng(options.seed).permutation(len(every))):
        by_topic.setdefault(every[at].ids.get("topic_id", ""), []).append(at)
    turns = [at for turn in zip_longest(*by_topic.values()) for at in turn if at is not None]
    return [every[at] for at in sorted(turns[: options.limit or ITEMS])]


async def _outcomes(
    jobs: Sequence[tuple[Agent, Mapping[str, Any]]], concurrency: int
) -> list[Outcome]:
    """Of each, at most so many at once."""
    left: Iterator[int] = iter(range(len(jobs)))
    found: dict[int, Outcome] = {}

    async def work() -> None:
        for place in left:
            agent, item = jobs[place]
            found[place] = await agent.outcome(**item)
            await asyncio.sleep(0)

    async with task_group() as group:
        for _ in range(concurrency):
            group.create_task(work())
    return [found[place] for place in range(len(jobs))]
