"""Which family a model is of: models of one family err alike, and favour each other's texts."""

from __future__ import annotations

import re
from types import MappingProxyType

# By what a name, or a fine-tune's, holds; the first that is there. What models were made of comes
# before who sells them: a distilled Qwen is a Qwen (its card).
_KNOWN = MappingProxyType(
    {
        "lexical": "lexical",
        "qwen": "Qwen",
        "llama": "Llama",
        "minicheck": "InternLM",  # bespokelabs/Bespoke-MiniCheck-7B, its card
        "prometheus": "Mistral",  # prometheus-eval/prometheus-7b-v2.0, arXiv:2405.01535
        "flow-judge": "Phi",  # flowaicom/Flow-Judge-v0.1, its card
        **dict.fromkeys(("mistral", "mixtral", "ministral", "magistral"), "Mistral"),
        **dict.fromkeys(("gemini", "gemma"), "Gemini"),
        "claude": "Claude",
        "deepseek": "DeepSeek",
        "phi-": "Phi",
        "command": "Command",
        "glm": "GLM",
        "grok": "Grok",
        "gpt": "GPT",
    }
)
_OF_OPENAI = re.compile(r"o\d")


def family(model: str) -> str:
    """The family of a model by its name; of one that is not known, the first word of its name.

    >>> family("hosted_vllm/Qwen/Qwen3-8B"), family("openai/o3-mini"), family("openai/gpt-oss-20b")
    ('Qwen', 'GPT', 'GPT')
    >>> family("hosted_vllm/acme/Anvil-70B-instruct")
    'anvil'
    """
    name = model.rsplit("/", 1)[-1].lower()
    if _OF_OPENAI.match(name):
        return "GPT"
    listed = next((family_name for part, family_name in _KNOWN.items() if part in name), None)
    return listed or re.split(r"[-_.:\d]", name, maxsplit=1)[0] or name
