"""A gateway that answers from kept replies, and files each under the name its endpoint has now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..budget import Budget
from ..cache import ReplyCache
from ..config import ModelConfig
from ..gateway import Gateway, Reply
from ..prompt import Prompt
from .replies import StoredReplies


class ReplayGateway(Gateway):
    """Asks nobody. What the endpoint once answered is found by the entry of then, whose key has its
    address, and held by the entry of now, whose key has another name for it.

    Args:
        config: the entry as it is now. then: the entry that the replies were asked by.
        kept: where they are. held: where those that are used go.
    """

    def __init__(
        self,
        config: ModelConfig,
        then: ModelConfig,
        *,
        earlier: ReplyCache,
        stored: StoredReplies,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(config, None, cache=stored, budget=budget)
        self._then = Gateway(then, None)
        self._earlier, self._stored = earlier, stored

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway.ask."""
        exact = prompt.of(inputs)
        user = exact.escaped(inputs)
        line = self._earlier.get(self._then._wire(exact, inputs).key(user, replicate))
        if line is not None:
            key = self._wire(exact, inputs).key(user, replicate)
            self._stored.put(key, line, self.config.model)
        return await super().ask(prompt, inputs, replicate)

    def varied(self, **settings: Any) -> ReplayGateway:
        """See Gateway.varied."""
        twin = super().varied(**settings)
        assert isinstance(twin, ReplayGateway)
        twin._then = self._then.varied(**settings)
        return twin
