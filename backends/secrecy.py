"""The key of an endpoint: whether it is set, and kept out of error texts, replies and results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .config import ModelConfig
from .errors import EndpointUnusable

# Variables of which LiteLLM reads one for the key, by the provider's name in capitals.
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

SHORTEST = 8  # characters; a shorter key ("test", "none") is found in texts that do not hold it
_BLANK = "***"


class Secrets:
    """Finds keys in text, as they are or with JSON's escapes (`\\/`, `\\u006b`, repeated too).

    Keys of fewer than SHORTEST characters are not looked for: blanking them would spoil texts
    that have nothing to do with a key.
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
        """The text without the keys. Cut it afterwards: half a key is not found."""
        if self._any is None or not self.show_in(text):
            return text
        return self._any.sub(_BLANK, text)


def check_keys(models: Iterable[ModelConfig]) -> None:
    """Raise EndpointUnusable if models cannot be asked for lack of a key, naming each.

    Nothing is known of the keys of providers that are not in the table.
    """
    if missing := list(dict.fromkeys(line for model in models if (line := _missing(model)))):
        raise EndpointUnusable("\n".join(missing))


def _missing(model: ModelConfig) -> str:
    """What a model lacks, in a line; "" if nothing is known to be missing."""
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
    return f"{what}; the model's api_key_env can name another"


def find_secrets(config: ModelConfig) -> Secrets:
    """The keys that go to a model's endpoint; for LiteLLM the provider's own variable, too."""
    keys = []
    try:
        if (key := config.api_key()) is not None:
            keys.append(key.get_secret_value())
    except KeyError:
        pass  # not set, so there is nothing to hide
    if config.uses_litellm:
        names = _KEYS.get(config.provider, (f"{config.provider}_API_KEY",))
        keys += (os.environ.get(name, "").strip() for name in names)
    return Secrets(keys)


def _pattern(key: str) -> str:
    """Each character may stand behind backslashes; their number is bounded for speed's sake."""
    parts = []
    for char in re.sub(r"\\+", r"\\", key):
        code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(char):04x}")
        plain = r"\\{1,64}" if char == "\\" else rf"\\{{0,8}}{re.escape(char)}"
        parts.append(rf"(?:{plain}|\\{{1,8}}u{code})")
    return "".join(parts)
