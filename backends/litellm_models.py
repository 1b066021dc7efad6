"""Models through LiteLLM: chat models of providers with their own API, and decision models."""

from __future__ import annotations

import logging
import math
import os
import sys
from collections.abc import Sequence
from itertools import islice
from typing import Any

import orjson

from ..records.judgements import Reason
from ..records.reading.problems import InputError
from .config import MAX_QUESTIONS, ModelConfig
from .decisions import Question
from .errors import SETTINGS, EndpointError, EndpointUnusable, find_refused_part
from .gateway import Completion
from .http import (
    BUSY,
    bypass_proxy,
    check_size,
    get_url,
    is_too_long,
    read_count,
    read_seconds,
    report_too_long,
)
from .replies.completion import DECIDED
from .replies.logprobs import LabelPath, Token, read_tokens, spell_tokens
from .replies.text import THINK
from .secrecy import check_keys, find_secrets

# LiteLLM reads these at import: no price table from the network, no `.env` of the folder.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


_NO_KEY = "none"  # sent if the config has an endpoint but no key, never a key of the environment


class LiteLLMTransport:
    """Calls `litellm.acompletion` with LiteLLM's own retries and cache off.

    Without `api_base` and `api_key_env`, LiteLLM uses the provider's own variable for the key.
    """

    def __init__(self, config: ModelConfig) -> None:
        ambient = [f"{config.provider}_{end}" for end in ("API_BASE", "BASE_URL", "API_URL")]
        ambient = [] if config.api_base else ambient
        if redirecting := [
            name for name in (*ambient, "USE_LITELLM_PROXY") if os.environ.get(name)
        ]:
            raise EndpointUnusable(
                f"{redirecting[0]} is set in the environment and would redirect {config.model!r}; "
                "set the endpoint (the model's api_base) or unset the variable"
            )
        check_keys([config])
        key = config.api_key()
        self._extra: dict[str, Any] = {
            "timeout": min(config.timeout_s, config.deadline_s),
            "num_retries": 0,
            "max_retries": 0,
        }
        if config.api_base:
            self._extra |= {"api_base": config.base_url, "api_key": _NO_KEY}
        if key:
            self._extra["api_key"] = key.get_secret_value()
        bypass_proxy(get_url(config))
        self._config = config
        self._secrets = find_secrets(config)
        self._litellm = import_litellm()

    async def send(self, body: bytes) -> Completion:
        """Send one request. Raises: EndpointError, EndpointUnusable."""
        try:
            reply = await self._litellm.acompletion(**orjson.loads(body), **self._extra)
        except Exception as error:  # providers' own errors too; none may end a run
            raise self._failure(error) from None
        choice = reply.choices[0]
        usage = getattr(reply, "usage", None)
        details = getattr(usage, "prompt_tokens_details", None)
        completion = Completion(
            # Half a surrogate pair, for example of a cut emoji, could not be stored.
            _read_text(choice.message).encode("utf-8", "replace").decode(),
            choice.finish_reason or "",
            getattr(choice.message, "refusal", None) or "",
            reply.model or "",
            read_count(getattr(usage, "prompt_tokens", 0)),
            read_count(getattr(details, "cached_tokens", 0)),
            read_count(getattr(usage, "completion_tokens", 0)),
            _tokens(getattr(choice, "logprobs", None)),
        )
        return check_size(completion)

    async def aclose(self) -> None:
        """Do nothing: LiteLLM owns the clients, shares them and closes them at exit."""

    def _failure(self, error: Exception) -> EndpointError | EndpointUnusable:
        kinds, message = self._litellm.exceptions, self._clean(error)
        status = getattr(error, "status_code", None) or 0
        if isinstance(error, kinds.UnsupportedParamsError):
            hint = "Set the model's schema to json_object or none, "
            hint += "set the model's temperature to null, or set the model's logprobs to false"
            return EndpointUnusable(f"{message}\n{hint}", refused=find_refused_part(message))
        if isinstance(error, kinds.ContentPolicyViolationError):
            why = Reason.REFUSED
            return EndpointError(
                message, retryable=False, status=status, reason=why, is_general=False
            )
        if isinstance(error, kinds.ContextWindowExceededError) or is_too_long("", message):
            return report_too_long(message, status)
        body = getattr(error, "body", None)
        code = body.get("code") if isinstance(body, dict) else None
        if status in (401, 402, 403, 404) or code == "insufficient_quota":
            hint = (
                "Check the model's name, the model's api_base and the key (the model's api_key_env)"
            )
            return EndpointUnusable(f"{message}\n{hint}")
        # Without a status, the cause is the network or LiteLLM itself.
        retryable = not status or status in BUSY
        billed = 0 if isinstance(error, kinds.Timeout) else None
        refused = find_refused_part(message) if status in (400, 422) else ""
        return EndpointError(
            message,
            retryable=retryable,
            status=status,
            retry_after_s=_after(error),
            billed=billed,
            hint=f"Set {SETTINGS[refused]}" if refused else "",
            refused=refused,
        )

    def _clean(self, error: Exception) -> str:
        text = self._secrets.blank(f"{type(error).__name__}: {error}")
        return text.split("\n")[0][:300]


MAX_SUM_ERROR = 0.01  # allowed deviation from 1 of a question's sum of probabilities
_UNEXPECTED = "returned an unexpected response:"  # LiteLLM's text for a reply of the wrong type
_TOO_MUCH = (400, 413, 422)  # statuses for too many questions


class DecisionTransport(LiteLLMTransport):
    """Sends typed questions by `litellm.asystemone`, which knows each provider's form.

    The text of a completion is the judge's reply with the chosen labels; its tokens hold the
    probabilities of all labels, like the tokens of a chat model.
    """

    async def send(self, body: bytes) -> Completion:
        """Send one request, or several if the server limits the questions of a request.

        Raises: EndpointUnusable; EndpointError, also for invalid answers: a question without an
            answer, a label that was not offered, probabilities that do not sum to 1.
        """
        request = orjson.loads(body)
        questions = iter(request.pop("questions").items())
        chances: dict[LabelPath, dict[str, float]] = {}
        values: dict[str, Any] = {}
        model, n_tokens, n_cached = "", 0, 0
        while batch := dict(islice(questions, MAX_QUESTIONS)):
            try:
                reply = await self._litellm.asystemone(**request, questions=batch, **self._extra)
            except Exception as error:  # providers' own errors too
                raise self._fail(error, len(batch)) from None
            model = reply.model or ""
            n_tokens += read_count(getattr(reply.usage, "input_tokens", 0))
            n_cached += read_count(getattr(reply.usage, "cached_tokens", 0))
            for name, question in batch.items():
                label, shares = _read_answer(name, Question(**question), reply.answers.get(name))
                path = tuple(name.split(".", 1))
                chances[path] = shares
                holder = values.setdefault(path[0], {}) if len(path) > 1 else values
                holder[path[-1]] = int(label) if label.isdecimal() else label
        text = orjson.dumps(values).decode()
        return Completion(
            text, DECIDED, "", model, n_tokens, n_cached, 0, spell_tokens(text, chances)
        )

    def _fail(self, error: Exception, n_questions: int) -> EndpointError | EndpointUnusable:
        """The error for a request with `n_questions`, or for a reply that LiteLLM rejected."""
        _, is_spoilt, what = str(error).partition(_UNEXPECTED)
        if is_spoilt:
            detail = f"an answer has the wrong type: {' '.join(what.split())[:240]}"
            return _spoil(self._secrets.blank(detail))
        fault = self._failure(error)
        if isinstance(fault, EndpointError) and fault.status in _TOO_MUCH and n_questions > 1:
            hint = f"it had {n_questions} questions; try a smaller judges.NAME.window"
            fault.args = (f"{fault} ({hint})",)
        return fault


def _read_answer(name: str, question: Question, answer: Any) -> tuple[str, dict[str, float]]:
    """The label of an answer and the probability of each. Raises: EndpointError if it is wrong."""
    if answer is None:
        raise _spoil(f"question {name!r} was refused or not answered", Reason.REFUSED)
    if question.type != answer.type:
        raise _spoil(f"question {name!r} is a {question.type}, its answer a {answer.type}")
    labels = [str(i) for i in range(len(question.criteria))]
    if answer.type == "choice":
        labels = list(question.criteria)
    given = dict(answer.probabilities)
    for label in [*given, *([answer.choice] if answer.type == "choice" else [])]:
        if label not in labels:
            raise _spoil(f"question {name!r}: label {label[:80]!r} was not offered")
    shares = {label: float(given.get(label, 0.0)) for label in labels}
    total = math.fsum(shares.values())
    if not all(0 <= p <= 1 for p in shares.values()) or abs(total - 1) > MAX_SUM_ERROR:
        raise _spoil(f"question {name!r}: probabilities sum to {total:.3f}, wanted 1")
    best = answer.choice if answer.type == "choice" else max(labels, key=shares.__getitem__)
    return best, {label: share / total for label, share in shares.items()}


def _spoil(detail: str, reason: Reason = Reason.UNPARSEABLE) -> EndpointError:
    """An error for a faulty reply that came and was charged: retrying will not help."""
    return EndpointError(detail, retryable=False, reason=reason, billed=0, is_general=False)


def _read_text(message: Any) -> str:
    """The reply, or the thoughts of a model that wrote nothing else."""
    thought = getattr(message, "reasoning_content", None)
    return message.content or (f"{THINK}{thought}" if thought else "")


def import_litellm() -> Any:
    """Import LiteLLM without its output. Raises: InputError if it is not installed."""
    if (loaded := sys.modules.get("litellm")) is not None:
        return loaded  # imported and configured by the calling program
    before = {name: os.environ.get(name) for name in _QUIET}
    os.environ.update(_QUIET)
    try:
        import litellm
    except ModuleNotFoundError as error:
        if error.name != "litellm":
            raise
        raise InputError(
            "litellm is not installed: pip install litellm, or use an OpenAI-compatible endpoint: "
            "openai/NAME with api_base"
        ) from None
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    litellm.suppress_debug_info = True  # otherwise every error prints a banner to stdout
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logging.getLogger(name).handlers.clear()  # some write to stdout; now the root's handle it
    # LiteLLM's worker for callbacks logs a traceback when an event loop ends, even without any.
    logging.getLogger("LiteLLM").addFilter(lambda row: not str(row.msg).startswith("LoggingWorker"))
    return litellm


def _tokens(logprobs: Any) -> list[Token]:
    """The tokens of LiteLLM's log-probabilities; [] if a provider filled the record wrongly."""
    try:
        rows = logprobs.content or ()
        return read_tokens({"content": [row.model_dump(warnings=False) for row in rows]})
    except Exception:  # a judgement is valid without them
        return []


def _after(error: Exception) -> float | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("litellm_response_headers", "headers"):
            headers = getattr(holder, name, None)
            if headers is not None and (wanted := headers.get("retry-after")) is not None:
                return read_seconds(wanted)
    return None


_INCLUDED = ("cl100k_base", "o200k_base")  # in LiteLLM's package


def count_by_litellm(model: str, messages: Sequence[dict[str, str]]) -> tuple[int, str] | None:
    """Count the tokens of a prompt, and name the tokenizer; None if LiteLLM has none for the model.

    Not used: tokenizers that LiteLLM would download (Llama, Cohere, older OpenAI models), and
    OpenAI's, which LiteLLM uses for every unknown model.

    Raises: InputError if LiteLLM is not installed.
    """
    litellm = import_litellm()
    import tiktoken
    from litellm.utils import uses_anthropic_tokenizer

    name = model.rpartition("/")[2]
    if uses_anthropic_tokenizer(name):
        how = "Anthropic's tokenizer"
    else:
        try:
            how = tiktoken.encoding_name_for_model(name)
        except KeyError:
            return None
        if how not in _INCLUDED:
            return None
    return litellm.token_counter(model=name, messages=list(messages)), f"LiteLLM, {how}"
