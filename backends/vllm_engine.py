"""vLLM in this process: the requests of the light path, without a server between.

An engine is a `vllm.LLM` in a thread of its own. It takes in what has arrived before each of its
steps, so that whatever is asked at one time is generated together; no request waits for a batch.
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
    """A request's parameters as vLLM's. Raises: TypeError for one that vLLM does not know."""
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
    """Set the reply to a request, or why there is none, from what vLLM made of it."""
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
    """Of a request that vLLM does not take: only its length differs from those of the others."""
    what = first_line(error)
    if is_too_long("", what):
        return report_too_long(what)
    hint = "Check the model's extra_body, the model's schema and the model's logprobs"
    detail = f"vLLM does not take the request: {what}\n{hint}"
    return EndpointUnusable(detail, refused=find_refused_part(what))


def first_line(error: Exception) -> str:
    """The kind of an error and the first line of its text."""
    lines = str(error).strip().split("\n")
    return f"{type(error).__name__}: {lines[0]}"[:300]


def _tokens(ids: Iterable[int], rows: Iterable[Mapping[int, Any]]) -> list[Token]:
    """The tokens of a reply, read as those of a server are."""
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


# What judging wants of vLLM, here and in its server (docs/backends.md says how). `guidance` keeps
# to every schema that a judge sends and, told so, writes no white space; the model's own sampling
# defaults are left out, so that a config says all there is; any number of alternatives may be
# asked for.
JUDGING: Mapping[str, Any] = {
    "enable_prefix_caching": True,
    "generation_config": "vllm",
    "max_logprobs": -1,
    "structured_outputs_config": {"backend": "guidance", "disable_any_whitespace": True},
}
# Read by vLLM when it starts, and by its processes: nothing is reported home, stdout stays ours,
# and a process with threads is not forked. A variable that the user has set stands.
ENVIRONMENT = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
}
STOP_S = 30.0  # for an engine to end
log = logging.getLogger(__name__)


class VllmTransport:
    """Answers requests with a model that this process loads, when the first one comes.

    Entries with the same model and options share one engine, which ends with the last of them.
    Per-request seeds are left out on a CPU, where vLLM 0.32 ends over them.

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
        """One request. Raises: EndpointError; EndpointUnusable if the model cannot be loaded."""
        if self._engine is None:
            self._engine, key = _share_engine(self._model, self._options)
            self._release = weakref.finalize(self, _let_go, key)
        reply = await asyncio.wrap_future(self._engine.ask(orjson.loads(body)))
        return check_size(reply)

    async def aclose(self) -> None:
        """End the engine if nobody else uses it."""
        self._engine = None
        if self._release is not None:
            await asyncio.to_thread(self._release)


def is_installed() -> bool:
    """Whether `import vllm` would find vLLM, under whatever name it was installed."""
    spec = find_spec("vllm")
    return spec is not None and spec.origin is not None  # None: a folder that has that name


class _Engine:
    """One model in a thread of its own; it is loaded at once and serves until `stop`."""

    def __init__(self, model: str, options: Mapping[str, Any]) -> None:
        self._model = model
        self._options = options
        self._lock = threading.Lock()
        self._arrived: SimpleQueue[tuple[dict[str, Any], Future[Completion]] | None] = SimpleQueue()
        self._pending: dict[str, Future[Completion]] = {}  # by the engine's number of a request
        self._over: EndpointUnusable | None = None
        self._is_loading = True
        self._thread = threading.Thread(target=self._run, name="nuggetjudge-vllm", daemon=True)
        self._thread.start()

    def ask(self, body: dict[str, Any]) -> Future[Completion]:
        """The reply to come. Cancelling it takes the request out of the engine."""
        reply: Future[Completion] = Future()
        with self._lock:
            if self._over is not None:
                raise self._over
            self._arrived.put((body, reply))
        return reply

    def stop(self) -> None:
        """End the engine; what it has not answered fails."""
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
        except Exception as error:  # whatever vLLM raises ends its engine
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
                    with suppress(InvalidStateError):  # cancelled a moment ago
                        answer(reply, output, self._model)

    def _new(self) -> Iterator[tuple[dict[str, Any], Future[Completion]] | None]:
        """All that has arrived; waits for one if there is nothing else to do."""
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
        except Exception as error:  # of many kinds; an engine that is dead says so at its next step
            with suppress(InvalidStateError):
                reply.set_exception(refusal(error))
        else:
            self._pending[number.split("-")[0]] = reply  # replies come without its random part

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


_engines: dict[bytes, tuple[_Engine, int]] = {}  # with the number of their users
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
    """The model as a `vllm.LLM`. Raises: EndpointUnusable."""
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
