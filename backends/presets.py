"""Open models by short names (`preset:NAME`): settings, licence and family of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..records.reading.problems import did_you_mean

SERVED = "http://127.0.0.1:8000/v1"  # the default address of vLLM's server
_APACHE, _NOT_COMMERCIAL, _LLAMA_3_1 = "Apache-2.0", "CC-BY-NC-4.0", "Llama 3.1 Community"
_NOT_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


@dataclass(frozen=True)
class Preset:
    """One model, and the entry of `models:` that its name expands to.

    Attributes:
        model: its name at its makers and in vLLM's server.
        licence: of the weights; "": unknown.
        context_length: tokens of prompt and reply without context extension; None: unknown.
        source: of licence and length. used: its uses as a judge, with the source.
        note: further advice on its settings.
        own_prompt: the model is trained for one prompt, which `judges.NAME.prompt` must give.
        settings: further lines of the entry.
    """

    model: str
    licence: str
    context_length: int | None
    source: str
    used: str = ""
    note: str = ""
    own_prompt: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        """The lines of a `models:` entry, without the address."""
        length = {} if self.context_length is None else {"context_length": self.context_length}
        return {"model": f"hosted_vllm/{self.model}", **length, **self.settings}


def _card(model: str) -> str:
    return f"https://huggingface.co/{model}"


def _general(
    model: str, licence: str, length: int, used: str = "", note: str = "", **settings: Any
) -> Preset:
    """A model that follows instructions and schemas."""
    note = note or "add logprobs: true for probabilities of labels"
    settings = {"max_tokens": 4096, **settings}
    return Preset(model, licence, length, _card(model), used, note, settings=settings)


def _make_trained_preset(
    model: str, licence: str, length: int | None, used: str, max_tokens: int, **settings: Any
) -> Preset:
    """A model trained as a judge, which replies in the form of its own prompt."""
    note = "use the prompt it was trained on: judges.NAME.prompt (docs/instruments.md)"
    settings = {"max_tokens": max_tokens, "schema": "none", **settings}
    return Preset(model, licence, length, _card(model), used, note, True, settings)


_NO_THOUGHT = "thinking is off; with it, raise max_tokens"
_THINKS = "thinks before it answers; thoughts count as reply tokens"
_LLAMA = "meta-llama/Llama-3"
PRESETS: dict[str, Preset] = {
    "qwen3-8b": _general(
        "Qwen/Qwen3-8B", _APACHE, 32_768, note=_NO_THOUGHT, extra_body=_NOT_THINKING
    ),
    "qwen3-32b": _general(
        "Qwen/Qwen3-32B", _APACHE, 32_768, note=_NO_THOUGHT, extra_body=_NOT_THINKING
    ),
    "llama-3.1-8b": _general(f"{_LLAMA}.1-8B-Instruct", _LLAMA_3_1, 131_072),
    "llama-3.1-70b": _general(
        f"{_LLAMA}.1-70B-Instruct", _LLAMA_3_1, 131_072, "ratings of CRUX (2506.20051)"
    ),
    "llama-3.1-405b": _general(
        f"{_LLAMA}.1-405B-Instruct", _LLAMA_3_1, 131_072, "second opinion on support (2504.15205)"
    ),
    "llama-3.3-70b": _general(f"{_LLAMA}.3-70B-Instruct", "Llama 3.3 Community", 131_072),
    "mistral-small-3.2": _general(
        "mistralai/Mistral-Small-3.2-24B-Instruct-2506", _APACHE, 131_072
    ),
    "gpt-oss-20b": _general(
        "openai/gpt-oss-20b", _APACHE, 131_072, note=_THINKS, max_tokens=16_384
    ),
    "gpt-oss-120b": _general(
        "openai/gpt-oss-120b", _APACHE, 131_072, note=_THINKS, max_tokens=16_384
    ),
    "minicheck-7b": _make_trained_preset(
        "bespokelabs/Bespoke-MiniCheck-7B", _NOT_COMMERCIAL, 32_768,
        "a claim by a document, yes or no (2404.10774)", 16, logprobs=True,
    ),
    # One version of its card states the licence of Llama 3, another CC-BY-NC-4.0.
    "lynx-8b": _make_trained_preset(
        "PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct", "", 8_000,
        "an answer by a document, pass or fail (2407.08488)", 2048,
    ),
    "prometheus-2-7b": _make_trained_preset(
        "prometheus-eval/prometheus-7b-v2.0", _APACHE, None,
        "an answer on a described scale, 1 to 5 (2405.01535)", 1024,
    ),
    "flow-judge": _make_trained_preset(
        "flowaicom/Flow-Judge-v0.1", _APACHE, None,
        "an answer on a scale of 2, 3 or 5 grades (its card)", 1024,
    ),
}  # fmt: skip

PREFIX = "preset:"


def expand_preset(entry: Any) -> Any:
    """Replace the preset in an entry of `models:` by its settings; return other entries unchanged.

    Raises: ValueError for an unknown preset.

    >>> expand_preset({"model": "preset:qwen3-8b", "max_tokens": 512})["max_tokens"]
    512
    """
    named = entry.get("model") if isinstance(entry, Mapping) else None
    if not isinstance(named, str) or not named.startswith(PREFIX):
        return entry
    preset = get_preset(named.removeprefix(PREFIX)).entry()
    return {**preset, **entry, "model": preset["model"]}


def get_preset(name: str) -> Preset:
    """Get a preset by name. Raises: ValueError with a suggestion."""
    if name not in PRESETS:
        meant = did_you_mean(name, PRESETS)
        raise ValueError(f"no preset {name!r}{meant or '; `judge models` lists them all'}")
    return PRESETS[name]
