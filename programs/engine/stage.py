"""Runs the items of a stage: a bounded pool over an iterator, with a journal to continue from."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from ...backends.errors import JudgeError
from ...backends.replies.completion import collect_failures, name_items
from ...judges.verdicts import Listed
from ...records.judgements import Judged, Outcome, Provenance, Reason, Unjudged
from ..config.base import JudgeName
from .journal import Journal, Values, make_values, verdicts_on

if TYPE_CHECKING:
    from ...agents import Agent, Limits
    from ...judges import ItemJudge, Verdict
    from .judge_set import JudgeSet


YIELD_EVERY = 64  # items that need no waiting, such as lexical ones, between two looks at Ctrl-C


class Item(NamedTuple):
    """One item to judge: its ids and its texts.

    Attributes:
        ids: the ids of label files; a row of unjudged.jsonl has them all.
        payload: inputs of the judge (str, int, lists of them); None: a text is missing.
        n: the number of judgements that it stands for.
        missing: which text is missing. reason: why.
    """

    ids: Mapping[str, Any]
    payload: tuple[Any, ...] | None
    n: int = 1
    missing: str = ""
    reason: Reason = Reason.NO_PASSAGE

    def ids_at(self, index: int) -> dict[str, Any]:
        """Return the ids of the one judgement at this index of its `n`."""
        return {
            name: value[index] if isinstance(value, list) and len(value) == self.n else value
            for name, value in self.ids.items()
        }

    def digest(self) -> int:
        """Return a 64-bit hash of ids and inputs, the same in every process."""
        try:
            text = orjson.dumps((self.ids, self.payload))
        except TypeError:  # half a surrogate pair, which UTF-8 cannot hold
            text = repr((self.ids, self.payload)).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


Ask = Callable[[Item], Awaitable[Outcome]]
Misfit = Callable[[Item, Any], str]


@dataclass(frozen=True)
class Stage:
    """One kind of judgement within a run: its items, and how to ask about one.

    Attributes:
        name: the name of its journal and progress bar, and of its rows in unjudged.jsonl.
        judges: the judges that it asks; with `settings` they name the journal.
        items: returns all items, in the same order each time.
        ask: judges one item; raises JudgeError. It holds judges and settings but no data, since it
            may go to a worker elsewhere.
        total: the number of items, if it is known before.
        values: checks the values of an outcome, whatever the item; None: anything.
        misfit: says which value cannot be of this item; "" if all fit.
        limits: of the agent that works on the items; None: no agent does.
    """

    name: str
    judges: tuple[JudgeName, ...]
    items: Callable[[], Iterator[Item]]
    ask: Ask
    settings: Any = None
    total: int | None = None
    values: Values | None = None
    misfit: Misfit = lambda item, values: ""
    limits: Limits | None = None


def labels(
    name: str,
    judge_set: JudgeSet,
    judge_name: JudgeName,
    items: Callable[[], Iterator[Item]],
    *,
    total: int | None = None,
) -> Stage:
    """Make a stage in which a judge labels items, one or a window of them in a call.

    A payload has the `inputs` of the judge, in that order, and then its `optional` inputs that are
    known: a text each, or for one of them a list of the texts of the window.

    Returns: a stage whose outcomes have `verdicts`: rows of label, score, ..., in order.
    """
    judge: ItemJudge = judge_set[judge_name]

    async def ask(item: Item) -> Outcome:
        inputs = judge_inputs(judge, item)
        name_items(inputs, item.ids_at)
        verdicts, calls = await judge.judge_items(inputs, get_topic(item))
        rows = [_verdict_row(each) for each in verdicts]
        if isinstance(verdicts[0], Unjudged) and all("unjudged" in row for row in rows):
            return verdicts[0]._replace(provenance=calls)
        return Judged({"verdicts": rows}, calls)

    fitted = judge.correction.labels if judge.correction is not None else None
    return Stage(
        name,
        (judge_name,),
        items,
        ask,
        total=total,
        values=verdicts_on(fitted or judge.scale),
        misfit=_other_number,
    )


Maker = Callable[..., Awaitable[tuple[Any, Sequence[Provenance]]]]


def makes(
    name: str,
    judges: tuple[JudgeName, ...],
    make: Maker,
    items: Callable[[], Iterator[Item]],
    *,
    made: Any = Any,
    misfit: Misfit = lambda item, made: "",
    settings: Any = None,
    total: int | None = None,
) -> Stage:
    """Make a stage in which judges write something for each item: nuggets, questions, answers.

    Args:
        make: takes the payload of an item; returns what was made, ready for JSON, and its calls.
            The outcome has it as `made`.
        made: its type, as pydantic checks types; Any: not checked.
        misfit: says what cannot be made of an item; "" if all fits.
    """

    async def ask(item: Item) -> Judged:
        output, calls = await make(*(item.payload or ()))
        return Judged({"made": output}, tuple(calls))

    return Stage(
        name,
        judges,
        items,
        ask,
        settings,
        total=total,
        values=make_values(made),
        misfit=lambda item, values: misfit(item, values["made"]),
    )


def _other_number(item: Item, values: Any) -> str:
    wanted = next((len(part) for part in item.payload or () if isinstance(part, list)), 1)
    n = len(values["verdicts"])
    return "" if n == wanted else f"verdicts: {n} of them, wanted {wanted}"


def judge_inputs(judge: ItemJudge, item: Item) -> Sequence[dict[str, Any]]:
    """Return the inputs of each of the items in one payload of `labels`."""
    payload, names = item.payload or (), judge.inputs
    if len(payload) > len(names):
        names += judge.optional[: len(payload) - len(names)]
    inputs = dict(zip(names, payload, strict=True))
    for name, texts in inputs.items():
        if isinstance(texts, list):
            return Listed(inputs, name, texts)
    return (inputs,)


def get_topic(item: Item) -> str | None:
    """Return the topic of an item, if it has one."""
    topic = item.ids.get("topic_id")
    return topic if isinstance(topic, str) else None


def make_rows(outcome: Outcome, n: int) -> list[dict[str, Any]]:
    """Return the verdicts of `labels` as `n` rows; `label` is None in each if there is none."""
    if isinstance(outcome, Judged):
        verdicts = outcome.values["verdicts"]
        return [row if "label" in row else {"label": None} for row in verdicts]
    return [{"label": None} for _ in range(n)]


def find_unjudged(outcome: Judged) -> dict[int, Unjudged]:
    """Return the items of a window without a label, by index, if others have one."""
    rows = outcome.values.get("verdicts", ())
    return {
        index: Unjudged(Reason(row["unjudged"][0]), *row["unjudged"][1:])
        for index, row in enumerate(rows)
        if "unjudged" in row
    }


def _verdict_row(verdict: Verdict | Unjudged) -> dict[str, Any]:
    if isinstance(verdict, Unjudged):
        return {"unjudged": [verdict.reason, verdict.detail, verdict.raw]}
    return verdict.as_row()


class Progress(Protocol):
    """Called with each finished item."""

    def advance(self, outcome: Outcome | None) -> None:
        """Count an item; None: it was finished in an earlier run."""
        ...


@dataclass
class Tally:
    """The outcomes of a stage, counted; `resumed` of them are from an earlier run.

    `last`: the latest outcome without a judgement.
    """

    last: str = ""
    items: int = 0
    resumed: int = 0
    judged: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)


class Pending(NamedTuple):
    """An item without an outcome: its position in the stage's order, its digest, and the item."""

    number: int
    digest: int
    item: Item


class Work:
    """The remaining items of a stage, and where their outcomes go. An executor asks about them.

    Args:
        progress: called with each outcome.
        settle: called before an outcome with steps is written.
    """

    def __init__(
        self,
        stage: Stage,
        journal: Journal,
        progress: Progress | None = None,
        settle: Callable[[], None] = lambda: None,
    ) -> None:
        self.stage = stage
        self.tally = Tally()
        self._settle = settle
        self._journal = journal
        self._progress = progress

    def left(self) -> Iterator[Pending | None]:
        """Yield the items that the journal lacks, and now and then None, to let others run."""
        for number, item in enumerate(self.stage.items()):
            if item.payload is None:
                continue
            self.tally.items += 1
            digest = item.digest()
            if self._journal.recall(number, digest):
                self.tally.resumed += 1
                if self._progress is not None:
                    self._progress.advance(None)
            else:
                yield Pending(number, digest, item)
            if number % YIELD_EVERY == 0:
                yield None

    def finish(self, pending: Pending, outcome: Outcome) -> None:
        """Keep the outcome of an item."""
        if outcome.steps:
            self._settle()
        self._journal.write(pending.number, pending.digest, outcome)
        if isinstance(outcome, Judged):
            self.tally.judged += 1
        else:
            self.tally.unjudged[outcome.reason.value] += 1
            self.tally.last = outcome.detail
        if self._progress is not None:
            self._progress.advance(outcome)


class Executor(Protocol):
    """Asks the judges in other processes; an entry point `nuggetjudge.executors` names it.

    It is called with the config, its judges and the budget of a run whose `run.executor` is its
    name. This process reads the data, and writes the journal and the results.
    """

    async def run(self, work: Work) -> None:
        """Finish all items. Raises: EndpointUnusable as soon as one item raises it."""
        ...

    def describe_in_flight(self) -> str:
        """Say what the run waits for, if no item has ended for a while."""
        ...

    async def aclose(self) -> None:
        """Close all workers."""
        ...


async def run_here(work: Work, concurrency: int, ask: Ask | None = None) -> None:
    """Judge the remaining items of a stage in this process.

    At most `concurrency` items are in memory at once, however many there are. If it is cancelled,
    everything that finished is in the journal.

    Args:
        ask: judges one item, instead of the stage's function.

    Raises: EndpointUnusable as soon as one item raises it; the others are cancelled.
    """
    left, ask = work.left(), ask or work.stage.ask

    async def judge() -> None:
        for pending in left:
            if pending is None:
                await asyncio.sleep(0)
            else:
                work.finish(pending, await judge_item(ask, pending.item))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(judge())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def judge_item(ask: Ask, item: Item) -> Outcome:
    """Judge one item; a JudgeError becomes its outcome, which names the questions that failed."""
    with collect_failures() as failed:
        try:
            outcome = await ask(item)
        except JudgeError as error:
            outcome = Unjudged(error.reason, error.detail, error.raw)
    return outcome._replace(failed=(*(k.hex() for k in failed),)) if failed else outcome


def acts(
    name: str,
    judges: tuple[JudgeName, ...],
    agent: Agent,
    items: Callable[[], Iterator[Item]],
    *,
    made: Any = Any,
    misfit: Misfit = lambda item, made: "",
    settings: Any = None,
    total: int | None = None,
) -> Stage:
    """Make a stage in which an agent works on each item.

    A payload has the agent's `inputs`, in order. The outcome has what the agent made as `made`, and
    its steps, which go to trace.jsonl.

    Args:
        judges: those of the agent, which must belong to the run's judge_set.
        made: the type of what is made, as pydantic checks types; Any: not checked.
        misfit: says what cannot be made of an item; "" if all fits.
        settings: what decides the result besides judges, corpus and limits.
    """

    async def ask(item: Item) -> Outcome:
        inputs = dict(zip(agent.inputs, item.payload or (), strict=True))
        return await agent.outcome(**inputs)

    return Stage(
        name,
        judges,
        items,
        ask,
        settings={"agent": agent.identity(), "settings": settings},
        total=total,
        values=make_values(made),
        misfit=lambda item, values: misfit(item, values["made"]),
        limits=agent.limits,
    )
