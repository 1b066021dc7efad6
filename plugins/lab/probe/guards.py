"""The judge without its guards against prompt injection; only to measure what the guards change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....backends.adapter import BINDING, WARNING, read_message_data
from ....backends.gateway import Backend, Reply
from ....backends.prompt import Prompt
from ....judges import ItemJudge
from .conditions import Condition, with_schema, without_schema
from .probing import Skipped, get_backend
from .variants import without_evidence


def remove_guards(judge: ItemJudge) -> tuple[list[Condition], list[Skipped]]:
    """Make the judge without its fence, reply schema or quotes, and without all of them.

    A guard that this judge or its model lacks is skipped; "all" needs two guards. A judge with a
    custom prompt has no guards.
    """
    if judge.own_words == "prompt":
        return [], [Skipped(name, "a custom prompt has none") for name in ("fence", "schema")]
    if get_backend(judge).config.way == "decision":
        why_not = "a decision model reads texts as fields and replies only with labels"
        return [], [Skipped(name, why_not) for name in ("fence", "schema")]
    conditions = [
        Condition("fence", "inputs as plain text, without JSON or a fence", remove_fence(judge))
    ]
    skipped: list[Skipped] = []
    bare = judge
    if why_not := without_schema(judge):
        skipped.append(Skipped("schema", why_not))
    elif get_backend(judge).config.reply_schema == "none":
        skipped.append(Skipped("schema", "the judge has no reply schema"))
    else:
        bare = with_schema(judge, "none")
        conditions.append(Condition("schema", "no reply schema is sent", bare))
    if not judge.evidence:
        skipped.append(Skipped("quotes", f"the {judge.name} judge does not quote"))
    else:
        bare = without_evidence(bare)
        conditions.append(
            Condition("quotes", "quotes are neither requested nor checked", without_evidence(judge))
        )
    if len(conditions) > 1:
        conditions.append(Condition("all", "without all guards", remove_fence(bare)))
    return conditions, skipped


def remove_fence(judge: ItemJudge) -> ItemJudge:
    """A copy of the judge with its inputs in the message as plain text."""
    changed: ItemJudge = judge.deepcopy()
    changed.backend = _Unfenced(get_backend(judge))
    return changed


class PlainPrompt(Prompt):
    """A prompt with its inputs as plain text: no JSON, no fence, no note that they are data."""

    def __init__(self, guarded: Prompt) -> None:
        self.__dict__.update(vars(guarded))
        self.fixed = [{**message, "content": _plain(message)} for message in guarded.fixed]

    def user(self, inputs: Mapping[str, Any]) -> str:
        """The last message: each input under its name, in the order of the signature."""
        return as_text({name: inputs[name] for name in self.input_names})


def as_text(inputs: Mapping[str, Any]) -> str:
    """Format inputs as a person would paste them.

    >>> as_text({"question": "why?", "nuggets": {"1": "so", "2": "thus"}})
    'question:\\nwhy?\\n\\nnuggets:\\n1: so\\n2: thus'
    """
    text = "\n\n".join(f"{name}:\n{_lines(value)}" for name, value in inputs.items())
    return text.encode("utf-8", "replace").decode()  # half a surrogate pair cannot be encoded


def _lines(value: Any) -> str:
    if isinstance(value, Mapping):
        return "\n".join(f"{key}: {text}" for key, text in value.items())
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _plain(message: Mapping[str, str]) -> str:
    content = message["content"]
    if message["role"] == "user":  # the reply of a demonstration
        return as_text(read_message_data(content))
    return content.replace(f"{BINDING}\n", "").replace(WARNING, "Inputs:")


class _Unfenced:
    """A backend that asks another backend with plain prompts."""

    def __init__(self, guarded: Backend) -> None:
        self._guarded = guarded
        self.config, self.budget = guarded.config, guarded.budget
        self._prompts: dict[Prompt, PlainPrompt] = {}

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask."""
        prompt = prompt.of(inputs)
        if prompt not in self._prompts:
            self._prompts[prompt] = PlainPrompt(prompt)
        return await self._guarded.ask(self._prompts[prompt], inputs, replicate)

    def copy_with(self, **settings: Any) -> Backend:
        """See Backend.copy_with."""
        return _Unfenced(self._guarded.copy_with(**settings))

    async def aclose(self) -> None:
        """See Backend.aclose."""
        await self._guarded.aclose()
