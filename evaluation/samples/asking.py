"""Ask a function for answers, several at a time, and keep the answers."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import orjson

from ...records.judgements import FAILED, Reason
from ...records.reading.fields import shorten
from ...records.reading.problems import InputError
from ...records.writing import Appending
from .citations import check_writable
from .fields import ANSWER, CONTEXTS, ID, QUESTION, rename_fields
from .reading import (
    Sample,
    Samples,
    get_text,
    hash_text,
    make_sample,
    read_questions,
)
from .returned import read_returned

Answering: TypeAlias = Callable[[str], Any]  # a question -> text, or answer and contexts

AHEAD = 4  # finished answers that may wait for an earlier one, per running call
N_TRIES = 3  # if this many first calls all raise, the function counts as broken


def list_topics(questions: Samples) -> list[str]:
    """Return the topics of questions to answer. Raises: InputError for an invalid question."""
    return [
        make_sample({**_without_answer(fields), FAILED: Reason.ERROR}, at).topic_id
        for at, fields in read_questions(questions)
    ]


@dataclass
class Asking:
    """Calls functions and keeps their answers.

    Args:
        path: a file; answers are appended as they arrive, and stored answers are not requested
            again.
        at_once: the maximum number of running calls.
        loop: the event loop of coroutines; None: a loop in another thread.
        stopped: an event that stops further calls; None: nothing stops them.

    Attributes:
        n_called, n_failed: numbers of calls and of failed calls.
        first_failure: why the first failed call failed.
    """

    path: Path
    at_once: int
    loop: asyncio.AbstractEventLoop | None = None
    stopped: threading.Event | None = None
    n_called: int = 0
    n_failed: int = 0
    first_failure: str = ""

    def samples(
        self, system: str, ask: Answering, questions: Iterable[tuple[str, Mapping[str, Any]]]
    ) -> Iterator[Sample]:
        """Yield the samples of one system, in the order of the questions.

        A call that raises, or returns something that cannot be written to a file, makes a `failed`
        sample: it is unjudged and never scores 0.

        Raises: InputError naming the sample, for an invalid question or an invalid returned value;
            the function's own error, if its first three calls raised.
        """
        spans, end = _spans(self.path)
        loop = _Loop(self.loop)
        file = Appending(self.path, end)
        waiting: deque[_Call] = deque()
        first_calls: list[_Call] = []
        works = False
        left = iter(questions)
        try:
            while True:
                running = {call.future for call in waiting if not call.future.done()}
                while len(running) < self.at_once and len(waiting) < AHEAD * self.at_once:
                    if (row := next(left, None)) is None:
                        break
                    call = self._begin(system, ask, row, spans, loop)
                    waiting.append(call)
                    if len(first_calls) < N_TRIES:
                        first_calls.append(call)
                    if not call.future.done():
                        running.add(call.future)
                if not waiting:
                    return
                if running and not waiting[0].future.done():
                    wait(running, timeout=1, return_when=FIRST_COMPLETED)
                for call in waiting:
                    call.keep(file, self)
                works = works or _check_first(first_calls, waiting)
                while waiting and waiting[0].sample is not None:
                    yield waiting.popleft().sample  # type: ignore[misc]
                if self.stopped is not None and self.stopped.is_set():
                    raise CancelledError
        finally:
            file.close()
            loop.close()

    def _begin(
        self,
        system: str,
        ask: Answering,
        row: tuple[str, Mapping[str, Any]],
        spans: Mapping[str, tuple[int, int]],
        loop: _Loop,
    ) -> _Call:
        """Return the call for a question; a stored answer counts as a finished call."""
        at, fields = row
        fields = _without_answer(fields)
        question = get_text(fields, QUESTION, at)
        ids = next((str(fields[name]) for name in ID if fields.get(name) is not None), "")
        key = hash_text("\n".join((system, ids, question)))
        if (span := spans.get(key)) is not None:
            return _Call(at, fields, "", loop.make_done_future(_read(self.path, *span)))
        self.n_called += 1
        return _Call(at, fields, key, loop.start(ask, question))


def _without_answer(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in fields.items() if n not in (*ANSWER, *CONTEXTS, FAILED)}


@dataclass
class _Call:
    """One question and its call. `key`: key of the stored answer; "": it is stored already."""

    at: str
    fields: Mapping[str, Any]
    key: str
    future: Future[Any]
    sample: Sample | None = None

    @property
    def error(self) -> Exception | None:
        """The exception of the function, if it raised one."""
        error = self.future.exception() if self.future.done() else None
        return error if isinstance(error, Exception) else None

    def keep(self, file: Appending, asking: Asking) -> None:
        """Make the sample of a finished call, once, and append the answer to the file."""
        if self.sample is not None or not self.future.done():
            return
        if (error := self.future.exception()) is not None:
            if not isinstance(error, Exception | asyncio.CancelledError):
                raise error
            text = ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
            self._fail(asking, f"{self.at}: {text}")
            return
        sample = make_sample(
            {**self.fields, **_read_returned(self.future.result(), self.at)}, self.at
        )
        row = _row(sample)
        try:
            check_writable(row, self.at)
        except InputError as unwritable:
            self._fail(asking, str(unwritable))
            return
        self.sample = sample
        if self.key:
            file.write(orjson.dumps({"key": self.key, **row}) + b"\n")

    def _fail(self, asking: Asking, why: str) -> None:
        """Count the call as failed, and make a sample without an answer."""
        asking.n_failed += 1
        asking.first_failure = asking.first_failure or shorten(why, 300)
        self.sample = make_sample({**self.fields, FAILED: Reason.ERROR}, self.at)


def _check_first(first: Sequence[_Call], waiting: Iterable[_Call]) -> bool:
    """Return whether a call returned something. Raises: the first error, if all these raised."""
    if any(call.future.done() and call.error is None for call in waiting):
        return True
    errors = [error for call in first if (error := call.error) is not None]
    if len(errors) == N_TRIES:
        what = f"answer() raised on each of its first {N_TRIES} questions, so none was judged"
        errors[0].add_note(what)
        raise errors[0]
    return False


class _Loop:
    """Runs each call in its own thread, and its coroutines on one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop | None) -> None:
        self._host, self._own = loop, None if loop else asyncio.new_event_loop()
        self._awaited: set[Future[Any]] = set()
        if self._own is not None:
            threading.Thread(target=self._own.run_forever, daemon=True).start()

    def start(self, ask: Answering, question: str) -> Future[Any]:
        future: Future[Any] = Future()
        context = contextvars.copy_context()
        # No thread pool: the interpreter waits for pool threads at its end, even after Ctrl-C.
        threading.Thread(
            target=context.run, args=(self._call, future, ask, question), daemon=True
        ).start()
        return future

    def make_done_future(self, value: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(value)
        return future

    def close(self) -> None:
        """Cancel coroutines; threads with a running call end with them, without waiting."""
        for future in list(self._awaited):
            future.cancel()
        if (own := self._own) is not None:
            own.call_soon_threadsafe(own.call_later, 0.1, own.stop)

    def _call(self, future: Future[Any], ask: Answering, question: str) -> None:
        try:
            returned = ask(question)
            if inspect.isawaitable(returned):
                loop = self._host or self._own
                assert loop is not None
                awaited = asyncio.run_coroutine_threadsafe(_await(returned), loop)
                self._awaited.add(awaited)
                try:
                    returned = awaited.result()
                finally:
                    self._awaited.discard(awaited)
            future.set_result(returned)
        except BaseException as error:
            future.set_exception(error)


async def _await(awaitable: Any) -> Any:
    return await awaitable


def _read_returned(returned: Any, at: str) -> Mapping[str, Any]:
    """Return the answer and contexts that a function returned."""
    row = read_returned(returned)
    if row is None:
        what = "wanted a text, or a mapping with answer and contexts"
        raise InputError(f"{at}: answer() returned {shorten(repr(returned), 60)}, {what}")
    wanted = (*ANSWER, *CONTEXTS, FAILED)
    row = rename_fields(row, wanted)
    if not any(row.get(name) is not None for name in (*ANSWER, FAILED)):
        names = ", ".join(map(str, row)) or "nothing"
        raise InputError(f"{at}: answer() returned {names}; wanted one of {', '.join(ANSWER)}")
    return {name: row[name] for name in wanted if name in row}


def _row(sample: Sample) -> dict[str, Any]:
    """Return an answer as it is stored: in the form in which a function may return it."""
    by_sentence = [{"text": s.text, "citations": list(s.citations)} for s in sample.sentences]
    contexts = [{"id": c.id, "text": c.text, "title": c.title} for c in sample.contexts]
    made = {FAILED: sample.failed} if sample.failed else {}
    return {ANSWER[0]: by_sentence or sample.answer, CONTEXTS[0]: contexts, **made}


def _spans(path: Path) -> tuple[dict[str, tuple[int, int]], int]:
    """Return start and length in bytes of stored answers by key, and the end of whole lines."""
    spans: dict[str, tuple[int, int]] = {}
    end = 0
    if path.is_file():
        with path.open("rb") as lines:
            for line in lines:
                try:
                    key = orjson.loads(line)["key"]
                except (ValueError, KeyError, TypeError):
                    break
                if not line.endswith(b"\n"):
                    break
                spans[key] = (end, len(line))
                end += len(line)
    return spans, end


def _read(path: Path, start: int, size: int) -> dict[str, Any]:
    with path.open("rb") as file:
        file.seek(start)
        row: dict[str, Any] = orjson.loads(file.read(size))
    return row
