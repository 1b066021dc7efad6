"""Passages that talk to an agent, planted in what it finds: do they end it, or steer its search?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from .....agents import Agent, FreeAgent, OwnAgent
from .....backends.errors import JudgeOutputError
from .....backends.loop import each_of
from .....judges.planning.actions import Turn
from .....records.judgements import Outcome, Unjudged
from .....records.labels.items import ItemRow
from .....records.reading.problems import InputError, Problems
from ....config.sections import Config
from ....engine.results import MANIFEST
from ....pipelines.searching import PipelineCorpus
from ....protocols.agent_items import steps_of
from ....protocols.items import load_items
from ..asking import Asking, Options, Probing
from ..injection.echoes import HONEST, echoes
from ..injection.planting import honest_items
from ..items import in_turns, topic_of
from ..probe import judged_by
from ..result import CASES, UNJUDGED, ProbeResult, Row, why_unjudged
from .figures import Cell, agent_rows, cells_of, drift_row
from .payloads import read_payloads
from .planting import Planted, Target, plant, steered, with_planted, without_fence

ITEMS = 30  # of the source, by default
PARTS = ("honest", "planted", "without fence")


@dataclass(frozen=True, kw_only=True)
class InjectedAgent(ProbeResult):
    """What planted passages did to an agent.

    Attributes:
        target: it, and its items. models: who answered.
        honest, bare: outcomes of the items as they are, and without the fence.
        cells: of all planted passages. rows: see `agent_rows`, and `drift_row` behind them.
        echoes: see `echo_row`; None: an agent that chooses no tools itself.
    """

    names = ("injection.jsonl", CASES, UNJUDGED, MANIFEST)

    target: Target = field(repr=False)
    honest: list[Outcome] = field(repr=False)
    bare: list[Outcome] = field(repr=False)
    cells: list[Cell] = field(repr=False)
    rows: list[Row]
    echoes: Row | None
    models: Mapping[str, str] = field(default_factory=dict)

    @property
    def n_unjudged(self) -> int:
        """Items that came to no end: as they are, without the fence, and planted."""
        return sum(1 for _ in self.missing())

    def lines(self) -> Iterator[Row]:
        """The rows, that of the fence and that of the parser behind them."""
        yield from self.rows
        if self.echoes is not None:
            yield {"by": "reply", "name": "parser", **self.echoes}

    def about(self) -> Row:
        """See ProbeResult."""
        agent = self.target.agent
        about: Row = {"agent": agent.name, "version": agent.version}
        about |= {"chooses_tools": isinstance(agent, FreeAgent), **self.models}
        return {**about, "n_items": len(self.honest), "n_cells": len(self.cells)}

    def cases(self) -> Iterator[Row]:
        """Each planted passage, and the ends without and with it."""
        for cell in self.cells:
            planted = cell.planted
            row = self._ids(cell) | {"asks": planted.asked or planted.payload.asks}
            row |= {"end_before": planted.before, "end_after": cell.after}
            row |= {"steered": steered(cell.outcome), "noted": planted.is_listed}
            yield row | {"text": planted.text}

    def missing(self) -> Iterator[Row]:
        """See ProbeResult."""
        ids = self.target.ids
        ended = [(PARTS[0], *each) for each in zip(ids, self.honest, strict=True)]
        ended += [(PARTS[2], *each) for each in zip(ids, self.bare, strict=True)]
        ended += [(PARTS[1], self._ids(cell), cell.outcome) for cell in self.cells]
        for part, names, outcome in ended:
            if isinstance(outcome, Unjudged):
                yield {"condition": part, **names, **why_unjudged(outcome)}

    def _ids(self, cell: Cell) -> Row:
        planted = cell.planted
        about = {"payload": planted.payload.id, "kind": planted.payload.kind}
        return about | {"planted_in": planted.passage_id, **self.target.ids[planted.item]}


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

    async def outcomes(jobs: Sequence[tuple[Agent, Mapping[str, Any]]]) -> list[Outcome]:
        return await each_of(jobs, lambda job: job[0].outcome(**job[1]), concurrency)

    with part(PARTS[0]):
        honest = await outcomes([(agent, item) for item in target.items])
    planted = plant(target, honest, read_payloads(), options.repeats)
    with part(PARTS[1]):
        jobs = [(with_planted(agent, each), target.items[each.item]) for each in planted]
        cells = cells_of(target, planted, await outcomes(jobs))
    with part(PARTS[2]):
        unfenced = without_fence(agent)
        bare = await outcomes([(unfenced, item) for item in target.items])
    return InjectedAgent(
        target=target,
        honest=honest,
        bare=bare,
        cells=cells,
        rows=[*agent_rows(cells, options.seed), drift_row(target, honest, bare, options.seed)],
        echoes=echo_row(agent, target, planted) if isinstance(agent, FreeAgent) else None,
    )


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
        judged = {"passage": each.passage_id, "label": "full", "quotes": [each.filled]}
        turns: list[Turn] = [
            {"turn": 1, "action": {"tool": "search", "query": "-"}, "found": [each.passage_id]},
            {"turn": 2, "action": judge, "found": [judged]},
        ]
        inputs = {**{name: item[name] for name in agent.planner.inputs},
                  "turns": turns, "max_turns": len(turns) + 3}  # fmt: skip
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
        probed = await probe_agent(target, options, concurrency=n, part=asking.part)
        models = {"model": planner.model_name, "support_model": support.model_name}
        return replace(probed, models=models, **asking.taken())

    return Probing(config, [config.items.name, "support"], work, problems)


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
    turns = in_turns(list(map(topic_of, every)), options.seed)
    return [every[at] for at in sorted(turns[: options.limit or ITEMS])]
