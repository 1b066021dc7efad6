"""Keys of endpoints: check that they are set; keep them out of errors, replies and results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .config import ModelConfig
from .errors import EndpointUnusable

# LiteLLM reads the key from one of these variables, by the provider's name in capitals.
_KEYS: dict[str, tuple[str, ...]] = {
    **{
        name: (f"{name}_API_KEY",)
        for name in (
            *("AI21", "CEREBRAS", "CODESTRAL", "DEEPINFRA", "DEEPSEEK", "GROQ", "MISTRAL"),
            *("MOONSHOT", "NEBIUS", "NOVITA", "NVIDIA_NIM", "OPENAI", "TYPESAFE", "XAI"),
        )
    },
    "ANTHROPIC": (
        *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_IDENTITY_TOKEN"),
        "ANTHROPIC_IDENTITY_TOKEN_FILE",
    ),
    "COHERE": ("COHERE_API_KEY", "CO_API_KEY"),
    "COHERE_CHAT": ("COHERE_API_KEY", "CO_API_KEY"),
    "FIREWORKS_AI": (
        *("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY", "FIREWORKSAI_API_KEY"),
        "FIREWORKS_AI_TOKEN",
    ),
    "GEMINI": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "HUGGINGFACE": ("HUGGINGFACE_API_KEY", "HF_TOKEN"),
    "OPENROUTER": ("OPENROUTER_API_KEY", "OR_API_KEY"),
    "PERPLEXITY": ("PERPLEXITYAI_API_KEY", "PERPLEXITY_API_KEY"),
    "REPLICATE": ("REPLICATE_API_KEY", "REPLICATE_API_TOKEN"),
    "TOGETHER_AI": (
        *("TOGETHERAI_API_KEY", "TOGETHER_API_KEY", "TOGETHER_AI_API_KEY"),
        "TOGETHER_AI_TOKEN",
    ),
}

SHORTEST = 8  # characters; a shorter key ("test", "none") occurs in unrelated texts
_BLANK = "***"


class Secrets:
    """Finds keys in text, plain or with JSON's escapes (`\\/`, `\\u006b`, also repeated).

    Keys of fewer than SHORTEST characters are not searched: blanking them would damage
    unrelated texts.
    """

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = sorted({key for key in keys if len(key) >= SHORTEST}, key=len, reverse=True)
        self._any = re.compile("|".join(map(_pattern, self._keys))) if self._keys else None

    def show_in(self, text: str) -> bool:
        """Whether the text holds a key."""
        if self._any is None:
            return False
        if any(key in text for key in self._keys):
            return True
        return "\\" in text and self._any.search(text) is not None

    def blank(self, text: str) -> str:
        """The text without the keys. Cut it afterwards: half a key would not be found."""
        if self._any is None or not self.show_in(text):
            return text
        return self._any.sub(_BLANK, text)


def check_keys(models: Iterable[ModelConfig]) -> None:
    """Raise EndpointUnusable if models lack a key, with the name of each model.

    Providers outside the table are not checked.
    """
    if missing := list(dict.fromkeys(line for model in models if (line := _missing(model)))):
        raise EndpointUnusable("\n".join(missing))


def _missing(model: ModelConfig) -> str:
    """The missing setting of a model, in one line; "" if none is known to be missing."""
    is_azure = model.uses_litellm and model.provider == "AZURE"
    if model.way != "http" and not model.uses_litellm:
        return ""
    if is_azure and not model.api_base:
        return f"model {model.model!r}: set the model's api_base, the URL of your Azure resource"
    names: tuple[str, ...] = ()
    if model.api_key_env:
        names = (model.api_key_env,)
    elif is_azure:
        return f"model {model.model!r}: set the model's api_key_env, the variable that has its key"
    elif not model.api_base:
        names = ("OPENAI_API_KEY",) if model.way == "http" else _KEYS.get(model.provider, ())
    if not names or any(os.environ.get(name, "").strip() for name in names):
        return ""
    others = f" (nor {', '.join(names[1:])})" if names[1:] else ""
    what = f"model {model.model!r}: environment variable {names[0]} is not set{others}"
    return f"{what}. To use another variable, set the model's api_key_env"


def find_secrets(config: ModelConfig) -> Secrets:
    """The keys that are sent to a model's endpoint; for LiteLLM, the provider's variable too."""
    keys = []
    try:
        if (key := config.api_key()) is not None:
            keys.append(key.get_secret_value())
    except KeyError:
        pass  # not set: nothing to hide
    if config.uses_litellm:
        names = _KEYS.get(config.provider, (f"{config.provider}_API_KEY",))
        keys += (os.environ.get(name, "").strip() for name in names)
    return Secrets(keys)


def _pattern(key: str) -> str:
    """Matches the key with backslashes before each character; their number is bounded for speed."""
    parts = []
    for char in re.sub(r"\\+", r"\\", key):
        code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(char):04x}")
        plain = r"\\{1,64}" if char == "\\" else rf"\\{{0,8}}{re.escape(char)}"
        parts.append(rf"(?:{plain}|\\{{1,8}}u{code})")
    return "".join(parts)
