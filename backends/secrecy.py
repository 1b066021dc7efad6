"""Keeps an endpoint's key out of error texts, kept replies and results."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from .config import ModelConfig

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


def secrets_of(config: ModelConfig) -> Secrets:
    """The keys that go to a model's endpoint; for LiteLLM the provider's own variable, too."""
    keys = []
    try:
        if (key := config.api_key()) is not None:
            keys.append(key.get_secret_value())
    except KeyError:
        pass  # not set, so there is nothing to hide
    if config.way == "litellm":
        keys.append(os.environ.get(f"{config.provider}_API_KEY", "").strip())
    return Secrets(keys)


def _pattern(key: str) -> str:
    """Each character may stand behind backslashes; their number is bounded for speed's sake."""
    parts = []
    for char in re.sub(r"\\+", r"\\", key):
        code = "".join(f"[{digit}{digit.upper()}]" for digit in f"{ord(char):04x}")
        plain = r"\\{1,64}" if char == "\\" else rf"\\{{0,8}}{re.escape(char)}"
        parts.append(rf"(?:{plain}|\\{{1,8}}u{code})")
    return "".join(parts)
