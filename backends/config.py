"""Settings of one model: its endpoint, its abilities and its limits."""

from __future__ import annotations

import importlib.util
import json
import os
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

from ..records.reading.problems import did_you_mean
from ..records.reading.settings import InputPath
from .presets import expand_preset


def find_provider(model: str) -> str | None:
    """Whose model LiteLLM's table has under this name, as its names begin; None: nobody's."""
    row = find_price_row(model)
    return row["litellm_provider"].partition("-")[0] if row else None


@lru_cache(maxsize=64)
def find_price_row(*names: str) -> dict[str, Any] | None:
    """The row of the first name that LiteLLM's table lists; the table itself is let go again."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    if not table.is_file():
        return None
    prices: dict[str, dict[str, Any]] = orjson.loads(table.read_bytes())
    return next((prices[name] for name in names if name in prices), None)


OPENAI_BASE = "https://api.openai.com/v1"  # what the prefix `openai/` means without an api_base
TOP_LOGPROBS = 20  # alternatives of a token: OpenAI's limit and vLLM's default limit
MAX_QUESTIONS = 128  # of a request to a decision model, LiteLLM's limit
_HTTP_PREFIXES = ("openai/", "hosted_vllm/")
_DECISION_PREFIXES = ("typesafe/", "openai-decisions/")

# Options of a vLLM engine that are about speed and memory; the others are part of its endpoint_id.
_SPEED = frozenset(
    {
        "async_scheduling",
        "block_size",
        "cpu_offload_gb",
        "disable_log_stats",
        "distributed_executor_backend",
        "enable_prefix_caching",
        "enforce_eager",
        "gpu_memory_utilization",
        "kv_cache_memory_bytes",
        "max_num_batched_tokens",
        "max_num_seqs",
        "num_gpu_blocks_override",
        "pipeline_parallel_size",
        "tensor_parallel_size",
    }
)
_NOT_VLLM = ("model", "served_model_name", "hf_token")  # set elsewhere, or a secret

# What the other settings say; and, at any depth and however written, what would send a request
# elsewhere or put a key into results.
_NOT_EXTRA = ("messages", "model", "stream", "n")
_NOWHERE = re.compile(
    r"token|(.*_)?(api_?keys?|api_?base|base_?urls?|api_?url|(extra|default|custom)?_?headers?"
    r"|(proxy_?)?authori[sz]ation|secrets?|secret_?(access_?)?keys?|access_?keys?(_?id)?"
    r"|private_?keys?|passwords?|passwd|credentials?|cookies?"
    r"|(default|extra)_?query|(access|ad|api|auth|bearer|hf|id|refresh|secret|security|session)_?tokens?)"
)

RECORDED = "recorded:"  # before the name of a judge whose labels are in a file
TRAINED = "trained/"  # before the folder of a judge that was trained on labels
TRAINED_FILE = "trained.json"  # in that folder
Engine = Literal["http", "litellm", "decision", "vllm", "lexical", "recorded", "trained"]


class Price(BaseModel):
    """US dollars for a million tokens; `cached_input` is the price of a prompt-cache hit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    input: float = Field(ge=0, description="dollars for a million prompt tokens")
    output: float = Field(ge=0, description="dollars for a million reply tokens")
    cached_input: float | None = Field(
        default=None, ge=0, description="dollars for a million cached prompt tokens"
    )


class BatchConfig(BaseModel):
    """How requests are gathered into batches of an OpenAI-style batch API."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
    requests: int = Field(default=50_000, ge=1, description="most requests of one batch")
    at_once: int = Field(
        default=50_000, ge=1, le=1_000_000, description="judgements held in memory"
    )
    quiet_s: float = Field(
        default=2.0, gt=0, description="seconds without a new request before a batch is sent"
    )
    poll_s: float = Field(
        default=60.0, gt=0, description="longest wait between two checks of a batch, seconds"
    )
    hours: float = Field(
        default=24.0, gt=0, description="hours for one judgement, retries included"
    )


class ModelConfig(BaseModel):
    """One entry of `models:` in a config file. Nothing is guessed from the model's name.

    The prefix of `model` selects who answers: `lexical` (no model), `openai/...` and
    `hosted_vllm/...` (an OpenAI-compatible endpoint, without LiteLLM), `typesafe/...` and
    `openai-decisions/...` (a decision model), anything else LiteLLM. With `engine: vllm`, `model`
    names weights that this process loads; with `engine: decision`, a decision model at `api_base`.
    """

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        protected_namespaces=(),
        hide_input_in_errors=True,
        allow_inf_nan=False,
    )

    model: str = Field(
        min_length=1,
        description="lexical, openai/NAME, hosted_vllm/NAME, typesafe/NAME, preset:NAME, "
        "recorded:NAME, trained/FOLDER or a LiteLLM name",
    )
    engine: Engine | None = Field(
        default=None,
        description="engine that answers; default: chosen by the prefix of model",
    )
    api_base: str | None = Field(
        default=None, description="base URL, e.g. http://127.0.0.1:8000/v1"
    )
    api_key_env: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="environment variable that holds the key",
    )
    endpoint: str | None = Field(
        default=None, description="name of the endpoint in the cache key; default: its base URL"
    )
    recording: InputPath | None = Field(
        default=None,
        description="file with the labels of recorded:NAME, or the replies of engine: recorded",
    )
    vllm: dict[str, Any] = Field(
        default_factory=dict,
        description="options of engine: vllm, such as max_model_len",
    )

    reply_schema: Literal["json_schema", "plain_json_schema", "json_object", "none"] = Field(
        default="json_schema",
        alias="schema",
        description="constraint on the reply; plain_json_schema: without lengths",
    )
    logprobs: bool | Annotated[int, Field(ge=1, le=1000)] = Field(
        default=False,
        description=f"true: request log-probabilities, {TOP_LOGPROBS} alternatives a token; or how "
        "many alternatives",
    )
    context_length: int | None = Field(
        default=None,
        ge=1,
        description="most tokens of prompt and reply; a longer request is an error, without a call",
    )

    temperature: float | None = Field(
        default=0.0,
        ge=0,
        description="null: not sent; request, subquestions and decontextualizer ask at .7 if "
        "you set none",
    )
    top_p: float | None = Field(default=None, gt=0, le=1, description="null: not sent")
    max_tokens: int | None = Field(
        default=None,
        ge=1,
        le=2**53,
        description="tokens of a reply; null: on your own server the judge's longest reply, "
        "else no limit",
    )
    max_tokens_name: Literal["max_tokens", "max_completion_tokens"] = Field(
        default="max_tokens", description="name of the limit in a request"
    )
    system_role: Literal["system", "developer", "user"] = Field(
        default="system",
        description="role of the instructions; user: before the first question",
    )
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63, description="null: not sent")
    extra_body: dict[str, Any] = Field(
        default_factory=dict,
        description="further fields of the request; no keys, headers, addresses, messages, "
        "model, stream, n",
    )

    concurrency: int = Field(default=32, ge=1, description="requests in flight to this model")
    rpm: float | None = Field(default=None, gt=0, description="requests a minute")
    tpm: float | None = Field(default=None, gt=0, description="tokens a minute, prompt and reply")
    timeout_s: float = Field(default=120.0, gt=0, description="seconds for one request")
    deadline_s: float = Field(
        default=600.0, gt=0, description="seconds for one judgement, retries included"
    )
    retries: int = Field(
        default=4,
        ge=0,
        le=20,
        description="after a time-out, lost connection, 429 or server error; at most 20",
    )
    reasks: int = Field(default=1, ge=0, le=5, description="after an unreadable reply; at most 5")
    price: Price | None = Field(
        default=None, description="{input, output, cached_input}: dollars for a million tokens"
    )

    @model_validator(mode="before")
    @classmethod
    def _is_spelled_out(cls, entry: Any) -> Any:
        return expand_preset(entry)

    @field_validator("extra_body")
    @classmethod
    def _is_no_way_around(cls, extra: dict[str, Any]) -> dict[str, Any]:
        _check_json("extra_body", extra)
        for at in _find_refused_names(extra):
            what = "extra_body cannot hold {name}"
            raise PydanticCustomError("extra_body", what, {"name": repr(at[-1]), "at": at})
        return extra

    @model_validator(mode="after")
    def _has_an_endpoint(self) -> ModelConfig:
        if self.way == "http" and not self.api_base and not self.model.startswith("openai/"):
            raise ValueError(f"model {self.model!r} needs api_base, the URL that ends in /v1")
        if self.way == "decision" and self.model.startswith("hosted_vllm/") and not self.api_base:
            raise ValueError(f"model {self.model!r} needs api_base, the URL that ends in /v1")
        if self.way in ("litellm", "decision") and "/" not in self.model:
            raise ValueError(f"model {self.model!r} names no provider{_meant(self.model)}")
        if self.way == "recorded" and self.recording is None:
            of = "a file of labels" if self.recorded_judge else "a JSONL file of replies"
            raise ValueError(f"{self.model} needs recording, {of}")
        if self.api_base is not None:
            _check_url(self.api_base)
        self._check_vllm()
        return self

    def _check_vllm(self) -> None:
        if self.way != "vllm":
            if self.vllm:
                raise ValueError("vllm holds options of the engine in this process: engine: vllm")
            return
        if self.api_base is not None:
            raise ValueError("engine: vllm loads the model itself, without an api_base")
        if forbidden := [name for name in _NOT_VLLM if name in self.vllm]:
            raise ValueError(f"vllm cannot hold {forbidden[0]!r}")
        for at in _find_refused_names(self.vllm, ("vllm",)):  # results would show it
            raise ValueError(f"vllm cannot hold {at[-1]!r}")
        if self.vllm.get("trust_remote_code") and not self.vllm.get("revision"):
            raise ValueError("vllm.trust_remote_code runs the model's code: pin it by a revision")
        _check_json("vllm", self.vllm)

    @property
    def way(self) -> Engine:
        """Which of the engines answers for this model."""
        if self.engine is not None:
            return self.engine
        if self.model == "lexical":
            return "lexical"
        if self.model.startswith(RECORDED):
            return "recorded"
        if self.model.startswith(TRAINED):
            return "trained"
        if self.model.startswith(_DECISION_PREFIXES):
            return "decision"
        return "http" if self.model.startswith(_HTTP_PREFIXES) else "litellm"

    @property
    def recorded_judge(self) -> str:
        """The judge whose recorded labels answer; "" for other models."""
        is_recorded = self.way == "recorded" and self.model.startswith(RECORDED)
        return self.model.removeprefix(RECORDED) if is_recorded else ""

    @property
    def sends_nothing(self) -> bool:
        """Whether its answers are free: it sends no request and loads no LLM."""
        return self.way in ("lexical", "recorded", "trained")

    @property
    def file(self) -> Path | None:
        """The file that decides its answers: a recording, or what a trained judge is."""
        if self.way == "trained":
            return Path(self.model.removeprefix(TRAINED)) / TRAINED_FILE
        return self.recording

    @property
    def gives_labels_alone(self) -> bool:
        """Whether it answers each question by a label, without quotes or reasons."""
        return self.way in ("decision", "trained") or bool(self.recorded_judge)

    @property
    def is_own_server(self) -> bool:
        """Whether its weights are on a machine of one's own, which an endless reply keeps busy."""
        return self.way == "vllm" or self.model.startswith("hosted_vllm/")

    @property
    def forces_labels(self) -> bool:
        """Whether a schema leaves a reply nothing but labels where it wants one."""
        return self.reply_schema in ("json_schema", "plain_json_schema")

    @property
    def provider(self) -> str:
        """What LiteLLM's environment variables for this model begin with, as OPENAI."""
        return self._litellm_name.split("/")[0].upper().replace("-", "_")

    @property
    def base_url(self) -> str | None:
        """The endpoint's URL without a final slash; None where LiteLLM knows the provider's own."""
        if self.way == "http":
            return (self.api_base or OPENAI_BASE).rstrip("/")
        return self.api_base.rstrip("/") if self.api_base else None

    @property
    def endpoint_id(self) -> str:
        """What a cached reply is filed under; two servers never share one unless told to."""
        if self.way == "vllm":
            return self.endpoint or _engine_id(self.vllm)
        if self.recorded_judge or self.way == "trained":
            return self.endpoint or self.way
        return self.endpoint or self.base_url or f"{self.way}:{self.model.split('/')[0]}"

    @property
    def wire_name(self) -> str:
        """The model's name as the endpoint knows it."""
        if self.way in ("http", "vllm"):
            for prefix in _HTTP_PREFIXES:
                if self.model.startswith(prefix):
                    return self.model.removeprefix(prefix)
        return self._litellm_name

    @property
    def _litellm_name(self) -> str:
        return self.model.replace("openai-decisions/", "openai/", 1)

    @property
    def uses_litellm(self) -> bool:
        """Whether LiteLLM sends its requests, with the provider's own variables for keys."""
        return self.way in ("litellm", "decision")

    @property
    def gives_probabilities(self) -> bool:
        """Whether its replies hold the probability of each label."""
        return self.way in ("decision", "trained") or self.top_logprobs is not None

    @property
    def top_logprobs(self) -> int | None:
        """How many alternatives of each token are asked for; None: no log-probabilities are."""
        return (TOP_LOGPROBS if self.logprobs is True else self.logprobs) or None

    def api_key(self) -> SecretStr | None:
        """The key, read when it is needed; only from the variable that belongs to this endpoint.

        Raises: KeyError with the variable's name if it was named and is not set.
        """
        name = self.api_key_env
        if name is None and self.way == "http" and not self.api_base:
            name = "OPENAI_API_KEY"
        if name is None:
            return None
        value = os.environ.get(name, "").strip()
        if not value:
            raise KeyError(name)
        return SecretStr(value)

    def identity(self) -> dict[str, Any]:
        """What of this entry can change a reply; part of a judge's identity and of cache keys."""
        further = {
            name: getattr(self, name)
            for name in ("max_tokens_name", "system_role")
            if getattr(self, name) != type(self).model_fields[name].default  # as ever, by default
        }
        return {
            **further,
            "endpoint": self.endpoint_id,
            "model": self.model,
            "schema": self.reply_schema,
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "logprobs": self.top_logprobs,
            "extra_body": self.extra_body,
            "recording": str(self.recording) if self.recording else None,
        }


def _engine_id(options: dict[str, Any]) -> str:
    """`vllm`, followed by the options that can change a reply."""
    deciding = {name: value for name, value in options.items() if name not in _SPEED}
    text = orjson.dumps(deciding, option=orjson.OPT_SORT_KEYS).decode() if deciding else ""
    return f"vllm {text}".rstrip()


def _find_refused_names(value: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where in extra_body a name stands that cannot be there."""
    if isinstance(value, dict):
        for name, inner in value.items():
            written = re.sub(r"[^a-z0-9]+", "_", name.lower())
            if _NOWHERE.fullmatch(written) or (not at and name in _NOT_EXTRA):
                yield (*at, name)
            yield from _find_refused_names(inner, (*at, name))
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _find_refused_names(inner, (*at, str(i)))


def _check_json(name: str, options: dict[str, Any]) -> None:
    """What only one of the two writers takes (dates, nan) would go out as something else."""
    try:
        orjson.dumps(options)
        json.dumps(options, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name} cannot be sent as JSON: {error}") from None


def _check_url(api_base: str) -> None:
    """A key in a URL would end up in logs and results, so none is taken."""
    try:
        parts = urlsplit(api_base)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:  # also a port that is not a number
        raise ValueError("api_base must be a URL such as http://127.0.0.1:8000/v1") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("api_base must not hold a user or password; use api_key_env")
    if parts.query or parts.fragment:
        raise ValueError("api_base must not hold a query ('?...') or fragment ('#...')")


def _meant(model: str) -> str:
    """The end of an error about a model without a provider: a suggestion."""
    if alike := did_you_mean(model, ["lexical"]):
        return alike
    provider = find_provider(model)
    suggestion = f"openai/{model} for OpenAI, hosted_vllm/{model} for your own server"
    return f"; did you mean {provider}/{model}?" if provider else f". Write {suggestion}"
