"""What a command will ask, found by running it without a model and measuring each prompt."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ...backends.budget import Budget
from ...backends.config import ModelConfig
from ...backends.gateway import Reply
from ...backends.lexical import LexicalBackend
from ...backends.prompt import Prompt
from ...judges.base import Judge
from ..config.names import JudgeName
from ..config.sections import Config
from ..config.steps import AnyStep, CutStep, RankLlmStep
from .estimates import Asked, Estimate, estimated
from .panel import Panel

ASSUMED = (
    "Assumed, since it is known only later: that models choose as the lexical judge does, which "
    "was run to count the calls.\nWhat is in the cache is not asked again.\n"
)


class Rehearsal(Panel):
    """Judges without a model, which note how many tokens each prompt and reply would have."""

    def __init__(self, config: Config) -> None:
        super().__init__(config, cache=None, budget=Budget())
        self.asked: dict[JudgeName, Asked] = {}

    def _built(self, name: JudgeName) -> Judge:
        judge = super()._built(name)
        judge.backend = _Measuring(self.asked.setdefault(name, Asked()))
        return judge


def rehearse(config: Config, work: Callable[[Config, Panel], Any]) -> list[Estimate]:
    """What `work` will ask under a config, as if nothing were in the cache or a journal.

    It is run whole, with the lexical judge in every place, into a folder that does not stay; so
    calls that depend on what a model says are those that the lexical judge leads to.

    Args:
        work: takes a config and judges that are open already.

    Raises: what the work raises.
    """
    with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as folder:
        alone = without_models(config, Path(folder) / "out")
        panel = Rehearsal(alone)
        work(alone, panel)
    return [estimated(config, name, asked) for name, asked in panel.asked.items()]


def without_models(config: Config, out: Path) -> Config:
    """The config with the lexical judge in every place, fitted to nothing, and without limits."""
    lexical = ModelConfig(model="lexical")
    judges = {n: judge.model_copy(update={"state": None}) for n, judge in config.judges.items()}
    models = dict.fromkeys(("default", *config.models), lexical)
    limits = dict.fromkeys(("max_cost", "max_calls", "max_tokens"))
    alone = {"out": out, "executor": "local", "offline": False, **limits}
    run = config.run.model_copy(update=alone)
    lexical_only = config.model_copy(update={"models": models, "judges": judges, "run": run})
    return lexical_only.with_steps(_without_rankllm)


def _without_rankllm(steps: Sequence[AnyStep]) -> tuple[AnyStep, ...]:
    """The steps, those of RankLLM, which asks by itself, leaving the order as it is."""
    return tuple(
        CutStep(step="cut", hits=step.hits) if isinstance(step, RankLlmStep) else step
        for step in steps
    )


class _Measuring(LexicalBackend):
    def __init__(self, asked: Asked) -> None:
        super().__init__(ModelConfig(model="lexical"))
        self._asked = asked

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        reply = await super().ask(prompt, inputs, replicate)
        self._asked.add(prompt, inputs, reply.values)
        return reply
