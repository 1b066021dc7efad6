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


__all__ = [
    "Executor",
    "Item",
    "Pending",
    "Stage",
    "Tally",
    "Work",
    "acts",
    "find_unjudged",
    "labels",
    "make_rows",
    "makes",
    "run_here",
]

YIELD_EVERY = 64  # items that need no waiting, such as lexical ones, between two looks at Ctrl-C


class Item(NamedTuple):
    """One item to judge: its ids and its texts.

    Attributes:
        ids: the ids that label files have; a row of unjudged.jsonl has all of them.
        payload: the inputs of the judge, in order: text, whole numbers, or lists of them; None: a
            text is missing.
        n: the number of judgements that the item asks for, >= 1.
        missing: the name of the missing text; "": no text is missing.
        reason: the reason why the text is missing.

    >>> ids = {"topic_id": "t1", "nugget_id": ["n1", "n2"]}
    >>> Item(ids, ("The answer.", ["Wind.", "Ice."]), n=2).ids_at(1)
    {'topic_id': 't1', 'nugget_id': 'n2'}
    """

    ids: Mapping[str, Any]
    payload: tuple[Any, ...] | None
    n: int = 1
    missing: str = ""
    reason: Reason = Reason.NO_PASSAGE

    def ids_at(self, index: int) -> dict[str, Any]:
        """Return the ids of one judgement of the item.

        Args:
            index: the position of the judgement, from 0, below `n`.
        """
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
    """One kind of judgement within a run: its items, and how to ask about one item.

    Attributes:
        name: the name of its journal and progress bar, and of its rows in unjudged.jsonl.
        judges: the judges that it asks; with `settings` they name the journal.
        items: a function that yields all items, in the same order each time.
        ask: a function that judges one item and may raise JudgeError. It holds judges and settings
            but no data, because it may run in another process.
        settings: what decides an outcome besides the judges, ready for JSON.
        total: the number of items; None: unknown.
        values: checks the values of an outcome without its item; None: no check.
        misfit: a function that describes a value that does not fit its item; "" if all fit.
        limits: the limits of the agent that works on the items; None: there is no agent.

    `labels`, `makes` and `acts` make the usual stages.

    >>> async def ask(item):
    ...     return Judged({"n_words": len(item.payload[0].split())}, ())
    >>> items = [Item({"topic_id": "t1"}, ("Wind sways bridges.",))]
    >>> stage = Stage("words", (), lambda: iter(items), ask)
    >>> asyncio.run(stage.ask(items[0])).values
    {'n_words': 3}
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

    A payload has the `inputs` of the judge, in that order, then the `optional` inputs that are
    known: a text each, or, for one input, a list with the texts of the window.

    Args:
        name: the name of the stage.
        judge_set: the judges of the run.
        judge_name: the judge to ask.
        items: a function that yields all items, in the same order each time.
        total: the number of items; None: unknown.

    Returns: a stage whose outcomes have `verdicts`: rows of label, score, ..., in order.

    >>> from nuggetjudge.judges import SupportJudge
    >>> judges = {"support": SupportJudge("lexical")}  # in a task: run.judge_set
    >>> item = Item({"topic_id": "t1"}, ("Wind sways bridges.", "Wind sways bridges."))
    >>> stage = labels("support", judges, "support", lambda: iter([item]))
    >>> make_rows(asyncio.run(stage.ask(item)), item.n)
    [{'label': 'full', 'score': 1.0}]
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
        name: the name of the stage.
        judges: the judges that `make` asks.
        make: an async function of the payload of an item. It returns the written value, ready for
            JSON, and the calls. The outcome has the value as `made`.
        items: a function that yields all items, in the same order each time.
        made: the type of the value, checked by pydantic; Any: no check.
        misfit: a function that describes why a value does not fit its item; "" if it fits.
        settings: what decides a value besides the judges, ready for JSON.
        total: the number of items; None: unknown.

    Returns: a stage whose outcomes have `made`.

    >>> async def split(text):
    ...     return text.split(), []  # in a task, a judge writes
    >>> item = Item({"topic_id": "t1"}, ("Wind sways bridges.",))
    >>> stage = makes("words", (), split, lambda: iter([item]), made=list[str])
    >>> asyncio.run(stage.ask(item)).values
    {'made': ['Wind', 'sways', 'bridges.']}
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
    """Return the inputs of each of the items in one payload of `labels`.

    Args:
        judge: the judge that reads the inputs.
        item: the item with the payload.
    """
    payload, names = item.payload or (), judge.inputs
    if len(payload) > len(names):
        names += judge.optional[: len(payload) - len(names)]
    inputs = dict(zip(names, payload, strict=True))
    for name, texts in inputs.items():
        if isinstance(texts, list):
            return Listed(inputs, name, texts)
    return (inputs,)


def get_topic(item: Item) -> str | None:
    """Return the topic of an item; None if it has no topic.

    Args:
        item: an item of a stage.
    """
    topic = item.ids.get("topic_id")
    return topic if isinstance(topic, str) else None


def make_rows(outcome: Outcome, n: int) -> list[dict[str, Any]]:
    """Return the verdicts of an outcome of `labels` as rows to write.

    Args:
        outcome: the outcome of an item.
        n: the number of judgements of the item, `Item.n`.

    Returns: `n` rows, in order; `label` is None where a judgement is missing.

    >>> make_rows(Unjudged(Reason.REFUSED, "the model refused"), 2)
    [{'label': None}, {'label': None}]
    """
    if isinstance(outcome, Judged):
        verdicts = outcome.values["verdicts"]
        return [row if "label" in row else {"label": None} for row in verdicts]
    return [{"label": None} for _ in range(n)]


def find_unjudged(outcome: Judged) -> dict[int, Unjudged]:
    """Return the judgements of a window that failed, by position, if others have a label.

    Args:
        outcome: the outcome of an item of `labels`.

    Returns: position in the window -> why it has no judgement; {} if all have one.

    >>> rows = [{"label": "full"}, {"unjudged": ["ungrounded", "no quote", ""]}]
    >>> find_unjudged(Judged({"verdicts": rows}, ()))[1].detail
    'no quote'
    """
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
        """Count an item.

        Args:
            outcome: the end of its judgement; None: the item was finished in an earlier run.
        """
        ...


@dataclass
class Tally:
    """Counts of the outcomes of a stage.

    Attributes:
        last: the detail of the latest outcome without a judgement.
        items: the number of items.
        resumed: the number of outcomes from an earlier start.
        judged: the number of items with a judgement.
        unjudged: the number of items without a judgement, by reason.

    >>> tally = Tally(items=3, judged=2, unjudged=Counter(refused=1))
    >>> tally.items - tally.judged
    1
    """

    last: str = ""
    items: int = 0
    resumed: int = 0
    judged: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)


class Pending(NamedTuple):
    """An item without an outcome.

    Attributes:
        number: its position in the order of the stage, from 0.
        digest: its hash, see `Item.digest`.
        item: the item.

    >>> item = Item({"topic_id": "t1"}, ("Wind sways bridges.",))
    >>> Pending(0, item.digest(), item).item.ids
    {'topic_id': 't1'}
    """

    number: int
    digest: int
    item: Item


class Work:
    """The remaining items of a stage, and where their outcomes go. An executor asks about them.

    Args:
        stage: the stage.
        journal: receives the outcomes.
        progress: is called with each outcome; None: nothing is called.
        settle: is called before an outcome with steps is written.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> items = [Item({"topic_id": "t1"}, ("Wind sways bridges.",))]
    >>> stage = Stage("words", (), lambda: iter(items), ask=None)
    >>> with TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "words.jsonl"))
    ...     work = Work(stage, journal)
    ...     for pending in work.left():
    ...         if pending is not None:
    ...             work.finish(pending, Judged({"n_words": 3}, ()))
    ...     journal.close()
    >>> work.tally.judged
    1
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
        """Yield the items that the journal lacks; every 64 items also None, to let others run."""
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
        """Write the outcome of an item into the journal, and count it.

        Args:
            pending: the item.
            outcome: its outcome.
        """
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

    >>> class Here:
    ...     def __init__(self, config, judge_set, budget):
    ...         self.concurrency = 4
    ...     async def run(self, work):
    ...         await run_here(work, self.concurrency)
    ...     def describe_in_flight(self):
    ...         return "judgements of this process"
    ...     async def aclose(self):
    ...         pass
    """

    async def run(self, work: Work) -> None:
        """Finish all items.

        Args:
            work: the remaining items of a stage.

        Raises: EndpointUnusable as soon as one item raises it.
        """
        ...

    def describe_in_flight(self) -> str:
        """Return what the run waits for, to show if no item has ended for a while."""
        ...

    async def aclose(self) -> None:
        """Close all workers."""
        ...


async def run_here(work: Work, concurrency: int, ask: Ask | None = None) -> None:
    """Judge the remaining items of a stage in this process.

    At most `concurrency` items are in memory at the same time. If it is cancelled, everything that
    finished is in the journal.

    Args:
        work: the remaining items of a stage.
        concurrency: the maximum number of items at the same time, >= 1.
        ask: a function that judges one item; None: the function of the stage.

    Raises: EndpointUnusable as soon as one item raises it; the others are cancelled.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> async def ask(item):
    ...     return Judged({"n_words": len(item.payload[0].split())}, ())
    >>> items = [Item({"topic_id": "t1"}, ("Wind sways bridges.",))]
    >>> stage = Stage("words", (), lambda: iter(items), ask)
    >>> with TemporaryDirectory() as folder:
    ...     journal = Journal(Path(folder, "words.jsonl"))
    ...     asyncio.run(run_here(Work(stage, journal), concurrency=4))
    ...     outcome = journal.outcome(0)
    ...     journal.close()
    >>> outcome.values
    {'n_words': 3}
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
    """Judge one item; a JudgeError becomes its outcome, which names the questions that failed.

    Args:
        ask: asks the judges of the stage.
        item: the item to judge.

    Returns: the judgement, or why it failed.
    """
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

    A payload has the agent's `inputs`, in order. The outcome has the result of the agent as
    `made`, and its steps, which go to trace.jsonl.

    Args:
        name: the name of the stage.
        judges: the judges of the agent, which must belong to the run's judge_set.
        agent: the agent.
        items: a function that yields all items, in the same order each time.
        made: the type of the result, checked by pydantic; Any: no check.
        misfit: a function that describes why a result does not fit its item; "" if it fits.
        settings: what decides the result besides judges, corpus and limits, ready for JSON.
        total: the number of items; None: unknown.

    Returns: a stage whose outcomes have `made` and steps.

    >>> from nuggetjudge.agents import Agent
    >>> class CountWords(Agent):
    ...     name, inputs = "count_words", ("text",)
    ...     async def act(self, tools, text):
    ...         return {"n_words": len(text.split())}
    >>> item = Item({"topic_id": "t1"}, ("Wind sways bridges.",))
    >>> stage = acts("words", (), CountWords(), lambda: iter([item]))
    >>> asyncio.run(stage.ask(item)).values
    {'made': {'n_words': 3}}
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
