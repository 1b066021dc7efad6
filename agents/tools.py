"""The tools of an agent at work on one item: each use is a step of its trace, within its limits."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NamedTuple, Self, TypeVar

from ..backends.errors import EndpointUnusable, JudgeError
from ..backends.loop import task_group
from ..backends.replies.noted import NotedReply, noted_replies
from ..judges.items import ItemJudge
from ..judges.items import judged as verdict_of
from ..judges.verdicts import Verdict
from ..records.judgements import Provenance, Reason, Unjudged
from ..records.rows import Passage
from ..retrieval.scored import Ranked
from .corpus import Corpus
from .limits import Limits, Spent
from .trace import Step, Trace

T = TypeVar("T")
_SCORE_DIGITS = 4


class Question(NamedTuple):
    """What a judge is asked of one item.

    Attributes:
        inputs: of the judge, by name.
        about: ids that name these in the trace, such as `{"passage": "d7", "sentence": 4}`; texts
            that have an id are not repeated there.
    """

    inputs: Mapping[str, str]
    about: Mapping[str, Any]


class Tools:
    """Searching, reading and asking for one item.

    All that is found out is a judge's label or a checked text; tools only read. A failure raises
    JudgeError, also where a limit is reached (`steps`), and stands in the trace by its reason.

    Args:
        corpus: what is searched; None: nothing can be.
        topic_id: whose strictness fitted judges take into account.
        known: ids of passages that may be read without a search, such as the references of an
            answer.
    """

    def __init__(
        self,
        corpus: Corpus | None,
        limits: Limits,
        *,
        topic_id: str | None = None,
        known: Sequence[str] = (),
    ) -> None:
        self.trace = Trace()
        self.limits = limits
        self._corpus = corpus
        self._topic_id = topic_id
        self._spent = Spent(limits)
        self._readable = set(known)
        self._replies: dict[str, list[NotedReply]] = {}  # by the path of the step

    def part(self, kind: str, name: str, **about: Any) -> Self:
        """The same tools, whose steps become parts of one new step; limits are shared."""
        twin = copy.copy(self)
        twin.trace = self.trace.part(kind, name, **about)
        return twin

    @property
    def n_calls_left(self) -> int:
        """Questions that may still be asked."""
        return self.limits.calls - self._spent.calls

    def turn(self) -> None:
        """Count one more turn of an agent that chooses its tools itself."""
        self._spent.step()

    async def search(self, query: str, hits: int | None = None) -> Ranked:
        """The passages for a query, best first; [] is a finding, not a failure.

        Args:
            hits: at most so many, and never more than the limit.

        Raises: JudgeError(tool) where the search failed.
        """
        most = min(self.limits.hits, hits or self.limits.hits)
        path, step = self.trace.reserve()
        step |= {"kind": "tool", "name": "search", "args": {"query": query, "hits": most}}
        if self._corpus is None:
            raise _failed(step, "search", "there are no passages to search")
        step["index"] = self._corpus.fingerprint
        try:
            with noted_replies() as replies:  # of a pipeline that asks judges
                found = (await self._corpus.search(query))[:most]
        except EndpointUnusable:
            raise
        except Exception as error:  # whatever a library raises: never an empty ranking
            raise _failed(step, "search", f"{type(error).__name__}: {error}") from error
        self._note(path, step, replies)
        step["out"] = [[name, round(score, _SCORE_DIGITS)] for name, score in found]
        self._readable.update(name for name, _ in found)
        return found

    def passage(self, passage_id: str) -> Passage:
        """The text that a judge is to be shown; no step, and no reading of the agent's own.

        Raises: JudgeError(no_passage) where the corpus has none.
        """
        found = self._corpus.passage(passage_id) if self._corpus is not None else None
        if found is None:
            raise JudgeError(Reason.NO_PASSAGE, f"no text of passage {passage_id!r}")
        return found

    def read(self, passage_id: str, start: int = 0, length: int | None = None) -> str:
        """A passage's text from a character on, for the agent itself.

        Raises: JudgeError(unparseable) for a passage that no search of this item found;
            JudgeError(steps) where more would be read than the limit.
        """
        _, step = self.trace.reserve()
        args = {"passage": passage_id, "start": start}
        step |= {"kind": "tool", "name": "read", "args": args}
        if passage_id not in self._readable:
            step["out"] = {"unjudged": Reason.UNPARSEABLE}
            what = f"passage {passage_id!r} was not found by a search, so it cannot be read"
            raise JudgeError(Reason.UNPARSEABLE, what)
        end = None if length is None else start + length
        text = self.passage(passage_id).text[start:end]
        try:
            self._spent.reading(len(text.encode("utf-8", "surrogatepass")))
        except JudgeError as error:
            step["out"] = {"unjudged": error.reason}
            raise
        step["out"] = {"characters": len(text)}
        return text

    async def judge(
        self, judge: ItemJudge, inputs: Mapping[str, str], about: Mapping[str, Any]
    ) -> tuple[Verdict, str]:
        """The verdict of a judge on one item, and the path of the step.

        Raises: JudgeError where there is none.
        """
        [(found, path)] = await self.judge_each(judge, [Question(inputs, about)])
        return verdict_of(found), path

    async def judge_each(
        self, judge: ItemJudge, questions: Sequence[Question]
    ) -> list[tuple[Verdict | Unjudged, str]]:
        """The same of several at once, in their order, a call and a step each.

        One without a verdict is Unjudged and the others stand.

        Raises: JudgeError(steps) before anything is asked, where all together could be too many;
            a jury's question counts as many times as it may ask.
        """

        async def one(question: Question) -> Verdict | Unjudged:
            found, _ = await judge.judged([question.inputs], self._topic_id)
            return found[0]

        def shown(found: Verdict | Unjudged) -> Any:
            if isinstance(found, Unjudged):
                return {"unjudged": found.reason}
            return found.as_row()

        self._spent.call(len(questions) * judge.most_calls)
        places = [self.trace.reserve() for _ in questions]
        async with task_group() as group:
            tasks = [
                group.create_task(
                    self._called(judge.name, one(q), q.about, shown, *place, most=judge.most_calls)
                )
                for q, place in zip(questions, places, strict=True)
            ]
        found: list[tuple[Verdict | Unjudged, str]] = []
        for task, (path, _) in zip(tasks, places, strict=True):
            given, failure = task.result()
            if failure is not None:
                given = Unjudged(failure.reason, failure.detail, failure.raw)
            found.append((given, path))
        return found

    async def ask(
        self,
        name: str,
        asked: Awaitable[T],
        about: Mapping[str, Any],
        shown: Callable[[T], Any],
    ) -> tuple[T, str]:
        """What a judge that makes texts answers, and the path of the step; counts as one call.

        Args:
            name: of the judge. asked: its call, as `writer.write(...)`.
            shown: what of the answer stands in the trace, ready for JSON.

        Raises: JudgeError where there is none.
        """
        try:
            self._spent.call()
        except JudgeError:
            if hasattr(asked, "close"):
                asked.close()  # never awaited
            raise
        place = self.trace.reserve()
        found, failure = await self._called(name, asked, about, shown, *place)
        if failure is not None:
            raise failure
        return found, place[0]

    def end(self, outcome: str, because: Sequence[str] = ()) -> None:
        """Say how it ended, and by which steps: their paths."""
        self.trace.add("end", outcome, because=list(because))

    def calls(self) -> tuple[Provenance, ...]:
        """Where all replies came from, in the order of the steps."""
        found = (self._replies.get(step["path"], ()) for step in self.trace.steps())
        return tuple(reply.provenance for replies in found for reply in replies)

    async def _called(
        self,
        name: str,
        asked: Awaitable[Any],
        about: Mapping[str, Any],
        shown: Callable[[Any], Any],
        path: str,
        step: Step,
        *,
        most: int = 1,
    ) -> tuple[Any, JudgeError | None]:
        step |= {"kind": "call", "name": name, "in": dict(about)}
        found: Any = None
        failure: JudgeError | None = None
        with noted_replies() as replies:
            try:
                found = await asked
                step["out"] = shown(found)
            except JudgeError as error:
                failure = error
                step["out"] = {"unjudged": error.reason}
        unused = most - max(1, len(replies)) if failure is None else 0
        self._spent.calls -= unused  # below 0 of a writer that asks several times
        self._note(path, step, replies)
        return found, failure

    def _note(self, path: str, step: Step, replies: list[NotedReply]) -> None:
        if not replies:
            return
        replies.sort(key=lambda reply: reply.key)  # in whichever order they came
        self._replies[path] = replies
        step["replies"] = [reply.key for reply in replies]
        prompt = sum(reply.prompt_tokens for reply in replies)
        completion = sum(reply.completion_tokens for reply in replies)
        step["tokens"] = [prompt, completion]
        self._spent.tokens += prompt + completion


def _failed(step: Step, name: str, why: str) -> JudgeError:
    step["out"] = {"unjudged": Reason.TOOL}
    return JudgeError(Reason.TOOL, f"{name}: {why}")
