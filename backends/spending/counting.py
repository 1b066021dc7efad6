"""Tokens of chat messages by a model's own tokenizer, where LiteLLM brings it along."""

from __future__ import annotations

from collections.abc import Sequence

from ..litellm_models import import_litellm

_INCLUDED = ("cl100k_base", "o200k_base")  # in LiteLLM's package


def count_by_litellm(model: str, messages: Sequence[dict[str, str]]) -> tuple[int, str] | None:
    """The tokens of a prompt, and what counted them; None: LiteLLM has no tokenizer of the model.

    Tokenizers that it would download (Llama, Cohere, older OpenAI models), and OpenAI's, which it
    takes for every model that it does not know, are not used.

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
