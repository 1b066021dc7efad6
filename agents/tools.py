"""The tools of an agent for one item, its limits and its trace: each use is a step."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self, TypeVar

from ..backends.errors import EndpointUnusable, JudgeError
from ..backends.loop import task_group
from ..backends.replies.completion import RecordedReply, collect_replies
from ..judges.items import ItemJudge, require_verdict
from ..judges.verdicts import Verdict
from ..records.judgements import Provenance, Reason, Unjudged
from ..records.reading.problems import InputError
from ..records.rows import Passage
from ..retrieval.scored import Ranked
from .corpus import Corpus

T = TypeVar("T")
_SCORE_DIGITS = 4


class Limits(NamedTuple):
    """Limits of an agent for one item. Only `tokens` can be exceeded, by the last call.

    Attributes:
        steps: turns of an agent that chooses its tools itself.
        calls: calls of models.
        tokens: tokens of prompts and replies together, checked before each call; None: no limit.
        read: bytes of passages that the agent reads itself.
        hits: passages that one search returns.
    """

    steps: int = 12
    calls: int = 40
    tokens: int | None = None
    read: int = 20_000
    hits: int = 20


@dataclass(eq=False)
class Spent:
    """Counts what an agent does for one item, or for a part of it.

    Each method counts one thing before it is done. It raises JudgeError(steps) if that would exceed
    the limit.

    Args:
        whole: the counter that this part belongs to, until the part is used.
    """

    limits: Limits
    whole: Spent | None = None
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    read: int = 0
    _parts: list[Spent] = field(default_factory=list)
    _unused: list[Spent] = field(default_factory=list)

    def part(self) -> Spent:
        """Limits for one part: an even share of what is left when the first part is used.

        Parts that are made before any of them is used share evenly, so that the order of replies
        does not decide how far each gets.
        """
        part = Spent(self.limits, self)
        self._unused.append(part)
        return part

    def step(self) -> None:
        """Count one more turn."""
        self._need("steps", 1, f"{self.limits.steps} steps")
        self.steps += 1

    def call(self, n: int = 1) -> None:
        """Count this many more questions."""
        self._need("calls", n, f"{self.limits.calls} calls of models")
        if self.limits.tokens is not None:
            self._need("tokens", 1, f"{self.limits.tokens:,} tokens")
        self.calls += n

    def reading(self, size: int) -> None:
        """Count this many more bytes of a passage."""
        self._need("read", size, f"{self.limits.read:,} bytes to read")
        self.read += size

    def left(self, what: str) -> int:
        """The remaining steps, calls, tokens (if limited) or bytes to read."""
        if self.whole is not None:
            self.whole._share()
        most: int = getattr(self.limits, what)
        return most - self._count_done(what)

    def _need(self, what: str, n: int, limit: str) -> None:
        if self.left(what) < n:
            raise JudgeError(Reason.STEPS, f"the limit of {limit} was reached before it was done")

    def _count_done(self, what: str) -> int:
        own: int = getattr(self, what)
        return own + sum(part._count_done(what) for part in self._parts)

    def _share(self) -> None:
        """Divide the remainder among the parts that are not used yet."""
        n = len(self._unused)
        for index, part in enumerate(self._unused):
            part.whole = None
            for what in ("steps", "calls", "tokens", "read"):
                if getattr(self.limits, what) is not None:
                    left = max(0, self.left(what))
                    share = left // n + (index < left % n)
                    part.limits = part.limits._replace(**{what: share})
        self._parts += self._unused
        self._unused = []


Step = dict[str, Any]  # path, kind, name and further fields of its kind; see docs/formats.md


class Trace:
    """The steps of one item, each with a path: `0` is the agent, `0.2` its third step, and so on.

    Steps that run at the same time get their parts before they start, so paths do not depend on
    which ends first. A trace holds no times, cache hits or attempts.

    Args:
        path: of the step that these steps belong to.
    """

    def __init__(self, path: str = "0") -> None:
        self.path = path
        self._made: list[tuple[Step, Trace | None]] = []

    def add(self, kind: str, name: str, **about: Any) -> str:
        """Add a step after the others, and return its path.

        Args:
            kind: the kind of the step, such as tool.
            name: the name of the step, such as search.
            about: other fields of the step, ready for JSON.
        """
        path = f"{self.path}.{len(self._made)}"
        self._made.append(({"path": path, "kind": kind, "name": name, **about}, None))
        return path

    def part(self, kind: str, name: str, **about: Any) -> Trace:
        """Add a step that has its own steps, and return their trace.

        Args:
            kind, name, about: see `add`.
        """
        path = f"{self.path}.{len(self._made)}"
        part = Trace(path)
        self._made.append(({"path": path, "kind": kind, "name": name, **about}, part))
        return part

    def reserve(self) -> tuple[str, Step]:
        """Add a step whose content follows later, and return its path and the step."""
        path = f"{self.path}.{len(self._made)}"
        step: Step = {"path": path}
        self._made.append((step, None))
        return path, step

    def end(self, outcome: str, **about: Any) -> None:
        """Add the last step of an item; it replaces an earlier end.

        Args:
            outcome: how the item ended, such as found.
            about: other fields of the step, ready for JSON.
        """
        if self.has_ended:
            self._made.pop()
        self.add("end", outcome, **about)

    @property
    def has_ended(self) -> bool:
        """True if its last step is the end."""
        return bool(self._made) and self._made[-1][0].get("kind") == "end"

    def steps(self) -> list[Step]:
        """Return all steps in the order of their paths, without steps that never began."""
        rows = []
        for step, part in self._made:
            if "kind" in step:
                rows.append(step)
            if part is not None:
                rows += part.steps()
        return rows


class Question(NamedTuple):
    """One question to a judge about one item.

    Attributes:
        inputs: the inputs of the judge, by name.
        about: ids that name the inputs in the trace, such as `{"passage": "d7", "sentence": 4}`;
            the trace does not repeat texts that have an id.
    """

    inputs: Mapping[str, str]
    about: Mapping[str, Any]


class Tools:
    """The tools of an agent for one item: search, read, ask judges.

    For parallel work use `judge_each`, or `together` with parts that all exist before the first
    part is used: then nothing depends on which ends first.

    Tools only read. A failure raises JudgeError, also if a limit is reached (`steps`), and the
    trace has its reason.

    Args:
        corpus: the passages to search; None: there are no passages.
        limits: the limits of the item.
        topic_id: the topic whose correction fitted judges use; None: no topic.
        readable: ids of passages that may be read without a search, such as the references of an
            answer.
    """

    def __init__(
        self,
        corpus: Corpus | None,
        limits: Limits,
        *,
        topic_id: str | None = None,
        readable: Sequence[str] = (),
    ) -> None:
        self.trace = Trace()
        self.limits = limits
        self._corpus = corpus
        self._topic_id = topic_id
        self._spent = Spent(limits)
        self._readable = set(readable)
        self._parts: list[Tools] = []
        self._replies: dict[str, list[RecordedReply]] = {}  # by the path of the step
        self._budget_met: list[JudgeError] = []

    def part(self, kind: str, name: str, **about: Any) -> Self:
        """Return tools whose steps become parts of one new step.

        A part gets the rest of the limits when it is first used; parts that exist before one of
        them is used get an even share each. A part can read the passages that were found before
        it, and these tools can read the passages that the part finds.

        Args:
            kind, name, about: see `Trace.add`.
        """
        changed = copy.copy(self)
        changed.trace = self.trace.part(kind, name, **about)
        changed._spent, changed._parts, changed._readable = (
            self._spent.part(),
            [],
            self._all_readable(),
        )
        self._parts.append(changed)
        return changed

    @property
    def n_calls_left(self) -> int:
        """The number of questions that may still be asked."""
        return self._spent.left("calls")

    @property
    def budget_met(self) -> JudgeError | None:
        """The error of the first question that exceeded the budget of the run; None: no question.

        A result without the answer to this question does not count: with a higher limit it would
        differ.
        """
        return self._budget_met[0] if self._budget_met else None

    def turn(self) -> None:
        """Count one more turn of an agent that chooses its tools itself."""
        self._spent.step()

    async def search(self, query: str, hits: int | None = None) -> Ranked:
        """Return the passages for a query, best first; [] if nothing matches.

        Args:
            query: the text to search for.
            hits: the maximum number of passages; None: the limit.

        Raises: JudgeError (tool) if the search failed; InputError if no search can succeed.
        """
        most = min(self.limits.hits, hits or self.limits.hits)
        path, step = self.trace.reserve()
        step |= {"kind": "tool", "name": "search", "args": {"query": query, "hits": most}}
        if self._corpus is None:
            raise _make_failure(step, "search", "there are no passages to search")
        step["index"] = self._corpus.fingerprint
        try:
            with collect_replies() as replies:  # a pipeline may ask judges
                ranked = (await self._corpus.search(query))[:most]
        except (EndpointUnusable, InputError):  # the same for all items: the run ends
            raise
        except Exception as error:  # any error of a library: never an empty ranking
            raise _make_failure(step, "search", f"{type(error).__name__}: {error}") from error
        self._note(path, step, replies)
        step["out"] = [[name, round(score, _SCORE_DIGITS)] for name, score in ranked]
        self._readable.update(name for name, _ in ranked)
        return ranked

    def passage(self, passage_id: str) -> Passage:
        """Return a passage to show to a judge. This is not a step and does not count as read.

        Args:
            passage_id: the id of the passage.

        Raises: JudgeError (no_passage) if the corpus lacks it.
        """
        passage = self._corpus.passage(passage_id) if self._corpus is not None else None
        if passage is None:
            raise JudgeError(Reason.NO_PASSAGE, f"passage {passage_id!r} has no text")
        return passage

    def read(self, passage_id: str, start: int = 0, length: int | None = None) -> str:
        """Return the text of a passage from a character on, for the agent itself.

        Args:
            passage_id: the id of the passage.
            start: the first character, from 0.
            length: the number of characters; None: all.

        Raises: JudgeError (unparseable) for a passage that no search of this item found;
            JudgeError (no_passage) if it has no text; JudgeError (steps) if the limit of bytes
            would be exceeded.
        """
        _, step = self.trace.reserve()
        args = {"passage": passage_id, "start": start}
        if length is not None:
            args["length"] = length
        step |= {"kind": "tool", "name": "read", "args": args}
        try:
            if passage_id not in self._all_readable():
                what = f"passage {passage_id!r} was not found by a search, so it cannot be read"
                raise JudgeError(Reason.UNPARSEABLE, what)
            end = None if length is None else start + length
            text = self.passage(passage_id).text[start:end]
            self._spent.reading(len(text.encode("utf-8", "surrogatepass")))
        except JudgeError as error:
            step["out"] = {"unjudged": error.reason}
            raise
        step["out"] = {"characters": len(text)}
        return text

    async def judge(
        self, judge: ItemJudge, inputs: Mapping[str, str], about: Mapping[str, Any]
    ) -> tuple[Verdict, str]:
        """Return the verdict of a judge on one item, and the path of the step.

        Args:
            judge: the judge to ask.
            inputs, about: see `Question`.

        Raises: JudgeError if the judgement failed.
        """
        [(outcome, path)] = await self.judge_each(judge, [Question(inputs, about)])
        return require_verdict(outcome), path

    async def judge_each(
        self, judge: ItemJudge, questions: Sequence[Question]
    ) -> list[tuple[Verdict | Unjudged, str]]:
        """Return the verdict of a judge on each of several items, and the path of each step.

        Each item is a call; for a jury, one call of each member. If one judgement fails, it is
        Unjudged and the others count.

        Args:
            judge: the judge to ask.
            questions: the items.

        Raises: JudgeError (steps) before a model is asked, if all questions together could exceed
            the limit; a question to a jury counts as often as it may ask.
        """

        async def one(question: Question) -> Verdict | Unjudged:
            judged, _ = await judge.judge_items([question.inputs], self._topic_id)
            return judged[0]

        def show_outcome(outcome: Verdict | Unjudged) -> Any:
            if isinstance(outcome, Unjudged):
                return {"unjudged": outcome.reason}
            return _in_trace(outcome)

        self._spent.call(len(questions) * judge.most_calls)  # unused calls are returned
        reserved = [self.trace.reserve() for _ in questions]
        async with task_group() as group:
            tasks = [
                group.create_task(self._call(judge.name, one(q), q.about, show_outcome, *slot))
                for q, slot in zip(questions, reserved, strict=True)
            ]
        outcomes: list[tuple[Verdict | Unjudged, str]] = []
        for task, (path, _) in zip(tasks, reserved, strict=True):
            outcome, failure = task.result()
            if failure is None:
                self._spent.calls -= judge.most_calls - self._n_replies(path)
            else:
                outcome = Unjudged(failure.reason, failure.detail, failure.raw)
            outcomes.append((outcome, path))
        return outcomes

    async def ask(
        self,
        name: str,
        call: Awaitable[T],
        about: Mapping[str, Any],
        shown: Callable[[T], Any],
    ) -> tuple[T, str]:
        """Return the text that a judge writes, and the path of the step; counts as one call.

        Args:
            name: the name of the judge.
            call: its coroutine, such as `writer.write(...)`.
            about: ids that name the inputs in the trace.
            shown: a function that selects the part of the answer for the trace, ready for JSON.

        Raises: JudgeError if there is no answer.
        """
        try:
            self._spent.call()
        except JudgeError:
            if hasattr(call, "close"):
                call.close()  # never awaited
            raise
        slot = self.trace.reserve()
        answer, failure = await self._call(name, call, about, shown, *slot)
        self._spent.calls += self._n_replies(slot[0]) - 1  # some writers ask several times
        if failure is not None:
            raise failure
        return answer, slot[0]

    def end(self, outcome: str, because: Sequence[str] = ()) -> None:
        """Record how the item ended.

        Args:
            outcome: how it ended, such as found.
            because: the paths of the steps that led to the end.
        """
        self.trace.end(outcome, because=list(because))

    def calls(self) -> tuple[Provenance, ...]:
        """Return the provenance of all replies, in the order of the steps."""
        by_step = (self._replies.get(step["path"], ()) for step in self.trace.steps())
        return tuple(reply.provenance for replies in by_step for reply in replies)

    async def _call(
        self,
        name: str,
        call: Awaitable[Any],
        about: Mapping[str, Any],
        shown: Callable[[Any], Any],
        path: str,
        step: Step,
    ) -> tuple[Any, JudgeError | None]:
        step |= {"kind": "call", "name": name, "in": dict(about)}
        answer: Any = None
        failure: JudgeError | None = None
        with collect_replies() as replies:
            try:
                answer = await call
                step["out"] = shown(answer)
            except JudgeError as error:
                failure = error
                if error.reason is Reason.BUDGET:
                    self._budget_met.append(error)
                step["out"] = {"unjudged": error.reason}
        self._note(path, step, replies)
        return answer, failure

    def _note(self, path: str, step: Step, replies: list[RecordedReply]) -> None:
        if not replies:
            return
        replies.sort(key=lambda reply: reply.key)  # whatever their order of arrival
        self._replies[path] = replies
        step["replies"] = [reply.key for reply in replies]
        prompt = sum(reply.prompt_tokens for reply in replies)
        completion = sum(reply.completion_tokens for reply in replies)
        step["tokens"] = [prompt, completion]
        self._spent.tokens += prompt + completion

    def _n_replies(self, path: str) -> int:
        return max(1, len(self._replies.get(path, ())))

    def _all_readable(self) -> set[str]:
        return self._readable.union(*(part._all_readable() for part in self._parts))


async def together(works: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Run the work on several parts of an item in parallel; return the results in order.

    If a judgement fails, the other parts still run to their end, because how far they got would
    depend on which was first.

    Args:
        works: a coroutine for each part.

    Raises: the first JudgeError in the order of `works`; any other error at once.
    """

    async def await_end(work: Coroutine[Any, Any, T]) -> tuple[list[T], JudgeError | None]:
        try:
            return [await work], None
        except JudgeError as error:
            return [], error

    async with task_group() as group:
        tasks = [group.create_task(await_end(work)) for work in works]
    for task in tasks:
        if (failure := task.result()[1]) is not None:
            raise failure
    return [value for task in tasks for value in task.result()[0]]


def _in_trace(verdict: Verdict) -> dict[str, Any]:
    """The offsets of quotes in a judged text, without the words: the step names the text."""
    row = verdict.as_row()
    if verdict.evidence:
        row["evidence"] = [
            each.as_row()
            if each.start is None
            else {"of": each.of, "start": each.start, "end": each.end}
            for each in verdict.evidence
        ]
    return row


def _make_failure(step: Step, name: str, why: str) -> JudgeError:
    step["out"] = {"unjudged": Reason.TOOL}
    return JudgeError(Reason.TOOL, f"{name}: {why}")
