"""Three questions in memory, a model on 127.0.0.1 for them, and nothing that calls out."""

import os
from pathlib import Path

import pytest
from mock_server import MockServer

import nuggetjudge as nj

os.environ["DO_NOT_TRACK"] = "1"

ROOT = Path(__file__).resolve().parents[3]
KEY = "sk-tide-7f3a9c55e1"
PASSAGES = ["The moon pulls the sea.", "The sun pulls it too.", "Bays funnel water."]
SAMPLES = [
    {"id": f"t{i}", "question": f"why, {i}?", "answer": f"{text[:-1]} [1].", "contexts": [text]}
    for i, text in enumerate(PASSAGES)
]


@pytest.fixture
def evaluated(tmp_path, monkeypatch):
    """`evaluated(server, program, samples=, **settings)`: a result, with a cache of its own."""
    monkeypatch.setenv("TIDE_KEY", KEY)

    def go(server: MockServer, program="support", samples=SAMPLES, **settings):
        entry = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        model = {**entry, "api_key_env": "TIDE_KEY", **settings.pop("model", {})}
        known = {"out": tmp_path / "out", "cache": tmp_path / "cache"}
        return nj.evaluate(samples, program, model=model, **known | settings)

    return go
