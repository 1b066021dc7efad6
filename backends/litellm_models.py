"""Any provider that LiteLLM reaches and that has no OpenAI-compatible endpoint of its own."""

from __future__ import annotations

import os
from typing import Any

import orjson

from .config import ModelConfig
from .errors import EndpointError, EndpointUnusable
from .gateway import Completion

# Read by LiteLLM at import: no price table from the network, no `.env` of the working directory.
_QUIET = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MODE": "PRODUCTION"}


class LiteLLMTransport:
    """Calls `litellm.acompletion` with LiteLLM's own retries and cache off."""

    def __init__(self, config: ModelConfig) -> None:
        provider = config.model.split("/")[0].upper().replace("-", "_")
        ambient = [f"{provider}_{end}" for end in ("API_BASE", "BASE_URL", "API_URL")]
        if config.api_base is None and (found := [name for name in ambient if name in os.environ]):
            raise EndpointUnusable(
                f"{found[0]} is set in the environment and would redirect {config.model!r}; "
                "name the endpoint in the config (models.*.api_base) or unset the variable"
            )
        try:
            key = config.api_key()
        except KeyError as missing:
            raise EndpointUnusable(
                f"model {config.model!r}: environment variable {missing.args[0]} is not set"
            ) from None
        self._extra: dict[str, Any] = {
            "timeout": config.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
        }
        if config.api_base:
            self._extra["api_base"] = config.base_url
        if key:
            self._extra["api_key"] = key.get_secret_value()
        self._secret = key.get_secret_value() if key else ""
        self._litellm = _import()

    async def send(self, body: bytes) -> Completion:
        """One request. Raises: EndpointError, EndpointUnusable."""
        errors = self._litellm.exceptions
        try:
            reply = await self._litellm.acompletion(**orjson.loads(body), **self._extra)
        except (
            errors.AuthenticationError,
            errors.PermissionDeniedError,
            errors.NotFoundError,
        ) as e:
            raise EndpointUnusable(self._clean(e)) from None
        except errors.UnsupportedParamsError as e:
            hint = "Set models.*.schema to json_object or none, models.*.temperature to null"
            raise EndpointUnusable(f"{self._clean(e)}\n{hint}") from None
        except errors.BadRequestError as e:
            raise EndpointError(self._clean(e), retryable=False) from None
        except Exception as e:  # LiteLLM raises its providers' errors too; none may end a run
            raise EndpointError(self._clean(e), retryable=True, retry_after_s=_after(e)) from None
        choice = reply.choices[0]
        usage = getattr(reply, "usage", None)
        details = getattr(usage, "prompt_tokens_details", None)
        return Completion(
            choice.message.content or "",
            choice.finish_reason or "",
            getattr(choice.message, "refusal", None) or "",
            reply.model or "",
            getattr(usage, "prompt_tokens", 0) or 0,
            getattr(details, "cached_tokens", 0) or 0,
            getattr(usage, "completion_tokens", 0) or 0,
        )

    async def aclose(self) -> None:
        """Close the clients that LiteLLM keeps."""
        close = getattr(self._litellm, "close_litellm_async_clients", None)
        if close is not None:
            await close()

    def _clean(self, error: Exception) -> str:
        text = f"{type(error).__name__}: {error}".split("\n")[0][:300]
        return text.replace(self._secret, "***") if self._secret else text


def _import() -> Any:
    before = {name: os.environ.get(name) for name in _QUIET}
    os.environ.update(_QUIET)
    try:
        import litellm
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
    return litellm


def _after(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return float(headers["retry-after"])
    except (LookupError, TypeError, ValueError):
        return None
