"""vLLM in this process, without a server.

An engine is a `vllm.LLM` in its own thread. Before each step it takes all requests that
arrived, so requests at the same time are generated together and none waits for a batch.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
import weakref
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from queue import Empty, SimpleQueue
from typing import Any

import orjson

from ..records.reading.problems import InputError, pip_install
from .config import ModelConfig
from .errors import EndpointError, EndpointUnusable, find_refused_part
from .gateway import Completion
from .http import check_size, is_too_long, read_count, report_too_long
from .replies.logprobs import Token, read_tokens

_ELSEWHERE = ("model", "messages", "chat_template_kwargs", "logprobs", "top_logprobs")


def sampling(body: Mapping[str, Any]) -> Any:
    """A request's parameters in vLLM's form. Raises: TypeError for an unknown parameter."""
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    options = {name: value for name, value in body.items() if name not in _ELSEWHERE}
    form = options.pop("response_format", None)
    structure = options.pop("structured_outputs", None)
    if form is not None and form["type"] == "json_schema":
        structure = {"json": form["json_schema"]["schema"]}
    elif form is not None:
        structure = {"json_object": True}
    if structure is not None:
        options["structured_outputs"] = StructuredOutputsParams(**structure)
    if body.get("logprobs"):
        options["logprobs"] = body.get("top_logprobs", 0)
    return SamplingParams(**{"max_tokens": None, **options})  # None: to the end of the context


def answer(reply: Future[Completion], output: Any, model: str) -> None:
    """Set the reply to a request, or its error, from vLLM's output."""
    made = output.outputs[0]
    if made.finish_reason not in ("stop", "length"):
        detail = f"vLLM ended the request: {made.finish_reason}"
        reply.set_exception(EndpointError(detail, retryable=True))
        return
    reply.set_result(
        Completion(
            made.text,
            made.finish_reason,
            "",
            model,
            read_count(len(output.prompt_token_ids)),
            read_count(output.num_cached_tokens),
            read_count(len(made.token_ids)),
            _tokens(made.token_ids, made.logprobs) if made.logprobs else (),
        )
    )


def refusal(error: Exception) -> EndpointError | EndpointUnusable:
    """The error for a request that vLLM rejects. Only its length is specific to this request."""
    what = first_line(error)
    if is_too_long("", what):
        return report_too_long(what)
    hint = "Check the model's extra_body, the model's schema and the model's logprobs"
    detail = f"vLLM rejects the request: {what}\n{hint}"
    return EndpointUnusable(detail, refused=find_refused_part(what))


def first_line(error: Exception) -> str:
    """The kind of an error and the first line of its text."""
    lines = str(error).strip().split("\n")
    return f"{type(error).__name__}: {lines[0]}"[:300]


def _tokens(ids: Iterable[int], rows: Iterable[Mapping[int, Any]]) -> list[Token]:
    """The tokens of a reply, in the form of a server's tokens."""
    return read_tokens(
        {
            "content": [
                {
                    **_make_named_chance(row[i]),
                    "top_logprobs": [_make_named_chance(other) for other in row.values()],
                }
                for i, row in zip(ids, rows, strict=True)
            ]
        }
    )


def _make_named_chance(chance: Any) -> dict[str, Any]:
    return {"token": chance.decoded_token or "", "logprob": chance.logprob}


# Settings of vLLM for judging, here and in its server (see docs/backends.md). `guidance` supports
# every schema of the judges and, with this option, writes no white space. The model's own sampling
# defaults are ignored, so that the config alone decides. Any number of alternatives may be
# requested.
JUDGING: Mapping[str, Any] = {
    "enable_prefix_caching": True,
    "generation_config": "vllm",
    "max_logprobs": -1,
    "structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True},
}
# vLLM and its processes read these at start: send no usage data, keep stdout free, and do not
# fork a process with threads. A variable that you have set takes precedence.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}
STOP_S = 30.0  # time for an engine to end
log = logging.getLogger(__name__)


class VllmTransport:
    """Answers requests with a model in this process, loaded at the first request.

    Entries with the same model and options share one engine, which ends with the last entry.
    Per-request seeds are omitted on a CPU, where they crash vLLM 0.32.

    Raises: InputError if vLLM is not installed.
    """

    def __init__(self, config: ModelConfig) -> None:
        if not is_installed():
            raise InputError(f"model {config.model!r}, engine: vllm: {pip_install('vllm')}")
        self._config = config
        self._model = config.wire_name
        self._options = config.vllm
        self._engine: _Engine | None = None
        self._release: weakref.finalize[[bytes], VllmTransport] | None = None

    async def send(self, body: bytes) -> Completion:
        """Send one request. Raises: EndpointError; EndpointUnusable if the model cannot load."""
        if self._engine is None:
            self._engine, key = _share_engine(self._model, self._options)
            self._release = weakref.finalize(self, _let_go, key)
        reply = await asyncio.wrap_future(self._engine.ask(orjson.loads(body)))
        return check_size(reply)

    async def aclose(self) -> None:
        """End the engine if no other entry uses it."""
        self._engine = None
        if self._release is not None:
            await asyncio.to_thread(self._release)


def is_installed() -> bool:
    """Whether `import vllm` would find vLLM, under any package name."""
    spec = find_spec("vllm")
    return spec is not None and spec.origin is not None  # None: a folder of that name


class _Engine:
    """One model in its own thread; loading starts immediately, and it serves until `stop`."""

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        self._model = model
        self._options = options
        self._lock = threading.Lock()
        self._arrived: SimpleQueue[tuple[dict[str, Any], Future[Completion]] | None] = SimpleQueue()
        self._pending: dict[str, Future[Completion]] = {}  # by the engine's request number
        self._over: EndpointUnusable | None = None
        self._is_loading = True
        self._thread = threading.Thread(target=self._run, name="nuggetjudge-vllm", daemon=True)
        self._thread.start()

    def ask(self, body: dict[str, Any]) -> Future[Completion]:
        """Return the future reply. Cancelling it removes the request from the engine."""
        reply: Future[Completion] = Future()
        with self._lock:
            if self._over is not None:
                raise self._over
            self._arrived.put((body, reply))
        return reply

    def stop(self) -> None:
        """End the engine; unanswered requests fail."""
        if self._is_loading and self._thread.is_alive():
            wait = f"waiting for it to end, {STOP_S:g} s at most"
            log.warning("vLLM is still loading %r; %s", self._model, wait)
        self._arrived.put(None)
        self._thread.join(STOP_S)

    def _run(self) -> None:
        over = EndpointUnusable(f"the vLLM engine of {self._model!r} was closed")
        llm = None
        try:
            llm = _load(self._model, self._options)
            self._is_loading = False
            self._serve(llm)
        except EndpointUnusable as error:
            over = error
        except Exception as error:  # any error of vLLM ends its engine
            over = EndpointUnusable(
                f"the vLLM engine of {self._model!r} ended: {first_line(error)}"
            )
        finally:
            self._fail_all(over)
            if llm is not None:
                llm.llm_engine.engine_core.shutdown()

    def _serve(self, llm: Any) -> None:
        from vllm.platforms import current_platform

        takes_seeds = not current_platform.is_cpu()
        while True:
            for job in self._new():
                if job is None:
                    return
                self._start(llm, *job, takes_seeds=takes_seeds)
            if dropped := [number for number, reply in self._pending.items() if reply.cancelled()]:
                llm.llm_engine.abort_request(dropped)
                for number in dropped:
                    del self._pending[number]
            if not self._pending:
                continue
            for output in llm.llm_engine.step():
                if output.finished and (reply := self._pending.pop(output.request_id, None)):
                    with suppress(InvalidStateError):  # cancelled in the meantime
                        answer(reply, output, self._model)

    def _new(self) -> Iterator[tuple[dict[str, Any], Future[Completion]] | None]:
        """Requests that arrived; waits for one if there is nothing else to do."""
        if not self._pending:
            yield self._arrived.get()
        with suppress(Empty):
            while True:
                yield self._arrived.get_nowait()

    def _start(
        self, llm: Any, body: dict[str, Any], reply: Future[Completion], *, takes_seeds: bool
    ) -> None:
        if not takes_seeds:
            body.pop("seed", None)
        try:
            [number] = llm.enqueue_chat(
                [body["messages"]],
                [sampling(body)],
                use_tqdm=False,
                chat_template_kwargs=body.get("chat_template_kwargs"),
            )
        except Exception as error:  # many kinds; a dead engine raises again at its next step
            with suppress(InvalidStateError):
                reply.set_exception(refusal(error))
        else:
            self._pending[number.split("-")[0]] = reply  # replies omit its random part

    def _fail_all(self, over: EndpointUnusable) -> None:
        with self._lock:
            self._over = over
        left = list(self._pending.values())
        with suppress(Empty):
            while True:
                if (job := self._arrived.get_nowait()) is not None:
                    left.append(job[1])
        for reply in left:
            with suppress(InvalidStateError):
                reply.set_exception(over)


_engines: dict[bytes, tuple[_Engine, int]] = {}  # and the number of their users
_engines_lock = threading.Lock()


def _share_engine(model: str, options: Mapping[str, Any]) -> tuple[_Engine, bytes]:
    key = orjson.dumps([os.getpid(), model, options], option=orjson.OPT_SORT_KEYS)
    with _engines_lock:
        engine, users = _engines.get(key) or (_Engine(model, options), 0)
        _engines[key] = engine, users + 1
    return engine, key


def _let_go(key: bytes) -> None:
    with _engines_lock:
        engine, users = _engines.pop(key)
        if users > 1:
            _engines[key] = engine, users - 1
            return
    engine.stop()


def _load(model: str, options: Mapping[str, Any]) -> Any:
    """Load the model as a `vllm.LLM`. Raises: EndpointUnusable."""
    with _set_unless_set(ENVIRONMENT):
        try:
            from vllm import LLM

            return LLM(model=model, **{**JUDGING, **options})
        except Exception as error:  # of vLLM, torch or the model's files
            raise EndpointUnusable(
                f"vLLM cannot load {model!r}: {first_line(error)}\n"
                "Check the model's name and the model's vllm; vLLM's own log is above"
            ) from None


@contextmanager
def _set_unless_set(variables: Mapping[str, str]) -> Iterator[None]:
    added = [name for name in variables if name not in os.environ]
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
