"""Requests and replies of the light path as those of `vllm.LLM`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from typing import Any

from ..errors import EndpointError, EndpointUnusable
from ..gateway import Completion
from ..http import count_of, is_too_long, too_long
from ..logprobs import Token, read_tokens
from ..replies.refused import refused_part

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
            count_of(len(output.prompt_token_ids)),
            count_of(output.num_cached_tokens),
            count_of(len(made.token_ids)),
            _tokens(made.token_ids, made.logprobs) if made.logprobs else (),
        )
    )


def refusal(error: Exception) -> EndpointError | EndpointUnusable:
    """Of a request that vLLM does not take: only its length differs from those of the others."""
    what = first_line(error)
    if is_too_long("", what):
        return too_long(what)
    hint = "Check the model's extra_body, the model's schema and the model's logprobs"
    detail = f"vLLM does not take the request: {what}\n{hint}"
    return EndpointUnusable(detail, refused=refused_part(what))


def first_line(error: Exception) -> str:
    """The kind of an error and the first line of its text."""
    lines = str(error).strip().split("\n")
    return f"{type(error).__name__}: {lines[0]}"[:300]


def _tokens(ids: Iterable[int], rows: Iterable[Mapping[int, Any]]) -> list[Token]:
    """The tokens of a reply, read as those of a server are."""
    return read_tokens(
        {
            "content": [
                {**_named(row[i]), "top_logprobs": [_named(other) for other in row.values()]}
                for i, row in zip(ids, rows, strict=True)
            ]
        }
    )


def _named(chance: Any) -> dict[str, Any]:
    return {"token": chance.decoded_token or "", "logprob": chance.logprob}
