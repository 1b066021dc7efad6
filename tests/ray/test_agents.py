"""Agents on two Ray workers leave the trace that one process leaves."""

import json

import pytest
import seeking
from mock_server import MockServer

from nuggetjudge.plugins.ray import executor as ray_executor

cloudpickle = pytest.importorskip(
    "ray.cloudpickle", reason="Ray is not installed here (extra: ray)"
)

MAX_BYTES = 12_288  # of an agent's way to a worker with its code and config: no passages


@pytest.mark.parametrize("cached", [True, False])
def test_agents(ray, tmp_path, files_of, monkeypatch, cached):
    seeking.with_seek()
    shipped, pack = [], ray_executor.pack

    def packed(ask, judge_set):
        shipped.append(pack(ask, judge_set))
        return shipped[-1]

    monkeypatch.setattr(ray_executor, "pack", packed)
    outcomes = {}
    with MockServer(brain=seeking.brain, latency_s=0.01) as server:
        for executor in ("local", "ray"):
            out = tmp_path / executor
            given = {"run.cache": tmp_path / f"cache-{executor}" if cached else False}
            given |= {"run.executor": executor, "run.workers": 2}
            seeking.seek(out, server.base_url, **given)
            asked = sorted(json.dumps(request.body["messages"]) for request in server.requests)
            outcomes[executor] = (files_of(out), asked)
            server.clear()
        assert (tmp_path / "ray/journal/replies").is_dir() is not cached
        assert outcomes["ray"] == outcomes["local"]
        assert "trace.jsonl" in outcomes["ray"][0]
        for path in (tmp_path / "ray/journal").glob("seek-*.jsonl"):
            path.unlink()
        (tmp_path / "ray/manifest.json").unlink()
        seeking.seek(tmp_path / "ray", server.base_url, **given)
        kept = [r for r in server.requests if isinstance(seeking.brain(r.body), str)]
    assert files_of(tmp_path / "ray") == outcomes["local"][0]
    assert kept == []  # all but refusals are in the replies that the workers kept
    assert max(map(len, shipped)) <= MAX_BYTES


@pytest.fixture(autouse=True)
def by_value():
    """Workers do not know the module of these tests."""
    cloudpickle.register_pickle_by_value(seeking)
    yield
    cloudpickle.unregister_pickle_by_value(seeking)
