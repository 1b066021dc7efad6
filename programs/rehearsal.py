"""What pipelines will ask, found by running them without a model and measuring each prompt."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from ..backends.budget import Budget
from ..backends.config import ModelConfig
from ..backends.gateway import Reply
from ..backends.lexical import LexicalBackend
from ..backends.prompt import Prompt
from ..judges.base import Judge
from .config import Config, JudgeName
from .estimates import LABEL_TOKENS, QUESTION_TOKENS, Estimate, estimated, prompt_tokens
from .panel import Panel
from .retrieve import retrieve

J = TypeVar("J", bound=Judge)
ASSUMED = (
    "Assumed, since it is known only later: that models choose as the lexical judge does, which "
    "was run to count the calls.\nWhat is in the cache is not asked again.\n"
)
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
        self.sizes: dict[JudgeName, list[int]] = {}

    def _judge(self, name: JudgeName, kind: type[J], **options: Any) -> J:
        judge = super()._judge(name, kind, **options)
        if name not in self.sizes:
            judge.backend = _Measuring(self.sizes.setdefault(name, []))
        return judge


def without_models(config: Config) -> Config:
    """The config with the lexical judge in every place, fitted to nothing."""
    lexical = ModelConfig(model="lexical")
    judges = {n: judge.model_copy(update={"state": None}) for n, judge in config.judges.items()}
    models = dict.fromkeys(("default", *config.models), lexical)
    return config.model_copy(update={"models": models, "judges": judges})


def plan_retrieve(config: Config, out: Path | None = None) -> list[Estimate]:
    """What the pipelines of a config will ask of models, as if nothing were in the cache.

    Everything but the models runs, first stages included. RankLLM is not counted.

    Args:
        out: a folder for the runs that come of it; None: they are not kept.
    """
    if out is None:
        with tempfile.TemporaryDirectory(prefix="nuggetjudge-") as work:
            return plan_retrieve(config, Path(work))
    panel = Rehearsal(config)
    retrieve(without_models(config), out, quiet=True, panel=panel)
    return [estimated(config, name, sizes, _REPLIES[name]) for name, sizes in panel.sizes.items()]


class _Measuring(LexicalBackend):
    def __init__(self, sizes: list[int]) -> None:
        super().__init__(ModelConfig(model="lexical"))
        self._sizes = sizes

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        self._sizes.append(prompt_tokens(prompt, inputs))
        return await super().ask(prompt, inputs, replicate)
