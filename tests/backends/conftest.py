"""Gateways to a mock server, with short backoffs, and the prompts of the judges."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mock_server import MockServer

from nuggetjudge.backends import gateway as gateway_module
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.gateway import Gateway, Reply
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges import NuggetAssigner, RelevanceJudge, SupportJudge

Open = Callable[..., Gateway]
Ask = Callable[..., Reply]


@pytest.fixture(autouse=True)
def short_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_module, "FIRST_BACKOFF_S", 0.01)
    monkeypatch.setattr(gateway_module, "LONGEST_BACKOFF_S", 0.05)


@pytest.fixture
def cache(tmp_path: Any) -> Iterator[ReplyCache]:
    """An empty reply cache."""
    store = ReplyCache(tmp_path / "replies")
    yield store
    store.close()


@pytest.fixture
def open_gateway(model_server: MockServer) -> Iterator[Open]:
    """Opens a gateway to the mock server, or to the one given; settings are a ModelConfig's."""
    opened: list[Gateway] = []

    def make(
        server: MockServer | None = None,
        *,
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        offline: bool = False,
        **settings: Any,
    ) -> Gateway:
        settings = {
            "model": "openai/mock",
            "api_base": (server or model_server).base_url,
            "timeout_s": 5.0,
        } | settings
        backend = open_backend(ModelConfig(**settings), cache=cache, budget=budget, offline=offline)
        assert isinstance(backend, Gateway)
        opened.append(backend)
        return backend

    yield make
    for backend in opened:
        run_sync(backend.aclose())


@pytest.fixture(scope="session")
def support() -> Prompt:
    """Asks for one label."""
    return SupportJudge(model="lexical").prompt("judge")


@pytest.fixture(scope="session")
def relevance() -> Prompt:
    """Asks for a whole number from 0 to 3."""
    return RelevanceJudge(model="lexical").prompt("judge")


@pytest.fixture(scope="session")
def assign() -> Prompt:
    """Asks for one label per nugget."""
    return NuggetAssigner(model="lexical").prompt("assign")


@pytest.fixture
def ask(support: Prompt) -> Ask:
    """Asks a gateway about one sentence; another sentence is another question."""

    def one(gateway: Gateway, sentence: str = "It rained.", replicate: int = 0) -> Reply:
        inputs = {"passage": "Rain fell all day.", "sentence": sentence}
        return run_sync(gateway.ask(support, inputs, replicate))

    return one
