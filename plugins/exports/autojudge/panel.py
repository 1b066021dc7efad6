"""The judges of an export: they answer from stored replies, by the names of endpoints alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ....backends.budget import Budget
from ....backends.cache import ReplyCache
from ....backends.config import ModelConfig
from ....backends.gateway import Backend, Gateway
from ....backends.offline import ReplayGateway, StoredReplies
from ....programs.config.sections import Config
from ....programs.engine.panel import Panel

# RFC 6761: no name that ends so has an address, so that whoever forgets --offline asks nobody.
NOWHERE = "http://endpoint.invalid/v1"
_WITHOUT_ENDPOINT = ("lexical", "recorded")


class EarlierRun(NamedTuple):
    """The models that a run asked, by alias, and where their replies are."""

    models: Mapping[str, ModelConfig]
    replies: ReplyCache | None


class ReplayPanel(Panel):
    """Answers from `stored`, replies by alias.

    Args:
        earlier: what the run asked; given, the replies that are used are put into `stored`.
    """

    def __init__(
        self,
        config: Config,
        budget: Budget,
        stored: Mapping[str, StoredReplies],
        earlier: EarlierRun | None = None,
    ) -> None:
        super().__init__(config, cache=None, budget=budget)
        self._stored, self._earlier, self._whole = stored, earlier, budget

    def _opened(self, alias: str, model: ModelConfig) -> Backend:
        if model.way in _WITHOUT_ENDPOINT:
            return super()._opened(alias, model)
        if self._earlier is None or self._earlier.replies is None:
            return Gateway(model, None, cache=self._stored[alias], budget=self._whole)
        then, replies = self._earlier.models[alias], self._earlier.replies
        return ReplayGateway(
            model, then, earlier=replies, stored=self._stored[alias], budget=self._whole
        )


def without_address(alias: str, model: ModelConfig) -> ModelConfig:
    """An entry of `models:` whose endpoint is an alias: no URL, no name of a key's variable."""
    if model.way in _WITHOUT_ENDPOINT:
        return model
    address = None if model.way == "vllm" else NOWHERE
    after = {"endpoint": alias, "api_base": address, "api_key_env": None}
    return model.model_copy(update=after)


def with_endpoints(config: Config) -> list[str]:
    """The aliases of the entries that are asked over an endpoint."""
    return [a for a, model in config.models.items() if model.way not in _WITHOUT_ENDPOINT]
