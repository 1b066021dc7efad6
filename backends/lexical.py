"""No model at all: each question's lexical twin answers by counting words."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from ..records.judgements import Provenance, Reason
from .budget import Budget
from .config import ModelConfig
from .errors import JudgeError
from .gateway import Reply
from .prompt import Prompt
from .replies.recorded import record_answer

WHERE = Provenance(model="lexical", finish_reason="stop")


class LexicalBackend:
    """Answers with `prompt.twin(inputs)`; costs nothing and is never wrong twice differently."""

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        self.config = config
        self.budget = budget or Budget()

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: JudgeError(abstained) for a question without a twin."""
        if prompt.twin is None:
            raise JudgeError(Reason.ABSTAINED, f"{prompt.name} has no lexical twin; name a model")
        record_answer(prompt, inputs, replicate, WHERE)
        scores = prompt.scorer(inputs) if prompt.scorer is not None else {}
        return Reply(prompt.twin(inputs), WHERE, scores)

    def varied(self, **settings: Any) -> Self:
        """See Backend.varied; it answers as before."""
        twin = copy.copy(self)
        twin.config = self.config.model_copy(update=settings)
        return twin

    async def aclose(self) -> None:
        """Nothing is open."""
