"""What pipelines will ask, found by running them without a model and measuring each prompt."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from ...backends.budget import Budget
from ...backends.config import ModelConfig
from ...backends.gateway import Reply
from ...backends.lexical import LexicalBackend
from ...backends.prompt import Prompt
from ...judges.base import Judge
from ..config.sections import Config, JudgeName
from ..config.steps import CutStep, RankLlmStep, Step
from ..engine.estimates import LABEL_TOKENS, QUESTION_TOKENS, Asked, Estimate, estimated
from ..engine.panel import Panel
from .retrieve import pipelines_of, retrieve

J = TypeVar("J", bound=Judge)
ASSUMED = (
    "Assumed, since it is known only later: that models choose as the lexical judge does, which "
    "was run to count the calls.\nWhat is in the cache is not asked again.\n"
)
NOT_COUNTED = "Not counted: the calls of rankllm, which asks by itself.\n"
# Of a reply of these judges: 20 numbers; one; a rating; four sub-questions.
_REPLIES: dict[JudgeName, int] = {
    "listwise": 80,
    "setwise": LABEL_TOKENS,
    "answerability": LABEL_TOKENS,
    "question_decomposer": 4 * QUESTION_TOKENS,
}


class Rehearsal(Panel):
    """Judges without a model, which note how many tokens each prompt would have."""

    def __init__(self, config: Config) -> None:
        super().__init__(without_models(config), cache=None, budget=Budget())
        self.asked: dict[JudgeName, Asked] = {}

    def _judge(self, name: JudgeName, kind: type[J], **options: Any) -> J:
        judge = super()._judge(name, kind, **options)
        if name not in self.asked:
            judge.backend = _Measuring(self.asked.setdefault(name, Asked()))
        return judge


def without_models(config: Config) -> Config:
    """The config with the lexical judge in every place, fitted to nothing."""
    lexical = ModelConfig(model="lexical")
    judges = {n: judge.model_copy(update={"state": None}) for n, judge in config.judges.items()}
    models = dict.fromkeys(("default", *config.models), lexical)
    return config.model_copy(update={"models": models, "judges": judges})


def plan_retrieve(config: Config, out: Path | None = None) -> list[Estimate]:
    """What the pipelines of a config will ask of models, as if nothing were in the cache.

    Everything but the models runs, first stages included. RankLLM, which asks by itself, is left
    out and not counted: its step leaves the order as it is; see `asks_by_itself`.

    Args:
        out: a folder for the runs that come of it; None: they are not kept.
    """
    if out is None:
        with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
            return plan_retrieve(config, Path(work))
    pipelines = {name: _rehearsed(steps) for name, steps in pipelines_of(config).items()}
    config = config.here().model_copy(update={"retrieve": (), "pipelines": pipelines})
    panel = Rehearsal(config)
    retrieve(without_models(config), out, quiet=True, panel=panel)
    return [estimated(config, name, asked, _REPLIES[name]) for name, asked in panel.asked.items()]


def asks_by_itself(config: Config) -> bool:
    """Whether a step asks a model past the judges, so that a rehearsal cannot count its calls."""
    pipelines = pipelines_of(config).values()
    return any(isinstance(step, RankLlmStep) for steps in pipelines for step in steps)


def _rehearsed(steps: Sequence[Step]) -> tuple[Step, ...]:
    return tuple(
        CutStep(step="cut", hits=step.hits) if isinstance(step, RankLlmStep) else step
        for step in steps
    )


class _Measuring(LexicalBackend):
    def __init__(self, asked: Asked) -> None:
        super().__init__(ModelConfig(model="lexical"))
        self._asked = asked

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        self._asked.add(prompt, inputs)
        return await super().ask(prompt, inputs, replicate)
