"""trace.jsonl: the steps of agents for each item, one step per line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .reading.fields import Line, read_lines, show
from .reading.problems import InputError, Problems

TRACE = "trace.jsonl"
STEP_PATH = r"^0(\.[0-9]+)*$"
_STEP_PATH = re.compile(STEP_PATH)
_OF_THE_ITEM = ("stage", "item", "agent")

_OPTIONAL: dict[str, tuple[Callable[[Any], bool], str]] = {
    "args": (lambda value: isinstance(value, dict), "an object"),
    "in": (lambda value: isinstance(value, dict), "an object"),
    "tokens": (lambda value: _counts(value) and len(value) == 2, "two whole numbers from 0"),
    "replies": (lambda value: _texts(value), "a list of texts"),
    "because": (lambda value: _texts(value), "a list of texts"),
    "reason": (lambda value: isinstance(value, str), "text"),
}

Step = Mapping[str, Any]


class ItemTrace(NamedTuple):
    """The steps of an agent on one item, in order, starting with the agent itself.

    Attributes:
        stage: the stage of the run in which the agent worked, such as evidence.
        ids: the ids of the item within its stage.
        agent: the hash of the agent's definition.
        steps: the steps as in the file, without stage, item and agent.
    """

    stage: str
    ids: Mapping[str, Any]
    agent: str
    steps: tuple[Step, ...]

    @property
    def name(self) -> str:
        """Return the ids in one text, the form for `judge trace`; null is left out.

        >>> ids = {"topic_id": "t1", "run_id": "a", "sentence": 4, "citation": None}
        >>> ItemTrace("evidence", ids, "", ()).name
        't1/a/4'
        """
        each = (v if isinstance(v, list) else [v] for v in self.ids.values() if v is not None)
        return "/".join(",".join(map(str, part)) for part in each)

    @property
    def outcome(self) -> str:
        """Return how the item ended: the name of its last step."""
        return str(self.steps[-1]["name"])

    @property
    def reason(self) -> str | None:
        """Return why there is no outcome; None if there is one."""
        return self.steps[-1].get("reason")


def read_traces(path: Path, problems: Problems) -> Iterator[ItemTrace]:
    """Read a trace lazily, one item at a time, in file order.

    Errors reported: no stage, item, path, kind or name, a field of the wrong type, an invalid path,
    an item that does not start with its agent (path `0`) or does not end, a step twice.

    Args:
        path: the file of the trace.
        problems: collects the faults of the file, by line.

    Returns:
        An iterator over the traces of the items.

    Raises: InputError if the file cannot be read.
    """
    first: Line | None = None
    steps: dict[str, Step] = {}
    for line in read_lines(path, problems):
        stage, kind, name = line.text("stage"), line.text("kind"), line.text("name")
        step_path = _get_path(line)
        item = line.row.get("item")
        if not isinstance(item, dict):
            line.bad("item", item, "an object of ids")
        if stage is None or kind is None or name is None or step_path is None:
            continue
        if not isinstance(item, dict) or not _is_well_made(line):
            continue
        if step_path == "0":
            yield from _finish(first, steps)
            first, steps = line, {}
            if line.text("agent") is None:
                continue
        elif first is None or (first.row["stage"], first.row["item"]) != (stage, item):
            line.error(
                "trace_order", f"step {step_path} of an item comes before its first step, path 0"
            )
            continue
        if step_path in steps:
            line.error("trace_order", f"step {step_path} occurs twice")
        steps[step_path] = {k: value for k, value in line.row.items() if k not in _OF_THE_ITEM}
    yield from _finish(first, steps)


def _is_well_made(line: Line) -> bool:
    """Return whether the optional fields have the right types; report a field that does not."""
    for name, (is_right, wanted) in _OPTIONAL.items():
        if name in line.row and not is_right(line.row[name]):
            line.bad(name, line.row[name], wanted)
            return False
    return True


def _counts(value: Any) -> bool:
    return isinstance(value, list) and all(type(n) is int and n >= 0 for n in value)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _get_path(line: Line) -> str | None:
    step_path = line.text("path")
    if step_path is not None and not _STEP_PATH.match(step_path):
        line.error("bad_field", f"path is {show(step_path)}, wanted a path such as 0.2.1")
        return None
    return step_path


def _finish(first: Line | None, steps: Mapping[str, Step]) -> Iterator[ItemTrace]:
    if first is None or "0" not in steps:  # faults of its first line are already reported
        return
    if list(steps.values())[-1]["kind"] != "end":
        first.error("trace_order", "the steps of this item do not end; wanted a step of kind end")
        return
    row = first.row
    yield ItemTrace(row["stage"], row["item"], row["agent"], tuple(steps.values()))


class TraceFilter(NamedTuple):
    """Selects items of a trace; a field that is None selects all.

    Attributes:
        item: its ids joined by /, like `ItemTrace.name`, or the first of them.
        outcome: how the item ended, such as not_found.
        reason: why there is no outcome.
    """

    item: str | None = None
    outcome: str | None = None
    reason: str | None = None
    stage: str | None = None

    def selects(self, trace: ItemTrace) -> bool:
        """Return whether an item is selected."""
        return (
            (self.item is None or f"{trace.name}/".startswith(f"{self.item.rstrip('/')}/"))
            and self.outcome in (None, trace.outcome)
            and self.reason in (None, trace.reason)
            and self.stage in (None, trace.stage)
        )

    @property
    def without_outcome(self) -> TraceFilter:
        """The filter by item and stage only."""
        return TraceFilter(self.item, stage=self.stage)

    def raise_unknown(self, where: object) -> None:
        """Raises: InputError with the item or stage that is not in `where`."""
        of = f" of stage {self.stage!r}" if self.stage is not None else ""
        if self.item is not None:
            wanted = "wanted its ids joined by /, or the first of them, each complete"
            raise InputError(f"{where}: no item {self.item!r}{of}; {wanted}")
        if self.stage is not None:
            raise InputError(f"{where}: no item{of}")


def read_folder_traces(folder: Path, wanted: TraceFilter = TraceFilter()) -> Iterator[ItemTrace]:  # noqa: B008
    """Yield the selected traces of a results folder in file order.

    Raises: InputError if the folder has no trace, if the file is broken (after the last trace), or
        if it has no such item or stage.
    """
    path, problems = folder / TRACE, Problems()
    if not path.is_file():
        what = (
            "no agent worked in it, or the run has not ended"
            if folder.is_dir()
            else "it is not a results folder"
        )
        raise InputError(f"{folder}: has no {TRACE}: {what}")
    is_there = False
    for trace in read_traces(path, problems):
        is_there = is_there or wanted.without_outcome.selects(trace)
        if wanted.selects(trace):
            yield trace
    problems.raise_errors()
    if not is_there:
        wanted.raise_unknown(path)
