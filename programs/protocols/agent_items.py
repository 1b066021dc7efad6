"""Items that an agent labels: a YAML file with `tools:` in the place of a judge asked once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, StrictStr, TypeAdapter, ValidationError

from ...records.judgements import Judged
from ...records.labels.items import ItemRow
from ...records.reading.problems import InputError
from ...records.reading.settings import plain_error
from ..config.pipeline import SearchPipeline
from ..config.sections import Config
from ..config.steps import AnyStep
from ..engine.acting import acts
from ..engine.outcomes import Count, object_of
from ..engine.stage import Item
from .program import Run

if TYPE_CHECKING:
    from ...agents import OwnAgent
    from ...judges import OwnPlanner

_PIPELINE: TypeAdapter[tuple[AnyStep, ...]] = TypeAdapter(SearchPipeline)


def is_agent(config: Config) -> bool:
    """Whether items are labelled by an agent. Raises: InputError for a broken file."""
    from ...judges import read_own_judge  # with which DSPy comes

    own = config.items.own
    return own is not None and bool(read_own_judge(own).tools)


def steps_of(path: Path) -> Sequence[AnyStep]:
    """The retrieval steps of an agent's file. Raises: InputError for what is no search."""
    from ...judges import read_own_judge

    try:
        return _PIPELINE.validate_python(read_own_judge(path).pipeline)
    except ValidationError as error:
        at, what = plain_error(error.errors(include_url=False)[0])
        raise InputError(f"{path}: {'.'.join(('pipeline', *at))}: {what}") from None


def agent_of(at: Run, path: Path) -> OwnAgent:
    """The agent of a file, with the judges and passages at hand. Raises: InputError."""
    from ...agents import OwnAgent

    corpus = at.corpus(steps_of(path))
    return OwnAgent(at.panel.planner(path), at.panel["support"], corpus)


async def label_by_agent(
    run: Run,
    file: str,
    rows: Callable[[], Iterator[ItemRow]],
    total: int,
) -> OwnPlanner:
    """Have an agent label items, and write their labels in their order.

    Args:
        file: to write. rows: the items, the same each time.

    Returns: what chooses the agent's turns, and names its labels.
    """
    path = run.config.items.own
    assert path is not None
    agent = agent_of(run, path)
    planner = agent.planner
    name = run.config.items.name

    def items() -> Iterator[Item]:
        return (_item(row, agent.inputs) for row in rows())

    stage = acts("items", (name, "support"), agent, items, made=_made(planner.scale), total=total)
    async with run.session.judged(stage, run.results) as outcome:
        with run.results.open(file) as labels:
            for row in rows():
                result = outcome(_item(row, agent.inputs))
                label = result.values["made"]["label"] if isinstance(result, Judged) else None
                labels.write({**row.ids, "label": label})
    return planner


def _made(scale: Sequence[str]) -> Any:
    def on_scale(label: str) -> str:
        if label not in scale:
            raise ValueError(f"wanted one of {', '.join(scale)}")
        return label

    return object_of(
        {"label": Annotated[StrictStr, AfterValidator(on_scale)], "because": list[Count]}
    )


def _item(row: ItemRow, inputs: Sequence[str]) -> Item:
    if (why := row.not_made) is not None:
        return Item(row.ids, None, missing=f"its text was not made ({why})", reason=why)
    fields = {**row.inputs, "topic_id": row.ids.get("topic_id")}
    return Item(row.ids, tuple(fields[name] for name in inputs))
